"""What must be found out before a loop that counts, so that a copy of it may do without some checks.

The guard is code in front of the loop. It finds the last number that the counter will have, and whether accesses are inside
their arrays at the first and at the last; in between they are then too, because their indexes grow in a straight line. If
anything is in doubt, it says no, and the loop runs as it was written.
"""

from __future__ import annotations

from cajeta_dot.ir import INSIDE, Builder, Value, walk
from cajeta_dot.passes.copy import copy_expression
from cajeta_dot.passes.counted import MAX_OFFSET
from cajeta_dot.passes.linear import find_spreads
from cajeta_dot.record import record
from cajeta_dot.types import INT64, UINT64, Array, Scalar, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cajeta_dot.ir import Block
    from cajeta_dot.passes.counted import Counted, Facts

    Ends = tuple[tuple[Value, Value], tuple[Value, Value]]

MOST = 1 << 48  # of a limit: no array has more elements
MAX_ACCESSES = 400  # of one guard; the others keep their checks


@record
class Guard:
    """`holds` is a boolean: does the loop run, and its counter as it should? `last` is an int64: the last number that the
    counter then has. `ends` are the first and the last, each in the counter's own type and as an int64."""

    holds: Value
    last: Value
    ends: Ends


def find_accesses(facts: Facts, block: Block) -> list[Value]:
    """The loads and stores whose place follows the counter in a straight line, so that two ends tell of all."""
    found = [item for item in walk(block) if isinstance(item, Value) and item.op in ("load", "store")]
    return [item for item in found if item.attr != INSIDE and _is_straight(facts, item)][:MAX_ACCESSES]


def _is_straight(facts: Facts, access: Value) -> bool:
    array, index = access.args[:2]
    return facts.is_invariant(array) and facts.find_slope(index) is not None


def write_guard(builder: Builder, counted: Counted) -> Guard:
    """The guard for a loop, written where the builder stands: directly before the loop. It is not about accesses: they are
    looked at behind it (`check_ends`), so that a loop that does not run costs little."""
    counter = counted.counter
    assert isinstance(counter.type, Scalar)
    b, facts = builder, counted.facts
    first = b.get(counter)
    start = b.convert(first, INT64)
    limit = b.convert(copy_expression(b, counted.limit, {}, facts.own), INT64)
    most = min(MOST, counter.type.high - counted.step - MAX_OFFSET)
    zero = b.const(INT64, 0)
    holds = b.compare("ge", start, zero)
    for test in (b.compare("ge", limit, zero), b.compare("le", limit, b.const(INT64, most))):
        holds = b.binary("and", holds, test)
    room = b.binary("sub", b.binary("sub", limit, b.const(INT64, counted.offset + (not counted.inclusive))), start)
    holds = b.binary("and", holds, b.compare("ge", room, zero))
    beyond = b.binary("rem", b.reinterpret(room, UINT64), b.const(UINT64, counted.step))
    last = b.binary("sub", b.binary("add", start, room), b.reinterpret(beyond, INT64))
    return Guard(holds, last, ((first, start), (b.convert(last, counter.type), last)))


def check_ends(b: Builder, facts: Facts, holds: Value, ends: Ends, accesses: Iterable[Value]) -> Value:
    """`holds`, and all accesses are inside their arrays all the way that the counter goes: from the first number to the last,
    which is not less and not 2^49 more.

    Where an index is least, it must lie before what is left of the array without its lanes and all the way it goes from there.
    That is one comparison for each access, and mostly its right side stays the same from one work item to the next.
    """
    gets = facts.gets.get(facts.counter, []) if facts.counter else []
    now = [dict.fromkeys(gets, number) for number, _ in ends]
    distance = b.binary("sub", ends[1][1], ends[0][1])
    seen: set[tuple[Value, Value, int]] = set()
    straight: set[Value] = set()
    for access, spread in find_spreads(facts, accesses):
        array, index = access.args[:2]
        lanes = lanes_of(access.type if access.op == "load" else access.args[2].type)
        if (array, index, lanes) in seen:
            continue
        seen.add((array, index, lanes))
        for widened in facts.find_widened(index):
            if widened not in straight:
                straight.add(widened)
                grown = b.binary("sub", *[_as_int64(b, copy_expression(b, widened, n, facts.own)) for n in reversed(now)])
                slope = facts.find_slope(widened)
                expected = b.binary("mul", distance, b.const(INT64, slope))
                holds = b.binary("and", holds, b.compare("eq", grown, expected))
        place = copy_expression(b, array, now[0], facts.own)
        assert isinstance(place.type, Array)
        slope = facts.find_slope(index)
        assert slope is not None
        way = b.binary("mul", distance, b.const(INT64, abs(slope)))
        room = b.binary("sub", b.length(place), b.binary("add", way, b.const(INT64, lanes - 1 + spread)))
        room = b.reinterpret(b.binary("max", room, b.const(INT64, 0)), UINT64)
        least = copy_expression(b, index, now[slope < 0], facts.own)
        holds = b.binary("and", holds, b.compare("lt", b.reinterpret(_as_int64(b, least), UINT64), room))
    return holds


def _as_int64(b: Builder, value: Value) -> Value:
    """In 64 bits, by its own sign. A uint64 beyond int64 becomes negative, which is inside no array."""
    return b.convert(value, INT64)
