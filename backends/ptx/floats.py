"""What instructions do to floats, on numpy arrays with one element for each thread: each rounds once, to nearest even.

Subnormal numbers count ("Floating-Point Instructions" of the PTX ISA manual, without `.ftz`), and a NaN that an instruction on
float32 or float16 makes is the canonical one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    Lanes = NDArray[Any]

CANONICAL = {2: 0x7FFF, 4: 0x7FFFFFFF}  # by bytes; float64 keeps what it has
ROUNDINGS: dict[str, Callable[[Lanes], Lanes]] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def canonical(lanes: Lanes) -> Lanes:
    """Every NaN in its one form."""
    size = lanes.dtype.itemsize
    wrong = lanes != lanes
    if size in CANONICAL and wrong.any():
        lanes = lanes.copy()
        lanes.view(f"u{size}")[wrong] = CANONICAL[size]
    return lanes


def rounded(compute: Callable[..., Lanes]) -> Callable[..., Lanes]:
    """One of numpy's operations, which round once as IEEE 754 says."""
    return lambda *operands: canonical(compute(*operands))


def in_pairs(compute: Callable[..., Lanes], type: str) -> Callable[..., Lanes]:
    """The same operation on both halves of a register."""
    half = np.dtype(f"f{int(type[1:3]) // 8}")
    whole = np.dtype(f"u{half.itemsize * 2}")

    def apply(*operands: Lanes) -> Lanes:
        made = compute(*(np.ascontiguousarray(operand).view(half).reshape(-1, 2) for operand in operands))
        return made.view(whole).reshape(-1)

    return apply


# ---- comparisons


def least(a: Lanes, b: Lanes) -> Lanes:
    """A NaN loses; -0 is less than 0."""
    return _choose(a, b, a < b, np.bitwise_or)


def greatest(a: Lanes, b: Lanes) -> Lanes:
    """A NaN loses; 0 is greater than -0."""
    return _choose(a, b, a > b, np.bitwise_and)


def _choose(a: Lanes, b: Lanes, first: Lanes, join: Callable[[Lanes, Lanes], Lanes]) -> Lanes:
    bits = f"u{a.dtype.itemsize}"
    equal = join(a.view(bits), b.view(bits)).view(a.dtype)  # only zeros are equal and have other bits
    made = np.where(a == b, equal, np.where(first | (b != b), a, b))
    return canonical(made)


COMPARISONS: dict[str, Callable[[Lanes, Lanes], Lanes]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: (a < b) | (a > b),  # false where one is a NaN
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": lambda a, b: a != b,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),
    "nan": lambda a, b: (a != a) | (b != b),
}


def copy_sign(a: Lanes, b: Lanes) -> Lanes:
    """b with the sign of a."""
    return np.copysign(b, a)


# ---- fma


def fuse(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """a * b + c, rounded once."""
    return canonical(_fuse_double(a, b, c) if a.dtype == np.float64 else _fuse_smaller(a, b, c))


def _fuse_smaller(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """In float64 the product is exact. The sum is rounded to odd: its last bit is set where something was lost, so that the
    second rounding, to float32 or float16, sees on which side of a tie the exact sum lies."""
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + addend
    rest = total - product
    lost = (product - (total - rest)) + (addend - rest)
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (lost != 0) & (bits & 1 == 0)
    away = np.where((lost > 0) == (total > 0), 1, -1)
    return np.where(inexact, bits + away, bits).view(np.float64).astype(a.dtype)


def _fuse_double(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    made = a * b + c
    for place, (x, y, z) in enumerate(np.broadcast(a, b, c)):
        if np.isfinite(x) and np.isfinite(y):
            made.flat[place] = _fuse_exactly(float(x), float(y), float(z)) if np.isfinite(z) else z
    return made


def _fuse_exactly(a: float, b: float, c: float) -> float:
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total == 0:
        return a * b + c  # the sign of a zero
    try:
        return total.numerator / total.denominator  # Python rounds the quotient of two integers once
    except OverflowError:
        return float("inf") if total > 0 else -float("inf")


# ---- conversions ("cvt")


def to_integer(rounding: str, source: str, target: str) -> Callable[[Lanes], Lanes]:
    """Numbers that don't fit become the nearest that does. A NaN becomes 0 or, from float64 and to 64 bits, the number with
    only its uppermost bit set."""
    dtype = np.dtype(f"{'i' if target[0] == 's' else 'u'}{int(target[1:]) // 8}")
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    lost = 1 << dtype.itemsize * 8 - 1 if source == "f64" or dtype.itemsize == 8 else 0
    nan = np.array([lost], f"u{dtype.itemsize}").view(dtype)[0]
    to_whole = ROUNDINGS[rounding]

    def compute(a: Lanes) -> Lanes:
        whole = to_whole(a.astype(np.float64))
        below, above = whole <= low, whole >= float(high + 1)
        inside = np.where(below | above | (whole != whole), 0.0, whole).astype(dtype)
        made = np.where(below, dtype.type(low), np.where(above, dtype.type(high), inside))
        return np.where(whole != whole, nan, made)

    return compute


def from_integer(target: str) -> Callable[[Lanes], Lanes]:
    """To float16 by way of float64: an integer that float64 would round is beyond float16 anyway."""
    dtype = np.dtype(f"f{int(target[1:]) // 8}")
    if dtype == np.float16:
        return lambda a: a.astype(np.float64).astype(dtype)
    return lambda a: a.astype(dtype)


def to_float(target: str) -> Callable[[Lanes], Lanes]:
    dtype = np.dtype(f"f{int(target[1:]) // 8}")
    return lambda a: canonical(a.astype(dtype))


def to_whole(rounding: str) -> Callable[[Lanes], Lanes]:
    compute = ROUNDINGS[rounding]
    return lambda a: canonical(compute(a))
