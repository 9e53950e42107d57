"""The intermediate representation: structured, typed, small.

A function is a block; a block is a list of values and of the statements `If`, `Loop`, `Break`, `Continue`, `Return` and
`Barrier`, in the order in which they happen. Locals of the program are `Slot`s with get and set; there is no phi. A value
may be used by everything behind it in its own block and in the blocks inside. An opcode says what, the types of its
operands say how: there is one `shr`, and its operand's signedness decides which. Everything is defined (LANGUAGE.md), so
there is no `undef` and no assumption that nothing overflows.

`OPS` is the list of opcodes and what each asks of its operands; `passes/verify.py` holds every function to it.
"""

from __future__ import annotations

from .types import BOOLEAN, INT64, VOID, Scalar, Type, Vector, element_of, with_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .source import Source

    Block = list["Item"]


class Value:
    """One operation and what it makes. `start` and `end` are the source text that asked for it."""

    __slots__ = ("args", "attr", "end", "op", "start", "type")

    def __init__(self, op: str, type: Type, args: tuple[Value, ...] = (), attr: Any = None, start: int = 0, end: int = 0):
        self.op, self.type = op, type  # in pairs, for which no tuple is made: this is what compiling makes most of
        self.args, self.attr = args, attr
        self.start, self.end = start, end

    def __repr__(self) -> str:
        return f"<{self.op} {self.type}>"


class Slot:
    """A local variable: what `get` and `set` name in their attribute. Compared by identity."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: Scalar | Vector):
        self.name, self.type = name, type


class If:
    __slots__ = ("condition", "otherwise", "then")

    def __init__(self, condition: Value, then: Block, otherwise: Block):
        self.condition, self.then, self.otherwise = condition, then, otherwise


class Loop:
    """`test`, leave unless `condition`; `body`; `update`, leave unless `again`; and once more.

    A missing condition is true. `Continue` in the body goes to `update`. `condition` is a value of `test` or of a block
    around the loop, `again` one of `update` or around. What the body defines is not visible in `update`. `rare`: another
    loop before it has mostly done all of its work; nothing depends on whether that is so.
    """

    __slots__ = ("again", "body", "condition", "rare", "test", "update")

    def __init__(
        self,
        test: Block,
        condition: Value | None,
        body: Block,
        update: Block,
        again: Value | None = None,
        rare: bool = False,
    ):
        self.test, self.condition, self.body, self.update, self.again = test, condition, body, update, again
        self.rare = rare


class Break:
    """Leave the innermost loop. Nothing stands behind it in its block."""

    __slots__ = ()


class Continue:
    """On to the update of the innermost loop. Nothing stands behind it in its block."""

    __slots__ = ()


class Return:
    """Leave the function. Nothing stands behind it in its block."""

    __slots__ = ("value",)

    def __init__(self, value: Value | None = None):
        self.value = value


class Barrier:
    """All work items of the workgroup meet here."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int):
        self.start, self.end = start, end


Item = Value | If | Loop | Break | Continue | Return | Barrier


class Function:
    """A method that is compiled. `kind` is kernel, device or host.

    `name` is what the user says (`Class.method`), `symbol` what object files say: letters, digits, `_`, `$`, `.`.
    `params` are values with opcode `param`. A kernel returns `VOID`. `fast_math` allows float contraction.
    """

    def __init__(self, name: str, symbol: str, kind: str, params: Sequence[Value], result: Type, start: int = 0, end: int = 0):
        self.name, self.symbol, self.kind, self.result = name, symbol, kind, result
        self.params = tuple(params)
        self.slots: list[Slot] = []
        self.body: Block = []
        self.fast_math = False
        self.start, self.end = start, end

    @property
    def signature(self) -> str:
        """`int32 Class.method(int8[] v, int32 n)`, as a source would say it; a kernel's without a result."""
        result = "" if self.kind == "kernel" else f"{self.result} "
        return f"{result}{self.name}({', '.join(f'{param.type} {param.attr}' for param in self.params)})"

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>"


class Program:
    """What a file became. Kernels and host methods can be called from outside, device methods only from these.

    `functions` holds callees before their callers. `names` maps what a user may say to an entry.
    """

    def __init__(self, source: Source, functions: Sequence[Function], names: dict[str, Function]):
        self.source, self.functions, self.names = source, list(functions), names

    @property
    def entries(self) -> list[Function]:
        """Kernels and host methods, in the order of the file."""
        return sorted((f for f in self.functions if f.kind != "device"), key=lambda f: f.start)


