"""The dot operation of the IR as OpSDot, OpUDot and OpSUDot on packed words, or in bit fields.

The opcodes multiply four bytes each and add the products without loss (SPV_KHR_integer_dot_product); the accumulator is
added by OpIAdd, which wraps. Their saturating relatives are another operation and never used. An operand that is read as
signed is an `int`, one that is read as unsigned a `uint`; OpSUDot takes the signed one first and OpUDot gives a `uint`.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.lanes import take_lanes
from cajeta_dot.types import element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.spirv.code import Code
    from cajeta_dot.backends.spirv.lanes import Registers
    from cajeta_dot.ir import Value

PACKED_FORMAT = "PackedVectorFormat4x8Bit"
CAPABILITIES = ("DotProduct", "DotProductInput4x8BitPacked")
# Signedness of the operands, signed first -> opcode, type of its result.
_OPCODES = {
    (True, True): ("OpSDot", "int"),
    (True, False): ("OpSUDot", "int"),
    (False, False): ("OpUDot", "uint"),
}
EXPANSION = "OpBitFieldSExtract/OpBitFieldUExtract"


def emit_dot(code: Code, value: Value, operands: Sequence[Registers], int_dot: bool) -> Registers:
    """Four products into each accumulator lane, or all into the one there is."""
    w, x, accumulators = operands
    if int_dot:
        code.module.require(*CAPABILITIES)
        products = [_multiply(code, value, *words) for words in zip(w, x, strict=True)]
    else:
        sides = [take_lanes(code, arg.type, words) for arg, words in zip(value.args[:2], (w, x), strict=True)]
        lanes = [code.op("OpIMul", "int", a, b) for a, b in zip(*sides, strict=True)]
        products = [_sum(code, lanes[at : at + 4]) for at in range(0, len(lanes), 4)]
    if len(accumulators) == 1:
        return (_sum(code, [accumulators[0], *products]),)
    return tuple(code.op("OpIAdd", "int", *pair) for pair in zip(accumulators, products, strict=True))


def name_opcode(value: Value) -> str:
    """The opcode of a dot operation."""
    return _OPCODES[_signs_of(value)][0]


def _signs_of(value: Value) -> tuple[bool, bool]:
    """Are the operands signed? The signed one first."""
    w, x = _are_signed(value)
    return w or x, w and x


def _are_signed(value: Value) -> tuple[bool, bool]:
    w, x, _ = value.args
    return element_of(w.type).is_signed, element_of(x.type).is_signed


def _multiply(code: Code, value: Value, w: str, x: str) -> str:
    signs = _signs_of(value)
    words = (x, w) if _are_signed(value) == (False, True) else (w, x)
    opcode, result = _OPCODES[signs]
    sides = [code.cast(word, "int" if signed else "uint") for word, signed in zip(words, signs, strict=True)]
    return code.op(opcode, result, *sides, PACKED_FORMAT)


def _sum(code: Code, terms: Sequence[str]) -> str:
    total = terms[0]
    for term in terms[1:]:
        total = code.op("OpIAdd", "int", total, term)
    return total
