"""Loops that count, and which values of them depend on the counter in a straight line.

    for (i = first; i + offset < limit; i += step)    with constants `step` > 0 and `offset`, and a limit that stays

Nothing here says that arithmetic does not wrap: that is for the guard (`guard.py`) to find out at run time. What is said of
slopes holds modulo 2^bits of the value's type.
"""

from __future__ import annotations

from cajeta_dot.ir import Barrier, Break, Continue, Loop, Return, Value, is_pure, nested_blocks, walk
from cajeta_dot.record import record
from cajeta_dot.types import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Block, Slot

MAX_DEPTH = 100  # operations followed backwards from a value; what lies beyond is not understood
MAX_OFFSET = 1 << 20
MAX_SLOPE = 1 << 13  # times the most steps of a guarded loop, 2^48, this is far from 2^63
_LEAVING = (Loop, Break, Continue, Barrier)  # work items must not meet where a guard may tell one from another
_FLIPPED = {"gt": "lt", "ge": "le"}


@record
class Counted:
    """A loop that counts. `limit` is a value of the loop or from outside that is the same in every turn.

    `inclusive`: the counter plus the offset may be equal to the limit.
    """

    loop: Loop
    facts: Facts
    counter: Slot
    step: int
    offset: int
    limit: Value
    inclusive: bool


class Facts:
    """What is known of the values of one loop that holds no other. `own` are those that stand in it."""

    def __init__(self, loop: Loop):
        self.loop = loop
        self.own: set[Value] = set()
        self.uses: dict[Value, int] = {}
        self.sets: dict[Slot, list[Value]] = {}
        self.gets: dict[Slot, list[Value]] = {}
        self.counter: Slot | None = None
        self._invariant: dict[Value, bool] = {}
        self._slopes: dict[Value, int | None] = {}
        for block in (loop.test, loop.body, loop.update):
            for item in walk(block):
                if not isinstance(item, Value):
                    continue
                self.own.add(item)
                for arg in item.args:
                    self.uses[arg] = self.uses.get(arg, 0) + 1
                if item.op in ("get", "set"):
                    (self.gets if item.op == "get" else self.sets).setdefault(item.attr, []).append(item)

    def is_invariant(self, value: Value, depth: int = 0) -> bool:
        """Is it the same in every turn, and can it be computed before the loop?"""
        if value not in self.own:
            return True
        if value not in self._invariant:
            if value.op == "get":
                known = value.attr not in self.sets and value.attr is not self.counter
            else:
                known = depth < MAX_DEPTH and is_pure(value) and all(self.is_invariant(arg, depth + 1) for arg in value.args)
            self._invariant[value] = known
        return self._invariant[value]

    def find_offset(self, value: Value, depth: int = 0) -> int | None:
        """n, if the value is the counter plus n, as long as neither that nor any sum before it leaves the counter's type."""
        if depth >= MAX_DEPTH:
            return None
        if value.op == "get" and value.attr is self.counter and value in self.own:
            return 0
        if value.op == "convert" and _holds(value.type, value.args[0].type):
            return self.find_offset(value.args[0], depth + 1)
        if value.op not in ("add", "sub") or not isinstance(value.type, Scalar):
            return None
        a, b = value.args
        if value.op == "add" and a.op == "const":
            a, b = b, a
        inner = self.find_offset(a, depth + 1) if b.op == "const" and value.type.is_integer else None
        if inner is None:
            return None
        offset = inner + (b.attr if value.op == "add" else -b.attr)
        least = -MAX_OFFSET if value.type.is_signed else 0
        return offset if least <= offset <= MAX_OFFSET else None

    def find_slope(self, value: Value, depth: int = 0) -> int | None:
        """By how much the value grows when the counter grows by one, modulo 2^bits; None if that is not a constant.

        A value that is widened grows so only if what is widened does not wrap: see `find_widened`.
        """
        if self.is_invariant(value):
            return 0
        if value not in self._slopes:
            slope = self._follow(value, depth) if depth < MAX_DEPTH and _is_integer(value) else None
            self._slopes[value] = slope if slope is not None and abs(slope) <= MAX_SLOPE else None
        return self._slopes[value]

    def _follow(self, value: Value, depth: int) -> int | None:
        if value.op == "get":
            return 1 if value.attr is self.counter else None
        if value.op in ("convert", "reinterpret"):
            return self.find_slope(value.args[0], depth + 1) if isinstance(value.args[0].type, Scalar) else None
        if value.op not in ("add", "sub", "mul", "shl"):
            return None
        a, b = value.args
        slopes = self.find_slope(a, depth + 1), self.find_slope(b, depth + 1)
        first, second = slopes
        if first is None or second is None:
            return None
        if value.op in ("add", "sub"):
            return first + second if value.op == "add" else first - second
        if value.op == "shl":
            return first << b.attr if b.op == "const" else None
        if a.op == "const" or b.op == "const":
            return second * a.attr if a.op == "const" else first * b.attr
        return None

    def find_widened(self, value: Value) -> list[Value]:
        """What is widened on the way to the value, and the value itself if it has fewer than 64 bits: with a slope, it grows
        in a straight line only if it does not wrap."""
        found: dict[Value, None] = {}
        work, seen = [value], {value}
        while work:
            at = work.pop()
            assert isinstance(at.type, Scalar)
            if self.is_invariant(at):
                continue
            if at is value and at.type.bits < 64:
                found[at] = None
            inner = at.args[0] if at.op == "convert" else None
            if inner is not None and isinstance(inner.type, Scalar) and inner.type.bits < at.type.bits:
                found[inner] = None
            for arg in at.args:
                if arg not in seen:
                    seen.add(arg)
                    work.append(arg)
        return [widened for widened in found if not self.is_invariant(widened)]


