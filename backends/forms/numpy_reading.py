"""The algebra executed with numpy: any instruction with a declaration runs, whether or not this machine has it.

A term is an array of unsigned integers, one row for each of many independent vectors, one column for each lane.
"""

from __future__ import annotations

import numpy as np

from cajeta_dot.backends.forms.algebra import Vector
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from cajeta_dot.backends.forms.algebra import Instruction, Lanes, Lowering, Op, Shift

    Array = NDArray[np.unsignedinteger[Any]]

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32}
SIGNED = {8: np.int8, 16: np.int16, 32: np.int32}
OPERATORS = {"and": np.bitwise_and, "xor": np.bitwise_xor, "add": np.add, "sub": np.subtract, "mul": np.multiply}


@record
class Integers:
    """Exact integers, one for each row and result lane. No instruction here comes near the ends of int64."""

    values: NDArray[np.int64]

    def __add__(self, other: Integers) -> Integers:
        return Integers(self.values + other.values)

    def __mul__(self, other: Integers) -> Integers:
        return Integers(self.values * other.values)

    def clamp(self, bits: int) -> Integers:
        return Integers(np.clip(self.values, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1))


class NumpyReading:
    """Lanes nobody may look at are drawn at random: looking at them shows."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def vector(self, rows: NDArray[Any]) -> Vector[Array]:
        """One vector in each row of a 2-D array of integers."""
        bits = rows.dtype.itemsize * 8
        return Vector(self, np.ascontiguousarray(rows).view(UNSIGNED[bits]), bits, rows.shape[1])

    def splat(self, value: int, bits: int, lanes: int, /) -> Array:
        return np.full((1, lanes), value % 2**bits, UNSIGNED[bits])

    def combine(self, op: Op, a: Vector[Array], b: Vector[Array], /) -> Array:
        return OPERATORS[op](a.term, b.term)

    def shift(self, shift: Shift, a: Vector[Array], count: int, /) -> Array:
        match shift:
            case "shl":
                return a.term << UNSIGNED[a.bits](count)
            case "lshr":
                return a.term >> UNSIGNED[a.bits](count)
            case "ashr":
                return (a.term.view(SIGNED[a.bits]) >> SIGNED[a.bits](count)).view(UNSIGNED[a.bits])

    def bitcast(self, a: Vector[Array], bits: int, /) -> Array:
        return np.ascontiguousarray(a.term).view(UNSIGNED[bits])

    def extend(self, a: Vector[Array], bits: int, signed: bool, /) -> Array:
        return (a.term.view(SIGNED[a.bits]) if signed else a.term).astype(UNSIGNED[bits])

    def shuffle(self, a: Vector[Array], b: Vector[Array], picks: Sequence[int | None], /) -> Array:
        rows = max(len(a.term), len(b.term))
        unknown = self.random.integers(2**a.bits, size=(rows, 1), dtype=UNSIGNED[a.bits])
        both = [np.broadcast_to(v.term, (rows, v.lanes)) for v in (a, b)]
        return np.hstack([*both, unknown])[:, [a.lanes + b.lanes if p is None else p for p in picks]]

    def execute(self, instruction: Instruction, operands: Sequence[Vector[Array]], _lanes: int, /) -> Array:
        pairs = list(zip(instruction.operands, operands, strict=True))
        made = instruction.meaning([_read(lanes, v) for lanes, v in pairs]).values.astype(UNSIGNED[instruction.result])
        for lanes, v in pairs:
            if lanes.at_most is not None:
                beyond = (v.term > lanes.at_most).reshape(len(v.term), -1, lanes.per).any(axis=2)
                made = np.where(beyond, self.random.integers(2**32, size=made.shape).astype(made.dtype), made)
        return made


def _read(lanes: Lanes, v: Vector[Array]) -> list[Integers]:
    numbers = (v.term.view(SIGNED[lanes.bits]) if lanes.signed else v.term).astype(np.int64)
    return [Integers(numbers[:, k :: lanes.per]) for k in range(lanes.per)]


def evaluate(lower: Lowering, w: NDArray[Any], x: NDArray[Any], acc: NDArray[Any]) -> NDArray[np.int32]:
    """A lowering on many vectors at once, one in each row."""
    reading = NumpyReading()
    return lower(reading.vector(w), reading.vector(x), reading.vector(acc)).term.view(np.int32)
