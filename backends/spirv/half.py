"""float16 and back, by integer arithmetic: the API promises neither the rounding of its conversions nor denormals.

Half bits are a `uint` whose upper 16 bits are zero; the number is a `float`. Rounding is to nearest even.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.spirv.code import Code

_INFINITY = 0x7F800000  # bits of float32
_LEAST_INFINITE = 0x47800000  # 2^16: from here on a half is infinite; rounding reaches infinity a little earlier
_LEAST_NORMAL = 0x38800000  # 2^-14
_BIAS = 0x38000000  # the exponents of float32 and float16 differ by 112
_LEAST = 2.0**-24  # the unit of denormal halves


def to_half(code: Code, number: str) -> str:
    """The half nearest to a float, ties to even."""
    bits = code.cast(number, "uint")
    sign = code.mask(code.shift_right(bits, 16), 0x8000)
    size = code.mask(bits, 0x7FFFFFFF)
    half = code.select(_less(code, size, _LEAST_NORMAL), _round_denormal(code, size), _round_normal(code, size))
    half = code.select(_less(code, size, _LEAST_INFINITE), half, code.uint(0x7C00))
    half = code.select(code.op("OpUGreaterThan", "bool", size, code.uint(_INFINITY)), code.uint(0x7E00), half)
    return code.op("OpBitwiseOr", "uint", half, sign)


def from_half(code: Code, half: str) -> str:
    """The number that a half is, exactly."""
    sign = code.shift_left(code.mask(half, 0x8000), 16)
    size = code.mask(half, 0x7FFF)
    normal = code.add(code.shift_left(size, 13), _BIAS)
    special = code.add(normal, _BIAS)  # infinity and NaN: from the greatest exponent to the greatest
    count = code.op("OpConvertUToF", "float", size)
    denormal = code.cast(code.op("OpFMul", "float", count, code.module.floating("float", _LEAST)), "uint")
    bits = code.select(_less(code, size, 0x0400), denormal, normal)
    bits = code.select(_less(code, size, 0x7C00), bits, special)
    return code.cast(code.op("OpBitwiseOr", "uint", bits, sign), "float")


def round_to_half(code: Code, number: str) -> str:
    """A float brought to the nearest value of float16."""
    return from_half(code, to_half(code, number))


def round_to_odd(code: Code, number: str) -> str:
    """A double as a float that a second rounding, to half, takes to what one rounding would have given.

    The last bit is set where the float is not exact, so it lies on the same side of every tie as the double.
    """
    near = code.op("OpFConvert", "float", number)
    back = code.op("OpFConvert", "double", near)
    bits = code.cast(near, "uint")
    even = code.op("OpIEqual", "bool", code.mask(bits, 1), code.uint(0))
    inexact = code.op("OpFOrdNotEqual", "bool", back, number)
    sizes = [code.extended("FAbs", "double", side) for side in (back, number)]
    too_large = code.op("OpFOrdGreaterThan", "bool", *sizes)
    odd = code.op("OpIAdd", "uint", bits, code.select(too_large, code.uint(0xFFFFFFFF), code.uint(1)))
    move = code.op("OpLogicalAnd", "bool", even, inexact)
    return code.cast(code.select(move, odd, bits), "float")


def _less(code: Code, size: str, bound: int) -> str:
    return code.op("OpULessThan", "bool", size, code.uint(bound))


def _round_normal(code: Code, size: str) -> str:
    odd = code.mask(code.shift_right(size, 13), 1)
    rounded = code.op("OpIAdd", "uint", code.add(size, 0xFFF), odd)
    return code.shift_right(code.op("OpISub", "uint", rounded, code.uint(_BIAS)), 13)


def _round_denormal(code: Code, size: str) -> str:
    """The significand shifted to units of 2^-24, by 14 to 24 bits. By 25 it is zero, which stands for every other distance."""
    significand = code.op("OpBitwiseOr", "uint", code.mask(size, 0x7FFFFF), code.uint(0x800000))
    distance = code.op("OpISub", "uint", code.uint(126), code.shift_right(size, 23))
    inside = _less(code, code.op("OpISub", "uint", distance, code.uint(14)), 11)
    distance = code.select(inside, distance, code.uint(25))
    odd = code.mask(code.op("OpShiftRightLogical", "uint", significand, distance), 1)
    before = code.op("OpISub", "uint", distance, code.uint(1))
    below_tie = code.op("OpISub", "uint", code.op("OpShiftLeftLogical", "uint", code.uint(1), before), code.uint(1))
    rounded = code.op("OpIAdd", "uint", code.op("OpIAdd", "uint", significand, below_tie), odd)
    return code.op("OpShiftRightLogical", "uint", rounded, distance)
