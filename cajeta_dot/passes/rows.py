"""The work items along x of a simple kernel as one loop without checks, which a machine may do several items at a time.

    @Kernel saxpy: i = globalIdX; if (i < n) { y[i] = a * x[i] + y[i]; }

becomes a function that does all items of a row (those with equal y and z of one workgroup) if a guard in front of the loop
finds every access of all of them inside its array, and says so; if it says no, nothing has happened, and the items are run one
by one. Items for which the condition around the whole kernel is false do nothing, so they are left out.
"""

from __future__ import annotations

from cajeta_dot.ir import (
    INSIDE,
    Barrier,
    Builder,
    Function,
    If,
    Loop,
    Return,
    Slot,
    Value,
    can_fault,
    is_pure,
    nested_blocks,
    walk,
)
from cajeta_dot.passes.copy import Copier, copy_expression
from cajeta_dot.passes.counted import Facts
from cajeta_dot.passes.guard import MOST, check_ends, find_accesses
from cajeta_dot.record import record
from cajeta_dot.types import BOOLEAN, INT64, UINT32, VOID, Scalar, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Block

MAX_VALUES = 300  # operations of a kernel


@record
class Row:
    """`function` takes the kernel's parameters and the number of items, and tells if it has done them; `loop` is the one over
    items in it. `is_global`: items are told apart by their global place only, so a row may go on in the next workgroup."""

    function: Function
    loop: Loop
    is_global: bool


@record
class _Trim:
    """The condition that items do something: `low` < or <= `high`, where `low` grows with x and `high` does not."""

    low: Value
    high: Value
    inclusive: bool
    body: Block


def make_row(kernel: Function, checks: bool) -> Row | None:
    """The row of a kernel; None if it calls, loops, waits, returns early, has what may fault for one item only, or vectors,
    which LLVM makes no vectors of."""
    items = list(walk(kernel.body))
    if len(items) > MAX_VALUES or not any(isinstance(i, Value) and i.op == "store" for i in items):
        return None
    for item in items:
        if isinstance(item, (Loop, Barrier, Return)):
            return None
        if isinstance(item, Value) and (isinstance(item.type, Vector) or item.op in ("call", "shared", "allocate")):
            return None
    maker = _Maker(kernel, checks)
    return maker.make()


class _Maker:
    def __init__(self, kernel: Function, checks: bool):
        self.kernel, self.checks = kernel, checks
        name = f"{kernel.symbol}..row"
        self.items = Value("param", INT64, attr="items")
        params = (*kernel.params, self.items)
        self.function = Function(f"{kernel.name} (row)", name, "device", params, BOOLEAN, kernel.start, kernel.end)
        self.function.fast_math = kernel.fast_math
        self.x = Slot("x", INT64)
        slots = {slot: Slot(slot.name, slot.type) for slot in kernel.slots}
        self.function.slots = [self.x, *slots.values()]
        self.copier = _WithCounter(slots, self.x)

    def make(self) -> Row | None:
        body = self.copier.block(self.kernel.body)
        loop = Loop([], None, body, [])
        facts = Facts(loop)
        facts.counter = self.x
        trim = _find_trim(facts, body)
        inner = trim.body if trim else body
        accesses = find_accesses(facts, inner)
        faulting = [item for item in walk(inner) if isinstance(item, Value) and can_fault(item)]
        if self.checks and any(value not in accesses for value in faulting):
            return None
        if not any(access.op == "store" and facts.find_slope(access.args[1]) for access in accesses):
            return None
        b = Builder(self.function.body, self.kernel.start, self.kernel.start)
        size = self.items
        zero, one = b.const(INT64, 0), b.const(INT64, 1)
        enough = b.compare("gt", size, zero)
        holds, count = b.binary("and", enough, b.compare("le", size, b.const(INT64, MOST))), size
        if trim:
            holds, count = self._count(b, facts, trim, size, holds)
        last = b.binary("max", b.binary("sub", count, one), zero)
        holds = check_ends(b, facts, holds, ((zero, zero), (last, last)), accesses)
        within: Block = []
        self.function.body += [If(holds, within, []), Return(b.const(BOOLEAN, False))]
        made = self._write_loop(Builder(within, b.start, b.end), facts, [*body[:-1], *inner] if trim else body, accesses, count)
        within.append(Return(Builder(within).const(BOOLEAN, True)))
        places = {item.attr for item in walk(self.kernel.body) if isinstance(item, Value) and item.op == "coordinate"}
        return Row(self.function, made, is_global=not places & {"local.x", "group.x"})

    def _count(self, b: Builder, facts: Facts, trim: _Trim, size: Value, holds: Value) -> tuple[Value, Value]:
        """How many items do something: those before the condition fails. It must not wrap on the way."""
        zero = b.const(INT64, 0)
        end = b.binary("sub", size, b.const(INT64, 1))
        at = [copy_expression(b, trim.low, dict.fromkeys(facts.gets[self.x], x), facts.own) for x in (zero, end)]
        first, last = (b.convert(value, INT64) for value in at)
        limit = b.convert(copy_expression(b, trim.high, {}, facts.own), INT64)
        for value in (first, limit):
            holds = b.binary("and", holds, b.compare("ge", value, zero))
            holds = b.binary("and", holds, b.compare("le", value, b.const(INT64, MOST)))
        for widened in facts.find_widened(trim.low):
            ends = [copy_expression(b, widened, dict.fromkeys(facts.gets[self.x], x), facts.own) for x in (end, zero)]
            grown = b.binary("sub", *[b.convert(value, INT64) for value in ends])
            holds = b.binary("and", holds, b.compare("eq", grown, end))
        holds = b.binary("and", holds, b.compare("eq", b.binary("sub", last, first), end))
        wanted = b.binary("add", b.binary("sub", limit, first), b.const(INT64, int(trim.inclusive)))
        return holds, b.binary("min", b.binary("max", wanted, zero), size)

    def _write_loop(self, b: Builder, facts: Facts, body: Block, accesses: list[Value], count: Value) -> Loop:
        zero = b.const(INT64, 0)
        places: dict[Value, tuple[Value, int]] = {}
        now = dict.fromkeys(facts.gets.get(self.x, ()), zero)
        for access in accesses:
            slope = facts.find_slope(access.args[1])
            assert slope is not None
            places[access] = b.convert(copy_expression(b, access.args[1], dict(now), facts.own), INT64), slope
        b.set(self.x, zero)
        test: Block = []
        update: Block = []
        t, u = Builder(test, b.start, b.end), Builder(update, b.start, b.end)
        condition = t.compare("lt", t.get(self.x), count)
        u.set(self.x, u.binary("add", u.get(self.x), u.const(INT64, 1)))
        loop = Loop(test, condition, _Straight(self.x, places).block(body), update)
        b.block.append(loop)
        return loop


