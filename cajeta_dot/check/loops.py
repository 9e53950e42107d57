"""What counted loops tell: `for (k = 0; k < K; k = k + step)`.

A loop ignores its tail if it takes several elements a step and nothing shows K to be a multiple of it. A sum in a loop whose
turns are known may be known to leave int32.
"""

from __future__ import annotations

from cajeta_dot.diagnostics import Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import If, Loop, Value, walk
from cajeta_dot.ranges import Ranges
from cajeta_dot.record import record
from cajeta_dot.types import INT32, Vector, element_of, lanes_of

from .dots import DOT_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Block, Function, Slot

    from .survey import Survey

_DEPTH = 8  # operations followed to see whether a bound is a multiple


@record
class Counted:
    """A loop that runs while its counter, which begins at `start` and grows by `step`, is less than `bound`."""

    loop: Loop
    condition: Value
    slot: Slot
    start: int
    step: int
    bound: Value


def report_loops(function: Function, survey: Survey, reporter: Reporter) -> None:
    """W0501 and R0405 for the counted loops. Works on IR in which every variable is still a slot."""
    if survey.has_loop:
        _Finder(function, survey, reporter).block(function.body, {})


class _Finder:
    def __init__(self, function: Function, survey: Survey, reporter: Reporter):
        self.function, self.survey, self.reporter = function, survey, reporter
        self.ranges: Ranges | None = None

    def block(self, block: Block, starts: dict[Slot, Value]) -> None:
        """`starts` has what was stored last in each variable before this point of the same run of statements."""
        starts = dict(starts)
        for item in block:
            if type(item) is Value and item.op != "set":  # as most are
                continue
            if isinstance(item, Value):
                starts[item.attr] = item.args[0]
            elif isinstance(item, If):
                self.block(item.then, starts)
                self.block(item.otherwise, starts)
            elif isinstance(item, Loop):
                counted = self.find_counter(item, starts)
                if counted:
                    self.report_tail(counted)
                    self.report_sums(counted)
                self.block(item.body, {})

    def find_counter(self, loop: Loop, starts: dict[Slot, Value]) -> Counted | None:
        condition = loop.condition
        if condition is None or condition.op not in ("lt", "gt"):
            return None
        counter, bound = condition.args if condition.op == "lt" else (condition.args[1], condition.args[0])
        while counter.op in ("convert", "reinterpret"):
            counter = counter.args[0]
        if counter.op != "get" or not element_of(counter.type).is_integer:
            return None
        slot: Slot = counter.attr
        start, step = starts.get(slot), self.find_step(loop, slot)
        if step is None or start is None or start.op != "const":
            return None
        return Counted(loop, condition, slot, start.attr, step, bound)

    def find_step(self, loop: Loop, slot: Slot) -> int | None:
        """By how much the loop moves its counter, if it does so in one place and by a positive constant."""
        moves = [store.args[0] for store in self.survey.sets.get(slot, []) if self.survey.is_inside(store, loop)]
        if len(moves) != 1 or moves[0].op != "add":
            return None
        a, b = moves[0].args
        return b.attr if a.op == "get" and a.attr is slot and b.op == "const" and b.attr > 0 else None

    # ---- the last step

    def report_tail(self, counted: Counted) -> None:
        step, bound, condition = counted.step, counted.bound, counted.condition
        access = _find_access(counted) if step > 1 and counted.start % step == 0 else None
        if access is None or _leaves_room(bound, step) or self.is_multiple(bound, step, _DEPTH):
            return
        source = self.reporter.source
        from_, to = _extent(bound)
        text = source.text[from_:to] if source else "the bound"
        self.reporter.report(
            r.TAIL,
            f"when `{text}` is not a multiple of {step} the last step reads past the end",
            Label(condition.start, condition.end),
            [Label(access.start, access.end, f"{step} elements at once")],
            helps=[Help(f"loop to `{text} - {step - 1}`, then do the tail one by one")],
        )

    def is_multiple(self, value: Value, of: int, depth: int) -> bool:
        """Is the value sure to be a multiple?"""
        if depth == 0:
            return False
        args = value.args

        def divides(operand: Value) -> bool:
            return self.is_multiple(operand, of, depth - 1)

        match value.op:
            case "const":
                return value.attr % of == 0
            case "convert" | "reinterpret":
                return divides(args[0])
            case "mul":
                return any(divides(a) for a in args)
            case "and" if of & (of - 1) == 0:
                return any(divides(a) for a in args)
            case "shl":
                return (args[1].op == "const" and (1 << args[1].attr) % of == 0) or divides(args[0])
            case "sub" if args[1].op == "rem" and _same(args[0], args[1].args[0]):
                return args[1].args[1].op == "const" and args[1].args[1].attr % of == 0
            case "add" | "sub" | "min" | "max":
                return all(divides(a) for a in args)
            case "select":
                return divides(args[1]) and divides(args[2])
            case "get":
                stored = self.survey.sets.get(value.attr, [])
                return bool(stored) and all(divides(store.args[0]) for store in stored)
            case _:
                return False

    # ---- sums

    def report_sums(self, counted: Counted) -> None:
        """A dot that adds into its own accumulator in every turn, where the turns are known and too many."""
        if counted.bound.op != "const":
            return
        turns = max(0, -(-(counted.bound.attr - counted.start) // counted.step))
        for item in counted.loop.body:
            if not isinstance(item, Value) or item.op != "set" or not _adds_into(item):
                continue
            dot = item.args[0]
            self.ranges = self.ranges or Ranges(self.function)
            products = 4 if dot.attr.name == "dotAccum" else lanes_of(dot.args[0].type)
            ends = [abs(x * y) for x in self.ranges.of(dot.args[0]) for y in self.ranges.of(dot.args[1])]
            most = INT32.high // (products * max(ends)) if max(ends) else turns
            if turns > most:
                kind = element_of(dot.args[0].type)
                self.reporter.report(
                    r.SUM_RANGE,
                    f"this sum can leave the range of `int32` after {most} steps"
                    f" ({_NUMBERS.get(products, products)} {kind} products each, worst case)",
                    Label(dot.start, dot.end, f"{turns} steps"),
                    [Label(item.start, item.end, "the accumulator")],
                    helps=[Help("split the loop, or add into `int64`")],
                )


def _adds_into(store: Value) -> bool:
    """Is it `acc = a.dot(b, acc)`?"""
    dot = store.args[0]
    if dot.op != "method" or dot.attr.name not in DOT_NAMES or len(dot.args) != 3:
        return False
    return dot.args[2].op == "get" and dot.args[2].attr is store.attr


_NUMBERS = {4: "four", 8: "eight"}


def _find_access(counted: Counted) -> Value | None:
    """A vector of as many elements as the step, at the counter plus something."""
    for item in walk(counted.loop.body):
        if not isinstance(item, Value) or item.op not in ("load", "store"):
            continue
        type = item.type if item.op == "load" else item.args[2].type
        if isinstance(type, Vector) and type.lanes == counted.step and _adds(item.args[1], counted.slot):
            return item
    return None


def _leaves_room(bound: Value, step: int) -> bool:
    """`K - 63` with a step of 64: the loop stops before a step that would not fit."""
    while bound.op in ("convert", "reinterpret"):
        bound = bound.args[0]
    if bound.op not in ("sub", "add") or bound.args[1].op != "const":
        return False
    less = bound.args[1].attr if bound.op == "sub" else -bound.args[1].attr
    return less >= step - 1


def _extent(value: Value) -> tuple[int, int]:
    """The source text of a value and of what it is made of: an operator's own place is the operator."""
    start, end = value.start, value.end
    work = list(value.args)
    while work:
        part = work.pop()
        start, end = min(start, part.start), max(end, part.end)
        work += part.args
    return start, end


def _adds(index: Value, slot: Slot) -> bool:
    """Is the index the variable, or a sum or difference with it?"""
    work = [index]
    while work:
        value = work.pop()
        if value.op == "get" and value.attr is slot:
            return True
        if value.op in ("add", "convert", "reinterpret"):
            work += value.args
        elif value.op == "sub":
            work.append(value.args[0])
    return False


def _same(a: Value, b: Value) -> bool:
    """Surely the same number: one value, or one variable read twice in an expression."""
    return a is b or (a.op == b.op == "get" and a.attr is b.attr)
