"""Short loops whose number of steps is known, as so many copies of their body: then the loop around them is the innermost,
and its accesses are seen as a whole.
"""

from __future__ import annotations

from cajeta_dot.ir import Builder, Loop, Value, values_in, walk
from cajeta_dot.passes.copy import Copier
from cajeta_dot.passes.counted import Counted, find_counted, find_innermost
from cajeta_dot.types import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Block, Function, Slot

MAX_STEPS = 16
MAX_VALUES = 1000  # operations of all copies of a loop, not counting what costs nothing
_FREE = frozenset({"const", "get", "set", "reinterpret"})


def unroll_short_loops(function: Function) -> bool:
    """In place, from the inside out. Has anything changed?"""
    changed = False
    again = True
    while again:
        again = False
        for block, loop in find_innermost(function.body):
            at = next(place for place, item in enumerate(block) if item is loop)
            counted = find_counted(loop)
            first = _find_first(block[:at], counted.counter) if counted else None
            if counted and first is not None:
                numbers = _list_numbers(counted, first)
                if numbers is not None and len(numbers) * _count_values(loop) <= MAX_VALUES:
                    block[at : at + 1] = _copy(counted, numbers)
                    again = changed = True
    return changed


def _find_first(before: Block, counter: Slot) -> int | None:
    """The number that the counter has in front of the loop, if it is written there."""
    for item in reversed(before):
        if isinstance(item, Value):
            if item.op == "set" and item.attr is counter:
                return item.args[0].attr if item.args[0].op == "const" else None
        elif any(isinstance(i, Value) and i.op == "set" and i.attr is counter for i in walk([item])):
            return None
    return None


def _list_numbers(counted: Counted, first: int) -> list[int] | None:
    """All numbers that the counter has in the loop; None if they are not known, too many, or the counter would wrap."""
    limit, counter = counted.limit, counted.counter
    if limit.op != "const" or not isinstance(counter.type, Scalar):
        return None
    last = limit.attr - counted.offset - (not counted.inclusive)
    numbers = range(first, last + 1, counted.step)
    fits = counter.type.high - last > counted.step + abs(counted.offset) and first >= abs(counted.offset)
    return list(numbers) if fits and len(numbers) <= MAX_STEPS else None


def _copy(counted: Counted, numbers: list[int]) -> Block:
    """The body for each number; the counter is left as the loop would leave it."""
    made: Block = []
    for number in numbers:
        copier = _Step(counted, number)
        made += copier.block(counted.loop.body)
        made += copier.block(counted.loop.update)
    return made


class _Step(Copier):
    """A copy in which the counter is a number."""

    def __init__(self, counted: Counted, number: int):
        super().__init__()
        self.counter, self.number = counted.counter, number

    def make(self, builder: Builder, value: Value, args: tuple[Value, ...]) -> Value:
        if value.op == "get" and value.attr is self.counter:
            assert isinstance(self.counter.type, Scalar)
            return builder.const(self.counter.type, self.number)
        return super().make(builder, value, args)


def _count_values(loop: Loop) -> int:
    values = (item for block in (loop.body, loop.update) for item in values_in(block))
    return sum(value.op not in _FREE for value in values)