# ---- opcodes

# Opcode -> (number of operands or None, rule). The rules are the functions of passes/verify.py with these names.
OPS: dict[str, tuple[int | None, str]] = {
    "const": (0, "constant"),  # attr: an int, float or bool, also for all lanes; or a tuple, one for each lane
    "param": (0, "anything"),  # attr: the name
    "add": (2, "numbers"), "sub": (2, "numbers"), "mul": (2, "numbers"),
    "div": (2, "numbers"),  # integers: toward zero; x/0 is 0, MIN/-1 is MIN
    "rem": (2, "numbers"),  # sign of the dividend; x%0 is 0, MIN%-1 is 0
    "min": (2, "numbers"), "max": (2, "numbers"),  # floats: a NaN loses
    "and": (2, "bits"), "or": (2, "bits"), "xor": (2, "bits"),  # integers, booleans, masks
    "shl": (2, "integers"), "shr": (2, "integers"),  # every count is in 0..width-1; shr copies the sign of a signed type
    "rotate_left": (2, "integers"), "rotate_right": (2, "integers"),  # count modulo the width
    "count_ones": (1, "integers"), "reverse_bits": (1, "integers"),
    "neg": (1, "numbers"), "not": (1, "bits"), "abs": (1, "numbers"),
    "floor": (1, "floats"), "ceil": (1, "floats"), "trunc": (1, "floats"), "sqrt": (1, "floats"),
    "round": (1, "floats"),  # ties away from zero
    "fma": (3, "floats"),  # one rounding
    "eq": (2, "comparison"), "ne": (2, "comparison"),
    "lt": (2, "comparison"), "le": (2, "comparison"), "gt": (2, "comparison"), "ge": (2, "comparison"),
    "convert": (1, "conversion"),  # the number, in other elements: low bits; toward zero and saturating from float to integer
    "reinterpret": (1, "same_size"),  # the bits, in other elements; lane 0 is the low end
    "select": (3, "selection"),  # condition, if true, if false; boolean, or a mask lane by lane
    "splat": (1, "splat"), "build": (None, "build"),
    "extract": (1, "lane"),  # attr: the lane
    "extract_at": (2, "lane_at"),  # vector, index of any integer type; outside: run-time error, or modulo the lanes
    "insert": (2, "lane"),  # vector, element
    "insert_at": (3, "lane_at"),  # vector, index, element
    "shuffle": (2, "shuffle"),  # attr: for each lane its place in the two vectors end to end
    # attr of dot: COPY where a pass has made it of another that stays, otherwise None
    "dot": (3, "dot"),  # w, x: 4n bytes, each read by its own signedness; acc: n lanes of int32, or one that takes all; wraps
    "sum": (1, "sum"),  # lanes in order from lane 0; integers of 32 and 64 bits, floats
    "any": (1, "mask"), "all": (1, "mask"),
    # attr of load and store: INSIDE where the access is known to be in its array, otherwise None
    "load": (2, "load"),  # array, index of any integer type -> element, or a vector of neighbours
    "store": (3, "store"),  # array, index, element or vector
    "length": (1, "length"),  # array -> int64
    "allocate": (1, "allocate"),  # length -> zeroed array; host methods only
    "shared": (0, "shared"),  # attr: a name -> array of known length, one for each workgroup, not initialized; kernels only
    "get": (0, "get"), "set": (1, "set"),  # attr: the slot
    "call": (None, "call"),  # attr: the function
    "coordinate": (0, "coordinate"),  # attr: one of COORDINATES -> uint32
    "method": (None, "method"),  # attr: a row of check/methods.py or check/builtins.py; gone after passes/expand.py
}  # fmt: skip

INSIDE, COPY = "inside", "copy"
COORDINATES = tuple(f"{what}.{axis}" for what in ("global", "local", "group", "size") for axis in "xyz")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
# What else an operation does than make its value. All others may be dropped, repeated and moved.
EFFECTS = frozenset({"store", "set", "call", "allocate"})
READS = frozenset({"load", "get"})


def can_fault(value: Value) -> bool:
    """May this operation itself be a run-time error where checks are on? A scalar division by a known divisor may not."""
    if value.op in ("div", "rem"):
        divisor = value.args[1]
        known = divisor.op == "const" and divisor.attr not in (0, -1)
        return isinstance(value.type, Scalar) and value.type.is_integer and not known
    if value.op in ("load", "store"):
        return value.attr != INSIDE
    return value.op in ("extract_at", "insert_at", "allocate")


