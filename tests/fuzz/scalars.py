"""The rows for numbers and booleans (LANGUAGE.md section 4, and what section 6 makes of vectors)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cajeta_dot.types import (
    BOOLEAN,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    Array,
    Scalar,
    Vector,
)

from .values import spell_bare, spell_landing, spell_long, spell_typed
from .writer import HOST, NUMBER, NUMBERS, TRUTH, Expr, at, common, join, same_width

if TYPE_CHECKING:
    from collections.abc import Callable

    from .writer import Helper, Memory, Shape, Writer

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
SHIFTS = ("<<", ">>", ">>>")
BITWISE = ("&", "|", "^")
COORDINATES = tuple(
    f"{name}()"
    for axis in "xyz"
    for name in (f"KernelThread.{axis}", f"Thread.globalId{axis.upper()}", f"Workgroup.{axis}", f"Workgroup.dim{axis.upper()}")
)


def is_integer(w: Writer, type: Scalar) -> bool:
    return type.is_integer


def is_wide_float(w: Writer, type: Scalar) -> bool:
    return type in (FLOAT32, FLOAT64)


def is_one_of(*types: Scalar) -> Callable[[Writer, Scalar], bool]:
    return lambda w, type: type in types


def operators_of(type: Scalar) -> tuple[str, ...]:
    return ("+", "-", "*") if type.is_float else ("+", "-", "*", *BITWISE)


def pick_operator(w: Writer, operators: tuple[str, ...]) -> str:
    op = w.pick(operators)
    w.note(f"operator {op}")
    return op


# ---- leaves


@NUMBER.row("literal", leaf=True)
def literal(w: Writer, type: Scalar, depth: int) -> Expr:
    return Expr(spell_typed(w.random, type), dynamic=False)


@NUMBER.row("variable", lambda w, type: w.has_variable(type), weight=8, leaf=True)
def variable(w: Writer, type: Shape, depth: int) -> Expr:
    return Expr(w.variable(type).name)


def has_number(w: Writer, type: Scalar) -> bool:
    return bool(w.variables_of(lambda t: isinstance(t, Scalar) and t.is_number))


@NUMBER.row("cast variable", has_number, weight=4, leaf=True)
def cast_variable(w: Writer, type: Scalar, depth: int) -> Expr:
    found = w.pick(w.variables_of(lambda t: isinstance(t, Scalar) and t.is_number))
    return Expr(f"(({type}) {found.name})")


@NUMBER.row("constant", lambda w, type: bool(constants_of(w, type)), leaf=True)
def constant(w: Writer, type: Scalar, depth: int) -> Expr:
    return Expr(w.pick(constants_of(w, type)), dynamic=False)


def constants_of(w: Writer, type: Scalar) -> list[str]:
    """Names of constants, but for those that a local hides."""
    live = {v.name for v in w.variables}
    return [c.name for c in w.constants if c.type == type and c.name not in live]


@NUMBER.row("element", lambda w, type: bool(w.memories_of(type)), weight=6, leaf=True)
def element(w: Writer, type: Scalar, depth: int) -> Expr:
    memory = w.pick(w.memories_of(type))
    return Expr(f"{memory.name}[{w.place(memory, 1, depth)}]")


@NUMBER.row("coordinate", lambda w, type: type == UINT32 and w.kind != HOST, weight=8, leaf=True)
def coordinate(w: Writer, type: Scalar, depth: int) -> Expr:
    w.placed = True
    name = w.pick(COORDINATES)
    w.note(f"coordinate {name}")
    return Expr(name)


@NUMBER.row("count", lambda w, type: type == INT64 and bool(w.memories), leaf=True)
def count(w: Writer, type: Scalar, depth: int) -> Expr:
    return Expr(f"{w.pick(w.memories).name}.count()")


# ---- operators


@NUMBER.row("sign", weight=1.5)
def sign(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, ("-", "+") if type.is_float else ("-", "~", "+"))
    return join(f"({op}{{}})", w.number(type, depth))


@NUMBER.row("arithmetic", weight=6)
def arithmetic(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, operators_of(type))
    return join(f"({{}} {op} {{}})", w.number(type, depth), w.number(type, depth))


def partners(type: Scalar) -> list[Scalar]:
    return [other for other in NUMBERS if other != type and common(type, other) == type]


@NUMBER.row("mixed arithmetic", lambda w, type: type != INT8, weight=4)
def mixed_arithmetic(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, operators_of(type))
    other = w.pick([t for t in partners(type) if t in w.numbers])
    sides = [w.number(type, depth), w.number(other, depth)]
    w.random.shuffle(sides)
    return join(f"({{}} {op} {{}})", *sides)


@NUMBER.row("arithmetic with a literal", weight=3)
def arithmetic_with_literal(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, operators_of(type))
    sides = [w.dynamic(type, depth), Expr(spell_bare(w.random, type), dynamic=False)]
    w.random.shuffle(sides)
    return join(f"({{}} {op} {{}})", *sides)


@NUMBER.row("arithmetic with a long literal", is_one_of(INT64))
def arithmetic_with_long(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, operators_of(type))
    narrower = w.pick([t for t in w.integers if t != UINT64])
    sides = [w.dynamic(narrower, depth), Expr(spell_long(w.random), dynamic=False)]
    w.random.shuffle(sides)
    return join(f"({{}} {op} {{}})", *sides)


@NUMBER.row("division", is_integer, weight=3)
def division(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, ("/", "%"))
    dividend = w.number(type, depth)
    if w.risks():
        w.note("unguarded division")
        return join(f"({{}} {op} {w.pick(('{}', '({} & 3)', '({} % 5)'))})", dividend, w.dynamic(type, depth))
    if w.chance(0.3):
        divisor = w.pick((2, 3, 5, 7, 16, 100, 127, *((-2, -3, -128) if type.is_signed else (255, 128))))
        return join(f"({{}} {op} {divisor})", w.dynamic(type, depth))
    return join(f"({{}} {op} (({{}} & {w.pick((1, 7, 62, 126))}) | 1))", dividend, w.number(type, depth))


@NUMBER.row("float division", lambda w, type: type.is_float, weight=2, exact=False)
def float_division(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, ("/", "%"))
    return join(f"({{}} {op} {{}})", w.number(type, depth), w.number(type, depth))


@NUMBER.row("shift by a literal", is_integer, weight=2)
def shift_by_literal(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, SHIFTS)
    return join(f"({{}} {op} {w.random.randrange(type.bits)})", w.number(type, depth))


@NUMBER.row("shift", is_integer, weight=3)
def shift(w: Writer, type: Scalar, depth: int) -> Expr:
    """By any count; the wider of the two widths counts, and the sign of what is shifted."""
    op = pick_operator(w, SHIFTS)
    widths = (type.bits, w.pick([bits for bits in (8, 16, 32, 64) if bits <= type.bits]))
    left, right = widths if w.chance(0.7) else widths[::-1]
    number = w.number(Scalar(type.kind, left), depth)
    return join(f"({{}} {op} {{}})", number, w.dynamic(Scalar(w.pick("su"), right), depth))


@NUMBER.row("shifted literal", is_integer)
def shifted_literal(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, SHIFTS)
    return join(f"({spell_bare(w.random, type)} {op} {{}})", w.dynamic(type, depth))


@NUMBER.row("cast", weight=4)
def cast(w: Writer, type: Scalar, depth: int) -> Expr:
    source = w.any_number()
    if source not in w.numbers:
        source = INT32
    w.note(f"cast {'float' if source.is_float else 'integer'} to {'float' if type.is_float else 'integer'}")
    return join(f"(({type}) {{}})", w.number(source, depth))


@NUMBER.row("choice", weight=2)
def choice(w: Writer, type: Scalar, depth: int) -> Expr:
    condition = w.truth(depth)
    form = w.random.randrange(4)
    if form == 0:
        a, b = spell_landing(w.random, type), spell_landing(w.random, type)
        return join(f"(({type}) ({{}} ? {a} : {b}))", condition)
    if form == 1:
        other = w.any_number()
        return join(f"(({type}) ({{}} ? {{}} : {{}}))", condition, w.number(type, depth), w.number(other, depth))
    return join("({} ? {} : {})", condition, w.number(type, depth), w.number(type, depth))


@NUMBER.row("literal choice beside a number")
def literal_choice(w: Writer, type: Scalar, depth: int) -> Expr:
    a, b = spell_landing(w.random, type), spell_landing(w.random, type)
    return join(f"({{}} {pick_operator(w, operators_of(type))} ({{}} ? {a} : {b}))", w.dynamic(type, depth), w.truth(depth))


@NUMBER.row("assignment as a value", lambda w, type: w.has_variable(type, writable=True))
def assignment_as_value(w: Writer, type: Scalar, depth: int) -> Expr:
    name = w.variable(type, writable=True).name
    if w.chance(0.5):
        op = w.pick(("=", "#=", "+=", "-=", "*="))
        return Expr(f"({name} {op} {w.number(type, depth).text})")
    return Expr(f"({w.pick((f'{name}++', f'{name}--', f'++{name}', f'--{name}'))})")


# ---- built-in functions


@NUMBER.row("Math.abs")
def math_abs(w: Writer, type: Scalar, depth: int) -> Expr:
    return join("Math.abs({})", w.number(type, depth))


@NUMBER.row("Math.min, Math.max")
def math_least(w: Writer, type: Scalar, depth: int) -> Expr:
    """The sign of a zero is left open for floats: a zero added makes it known."""
    call = join(f"Math.{w.pick(('min', 'max'))}({{}}, {{}})", w.number(type, depth), w.number(type, depth))
    return join("({} + 0.0)", call) if type.is_float else call


@NUMBER.row("Math.floor, ceil, trunc, round", is_wide_float, weight=2)
def math_round(w: Writer, type: Scalar, depth: int) -> Expr:
    name = w.pick(("floor", "ceil", "trunc", "round"))
    w.note(f"Math.{name}")
    return join(f"Math.{name}({{}})", w.number(type, depth))


@NUMBER.row("Math.sqrt", is_wide_float, weight=2, exact=False)
def math_root(w: Writer, type: Scalar, depth: int) -> Expr:
    return join("Math.sqrt({})", w.number(type, depth))


@NUMBER.row("Math.fma", is_wide_float, weight=2, exact=False)
def math_fma(w: Writer, type: Scalar, depth: int) -> Expr:
    return join("Math.fma({}, {}, {})", *(w.number(type, depth) for _ in range(3)))


@NUMBER.row("Bits.count", is_one_of(UINT32), weight=2)
def bits_count(w: Writer, type: Scalar, depth: int) -> Expr:
    return join("Bits.count({})", w.number(w.any_integer(), depth))


@NUMBER.row("Bits.reverse, rotate", is_one_of(UINT32, UINT64), weight=2)
def bits_turn(w: Writer, type: Scalar, depth: int) -> Expr:
    given = w.number(w.pick(same_width(type)), depth)
    if w.chance(0.4):
        return join("Bits.reverse({})", given)
    return join(f"Bits.rotate{w.pick(('Left', 'Right'))}({{}}, {{}})", given, w.number(w.any_integer(), depth))


_BITS = {32: ("F32", "f32", INT32), 64: ("F64", "f64", INT64)}


@NUMBER.row("Cajeta.bitsToF32, bitsToF64", is_wide_float)
def bits_to_float(w: Writer, type: Scalar, depth: int) -> Expr:
    name, _, bits = _BITS[type.bits]
    return join(f"Cajeta.bitsTo{name}({{}})", w.number(bits, depth))


@NUMBER.row("Cajeta.f32ToBits, f64ToBits", is_one_of(INT32, INT64))
def float_to_bits(w: Writer, type: Scalar, depth: int) -> Expr:
    """Of numbers only: which NaN an operation makes is left open."""
    name, small, _ = _BITS[type.bits]
    real = Scalar("f", type.bits)
    if w.chance(0.3):
        return join(f"Cajeta.{small}ToBits(Cajeta.bitsTo{name}({{}}))", w.number(type, depth))
    if w.chance(0.5) and w.has_variable(real):
        number = w.variable(real).name
        return Expr(f"Cajeta.{small}ToBits({number} != {number} ? 0.0 : {number})")
    return join(f"Cajeta.{small}ToBits(({real}) {{}})", w.number(w.any_integer(), depth))


# ---- from vectors


@NUMBER.row("lane", weight=4)
def lane(w: Writer, type: Scalar, depth: int) -> Expr:
    shape = w.any_vector(type)
    vector = w.vector(shape, depth)
    if w.chance(0.3):
        return join(f"{{}}.{w.pick('xyzw'[: shape.lanes] + 'rgba'[: shape.lanes])}", vector)
    return Expr(f"{vector.text}[{w.lane(shape.lanes, depth)}]", vector.dynamic)


@NUMBER.row("sum", lambda w, type: type in (INT32, UINT32, INT64, UINT64, FLOAT32, FLOAT64), weight=2)
def lane_sum(w: Writer, type: Scalar, depth: int) -> Expr:
    narrow = [t for t in w.integers if t.bits < 32]
    return join("{}.sum()", w.vector(w.any_vector(w.pick((*narrow, INT32)) if type == INT32 else type), depth))


@NUMBER.row("dot of bytes", is_one_of(INT32), weight=2)
def byte_dot(w: Writer, type: Scalar, depth: int) -> Expr:
    a, b = (w.vector(Vector(w.pick((INT8, UINT8)), 4), depth) for _ in range(2))
    if w.chance(0.4):
        return join("{}.dot({})", a, b)
    return join("{}.dot({}, {})", a, b, w.number(w.pick([t for t in w.integers if t.bits <= 32]), depth))


@NUMBER.row("dotSum", is_one_of(INT32), weight=3)
def dot_sum(w: Writer, type: Scalar, depth: int) -> Expr:
    lanes = w.pick([lanes for lanes in (*w.style.lanes, 4, 16, 32) if lanes % 4 == 0])
    a, b = (w.vector(Vector(w.pick((INT8, UINT8)), lanes), depth) for _ in range(2))
    return join("{}.dotSum({}, {})", a, b, w.number(w.pick([t for t in w.integers if t.bits <= 32]), depth))


@NUMBER.row("dot of floats", is_wide_float)
def float_dot(w: Writer, type: Scalar, depth: int) -> Expr:
    shape = w.any_vector(type)
    return join("{}.dot({})", w.vector(shape, depth), w.vector(shape, depth))


@NUMBER.row("length, distance", is_wide_float, weight=2, exact=False)
def length(w: Writer, type: Scalar, depth: int) -> Expr:
    shape = w.any_vector(type)
    if w.chance(0.5):
        return join("{}.length()", w.vector(shape, depth))
    return join("{}.distance({})", w.vector(shape, depth), w.vector(shape, depth))


# ---- calls


def callable_for(w: Writer, result: Shape | None) -> list[Helper]:
    """Helpers with that result that may be called here, with what is here."""
    return [
        helper
        for helper in w.helpers
        if helper.result == result
        and not (helper.placed and w.kind == HOST)
        and not (helper.heaped and w.kind != HOST)
        and not (helper.kind == HOST and w.kind != HOST and any(isinstance(p, Array) for p in helper.parameters))
        and all(passable(w, helper, p) for p in helper.parameters if isinstance(p, Array))
    ]


def passable(w: Writer, helper: Helper, parameter: Array) -> list[Memory]:
    """Arrays for a parameter; what a workgroup shares can't be passed."""
    return [m for m in w.memories_of(parameter.element, helper.span, helper.writes) if not m.is_shared]


