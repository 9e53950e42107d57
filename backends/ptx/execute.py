"""Runs a kernel: all threads of some workgroups at once. Of threads that have gone different ways those at the lowest block run
first, until they meet again; a barrier holds threads back until all of their workgroup have come to it."""

from __future__ import annotations

import numpy as np

from cajeta_dot.backends.ptx.integers import Unspecified
from cajeta_dot.backends.ptx.memory import FILLER, Fault, Memory, Region
from cajeta_dot.backends.ptx.parse import PtxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from cajeta_dot.backends.ptx.parse import Instruction, Variable
    from cajeta_dot.backends.ptx.program import Code

    Lanes = NDArray[Any]
    Extent = tuple[int, int, int]

ALL = slice(None)
CARRY = -1  # the place of the carry among the registers
END = 1 << 30  # the block behind every other


class FaultAt(Exception):
    """A fault, the instruction that had it, and the function in which that stands."""

    def __init__(self, fault: Fault | Unspecified, instruction: Instruction | None, function: str):
        where = f"`{instruction.text}` in line {instruction.line} of the PTX of {function}" if instruction else function
        super().__init__(f"{fault}: {where}")
        self.fault, self.instruction = fault, instruction


class Batch:
    """The workgroups that run together, and what they have in common. Threads have numbers from 0, workgroup by workgroup.
    `find` gives a function by its name."""

    def __init__(self, find: Callable[[str], Code], memory: Memory, grid: Extent, block: Extent, groups: Lanes):
        self.find, self.memory, self.block_size = find, memory, block[0] * block[1] * block[2]
        self.size = len(groups) * self.block_size
        items = np.arange(self.size)
        self.groups = items // self.block_size  # of each thread, from 0 within the batch
        self._coordinates = {
            "tid": _unfold(items % self.block_size, block),
            "ctaid": _unfold(groups[self.groups], grid),
            "ntid": [np.array([extent], np.uint32) for extent in block],
            "nctaid": [np.array([extent], np.uint32) for extent in grid],
        }
        self._addresses: dict[Variable, Lanes] = {}

    def read_special(self, name: str) -> Lanes:
        """Of all threads, or one number that all have."""
        word, _, axis = name[1:].partition(".")
        if word not in self._coordinates or axis not in ("x", "y", "z"):
            raise PtxError(f"unknown register `{name}`")
        return self._coordinates[word]["xyz".index(axis)]

    def locate(self, variable: Variable, content: bytes) -> Lanes:
        """The address of a variable that is not a thread's own; it is made when it is first asked for."""
        if variable not in self._addresses:
            if variable.space == "shared":
                region = Region("shared", variable.name, variable.size, int(self.groups[-1]) + 1, self.groups)
            elif variable.space in ("global", "const", "param") and content:
                region = Region(variable.space, variable.name, variable.size, content=content)
            else:
                raise PtxError(f"no address of `{variable.name}`")
            self._addresses[variable] = np.array([self.memory.place(region)], np.uint64)
        return self._addresses[variable]


