"""Constants computed while compiling, by the rules of LANGUAGE.md section 4: integers wrap, floats round once.

`Emitter` is a Builder that computes what it can instead of emitting it, so that constants, masks and bounds written as
expressions are constants for everything behind the checker.
"""

from __future__ import annotations

import math
import operator
import struct

from cajeta_dot.ir import Builder, Value
from cajeta_dot.types import FLOAT, FLOAT16, Scalar, Type, Vector, element_of

from .literals import round_exact, round_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b) if b else 0
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * _divide(a, b) if b else 0


def _divide_floats(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _float_remainder(a: float, b: float) -> float:
    return math.nan if math.isinf(a) or b == 0 else math.fmod(a, b)


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
}
_BITWISE: dict[str, Callable[..., Any]] = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}
_INTEGERS: dict[str, Callable[..., Any]] = {
    **_ARITHMETIC,
    **_BITWISE,
    "div": _divide,
    "rem": _remainder,
    "shl": int.__lshift__,
    "shr": int.__rshift__,
    "not": operator.invert,
}
# In float64; rounded to float32 that is the sum, product, quotient in float32: 53 bits are more than 2 * 24 + 2.
_FLOATS: dict[str, Callable[..., Any]] = {**_ARITHMETIC, "div": _divide_floats, "rem": _float_remainder}
_BOOLEANS: dict[str, Callable[..., Any]] = {**_BITWISE, "not": operator.not_}
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compare(op: str, a: float, b: float) -> bool:
    """One of the six comparisons of two numbers."""
    return _COMPARISONS[op](a, b)


def compute_integers(op: str, *operands: int) -> int | None:
    """On exact integers, without a width; None for an operation that has none or a division by zero."""
    if op not in _INTEGERS or (op in ("div", "rem") and not operands[1]) or (op in ("shl", "shr") and operands[1] < 0):
        return None
    return _INTEGERS[op](*operands)


def convert_constant(content: float, old: Scalar, new: Scalar) -> float:
    """A number in another element type: low bits; nearest even; toward zero and saturating from float to integer."""
    if new.is_float:
        return round_exact(content, new.bits) if isinstance(content, int) else round_float(content, new.bits)
    if old.is_float:
        if content != content:
            return 0
        if content in (float("inf"), float("-inf")):
            return new.high if content > 0 else new.low
        return min(max(int(content), new.low), new.high)
    return new.wrap(int(content))


def fold(op: str, type: Type, args: tuple[Value, ...]) -> Any:
    """The constant that an operation on constants makes, or None if it must be left to run time."""
    contents = [a.attr for a in args]
    if not args or any(a.op != "const" or isinstance(a.attr, tuple) for a in args):
        return None
    if op in ("splat", "extract"):
        return contents[0]
    if op == "select":
        return contents[1] if contents[0] else contents[2]
    if op in ("convert", "reinterpret"):
        old, new = element_of(args[0].type), element_of(type)
        if op == "reinterpret" and FLOAT in (old.kind, new.kind):
            return _reinterpret(contents[0], old, new)
        if op == "reinterpret" and old.bits != new.bits:
            return None
        return convert_constant(contents[0], old, new)
    if isinstance(type, Vector):
        return None
    operand = element_of(args[0].type)
    if op in _COMPARISONS:
        return _COMPARISONS[op](*contents)
    if operand.is_integer:
        if op in ("div", "rem") and contents == [operand.low, -1]:
            return None  # where checks are on this is an error, as it is with numbers known at run time only
        exact = compute_integers(op, *contents)
        return None if exact is None else element_of(type).wrap(exact)
    if operand.is_float and op in _FLOATS and operand != FLOAT16:
        return round_float(_FLOATS[op](*contents), operand.bits)
    if not operand.is_number and op in _BOOLEANS:
        return bool(_BOOLEANS[op](*contents))
    return None


def _fold_method(meaning: Callable[..., Any], type: Type, args: tuple[Value, ...]) -> Any:
    """A built-in of known scalars by its definition. A NaN is left to run time, where its bits stay as they are."""
    contents = [a.attr for a in args if a.op == "const" and isinstance(a.type, Scalar)]
    if len(contents) < len(args) or not isinstance(type, Scalar) or any(c != c for c in contents):
        return None

    def fit(number: Any) -> Any:
        if type.is_float:
            return round_float(number, type.bits) if isinstance(number, float) else round_exact(number, type.bits)
        return type.wrap(number)

    content = fit(meaning(fit, *contents))
    return content if content == content else None


def _reinterpret(content: Any, old: Scalar, new: Scalar) -> Any:
    """The same bits; not of a NaN, whose bits Python may change, nor of lanes that are cut otherwise."""
    if old.bits != new.bits or old.bits not in _WORDS or old.kind == new.kind:
        return None
    bits, real = _WORDS[old.bits]
    raw = struct.pack(real if old.is_float else bits, content if old.is_float else content % (1 << old.bits))
    number = struct.unpack(real if new.is_float else bits, raw)[0]
    if number != number or content != content:
        return None
    return number if new.is_float else new.wrap(number)


_WORDS = {32: ("<I", "<f"), 64: ("<Q", "<d")}


class Emitter(Builder):
    """A Builder that folds operations on constants."""

    def emit(self, op: str, type: Type, *args: Value, attr: Any = None) -> Value:
        for arg in args:
            if arg.op != "const":
                break
        else:
            content = fold(op, type, args) if args else None
            if content is None and op == "method" and attr.meaning:
                content = _fold_method(attr.meaning, type, args)
            if content is not None:
                op, args, attr = "const", (), content
        value = Value(op, type, args, attr, self.start, self.end)
        self.block.append(value)
        return value
