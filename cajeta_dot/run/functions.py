"""Kernels and host methods as Python calls them."""

from __future__ import annotations

from operator import getitem, index

from cajeta_dot.record import record
from cajeta_dot.run.arguments import ArgumentReader
from cajeta_dot.types import Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex

    from cajeta_dot import ir
    from cajeta_dot.backends import Entry, Short
    from cajeta_dot.run.module import Module

    Extent = SupportsIndex | tuple[SupportsIndex, ...]
    Triple = tuple[int, int, int]

ITEMS_BY_DEFAULT = 64  # work items of a workgroup where only their total is given
OFTEN = 100  # launches that have cost about what it costs to make a short way into a kernel: some milliseconds
MOST_SHORTS = 64  # extents of launches for which a kernel remembers it
MAX_ITEMS = 1024  # work items of a workgroup; what GPUs have room for
MAX_COORDINATES = 1 << 32  # work items along one axis: their coordinates are uint32


@record
class Parameter:
    """One parameter: its name, its type as the source spells it, whether it is an array that may be written."""

    name: str
    type: str
    written: bool


class Function:
    """A kernel or a host method of a module. A kernel is called with the extent of its launch, a host method plainly.

        kernel(y, w, x, rows, grid=16, block=64)    workgroups, and work items in each: an int or up to three
        kernel(y, w, x, rows, threads=rows)         as many work items, at least, in workgroups of 64
        total = method(values)

    `name` is `Class.method`, `kind` kernel or host. What may be passed is said in `cajeta_dot.run.arguments`.
    """

    def __init__(self, module: Module, definition: ir.Function, entry: Entry | None, written: frozenset[int], threads: int):
        self.module, self.definition = module, definition
        self.name, self.kind = definition.name, definition.kind
        self.parameters = tuple(
            Parameter(param.attr, str(param.type), place in written) for place, param in enumerate(definition.params)
        )
        self._entry: Any = entry
        self._threads, self._written, self._launches = threads, written, 0
        self._shorts: dict[tuple[object, ...], tuple[Short, int]] = {}
        self._reader = ArgumentReader(definition, written)
        self.__doc__ = f"{self.kind} {definition.signature}"

    def __call__(
        self,
        *arguments: object,
        grid: Extent | None = None,
        block: Extent | None = None,
        threads: SupportsIndex | None = None,
    ) -> Any:
        """Runs it; a host method's value is a Python number, a bool or None.

        Raises KernelError for what goes wrong inside, TypeError, ValueError and OverflowError for what is passed, and
        RuntimeError where the module's target makes no code for this machine.
        """
        short = self._find_short(grid, block, threads) if self._shorts else None
        if short:
            run, total = short
            outcome = run(arguments, 0, total)
            if outcome is True:
                return None
            if outcome:
                self._entry.fail(outcome)
        if isinstance(self.definition.result, Vector):
            raise TypeError(f"{self.name} returns {self.definition.result}, which only other methods can take")
        if self._entry is None and self.kind == "host" and self.module.device:
            raise RuntimeError(f"{self.name} is a host method: `{self.module.device}` runs kernels only")
        if self._entry is None:
            raise RuntimeError(f"target {self.module.target} makes code to run elsewhere; {self.module.elsewhere}")
        if self.kind == "kernel":
            groups, items = _read_launch(self.name, grid, block, threads)
            self._entry.launch(self._reader.read(arguments), groups, items, self._threads)
            self._launches += 1
            if self._launches >= OFTEN and not short:
                self._add_short((grid, block, threads), groups, items)
            return None
        if grid is not None or block is not None or threads is not None:
            raise TypeError(f"{self.name} is a host method: it is called without grid, block and threads")
        return self._entry.call(self._reader.read(arguments))

    def _find_short(self, *extent: object) -> tuple[Short, int] | None:
        """The short way for a launch of this extent, and its number of workgroups."""
        try:
            found = self._shorts.get(extent)
        except TypeError:  # a list, which may change
            return None
        return found if found and _is_plain(extent) else None

    def _add_short(self, extent: tuple[object, ...], groups: Triple, items: Triple) -> None:
        if not hasattr(self._entry, "shorten") or not _is_plain(extent):
            return
        short = self._entry.shorten(groups, items, self._threads, self._written, self.module.keeps)
        if short:
            if len(self._shorts) >= MOST_SHORTS:
                self._shorts.clear()
            self._shorts[extent] = short, groups[0] * groups[1] * groups[2]

    def __repr__(self) -> str:
        return f"<{self.kind} {self.definition.signature} for {self.module.target}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return getitem, (self.module, self.name)


def _is_plain(extent: tuple[object, ...]) -> bool:
    """Is all of it None, int, or a tuple of int? Others can equal one of those and still be refused."""
    for given in extent:
        if type(given) is tuple:
            for number in given:  # type: ignore[reportUnknownVariableType]
                if type(number) is not int:  # type: ignore[reportUnknownArgumentType]
                    return False
        elif given is not None and type(given) is not int:
            return False
    return True


def _read_launch(
    name: str, grid: Extent | None, block: Extent | None, threads: SupportsIndex | None
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Workgroups and work items of each, in three dimensions."""
    if threads is not None:
        if grid is not None or block is not None:
            raise TypeError(f"{name} takes threads alone, or grid and block")
        block = ITEMS_BY_DEFAULT
        grid = -(-read_extent("threads", threads)[0] // ITEMS_BY_DEFAULT)
    if grid is None or block is None:
        raise TypeError(f"{name} is a kernel: it is called with grid= and block=, or with threads=")
    groups, items = read_extent("grid", grid), read_extent("block", block, least=1)
    if items[0] * items[1] * items[2] > MAX_ITEMS:
        raise ValueError(f"block {block} has more than {MAX_ITEMS} work items")
    if any(g * i > MAX_COORDINATES for g, i in zip(groups, items, strict=True)):
        raise ValueError(f"grid {grid} of block {block} has more than 2**32 work items along one axis")
    return groups, items


def read_extent(what: str, given: object, least: int = 0) -> tuple[int, int, int]:
    """One to three whole numbers; those left out are 1. Raises TypeError and ValueError, naming `what`."""
    numbers: tuple[Any, ...] = (given,)
    if isinstance(given, (tuple, list)) and what != "threads":
        numbers = tuple(given)  # type: ignore[arg-type] - each is looked at below
    if not 1 <= len(numbers) <= 3:
        raise ValueError(f"{what} has one to three dimensions, found {len(numbers)}")
    try:
        whole = [index(number) for number in numbers if not isinstance(number, bool)]
    except TypeError:  # also of an array with several elements, which has `__index__`
        whole = []
    if len(whole) < len(numbers):
        raise TypeError(f"{what} takes an int{'' if what == 'threads' else ' or up to three of them'}, found {given!r}")
    x, y, z = (*whole, 1, 1)[:3]
    if min(x, y, z) < least:
        raise ValueError(f"{what} must be {'positive' if least else 'zero or more'}, found {given!r}")
    return x, y, z