def _unfold(numbers: Lanes, extent: Extent) -> list[Lanes]:
    """x, y and z of linear numbers, x fastest."""
    x, y, _ = extent
    return [axis.astype(np.uint32) for axis in (numbers % x, numbers // x % y, numbers // (x * y))]


class Frame:
    """One function while it runs. `threads` are their numbers in the batch; `active` those of them that run now, by place.

    A register is an array over all threads of the frame, which is never changed but replaced, and is `defined` for those
    threads that have written it. `at` is the block each thread has come to, where not all are at the same.
    """

    def __init__(self, batch: Batch, code: Code, threads: Lanes, parameters: dict[Variable, Lanes], is_whole: bool = False):
        self.batch, self.code, self.threads, self.parameters, self.is_whole = batch, code, threads, parameters, is_whole
        self.count = len(threads)
        self.active: Any = ALL
        self.values: list[Any] = [None] * (len(code.registers) + 1)
        self.defined: list[Any] = [None] * (len(code.registers) + 1)
        self.at = np.zeros(self.count, np.int64)
        self.waiting = np.zeros(self.count, bool)
        self._locals: dict[Variable, Lanes] = {}

    def run(self) -> None:
        """From the first block to the end of all threads."""
        here, blocks = 0, self.code.blocks
        while here != END:
            block, number = blocks[here], 0
            try:
                for number, step in enumerate(block.steps):  # noqa: B007 - which one failed
                    step(self)
                number = -1
                here = block.leave(self)
            except (Fault, Unspecified) as fault:
                instruction = block.last if number < 0 else block.instructions[number]
                raise FaultAt(fault, instruction, self.code.function.name) from None

    # ---- registers

    def read(self, place: int) -> Lanes:
        """The register of the active threads."""
        if self.defined[place] is not True:
            self._require(place)
        return self.values[place] if self.active is ALL else self.values[place][self.active]

    def _require(self, place: int) -> None:
        defined = self.defined[place]
        if defined is None or not defined[self.active].all():
            name = "the carry" if place == CARRY else f"`{self.code.registers[place].name}`"
            raise Fault(f"{name} is read before it is written")

    def write(self, place: int, lanes: Lanes) -> None:
        """Sets the register of the active threads; one element is for all."""
        if self.active is ALL:
            self.values[place] = lanes if len(lanes) == self.count else np.full(self.count, lanes[0])
            self.defined[place] = True
            return
        old, defined = self.values[place], self.defined[place]
        new = np.zeros(self.count, lanes.dtype) if old is None else old.copy()
        new[self.active] = lanes
        self.values[place] = new
        if defined is not True:
            now = np.zeros(self.count, bool) if defined is None else defined.copy()
            now[self.active] = True
            self.defined[place] = True if now.all() else now

    def read_special(self, name: str) -> Lanes:
        lanes = self.batch.read_special(name)
        return lanes if len(lanes) == 1 and self.batch.size > 1 else lanes[self.threads[self.active]]

    # ---- memory

    def locate(self, variable: Variable) -> Lanes:
        """The address of a variable in its own state space."""
        if variable.space == "param" and len(self.parameters.get(variable, ())) == 1:  # one for all: a kernel's
            return self.batch.locate(variable, self.parameters[variable].tobytes())
        if variable.space != "local":
            return self.batch.locate(variable, variable.content)
        if variable not in self._locals:
            place_of = np.zeros(self.batch.size, np.int64)
            place_of[self.threads] = np.arange(self.count)
            region = Region("local", variable.name, variable.size, self.count, place_of)
            self._locals[variable] = np.array([self.batch.memory.place(region)], np.uint64)
        return self._locals[variable]

    def leave(self) -> None:
        """Gives back what `locate` has made."""
        for address in self._locals.values():
            self.batch.memory.remove(int(address[0]))

    def load(self, space: str, addresses: Lanes, size: int, count: int) -> list[Lanes]:
        threads = self.threads[self.active]
        return self.batch.memory.load(space, np.broadcast_to(addresses, threads.shape), threads, size, count)

    def store(self, space: str, addresses: Lanes, size: int, contents: list[Lanes]) -> None:
        threads = self.threads[self.active]
        self.batch.memory.store(space, np.broadcast_to(addresses, threads.shape), threads, size, contents)

    def read_parameter(self, variable: Variable) -> Lanes:
        """Its bytes: a row for each active thread, or one for all."""
        if variable not in self.parameters:
            raise Fault(f"`{variable.name}` is read before it is written")
        rows = self.parameters[variable]
        return rows if len(rows) == 1 or self.active is ALL else rows[self.active]

    def own_parameter(self, variable: Variable) -> Lanes:
        """The same to be written: a row for each thread of the frame."""
        if variable not in self.parameters:
            self.parameters[variable] = np.full((self.count, variable.size), FILLER, np.uint8)
        return self.parameters[variable]

    # ---- ways on: each gives the block that runs next, and sets who is active there

    def go(self, target: int) -> int:
        """All active threads to one block."""
        if self.active is ALL:
            return target
        self.at[self.active] = target
        return self._choose()

    def split(self, chosen: Lanes, yes: int, no: int) -> int:
        """Those chosen to one block, the others to another."""
        if chosen.all():
            return self.go(yes)
        if not chosen.any():
            return self.go(no)
        self.at[self.active] = np.where(chosen, yes, no)
        return self._choose()

    def spread(self, index: Lanes, targets: Lanes) -> int:
        """Each to the block of its index."""
        if (index >= len(targets)).any():
            raise Fault(f"a branch by index {int(index.max())} of {len(targets)} targets")
        self.at[self.active] = targets[index]
        return self._choose()

    def meet(self, following: int) -> int:
        """A barrier."""
        if self.active is ALL and self.is_whole:
            return following
        self.at[self.active] = following
        self.waiting[self.active] = True
        return self._choose()

    def _choose(self) -> int:
        while True:
            at = np.where(self.waiting, END, self.at)
            least = int(at.min())
            if least != END:
                chosen = np.flatnonzero(at == least)
                self.active = ALL if len(chosen) == self.count else chosen
                return least
            if not self.waiting.any():
                return END
            self._release()

    def _release(self) -> None:
        """Nobody can go on but through a barrier: every workgroup that waits must be there with all its threads."""
        groups = self.batch.groups[self.threads]
        counts = np.bincount(groups[self.waiting])
        for group in np.flatnonzero(counts):
            places = self.at[self.waiting & (groups == group)]
            if counts[group] < self.batch.block_size:
                raise Fault(f"a barrier that {counts[group]} of the {self.batch.block_size} threads of a workgroup come to")
            if (places != places[0]).any():
                raise Fault("threads of one workgroup wait at different barriers")
        self.waiting[:] = False


def call(frame: Frame, name: str, arguments: Sequence[Variable], results: Sequence[Variable]) -> None:
    """Runs another function for the active threads of a frame."""
    code = frame.batch.find(name)
    function = code.function
    if len(arguments) != len(function.parameters) or len(results) != len(function.results):
        raise PtxError(f"`{name}` is called with other parameters than it has")
    own = {to: frame.read_parameter(given) for to, given in zip(function.parameters, arguments, strict=True)}
    inner = Frame(frame.batch, code, frame.threads[frame.active], own, frame.is_whole and frame.active is ALL)
    inner.run()
    inner.leave()
    for given, to in zip(results, function.results, strict=True):
        frame.own_parameter(given)[frame.active] = inner.parameters[to]
