"""A kernel cut at its barriers, for machines that run the work items of a workgroup one after another.

A `Region` is code without a barrier: it is run to its end for one item after the other. Between regions all items meet, so
only what stands around a barrier (branches and loops whose condition all items share, as the checker has made sure) is left
to be run once for the workgroup: a `Choice`, a `Cycle`. What an item computes in one region and uses in another is carried
over in a slot, of which every item has its own.

An item that returns or faults in a region takes part in no later one. One that breaks out of a cycle, or continues it, takes
part in no further region of that cycle, or of that turn.
"""

from __future__ import annotations

from cajeta_dot.ir import Barrier, If, Loop, Return, Slot, Value, nested_blocks, values_in, walk
from cajeta_dot.record import record
from cajeta_dot.types import VOID, Array, Scalar, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cajeta_dot.ir import Block, Function, Item

_REMADE = frozenset({"const", "coordinate", "shared"})  # cheaper to make again than to carry over


@record
class Region:
    """Code that every running item runs to its end."""

    block: Block


@record
class Choice:
    """Run once for the workgroup: which way, says `condition`, the same for all running items."""

    condition: Slot
    then: tuple[Part, ...]
    otherwise: tuple[Part, ...]


@record
class Cycle:
    """As `ir.Loop`, run once for the workgroup. Also left when no item is running any more."""

    test: tuple[Part, ...]
    condition: Slot | None
    body: tuple[Part, ...]
    update: tuple[Part, ...]
    again: Slot | None


Part = Region | Choice | Cycle


@record
class Division:
    """A kernel in parts. `carried` are the slots of which each item needs its own from one region to the next."""

    parts: tuple[Part, ...]
    carried: frozenset[Slot]


def has_barrier(function: Function) -> bool:
    return any(isinstance(item, Barrier) for item in walk(function.body))


def divide(function: Function) -> Division:
    """Cut a kernel at its barriers. Changes the function: slots are added to it, and its body is no longer its code."""
    cutter = _Cutter(function)
    parts = cutter.cut(function.body)
    regions = list(_regions(parts, in_cycle=False))
    _carry_values(function, [region for region, _ in regions])
    return Division(parts, _find_carried(regions) | cutter.conditions)


class _Cutter:
    """Cuts blocks. `conditions` are the slots through which a region tells the workgroup which way to go."""

    def __init__(self, function: Function):
        self.function = function
        self.conditions: set[Slot] = set()

    def cut(self, block: Block, then_tell: Sequence[tuple[Slot, Value]] = ()) -> tuple[Part, ...]:
        """The parts of a block. `then_tell` are conditions that its last region stores for the workgroup."""
        parts: list[Part] = []
        open_: Block = []
        for item in block:
            if isinstance(item, Barrier):
                self.close(parts, open_)
                open_ = []
            elif any(isinstance(inside, Barrier) for b in nested_blocks(item) for inside in walk(b)):
                made = self.cut_statement(item, open_)
                self.close(parts, open_)
                open_ = []
                parts.append(made)
            else:
                open_.append(item)
        for slot, value in then_tell:
            open_.append(_set(slot, value))
        self.close(parts, open_)
        return tuple(parts)

    def close(self, parts: list[Part], block: Block) -> None:
        if block:
            parts.append(Region(block))

    def cut_statement(self, item: Item, before: Block) -> Part:
        """A branch or loop around a barrier. `before` is the region in front of it, which says which way a branch goes."""
        if isinstance(item, If):
            slot = self.tell()
            before.append(_set(slot, item.condition))
            return Choice(slot, self.cut(item.then), self.cut(item.otherwise))
        assert isinstance(item, Loop)
        condition = self.tell() if item.condition else None
        again = self.tell() if item.again else None
        test = self.cut(item.test, [(condition, item.condition)] if condition and item.condition else [])
        update = self.cut(item.update, [(again, item.again)] if again and item.again else [])
        return Cycle(test, condition, self.cut(item.body), update, again)

    def tell(self) -> Slot:
        slot = _add_slot(self.function, Scalar("b", 1))
        self.conditions.add(slot)
        return slot


def _add_slot(function: Function, type: Scalar | Vector) -> Slot:
    slot = Slot(f"${len(function.slots)}", type)
    function.slots.append(slot)
    return slot


def _set(slot: Slot, value: Value) -> Value:
    return Value("set", VOID, (value,), slot, value.start, value.end)


def _regions(parts: Sequence[Part], in_cycle: bool) -> Iterator[tuple[Region, bool]]:
    """Every region, and whether it may run more than once."""
    for part in parts:
        if isinstance(part, Region):
            yield part, in_cycle
        elif isinstance(part, Choice):
            yield from _regions((*part.then, *part.otherwise), in_cycle)
        else:
            yield from _regions((*part.test, *part.body, *part.update), in_cycle=True)


def _find_carried(regions: Sequence[tuple[Region, bool]]) -> frozenset[Slot]:
    """Slots used in several regions, or in one that may run again and find there what it left."""
    seen: dict[Slot, Region] = {}
    carried: set[Slot] = set()
    for region, runs_again in regions:
        for item in walk(region.block):
            if not isinstance(item, Value) or item.op not in ("get", "set"):
                continue
            if runs_again or seen.setdefault(item.attr, region) is not region:
                carried.add(item.attr)
    return frozenset(carried)


# ---- values that one region makes and another uses


def _carry_values(function: Function, regions: Sequence[Region]) -> None:
    homes = {item: region for region in regions for item in values_in(region.block)}
    slots: dict[Value, Slot] = {}
    for region in regions:
        now: dict[Value, Value] = {}
        first: Block = []
        for value in _used(region.block):
            home = homes.get(value)  # a parameter has none
            if home is None or home is region or value in now:
                continue
            if value.op in _REMADE:
                now[value] = Value(value.op, value.type, (), value.attr, value.start, value.end)
            else:
                assert not isinstance(value.type, Array)
                if value not in slots:
                    assert isinstance(value.type, (Scalar, Vector))
                    slots[value] = _add_slot(function, value.type)
                now[value] = Value("get", value.type, (), slots[value], value.start, value.end)
            first.append(now[value])
        if now:
            _replace(region.block, now)
            region.block[:0] = first
    _store_behind(regions, slots)


def _used(block: Block) -> Iterator[Value]:
    for item in walk(block):
        match item:
            case Value():
                yield from item.args
            case If():
                yield item.condition
            case Loop():
                yield from (value for value in (item.condition, item.again) if value)
            case Return(value=value) if value:
                yield value
            case _:
                pass


def _replace(block: Block, now: dict[Value, Value]) -> None:
    for item in walk(block):
        match item:
            case Value():
                item.args = tuple([now.get(a, a) for a in item.args])
            case If():
                item.condition = now.get(item.condition, item.condition)
            case Loop():
                item.condition = item.condition and now.get(item.condition, item.condition)
                item.again = item.again and now.get(item.again, item.again)
            case _:
                pass


def _store_behind(regions: Sequence[Region], slots: dict[Value, Slot]) -> None:
    """Behind each value that is used elsewhere, its store into the slot that carries it."""
    work = [region.block for region in regions]
    while work:
        block = work.pop()
        stored: Block = []
        for item in block:
            stored.append(item)
            if isinstance(item, Value) and item in slots:
                stored.append(_set(slots[item], item))
            work.extend(nested_blocks(item))
        block[:] = stored
