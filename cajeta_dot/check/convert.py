"""Which values may become which types, and what is said about it (LANGUAGE.md section 4, diagnostics.md).

Every conversion of a program passes through `convert` (assignments, arguments, returns, stores, constructors), `adopt`
(a literal beside an operand) or `cast`. The IR gets an explicit `convert` or `reinterpret`, never an implicit one.
"""

from __future__ import annotations

import re

from cajeta_dot.diagnostics import Edit, Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT,
    INT32,
    POISON,
    UNSIGNED,
    Array,
    Scalar,
    Type,
    Vector,
    Void,
    element_of,
    other_sign,
    with_element,
)

from .fold import Emitter
from .literals import round_exact
from .operand import Operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.diagnostics import Reporter, Rule
    from cajeta_dot.ir import Value

    Choice = tuple[Value, Operand, Operand]

    from .literals import Exact


class Converter:
    """Converts operands of one method. `emitter` is where its code goes at the moment."""

    def __init__(self, reporter: Reporter, emitter: Emitter):
        self.reporter, self.emitter = reporter, emitter

    # ---- literals

    def adopt(self, operand: Operand, element: Scalar) -> Value | None:
        """A bare literal beside a value whose lanes are `element`: -2^(W-1)..2^W-1 for W bits. None after an error."""
        if operand.choice:
            return self._choose(operand.choice, lambda branch: self.adopt(branch, element))
        number = operand.literal
        if element.is_integer and isinstance(number, int):
            low, high = -(1 << element.bits - 1), (1 << element.bits) - 1
            if not low <= number <= high:
                where = f"{element.bits}-bit lanes" if element.bits < 32 else f"`{element}`"
                self._report_range(operand, number, where, low, high)
                return None
            return self.emitter.const(element, element.wrap(number))
        return self._constant(operand, element)

    def land(
        self, operand: Operand, element: Scalar, label: Label | None = None, mismatch: Rule = r.TYPE_MISMATCH
    ) -> Value | None:
        """A literal that becomes a variable, argument, element, lane or result of type `element`. None after an error."""
        if element == BOOLEAN:
            return self.report_mismatch(operand, element, label, mismatch)
        if operand.choice:
            return self._choose(operand.choice, lambda branch: self.land(branch, element, label))
        number = operand.literal
        if element.is_integer and isinstance(number, int) and not element.holds(number):
            self._report_range(operand, number, f"`{element}`", element.low, element.high, label, element)
            return None
        return self._constant(operand, element)

    def settle(self, operand: Operand) -> Value | None:
        """The value of an operand that meets no type: a literal takes its own."""
        if operand.is_bare:
            assert isinstance(operand.type, Scalar)
            return self.land(operand, operand.type)
        return operand.value

    def _choose(self, choice: Choice, make: Callable[[Operand], Value | None]) -> Value | None:
        """One of two literals, once each of them is a value."""
        condition, first, second = choice
        a, b = make(first), make(second)
        return self.emitter.select(condition, a, b) if a and b else None

    def _constant(self, operand: Operand, element: Scalar) -> Value | None:
        number = operand.literal
        assert number is not None
        if element.is_float:
            return self.emitter.const(element, round_exact(number, element.bits))
        if isinstance(number, int):
            return self.emitter.const(element, element.wrap(number))
        self._report_narrowing(operand, element)
        return self.emitter.const(element, _truncate(number, element))

    def _report_range(
        self,
        operand: Operand,
        number: int,
        where: str,
        low: int,
        high: int,
        label: Label | None = None,
        element: Scalar | None = None,
    ) -> None:
        text = self.text(operand)
        said = f"literal `{text}`" if text.lstrip("-").isalnum() else f"`{text}` is {number}, which"
        helps: list[Help] = []
        if element and -(1 << element.bits - 1) <= number < 1 << element.bits:
            same_bits = str(element.wrap(number))
            edit = Edit(operand.start, operand.end, same_bits)
            helps.append(Help(f"write `{same_bits}` for the same bits", (edit,), "unsafe"))
        self.reporter.report(
            r.LITERAL_RANGE,
            f"{said} does not fit {where} ({low}..{high})",
            Label(operand.start, operand.end, f"outside {low}..{high}"),
            [label] if label else [],
            helps=helps,
        )

    # ---- values

    def convert(
        self, operand: Operand, type: Type, label: Label | None = None, mismatch: Rule = r.TYPE_MISMATCH
    ) -> Value | None:
        """An operand where a value of `type` is wanted; `label` points at what wants it. None after an error."""
        if operand.type == POISON or type == POISON:
            return None
        if operand.is_bare and isinstance(type, Scalar):
            return self.land(operand, type, label, mismatch)
        value, old = operand.value, operand.type
        if old is type and old.__class__ is Scalar and value is not None:  # as most are
            return value
        if isinstance(old, Void) or isinstance(type, (Array, Void)) or isinstance(old, Array):
            if isinstance(old, Array) and isinstance(type, Array) and old.holds_as(type):
                return value
            return self.report_mismatch(operand, type, label, mismatch)
        if isinstance(old, Vector) != isinstance(type, Vector):
            return self.report_mismatch(operand, type, label, mismatch)
        if isinstance(old, Vector) and isinstance(type, Vector):
            if old.element.kind == "b" or type.element.kind == "b" or old.element.is_float != type.element.is_float:
                return self.report_mismatch(operand, type, label, mismatch)
            if old.lanes != type.lanes or old.element.bits != type.element.bits:
                return self._report_shape(operand, old, type, label)
        source, target = element_of(old), element_of(type)
        if (source == BOOLEAN) != (target == BOOLEAN):
            return self.report_mismatch(operand, type, label, mismatch)
        assert value is not None
        self.warn_conversion(operand, source, target, type, label)
        return self.emitter.convert(value, target)

    def warn_conversion(self, operand: Operand, old: Scalar, new: Scalar, type: Type, label: Label | None = None) -> None:
        """Say what an implicit conversion may do to a value; silent if every value of the old type exists in the new one."""
        if old == new:
            return
        if operand.no_op_mask and (new.is_float or new.bits > old.bits):
            self._report_no_op_mask(operand, new)
        if not new.is_number or not old.is_number or (old.is_integer and new.is_float):
            return
        if old.is_float:
            if not new.is_float or new.bits < old.bits:
                self._report_narrowing(operand, new, label)
            return
        if operand.mixed and new.is_signed and new.bits >= old.bits:
            return
        if new.bits < old.bits:
            self._report_narrowing(operand, new, label)
        elif old.kind != new.kind and not (new.is_signed and new.bits > old.bits):
            self._report_signedness(operand, old, new, type, label)

    def widen(self, operand: Operand, element: Scalar) -> Value:
        """A value at the type that an operation works at, which is not narrower."""
        assert operand.value
        if operand.no_op_mask and (element.is_float or element.bits > element_of(operand.type).bits):
            self._report_no_op_mask(operand, element)
        return self.emitter.convert(operand.value, element)

    def cast(self, operand: Operand, element: Scalar) -> Value | None:
        """An explicit conversion of a scalar or of lanes. None after an error."""
        if operand.choice:
            return self._choose(operand.choice, lambda branch: self.cast(branch, element))
        if operand.literal is not None:
            number = operand.literal
            if element.is_float:
                return self.emitter.const(element, round_exact(number, element.bits))
            if element == BOOLEAN:
                return self.report_mismatch(operand, element)
            whole = element.wrap(number) if isinstance(number, int) else _truncate(number, element)
            return self.emitter.const(element, whole)
        value = operand.value
        if value is None or isinstance(operand.type, (Array, Void)):
            return self.report_mismatch(operand, element)
        if (element_of(value.type) == BOOLEAN) != (element == BOOLEAN):
            return self.report_mismatch(operand, element)
        return self.emitter.convert(value, element)

    # ---- what is said

    def text(self, operand: Operand) -> str:
        """The source text of an operand."""
        source = self.reporter.source
        return source.text[operand.start : operand.end] if source else ""

    def primary_text(self, operand: Operand) -> str:
        """The source text of an operand, ready to have a call put behind it."""
        text = self.text(operand)
        return text if _is_primary(text) else f"({text})"

    def report_mismatch(self, operand: Operand, type: Type, label: Label | None = None, rule: Rule = r.TYPE_MISMATCH) -> None:
        self.reporter.report(
            rule,
            f"mismatched types: expected `{type}`, found `{operand.type}`",
            Label(operand.start, operand.end, f"`{operand.type}`"),
            [label] if label else [],
            helps=self._offer_bridge(operand, type),
        )

    def _offer_bridge(self, operand: Operand, type: Type) -> list[Help]:
        """How a number is made of a boolean, a boolean of a number, and lanes of one value."""
        old = operand.type
        if not isinstance(old, Scalar):
            return []
        if type == BOOLEAN and operand.is_bare:
            word = "false" if operand.literal == 0 else "true"
            return [Help(f"write `{word}`", (Edit(operand.start, operand.end, word),), "machine")]
        if type == BOOLEAN:
            return [Help("compare it", self._put_behind(operand, " != 0"), "machine")]
        if isinstance(type, Scalar) and old == BOOLEAN:
            return [Help("choose a number", self._put_behind(operand, " ? 1 : 0"), "machine")]
        fits = isinstance(type, Vector) and type.element != BOOLEAN and (old == type.element or operand.is_bare)
        if fits and self._stands_alone(operand):
            edits = (Edit(operand.start, operand.start, f"{type}("), Edit(operand.end, operand.end, ")"))
            return [Help("put the value into all lanes", edits, "machine")]
        return []

    def _report_shape(self, operand: Operand, old: Vector, new: Vector, label: Label | None) -> None:
        differ = "lanes" if old.lanes != new.lanes else "element width"
        self.reporter.report(
            r.SHAPE_MISMATCH,
            f"expected `{new}`, found `{old}`: they differ in {differ}",
            Label(operand.start, operand.end, f"`{old}`"),
            [label] if label else [],
        )

    def _report_signedness(self, operand: Operand, old: Scalar, new: Scalar, type: Type, label: Label | None) -> None:
        sample = old.high if old.kind == "u" and old.bits == new.bits else -1
        if old.kind == "u" and old.bits == 8:
            sample = 200
        helps = [self._cast_help(operand, type, "keeps the bits")]
        self.reporter.report(
            r.SIGNEDNESS,
            f"`{operand.type}` is read as `{type}` from here on: {sample} becomes {new.wrap(sample)}",
            Label(operand.start, operand.end, f"`{operand.type}`"),
            [label] if label else [],
            helps=helps,
        )

    def _report_narrowing(self, operand: Operand, new: Scalar, label: Label | None = None) -> None:
        old = operand.type
        target = with_element(old, new) if isinstance(old, Vector) else new
        from_float = element_of(old).is_float
        kept = "the fraction is cut off" if from_float and new.is_integer else f"only the low {new.bits} bits are kept"
        if from_float and new.is_float:
            kept = "it is rounded to fewer digits"
        self.reporter.report(
            r.NARROWING,
            f"`{old}` is narrowed to `{target}`; {kept}",
            Label(operand.start, operand.end, f"`{old}`"),
            [label] if label else [],
            helps=[self._cast_help(operand, new, kept)] if not isinstance(old, Vector) else [],
        )

    def _report_no_op_mask(self, operand: Operand, new: Scalar) -> None:
        assert operand.no_op_mask
        assert isinstance(operand.type, Scalar)
        start, _ = operand.no_op_mask
        type, wide = operand.type, INT32 if new.is_float else new
        self.reporter.report(
            r.NO_OP_MASK,
            f"this mask keeps every bit of `{type}`: the value stays {type.low}..{type.high}",
            Label(start, start + 1, "the literal takes the type beside it"),
            helps=[Help("widen first", (Edit(operand.start, operand.start, f"({wide}) "),), "machine")],
        )

    def _cast_help(self, operand: Operand, type: Type, why: str) -> Help:
        if isinstance(type, Vector):
            call = ".asSigned()" if type.element.is_signed else ".asUnsigned()"
            edits = self.put_around(operand, "", call)
            return Help(f"`{call}` says that it was meant ({why})", edits, "machine")
        edits = self.put_around(operand, f"({type}) ", "")
        return Help(f"a cast to `{type}` says that it was meant ({why})", edits, "machine")

    def put_around(self, operand: Operand, before: str, behind: str) -> tuple[Edit, ...]:
        """Edits that put text around an operand, in parentheses where an operator could come between."""
        if not _is_primary(self.text(operand)):
            before, behind = before + "(", ")" + behind
        start, end = Edit(operand.start, operand.start, before), Edit(operand.end, operand.end, behind)
        return tuple(edit for edit in (start, end) if edit.text)

    def _put_behind(self, operand: Operand, operator: str) -> tuple[Edit, ...]:
        """Edits that put an operator behind an operand; both in parentheses if the operand is not all of an expression."""
        edits = self.put_around(operand, "", operator)
        if self._stands_alone(operand):
            return edits
        *first, last = edits
        before = first[0].text if first else ""
        return Edit(operand.start, operand.start, "(" + before), Edit(last.start, last.end, last.text + ")")

    def _stands_alone(self, operand: Operand) -> bool:
        """Is the operand all of an expression, as far as the text before it tells?"""
        text = self.reporter.source.text if self.reporter.source else ""
        place = operand.start
        while place and text[place - 1].isspace():
            place -= 1
        return text[place - 1 : place] in ("=", "(", ",", "[") or text.endswith("return", 0, place)

    def as_kind(self, value: Value, kind: str) -> Value:
        """The same bits, read as signed or unsigned."""
        assert isinstance(value.type, (Scalar, Vector))
        return self.emitter.reinterpret(value, with_element(value.type, other_sign(element_of(value.type), kind)))


