"""Which variables of a loop only ever have something added to them, at least once by a dot product.

Such a sum of wrapping integers may be gathered in several parts, in any order: the result is the same, bit for bit.
"""

from __future__ import annotations

from cajeta_dot.ir import If, Loop, Return, Value, walk
from cajeta_dot.record import record
from cajeta_dot.types import Scalar, Vector, element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Slot
    from cajeta_dot.passes.counted import Facts


@record
class Accumulator:
    """A variable and the dot products whose sums it gathers."""

    slot: Slot
    dots: tuple[Value, ...]


def find_accumulators(facts: Facts) -> list[Accumulator]:
    """Those of a loop, in the order in which they are first read."""
    users: dict[Value, list[Value]] = {}
    other: set[Value] = set()
    for block in (facts.loop.test, facts.loop.body, facts.loop.update):
        for item in walk(block):
            match item:
                case Value():
                    for arg in item.args:
                        users.setdefault(arg, []).append(item)
                case If():
                    other.add(item.condition)
                case Return(value=Value() as value):
                    other.add(value)
                case Loop(condition=condition, again=again):
                    other.update(v for v in (condition, again) if v)
                case _:
                    pass
    found: list[Accumulator] = []
    for slot, gets in facts.gets.items():
        dots = _follow_sums(slot, gets, facts.sets.get(slot, []), users, other)
        if dots:
            found.append(Accumulator(slot, dots))
    return found


def _follow_sums(
    slot: Slot, gets: list[Value], sets: list[Value], users: dict[Value, list[Value]], other: set[Value]
) -> tuple[Value, ...]:
    """The dot products on the ways from every read of the variable to its store; empty if a way leads elsewhere."""
    if not element_of(slot.type).is_integer:
        return ()
    reached: set[Value] = set()
    dots: list[Value] = []
    for get in gets:
        at = get
        while at.op != "set":
            used = users.get(at, [])
            if len(used) != 1 or at in other or not _adds_to(used[0], at):
                return ()
            at = used[0]
            if at.op == "dot":
                dots.append(at)
        if at.attr is not slot or at in reached:
            return ()
        reached.add(at)
    return tuple(dots) if len(reached) == len(sets) else ()


def _adds_to(user: Value, sum_: Value) -> bool:
    """Is what the user makes of the sum again that sum, with something added or taken away?"""
    match user.op:
        case "dot":
            return user.args[2] is sum_ and sum_ not in user.args[:2]
        case "add":
            return user.args[0] is not user.args[1]
        case "sub":
            return user.args[0] is sum_ and user.args[1] is not sum_
        case "splat":
            return isinstance(user.type, Vector) and user.type.lanes == 1
        case "extract":
            return isinstance(sum_.type, Vector) and sum_.type.lanes == 1
        case "set":
            return True
        case _:
            return False


def bytes_of(slot: Slot) -> int:
    """How much of the registers a variable takes."""
    lanes = 1 if isinstance(slot.type, Scalar) else slot.type.lanes
    return element_of(slot.type).bits // 8 * lanes
