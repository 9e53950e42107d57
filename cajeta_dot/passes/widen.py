"""A loop of four-lane dots over neighbouring bytes, as one that takes several steps at once with as many more lanes.

    for (...; i += 4) acc = w.vload<4>(i).dot(x.vload<4>(i), acc);      becomes
    for (...; i += 64) sums = w.vload<64>(i) . x.vload<64>(i) + sums    and acc + all lanes of sums

Each step's sum has a lane of its own. Integer addition wraps, so the lanes add up to the same bits.
"""

from __future__ import annotations

from cajeta_dot.ir import Builder, Loop, Slot, Value, lanes_of_constant
from cajeta_dot.passes.counted import Counted, Facts
from cajeta_dot.passes.split import Unchecked
from cajeta_dot.record import record
from cajeta_dot.types import INT64, VOID, Scalar, Vector, element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from cajeta_dot.ir import Block, Function
    from cajeta_dot.passes.accumulators import Accumulator

STEPS = 16  # taken at once
_LANEWISE = frozenset(
    {"and", "or", "xor", "add", "sub", "mul", "shl", "shr", "not", "neg", "min", "max", "reinterpret", "const"}
)


@record
class Widened:
    """`block`: what does as many wide steps as there are. `loop`: the wide loop in it, which counts as the other does; `lanes`:
    the variables that hold a lane for each step."""

    block: Block
    loop: Counted
    before: Block
    after: Block


def can_widen(counted: Counted, sums: Sequence[Accumulator]) -> bool:
    """Is there nothing in the loop but four-lane dots of neighbouring bytes, and what leads to them?"""
    loop, facts = counted.loop, counted.facts
    slots = {accumulator.slot for accumulator in sums}
    if not sums or not set(facts.sets) <= {*slots, counted.counter}:
        return False
    if not all(isinstance(slot.type, Scalar) for slot in slots):
        return False
    return all(isinstance(v, Value) and _fits(counted, v, slots) for block in (loop.body, loop.update) for v in block)


def _fits(counted: Counted, value: Value, slots: set[Slot]) -> bool:
    """Either a scalar that only finds a place, or four byte lanes step by step, or a part of a sum."""
    facts = counted.facts
    match value.op:
        case "set":
            return True
        case "load":
            array, index = value.args
            slope = facts.find_slope(index)
            return _is_bytes(value) and facts.is_invariant(array) and slope is not None and slope * counted.step == 4
        case "dot":
            return value.type == Vector(element_of(value.type), 1) and all(_is_bytes(arg) for arg in value.args[:2])
        case "splat":
            return _is_sum(value.args[0], slots) or (_is_bytes(value) and facts.is_invariant(value.args[0]))
        case "get" if value.attr in slots:
            return True
        case "extract":
            return value.args[0].op == "dot"
        case _:
            pass
    if isinstance(value.type, Vector):
        return _is_bytes(value) and value.op in _LANEWISE
    if _is_sum(value, slots):
        return False
    return facts.find_slope(value) is not None


def _is_bytes(value: Value) -> bool:
    return isinstance(value.type, Vector) and value.type.lanes == 4 and value.type.element.bits == 8


def _is_sum(value: Value, slots: set[Slot]) -> bool:
    """Is it one of the sums, or one with a dot added?"""
    return (value.op == "get" and value.attr in slots) or (value.op == "extract" and value.args[0].op == "dot")


def widen(function: Function, counted: Counted, sums: Sequence[Accumulator], last: Value, inside: Container[Value]) -> Widened:
    """The wide loop; `last` and `inside` as in `split`."""
    before: Block = []
    after: Block = []
    dot = sums[0].dots[0]
    b, behind = Builder(before, dot.start, dot.end), Builder(after, dot.start, dot.end)
    lanes: dict[Slot, Slot] = {}
    for accumulator in sums:
        slot = accumulator.slot
        wide = Slot(f"{slot.name}$lanes", Vector(element_of(slot.type), STEPS))
        function.slots.append(wide)
        lanes[slot] = wide
        b.set(wide, b.const(wide.type, 0))
        total = behind.emit("sum", element_of(slot.type), behind.get(wide))
        behind.set(slot, behind.binary("add", behind.get(slot), total))
    step = STEPS * counted.step
    reach = b.binary("sub", last, b.const(INT64, step - counted.step))
    copier = _Wider(lanes, inside, counted)
    body = copier.block([*counted.loop.body, *counted.loop.update])
    test: Block = []
    t = Builder(test, dot.start, dot.end)
    condition = t.compare("le", t.convert(t.get(counted.counter), INT64), reach)
    loop = Loop(test, condition, body, [])
    facts = Facts(loop)
    facts.counter = counted.counter
    wide_loop = Counted(loop, facts, counted.counter, step, 0, reach, True)
    return Widened([*before, loop, *after], wide_loop, before, after)


class _Wider(Unchecked):
    """Vectors of four bytes become longer ones, sums their lanes, and the counter takes several steps."""

    def __init__(self, lanes: dict[Slot, Slot], inside: Container[Value], counted: Counted):
        super().__init__({}, inside)
        self.lanes, self.counted = lanes, counted

    def make(self, builder: Builder, value: Value, args: tuple[Value, ...]) -> Value:
        if value.op in ("get", "set") and value.attr in self.lanes:
            slot = self.lanes[value.attr]
            return builder.emit(value.op, slot.type if value.op == "get" else VOID, *args, attr=slot)
        if value.op == "set":  # of the counter
            stepped = builder.const(self.counted.counter.type, STEPS * self.counted.step)
            return builder.set(value.attr, builder.binary("add", builder.get(value.attr), stepped))
        if (value.op == "splat" and not _is_bytes(value)) or value.op == "extract":
            return args[0]
        if value.op == "dot":
            return builder.dot(*args)
        made = super().make(builder, value, args)
        if _is_bytes(made):
            assert isinstance(made.type, Vector)
            made.type = Vector(made.type.element, 4 * STEPS)
            if made.op == "const":
                lanes = lanes_of_constant(made.attr)
                made.attr = tuple(lanes * STEPS) if len(lanes) > 1 else lanes[0]
        return made
