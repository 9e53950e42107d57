"""Functions as stretches of steps: structured statements become jumps, values become places in a frame.

A step is a closure over a frame, which is a list: the coordinates of the work item, the parameters, then every value and
slot. Constants are in the frame from the start. A stretch ends in one of `Go`, `Branch`, `Enter`, `Leave` and `Meet`;
`execute.py` follows them, so that no nesting or calling of the program becomes a recursion of the interpreter.
"""

from __future__ import annotations

from cajeta_dot.ir import Barrier, Break, Continue, If, Loop, Return, Value
from cajeta_dot.record import record
from cajeta_dot.reference.evaluate import EVALUATE, Setting
from cajeta_dot.types import Array, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cajeta_dot.ir import Block, Function, Item, Program, Slot

    Frame = list[Any]
    Step = Callable[[Frame], None]

COORDINATES_AT = 0  # the place of the work item's coordinates in every frame


class Stretch:
    """Steps that happen one after another, and what comes then."""

    __slots__ = ("end", "steps")

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.end: End = Leave(None)


class Code:
    """A function ready to run. `frame` is copied for every call; the parameters are at 1, 2, … in it.

    `shared` are the places of arrays of which every workgroup has one of its own.
    """

    __slots__ = ("entry", "frame", "function", "setting", "shared")

    def __init__(self, function: Function, setting: Setting):
        self.function, self.setting = function, setting
        self.entry = Stretch()
        self.frame: Frame = [None] * (1 + len(function.params))
        self.shared: list[tuple[int, Array]] = []


@record
class Go:
    """On to another stretch."""

    to: Stretch


@record
class Branch:
    """By the boolean at a place."""

    place: int
    yes: Stretch
    no: Stretch


@record
class Enter:
    """Call: the places of the operands, where the result goes, what follows, where in the source it stands."""

    code: Code
    operands: tuple[int, ...]
    place: int
    then: Stretch
    start: int


@record
class Leave:
    """Return, with what is at a place."""

    place: int | None


@record
class Meet:
    """Wait for the other work items of the workgroup."""

    then: Stretch


End = Go | Branch | Enter | Leave | Meet


def translate(program: Program, checks: bool) -> dict[Function, Code]:
    """Every function of a verified program, its methods not yet expanded."""
    setting = Setting(program.source, checks)
    codes: dict[Function, Code] = {}
    for function in program.functions:
        codes[function] = Code(function, setting)
        _Flow(codes[function], codes).body()
    return codes


class _Flow:
    """One function on its way. `now` is the stretch that grows, `loops` where break and continue lead, innermost last."""

    def __init__(self, code: Code, codes: dict[Function, Code]):
        self.code, self.codes, self.now = code, codes, code.entry
        self.places: dict[Value | Slot, int] = {param: place for place, param in enumerate(code.function.params, 1)}
        self.loops: list[tuple[Stretch, Stretch]] = []

    def body(self) -> None:
        for slot in self.code.function.slots:
            self.reserve(slot)
        self.block(self.code.function.body)

    def reserve(self, thing: Value | Slot, content: Any = None) -> int:
        self.places[thing] = len(self.code.frame)
        self.code.frame.append(content)
        return self.places[thing]

    def go(self, to: Stretch) -> None:
        self.now.end = Go(to)

    def split(self, condition: Value | None, yes: Stretch, no: Stretch) -> None:
        self.now.end = Go(yes) if condition is None else Branch(self.places[condition], yes, no)

    def block(self, block: Block) -> None:
        for item in block:
            if isinstance(item, Value):
                self.value(item)
            elif isinstance(item, If):
                then, otherwise, after = Stretch(), Stretch(), Stretch()
                self.split(item.condition, then, otherwise)
                for start, inside in ((then, item.then), (otherwise, item.otherwise)):
                    self.now = start
                    self.block(inside)
                    self.go_unless_gone(inside, after)
                self.now = after
            elif isinstance(item, Loop):
                test, body, update, after = Stretch(), Stretch(), Stretch(), Stretch()
                self.go(test)
                self.now = test
                self.block(item.test)
                self.split(item.condition, body, after)
                self.loops.append((after, update))
                self.now = body
                self.block(item.body)
                self.go_unless_gone(item.body, update)
                self.loops.pop()
                self.now = update
                self.block(item.update)
                self.split(item.again, test, after)
                self.now = after
            else:
                self.leaf(item)

    def go_unless_gone(self, block: Block, to: Stretch) -> None:
        """On to what follows a block, unless the block ends in a jump of its own."""
        if not (block and isinstance(block[-1], _JUMPS)):
            self.go(to)

    def leaf(self, item: Item) -> None:
        if isinstance(item, Return):
            self.now.end = Leave(None if item.value is None else self.places[item.value])
        elif isinstance(item, Barrier):
            then = Stretch()
            self.now.end = Meet(then)
            self.now = then
        else:
            after, update = self.loops[-1]
            self.go(after if isinstance(item, Break) else update)

    def value(self, value: Value) -> None:
        if value.op == "const":
            self.reserve(value, _spread(value))
            return
        if value.op == "shared":
            assert isinstance(value.type, Array)
            self.code.shared.append((self.reserve(value), value.type))
            return
        operands = tuple(self.places[arg] for arg in value.args)
        if value.op == "call":
            then = Stretch()
            self.now.end = Enter(self.codes[value.attr], operands, self.reserve(value), then, value.start)
            self.now = then
            return
        if value.op == "coordinate":
            operands = (COORDINATES_AT,)
        elif value.op == "get":
            operands = (self.places[value.attr],)
        place = self.places[value.attr] if value.op == "set" else self.reserve(value)
        self.now.steps.append(_make_step(EVALUATE[value.op](value, self.code.setting), place, operands))


def _spread(value: Value) -> Any:
    """The content of a constant; one number for all lanes becomes a tuple."""
    if isinstance(value.type, Vector) and value.attr.__class__ is not tuple:
        return (value.attr,) * value.type.lanes
    return value.attr


_JUMPS = (Return, Break, Continue)


def _make_step(evaluate: Callable[..., Any], place: int, operands: tuple[int, ...]) -> Step:
    """From places of a frame to a place of it."""
    if len(operands) == 1:
        (a,) = operands

        def step(frame: Frame) -> None:
            frame[place] = evaluate(frame[a])
    elif len(operands) == 2:
        a, b = operands

        def step(frame: Frame) -> None:
            frame[place] = evaluate(frame[a], frame[b])
    else:

        def step(frame: Frame) -> None:
            frame[place] = evaluate(*[frame[operand] for operand in operands])

    return step
