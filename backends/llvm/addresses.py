"""Vectors in a GPU's memory, at addresses that only run time knows. A GPU wants them aligned and would trap; LLVM, which must
assume the worst, would take bytes one by one.

So the address is asked. At a multiple of 16 the vector is taken at once. Elsewhere a load takes the aligned words around it
and shifts them into place, which reads no word without a byte of the vector; a store takes the largest units that fit. Where
LLVM can tell the alignment, only one way is left.

The ways differ in more than their alignment on purpose: LLVM would make one of them, with the lesser alignment.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.types import size_in_memory, spell, spell_in_memory
from cajeta_dot.types import INT32, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.llvm.writer import Writer

_WIDE, _WORD = 16, 4


def load_vector(writer: Writer, type: Vector, pointer: str) -> str:
    """A vector as it is in memory; `pointer` with its type."""
    word, element = spell_in_memory(type), size_in_memory(type.element)
    size = element * type.lanes
    if size % _WIDE:
        return _load_narrow(writer, type, pointer)
    wide, narrow, end = writer.new_labels("wide", "narrow", "loaded")
    writer.branch(_is_multiple(writer, _ask(writer, pointer), _WIDE), wide, narrow)
    writer.begin(wide)
    at_once = writer.value(f"load {word}, {pointer}, align {_WIDE}")
    writer.jump(end)
    writer.begin(narrow)
    pieced, behind = _load_narrow(writer, type, pointer), writer.label
    writer.begin(end)
    return writer.value(f"phi {word} [ {at_once}, %{wide} ], [ {pieced}, %{behind} ]")


def _load_narrow(writer: Writer, type: Vector, pointer: str) -> str:
    """Words, shifted into place; elements where these are words themselves, or don't fill words."""
    word, element = spell_in_memory(type), size_in_memory(type.element)
    size = element * type.lanes
    if element < _WORD and size % _WORD == 0:
        return _load_shifted(writer, type, pointer, size // _WORD)
    if element < _WORD:
        return writer.value(f"load {word}, {pointer}, align {element}")
    made, single = "poison", spell_in_memory(type.element)
    for lane in range(type.lanes):
        loaded = writer.value(f"load {single}, {_step(writer, pointer, lane * element)}, align {element}")
        made = writer.value(f"insertelement {word} {made}, {single} {loaded}, i32 {lane}")
    return made


def _load_shifted(writer: Writer, type: Vector, pointer: str, words: int) -> str:
    """`words` words at any address: each from the two aligned words that it lies in. The last of these is the one with the
    vector's last byte, so nothing is read behind it."""
    address = _ask(writer, pointer)
    bytes = writer.value(f"and i64 {address}, {_WORD - 1}")
    back = writer.value(f"sub i64 0, {bytes}")
    first = f"{_type_of(pointer)} {writer.value(f'getelementptr i8, {pointer}, i64 {back}')}"
    last_byte = writer.value(f"add i64 {bytes}, {words * _WORD - 1}")
    last = writer.value(f"and i64 {last_byte}, {-_WORD}")
    offsets = [str(k * _WORD) for k in range(words)] + [last]
    loaded = [writer.value(f"load i32, {_step(writer, first, offset)}, align {_WORD}") for offset in offsets]
    count = writer.value(f"shl i32 {writer.value(f'trunc i64 {bytes} to i32')}, 3")
    made, whole = "poison", spell(Vector(INT32, words))
    for lane in range(words):
        pair = (("i32", loaded[lane + 1]), ("i32", loaded[lane]), ("i32", count))
        made = writer.value(f"insertelement {whole} {made}, i32 {writer.call('i32', 'llvm.fshr.i32', *pair)}, i32 {lane}")
    return writer.value(f"bitcast {whole} {made} to {spell_in_memory(type)}")


def store_vector(writer: Writer, type: Vector, pointer: str, term: str) -> None:
    """A vector as it is to be in memory."""
    word, element = spell_in_memory(type), size_in_memory(type.element)
    size = element * type.lanes
    (end,) = writer.new_labels("stored")
    address = _ask(writer, pointer)
    for unit in (_WIDE, _WORD):
        if size % unit or unit <= element:
            continue
        fits, other = writer.new_labels("fits", "other")
        writer.branch(_is_multiple(writer, address, unit), fits, other)
        writer.begin(fits)
        if unit == _WIDE:
            writer.do(f"store {word} {term}, {pointer}, align {unit}")
        else:
            words = Vector(INT32, size // _WORD)
            _store_lanes(writer, words, pointer, writer.value(f"bitcast {word} {term} to {spell(words)}"))
        writer.jump(end)
        writer.begin(other)
    _store_lanes(writer, type, pointer, term)
    writer.begin(end)


def _store_lanes(writer: Writer, type: Vector, pointer: str, term: str) -> None:
    word, single, element = spell_in_memory(type), spell_in_memory(type.element), size_in_memory(type.element)
    for lane in range(type.lanes):
        content = writer.value(f"extractelement {word} {term}, i32 {lane}")
        writer.do(f"store {single} {content}, {_step(writer, pointer, lane * element)}, align {element}")


def _ask(writer: Writer, pointer: str) -> str:
    return writer.value(f"ptrtoint {pointer} to i64")


def _is_multiple(writer: Writer, address: str, unit: int) -> str:
    return writer.value(f"icmp eq i64 {writer.value(f'and i64 {address}, {unit - 1}')}, 0")


def _step(writer: Writer, pointer: str, offset: int | str) -> str:
    return f"{_type_of(pointer)} {writer.value(f'getelementptr i8, {pointer}, i64 {offset}')}"


def _type_of(pointer: str) -> str:
    return pointer.rpartition(" ")[0]
