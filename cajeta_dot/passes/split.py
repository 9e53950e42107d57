"""A loop that sums dot products into one variable, as one with several: each turn does several steps, each with its own sum.

One sum is a chain in which every step waits for the one before, four or five cycles with `vpdpbusd`, where the machine could
begin one or two in each cycle. Integer addition wraps, so the parts add up to the same bits.

The loop made here does as many whole turns as there are; the loop behind it does what is left.
"""

from __future__ import annotations

from cajeta_dot.ir import COPY, INSIDE, Builder, If, Loop, Slot, Value
from cajeta_dot.passes.accumulators import bytes_of
from cajeta_dot.passes.copy import Copier
from cajeta_dot.record import record
from cajeta_dot.types import INT8, INT64, UINT8, Vector, element_of, with_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from cajeta_dot.ir import Block, Function
    from cajeta_dot.passes.accumulators import Accumulator
    from cajeta_dot.passes.counted import Counted

PARTS = 8  # sums that a loop may have: enough to fill two units of five cycles but for rounding, and not too many registers
CORRECTIONS = 4  # parts of the sum that takes back a bias
MAX_VALUES = 400  # operations of a loop made here


@record
class Plan:
    """How a loop is to be split: into so many parts, and which dots have their bias taken back apart.

    biased: signed by signed or unsigned by unsigned, on a machine that only multiplies unsigned by signed, but for those with
    `find_bias_operand` the same in every step.
    """

    parts: int
    biased: Container[Value]


def count_parts(sums: Sequence[Accumulator], values: int, register: int) -> int:
    """Into how many parts the sums of a loop of `values` operations are split; 1 if that is no gain."""
    registers = sum(-(-bytes_of(accumulator.slot) // register) for accumulator in sums)
    return max(min(PARTS // max(registers, 1), MAX_VALUES // max(values, 1)), 1)


def split(
    function: Function, counted: Counted, sums: Sequence[Accumulator], plan: Plan, last: Value, inside: Container[Value]
) -> Block:
    """The loop in parts. `last`: an int64, the last number of the counter. `inside`: accesses that need no check."""
    block: Block = []
    dot = sums[0].dots[0]
    b = Builder(block, dot.start, dot.end)
    reach = b.binary("sub", last, b.const(INT64, (plan.parts - 1) * counted.step))
    fits = b.compare("le", b.convert(b.get(counted.counter), INT64), reach)
    within: Block = []
    block.append(If(fits, within, []))
    parts = _Parts(function, Builder(within, dot.start, dot.end), sums, plan)
    body: Block = []
    for part in range(plan.parts):
        copier = _Step(parts, part, inside)
        body += copier.block(counted.loop.body)
        body += copier.block(counted.loop.update)
    update: Block = []
    u = Builder(update, dot.start, dot.end)
    again = u.compare("le", u.convert(u.get(counted.counter), INT64), reach)
    within.append(Loop([], None, body, update, again))
    parts.add_up()
    return block


class _Parts:
    """The variables that the sums are split into. `corrections` are of those sums that hold a bias."""

    def __init__(self, function: Function, before: Builder, sums: Sequence[Accumulator], plan: Plan):
        self.before, self.plan = before, plan
        self.sums = {a.slot: [a.slot, *(_add(function, before, a.slot, k) for k in range(1, plan.parts))] for a in sums}
        self.corrections: dict[Slot, list[Slot]] = {}
        self.homes: dict[Value, Slot] = {}
        for accumulator in sums:
            for dot in accumulator.dots:
                if dot in plan.biased:
                    self.homes[dot] = accumulator.slot
            if any(dot in plan.biased for dot in accumulator.dots):
                count = min(CORRECTIONS, plan.parts)
                self.corrections[accumulator.slot] = [_add(function, before, accumulator.slot, k) for k in range(count)]

    def add_up(self) -> None:
        """Behind the loop: all parts of each sum into the variable itself."""
        b = self.before
        for slot, parts in self.sums.items():
            total = _add_pairs(b, [b.get(part) for part in parts])
            if slot in self.corrections:
                total = b.binary("sub", total, _add_pairs(b, [b.get(part) for part in self.corrections[slot]]))
            b.set(slot, total)


def _add(function: Function, before: Builder, slot: Slot, number: int) -> Slot:
    """A new variable that begins with zero."""
    part = Slot(f"{slot.name}${number}", slot.type)
    function.slots.append(part)
    before.set(part, before.const(slot.type, 0))
    return part


def _add_pairs(b: Builder, terms: list[Value]) -> Value:
    while len(terms) > 1:
        odd = terms[len(terms) - len(terms) % 2 :]
        terms = [b.binary("add", x, y) for x, y in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0]


class Unchecked(Copier):
    """A copy in which some accesses are known to be inside their arrays."""

    def __init__(self, slots: dict[Slot, Slot], inside: Container[Value]):
        super().__init__(slots)
        self.inside = inside

    def make(self, builder: Builder, value: Value, args: tuple[Value, ...]) -> Value:
        made = super().make(builder, value, args)
        if value in self.inside:
            made.attr = INSIDE
        return made


class _Step(Unchecked):
    """One step of a turn: the sums are those of one part."""

    def __init__(self, parts: _Parts, part: int, inside: Container[Value]):
        super().__init__({slot: own[part] for slot, own in parts.sums.items()}, inside)
        self.parts, self.part = parts, part

    def make(self, builder: Builder, value: Value, args: tuple[Value, ...]) -> Value:
        if value not in self.parts.homes:
            made = super().make(builder, value, args)
            if made.op == "dot":
                made.attr = COPY
            return made
        corrections = self.parts.corrections[self.parts.homes[value]]
        return _apart(builder, args, corrections[self.part % len(corrections)])


def find_bias_operand(dot: Value) -> Value:
    """What a bias is multiplied with, for a dot of equal signs. Where it stays the same, so does what is taken back, and to
    take it back at once is cheaper than to add it up."""
    w, x = dot.args[:2]
    return x if element_of(w.type).is_signed else w


def _apart(b: Builder, args: tuple[Value, ...], correction: Slot) -> Value:
    """A dot of bytes with equal signs, its bias added to `correction`.

    Signed w: w + 128 is unsigned, and (w + 128) * x - 128 * x is w * x. Unsigned x: x - 128 is signed, and
    w * (x - 128) - w * -128 is w * x.
    """
    w, x, total = args
    assert isinstance(w.type, Vector)
    assert isinstance(x.type, Vector)
    signed = element_of(w.type).is_signed
    biased, sign = (w, UINT8) if signed else (x, INT8)
    type = with_element(w.type, sign)
    bias = b.const(type, 128 if signed else -128)
    bytes = b.binary("xor", b.reinterpret(biased, type), bias)
    taken = b.get(correction)
    one = taken.type != total.type
    start = b.splat(taken, 1) if one else taken
    made = b.dot(bias, x, start) if signed else b.dot(w, bias, start)
    b.set(correction, b.extract(made, 0) if one else made)
    result = b.dot(bytes, x, total) if signed else b.dot(w, bytes, total)
    made.attr = result.attr = COPY
    return result