def write_call(w: Writer, helper: Helper, depth: int) -> Expr:
    w.note(f"call of a {helper.kind} method in a {w.kind} method")
    w.placed |= helper.placed
    w.heaped |= helper.heaped
    arguments: list[str] = []
    for parameter in helper.parameters:
        if isinstance(parameter, Array):
            memory = w.pick(passable(w, helper, parameter))
            arguments += [memory.name, at(memory)]
        elif isinstance(parameter, Scalar) and parameter.is_number and w.chance(0.15):
            arguments.append(spell_landing(w.random, parameter))
        else:
            arguments.append(w.assignable(parameter, depth).text)
    return Expr(f"{helper.name}({', '.join(arguments)})")


@NUMBER.row("call", lambda w, type: bool(callable_for(w, type)), weight=8)
def call(w: Writer, type: Shape, depth: int) -> Expr:
    return write_call(w, w.pick(callable_for(w, type)), depth)


# ---- booleans


@TRUTH.row("literal", weight=0.3, leaf=True)
def truth_literal(w: Writer, type: Scalar, depth: int) -> Expr:
    return Expr(w.pick(("true", "false")), dynamic=False)


@TRUTH.row("variable", lambda w, type: w.has_variable(BOOLEAN), weight=3, leaf=True)
def truth_variable(w: Writer, type: Scalar, depth: int) -> Expr:
    return Expr(w.variable(BOOLEAN).name)


