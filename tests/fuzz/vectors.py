"""The rows for vectors and masks (LANGUAGE.md section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cajeta_dot.types import FLOAT16, FLOAT32, FLOAT64, INT8, INT32, MAX_LANES, UINT8, UINT32, Scalar, Vector

from .scalars import BITWISE, COMPARISONS, SHIFTS, call, callable_for, operators_of, pick_operator
from .values import spell_bare, spell_landing, spell_typed
from .writer import MASK, VECTOR, Expr, join, same_width

if TYPE_CHECKING:
    from .writer import Writer

MAX_DIVIDED, MAX_LISTED = 20, 16  # lanes: divisions are written out one by one, and so are the values of constructors
BYTES = (INT8, UINT8)
WORDS = (INT32, UINT32)
PLACES = ("", "", "heap ", "stack ")


def is_integer(w: Writer, type: Vector) -> bool:
    return type.element.is_integer


def is_wide_float(w: Writer, type: Vector) -> bool:
    return type.element in (FLOAT32, FLOAT64)


def is_few_floats(w: Writer, type: Vector) -> bool:
    return is_wide_float(w, type) and type.lanes <= MAX_DIVIDED


def zero_added(type: Vector, call: Expr) -> Expr:
    """Where the sign of a zero is left open."""
    return join("({} + 0.0)", call) if type.element.is_float else call


def beside(w: Writer, type: Vector, depth: int) -> Expr:
    """What may stand beside lanes in their place: lanes, or a number that goes into each."""
    if w.chance(0.6):
        return w.vector(type, depth)
    if w.chance(0.3):
        return Expr(spell_landing(w.random, type.element), dynamic=False)
    return w.number(type.element if w.chance(0.6) else w.any_number(), depth)


# ---- leaves


@VECTOR.row("splat of a literal", leaf=True)
def splat_literal(w: Writer, type: Vector, depth: int) -> Expr:
    return Expr(f"{type}({spell_landing(w.random, type.element)})", dynamic=False)


@VECTOR.row("list of literals", lambda w, type: type.lanes <= MAX_LISTED, leaf=True)
def literal_list(w: Writer, type: Vector, depth: int) -> Expr:
    values = ", ".join(spell_landing(w.random, type.element) for _ in range(type.lanes))
    return Expr(f"{w.pick(PLACES)}{type}({values})", dynamic=False)


@VECTOR.row("variable", lambda w, type: w.has_variable(type), weight=8, leaf=True)
def variable(w: Writer, type: Vector, depth: int) -> Expr:
    return Expr(w.variable(type).name)


def has_as_many_lanes(w: Writer, type: Vector) -> bool:
    return bool(w.variables_of(lambda t: isinstance(t, Vector) and t.lanes == type.lanes))


@VECTOR.row("cast variable", has_as_many_lanes, weight=3, leaf=True)
def cast_variable(w: Writer, type: Vector, depth: int) -> Expr:
    found = w.pick(w.variables_of(lambda t: isinstance(t, Vector) and t.lanes == type.lanes))
    return Expr(f"(({type}) {found.name})")


@VECTOR.row("vload", lambda w, type: bool(w.memories_of(type.element, type.lanes)), weight=8, leaf=True)
def load(w: Writer, type: Vector, depth: int) -> Expr:
    memory = w.pick(w.memories_of(type.element, type.lanes))
    place = w.place(memory, type.lanes, depth)
    if type == Vector(INT8, 16) and w.chance(0.3):
        w.note("Cajeta.vload16")
        return Expr(f"Cajeta.vload16({memory.name}, {place})")
    return Expr(f"{memory.name}.vload<{type.lanes}>({place})")


# ---- constructors


@VECTOR.row("splat", weight=2)
def splat(w: Writer, type: Vector, depth: int) -> Expr:
    return join(f"{w.pick(PLACES)}{type}({{}})", w.number(type.element if w.chance(0.5) else w.any_number(), depth))


@VECTOR.row("list", lambda w, type: 1 < type.lanes <= MAX_LISTED, weight=2)
def value_list(w: Writer, type: Vector, depth: int) -> Expr:
    values = [w.number(type.element, depth if lane < 2 else 0) for lane in range(type.lanes)]
    w.random.shuffle(values)
    return join(f"{w.pick(PLACES)}{type}({', '.join(['{}'] * type.lanes)})", *values)


# ---- operators


@VECTOR.row("sign", weight=1.5)
def sign(w: Writer, type: Vector, depth: int) -> Expr:
    op = pick_operator(w, ("-", "+") if type.element.is_float else ("-", "~", "+"))
    return join(f"({op}{{}})", w.vector(type, depth))


@VECTOR.row("arithmetic", weight=6)
def arithmetic(w: Writer, type: Vector, depth: int) -> Expr:
    op = pick_operator(w, operators_of(type.element))
    return join(f"({{}} {op} {{}})", w.vector(type, depth), w.vector(type, depth))


@VECTOR.row("arithmetic of mixed signs", lambda w, type: type.element.kind == "u", weight=2)
def mixed_arithmetic(w: Writer, type: Vector, depth: int) -> Expr:
    op = pick_operator(w, operators_of(type.element))
    sides = [w.vector(type, depth), w.vector(Vector(Scalar("s", type.element.bits), type.lanes), depth)]
    w.random.shuffle(sides)
    return join(f"({{}} {op} {{}})", *sides)


@VECTOR.row("arithmetic with a scalar", weight=3)
def scalar_arithmetic(w: Writer, type: Vector, depth: int) -> Expr:
    op = pick_operator(w, operators_of(type.element))
    scalar = Expr(spell_bare(w.random, type.element), dynamic=False)
    if w.chance(0.6):
        scalar = w.number(type.element if w.chance(0.5) else w.any_number(), depth)
    sides = [w.vector(type, depth), scalar]
    w.random.shuffle(sides)
    return join(f"({{}} {op} {{}})", *sides)


@VECTOR.row("division", lambda w, type: is_integer(w, type) and type.lanes <= MAX_DIVIDED, weight=2)
def division(w: Writer, type: Vector, depth: int) -> Expr:
    """By anything: lanes never fault."""
    op = pick_operator(w, ("/", "%"))
    if w.chance(0.3):
        return join(f"({{}} {op} {w.pick((2, 3, 7, 16, 100))})", w.vector(type, depth))
    if w.chance(0.3):
        return join(f"({{}} {op} {{}})", w.vector(type, depth), w.dynamic(type.element, depth))
    divisor = w.vector(type, depth)
    if not divisor.dynamic:  # known lanes must not be 0
        divisor = join("({} | {})", w.vector(type, depth), w.dynamic(type.element, depth))
    return join(f"({{}} {op} {{}})", w.vector(type, depth), divisor)


@VECTOR.row("float division", lambda w, type: type.element.is_float and type.lanes <= MAX_DIVIDED, weight=2, exact=False)
def float_division(w: Writer, type: Vector, depth: int) -> Expr:
    op = pick_operator(w, ("/", "%"))
    return join(f"({{}} {op} {{}})", w.vector(type, depth), w.vector(type, depth))


@VECTOR.row("shift by a literal", is_integer, weight=3)
def shift_by_literal(w: Writer, type: Vector, depth: int) -> Expr:
    op = pick_operator(w, SHIFTS)
    return join(f"({{}} {op} {w.random.randrange(type.element.bits)})", w.vector(type, depth))


@VECTOR.row("shift", is_integer, weight=3)
def shift(w: Writer, type: Vector, depth: int) -> Expr:
    """By a number, lane by lane, or of a number by lanes; any counts."""
    op = pick_operator(w, SHIFTS)
    counts = Vector(w.pick(same_width(type.element)), type.lanes)
    form = w.random.randrange(3)
    if form == 0:
        return join(f"({{}} {op} {{}})", w.vector(type, depth), w.dynamic(w.any_integer(), depth))
    by = w.vector(counts, depth)
    if not by.dynamic:  # known counts must be less than the width
        by = join("({} ^ {})", by, w.dynamic(counts.element, depth))
    if form == 1:
        return join(f"({{}} {op} {{}})", w.vector(type, depth), by)
    return join(f"(({type}) ({{}} {op} {{}}))", w.number(type.element, depth), by)


@VECTOR.row("choice")
def choice(w: Writer, type: Vector, depth: int) -> Expr:
    return join("({} ? {} : {})", w.truth(depth), w.vector(type, depth), w.vector(type, depth))


@VECTOR.row("assignment as a value", lambda w, type: w.has_variable(type, writable=True), weight=2)
def assignment_as_value(w: Writer, type: Vector, depth: int) -> Expr:
    return join(f"({w.variable(type, writable=True).name} {w.pick(('=', '+=', '*='))} {{}})", w.vector(type, depth))


# ---- methods


@VECTOR.row("cast", weight=3)
def cast(w: Writer, type: Vector, depth: int) -> Expr:
    return join(f"(({type}) {{}})", w.vector(Vector(w.pick(w.numbers), type.lanes), depth))


@VECTOR.row("asSigned, asUnsigned", is_integer, weight=2)
def other_reading(w: Writer, type: Vector, depth: int) -> Expr:
    name = "asSigned" if type.element.is_signed else "asUnsigned"
    return join(f"{{}}.{name}()", w.vector(Vector(w.pick(same_width(type.element)), type.lanes), depth))


@VECTOR.row("asWords", lambda w, type: type.element == INT32 and type.lanes * 4 <= MAX_LANES, weight=2)
def as_words(w: Writer, type: Vector, depth: int) -> Expr:
    return join("{}.asWords()", w.vector(Vector(w.pick(BYTES), 4 * type.lanes), depth))


@VECTOR.row("asBytes", lambda w, type: type.element == INT8 and type.lanes % 4 == 0, weight=5)
def as_bytes(w: Writer, type: Vector, depth: int) -> Expr:
    return join("{}.asBytes()", w.vector(Vector(w.pick(WORDS), type.lanes // 4), depth))


def is_widened(w: Writer, type: Vector) -> bool:
    return type.element.is_integer and type.element.bits > 8 and 2 * type.lanes <= MAX_LANES


@VECTOR.row("widenLo, widenHi", is_widened, weight=2)
def widen(w: Writer, type: Vector, depth: int) -> Expr:
    narrow = Vector(Scalar(type.element.kind, type.element.bits // 2), 2 * type.lanes)
    return join(f"{{}}.{w.pick(('widenLo', 'widenHi'))}()", w.vector(narrow, depth))


def is_narrowed(w: Writer, type: Vector) -> bool:
    return type.element.is_integer and 2 * type.element.bits in {t.bits for t in w.integers} and type.lanes % 2 == 0


@VECTOR.row("narrow", is_narrowed, weight=2)
def narrow(w: Writer, type: Vector, depth: int) -> Expr:
    wide = Vector(Scalar(type.element.kind, 2 * type.element.bits), type.lanes // 2)
    return join("{}.narrow({})", w.vector(wide, depth), w.vector(wide, depth))


@VECTOR.row("toF32", lambda w, type: type.element == FLOAT32, weight=5)
def to_float(w: Writer, type: Vector, depth: int) -> Expr:
    others = [t for t in w.numbers if t != FLOAT32]
    return join("{}.toF32()", w.vector(Vector(w.pick(others), type.lanes), depth))


@VECTOR.row("toI32", lambda w, type: type.element == INT32, weight=2)
def to_integer(w: Writer, type: Vector, depth: int) -> Expr:
    reals = [t for t in w.numbers if t.is_float]
    return join("{}.toI32()", w.vector(Vector(w.pick(reals), type.lanes), depth))


@VECTOR.row("toF16", lambda w, type: type.element == FLOAT16, weight=3)
def to_half(w: Writer, type: Vector, depth: int) -> Expr:
    return join("{}.toF16()", w.vector(Vector(w.pick((FLOAT32, FLOAT64)), type.lanes), depth))


@VECTOR.row("bitcastF32", lambda w, type: type.element == FLOAT32, weight=8)
def bits_to_float(w: Writer, type: Vector, depth: int) -> Expr:
    return join("{}.bitcastF32()", w.vector(Vector(w.pick((*WORDS, FLOAT32)), type.lanes), depth))


@VECTOR.row("bitcastI32", lambda w, type: type.element == INT32, weight=2)
def float_to_bits(w: Writer, type: Vector, depth: int) -> Expr:
    """Of numbers only: which NaN an operation makes is left open."""
    real = Vector(FLOAT32, type.lanes)
    if w.chance(0.4):
        return join("{}.bitcastF32().bitcastI32()", w.vector(type, depth))
    if w.chance(0.4) and w.has_variable(real):
        name = w.variable(real).name
        return Expr(f"({name} == {name}).select({name}, 0.0).bitcastI32()")
    return join("{}.toF32().bitcastI32()", w.vector(Vector(w.pick(w.integers), type.lanes), depth))


@VECTOR.row("tableLookup", lambda w, type: type == Vector(INT8, 16), weight=20)
def table_lookup(w: Writer, type: Vector, depth: int) -> Expr:
    return join("{}.tableLookup({})", w.vector(type, depth), w.vector(Vector(w.pick(BYTES), 16), depth))


@VECTOR.row("lut4", lambda w, type: type.element in BYTES, weight=2)
def lut4(w: Writer, type: Vector, depth: int) -> Expr:
    index = w.vector(Vector(w.pick(BYTES), type.lanes), depth)
    return join("{}.lut4({})", index, w.vector(Vector(type.element, 16), depth))


@VECTOR.row("dotAccum", lambda w, type: type.element == INT32 and type.lanes * 4 <= MAX_LANES, weight=6)
def dot_accum(w: Writer, type: Vector, depth: int) -> Expr:
    weights, activations = (w.vector(Vector(w.pick(BYTES), 4 * type.lanes), depth) for _ in range(2))
    w.note("dotAccum")
    return join("{}.dotAccum({}, {})", weights, activations, w.vector(type, depth))


@VECTOR.row("min, max", weight=2)
def least(w: Writer, type: Vector, depth: int) -> Expr:
    name = w.pick(("min", "max"))
    return zero_added(type, join(f"{{}}.{name}({{}})", w.vector(type, depth), beside(w, type, depth)))


@VECTOR.row("abs", weight=1.5)
def absolute(w: Writer, type: Vector, depth: int) -> Expr:
    return join(w.pick(("{}.abs()", "Math.abs({})")), w.vector(type, depth))


@VECTOR.row("clamp", weight=1.5)
def clamp(w: Writer, type: Vector, depth: int) -> Expr:
    low, high = beside(w, type, depth), beside(w, type, depth)
    return zero_added(type, join("{}.clamp({}, {})", w.vector(type, depth), low, high))


@VECTOR.row("Math of lanes", weight=1.5)
def math_of_lanes(w: Writer, type: Vector, depth: int) -> Expr:
    if is_wide_float(w, type) and w.chance(0.6):
        name = w.pick(("floor", "ceil", "trunc", "round"))
        return join(f"Math.{name}({{}})", w.vector(type, depth))
    call = join(f"Math.{w.pick(('min', 'max'))}({{}}, {{}})", w.vector(type, depth), beside(w, type, depth))
    return zero_added(type, call)


@VECTOR.row("Math.sqrt, fma of lanes", is_few_floats, weight=2, exact=False)
def root_of_lanes(w: Writer, type: Vector, depth: int) -> Expr:
    if w.chance(0.5):
        return join("Math.sqrt({})", w.vector(type, depth))
    return join("Math.fma({}, {}, {})", *(w.vector(type, depth) for _ in range(3)))


@VECTOR.row("select", weight=3)
def select(w: Writer, type: Vector, depth: int) -> Expr:
    sides = [w.vector(type, depth), beside(w, type, depth)]
    w.random.shuffle(sides)
    return join("{}.select({}, {})", w.mask(type.lanes, depth), *sides)


@VECTOR.row("select of numbers")
def select_numbers(w: Writer, type: Vector, depth: int) -> Expr:
    a, b = w.number(type.element, depth), Expr(spell_typed(w.random, type.element), dynamic=False)
    return join("{}.select({}, {})", w.mask(type.lanes, depth), a, b)


@VECTOR.row("swizzle", lambda w, type: type.lanes in (2, 3, 4), weight=3)
def swizzle(w: Writer, type: Vector, depth: int) -> Expr:
    lanes = w.pick([lanes for lanes in (*w.style.lanes, 2, 3, 4) if lanes > 1])
    letters = w.pick(("xyzw", "rgba"))[:lanes]
    picks = "".join(w.pick(letters) for _ in range(type.lanes))
    return join(f"{{}}.{picks}", w.vector(Vector(type.element, lanes), depth))


@VECTOR.row("normalize, reflect, refract", is_few_floats, weight=2, exact=False)
def geometry(w: Writer, type: Vector, depth: int) -> Expr:
    form = w.random.randrange(3)
    if form == 0:
        return join("{}.normalize()", w.vector(type, depth))
    if form == 1:
        return join("{}.reflect({})", w.vector(type, depth), w.vector(type, depth))
    return join("{}.refract({}, {})", w.vector(type, depth), w.vector(type, depth), w.number(type.element, depth))


@VECTOR.row("lerp", is_wide_float, weight=2)
def lerp(w: Writer, type: Vector, depth: int) -> Expr:
    way = w.number(type.element, depth) if w.chance(0.5) else w.vector(type, depth)
    return join("{}.lerp({}, {})", w.vector(type, depth), w.vector(type, depth), way)


@VECTOR.row("cross", lambda w, type: is_wide_float(w, type) and type.lanes == 3, weight=60)
def cross(w: Writer, type: Vector, depth: int) -> Expr:
    return join("{}.cross({})", w.vector(type, depth), w.vector(type, depth))


VECTOR.row("call", lambda w, type: bool(callable_for(w, type)), weight=80)(call)


# ---- masks


@MASK.row("comparison with a literal", weight=2, leaf=True)
def literal_comparison(w: Writer, lanes: int, depth: int) -> Expr:
    element = w.any_number()
    vector = w.vector(Vector(element, lanes), depth)
    return join(f"({{}} {pick_operator(w, COMPARISONS)} {spell_bare(w.random, element)})", vector)


@MASK.row("comparison", weight=4)
def comparison(w: Writer, lanes: int, depth: int) -> Expr:
    element = w.any_number()
    other = Vector(w.pick(same_width(element)), lanes)
    right = w.vector(other, depth) if w.chance(0.7) else w.number(w.any_number(), depth)
    sides = [w.vector(Vector(element, lanes), depth), right]
    w.random.shuffle(sides)
    return join(f"({{}} {pick_operator(w, COMPARISONS)} {{}})", *sides)


@MASK.row("complement", weight=1.5)
def complement(w: Writer, lanes: int, depth: int) -> Expr:
    return join("(~{})", w.mask(lanes, depth))


@MASK.row("bitwise", weight=2)
def bitwise(w: Writer, lanes: int, depth: int) -> Expr:
    return join(f"({{}} {w.pick(BITWISE)} {{}})", w.mask(lanes, depth), w.mask(lanes, depth))
