"""`Math.fma` with its one rounding, for float32 and float16: GLSL's Fma may round twice, so it is computed in doubles.

The product of two floats is exact there. The sum is rounded to odd: its last bit is set where it is not exact, so that the
rounding to the type, which has far fewer bits, comes out as if it were the only one (S. Boldo, G. Melquiond, "Emulation of
FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", 2008).
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.half import round_to_half, round_to_odd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.spirv.code import Code
    from cajeta_dot.types import Scalar


def fuse(code: Code, element: Scalar, a: str, b: str, c: str) -> str:
    """a * b + c of registers of float."""
    a, b, c = (code.op("OpFConvert", "double", side) for side in (a, b, c))
    total = _add_to_odd(code, code.op("OpFMul", "double", a, b), c)
    if element.bits == 16:
        return round_to_half(code, round_to_odd(code, total))
    return code.op("OpFConvert", "float", total)


def _add_to_odd(code: Code, a: str, b: str) -> str:
    """The sum of two doubles, rounded to odd. No number here is so large that a difference of them overflows."""
    total = code.op("OpFAdd", "double", a, b)
    error = _find_error(code, a, b, total)
    pair = code.typed("OpBitcast", code.module.vector("uint", 2), total)
    low, high = (code.op("OpCompositeExtract", "uint", pair, str(place)) for place in (0, 1))
    zero = code.module.floating("double", 0.0)
    inexact = code.op("OpFOrdNotEqual", "bool", error, zero)  # not where a number is infinite or none: the error is none then
    even = code.op("OpIEqual", "bool", code.mask(low, 1), code.uint(0))
    signs = [code.op("OpFOrdGreaterThan", "bool", side, zero) for side in (error, total)]
    outward = code.op("OpLogicalEqual", "bool", *signs)
    # The last bit of `low` is 0: adding 1 carries nothing, subtracting it borrows from `high` where `low` is 0.
    moved = code.select(outward, code.add(low, 1), code.op("OpISub", "uint", low, code.uint(1)))
    empty = code.op("OpIEqual", "bool", low, code.uint(0))
    borrows = code.op("OpLogicalAnd", "bool", empty, code.op("OpLogicalNot", "bool", outward))
    lowered = code.select(borrows, code.op("OpISub", "uint", high, code.uint(1)), high)
    odd = code.typed("OpCompositeConstruct", code.module.vector("uint", 2), moved, lowered)
    move = code.op("OpLogicalAnd", "bool", inexact, even)
    return code.select(move, code.op("OpBitcast", "double", odd), total)


def _find_error(code: Code, a: str, b: str, total: str) -> str:
    """What rounding has taken from a + b, exactly (D. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B)."""
    rest = code.op("OpFSub", "double", total, a)
    left = code.op("OpFSub", "double", a, code.op("OpFSub", "double", total, rest))
    return code.op("OpFAdd", "double", left, code.op("OpFSub", "double", b, rest))