@TRUTH.row("element", lambda w, type: bool(w.memories_of(BOOLEAN)), weight=3, leaf=True)
def truth_element(w: Writer, type: Scalar, depth: int) -> Expr:
    return element(w, BOOLEAN, depth)


@TRUTH.row("compared variable", has_number, weight=3, leaf=True)
def compared_variable(w: Writer, type: Scalar, depth: int) -> Expr:
    found = w.pick(w.variables_of(lambda t: isinstance(t, Scalar) and t.is_number))
    assert isinstance(found.type, Scalar)
    return Expr(f"({found.name} {pick_operator(w, COMPARISONS)} {spell_bare(w.random, found.type)})")


@TRUTH.row("comparison", weight=5)
def comparison(w: Writer, type: Scalar, depth: int) -> Expr:
    """Of numbers of any types: the wider width, signed if either is."""
    op = pick_operator(w, COMPARISONS)
    a, b = w.any_number(), w.any_number()
    if w.chance(0.3):
        b = a
    elif w.chance(0.3) and a.is_integer:
        b = w.pick(same_width(a))
        w.note("comparison of mixed signs")
    return join(f"({{}} {op} {{}})", w.number(a, depth), w.number(b, depth))


@TRUTH.row("not")
def negation(w: Writer, type: Scalar, depth: int) -> Expr:
    return join("(!{})", w.truth(depth))