def common_element(a: Scalar, b: Scalar) -> tuple[Scalar, bool]:
    """The type at which a binary operation of two values works, and whether it is unsigned only by mixing.

    The wider width; unsigned if either is. An integer beside a float becomes that float type, float16 counts as float32.
    """
    if a.is_float or b.is_float:
        bits = max((t.bits for t in (a, b) if t.is_float), default=32)
        return Scalar(FLOAT, bits), False
    bits = max(a.bits, b.bits)
    if a.kind == b.kind:
        return Scalar(a.kind, bits), False
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    return Scalar(UNSIGNED, bits), unsigned.bits <= signed.bits


def _truncate(number: Exact, element: Scalar) -> int:
    """A float literal toward zero, saturating."""
    double = float(number) if isinstance(number, str) else number
    if double in (float("inf"), float("-inf")):
        return element.high if double > 0 else element.low
    return min(max(int(double), element.low), element.high)


def _is_primary(text: str) -> bool:
    """Does a postfix operator or a cast put next to this text apply to all of it?"""
    depth = 0
    for character in _LANE_COUNT.sub("", text):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character in " +-*/%&|^<>=?!~":
            return False
    return True


_LANE_COUNT = re.compile(r"<[\w\s,.+*()-]*>(?=\()")  # of `vload<16>(…)` and `Vector<int8,16>(…)`: no operators
