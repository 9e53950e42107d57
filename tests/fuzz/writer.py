"""What a random program is written with: the state of a method being written, and the tables from which its parts are drawn.

A table holds rows. A row writes one construct of the language, for the types that it fits; which of the rows that fit is
drawn by weight, and what a program already has becomes less likely. Everything drawn comes from one `Random`, so that a
seed is a program.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cajeta_dot.types import BOOLEAN, FLOAT16, SCALARS, Array, Scalar, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from random import Random

    Shape = Scalar | Vector

T = TypeVar("T")
NUMBERS = [scalar for scalar in SCALARS.values() if scalar.is_number]
INTEGERS = [scalar for scalar in NUMBERS if scalar.is_integer]
KERNEL, DEVICE, HOST = "kernel", "device", "host"


class Limits(NamedTuple):
    """What programs may have: host methods; run-time errors; float operations that Vulkan leaves to the device, and halves;
    types of 64 bits."""

    host: bool = True
    faults: bool = True
    inexact: bool = True
    wide: bool = True

    def take(self, types: Sequence[Scalar]) -> list[Scalar]:
        """Those of them that programs may have."""
        return [type for type in types if (self.inexact or type != FLOAT16) and (self.wide or type.bits < 64)]


# Vulkan has no checks, and promises less of float division and of halves than the language does.
ON_A_GPU = Limits(host=False, faults=False, inexact=False)
WITHOUT_64_BITS = ON_A_GPU._replace(wide=False)


class Expr(NamedTuple):
    """Text of a value. `dynamic`: is it sure that the compiler doesn't know the number? Then it may be a divisor or a count."""

    text: str
    dynamic: bool = True


def join(template: str, *operands: Expr) -> Expr:
    """The operands put in place of `{}`; known only if all of them are."""
    return Expr(template.format(*(operand.text for operand in operands)), any(operand.dynamic for operand in operands))


class Variable(NamedTuple):
    """A local or a scalar parameter. Loop counters and what others rely on are not `writable`."""

    name: str
    type: Shape
    writable: bool = True


class Memory(NamedTuple):
    """The part of an array that may be used: `span` elements from `base` on, which is text, "" for 0."""

    name: str
    element: Scalar
    span: int
    base: str = ""
    writable: bool = False
    is_shared: bool = False
    is_padded: bool = False


class Helper(NamedTuple):
    """A method that others call. An array parameter is followed by a uint32: where the part begins that may be used.

    `span` elements from there on must be in the array, and it must be writable if the helper `writes` any.
    """

    name: str
    kind: str
    parameters: tuple[Shape | Array, ...]
    result: Shape | None
    span: int
    writes: bool
    placed: bool  # does it ask for the work item's coordinates?
    heaped: bool  # does it make arrays?


class Row(NamedTuple):
    """One construct. A leaf has no parts of its own; what is not exact differs on some GPUs."""

    name: str
    weight: float
    fits: Callable[[Writer, Any], bool]
    write: Callable[[Writer, Any, int], Any]
    leaf: bool
    exact: bool


class Table:
    """The rows for one kind of thing."""

    def __init__(self, what: str):
        self.what = what
        self.rows: list[Row] = []

    def row(
        self,
        name: str,
        fits: Callable[[Writer, Any], bool] = lambda w, type: True,
        weight: float = 1.0,
        leaf: bool = False,
        exact: bool = True,
    ) -> Callable[[Callable[[Writer, Any, int], Any]], Callable[[Writer, Any, int], Any]]:
        def add(write: Callable[[Writer, Any, int], Any]) -> Callable[[Writer, Any, int], Any]:
            self.rows.append(Row(f"{self.what}: {name}", weight, fits, write, leaf, exact))
            return write

        return add


NUMBER, TRUTH, VECTOR, MASK, STATEMENT = map(Table, ("number", "boolean", "vector", "mask", "statement"))
TABLES = (NUMBER, TRUTH, VECTOR, MASK, STATEMENT)


class Style(NamedTuple):
    """What a whole program has in common: its types, and how it meets run-time errors.

    `mode` is "guarded" where none can happen, "faulting" where they may, "unchecked" where checks are off.
    """

    limits: Limits
    mode: str
    numbers: Sequence[Scalar]
    lanes: Sequence[int]
    span: int


