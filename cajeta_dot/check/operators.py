"""Unary and binary operators: which type they work at, what they warn of, what they become (LANGUAGE.md sections 4 and 6)."""

from __future__ import annotations

from cajeta_dot.diagnostics import Edit, Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import lanes_of_constant
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    POISON,
    SIGNED,
    UNSIGNED,
    Array,
    Scalar,
    Type,
    Vector,
    Void,
    element_of,
)

from .convert import common_element
from .fold import compare, compute_integers
from .literals import MAX_EXACT_BITS, combine_floats, is_too_exact, round_exact
from .operand import Operand, literal, poison
from .rows import span, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Value
    from cajeta_dot.syntax.tree import Node

    from .convert import Converter

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem"}
BITWISE = {"&": "and", "|": "or", "^": "xor"}
SHIFTS = {"<<": "shl", ">>": "shr", ">>>": "shr"}
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
OPCODES = {**ARITHMETIC, **BITWISE, **SHIFTS, **COMPARISONS}
READS_SIGN = ("/", "%", ">>")  # and comparisons: where a value that is unsigned only by mixing gives another answer


class Operation:
    """A binary operator between two operands. `start` and `end` are the operator's own text."""

    __slots__ = ("converter", "emitter", "end", "left", "node", "operator", "right", "start")

    def __init__(self, converter: Converter, node: Node, operator: str, start: int, left: Operand, right: Operand):
        self.converter, self.emitter = converter, converter.emitter
        self.node, self.operator, self.left, self.right = node, operator, left, right
        self.start, self.end = start, start + len(operator)

    def check(self) -> Operand:
        """The result, or poison after an error."""
        left, right = self.left, self.right
        a, b = left.type, right.type
        if not isinstance(a, (Scalar, Vector)) or not isinstance(b, (Scalar, Vector)):
            return poison(self.node) if a is POISON or b is POISON else self._mismatch()
        if left.literal is not None and right.literal is not None:
            return self._combine_literals()
        self.emitter.start, self.emitter.end = self.start, self.end
        first, second = a.element, b.element
        if first is BOOLEAN or second is BOOLEAN:
            return self._combine_booleans([first, second])
        if self.operator in SHIFTS:
            return self._shift()
        return self._compute()

    # ---- literals only

    def _combine_literals(self) -> Operand:
        a, b = self.left.literal, self.right.literal
        assert a is not None
        assert b is not None
        long = self.left.is_long or self.right.is_long
        if self.operator in COMPARISONS:
            return self._compare_literals()
        if not isinstance(a, int) or not isinstance(b, int):
            number = combine_floats(self.operator, a, b) if self.operator in ARITHMETIC else None
            if number is not None and is_too_exact(number):
                return self._refuse_size(f"this expression needs more than {MAX_EXACT_BITS} bits")
            if number is not None:
                return literal(self.node, number)
            return self._compute() if self.operator in ARITHMETIC else self._mismatch()
        if self.operator in SHIFTS:
            width = element_of(self.left.type).bits
            if not 0 <= b < width:
                return self._refuse_count(b, f"`{self.left.type}`", width)
            if self.operator == ">>>" and a < 0:
                a += 1 << width
        elif self.operator in "/%" and b == 0:
            return self._refuse_zero()
        number = compute_integers(OPCODES[self.operator], a, b)
        assert number is not None
        if not -(1 << 63) <= number < 1 << 64:
            return self._refuse_size(f"the value {number} of this expression needs more than 64 bits")
        return literal(self.node, number, long)

    def _refuse_size(self, message: str) -> Operand:
        label = Label(self.node.start, self.node.end, "computed exactly")
        self.converter.reporter.report(r.LITERAL_RANGE, message, label)
        return poison(self.node)

    def _compare_literals(self) -> Operand:
        a, b = self.left.literal, self.right.literal
        assert a is not None
        assert b is not None
        if not isinstance(a, int) or not isinstance(b, int):
            a, b = round_exact(a, FLOAT64.bits), round_exact(b, FLOAT64.bits)
        self.emitter.start, self.emitter.end = self.start, self.end
        return self._result(self.emitter.const(BOOLEAN, compare(OPCODES[self.operator], a, b)))

    # ---- booleans and masks

    def _combine_booleans(self, elements: list[Scalar]) -> Operand:
        left, right = self.left, self.right
        allowed = self.operator in BITWISE or (self.operator in ("==", "!=") and isinstance(left.type, Scalar))
        if elements != [BOOLEAN, BOOLEAN] or not allowed or isinstance(left.type, Vector) != isinstance(right.type, Vector):
            return self._mismatch()
        if left.type != right.type:
            return self._shapes_differ()
        assert left.value
        assert right.value
        if self.operator in BITWISE:
            return self._result(self.emitter.binary(OPCODES[self.operator], left.value, right.value))
        return self._result(self.emitter.compare(OPCODES[self.operator], left.value, right.value))

    # ---- shifts

    def _shift(self) -> Operand:
        left, right = self.left, self.right
        if element_of(left.type).is_float or element_of(right.type).is_float:
            return self._mismatch()
        if isinstance(left.type, Vector) and isinstance(right.type, Vector) and not _same_shape(left.type, right.type):
            return self._shapes_differ()
        shape = left.type if isinstance(left.type, Vector) else right.type
        element = self._shift_element()
        counts = _known_integers(right)
        for count in counts:
            if not 0 <= count < element.bits:
                where = f"{element.bits}-bit lanes" if isinstance(shape, Vector) else f"`{element}`"
                return self._refuse_count(count, where, element.bits)
        if self.operator in READS_SIGN and left.mixed:
            self._warn_mixed(left)
        value = self._shifted(element, shape)
        amount = self._count(right, element, shape, is_known=bool(counts)) if value else None
        if value is None or amount is None:
            return poison(self.node)
        logical = self.operator == ">>>" and element.is_signed
        if logical:
            value, amount = self.converter.as_kind(value, UNSIGNED), self.converter.as_kind(amount, UNSIGNED)
        shifted = self.emitter.binary(OPCODES[self.operator], value, amount)
        result = self._result(self.converter.as_kind(shifted, SIGNED) if logical else shifted)
        result.mixed = left.mixed and self.operator != ">>>"  # what `>>` makes of the reading has been said
        return result

    def _shift_element(self) -> Scalar:
        """Lanes shift at lane width, scalars at the wider of the two widths; signedness is the left operand's."""
        left, right = element_of(self.left.type), element_of(self.right.type)
        if isinstance(self.left.type, Vector) or _adopts(self.right):
            return left
        if isinstance(self.right.type, Vector) or _adopts(self.left):
            return right
        return Scalar(left.kind, max(left.bits, right.bits))

    def _shifted(self, element: Scalar, shape: Type) -> Value | None:
        """The left operand at the width of the shift; a scalar beside lanes becomes lanes like theirs."""
        left = self.left
        if isinstance(shape, Vector) and isinstance(left.type, Scalar):
            return _splat(self.converter, left, shape)
        return self.converter.adopt(left, element) if left.is_bare else self.converter.widen(left, element)

    def _count(self, right: Operand, element: Scalar, shape: Type, is_known: bool) -> Value | None:
        """The count at the width of the shift, modulo that width where it is not known to be less."""
        settled = self.converter.settle(right)
        if settled is None:
            return None
        value = self.emitter.convert(settled, element)
        if isinstance(shape, Vector) and not isinstance(value.type, Vector):
            value = self.emitter.splat(value, shape.lanes)
        if is_known:
            return value
        assert isinstance(value.type, (Scalar, Vector))
        return self.emitter.binary("and", value, self.emitter.const(value.type, element.bits - 1))

    # ---- everything else

    def _compute(self) -> Operand:
        joined = join(self.converter, self.left, self.right, self)
        if joined is None:
            return poison(self.node)
        a, b, mixed = joined
        divided = False  # and warned of
        element = element_of(a.type)
        if self.operator in BITWISE and element.is_float:
            return self._mismatch()
        if self.operator in ("/", "%") and element.is_integer:
            if b.op == "const" and 0 in lanes_of_constant(b.attr):
                return self._refuse_zero()
            divided = not self._is_known(element) and self._warn_division()
        if element == FLOAT16:  # computed in float32 and rounded back
            a, b = self.emitter.convert(a, FLOAT32), self.emitter.convert(b, FLOAT32)
        if self.operator in COMPARISONS:
            return self._compare(a, b)
        value = self.emitter.binary(OPCODES[self.operator], a, b)
        result = self._result(self.emitter.convert(value, FLOAT16) if element == FLOAT16 else value)
        result.mixed = mixed if self.operator not in ("/", "%") else divided
        if self.operator == "&":
            result.no_op_mask = self._find_no_op_mask(element)
        return result

    def _compare(self, a: Value, b: Value) -> Operand:
        """Signed if either operand is signed: the unsigned one is read as signed then."""
        left, right = self._elements()
        element = element_of(a.type)
        bare = self.left.is_bare or self.right.is_bare
        mixed = self.left.mixed or self.right.mixed
        if element.is_integer and not bare and left.kind != right.kind:
            signed = left if left.is_signed else right
            unsigned = right if left.is_signed else left
            a, b = self.converter.as_kind(a, SIGNED), self.converter.as_kind(b, SIGNED)
            if mixed or (unsigned.bits >= signed.bits and not self._is_known(element)):
                self._warn_mixed(self.left, self.right)
        elif element.is_integer and mixed:
            self._warn_mixed(self.left, self.right)
        return self._result(self.emitter.compare(OPCODES[self.operator], a, b))

    def _elements(self) -> tuple[Scalar, Scalar]:
        """The elements as the operator meets them: a scalar beside lanes has become one of theirs."""
        left, right = element_of(self.left.type), element_of(self.right.type)
        if isinstance(self.left.type, Vector) == isinstance(self.right.type, Vector):
            return left, right
        return (left, left) if isinstance(self.left.type, Vector) else (right, right)

    def _warn_division(self) -> bool:
        """Was there something to say?"""
        left, right = self._elements()
        bare = self.left.is_bare or self.right.is_bare
        differ = self.left.mixed or self.right.mixed or (not bare and left.kind != right.kind)
        if differ:
            self._warn_mixed(self.left, self.right)
        return differ

    def _is_known(self, common: Scalar) -> bool:
        """Is one operand a constant that the common signed type holds, so that no reading of it can differ?"""
        signed = Scalar(SIGNED, common.bits)
        if self.left.mixed or self.right.mixed:
            return False
        known = [o.integer for o in (self.left, self.right) if not o.is_bare]
        return any(k is not None and 0 <= k <= signed.high for k in known)

    def _find_no_op_mask(self, element: Scalar) -> tuple[int, int] | None:
        """Does a literal with all bits of a signed scalar stand beside it?"""
        bare = self.right if self.right.is_bare else self.left
        if bare.literal == (1 << element.bits) - 1 and element.is_signed and isinstance(self.left.type, Scalar):
            return self.start, self.end
        return None

    def _result(self, value: Value) -> Operand:
        return Operand(self.node, value.type, value)

    # ---- what is said

    def _sides(self) -> list[Label]:
        return [span(self.left, type_name(self.left.type)), span(self.right, type_name(self.right.type))]

    def _mismatch(self) -> Operand:
        self.converter.reporter.report(
            r.TYPE_MISMATCH,
            f"`{self.operator}` can't join `{self.left.type}` and `{self.right.type}`",
            Label(self.start, self.end),
            self._sides(),
        )
        return poison(self.node)

    def _shapes_differ(self) -> Operand:
        self.converter.reporter.report(
            r.SHAPE_MISMATCH,
            f"`{self.operator}` needs vectors of one shape, found `{self.left.type}` and `{self.right.type}`",
            Label(self.start, self.end),
            self._sides(),
        )
        return poison(self.node)

    def _refuse_count(self, count: int, where: str, width: int) -> Operand:
        size = "negative" if count < 0 else "too large"
        message = f"shift count {count} is {size} for {where} (0..{width - 1})"
        self.converter.reporter.report(r.SHIFT_COUNT, message, span(self.right))
        return poison(self.node)

    def _refuse_zero(self) -> Operand:
        self.converter.reporter.report(r.DIVISION_BY_ZERO, "division by zero", span(self.right, "this is 0"))
        return poison(self.node)

    def _warn_mixed(self, *operands: Operand) -> None:
        """`operands` are those whose signedness decides; that of a literal is the other one's."""
        types = list(dict.fromkeys(operand.type for operand in operands if not operand.is_bare))
        is_signed = self.operator in COMPARISONS and any(element_of(type).kind == SIGNED for type in types)
        how = "signed" if is_signed else "unsigned"
        found = " and ".join(map(type_name, types))
        if len(types) == 1:
            found += ", unsigned only because of a mixed operand"
        self.converter.reporter.report(
            r.MIXED_SIGN,
            f"`{self.operator}` reads both operands as {how}, found {found}",
            Label(self.start, self.end, f"works on {how} numbers"),
            [span(o, type_name(o.type)) for o in (self.left, self.right) if not o.is_bare],
            helps=[Help("cast one operand to say which reading is meant")],
        )

    def report_shapes(self) -> None:
        self._shapes_differ()

    def report_mismatch(self) -> None:
        self._mismatch()


