"""Numbers of Python and numbers of the dialect's types: wrapping, rounding, bits.

An integer of the dialect is a Python int, a boolean a bool. A float of any width is a Python float that is one of the
width's numbers; a NaN keeps its payload and its quiet bit, so that copying bits through a float changes none of them.
Formats are those of IEEE 754; every rounding is one rounding to nearest, ties to even.
"""

from __future__ import annotations

import math
from struct import pack, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from cajeta_dot.types import Scalar

    Number = int | float | bool
    Exact = int | float | bool | Fraction
    Rounder = Callable[[Exact], Number]

# Bits of a float -> (bits of the significand with the hidden one, exponent of the least subnormal, layout for `struct`).
_FORMATS = {16: (11, -24, "<e"), 32: (24, -149, "<f"), 64: (53, -1074, "<d")}
_DOUBLE_SIGNIFICAND = 52


def wrap(number: int, element: Scalar) -> int:
    """The integer of the type with the same low bits."""
    low = number & ((1 << element.bits) - 1)
    return low - (1 << element.bits) if element.is_signed and low >> (element.bits - 1) else low


def make_rounder(element: Scalar) -> Rounder:
    """The function that brings one number into the type.

    Integers wrap and floats become integers as `saturate` says; floats are rounded once, also from a fraction.
    """
    if element.is_float:
        return lambda number: round_float(number, element.bits)
    if not element.is_number:
        return bool
    half = 1 << (element.bits - 1) if element.is_signed else 0
    mask = (1 << element.bits) - 1

    def fit(number: Exact) -> int:
        if isinstance(number, int):
            return ((number + half) & mask) - half
        if isinstance(number, float):
            return saturate(number, element)
        raise TypeError(f"the fraction {number} is to be an {element}")

    return fit


def round_float(number: Exact, bits: int) -> float:
    """The nearest float of the width; too large is an infinity. Exact for integers and fractions of any size."""
    if isinstance(number, float):
        return _round_double(number, bits)
    if isinstance(number, int):
        return _round_ratio(number, 1, bits)
    return _round_ratio(number.numerator, number.denominator, bits)


def _round_double(number: float, bits: int) -> float:
    if bits == 64 or number != number:
        return number
    layout = _FORMATS[bits][2]
    try:
        return unpack(layout, pack(layout, number))[0]
    except OverflowError:  # how `pack` says that the rounded number has no room
        return math.copysign(math.inf, number)


def _round_ratio(numerator: int, denominator: int, bits: int) -> float:
    """The quotient rounded once; a negative one that rounds to zero gives -0.0, zero itself 0.0."""
    precision, least, _ = _FORMATS[bits]
    size = abs(numerator)
    exponent = max(size.bit_length() - denominator.bit_length() - precision, least)
    digits, rest, unit = _divide_by_power(size, denominator, exponent)
    if digits >> precision:  # one bit too many: the estimate of the exponent is at most one too low
        exponent += 1
        digits, rest, unit = _divide_by_power(size, denominator, exponent)
    digits += 2 * rest > unit or (2 * rest == unit and digits & 1)
    too_large = digits.bit_length() + exponent > 3 - least - precision
    magnitude = math.inf if too_large else math.ldexp(digits, exponent)
    return -magnitude if numerator < 0 else magnitude


def _divide_by_power(numerator: int, denominator: int, exponent: int) -> tuple[int, int, int]:
    """numerator / denominator / 2**exponent: the whole part, the rest, and what the rest is a part of."""
    if exponent < 0:
        numerator <<= -exponent
    else:
        denominator <<= exponent
    return *divmod(numerator, denominator), denominator


def saturate(number: float, element: Scalar) -> int:
    """A float as an integer: toward zero, the nearest limit of the type if there is no room, 0 for a NaN."""
    if number != number:
        return 0
    if math.isinf(number):
        return element.high if number > 0 else element.low
    return min(max(math.trunc(number), element.low), element.high)


def to_bits(number: Number, element: Scalar) -> int:
    """The bits of one number of the type, as an unsigned integer."""
    if not isinstance(number, float):
        return number & ((1 << element.bits) - 1)
    layout = _FORMATS[element.bits][2]
    if number == number or element.bits == 64:
        return int.from_bytes(pack(layout, number), "little")
    dropped = _DOUBLE_SIGNIFICAND - (_FORMATS[element.bits][0] - 1)
    wide = int.from_bytes(pack("<d", number), "little")
    sign, payload = wide >> 63, (wide & ((1 << _DOUBLE_SIGNIFICAND) - 1)) >> dropped
    return sign << (element.bits - 1) | _infinity(element.bits) | payload


def from_bits(bits: int, element: Scalar) -> Number:
    """The number of the type that has these bits, given as an unsigned integer."""
    if not element.is_float:
        return wrap(bits, element)
    number: float = unpack(_FORMATS[element.bits][2], bits.to_bytes(element.bits // 8, "little"))[0]
    if number == number or element.bits == 64:
        return number
    dropped = _DOUBLE_SIGNIFICAND - (_FORMATS[element.bits][0] - 1)
    sign, payload = bits >> (element.bits - 1), bits & ((1 << (_FORMATS[element.bits][0] - 1)) - 1)
    wide = sign << 63 | _infinity(64) | payload << dropped
    return unpack("<d", wide.to_bytes(8, "little"))[0]


def _infinity(bits: int) -> int:
    """The bits of the positive infinity: an exponent of ones."""
    fraction = _FORMATS[bits][0] - 1
    return ((1 << (bits - 1 - fraction)) - 1) << fraction