class Writer:
    """A method being written."""

    def __init__(self, random: Random, style: Style, kind: str, used: Counter[str]):
        self.random, self.style, self.kind, self.used = random, style, kind, used
        self.variables: list[Variable] = []
        self.memories: list[Memory] = []
        self.helpers: list[Helper] = []
        self.constants: list[Variable] = []
        self.result: Shape | None = None
        self.lines: list[str] = []
        self.indent = 2
        self.budget = 0
        self.loops = 0
        self.max_loops = 2
        self.breakable = False
        self.may_return = True
        self.anchor = Expr("0")  # the text of an integer that the compiler can't know
        self.placed = self.heaped = False

    # ---- drawing

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, things: Sequence[T]) -> T:
        return self.random.choice(things)

    def note(self, what: str) -> None:
        """Count a use of something."""
        self.used[what] += 1

    def draw(self, table: Table, type: Any, depth: int) -> Any:
        """What one of the rows that fit writes. Without depth or budget it is one without parts."""
        self.budget -= 1
        leaves = (depth <= 0 or self.budget < 0) and table is not STATEMENT
        inexact = self.style.limits.inexact
        rows = [r for r in table.rows if (r.leaf or not leaves) and (r.exact or inexact) and r.fits(self, type)]
        weights = [row.weight * (0.4 if row.leaf and not leaves else 1) / (1 + self.used[row.name]) for row in rows]
        row = self.random.choices(rows, weights)[0]
        self.note(row.name)
        return row.write(self, type, depth - 1)

    def number(self, type: Scalar, depth: int) -> Expr:
        return self.draw(NUMBER, type, depth)

    def truth(self, depth: int) -> Expr:
        return self.draw(TRUTH, BOOLEAN, depth)

    def vector(self, type: Vector, depth: int) -> Expr:
        return self.draw(VECTOR, type, depth)

    def mask(self, lanes: int, depth: int) -> Expr:
        return self.draw(MASK, lanes, depth)

    def value(self, type: Shape, depth: int) -> Expr:
        """Of exactly that type."""
        self.note(f"type {type.element if isinstance(type, Vector) else type}")
        if isinstance(type, Vector):
            self.note(f"lanes {type.lanes}")
            return self.vector(type, depth)
        return self.number(type, depth) if type.is_number else self.truth(depth)

    def assignable(self, type: Shape, depth: int) -> Expr:
        """Of a type that becomes the wanted one without a cast: any number, or lanes of the other sign."""
        if self.chance(0.6) or type == BOOLEAN:
            return self.value(type, depth)
        if isinstance(type, Vector):
            return self.value(Vector(self.pick(same_width(type.element)), type.lanes), depth)
        return self.value(self.pick(self.numbers), depth)

    def dynamic(self, type: Scalar, depth: int) -> Expr:
        """A number that the compiler can't know."""
        for _ in range(3):
            found = self.number(type, depth)
            if found.dynamic:
                return found
        return join(f"(({type}) {{}})", self.anchor)

    @property
    def numbers(self) -> Sequence[Scalar]:
        """All types that numbers may have."""
        return self.style.limits.take(NUMBERS)

    @property
    def integers(self) -> Sequence[Scalar]:
        return self.style.limits.take(INTEGERS)

    def any_number(self) -> Scalar:
        """A type, mostly one of those that the program is about."""
        return self.pick(self.style.numbers if self.chance(0.7) else self.numbers)

    def any_integer(self) -> Scalar:
        mine = [type for type in self.style.numbers if type.is_integer]
        return self.pick(mine if mine and self.chance(0.6) else self.integers)

    def any_vector(self, element: Scalar | None = None) -> Vector:
        """Often one that a helper gives or a variable has, so that these meet."""
        known = [h.result for h in self.helpers] + [v.type for v in self.variables]
        fitting = [type for type in known if isinstance(type, Vector) and element in (None, type.element)]
        if fitting and self.chance(0.4):
            return self.pick(fitting)
        return Vector(element or self.any_number(), self.pick(self.style.lanes))

    def any_shape(self) -> Shape:
        if self.chance(0.1):
            return BOOLEAN
        return self.any_vector() if self.chance(0.45) else self.any_number()

    def risks(self) -> bool:
        """Shall a division or a lane number be left to chance here?"""
        return self.chance({"guarded": 0.0, "faulting": 0.2, "unchecked": 0.5}[self.style.mode])

    # ---- names

    def variables_of(self, fits: Callable[[Shape], bool], writable: bool = False) -> list[Variable]:
        return [v for v in self.variables if fits(v.type) and (v.writable or not writable)]

    def variable(self, type: Shape, writable: bool = False) -> Variable:
        return self.pick(self.variables_of(lambda t: t == type, writable))

    def has_variable(self, type: Shape, writable: bool = False) -> bool:
        return bool(self.variables_of(lambda t: t == type, writable))

    def memories_of(self, element: Scalar, lanes: int = 1, writable: bool = False) -> list[Memory]:
        """Arrays in which so many elements may be used at once."""
        return [m for m in self.memories if m.element == element and m.span >= lanes and (m.writable or not writable)]

    def fresh(self, letter: str = "v") -> str:
        """A name that is not in scope; blocks beside each other get the same ones. Sometimes that of a constant."""
        live = {v.name for v in self.variables} | {m.name for m in self.memories}
        own = [c.name for c in self.constants if "." not in c.name and c.name not in live]
        if own and letter == "v" and self.chance(0.03):
            self.note("local named like a constant")
            return self.pick(own)
        return next(name for name in (f"{letter}{number}" for number in range(1000)) if name not in live)

    def declare(self, type: Shape, writable: bool = True, letter: str = "v") -> Variable:
        made = Variable(self.fresh(letter), type, writable)
        self.variables.append(made)
        return made

    # ---- lines

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Generator[None]:
        """Lines between braces, whose variables end with them."""
        if head:
            self.line(head)
        self.indent += 1
        variables, memories = len(self.variables), len(self.memories)
        yield
        del self.variables[variables:]
        del self.memories[memories:]
        self.indent -= 1
        self.line(tail)

    def statements(self, count: int, depth: int = 3) -> None:
        for _ in range(count):
            self.budget = self.random.choice((8, 16, 32))
            self.draw(STATEMENT, None, depth)

    # ---- places

    def place(self, memory: Memory, lanes: int, depth: int) -> str:
        """An index at which that many elements may be used, of any integer type. Where faults are wanted, rarely another."""
        room = memory.span - lanes + 1
        if self.style.mode == "faulting" and self.chance(0.08):
            wild = self.dynamic(self.any_integer(), depth)
            return wild.text if self.chance(0.3) else f"((int32) ((uint32) {wild.text} % {room + 2}) - 1)"
        if depth <= 0 or self.chance(0.3):
            inner = str(self.random.randrange(room))
        else:
            type = self.pick([type for type in self.integers if not type.is_signed and type.high >= room])
            inner = f"(({type}) {self.dynamic(self.any_integer(), depth).text} % {room})"
            signed = Scalar("s", type.bits)
            if signed.high >= room and self.chance(0.4):
                inner = f"(({signed}) {inner})"
        return f"({memory.base} + {inner})" if memory.base else inner

    def lane(self, lanes: int, depth: int) -> str:
        """The number of a lane, of any integer type."""
        if self.chance(0.4):
            return str(self.random.randrange(lanes))
        index = self.dynamic(self.any_integer(), depth).text
        return index if self.risks() else f"((uint32) {index} % {lanes})"


def same_width(element: Scalar) -> list[Scalar]:
    """Types of as many bits between which only the reading differs."""
    return [element] if element.is_float else [type for type in INTEGERS if type.bits == element.bits]


def common(a: Scalar, b: Scalar) -> Scalar:
    """The type at which a binary operation of two values works (LANGUAGE.md section 4)."""
    if a.is_float or b.is_float:
        return Scalar("f", max(type.bits for type in (a, b) if type.is_float))
    return Scalar("u" if "u" in (a.kind, b.kind) else "s", max(a.bits, b.bits))


def at(memory: Memory) -> str:
    """Where the usable part of an array begins, as an argument."""
    return memory.base or "0"