def join(converter: Converter, left: Operand, right: Operand, operation: Operation) -> tuple[Value, Value, bool] | None:
    """Both operands at their common type, and whether that is unsigned only by mixing. Reports, then None."""
    if left.type is right.type and left.value and right.value:
        mixed = left.mixed or right.mixed
        return left.value, right.value, mixed and element_of(left.type).kind == UNSIGNED
    if isinstance(left.type, Vector) or isinstance(right.type, Vector):
        return _join_lanes(converter, left, right, operation)
    if left.is_bare and right.is_bare:
        return _join_literals(converter, left, right)
    if left.is_bare or right.is_bare:
        bare, typed = (left, right) if left.is_bare else (right, left)
        return _join_bare(converter, bare, typed, bare is left)
    return _widen_both(converter, left, right)


def _join_lanes(converter: Converter, left: Operand, right: Operand, operation: Operation) -> tuple[Value, Value, bool] | None:
    """Two vectors have one shape; a scalar goes into every lane."""
    if isinstance(left.type, Vector) and isinstance(right.type, Vector):
        if left.type.element.is_float != right.type.element.is_float:
            return operation.report_mismatch()
        if not _same_shape(left.type, right.type):
            return operation.report_shapes()
        return _widen_both(converter, left, right)
    is_left = isinstance(left.type, Vector)
    vector, scalar = (left, right) if is_left else (right, left)
    assert isinstance(vector.type, Vector)
    assert vector.value
    splatted = _splat(converter, scalar, vector.type)
    if splatted is None:
        return None
    return (vector.value, splatted, vector.mixed) if is_left else (splatted, vector.value, vector.mixed)