def is_pure(value: Value) -> bool:
    """Does it only compute, without reading what could change and without faulting?"""
    return value.op not in EFFECTS and value.op not in READS and not can_fault(value)


def nested_blocks(item: Item) -> tuple[Block, ...]:
    """The blocks inside a statement, in order."""
    if isinstance(item, If):
        return item.then, item.otherwise
    if isinstance(item, Loop):
        return item.test, item.body, item.update
    return ()


def walk(block: Block) -> Iterator[Item]:
    """Everything in a block and in the blocks inside, in the order of the text. No recursion: nesting may be deep."""
    work: list[Iterator[Item]] = [iter(block)]
    while work:
        for item in work[-1]:
            yield item
            if item.__class__ is Value:  # as nearly all are
                continue
            inside = nested_blocks(item)
            if inside:
                work.extend(iter(b) for b in reversed(inside))
                break
        else:
            work.pop()


def values_in(block: Block) -> Iterator[Value]:
    """The values of a block and of the blocks inside, in the order of the text."""
    return (item for item in walk(block) if isinstance(item, Value))


def lanes_of_constant(attr: Any) -> list[Any]:
    """The lanes of a constant; one number that stands for all of them is there once."""
    return list(attr) if attr.__class__ is tuple else [attr]


class Builder:
    """Appends to a block. Every method returns the value it has appended; shapes are the caller's business."""

    def __init__(self, block: Block, start: int = 0, end: int = 0):
        self.block, self.start, self.end = block, start, end

    def emit(self, op: str, type: Type, *args: Value, attr: Any = None) -> Value:
        value = Value(op, type, args, attr, self.start, self.end)
        self.block.append(value)
        return value

    def const(self, type: Scalar | Vector, content: Any) -> Value:
        value = Value("const", type, (), content, self.start, self.end)
        self.block.append(value)
        return value

    def binary(self, op: str, a: Value, b: Value) -> Value:
        """Two operands of one type, and the result of that type too."""
        return self.emit(op, a.type, a, b)

    def unary(self, op: str, a: Value) -> Value:
        return self.emit(op, a.type, a)

    def compare(self, op: str, a: Value, b: Value) -> Value:
        assert isinstance(a.type, (Scalar, Vector))
        return self.emit(op, with_element(a.type, BOOLEAN), a, b)

    def convert(self, a: Value, element: Scalar) -> Value:
        """The same numbers in another element type; integers of equal width are only read otherwise."""
        assert isinstance(a.type, (Scalar, Vector))
        old = a.type.element
        if old is element:
            return a
        same_bits = old.is_integer and element.is_integer and old.bits == element.bits
        return self.emit("reinterpret" if same_bits else "convert", with_element(a.type, element), a)

    def reinterpret(self, a: Value, type: Type) -> Value:
        return a if a.type == type else self.emit("reinterpret", type, a)

    def splat(self, a: Value, lanes: int) -> Value:
        return self.emit("splat", Vector(element_of(a.type), lanes), a)

    def extract(self, a: Value, lane: int) -> Value:
        return self.emit("extract", element_of(a.type), a, attr=lane)

    def shuffle(self, a: Value, b: Value, picks: Sequence[int]) -> Value:
        return self.emit("shuffle", Vector(element_of(a.type), len(picks)), a, b, attr=tuple(picks))

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        return self.emit("select", a.type, condition, a, b)

    def dot(self, w: Value, x: Value, acc: Value) -> Value:
        return self.emit("dot", acc.type, w, x, acc)

    def scalar_dot(self, w: Value, x: Value, acc: Value) -> Value:
        """All lanes into one int32."""
        return self.extract(self.dot(w, x, self.splat(acc, 1)), 0)

    def load(self, array: Value, index: Value, type: Type) -> Value:
        return self.emit("load", type, array, index)

    def store(self, array: Value, index: Value, value: Value) -> Value:
        return self.emit("store", VOID, array, index, value)

    def length(self, array: Value) -> Value:
        return self.emit("length", INT64, array)

    def get(self, slot: Slot) -> Value:
        value = Value("get", slot.type, (), slot, self.start, self.end)
        self.block.append(value)
        return value

    def set(self, slot: Slot, value: Value) -> Value:
        return self.emit("set", VOID, value, attr=slot)


def size_of(type: Type) -> int:
    """Bits of a value in a register."""
    return element_of(type).bits * (type.lanes if isinstance(type, Vector) else 1)