def find_counted(loop: Loop) -> Counted | None:
    """The loop as one that counts; None if it is another kind of loop, holds a loop or a barrier, or is left on the way."""
    if loop.condition is None or loop.again is not None or not all(isinstance(item, Value) for item in loop.test):
        return None
    if any(isinstance(item, _LEAVING) for block in (loop.body, loop.update) for item in walk(block)):
        return None
    if loop.body and isinstance(loop.body[-1], Return):
        return None
    facts = Facts(loop)
    if loop.condition not in facts.own or any(not (is_pure(v) or v.op == "get") for v in loop.test if isinstance(v, Value)):
        return None
    condition = loop.condition
    op, (low, high) = condition.op, condition.args[:2] if len(condition.args) == 2 else (condition, condition)
    if op in _FLIPPED:
        op, low, high = _FLIPPED[op], high, low
    if op not in ("lt", "le") or not _is_integer(low):
        return None
    for counter in facts.sets:
        step = _find_step(loop, facts, counter)
        if step is None:
            continue
        facts.counter = counter
        offset = facts.find_offset(low)
        if offset is not None and facts.is_invariant(high) and _fits(high):
            return Counted(loop, facts, counter, step, offset, high, op == "le")
        facts.counter = None
    return None


def _find_step(loop: Loop, facts: Facts, counter: Slot) -> int | None:
    """By how much a variable grows in each turn, if it is a counter: set once, at the end of what reads it."""
    if len(facts.sets[counter]) != 1 or not isinstance(counter.type, Scalar) or not counter.type.is_integer:
        return None
    if (counter.type.kind, counter.type.bits) == ("u", 64):
        return None
    (set_,) = facts.sets[counter]
    if not any(item is set_ for block in (loop.body, loop.update) for item in block) or _is_read_behind(loop, set_):
        return None
    sum_ = set_.args[0]
    if sum_.op not in ("add", "sub") or sum_ not in facts.own:
        return None
    a, b = sum_.args
    if sum_.op == "add" and a.op == "const":
        a, b = b, a
    if b.op != "const" or a.op != "get" or a.attr is not counter:
        return None
    step = b.attr if sum_.op == "add" else -b.attr
    return step if 0 < step <= MAX_OFFSET else None


def _is_read_behind(loop: Loop, set_: Value) -> bool:
    met = False
    for block in (loop.body, loop.update):
        for item in walk(block):
            if item is set_:
                met = True
            elif met and isinstance(item, Value) and item.op == "get" and item.attr is set_.attr:
                return True
    return False


def find_innermost(block: Block) -> list[tuple[Block, Loop]]:
    """Every loop that holds no other, with the block that it stands in."""
    found: list[tuple[Block, Loop]] = []
    work: list[Block] = [block]
    while work:
        at = work.pop()
        for item in at:
            inside = nested_blocks(item)
            if isinstance(item, Loop) and not any(isinstance(i, Loop) for b in inside for i in walk(b)):
                found.append((at, item))
            else:
                work.extend(inside)
    return found


def _is_integer(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.is_integer


def _fits(value: Value) -> bool:
    """Can every number of its type be an int64?"""
    return isinstance(value.type, Scalar) and value.type.high < 1 << 63


def _holds(new: object, old: object) -> bool:
    if not (isinstance(new, Scalar) and isinstance(old, Scalar) and new.is_integer and old.is_integer):
        return False
    return new.low <= old.low and new.high >= old.high
