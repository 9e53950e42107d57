"""How values of the source's types are kept in registers, and how lanes are taken out of them and put together.

Integers up to 32 bits are one `int` or `uint`, always extended from their own width by their own sign; 64 bits are `long`
or `ulong`. A float16 is a `float` that has one of float16's values. A vector of 8-bit integers whose lanes are a multiple
of four is packed: a `uint` for each four lanes, lane 0 in the low byte, as the dot opcodes take them. Every other vector is
a register for each lane. SPIR-V's own vectors end at four components, the source's at 256.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.half import from_half, to_half
from cajeta_dot.types import BOOL, Scalar, Type, Vector, element_of, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from cajeta_dot.backends.spirv.code import Code

    Registers = tuple[str, ...]

_BYTES = 4  # in a packed word


def is_packed(type: Type) -> bool:
    """Is it kept four lanes to a register?"""
    return isinstance(type, Vector) and type.element.is_integer and type.element.bits == 8 and type.lanes % _BYTES == 0


def word_of(element: Scalar) -> str:
    """The type of the register of one scalar or lane."""
    if element.kind == BOOL:
        return "bool"
    if element.is_float:
        return "double" if element.bits == 64 else "float"
    return {True: ("int", "long"), False: ("uint", "ulong")}[element.is_signed][element.bits == 64]


def shape_of(type: Type) -> tuple[str, int]:
    """The type of a value's registers, and how many there are."""
    if is_packed(type):
        return "uint", lanes_of(type) // _BYTES
    return word_of(element_of(type)), lanes_of(type)


def take_lane(code: Code, type: Type, registers: Registers, lane: int) -> str:
    """One lane, extended by its sign."""
    if not is_packed(type):
        return registers[lane]
    return code.field(registers[lane // _BYTES], 8 * (lane % _BYTES), 8, element_of(type).is_signed)


def take_lanes(code: Code, type: Type, registers: Registers) -> list[str]:
    """Every lane, extended by its sign; a scalar is its own lane."""
    return [take_lane(code, type, registers, lane) for lane in range(lanes_of(type))]


def put_lanes(code: Code, type: Type, lanes: Sequence[str]) -> Registers:
    """A value of its lanes. Of lanes that become packed only the low byte counts."""
    if not is_packed(type):
        return tuple(lanes)
    return tuple(join_fields(code, lanes[at : at + _BYTES], 8) for at in range(0, len(lanes), _BYTES))


def join_fields(code: Code, fields: Sequence[str], bits: int) -> str:
    """A `uint` of fields of equal width, the first one lowest; they are all int or all uint. Missing ones are undefined."""
    word = fields[0]
    for place, field in enumerate(fields[1:], 1):
        word = code.insert(word, field, bits * place, bits)
    return code.cast(word, "uint")


def normalise(code: Code, element: Scalar, register: str) -> str:
    """An integer register whose low bits are right, extended from the width of its type."""
    if element.bits >= 32:
        return register
    if element.is_signed:
        return code.field(register, 0, element.bits, True)
    return code.mask(register, element.high)


# ---- bits under another type


def to_words(code: Code, type: Type, registers: Registers) -> list[str]:
    """The bits of a value as `uint`s, lane 0 lowest. Bits of the last word that the value does not fill are undefined."""
    if is_packed(type):
        return list(registers)
    element = element_of(type)
    if element.bits == 64:
        pair = code.module.vector("uint", 2)
        halves = [code.typed("OpBitcast", pair, register) for register in registers]
        return [code.op("OpCompositeExtract", "uint", half, str(place)) for half in halves for place in (0, 1)]
    if element.bits == 32:
        return [code.cast(register, "uint") for register in registers]
    fields = [to_half(code, register) for register in registers] if element.is_float else registers
    each = 32 // element.bits
    return [join_fields(code, fields[at : at + each], element.bits) for at in range(0, len(fields), each)]


def from_words(code: Code, type: Type, words: Sequence[str]) -> Registers:
    """A value of these bits; what its last word has too many is ignored."""
    if is_packed(type):
        return tuple(words)
    element, lanes = element_of(type), lanes_of(type)
    word = word_of(element)
    if element.bits == 64:
        pair = code.module.vector("uint", 2)
        pairs = [code.typed("OpCompositeConstruct", pair, words[2 * lane], words[2 * lane + 1]) for lane in range(lanes)]
        return tuple(code.op("OpBitcast", word, both) for both in pairs)
    if element.bits == 32:
        return tuple(code.cast(register, word) for register in words)
    each = 32 // element.bits
    places = [(words[lane // each], element.bits * (lane % each)) for lane in range(lanes)]
    fields = [code.field(register, offset, element.bits, element.is_signed) for register, offset in places]
    return tuple(from_half(code, field) for field in fields) if element.is_float else tuple(fields)


# ---- constants


def spread(type: Type, content: Any) -> tuple[Any, ...]:
    """What a `const` of the IR holds in each lane: its content is one for all, or a tuple of them."""
    return content if isinstance(content, tuple) else (content,) * lanes_of(type)  # pyright: ignore[reportUnknownVariableType]


def constant(code: Code, type: Type, content: Any) -> Registers:
    """The registers of a `const`; no instruction is needed."""
    lanes = spread(type, content)
    if not is_packed(type):
        return tuple(scalar_constant(code, element_of(type), lane) for lane in lanes)
    row = bytes(lane & 0xFF for lane in lanes)
    return tuple(code.uint(int.from_bytes(row[at : at + _BYTES], "little")) for at in range(0, len(row), _BYTES))


def scalar_constant(code: Code, element: Scalar, content: object) -> str:
    """One lane of a constant."""
    if isinstance(content, bool):
        return code.module.boolean(content)
    if isinstance(content, int) and element.is_integer:
        return code.module.integer(word_of(element), content)
    assert isinstance(content, (int, float))
    return code.module.floating(word_of(element), float(content))
