"""Innermost loops that count, made faster where a guard in front of them allows it: without checks that can't fail, with sums
split into parts (`split.py`), with narrow dots widened (`widen.py`). Before that, short ones go (`unroll.py`).

The loop as it was written stays behind what is made of it: it does the steps that are left over, and all of them where the
guard says no. So whatever goes wrong, goes wrong there, at the same step and with the same words.
"""

from __future__ import annotations

from cajeta_dot.ir import COPY, Builder, If, Loop, Value, walk
from cajeta_dot.passes.accumulators import find_accumulators
from cajeta_dot.passes.copy import copy_expression
from cajeta_dot.passes.counted import Counted, find_counted, find_innermost
from cajeta_dot.passes.guard import check_ends, find_accesses, write_guard
from cajeta_dot.passes.simplify import simplify_function
from cajeta_dot.passes.split import Plan, Unchecked, count_parts, find_bias_operand, split
from cajeta_dot.passes.unroll import unroll_short_loops
from cajeta_dot.passes.widen import STEPS, can_widen, widen
from cajeta_dot.record import record
from cajeta_dot.types import INT64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cajeta_dot.ir import Block, Function, Program
    from cajeta_dot.passes.accumulators import Accumulator

    Test = Callable[[Function, Value], bool]

SPLIT, WIDENED = "split", "widened"


@record
class Wishes:
    """What a machine wants of its loops.

    checks: accesses are checked unless they are known to be inside. split: sums may be split and dots widened.
    register: bytes. is_chain: does this dot make the next one of its sum wait? is_biased: is it one of equal signs by way of
    one of unequal signs?
    """

    checks: bool
    split: bool
    register: int
    is_chain: Test
    is_biased: Test


@record
class Note:
    """What was done for a dot: SPLIT into `parts` sums, or WIDENED to `parts` times its lanes."""

    what: str
    dot: Value
    name: str
    parts: int


def specialize_loops(program: Program, wishes: Wishes) -> list[Note]:
    """Changes the functions of a program in place. Says what was done, for the user."""
    notes: list[Note] = []
    for function in program.functions:
        if unroll_short_loops(function):
            simplify_function(function)
        for block, loop in find_innermost(function.body):
            counted = find_counted(loop)
            made = _specialize(function, counted, wishes, notes) if counted else None
            if made:
                at = next(place for place, item in enumerate(block) if item is loop)
                block[at : at + 1] = made
                loop.rare = True
    return notes


def _specialize(function: Function, counted: Counted, wishes: Wishes, notes: list[Note]) -> Block | None:
    """What goes in the loop's place; None if it can't be made better. A loop that takes no step is asked nothing but that."""
    facts, loop = counted.facts, counted.loop
    sums = find_accumulators(facts) if wishes.split else []
    wide = can_widen(counted, sums)
    accesses = find_accesses(facts, [*loop.body, *loop.update]) if wishes.checks or wide else []
    if wide and len(accesses) < sum(1 for item in loop.body if isinstance(item, Value) and item.op == "load"):
        wide = False
    chained = [a for a in sums if all(wishes.is_chain(function, dot) for dot in a.dots)]
    parts = 1 if wide else _count_parts(chained, loop, wishes)
    if not accesses and parts == 1:
        return None
    block: Block = []
    running: Block = []
    checked: Block = []
    within: Block = []
    start = loop_start(loop)
    assert loop.condition is not None
    runs = copy_expression(Builder(block, start, start), loop.condition, {}, facts.own)
    guard = write_guard(Builder(running, start, start), counted)
    holds = check_ends(Builder(checked, start, start), facts, guard.holds, guard.ends, accesses)
    inside = frozenset(accesses)
    if wide:
        widened = widen(function, counted, sums, guard.last, inside)
        notes += [Note(WIDENED, accumulator.dots[0], accumulator.slot.name, STEPS) for accumulator in sums]
        within += widened.before
        within += _split_wide(function, widened.loop, sums, wishes)
        within += [widened.loop.loop, *widened.after]
    elif parts > 1:
        biased = frozenset(dot for a in chained for dot in a.dots if _is_worth_apart(function, dot, counted, wishes))
        within += split(function, counted, chained, Plan(parts, biased), guard.last, inside)
        notes += [Note(SPLIT, accumulator.dots[0], accumulator.slot.name, parts) for accumulator in chained]
    else:
        within.append(_copy_unchecked(counted, guard.last, inside))
    running += [If(guard.holds, [*checked, If(holds, within, [])] if checked else within, []), loop]
    return [*block, If(runs, running, [])]


def _split_wide(function: Function, counted: Counted, narrow: list[Accumulator], wishes: Wishes) -> Block:
    """A widened loop, whose sums are those of the `narrow` one in the same order. It is these that are known to the machine."""
    sums = find_accumulators(counted.facts)
    origins = dict(zip([d for a in sums for d in a.dots], [d for a in narrow for d in a.dots], strict=True))
    chained = [a for a in sums if all(wishes.is_chain(function, origins[dot]) for dot in a.dots)]
    parts = _count_parts(chained, counted.loop, wishes)
    if parts == 1:
        return []
    biased = frozenset(wide for wide, dot in origins.items() if wishes.is_biased(function, dot))
    return split(function, counted, chained, Plan(parts, biased), counted.limit, frozenset[Value]())


def _is_worth_apart(function: Function, dot: Value, counted: Counted, wishes: Wishes) -> bool:
    return wishes.is_biased(function, dot) and not counted.facts.is_invariant(find_bias_operand(dot))


def _count_parts(sums: list[Accumulator], loop: Loop, wishes: Wishes) -> int:
    values = sum(1 for block in (loop.body, loop.update) for item in walk(block) if isinstance(item, Value))
    return count_parts(sums, values, wishes.register) if sums else 1


def _copy_unchecked(counted: Counted, last: Value, inside: frozenset[Value]) -> Loop:
    test: Block = []
    b = Builder(test, last.start, last.end)
    condition = b.compare("le", b.convert(b.get(counted.counter), INT64), last)
    copier = Unchecked({}, inside)
    loop = Loop(test, condition, copier.block(counted.loop.body), copier.block(counted.loop.update))
    mark_copies((loop.body, loop.update))
    return loop


def mark_copies(blocks: Iterable[Block]) -> None:
    """The dots in them are those of other blocks that stay."""
    for block in blocks:
        for item in walk(block):
            if isinstance(item, Value) and item.op == "dot":
                item.attr = COPY


def loop_start(loop: Loop) -> int:
    """Where a loop stands in the source, as far as its values tell."""
    return loop.condition.start if loop.condition else 0
