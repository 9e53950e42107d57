"""What an operation does to one lane: exact numbers in, the exact result out, not yet brought into the result's type.

Chosen by the kind of the operands' element. Floats are the exception to exact: sums, products, quotients and roots are
those of float64, which is exact enough that rounding them once more to float32 or float16 gives what one rounding gives
(its 53 bits are at least two more than twice the 24 or 11 of these); `fma` is a fraction until its one rounding.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction

from cajeta_dot.types import BOOL, FLOAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cajeta_dot.types import Scalar

    Lane = Callable[..., Any]


def find_lane_operation(op: str, element: Scalar) -> Lane:
    """The function for one opcode on operands of the element type. Raises KeyError where the opcode is not for them."""
    if op in _COMPARE:
        return _COMPARE[op]
    if element.kind == FLOAT:
        return _FLOATS[op]
    if element.kind == BOOL:
        return _BOOLEANS[op]
    if op in _BY_WIDTH:
        return _BY_WIDTH[op](element.bits)
    return _INTEGERS[op]


# ---- integers


def divide(a: int, b: int) -> int:
    """Toward zero; x/0 is 0. MIN/-1 wraps to MIN when it is brought into its type."""
    if b == 0:
        return 0
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def remainder(a: int, b: int) -> int:
    """With the sign of the dividend; x%0 is 0."""
    return a - b * divide(a, b) if b else 0


def _shift(op: Callable[[int, int], int]) -> Callable[[int], Lane]:
    def make(bits: int) -> Lane:
        def shift(a: int, count: int) -> int:
            if not 0 <= count < bits:
                raise ValueError(f"shift count {count} for {bits} bits: the compiler forgot to mask it")
            return op(a, count)

        return shift

    return make


def _rotate_left(bits: int) -> Lane:
    mask = (1 << bits) - 1

    def rotate(a: int, count: int) -> int:
        doubled = (a & mask) << (count % bits)
        return doubled | doubled >> bits

    return rotate


def _rotate_right(bits: int) -> Lane:
    left = _rotate_left(bits)

    def rotate(a: int, count: int) -> int:
        return left(a, -count)

    return rotate


def _count_ones(bits: int) -> Lane:
    mask = (1 << bits) - 1

    def count(a: int) -> int:
        return (a & mask).bit_count()

    return count


def _reverse_bits(bits: int) -> Lane:
    mask = (1 << bits) - 1

    def reverse(a: int) -> int:
        return int(f"{a & mask:0{bits}b}"[::-1], 2)

    return reverse


_BY_WIDTH: dict[str, Callable[[int], Lane]] = {
    "shl": _shift(int.__lshift__),
    "shr": _shift(int.__rshift__),
    "rotate_left": _rotate_left,
    "rotate_right": _rotate_right,
    "count_ones": _count_ones,
    "reverse_bits": _reverse_bits,
}
_INTEGERS: dict[str, Lane] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": divide,
    "rem": remainder,
    "min": min,
    "max": max,
    "and": int.__and__,
    "or": int.__or__,
    "xor": int.__xor__,
    "not": int.__invert__,
    "neg": operator.neg,
    "abs": abs,
}
_BOOLEANS: dict[str, Lane] = {
    "and": bool.__and__,
    "or": bool.__or__,
    "xor": bool.__xor__,
    "not": operator.not_,
}
_COMPARE: dict[str, Lane] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


# ---- floats


def _divide_floats(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _float_remainder(a: float, b: float) -> float:
    if math.isinf(a) or b == 0:
        return math.nan
    return math.fmod(a, b)


def _pick(wins: Callable[[float, float], bool]) -> Lane:
    """Least or greatest of two floats, where a NaN loses. Of equal ones the second: zeros differ in sign."""

    def pick(a: float, b: float) -> float:
        return a if b != b or wins(a, b) else b

    return pick


def _whole(make: Callable[[float], int]) -> Lane:
    """A whole number near a float; zero keeps the sign of the operand, infinities and NaNs are left alone."""

    def whole(a: float) -> float:
        return math.copysign(float(make(a)), a) if math.isfinite(a) else a

    return whole


def _round_away(a: float) -> int:
    """To the nearest, ties away from zero."""
    whole = math.trunc(a)
    return whole + (1 if a > 0 else -1) if abs(a - whole) >= 0.5 else whole


def _root(a: float) -> float:
    return math.nan if a < 0 else math.sqrt(a)


def _multiply_add(a: float, b: float, c: float) -> Fraction | float:
    """a * b + c without a rounding of its own."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return exact if exact else a * b + c  # exact too, and zeros have signs


_FLOATS: dict[str, Lane] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divide_floats,
    "rem": _float_remainder,
    "min": _pick(operator.lt),
    "max": _pick(operator.gt),
    "neg": operator.neg,
    "abs": abs,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": _whole(_round_away),
    "sqrt": _root,
    "fma": _multiply_add,
}
