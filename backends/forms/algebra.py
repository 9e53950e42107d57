"""Vectors of bits and what a lowering may do with them.

A lowering is a function over `Vector`s: it writes `w & 127`, `acc + t`, `pmaddubsw(w, x)` and learns nothing of where the
vectors live. A `Reading` decides that: one writes LLVM IR, one computes with numpy, one builds z3 terms.

Lanes have a width, never a signedness: whatever reads a lane as a number (an `Instruction`, `extend`) says how it reads it.
Lane 0 is the lowest address, and wide lanes are little-endian. Everything wraps. A formula with wrong shapes is a mistake in
the tables and fails an assertion; no program's text can cause one.
"""

from __future__ import annotations

from functools import reduce

from cajeta_dot.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Generic, Literal, Protocol, Self, TypeVar

    T = TypeVar("T")
    N = TypeVar("N", bound="Number")

    Op = Literal["and", "xor", "add", "sub", "mul"]  # LLVM's names
    Shift = Literal["shl", "lshr", "ashr"]  # by a constant
    Passing = Literal["fixed", "halves", "words", "scalable"]

    class Number(Protocol):
        """An exact integer: what an instruction's meaning computes with. It never overflows."""

        def __add__(self, other: Self, /) -> Self: ...
        def __mul__(self, other: Self, /) -> Self: ...
        def clamp(self, bits: int, /) -> Self:
            """The nearest integer that a signed lane of `bits` bits can hold."""
            ...

    class Meaning(Protocol):
        """One result lane from the operand lanes it reads, in exact integers; the result lane keeps the low bits."""

        def __call__(self, operands: Sequence[Sequence[N]], /) -> N: ...

    class Reading(Protocol[T]):
        """What the operations do. Shapes have been checked; the answer's shape is the caller's business."""

        def splat(self, value: int, bits: int, lanes: int, /) -> T: ...
        def combine(self, op: Op, a: Vector[T], b: Vector[T], /) -> T: ...
        def shift(self, shift: Shift, a: Vector[T], count: int, /) -> T: ...
        def bitcast(self, a: Vector[T], bits: int, /) -> T: ...
        def extend(self, a: Vector[T], bits: int, signed: bool, /) -> T: ...
        def shuffle(self, a: Vector[T], b: Vector[T], picks: Sequence[int | None], /) -> T: ...
        def execute(self, instruction: Instruction, operands: Sequence[Vector[T]], lanes: int, /) -> T: ...

    class Lowering(Protocol):
        """A dot product: weights and activations of 4n byte lanes, an accumulator of n 32-bit lanes; the new accumulator."""

        def __call__(self, w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]: ...

else:
    T, Generic = None, {None: object}  # so that `Generic[T]` costs no import of typing


@record
class Lanes:
    """How an instruction reads an operand: `per` lanes of `bits` bits for each lane of its result.

    `signed` is None for lanes that are only added into as many bits: their sign makes no difference. `at_most`: a lane that is
    more, read as unsigned, makes the result anything.
    """

    signed: bool | None
    bits: int
    per: int = 1
    at_most: int | None = None

    def __rmul__(self, per: int) -> Lanes:
        return replace(self, per=per)


@record
class Encoding:
    """How LLVM is told to use an instruction at one register size.

    needs: feature names, `|` between alternatives: LLVM's, or those that a backend's table of machines gives. order: operand
    numbers in the intrinsic's order, and between them what it takes beside, as LLVM spells it; () is as declared.
    passing: operands and result as they are; the only operand as two, its lower and its upper half; all as i32 words, four
    bytes in each; or in the vectors of unknown length that RISC-V has.
    """

    needs: str
    intrinsic: str
    order: tuple[int | str, ...] = ()
    passing: Passing = "fixed"

    def available(self, features: frozenset[str]) -> bool:
        """Do these features allow it?"""
        return any(set(alternative.split()) <= features for alternative in self.needs.split("|"))

    def say_needs(self) -> str:
        """What it needs, in words."""
        return " or ".join(" with ".join(alternative.split()) for alternative in self.needs.split("|"))


