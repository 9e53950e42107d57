"""Random programs: `make_program(seed)` is a pure function. What is drawn is well-typed, and every loop ends.

A program has two classes with constants and helper methods, and one entry: a kernel, or a host method. What the entry has in
its variables at the end it writes to its arrays, so that no computation goes unseen. Work items do not disturb each other:
each of them writes a part of the arrays of its own.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from cajeta_dot.types import BOOLEAN, INT8, INT32, UINT8, UINT32, Array, Scalar, Vector

from . import statements, vectors  # both fill the tables
from .barriers import write_phases
from .statements import write_return
from .values import make_array, make_number, spell_landing
from .writer import DEVICE, HOST, KERNEL, NUMBERS, Expr, Helper, Limits, Memory, Style, Variable, Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .writer import Shape

EVERYTHING = Limits()
LANES = (1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 7, 8, 8, 12, 16, 16, 16, 17, 20, 24, 32, 32, 33)
MANY_LANES = (48, 64, 64, 100, 128, 255, 256)
MODES = ("guarded", "guarded", "faulting", "unchecked")
MAIN, OTHER = "Main", "Other"
Triple = tuple[int, int, int]
_FILLED = (statements, vectors)


class Program(NamedTuple):
    """What a seed gives. `arguments` must be copied before a call. A host method has no launch: its `grid` is None."""

    seed: int
    text: str
    entry: str
    arguments: tuple[Any, ...]
    grid: Triple | None
    block: Triple
    checks: bool
    used: Counter[str]


def make_program(seed: int, limits: Limits = EVERYTHING) -> Program:
    """The program of a seed: text, arguments, launch, and what of the tables is in it, counted."""
    return _Maker(seed, limits).make()


class _Parameter(NamedTuple):
    """Of the entry. An array has `length` elements for each work item if it is written, in all if it is not."""

    name: str
    type: Shape | Array
    written: bool = False


class _Maker:
    def __init__(self, seed: int, limits: Limits):
        self.seed, self.random = seed, Random(seed)
        self.used: Counter[str] = Counter()
        random = self.random
        numbers = limits.take(NUMBERS)
        lanes = random.choices(LANES, k=3) + ([random.choice(MANY_LANES)] if random.random() < 0.12 else [])
        modes = MODES if limits.faults else ("guarded",)
        mine = [*random.choices(numbers, k=3), random.choice((INT8, UINT8))]
        span = max(lanes) + random.randrange(12)
        self.style = Style(limits, random.choice(modes), mine, lanes, span)
        self.helpers: list[Helper] = []
        self.constants: list[tuple[str, Variable, str]] = []  # class, constant, value
        self.members: dict[str, list[str]] = {OTHER: [], MAIN: []}

    def make(self) -> Program:
        random = self.random
        for owner in (OTHER, MAIN):
            for _ in range(random.randint(0, 2)):
                self.add_constant(owner)
        for _ in range(random.choice((0, 1, 2, 2, 3))):
            self.add_helper(random.choice((OTHER, MAIN)))
        is_host = self.style.limits.host and random.random() < 0.35
        entry = _Entry(self, is_host)
        lines = entry.write()
        text = "\n".join([*self.header(), *self.write_class(OTHER, []), *self.write_class(MAIN, lines), ""])
        checks = self.style.mode != "unchecked"
        self.used[f"mode {self.style.mode}"] += 1
        return Program(self.seed, text, f"{MAIN}.{entry.name}", entry.arguments(), entry.grid, entry.block, checks, self.used)

    def header(self) -> list[str]:
        return ["package fuzz.programs;", "import cajeta.math.Vector;", ""] if self.random.random() < 0.2 else []

    def write_class(self, owner: str, entry: Sequence[str]) -> list[str]:
        constants = [f"    static final {c.type} {c.name} = {value};" for place, c, value in self.constants if place == owner]
        return [f"class {owner} {{", *constants, *self.members[owner], *entry, "}"]

    def writer(self, kind: str, owner: str) -> Writer:
        made = Writer(self.random, self.style, kind, self.used)
        made.helpers = [h for h in self.helpers if kind == HOST or h.kind == DEVICE or not _touches_arrays(h)]
        for place, constant, _ in self.constants:
            name = constant.name if place == owner else f"{place}.{constant.name}"
            made.constants.append(constant._replace(name=name))
        return made

    def add_constant(self, owner: str) -> None:
        type = self.random.choice([*self.style.numbers, INT32])
        earlier = [c for place, c, _ in self.constants if place == owner and c.type == type and type.is_integer]
        value = spell_landing(self.random, type)
        if earlier and self.random.random() < 0.5:
            value = f"{earlier[0].name} {self.random.choice('+-*&|^')} 3"
        name = f"K{sum(place == owner for place, _, _ in self.constants)}"
        self.constants.append((owner, Variable(name, type, writable=False), value))
        self.used["static final constant"] += 1

    # ---- helpers

    def add_helper(self, owner: str) -> None:
        random = self.random
        kind = random.choice((DEVICE, DEVICE, HOST)) if self.style.limits.host else DEVICE
        w = self.writer(kind, owner)
        w.max_loops = 1
        writes = random.random() < 0.4
        parameters: list[Shape | Array] = []
        spelled: list[str] = []
        for place in range(random.randint(1, 4)):
            name = f"p{place}"
            if random.random() < 0.35:
                element = BOOLEAN if self.style.limits.host and random.random() < 0.2 else random.choice(self.style.numbers)
                parameters.append(Array(element, "array"))
                spelled.append(f"{_spell_array(random, kind, element)} {name}, uint32 {name}at")
                w.memories.append(Memory(name, element, self.style.span, f"{name}at", writes))
                w.variables.append(Variable(f"{name}at", UINT32, writable=False))
            else:
                type = w.any_shape()
                parameters.append(type)
                spelled.append(f"{type} {name}")
                w.variables.append(Variable(name, type))
        parameters.append(seed := random.choice(w.integers))
        spelled.append(f"{seed} n")
        w.variables.append(Variable("n", seed, writable=False))
        w.anchor = Expr("n")
        w.result = None if writes and random.random() < 0.5 else w.any_shape()
        w.statements(random.randint(0, 3), depth=2)
        w.budget = 15
        if w.result:
            w.line(write_return(w, 3))
        name = self.name_helper(owner, len(spelled) + sum(isinstance(p, Array) for p in parameters))
        mark = "@Device " if kind == DEVICE else ""
        head = f"    {mark}static {w.result or 'void'} {name}({', '.join(spelled)}) {{"
        self.members[owner] += [head, *w.lines, "    }"]
        full = f"{owner}.{name}"
        self.helpers.append(Helper(full, kind, tuple(parameters), w.result, self.style.span, writes, w.placed, w.heaped))
        self.used[f"{kind} helper"] += 1

    def name_helper(self, owner: str, arity: int) -> str:
        """Sometimes the name of another one, which takes another number of arguments."""
        others = [h.name for h in self.helpers if h.name.startswith(f"{owner}.")]
        if others and self.random.random() < 0.4:
            name = self.random.choice(others)
            if arity not in [_count(h) for h in self.helpers if h.name == name]:
                self.used["overload"] += 1
                return name.partition(".")[2]
        return f"h{len(self.helpers)}"


def _count(helper: Helper) -> int:
    return len(helper.parameters) + sum(isinstance(p, Array) for p in helper.parameters)


def _touches_arrays(helper: Helper) -> bool:
    return any(isinstance(p, Array) for p in helper.parameters)


def _spell_array(random: Random, kind: str, element: Scalar) -> str:
    if kind == HOST:
        return f"{element}[]"
    return random.choice((f"KernelBuffer<{element}>", f"Buffer<{element}>", f"{element}[]"))


class _Entry:
    """The kernel or host method that is run."""

    def __init__(self, maker: _Maker, is_host: bool):
        random = maker.random
        self.maker, self.random, self.style, self.name = maker, random, maker.style, "entry"
        self.kind = HOST if is_host else KERNEL
        self.grid: Triple | None = None
        self.block: Triple = (1, 1, 1)
        if not is_host:
            self.grid, self.block = random.choice(
                (
                    ((1, 1, 1), (1, 1, 1)),
                    ((1, 1, 1), (random.randint(2, 5), 1, 1)),
                    ((random.randint(2, 3), 1, 1), (random.randint(1, 4), 1, 1)),
                    ((1, 2, 1), (2, 1, 2)),
                )
            )
        self.parameters: list[_Parameter] = []
        self.used = maker.used
        self.used[f"{self.kind} entry"] += 1

    @property
    def items(self) -> int:
        grid, block = self.grid or (1, 1, 1), self.block
        return grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]

    def write(self) -> list[str]:
        w = self.maker.writer(self.kind, MAIN)
        random = self.random
        elements = [t for t in w.numbers if t in self.style.numbers]
        for place in range(random.randint(1, 3)):
            self.add_array(w, f"out{place}", random.choice(elements), written=True)
        for place in range(random.randint(1, 3)):
            self.add_array(w, f"in{place}", random.choice(elements), written=False)
        self.add_array(w, "raw", random.choice((INT8, UINT8)), written=False)
        if self.style.limits.host and random.random() < 0.15:
            self.add_array(w, "flags", BOOLEAN, written=False)
        for place in range(random.randint(0, 2)):
            type = BOOLEAN if random.random() < 0.2 else random.choice(elements)
            self.add_scalar(w, f"s{place}", type, writable=True)
        self.add_scalar(w, "n", random.choice(w.integers), writable=False)
        w.anchor = Expr("n")
        with_barrier = self.kind == KERNEL and self.style.mode != "faulting" and random.random() < 0.45
        if self.kind == KERNEL:
            self.write_place(w)
        if self.kind == HOST:
            w.result = random.choice((None, w.any_number(), BOOLEAN))
        w.may_return = not with_barrier
        w.statements(random.randint(3, 9))
        if with_barrier:
            write_phases(w, self.block, [p.name for p in self.parameters if isinstance(p.type, Scalar)])
        slots = self.write_out(w)
        w.budget = 15
        if w.result:
            w.line(write_return(w, 3))
        stride = max(slots.values(), default=0) + self.style.span
        self.stride = stride
        shuffled = self.parameters[:]
        random.shuffle(shuffled)
        self.parameters = shuffled
        mark = "@Kernel " if self.kind == KERNEL else ""
        spelled = ", ".join(
            f"{_spell_array(random, self.kind, p.type.element) if isinstance(p.type, Array) else p.type} {p.name}"
            for p in self.parameters
        )
        constant = [f"    static final int32 STRIDE = {stride};"]
        return [*constant, f"    {mark}static {w.result or 'void'} {self.name}({spelled}) {{", *w.lines, "    }"]

    def add_array(self, w: Writer, name: str, element: Scalar, written: bool) -> None:
        self.parameters.append(_Parameter(name, Array(element, "array"), written))
        base = "mine" if written and self.kind == KERNEL else ""
        w.memories.append(Memory(name, element, self.style.span, base, written))

    def add_scalar(self, w: Writer, name: str, type: Scalar, writable: bool) -> None:
        self.parameters.append(_Parameter(name, type))
        w.variables.append(Variable(name, type, writable))

    def write_place(self, w: Writer) -> None:
        """`mine` is where the part of an array begins that is this work item's own."""
        grid, block = self.grid or (1, 1, 1), self.block
        width, height = grid[0] * block[0], grid[1] * block[1]
        x, y, z = (f"KernelThread.globalId{axis}()" for axis in "XYZ")
        place = x if (width, height) == (self.items, 1) else f"(({z} * {height} + {y}) * {width} + {x})"
        w.line(f"uint32 mine = {place} * STRIDE;")
        w.variables.append(Variable("mine", UINT32, writable=False))

    def write_out(self, w: Writer) -> dict[str, int]:
        """What is in the variables goes to the arrays, behind the part that statements write. How many places each needs."""
        taken: dict[str, int] = {}
        outputs = [p for p in self.parameters if p.written]
        for variable in w.variables:
            if not variable.writable:
                continue
            type = variable.type
            element = type.element if isinstance(type, Vector) else type
            output = next((o for o in outputs if isinstance(o.type, Array) and o.type.element == element), outputs[0])
            assert isinstance(output.type, Array)
            first = taken.get(output.name, 0)
            place = f"{self.style.span + first}"
            if self.kind == KERNEL:
                place = f"mine + {place}"
            wanted = output.type.element
            if isinstance(type, Vector):
                value = variable.name if element == wanted else f"(Vector<{wanted},{type.lanes}>) {variable.name}"
                w.line(f"{output.name}.vstore({place}, {value});")
                taken[output.name] = first + type.lanes
            else:
                value = f"{variable.name} ? 1 : 0" if type == BOOLEAN else f"({wanted}) {variable.name}"
                w.line(f"{output.name}[{place}] = {value};")
                taken[output.name] = first + 1
        return taken

    def arguments(self) -> tuple[Any, ...]:
        made: list[Any] = []
        for parameter in self.parameters:
            if isinstance(parameter.type, Array):
                length = self.items * self.stride if parameter.written else self.style.span + self.random.randrange(5)
                made.append(make_array(self.random, parameter.type.element, length))
            elif isinstance(parameter.type, Scalar):
                made.append(make_number(self.random, parameter.type))
        return tuple(made)
