"""How LLVM spells our types and constants.

Integers have no sign here: the opcode that reads one takes its sign from our type. A boolean is i1 in registers and i8 in
memory. A float16 is i16 everywhere, because only some processors know more of it than how to convert it.
"""

from __future__ import annotations

import struct

from cajeta_dot.ir import lanes_of_constant
from cajeta_dot.types import BOOL, FLOAT, VOID, Scalar, Vector, element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cajeta_dot.types import Type

_FLOATS = {16: "i16", 32: "float", 64: "double"}
_BITS_OF = {16: "e", 32: "f", 64: "d"}


def spell(type: Type) -> str:
    """A value in a register, or what a function returns. Arrays are pointers and lengths: not here."""
    if type == VOID:
        return "void"
    element = element_of(type)
    word = _FLOATS[element.bits] if element.kind == FLOAT else f"i{element.bits}"
    return f"<{type.lanes} x {word}>" if isinstance(type, Vector) else word


def spell_in_memory(type: Scalar | Vector) -> str:
    """The same value in an array."""
    return spell(type).replace("i1", "i8") if element_of(type).kind == BOOL else spell(type)


def size_in_memory(element: Scalar) -> int:
    """Bytes of one array element, which are also its alignment."""
    return max(element.bits // 8, 1)


def suffix(type: Scalar | Vector) -> str:
    """What stands behind the name of an intrinsic that is overloaded for a type: `i32`, `v4f32`."""
    element = element_of(type)
    word = f"f{element.bits}" if element.kind == FLOAT else f"i{element.bits}"
    return f"v{type.lanes}{word}" if isinstance(type, Vector) else word


def spell_constant(type: Type, content: Any) -> str:
    """A constant without its type: one number for all lanes, or a tuple with one for each."""
    element = element_of(type)
    word = spell(element)
    literal, *others = (_literal(element, lane) for lane in lanes_of_constant(content))
    if not isinstance(type, Vector):
        return literal
    if any(other != literal for other in others):
        return f"<{', '.join(f'{word} {lane}' for lane in (literal, *others))}>"
    return "zeroinitializer" if literal in ("0", "false", _ZERO) else f"splat ({word} {literal})"


_ZERO = "0x0000000000000000"


def _literal(element: Scalar, content: Any) -> str:
    if element.kind == BOOL:
        return "true" if content else "false"
    if element.kind != FLOAT:
        return str(element.wrap(content))
    if element.bits == 16:
        return str(bits_of(element, content))
    # LLVM writes a float as the double of the same value.
    rounded = struct.unpack("<f", struct.pack("<f", content))[0] if element.bits == 32 else content
    return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"


def bits_of(element: Scalar, content: float) -> int:
    """The bits of a float constant, as a number from 0."""
    return int.from_bytes(struct.pack("<" + _BITS_OF[element.bits], content), "little")


def float_of(element: Scalar, bits: int) -> float:
    """The float that has these bits."""
    return struct.unpack("<" + _BITS_OF[element.bits], bits.to_bytes(element.bits // 8, "little"))[0]
