"""Runs translated functions: calls of host methods, launches of kernels.

Work items run one after another, x fastest, workgroup by workgroup; at a barrier an item waits until every other of its
workgroup waits too or has ended. An item that faults ends there, the others go on, and the first fault in the order of
the items is raised when all have ended.

A workgroup's shared arrays start as zeros here; what they hold before the program writes them is not defined.
"""

from __future__ import annotations

from itertools import product

from cajeta_dot.reference.flow import COORDINATES_AT, Branch, Enter, Go, Leave
from cajeta_dot.reference.memory import Memory, allocate
from cajeta_dot.run.errors import KernelError
from cajeta_dot.types import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from cajeta_dot.reference.flow import Code, Frame

    Triple = tuple[int, int, int]

MAX_CALLS = 10_000  # calls within calls; more is an endless recursion


def call(code: Code, arguments: Sequence[Any]) -> Any:
    """The result of a host method: a Python number, a bool, a tuple of lanes or None. Raises KernelError."""
    steps = run(code, bind(code, arguments))
    try:
        next(steps)
    except StopIteration as end:
        return end.value
    raise AssertionError(f"{code.function.name} waits at a barrier without a launch")


def launch(code: Code, arguments: Sequence[Any], grid: Triple, block: Triple) -> None:
    """Runs a kernel for `grid` workgroups of `block` work items. Raises the KernelError of the first item that faulted."""
    start = bind(code, arguments)
    first: KernelError | None = None
    for group in _places(grid):
        for place, type in code.shared:
            start[place] = allocate(type.length or 0, type.element)
        items: list[Iterator[None]] = []
        for local in _places(block):
            frame = start.copy()
            frame[COORDINATES_AT] = (*(g * b + i for g, b, i in zip(group, block, local, strict=True)), *local, *group, *block)
            items.append(run(code, frame))
        fault = _run_workgroup(items)
        first = first or fault
    if first is not None:
        raise first


def _places(extent: Triple) -> Iterator[Triple]:
    x, y, z = extent
    return ((i, j, k) for k, j, i in product(range(z), range(y), range(x)))


def _run_workgroup(items: list[Iterator[None]]) -> KernelError | None:
    """All items to their ends, from barrier to barrier; the fault of the first of them that has one."""
    faults: dict[int, KernelError] = {}
    running = list(enumerate(items))
    while running:
        waiting: list[tuple[int, Iterator[None]]] = []
        for place, item in running:
            try:
                next(item)
                waiting.append((place, item))
            except StopIteration:
                pass
            except KernelError as error:
                faults[place] = error
        running = waiting
    return faults[min(faults)] if faults else None


def bind(code: Code, arguments: Sequence[Any]) -> Frame:
    """A fresh frame with the arguments: flat numpy arrays of the elements' dtype, numbers of the parameters' types."""
    frame = code.frame.copy()
    for place, (param, argument) in enumerate(zip(code.function.params, arguments, strict=True), 1):
        frame[place] = Memory(argument, param.type.element) if isinstance(param.type, Array) else argument
    return frame


def run(code: Code, frame: Frame) -> Iterator[None]:
    """One function to its end. Stops at every barrier; the value of the iterator is the result."""
    callers: list[tuple[Frame, Enter]] = []
    stretch = code.entry
    while True:
        for step in stretch.steps:
            step(frame)
        end = stretch.end
        if isinstance(end, Branch):
            stretch = end.yes if frame[end.place] else end.no
        elif isinstance(end, Go):
            stretch = end.to
        elif isinstance(end, Enter):
            if len(callers) == MAX_CALLS:
                source = code.setting.source
                name, line, _ = source.place(end.start)
                raise KernelError(name, line, f"more than {MAX_CALLS} calls within calls")
            callers.append((frame, end))
            inner = end.code.frame.copy()
            inner[COORDINATES_AT] = frame[COORDINATES_AT]
            inner[1 : 1 + len(end.operands)] = [frame[place] for place in end.operands]
            frame, stretch = inner, end.code.entry
        elif isinstance(end, Leave):
            result = None if end.place is None else frame[end.place]
            if not callers:
                return result
            frame, entered = callers.pop()
            frame[entered.place] = result
            stretch = entered.then
        else:
            yield
            stretch = end.then
