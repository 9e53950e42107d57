"""Byte vectors on a processor that has 32-bit words and no byte lanes (nvptx): four bytes are worked on at once.

LLVM would take each byte out, shift it and put it back. Here a lane-wise operation on 4n bytes becomes arithmetic on n words
in which no bit crosses from one byte into the next. Not for shifts by counts that are not known, products or comparisons.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.types import spell, spell_constant
from cajeta_dot.ir import lanes_of_constant
from cajeta_dot.types import INT32, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends.llvm.writer import Writer
    from cajeta_dot.ir import Value


def emit_in_words(writer: Writer, value: Value, args: Sequence[str]) -> str | None:
    """The operation on words, or None where it isn't one of these."""
    type = value.type
    if not isinstance(type, Vector) or type.element.bits != 8 or type.lanes % 4:
        return None
    words = _Words(writer, type)
    if value.op in ("shl", "shr"):
        count = _known_count(value.args[1])
        return None if count is None else words.leave(_shift(words, value.op, words.enter(args[0]), count))
    if value.op not in _RULES:
        return None
    return words.leave(_RULES[value.op](words, *map(words.enter, args)))


class _Words:
    """Arithmetic on the words of a byte vector. An int stands for that byte in every place."""

    def __init__(self, writer: Writer, bytes: Vector):
        self.writer, self.bytes = writer, bytes
        self.type = Vector(INT32, bytes.lanes // 4)
        self.word = spell(self.type)

    def enter(self, term: str) -> str:
        return self.writer.value(f"bitcast {spell(self.bytes)} {term} to {self.word}")

    def leave(self, term: str) -> str:
        return self.writer.value(f"bitcast {self.word} {term} to {spell(self.bytes)}")

    def do(self, instruction: str, a: str | int, b: str | int) -> str:
        return self.writer.value(f"{instruction} {self.word} {self._term(a)}, {self._term(b)}")

    def shift(self, instruction: str, a: str, count: int) -> str:
        return self.writer.value(f"{instruction} {self.word} {a}, {spell_constant(self.type, count)}")

    def _term(self, operand: str | int) -> str:
        return operand if isinstance(operand, str) else spell_constant(self.type, operand * 0x01010101)


def _known_count(count: Value) -> int | None:
    """The count that every lane is shifted by, if it is known."""
    if count.op == "splat":
        count = count.args[0]
    if count.op != "const":
        return None
    counts: set[int] = set(lanes_of_constant(count.attr))
    return counts.pop() if len(counts) == 1 else None


def _shift(words: _Words, op: str, a: str, count: int) -> str:
    if count == 0:
        return a
    if op == "shl":
        return words.do("and", words.shift("shl", a, count), 0xFF << count & 0xFF)
    low = words.do("and", words.shift("lshr", a, count), 0xFF >> count)
    if not words.bytes.element.is_signed:
        return low
    # Copies of the sign: 0x80 becomes 0x100 - (0x80 >> count-1), which are the upper `count` bits of its byte.
    signs = words.do("and", a, 0x80)
    return words.do("or", low, words.do("sub", words.shift("shl", signs, 1), words.shift("lshr", signs, count - 1)))


def _add(words: _Words, a: str, b: str) -> str:
    """The lower seven bits are added without reaching the next byte, bit 7 without carry."""
    low = words.do("add", words.do("and", a, 0x7F), words.do("and", b, 0x7F))
    return words.do("xor", low, words.do("and", words.do("xor", a, b), 0x80))


def _subtract(words: _Words, a: str, b: str) -> str:
    """Bit 7 of every byte of `a` is set, so that no byte borrows from the next; then it is put right."""
    low = words.do("sub", words.do("or", a, 0x80), words.do("and", b, 0x7F))
    return words.do("xor", low, words.do("and", words.do("xor", words.do("xor", a, b), 0xFF), 0x80))


def _negate(words: _Words, a: str) -> str:
    return _subtract(words, spell_constant(words.type, 0), a)


def _invert(words: _Words, a: str) -> str:
    return words.do("xor", a, 0xFF)


def _same(instruction: str) -> Callable[..., str]:
    def emit(words: _Words, a: str, b: str) -> str:
        return words.do(instruction, a, b)

    return emit


_RULES: dict[str, Callable[..., str]] = {
    "and": _same("and"),
    "or": _same("or"),
    "xor": _same("xor"),
    "not": _invert,
    "add": _add,
    "sub": _subtract,
    "neg": _negate,
}
