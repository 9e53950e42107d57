"""The opcode `convert`: the same number in another element type.

Integers keep their low bits, floats round to nearest even, floats become integers toward zero and saturating, NaN is 0.

A float16 is i16 here. Processors differ in what they know of it (`Halves`), and LLVM would call a run-time library for the
rest, which nothing links. So what a processor lacks is written out in integer and float32 arithmetic, exact to the bit:
every conversion rounds once, also from float64 and from integers.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.types import spell, spell_constant, suffix
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    SIGNED,
    Scalar,
    Vector,
    element_of,
    with_element,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from cajeta_dot.backends.llvm.writer import Writer

    Shape = Scalar | Vector
    # none: no instruction; float32: to and from float32 only; f16c: so as x86 does it; lanes: the same for one lane at a time,
    # because LLVM can't select them for all vectors; all: from float64 too.
    Halves = Literal["none", "float32", "f16c", "lanes", "all"]


def convert(writer: Writer, term: str, old: Shape, new: Shape, halves: Halves) -> str:
    """`term` of type `old` as a number of the element type of `new`."""
    source, target = element_of(old), element_of(new)
    if source == target:
        return term
    if halves == "lanes" and isinstance(old, Vector) and (_is_half(source) or _is_half(target)):
        return _convert_lanes(writer, term, old, new)
    if _is_half(source):
        single = with_element(old, FLOAT32)
        return convert(writer, _from_half(writer, term, old, halves), single, new, halves)
    if _is_half(target):
        return _to_half(writer, term, old, halves)
    if source.kind == FLOAT and target.kind != FLOAT:
        way = "fptosi" if target.kind == SIGNED else "fptoui"
        return writer.call(spell(new), f"llvm.{way}.sat.{suffix(new)}.{suffix(old)}", (spell(old), term))
    instruction = _instruction(source, target)
    return writer.value(f"{instruction} {spell(old)} {term} to {spell(new)}") if instruction else term


def _convert_lanes(writer: Writer, term: str, old: Vector, new: Shape) -> str:
    made = "poison"
    for lane in range(old.lanes):
        single = writer.value(f"extractelement {spell(old)} {term}, i32 {lane}")
        done = convert(writer, single, old.element, element_of(new), "float32")
        made = writer.value(f"insertelement {spell(new)} {made}, {spell(element_of(new))} {done}, i32 {lane}")
    return made


def _is_half(element: Scalar) -> bool:
    return element.kind == FLOAT and element.bits == 16


def _instruction(source: Scalar, target: Scalar) -> str:
    """Between two numbers of which none is a float16, and not from float to integer. Empty: the bits stay as they are."""
    if source.kind == FLOAT:
        return "fpext" if target.bits > source.bits else "fptrunc"
    if target.kind == FLOAT:
        return "sitofp" if source.kind == SIGNED else "uitofp"
    if target.bits == source.bits:
        return ""
    if target.bits < source.bits:
        return "trunc"
    return "sext" if source.kind == SIGNED else "zext"


# ---- float16


def _from_half(writer: Writer, term: str, old: Shape, halves: Halves) -> str:
    """As float32, which holds every float16. Subnormal numbers are scaled up, a NaN becomes a quiet one."""
    single = with_element(old, FLOAT32)
    if halves == "f16c" and isinstance(old, Scalar):
        return _from_one_half(writer, term)
    if halves != "none":
        half = spell(old).replace("i16", "half")
        return writer.value(f"fpext {half} {writer.value(f'bitcast {spell(old)} {term} to {half}')} to {spell(single)}")
    bits = _Bits(writer, with_element(old, INT32))
    word = writer.value(f"zext {spell(old)} {term} to {bits.word}")
    shifted = bits.do("shl", bits.do("and", word, 0x7FFF), 13)
    scaled = writer.value(f"fmul {spell(single)} {bits.as_float(shifted)}, {spell_constant(single, 2.0**112)}")
    first_special = 0x7C00 << 13
    quiet = bits.select(bits.compare("ugt", shifted, first_special), 0x7FC00000, 0x7F800000)
    special = bits.do("or", shifted, quiet)
    number = bits.select(bits.compare("uge", shifted, first_special), special, bits.from_float(scaled))
    sign = bits.do("shl", bits.do("and", word, 0x8000), 16)
    return bits.as_float(bits.do("or", number, sign))


def _from_one_half(writer: Writer, term: str) -> str:
    """By way of a general register. LLVM would insert it into whatever vector register there is, and then a loop waits for
    what that held before; so it is kept from seeing that this is all there is to insert."""
    zero = "%half.zero"
    hidden = [f"{zero}.at = alloca i32", f"store volatile i32 0, ptr {zero}.at", f"{zero} = load volatile i32, ptr {zero}.at"]
    if hidden[-1] not in writer.entry:
        writer.entry += hidden
    wide = writer.value(f"zext i16 {term} to i32")
    word = writer.value(f"or i32 {wide}, {zero}")
    lanes = writer.value(
        f"bitcast <4 x i32> {writer.value(f'insertelement <4 x i32> zeroinitializer, i32 {word}, i32 0')} to <8 x half>"
    )
    four = writer.value(f"shufflevector <8 x half> {lanes}, <8 x half> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>")
    return writer.value(f"extractelement <4 x float> {writer.value(f'fpext <4 x half> {four} to <4 x float>')}, i32 0")


def _to_half(writer: Writer, term: str, old: Shape, halves: Halves) -> str:
    """Through float32, which rounds nothing twice: integers that it can't hold are infinite as float16 anyhow, and a float64
    is rounded to odd first, which keeps on which side of each float16 it lies."""
    new, single, element = with_element(old, INT16), with_element(old, FLOAT32), element_of(old)
    if element.kind != FLOAT:
        term = writer.value(f"{_instruction(element, FLOAT32)} {spell(old)} {term} to {spell(single)}")
    elif element == FLOAT64 and halves != "all":
        term = _round_to_odd(writer, term, old)
    elif element == FLOAT64:
        single = old
    if halves != "none":
        half = spell(new).replace("i16", "half")
        return writer.value(f"bitcast {half} {writer.value(f'fptrunc {spell(single)} {term} to {half}')} to {spell(new)}")
    return _round_to_half(writer, term, single)


def _round_to_half(writer: Writer, term: str, old: Shape) -> str:
    """From float32. Adding 0.5 to a number that becomes subnormal moves its last bit of 2^-24 to the end and rounds there."""
    bits = _Bits(writer, with_element(old, INT32))
    all_bits = bits.from_float(term)
    size = bits.do("and", all_bits, 0x7FFFFFFF)
    odd = bits.do("and", bits.do("lshr", size, 13), 1)
    rebased = bits.do("add", bits.do("add", size, 0xFFF - (112 << 23)), odd)
    added = writer.value(f"fadd {spell(old)} {bits.as_float(size)}, {spell_constant(old, 0.5)}")
    subnormal = bits.do("sub", bits.from_float(added), 0x3F000000)
    number = bits.select(bits.compare("ult", size, 113 << 23), subnormal, bits.do("lshr", rebased, 13))
    number = bits.select(bits.compare("uge", size, 0x477FF000), 0x7C00, number)
    quiet = bits.do("or", bits.do("and", bits.do("lshr", size, 13), 0x3FF), 0x7E00)
    number = bits.select(bits.compare("ugt", size, 0x7F800000), quiet, number)
    sign = bits.do("and", bits.do("lshr", all_bits, 16), 0x8000)
    return writer.value(f"trunc {bits.word} {bits.do('or', number, sign)} to {spell(with_element(old, INT16))}")


def _round_to_odd(writer: Writer, term: str, old: Shape) -> str:
    """A float64 as the float32 next to it toward zero, with its last bit set unless the two are equal."""
    single, word = with_element(old, FLOAT32), spell(old)
    bits = _Bits(writer, with_element(old, INT32))
    nearest = writer.value(f"fptrunc {word} {term} to {spell(single)}")
    back = writer.value(f"fpext {spell(single)} {nearest} to {word}")
    sizes = [writer.call(word, f"llvm.fabs.{suffix(old)}", (word, number)) for number in (back, term)]
    mask = spell(with_element(old, BOOLEAN))
    above = writer.value(f"fcmp ogt {word} {sizes[0]}, {sizes[1]}")
    down = bits.do("sub", bits.from_float(nearest), writer.value(f"zext {mask} {above} to {bits.word}"))
    inexact = writer.value(f"fcmp one {word} {back}, {term}")
    return bits.as_float(bits.select(inexact, bits.do("or", down, 1), bits.from_float(nearest)))


class _Bits:
    """Arithmetic on the bits of float32 numbers, where an int stands for that number in every lane."""

    def __init__(self, writer: Writer, type: Shape):
        self.writer, self.type, self.word = writer, type, spell(type)

    def term(self, operand: str | int) -> str:
        return operand if isinstance(operand, str) else spell_constant(self.type, operand)

    def do(self, instruction: str, a: str, b: str | int) -> str:
        return self.writer.value(f"{instruction} {self.word} {a}, {self.term(b)}")

    def compare(self, condition: str, a: str, b: int) -> str:
        return self.do(f"icmp {condition}", a, b)

    def select(self, condition: str, a: str | int, b: str | int) -> str:
        mask = spell(with_element(self.type, BOOLEAN))
        return self.writer.value(f"select {mask} {condition}, {self.word} {self.term(a)}, {self.word} {self.term(b)}")

    def as_float(self, bits: str) -> str:
        return self.writer.value(f"bitcast {self.word} {bits} to {spell(with_element(self.type, FLOAT32))}")

    def from_float(self, number: str) -> str:
        return self.writer.value(f"bitcast {spell(with_element(self.type, FLOAT32))} {number} to {self.word}")
