"""Between which integers the values of a function lie: its statements are followed as if they ran, on bounds for numbers.

The bounds choose instructions: bytes proven 0..127 may be read with either signedness. They are sound for every run. What is
known of a local depends on the place: a branch knows its condition, and where paths meet, what holds on all of them is left.
A loop is followed until another turn adds nothing; so that this comes soon, what keeps growing is moved on to a constant of
the function, and then to all that its type holds. How one operation moves bounds is in `bounds.py`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from cajeta_dot.bounds import NOTHING, RULES, bound, is_integer, join, whole
from cajeta_dot.ir import Break, Builder, Continue, If, Loop, Return, Slot, Value, walk
from cajeta_dot.types import BOOLEAN, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cajeta_dot.bounds import Bounds
    from cajeta_dot.ir import Block, Function, Item

    # What is known of locals, and of values more than where they were made. What is missing can be anything its type
    # holds. None is the state of a place that no run reaches.
    State = dict[Slot | Value, Bounds] | None

MAX_DEPTH = 60  # statements inside one another that are followed; what is deeper may store anything
MAX_LOOPS = 2  # loops inside one another that are followed turn by turn; what is deeper starts from anything
# Turns until bounds that still grow are moved on to constants, until they are given up, and until all are that can change.
TURNS_JOINED, TURNS_MOVED, TURNS = 1, 4, 8
MAX_TURNS = 3000  # of all loops of a function, before those not yet followed start from anything


class Ranges:
    """The bounds of the integer values of one function, found when asked for. The function is followed only if that can tell
    more than the operations do which a value is made of."""

    def __init__(self, function: Function, callers: frozenset[Function] = frozenset()):
        """`callers` are the functions that are looked at because of whose call this one is."""
        self._function = function
        self._around = callers | {function}
        self._results: dict[Function, Bounds] = {}
        self._origins: _Origins | None = None
        self._known: dict[Value, Bounds] | None = None

    def of(self, value: Value) -> Bounds:
        """The least and the greatest that any lane can be. Only for integers."""
        if self._known is None:
            self._origins = self._origins or _Origins(self._function, self._of_result)
            found = self._origins.trace(value)
            if found is not None:
                return found
            self._known = _Walk(self._function, self._of_result).known
        return self._known.get(value) or whole(value.type)

    def _of_result(self, call: Value) -> Bounds:
        """Of what a method of the program returns, for any arguments. One that calls itself may return anything."""
        callee: Function = call.attr
        if callee in self._around:
            return whole(call.type)
        if callee not in self._results:
            ranges = Ranges(callee, self._around)
            returned = [item.value for item in walk(callee.body) if isinstance(item, Return) and item.value is not None]
            self._results[callee] = join(*map(ranges.of, returned)) if returned else whole(call.type)
        return self._results[callee]

    def unsigned_byte_limit(self, value: Value) -> int:
        """The greatest that a byte lane can be, read as unsigned."""
        low, high = self.of(value)
        return high if low >= 0 else 255


class _Origins:
    """What a value is made of, seen without following the function: enough for most vectors, which are loaded and masked.

    Lanes can't be narrowed by conditions, so a local vector that is stored in once is what is stored there.
    """

    def __init__(self, function: Function, of_result: Callable[[Value], Bounds]):
        self.of_result = of_result
        self.known: dict[Value, Bounds | None] = {}
        self.stored: dict[Slot, list[Value]] = {}
        for item in walk(function.body):
            if isinstance(item, Value) and item.op == "set":
                self.stored.setdefault(item.attr, []).append(item.args[0])

    def trace(self, value: Value, depth: int = 0) -> Bounds | None:
        """The bounds that following the function would give too; None where it could give less."""
        if value not in self.known:
            self.known[value] = None  # for one that is made of itself
            self.known[value] = self._find(value, depth)
        return self.known[value]

    def _find(self, value: Value, depth: int) -> Bounds | None:
        if value.op == "const":
            return bound(value, ())
        if depth > MAX_DEPTH or not (isinstance(value.type, Vector) or value.op in _LANES):
            return None
        if value.op == "get":
            stored = self.stored.get(value.attr, ())
            return self.trace(stored[0], depth + 1) if len(stored) == 1 else None
        if value.op == "method":
            made: Block = []
            value.attr.expand(Builder(made), *value.args)
            last = made[-1] if made else None
            return self.trace(last, depth + 1) if isinstance(last, Value) and is_integer(last.type) else None
        if value.op == "call":
            return self.of_result(value)
        if value.op not in RULES:
            return whole(value.type)
        operands = [self.trace(arg, depth + 1) if is_integer(arg.type) else NOTHING for arg in value.args]
        known = [bounds for bounds in operands if bounds is not None]
        return bound(value, known) if len(known) == len(operands) else None


_LANES = ("extract", "extract_at")  # a lane that is read, as table lookups do


class _Walk:
    """One walk over a function. `leaving` and `proceeding` are the states in which each loop around is left by `break` and
    continued, innermost last; `fresh` are the reads of locals that nothing was stored in since."""

    def __init__(self, function: Function, of_result: Callable[[Value], Bounds]):
        self.of_result = of_result
        self.known: dict[Value, Bounds] = {}
        self.state: State = {}
        self.fresh: set[Value] = set()
        self.depth = self.turns = 0
        self.leaving: list[list[State]] = []
        self.proceeding: list[list[State]] = []
        self.expansions: dict[Value, Block] = {}
        self.inside: dict[Loop | If, frozenset[Slot | Value]] = {}
        items = list(walk(function.body))
        constants = {item.attr for item in items if isinstance(item, Value) and item.op == "const" and is_integer(item.type)}
        self.steps = sorted({near for c in constants if isinstance(c, int) for near in (c - 1, c, c + 1)})
        self.block(function.body)

    # ---- statements

    def block(self, block: Block) -> None:
        for item in block:
            if self.state is None:
                return
            if isinstance(item, Value):
                self.value(item)
            elif isinstance(item, (If, Loop)):
                self.depth += 1
                if self.depth > MAX_DEPTH:
                    self.skip(item)
                elif isinstance(item, If):
                    self.branch(item)
                else:
                    self.loop(item)
                self.depth -= 1
                self.fresh.clear()
            else:
                self.jump(item)

    def jump(self, item: Item) -> None:
        if isinstance(item, Break):
            self.leaving[-1].append(self.state)
        elif isinstance(item, Continue):
            self.proceeding[-1].append(self.state)
        if isinstance(item, (Break, Continue, Return)):
            self.state = None

    def branch(self, item: If) -> None:
        before, fresh = self.state, set(self.fresh)
        ends: list[State] = []
        for inside, holds in ((item.then, True), (item.otherwise, False)):
            self.state, self.fresh = dict(before or {}), set(fresh)
            self.assume(item.condition, holds)
            self.block(inside)
            ends.append(self.state)
        self.state = _meet(ends)

    def loop(self, item: Loop) -> None:
        """Turn after turn, each from a state around all before it, until the next is inside; then once more from what every
        turn does begin with, which may be less."""
        entry, turn = self.state, 0
        head = _meet([entry]) or {}
        changing = self.changed_in(item)
        if len(self.leaving) >= MAX_LOOPS or self.turns > MAX_TURNS:
            head = _without(head, changing)
        while not _is_inside(back := self.turn(item, head), head):
            turn += 1
            head = self.widen(head, back or {}, turn) if turn < TURNS else _without(head, changing)
        if turn:
            self.turn(item, _meet([entry, back]) or {})

    def turn(self, item: Loop, head: dict[Slot | Value, Bounds]) -> State:
        """Leaves the state behind the loop, and returns the one in which it begins again."""
        self.turns += 1
        self.state = dict(head)
        self.fresh.clear()
        self.block(item.test)
        exits = [self.fork(item.condition)]
        self.leaving.append([])
        self.proceeding.append([])
        self.block(item.body)
        self.state = _meet([self.state, *self.proceeding.pop()])
        self.fresh.clear()
        exits += self.leaving.pop()
        self.block(item.update)
        if item.again is not None:
            exits.append(self.fork(item.again))
        back, self.state = self.state, _meet(exits)
        return back

    def fork(self, condition: Value | None) -> State:
        """Goes on where the condition holds; returns the state where it doesn't. A missing one holds."""
        if condition is None or self.state is None:
            return None
        here = self.state
        self.state = dict(here)
        self.assume(condition, False)
        otherwise, self.state = self.state, here
        self.assume(condition, True)
        return otherwise

    def skip(self, item: If | Loop) -> None:
        """Whatever it does: it may store anything, and jump."""
        self.state = _without(self.state or {}, self.changed_in(item))
        if self.leaving:
            self.leaving[-1].append(dict(self.state))
            self.proceeding[-1].append(dict(self.state))

    def changed_in(self, item: Loop | If) -> frozenset[Slot | Value]:
        """What is stored in, or made anew, inside a statement."""
        if item not in self.inside:
            values = [inner for inner in walk([item]) if isinstance(inner, Value)]
            self.inside[item] = frozenset(value.attr if value.op == "set" else value for value in values)
        return self.inside[item]

    def widen(
        self, head: dict[Slot | Value, Bounds], back: dict[Slot | Value, Bounds], turn: int
    ) -> dict[Slot | Value, Bounds]:
        """A state around both; after the first turn one that is not near."""
        wider: dict[Slot | Value, Bounds] = {}
        for key in (key for key in head if key in back):
            old, wider[key] = head[key], join(head[key], back[key])
            if turn > TURNS_JOINED:
                (low, high), (least, most) = wider[key], whole(key.type)
                if turn <= TURNS_MOVED:
                    least = max((least, *self.steps[: bisect_right(self.steps, low)][-1:]))
                    most = min((most, *self.steps[bisect_left(self.steps, high) :][:1]))
                wider[key] = least if low < old[0] else low, most if high > old[1] else high
        return wider

    # ---- values

    def value(self, value: Value) -> None:
        assert self.state is not None
        if value.op == "set":
            self.store(value.attr, value.args[0])
            return
        self.state.pop(value, None)  # it was known of the turn before
        if not is_integer(value.type):
            return
        if value.op == "get":
            self.fresh.add(value)
            self.known[value] = self.state.get(value.attr) or whole(value.type)
        elif value.op == "method":
            self.known[value] = self.expand(value)
        elif value.op == "call":
            self.known[value] = self.of_result(value)
        else:
            self.known[value] = bound(value, [self.of(arg) for arg in value.args])

    def of(self, value: Value) -> Bounds:
        assert self.state is not None
        if not is_integer(value.type):
            return NOTHING
        return self.state.get(value) or self.known.get(value) or whole(value.type)

    def store(self, slot: Slot, content: Value) -> None:
        assert self.state is not None
        self.fresh = {read for read in self.fresh if read.attr is not slot}
        if is_integer(slot.type):
            self.state[slot] = self.of(content)

    def expand(self, value: Value) -> Bounds:
        """A method is what its row makes of it."""
        if value not in self.expansions:
            self.expansions[value] = []
            value.attr.expand(Builder(self.expansions[value]), *value.args)
        made = value
        for made in self.expansions[value]:
            assert isinstance(made, Value)
            self.value(made)
        return self.of(made) if made is not value else whole(value.type)

    # ---- conditions

    def assume(self, condition: Value, holds: bool) -> None:
        """From here on a condition is known. Only comparisons of scalars, and what is made of them, tell something."""
        work = [(condition, holds)]
        while work and self.state is not None:
            known, holds = work.pop()
            if known.op == "not":
                work.append((known.args[0], not holds))
            elif known.op == ("and" if holds else "or") and known.type == BOOLEAN:
                work += [(arg, holds) for arg in known.args]
            elif known.op in _MIRRORED and known.type == BOOLEAN and is_integer(known.args[0].type):
                a, b = known.args
                op = known.op if holds else _OPPOSITE[known.op]
                first, second = self.of(a), self.of(b)
                self.narrow(a, _ALLOWED[op](*first, *second))
                self.narrow(b, _ALLOWED[_MIRRORED[op]](*second, *first))

    def narrow(self, value: Value, bounds: Bounds) -> None:
        """A value is known to lie within; so is the local it was read from, and the same number in another type."""
        if self.state is None:
            return
        low, high = bounds
        if low > high:
            self.state = None  # nobody comes here
            return
        self.state[value] = bounds
        if value.op == "get" and value in self.fresh:
            self.state[value.attr] = bounds
        elif value.op in ("convert", "reinterpret") and is_integer(value.args[0].type):
            source = value.args[0]
            least, most = whole(value.type)
            old = self.of(source)
            if least <= old[0] and old[1] <= most:
                self.narrow(source, (max(low, old[0]), min(high, old[1])))


