"""Loads and stores of storage buffers and shared arrays.

Elements of less than 32 bits share `uint`s unless the array is narrow (see `interface.Memory`). A load that is not known to
begin a word takes one word more and joins the parts, a funnel shift; that last word is the one in which its last element
lies, so nothing behind the elements asked for is read. Indexes count elements, in 32 bits: no buffer is larger.

A part of a word that others may be storing to at the same time is cleared and set by atomic operations (`merged` memory).
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.half import from_half, to_half
from cajeta_dot.backends.spirv.lanes import from_words, put_lanes, take_lanes, to_words, word_of
from cajeta_dot.types import BOOLEAN, Scalar, Type, Vector, element_of, lanes_of, with_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.spirv.code import Code
    from cajeta_dot.backends.spirv.interface import Memory
    from cajeta_dot.backends.spirv.lanes import Registers
    from cajeta_dot.backends.spirv.plan import Instance
    from cajeta_dot.ir import Value

_NARROW_WORDS = ("uchar", "ushort")  # no registers are of these types
_DEVICE = 1  # scope


def emit_load(code: Code, instance: Instance, value: Value, index: str) -> Registers:
    """An element or a vector of neighbours; `index` is a `uint`."""
    memory = instance.memory_of(value)
    type = _type_in_memory(memory, value.type)
    if memory.is_split:
        known = 1 << instance.zeros.get(value.args[1], 0)
        loaded = from_words(code, type, _load_words(code, memory, index, lanes_of(type), known))
    else:
        lanes = [_fetch(code, memory, index, lane) for lane in range(lanes_of(type))]
        loaded = put_lanes(code, type, [_widen(code, memory, lane) for lane in lanes])
    if type == value.type:
        return loaded
    return tuple(code.op("OpINotEqual", "bool", lane, code.uint(0)) for lane in take_lanes(code, type, loaded))


def emit_store(code: Code, instance: Instance, value: Value, index: str, content: Registers) -> None:
    """The opposite; where elements share words, whole words are stored or parts of them merged in."""
    memory, given = instance.memory_of(value), value.args[2].type
    type = _type_in_memory(memory, given)
    if type != given:
        content = put_lanes(code, type, [code.select(lane, code.uint(1), code.uint(0)) for lane in content])
    if memory.merged and not instance.stores_whole_words(value):
        for lane, register in enumerate(take_lanes(code, type, content)):
            _merge(code, memory, code.add(index, lane), register)
        return
    if memory.is_split:
        first = _word_index(code, memory, index)
        for place, word in enumerate(to_words(code, type, content)):
            _store(code, memory, first, place, word)
        return
    for lane, register in enumerate(take_lanes(code, type, content)):
        _store(code, memory, index, lane, _narrow(code, memory, register))


def _type_in_memory(memory: Memory, type: Type) -> Type:
    """Booleans in a buffer are bytes."""
    assert isinstance(type, (Scalar, Vector))
    is_otherwise = element_of(type) == BOOLEAN and memory.element != BOOLEAN
    return with_element(type, memory.element) if is_otherwise else type


def _point(code: Code, memory: Memory, index: str, further: int) -> str:
    """A buffer is the only member of a struct, a shared array is not in one."""
    place = code.add(index, further)
    indexes = (place,) if memory.is_shared else (code.uint(0), place)
    return code.access(memory.storage, memory.word, memory.variable, *indexes)


def _fetch(code: Code, memory: Memory, index: str, further: int) -> str:
    return code.op("OpLoad", memory.word, _point(code, memory, index, further))


def _store(code: Code, memory: Memory, index: str, further: int, register: str) -> None:
    code.do("OpStore", _point(code, memory, index, further), register)


def _widen(code: Code, memory: Memory, loaded: str) -> str:
    """From memory to register."""
    if memory.word not in _NARROW_WORDS:
        return loaded
    if memory.element.is_float:
        return from_half(code, code.op("OpUConvert", "uint", loaded))
    return code.op("OpSConvert" if memory.element.is_signed else "OpUConvert", word_of(memory.element), loaded)


def _narrow(code: Code, memory: Memory, register: str) -> str:
    """From register to memory."""
    if memory.word not in _NARROW_WORDS:
        return register
    return code.op("OpUConvert", memory.word, to_half(code, register) if memory.element.is_float else register)


# ---- elements that share words


def _word_index(code: Code, memory: Memory, index: str) -> str:
    return code.shift_right(index, memory.each.bit_length() - 1)


def _merge(code: Code, memory: Memory, index: str, register: str) -> None:
    """An element into its word, the other elements of which keep what they have at every moment."""
    bits = memory.element.bits
    half = to_half(code, register) if memory.element.is_float else register
    offset = code.shift_left(code.mask(index, memory.each - 1), bits.bit_length() - 1)
    pointer = _point(code, memory, _word_index(code, memory, index), 0)
    field = code.op("OpShiftLeftLogical", "uint", code.uint((1 << bits) - 1), offset)
    content = code.op("OpShiftLeftLogical", "uint", code.mask(half, (1 << bits) - 1), offset)
    scope, relaxed = code.uint(_DEVICE), code.uint(0)
    code.op("OpAtomicAnd", "uint", pointer, scope, relaxed, code.op("OpNot", "uint", field))
    code.op("OpAtomicOr", "uint", pointer, scope, relaxed, content)


def _load_words(code: Code, memory: Memory, index: str, lanes: int, known: int) -> list[str]:
    """The elements from `index` on in words of their own. `known` is a power of two that divides the index."""
    each = memory.each
    first = _word_index(code, memory, index)
    words = [_fetch(code, memory, first, place) for place in range(-(-lanes // each))]
    if known >= each:
        return words
    offset = code.shift_left(code.mask(index, each - 1), memory.element.bits.bit_length() - 1)
    low = [code.op("OpShiftRightLogical", "uint", word, offset) for word in words]
    if lanes <= known:
        return low  # a group of `known` elements does not cross a word
    last = _word_index(code, memory, code.add(index, lanes - 1))
    following = [*words[1:], _fetch(code, memory, last, 0)]
    rest = code.op("OpBitwiseXor", "uint", offset, code.uint(31))  # 31 - offset
    # Two steps, because 32 - offset is 32 where the offset is 0 and no shift goes so far.
    high = [code.op("OpShiftLeftLogical", "uint", code.shift_left(word, 1), rest) for word in following]
    return [code.op("OpBitwiseOr", "uint", *parts) for parts in zip(low, high, strict=True)]
