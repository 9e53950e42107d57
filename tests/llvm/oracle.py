"""What each opcode makes of single lanes: Python's integers wrapped once, and numpy's floats of the same width."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.reference.numbers import round_float

if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.types import Scalar

    Unary = Callable[[Any], Any]
    Binary = Callable[[Any, Any], Any]
    Ternary = Callable[[Any, Any, Any], Any]


def divide(a: int, b: int) -> int:
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rotate_left(a: int, count: int, bits: int) -> int:
    low, count = a % (1 << bits), count % bits
    return low << count | low >> (bits - count)


INTEGERS: dict[str, Binary] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": divide,
    "rem": lambda a, b: a - b * divide(a, b) if b else 0,
    "min": lambda a, b: min(a, b),
    "max": lambda a, b: max(a, b),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
INTEGERS_ALONE: dict[str, Unary] = {"neg": lambda a: -a, "not": lambda a: ~a, "abs": lambda a: abs(a)}
BY_WIDTH: dict[str, Ternary] = {  # the width comes last
    "shl": lambda a, b, bits: a << b % bits,
    "shr": lambda a, b, bits: a >> b % bits,
    "rotate_left": rotate_left,
    "rotate_right": lambda a, b, bits: rotate_left(a, -b, bits),
}
BY_WIDTH_ALONE: dict[str, Binary] = {
    "count_ones": lambda a, bits: bin(a % (1 << bits)).count("1"),
    "reverse_bits": lambda a, bits: int(f"{a % (1 << bits):0{bits}b}"[::-1], 2),
}
COMPARISONS: dict[str, Binary] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
FLOATS: dict[str, Binary] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "rem": lambda a, b: np.fmod(a, b),
    "min": lambda a, b: a if a < b or b != b else b,
    "max": lambda a, b: a if a > b or b != b else b,
}
FLOATS_ALONE: dict[str, Unary] = {
    "neg": lambda a: -a,
    "abs": lambda a: np.abs(a),
    "floor": lambda a: np.floor(a),
    "ceil": lambda a: np.ceil(a),
    "trunc": lambda a: np.trunc(a),
    "sqrt": lambda a: np.sqrt(a),
    "round": lambda a: round_away(a),
}


def round_away(a: Any) -> Any:
    """To the nearest integer, ties away from zero; the sign stays."""
    if not np.isfinite(a):
        return a
    whole = np.trunc(a)
    return np.copysign(abs(whole) + type(a)(abs(a - whole) >= 0.5), a)


def fuse(a: float, b: float, c: float, bits: int) -> float:
    """a * b + c with one rounding."""
    if np.isfinite(a) and np.isfinite(b) and not np.isfinite(c):
        return c  # the product is finite, though a float64 may not hold it
    if not all(map(np.isfinite, (a, b, c))) or (total := Fraction(a) * Fraction(b) + Fraction(c)) == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c))  # special values and signs of zero
    return round_float(total, bits)


def evaluate(op: str, element: Scalar, *operands: Any) -> Any:
    """One lane, as a number of the element type, or a boolean."""
    with np.errstate(all="ignore"):
        if op in COMPARISONS:
            return bool(COMPARISONS[op](*operands))
        if op == "fma":
            a, b, c = map(float, operands)
            return fuse(a, b, c, element.bits)
        if element.is_float:
            first, *others = [np.dtype(str(element)).type(operand) for operand in operands]
            return FLOATS[op](first, others[0]) if others else FLOATS_ALONE[op](first)
        first, *others = operands
        if op in BY_WIDTH:
            return element.wrap(BY_WIDTH[op](first, others[0], element.bits))
        if op in BY_WIDTH_ALONE:
            return element.wrap(BY_WIDTH_ALONE[op](first, element.bits))
        return element.wrap(INTEGERS[op](first, others[0]) if others else INTEGERS_ALONE[op](first))


def convert(number: Any, source: Scalar, target: Scalar) -> Any:
    """As `convert` does: low bits; nearest even; toward zero and saturating, NaN is 0."""
    if target.is_float:
        return round_float(number, target.bits)
    if not source.is_float:
        return target.wrap(number)
    if number != number:
        return 0
    if abs(number) == float("inf"):
        return target.high if number > 0 else target.low
    return min(max(int(number), target.low), target.high)