@TRUTH.row("short circuit", weight=3)
def short_circuit(w: Writer, type: Scalar, depth: int) -> Expr:
    op = pick_operator(w, ("&&", "||"))
    return join(f"({f' {op} '.join(['{}'] * w.pick((2, 2, 3)))})", *(w.truth(depth) for _ in range(3)))


@TRUTH.row("bitwise", weight=2)
def truth_bitwise(w: Writer, type: Scalar, depth: int) -> Expr:
    op = w.pick((*BITWISE, "==", "!="))
    return join(f"({{}} {op} {{}})", w.truth(depth), w.truth(depth))


@TRUTH.row("choice")
def truth_choice(w: Writer, type: Scalar, depth: int) -> Expr:
    return join("({} ? {} : {})", *(w.truth(depth) for _ in range(3)))


@TRUTH.row("assignment as a value", lambda w, type: w.has_variable(BOOLEAN, writable=True))
def truth_assignment(w: Writer, type: Scalar, depth: int) -> Expr:
    return join(f"({w.variable(BOOLEAN, writable=True).name} {w.pick(('=', '&=', '|=', '^='))} {{}})", w.truth(depth))


@TRUTH.row("any, all", weight=3)
def any_all(w: Writer, type: Scalar, depth: int) -> Expr:
    return join(f"{{}}.{w.pick(('any', 'all'))}()", w.mask(w.pick(w.style.lanes), depth))


TRUTH.row("call", lambda w, type: bool(callable_for(w, BOOLEAN)), weight=4)(call)