@record
class Instruction:
    """One machine instruction. This declaration is all that any reading knows of it.

    result: bits of a result lane. encodings: by the bits of the whole result.
    """

    name: str
    family: str
    operands: tuple[Lanes, ...]
    result: int
    meaning: Meaning
    encodings: Mapping[int, Encoding]

    def __call__(self, *operands: Vector[T] | int) -> Vector[T]:
        """The instruction applied. It reads its operands' bits as declared; an int stands for that value in every lane."""
        pairs = list(zip(self.operands, operands, strict=True))
        given = {v.size // (lanes.bits * lanes.per): v for lanes, v in pairs if isinstance(v, Vector)}
        assert len(given) == 1, f"{self.name}: operands of different shapes"
        ((count, example),) = given.items()
        ready = [
            example.constant(v, lanes.bits, count * lanes.per) if isinstance(v, int) else v.as_lanes(lanes.bits)
            for lanes, v in pairs
        ]
        term = example.reading.execute(self, ready, count)
        return Vector(example.reading, term, self.result, count)


@record
class Vector(Generic[T]):
    """`lanes` lanes of `bits` bits; `term` is what the reading made of them."""

    reading: Reading[T]
    term: T
    bits: int
    lanes: int

    @property
    def size(self) -> int:
        """Bits of the whole vector."""
        return self.bits * self.lanes

    def constant(self, value: int, bits: int, lanes: int) -> Vector[T]:
        """The low bits of one number in every lane, in this vector's reading."""
        return Vector(self.reading, self.reading.splat(value, bits, lanes), bits, lanes)

    def _combine(self, op: Op, other: Vector[T] | int) -> Vector[T]:
        if isinstance(other, int):
            other = self.constant(other, self.bits, self.lanes)
        assert (self.bits, self.lanes) == (other.bits, other.lanes), f"{op} of different shapes"
        return replace(self, term=self.reading.combine(op, self, other))

    def __and__(self, other: Vector[T] | int) -> Vector[T]:
        return self._combine("and", other)

    def __xor__(self, other: Vector[T] | int) -> Vector[T]:
        return self._combine("xor", other)

    def __add__(self, other: Vector[T] | int) -> Vector[T]:
        return self._combine("add", other)

    def __sub__(self, other: Vector[T] | int) -> Vector[T]:
        return self._combine("sub", other)

    def __mul__(self, other: Vector[T] | int) -> Vector[T]:
        return self._combine("mul", other)

    def _shift(self, shift: Shift, count: int) -> Vector[T]:
        assert 0 <= count < self.bits, f"{shift} by {count}"
        return replace(self, term=self.reading.shift(shift, self, count))

    def shl(self, count: int) -> Vector[T]:
        return self._shift("shl", count)

    def lshr(self, count: int) -> Vector[T]:
        return self._shift("lshr", count)

    def ashr(self, count: int) -> Vector[T]:
        return self._shift("ashr", count)

    def as_lanes(self, bits: int) -> Vector[T]:
        """The same bits in lanes of another width."""
        if bits == self.bits:
            return self
        assert self.size % bits == 0, f"{self.size} bits in lanes of {bits}"
        return Vector(self.reading, self.reading.bitcast(self, bits), bits, self.size // bits)

    def extend(self, bits: int, *, signed: bool) -> Vector[T]:
        """The same numbers in wider lanes."""
        return replace(self, term=self.reading.extend(self, bits, signed), bits=bits)

    def shuffle(self, other: Vector[T], picks: Sequence[int | None]) -> Vector[T]:
        """Lanes of the two vectors end to end; None is a lane nobody may look at."""
        assert (self.bits, self.lanes) == (other.bits, other.lanes), "shuffle of different shapes"
        return replace(self, term=self.reading.shuffle(self, other, picks), lanes=len(picks))

    def window(self, start: int, lanes: int) -> Vector[T]:
        """`lanes` lanes from `start`; those beyond the end are lanes nobody may look at."""
        if (start, lanes) == (0, self.lanes):
            return self
        return self.shuffle(self, [i if i < self.lanes else None for i in range(start, start + lanes)])


def join(a: Vector[T], b: Vector[T]) -> Vector[T]:
    """The lanes of a, then those of b."""
    n = max(a.lanes, b.lanes)
    return a.window(0, n).shuffle(b.window(0, n), [*range(a.lanes), *range(n, n + b.lanes)])


def halve(v: Vector[T]) -> tuple[Vector[T], Vector[T]]:
    """The lower lanes and the upper ones."""
    half = v.lanes // 2
    return v.window(0, half), v.window(half, half)


def add_up(v: Vector[T], total: Vector[T]) -> Vector[T]:
    """`total`, one lane, plus all lanes of v: the halves are added until one lane is left, an odd lane goes to the total."""
    while v.lanes > 1:
        if v.lanes % 2:
            total = total + v.window(v.lanes - 1, 1)
        half = v.lanes // 2
        v = (v + v.window(half, v.lanes)).window(0, half)  # a whole vector: LLVM would add the last two as scalars, dearer
    return total + v


# ---- lowerings for registers of some sizes, made to fit any vector


def cut(lanes: int, registers: Sequence[int]) -> list[int]:
    """Register sizes that cover `lanes` bytes: the largest while it is filled, then the smallest that holds the rest."""
    largest = max(registers)
    rest = lanes % largest
    return [largest] * (lanes // largest) + [min(r for r in registers if r >= rest)] * (rest > 0)


def assemble(total: int, registers: Sequence[int], make: Callable[[int, int], Vector[T]]) -> Vector[T]:
    """A vector of `total` bytes from registers of these sizes. `make(start, size)` makes one, from a byte on; what of it lies
    beyond the end is left out."""
    parts: list[Vector[T]] = []
    start = 0
    for size in cut(total, registers):
        part = make(start, size)
        parts.append(part.window(0, min(size, total - start) * 8 // part.bits))
        start += size
    return reduce(join, parts)


def by_registers(lower: Lowering, registers: Sequence[int]) -> Lowering:
    """A lowering for registers of these sizes (in bytes), made to fit any number of bytes."""

    def lower_any_width(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        def lower_one(start: int, size: int) -> Vector[T]:
            return lower(w.window(start, size), x.window(start, size), acc.window(start // 4, size // 4))

        return assemble(w.lanes, registers, lower_one)

    return lower_any_width


def into_one_lane(lower: Lowering, registers: Sequence[int]) -> Lowering:
    """The same for an accumulator of one lane that takes all products; addition modulo 2^32 may be done in any order.

    Registers that are filled hand their lanes on, from 0; then the lanes are added up and the accumulator comes last, so that
    a loop waits for one addition only. A register of one word starts from the accumulator itself.
    """
    largest = max(registers)

    def lower_into_one_lane(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        filled = w.lanes - w.lanes % largest
        lanes = acc if largest == 4 else acc.constant(0, 32, largest // 4)
        for start in range(0, filled, largest):
            lanes = lower(w.window(start, largest), x.window(start, largest), lanes)
        if largest == 4:
            return lanes
        if filled:
            acc = add_up(lanes, acc)
        if rest := w.lanes - filled:
            zeros = acc.constant(0, 32, rest // 4)
            acc = add_up(by_registers(lower, registers)(w.window(filled, rest), x.window(filled, rest), zeros), acc)
        return acc

    return lower_into_one_lane