# What is left of an operand in low..high if its comparison with one in least..most is true.
_ALLOWED: dict[str, Callable[[int, int, int, int], Bounds]] = {
    "lt": lambda low, high, _, most: (low, min(high, most - 1)),
    "le": lambda low, high, _, most: (low, min(high, most)),
    "gt": lambda low, high, least, _: (max(low, least + 1), high),
    "ge": lambda low, high, least, _: (max(low, least), high),
    "eq": lambda low, high, least, most: (max(low, least), min(high, most)),
    "ne": lambda low, high, least, most: (low + (low == least == most), high - (high == least == most)),
}
_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def _meet(states: Iterable[State]) -> State:
    """What is known of locals and parameters where paths meet. Other values have mostly done their work there."""
    reached = [state for state in states if state is not None]
    if not reached:
        return None
    first, *others = reached
    lasting = [key for key in first if isinstance(key, Slot) or key.op == "param"]
    return {key: join(first[key], *(o[key] for o in others)) for key in lasting if all(key in other for other in others)}


def _is_inside(inner: State, outer: dict[Slot | Value, Bounds]) -> bool:
    """Does every run in the first state also lie in the second?"""
    if inner is None:
        return True
    return all(key in inner and join(bounds, inner[key]) == bounds for key, bounds in outer.items())


def _without(state: dict[Slot | Value, Bounds], changed: frozenset[Slot | Value]) -> dict[Slot | Value, Bounds]:
    return {key: bounds for key, bounds in state.items() if key not in changed}
