"""A number in another element type: the opcode `convert` of the IR on one register.

Integers keep their low bits; integers become the nearest float; floats go toward zero, saturate, and NaN becomes 0, which
SPIR-V leaves undefined; floats round to nearest even.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.half import round_to_half, round_to_odd
from cajeta_dot.backends.spirv.lanes import normalise, word_of
from cajeta_dot.types import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.spirv.code import Code


def convert(code: Code, old: Scalar, new: Scalar, register: str) -> str:
    """The register of the number in the new type."""
    result = convert_low(code, old, new, register)
    return normalise(code, new, result) if new.is_integer and not _contains(new, old) else result


def convert_low(code: Code, old: Scalar, new: Scalar, register: str) -> str:
    """The same, but an integer result of less than 32 bits may have any upper bits."""
    if old.is_float:
        return _float_to_float(code, old, new, register) if new.is_float else _float_to_integer(code, old, new, register)
    return _integer_to_float(code, old, new, register) if new.is_float else _integer_to_integer(code, old, new, register)


def _contains(new: Scalar, old: Scalar) -> bool:
    """Has the new type all integers that a register of the old one can have, so that nothing is to be cut off?"""
    if old.is_float:
        return True  # saturated
    return new.bits >= 32 or (new.low <= old.low and old.high <= new.high)


def _integer_to_integer(code: Code, old: Scalar, new: Scalar, register: str) -> str:
    word = word_of(new)
    if old.bits == 64 and new.bits < 64:
        return code.cast(code.op("OpUConvert", "uint", register), word)
    if old.bits < 64 and new.bits == 64:
        widened = code.op("OpSConvert", "long", register) if old.is_signed else code.op("OpUConvert", "ulong", register)
        return code.cast(widened, word)
    return code.cast(register, word)


def _integer_to_float(code: Code, old: Scalar, new: Scalar, register: str) -> str:
    result = code.op("OpConvertSToF" if old.is_signed else "OpConvertUToF", word_of(new), register)
    # An integer that float32 does not have exactly is too large for float16: the second rounding changes nothing.
    return round_to_half(code, result) if new.bits == 16 else result


def _float_to_float(code: Code, old: Scalar, new: Scalar, register: str) -> str:
    if new.bits == 16:
        return round_to_half(code, round_to_odd(code, register) if old.bits == 64 else register)
    return register if word_of(old) == word_of(new) else code.op("OpFConvert", word_of(new), register)


def _float_to_integer(code: Code, old: Scalar, new: Scalar, register: str) -> str:
    """Converted where it fits; only numbers that fit reach the opcode. 0 stands for NaN as for what is outside."""
    module, word = code.module, word_of(new)
    low, behind = (module.floating(word_of(old), float(bound)) for bound in (new.low, new.high + 1))
    is_below = code.op("OpFOrdLessThan", "bool", register, low)
    is_above = code.op("OpFOrdGreaterThanEqual", "bool", register, behind)
    outside = code.op("OpLogicalOr", "bool", is_below, is_above)
    outside = code.op("OpLogicalOr", "bool", outside, code.op("OpFUnordNotEqual", "bool", register, register))
    inside = code.select(outside, module.floating(word_of(old), 0.0), register)
    result = code.op("OpConvertFToS" if new.is_signed else "OpConvertFToU", word, inside)
    result = code.select(is_below, module.integer(word, new.low), result)
    return code.select(is_above, module.integer(word, new.high), result)