def _join_literals(converter: Converter, left: Operand, right: Operand) -> tuple[Value, Value, bool] | None:
    both = [o.type for o in (left, right) if isinstance(o.type, Scalar)]
    element = next((t for t in both if t.is_float), max(both, key=lambda t: t.bits))
    values = [converter.land(left, element), converter.land(right, element)]
    return (values[0], values[1], False) if values[0] and values[1] else None


def _widen_both(converter: Converter, left: Operand, right: Operand) -> tuple[Value, Value, bool]:
    element, mixed = common_element(element_of(left.type), element_of(right.type))
    a, b = converter.widen(left, element), converter.widen(right, element)
    return a, b, mixed or (element.kind == UNSIGNED and (left.mixed or right.mixed))


def _join_bare(converter: Converter, bare: Operand, typed: Operand, is_left: bool) -> tuple[Value, Value, bool] | None:
    """A literal takes the type beside it; one with an L stays at least int64; a float literal makes an integer float64."""
    assert typed.value
    element = element_of(typed.type)
    if bare.is_long and element.is_integer:
        wide, mixed = common_element(element, element_of(bare.type))
        literal_value, value = converter.land(bare, element_of(bare.type)), converter.widen(typed, wide)
        literal_value = literal_value and converter.emitter.convert(literal_value, wide)
    elif element_of(bare.type).is_float and element.is_integer:
        literal_value = converter.land(bare, element_of(bare.type))
        value, mixed = converter.emitter.convert(typed.value, element_of(bare.type)), False
    else:
        literal_value, value, mixed = converter.adopt(bare, element), typed.value, typed.mixed
    if literal_value is None:
        return None
    return (literal_value, value, mixed) if is_left else (value, literal_value, mixed)