class _WithCounter(Copier):
    """A copy in which the place along x is a variable."""

    def __init__(self, slots: dict[Slot, Slot], x: Slot):
        super().__init__(slots)
        self.x = x

    def make(self, builder: Builder, value: Value, args: tuple[Value, ...]) -> Value:
        if value.op != "coordinate" or value.attr not in ("local.x", "global.x"):
            return super().make(builder, value, args)
        local = builder.convert(builder.get(self.x), UINT32)
        if value.attr == "local.x":
            return local
        group, size = (builder.emit("coordinate", UINT32, attr=word) for word in ("group.x", "size.x"))
        return builder.binary("add", builder.binary("mul", group, size), local)


class _Straight(Copier):
    """A copy whose accesses are found from the first item's place, without arithmetic that might wrap."""

    def __init__(self, x: Slot, places: dict[Value, tuple[Value, int]]):
        super().__init__()
        self.x, self.places = x, places

    def make(self, builder: Builder, value: Value, args: tuple[Value, ...]) -> Value:
        if value not in self.places:
            return super().make(builder, value, args)
        first, slope = self.places[value]
        steps = builder.binary("mul", builder.get(self.x), builder.const(INT64, slope))
        index = builder.binary("add", first, steps)
        made = builder.emit(value.op, value.type, args[0], index, *args[2:], attr=INSIDE)
        assert made.type == VOID or value.op == "load"
        return made


def _find_trim(facts: Facts, body: Block) -> _Trim | None:
    """The condition around everything that the kernel does, if it is one that holds for the first items only."""
    last = body[-1] if body else None
    if not isinstance(last, If) or last.otherwise or any(nested_blocks(item) for item in body[:-1]):
        return None
    if any(isinstance(item, Value) and not is_pure(item) and item.op != "get" for item in body[:-1]):
        return None
    condition = last.condition
    low, high = condition.args[:2] if len(condition.args) == 2 else (condition, condition)
    op = condition.op
    if op in ("gt", "ge"):
        low, high, op = high, low, "lt" if op == "gt" else "le"
    if op not in ("lt", "le") or not isinstance(low.type, Scalar) or not low.type.is_integer or low.type.high >= 1 << 63:
        return None
    if facts.find_slope(low) != 1 or not facts.is_invariant(high):
        return None
    return _Trim(low, high, op == "le", last.then)
