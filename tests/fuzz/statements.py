"""The rows for statements (LANGUAGE.md section 5). Every loop ends: what counts its turns is written by nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cajeta_dot.types import BOOLEAN, INT8, INT32, UINT8, Scalar, Vector

from .reduce import TURN
from .scalars import BITWISE, SHIFTS, callable_for, pick_operator, write_call
from .writer import HOST, STATEMENT, Memory, Variable, join

if TYPE_CHECKING:
    from .writer import Expr, Shape, Writer

TURNS = 4  # of one loop, at most


def any_writable(w: Writer) -> list[Variable]:
    return w.variables_of(lambda t: True, writable=True)


# ---- declarations


@STATEMENT.row("declaration", weight=7)
def declaration(w: Writer, _: None, depth: int) -> None:
    type = w.any_shape()
    store = "#=" if w.chance(0.05) else "="
    value = w.assignable(type, depth)
    w.line(f"{type} {w.declare(type).name} {store} {value.text};")


@STATEMENT.row("declarations")
def declarations(w: Writer, _: None, depth: int) -> None:
    type = w.any_shape()
    first = w.assignable(type, depth).text
    name = w.declare(type).name
    second = w.assignable(type, depth).text  # the first may be used in the second
    w.line(f"{type} {name} = {first}, {w.declare(type).name} = {second};")


@STATEMENT.row("assigned later")
def assigned_later(w: Writer, _: None, depth: int) -> None:
    """Declared without a value, which every path then gives."""
    type = w.any_shape()
    condition, then, otherwise = w.truth(depth).text, w.assignable(type, depth).text, w.assignable(type, depth).text
    name = w.declare(type, letter="t").name  # not a constant's name: the values may use that
    w.line(f"{type} {name};")
    w.line(f"if ({condition}) {{ {name} = {then}; }} else {{ {name} = {otherwise}; }}")


def parameters(w: Writer) -> list[Memory]:
    return [m for m in w.memories if not m.is_shared]


@STATEMENT.row("array alias", lambda w, _: bool(parameters(w)), weight=0.5)
def alias(w: Writer, _: None, depth: int) -> None:
    memory = w.pick(parameters(w))
    name = w.fresh("a")
    spelled = f"{memory.element}[]" if w.kind == HOST else f"KernelBuffer<{memory.element}>"
    w.line(f"{spelled} {name} = {memory.name};")
    w.memories.append(memory._replace(name=name))


@STATEMENT.row("heap array", lambda w, _: w.kind == HOST)
def heap_array(w: Writer, _: None, depth: int) -> None:
    w.heaped = True
    element = w.any_number()
    name = w.fresh("h")
    length = w.style.span + w.random.randrange(4)
    text = f"(int32) ({w.dynamic(INT32, 0).text} & 0) + {length}" if w.chance(0.3) else str(length)
    w.line(f"{element}[] {name} = heap {element}[{text}];")
    w.memories.append(Memory(name, element, w.style.span, writable=True))


# ---- assignments


@STATEMENT.row("assignment", lambda w, _: bool(any_writable(w)), weight=4)
def assignment(w: Writer, _: None, depth: int) -> None:
    target = w.pick(any_writable(w))
    store = "#=" if w.chance(0.05) else "="
    w.line(f"{target.name} {store} {w.assignable(target.type, depth).text};")


def compound_operator(w: Writer, type: Scalar) -> str:
    """Those that need no care with the right side."""
    if type == BOOLEAN:
        return pick_operator(w, BITWISE) + "="
    return pick_operator(w, ("+", "-", "*") if type.is_float else ("+", "-", "*", *BITWISE)) + "="


def compound_right(w: Writer, type: Scalar, op: str, depth: int) -> Expr:
    """A number of another type too: what comes out is cast back."""
    if type == BOOLEAN:
        return w.truth(depth)
    others = w.numbers if op in ("+=", "-=", "*=") else w.integers
    return w.number(type if w.chance(0.5) else w.pick(others), depth)


def guarded_divisor(w: Writer, type: Scalar, depth: int) -> Expr:
    if type.is_float:
        return w.number(type, depth)
    other = w.any_integer()
    return w.dynamic(type, depth) if w.risks() else join("(({} & 62) | 1)", w.number(other, depth))


@STATEMENT.row("compound assignment", lambda w, _: bool(any_writable(w)), weight=4)
def compound(w: Writer, _: None, depth: int) -> None:
    target = w.pick(any_writable(w))
    if isinstance(target.type, Vector):
        compound_of_lanes(w, target.name, target.type, depth)
    else:
        compound_of_scalar(w, target.name, target.type, depth)


def compound_of_scalar(w: Writer, place: str, type: Scalar, depth: int) -> None:
    if type.is_integer and w.chance(0.25):
        op, right = pick_operator(w, SHIFTS) + "=", w.dynamic(w.any_integer(), depth)
    elif type.is_number and w.chance(0.2) and (type.is_integer or w.style.limits.inexact):
        op, right = pick_operator(w, ("/", "%")) + "=", guarded_divisor(w, type, depth)
    else:
        op = compound_operator(w, type)
        right = compound_right(w, type, op, depth)
    w.line(f"{place} {op} {right.text};")


def compound_of_lanes(w: Writer, name: str, type: Vector, depth: int) -> None:
    if type.element.is_integer and w.chance(0.25):
        w.line(f"{name} {pick_operator(w, SHIFTS)}= {w.dynamic(w.any_integer(), depth).text};")
        return
    op = compound_operator(w, type.element)
    right = w.vector(type, depth) if w.chance(0.7) else w.number(w.any_number(), depth)
    w.line(f"{name} {op} {right.text};")


def steppable(w: Writer) -> list[Variable]:
    return w.variables_of(lambda t: isinstance(t, Vector) or t.is_number, writable=True)


@STATEMENT.row("step", lambda w, _: bool(steppable(w)), weight=2)
def step(w: Writer, _: None, depth: int) -> None:
    name = w.pick(steppable(w)).name
    w.line(w.pick((f"{name}++;", f"{name}--;", f"++{name};", f"--{name};")))


def has_lanes(w: Writer, _: None) -> bool:
    return bool(w.variables_of(lambda t: isinstance(t, Vector), writable=True))


@STATEMENT.row("lane store", has_lanes, weight=4)
def lane_store(w: Writer, _: None, depth: int) -> None:
    target = w.pick(w.variables_of(lambda t: isinstance(t, Vector), writable=True))
    type = target.type
    assert isinstance(type, Vector)
    if w.chance(0.3):
        place = f"{target.name}.{w.pick('xyzw'[: type.lanes] + 'rgba'[: type.lanes])}"
    else:
        place = f"{target.name}[{w.lane(type.lanes, depth)}]"
    if w.chance(0.6):
        w.line(f"{place} = {w.assignable(type.element, depth).text};")
    else:
        compound_of_scalar(w, place, type.element, depth)


# ---- memory


def writable_memories(w: Writer) -> list[Memory]:
    return [m for m in w.memories if m.writable]


@STATEMENT.row("element store", lambda w, _: bool(writable_memories(w)), weight=5)
def element_store(w: Writer, _: None, depth: int) -> None:
    memory = w.pick(writable_memories(w))
    place = f"{memory.name}[{w.place(memory, 1, depth)}]"
    w.note(f"buffer of {memory.element}")
    if w.chance(0.65):
        w.line(f"{place} = {w.assignable(memory.element, depth).text};")
    elif w.chance(0.2) and memory.element.is_number:
        w.line(f"{place}{w.pick(('++', '--'))};")
    else:
        compound_of_scalar(w, place, memory.element, depth)


def number_memories(w: Writer) -> list[Memory]:
    return [m for m in writable_memories(w) if m.element.is_number]


@STATEMENT.row("vstore", lambda w, _: bool(number_memories(w)), weight=6)
def vector_store(w: Writer, _: None, depth: int) -> None:
    memory = w.pick(number_memories(w))
    fitting = [lanes for lanes in (*w.style.lanes, 1, 2, 4) if lanes <= memory.span]
    type = Vector(memory.element, w.pick(fitting))
    w.note(f"buffer of {memory.element}")
    place = w.place(memory, type.lanes, depth)
    w.line(f"{memory.name}.vstore({place}, {w.assignable(type, depth).text});")


# ---- calls


@STATEMENT.row("call", lambda w, _: bool(callable_for(w, None)), weight=3)
def call(w: Writer, _: None, depth: int) -> None:
    w.line(f"{write_call(w, w.pick(callable_for(w, None)), depth).text};")


@STATEMENT.row("nothing", weight=0.3)
def nothing(w: Writer, _: None, depth: int) -> None:
    w.line(w.pick((";", "/* in a comment; /* in another */ x = 1; */", "{ }", "// return;")))


# ---- branches


def body(w: Writer, head: str, depth: int, tail: str = "}") -> None:
    with w.block(head, tail):
        w.statements(w.pick((1, 1, 2, 3)), depth)


@STATEMENT.row("block", lambda w, _: w.indent < 5, weight=0.7)
def block(w: Writer, _: None, depth: int) -> None:
    body(w, "{", depth)


@STATEMENT.row("if", lambda w, _: w.indent < 6, weight=2)
def if_then(w: Writer, _: None, depth: int) -> None:
    body(w, f"if ({w.truth(depth).text}) {{", depth)


@STATEMENT.row("if without braces", lambda w, _: bool(any_writable(w)))
def if_without_braces(w: Writer, _: None, depth: int) -> None:
    target = w.pick(any_writable(w))
    then, otherwise = (f"{target.name} = {w.assignable(target.type, depth).text};" for _ in range(2))
    w.line(f"if ({w.truth(depth).text}) {then} else {otherwise}")


@STATEMENT.row("if else", lambda w, _: w.indent < 5, weight=2)
def if_else(w: Writer, _: None, depth: int) -> None:
    body(w, f"if ({w.truth(depth).text}) {{", depth, tail="} else {")
    if w.chance(0.3):
        w.lines.pop()
        body(w, f"}} else if ({w.truth(depth - 1).text}) {{", depth, tail="} else {")
    body(w, "", depth)


# ---- loops


def may_loop(w: Writer, _: None) -> bool:
    return w.loops < w.max_loops and w.indent < 5


def loop(w: Writer, head: str, depth: int, counter: Variable | None, first: str = "", tail: str = "}") -> None:
    """The body of a loop whose counter can be read in it; `first` is a line of its own."""
    before, w.breakable = w.breakable, True
    w.loops += 1
    with w.block(head, tail):
        if counter:
            w.variables.append(counter)
        if first:
            w.line(f"{first} {TURN}")
        w.statements(w.pick((1, 2, 2, 3)), depth)
    w.loops -= 1
    w.breakable = before


def counter_of(w: Writer, type: Shape | None = None) -> Variable:
    return Variable(w.fresh("k"), type or w.pick(w.integers), writable=False)


@STATEMENT.row("for", may_loop, weight=3)
def for_loop(w: Writer, _: None, depth: int) -> None:
    counter = counter_of(w)
    k, type = counter.name, counter.type
    turns = w.random.randint(1, TURNS)
    bound = str(turns)
    if w.chance(0.4):
        w.note("loop of unknown length")
        bound = f"(({type}) ((uint32) {w.dynamic(w.any_integer(), depth).text} % {turns + 1}))"
        # The bound is computed anew for every turn, and what it reads may change: no more than so many turns all the same.
    low, step = w.random.randint(0, 3), w.random.randint(1, 3)
    also = f" && {w.truth(depth).text}" if w.chance(0.15) else ""
    start, condition, update = w.pick(
        (
            ("0", f"{k} < {bound}", f"{k}++"),
            ("0", f"{k} < {bound}", f"{k} = {k} + 1"),
            (f"{low}", f"{k} < {low + step * turns}", f"{k} += {step}"),
            (f"{turns}", f"{k} > 0", f"{k}--"),
            (f"{turns}", f"{k} >= 1", f"--{k}"),
            ("0", f"{k} <= {bound}", f"++{k}"),
        )
    )
    loop(w, f"for ({type} {k} = {start}; {condition}{also}; {update}) {{", depth, counter)


@STATEMENT.row("for with two counters", may_loop, weight=0.6)
def for_two(w: Writer, _: None, depth: int) -> None:
    counter = counter_of(w, INT32)
    a, b = counter.name, f"{counter.name}b"
    loop(w, f"for (int32 {a} = 0, {b} = {2 * w.random.randint(1, TURNS)}; {a} < {b}; {a}++, {b}--) {{", depth, counter)


@STATEMENT.row("for without a condition", may_loop, weight=0.6)
def for_ever(w: Writer, _: None, depth: int) -> None:
    counter = counter_of(w, INT32)
    k = counter.name
    head = w.pick((f"for (int32 {k} = 0;;) {{", f"for (int32 {k} = 0; true; ) {{"))
    loop(w, head, depth, counter, first=f"if ({k}++ >= {w.random.randint(1, TURNS)}) {{ break; }}")


@STATEMENT.row("while", may_loop, weight=1.5)
def while_loop(w: Writer, _: None, depth: int) -> None:
    counter = counter_of(w, INT32)
    k = counter.name
    with w.block("{"):
        w.line(f"int32 {k} = {w.random.randint(1, TURNS)};")
        w.variables.append(counter)
        also = f" && {w.truth(depth).text}" if w.chance(0.3) else ""
        loop(w, f"while ({k} > 0{also}) {{", depth, None, first=f"{k} = {k} - 1;")


@STATEMENT.row("do while", may_loop, weight=1.5)
def do_loop(w: Writer, _: None, depth: int) -> None:
    counter = counter_of(w, w.pick((INT32, INT8, UINT8)))
    k = counter.name
    with w.block("{"):
        w.line(f"{counter.type} {k} = {w.random.randint(1, TURNS)};")
        w.variables.append(counter)
        condition = f"{k} > 0" + (f" && {w.truth(depth).text}" if w.chance(0.3) else "")
        loop(w, "do {", depth, None, first=f"{k}--;", tail=f"}} while ({condition});")


@STATEMENT.row("loop over dot products", lambda w, _: may_loop(w, None) and bool(dot_memories(w)), weight=2.5)
def dot_loop(w: Writer, _: None, depth: int) -> None:
    """What the language is for: weights times activations, a vector at a time, added up in lanes."""
    weights, activations = w.pick(dot_memories(w)), w.pick(dot_memories(w))
    span = min(weights.span, activations.span)
    lanes = w.pick([lanes for lanes in (4, 8, 16, 32, 64, 128) if lanes <= span])
    start = w.vector(Vector(INT32, lanes // 4), depth).text
    accumulator = w.declare(Vector(INT32, lanes // 4))
    k = w.fresh("k")
    places = [f"{m.base} + {k}" if m.base else k for m in (weights, activations)]
    loads = [f"{m.name}.vload<{lanes}>({place})" for m, place in zip((weights, activations), places, strict=True)]
    if w.chance(0.3):
        loads[0] = f"({loads[0]} {w.pick(('& 15', '>> 4', '>>> 4', '& 127'))})"
    turns = min(TURNS, span // lanes)
    w.note("loop over dotAccum")
    w.line(f"{accumulator.type} {accumulator.name} = {start};")
    with w.block(f"for (int32 {k} = 0; {k} < {turns * lanes}; {k} += {lanes}) {{"):
        w.line(f"{accumulator.name} = {loads[0]}.dotAccum({loads[1]}, {accumulator.name});")


def dot_memories(w: Writer) -> list[Memory]:
    return [m for m in w.memories if m.element in (INT8, UINT8) and m.span >= 4]


# ---- jumps


@STATEMENT.row("break, continue", lambda w, _: w.breakable, weight=2)
def jump(w: Writer, _: None, depth: int) -> None:
    word = w.pick(("break", "continue"))
    w.note(word)
    w.line(f"if ({w.truth(depth).text}) {{ {word}; }}")


def write_return(w: Writer, depth: int) -> str:
    return f"return {w.assignable(w.result, depth).text};" if w.result else "return;"


@STATEMENT.row("early return", lambda w, _: w.may_return)
def early_return(w: Writer, _: None, depth: int) -> None:
    dead = ""
    if w.chance(0.25) and steppable(w):
        w.note("unreachable code")
        dead = f" {w.pick(steppable(w)).name}++;"
    w.line(f"if ({w.truth(depth).text}) {{ {write_return(w, depth)}{dead} }}")