def _splat(converter: Converter, scalar: Operand, vector: Vector) -> Value | None:
    """A scalar beside lanes converts to the element type, then goes into every lane."""
    if scalar.is_bare and not (element_of(scalar.type).is_float and vector.element.is_integer):
        value = converter.adopt(scalar, vector.element)
    else:
        value = converter.convert(scalar, vector.element)
    return converter.emitter.splat(value, vector.lanes) if value else None


def _same_shape(a: Vector, b: Vector) -> bool:
    """As many lanes of as many bits; the signedness may differ."""
    return a.lanes == b.lanes and a.element.bits == b.element.bits


def _adopts(operand: Operand) -> bool:
    """Does it take the type beside it? A literal with an L is an int64."""
    return operand.is_bare and not operand.is_long


def _known_integers(operand: Operand) -> list[int]:
    """The numbers that an integer or its lanes are known to be; none for what is left to run time."""
    if operand.literal is None and operand.value is not None and operand.value.op == "const":
        return lanes_of_constant(operand.value.attr)
    return [operand.literal] if isinstance(operand.literal, int) else []


def check_unary(converter: Converter, node: Node, operator: str, operand: Operand) -> Operand:
    """`+ - ~ !` before an operand."""
    if operand.is_poison:
        return operand
    if operand.literal is not None and operator in "+-~":
        folded = _unary_literal(node, operator, operand)
        if folded is not None:
            return folded
    value, type = converter.settle(operand), operand.type
    fits = value is not None and not isinstance(type, (Array, Void))
    element = element_of(type) if fits else BOOLEAN
    wanted = {"!": type == BOOLEAN, "~": fits and (element.is_integer or isinstance(type, Vector)) and not element.is_float}
    if value is None or not fits or not wanted.get(operator, element.is_number):
        converter.reporter.report(
            r.TYPE_MISMATCH,
            f"`{operator}` is not defined for `{type}`",
            Label(node.start, node.start + 1),
            [span(operand, type_name(type))],
            helps=_unary_help(node, operator, type),
        )
        return poison(node)
    converter.emitter.start, converter.emitter.end = node.start, node.start + 1
    if operator != "+":
        value = converter.emitter.unary("neg" if operator == "-" else "not", value)
    result = Operand(node, value.type, value)
    result.mixed = operand.mixed
    return result


def _unary_help(node: Node, operator: str, type: Type) -> list[Help]:
    """`!` and `~` are easily taken for each other."""
    other = {"!": "~", "~": "!"}.get(operator)
    fits = (operator == "!" and isinstance(type, Vector)) or (operator == "~" and type == BOOLEAN)
    if not other or not fits:
        return []
    return [Help(f"use `{other}`", (Edit(node.start, node.start + 1, other),), "machine")]


def _unary_literal(node: Node, operator: str, operand: Operand) -> Operand | None:
    number = operand.literal
    if operator == "+":
        assert number is not None
        return literal(node, number, operand.is_long)
    if isinstance(number, int):
        return literal(node, -number if operator == "-" else ~number, operand.is_long)
    if operator == "-" and isinstance(number, str):
        return literal(node, number[1:] if number.startswith("-") else "-" + number)
    return literal(node, -number) if operator == "-" and number is not None and not isinstance(number, str) else None
