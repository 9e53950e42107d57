"""What operators mean, said again in plain Python (LANGUAGE.md section 4): on numbers already at the type that they work at."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.reference.numbers import make_rounder, round_float, saturate
from cajeta_dot.types import FLOAT16, FLOAT32, SCALARS, Scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

INTEGERS = [scalar for scalar in SCALARS.values() if scalar.is_integer]
FLOATS = [scalar for scalar in SCALARS.values() if scalar.is_float]
NUMBERS = [*INTEGERS, *FLOATS]


def _divide(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _divide_floats(a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(a) / np.float64(b))


def _remainder_of_floats(a: float, b: float) -> float:
    return math.nan if math.isinf(a) or b == 0 or a != a or b != b else math.fmod(a, b)


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b) if b else 0,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
}
FLOAT_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide_floats,
    "%": _remainder_of_floats,
}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
SHIFTS = ("<<", ">>", ">>>")


def operators_of(type: Scalar) -> list[str]:
    """The arithmetic that a type has."""
    return list(FLOAT_ARITHMETIC if type.is_float else ARITHMETIC)


def compute(op: str, a: Any, b: Any, type: Scalar) -> Any:
    """Arithmetic on two numbers of one type, rounded or wrapped once; float16 computes in float32 and rounds back."""
    fit = make_rounder(type)
    if not type.is_float:
        return fit(ARITHMETIC[op](a, b))
    with np.errstate(all="ignore"):
        return fit(make_rounder(FLOAT32 if type == FLOAT16 else type)(FLOAT_ARITHMETIC[op](float(a), float(b))))


def shift(op: str, a: int, count: int, type: Scalar) -> int:
    """`a` is a number of the type; the count is taken modulo the width."""
    count %= type.bits
    if op == "<<":
        return type.wrap(a << count)
    return a >> count if op == ">>" else type.wrap((a % (1 << type.bits)) >> count)


def cast(number: Any, old: Scalar, new: Scalar) -> Any:
    if new.is_float:
        return round_float(number, new.bits)
    return saturate(number, new) if old.is_float else new.wrap(number)


def cast_all(numbers: Iterable[Any], old: Scalar, new: Scalar) -> list[Any]:
    return [cast(number, old, new) for number in numbers]
