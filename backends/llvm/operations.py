"""What an opcode that only computes becomes: a table by opcode and kind of element, and a rule for each of the rest.

A rule gets the writer, the operation and its operands as LLVM spells them, and returns the result. Nothing here assumes that
arithmetic doesn't overflow, nothing makes `undef`: a `poison` operand is only what an insert writes over.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.types import spell, spell_constant, suffix
from cajeta_dot.types import BOOL, FLOAT, SIGNED, Scalar, Vector, element_of, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends.llvm.writer import Writer
    from cajeta_dot.ir import Value

    Rule = Callable[[Writer, Value, Sequence[str]], str]

# ---- one instruction each, by the kind of the operands' elements

_INTEGERS = {
    "add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl",
}  # fmt: skip
INSTRUCTIONS: dict[tuple[str, str], str] = {
    **{(op, kind): name for op, name in _INTEGERS.items() for kind in "su"},
    ("shr", "s"): "ashr", ("shr", "u"): "lshr",
    ("and", "b"): "and", ("or", "b"): "or", ("xor", "b"): "xor",
    ("add", "f"): "fadd", ("sub", "f"): "fsub", ("mul", "f"): "fmul", ("div", "f"): "fdiv", ("rem", "f"): "frem",
}  # fmt: skip
CONTRACTED = frozenset({"fadd", "fsub", "fmul"})  # what `@FastMath` lets the target join

COMPARISONS: dict[tuple[str, str], str] = {
    **{(op, kind): f"icmp {op}" for op in ("eq", "ne") for kind in "sub"},
    **{(op, "s"): f"icmp s{op}" for op in ("lt", "le", "gt", "ge")},
    **{(op, "u"): f"icmp u{op}" for op in ("lt", "le", "gt", "ge")},
    **{(op, "f"): f"fcmp o{op}" for op in ("eq", "lt", "le", "gt", "ge")},
    ("ne", "f"): "fcmp une",
}

# Intrinsics whose operands and result have one type.
INTRINSICS: dict[tuple[str, str], str] = {
    ("min", "s"): "llvm.smin", ("max", "s"): "llvm.smax", ("min", "u"): "llvm.umin", ("max", "u"): "llvm.umax",
    **{(op, "f"): f"llvm.{op}" for op in ("floor", "ceil", "trunc", "sqrt", "fma", "round")},
    ("abs", "f"): "llvm.fabs",
    **{("reverse_bits", kind): "llvm.bitreverse" for kind in "su"},
}  # fmt: skip


def emit_plain(writer: Writer, value: Value, args: Sequence[str], contract: bool = False) -> str | None:
    """The operation where one instruction, comparison or intrinsic does it; None where a rule of `RULES` must."""
    type = value.args[0].type if value.args else value.type
    key = value.op, _kind(type)
    if name := INSTRUCTIONS.get(key):
        flags = "contract " if contract and name in CONTRACTED else ""
        return writer.value(f"{name} {flags}{spell(type)} {', '.join(args)}")
    if name := COMPARISONS.get(key):
        return writer.value(f"{name} {spell(type)} {', '.join(args)}")
    if name := INTRINSICS.get(key):
        return call_intrinsic(writer, name, type, args)
    return None


def _kind(type: object) -> str:
    if isinstance(type, Vector):
        type = type.element
    return type.kind if isinstance(type, Scalar) else ""


def call_intrinsic(writer: Writer, name: str, type: object, args: Sequence[str]) -> str:
    """An intrinsic overloaded for one type, which all its operands and its result have."""
    assert isinstance(type, (Scalar, Vector))
    word = spell(type)
    return writer.call(word, f"{name}.{suffix(type)}", *((word, arg) for arg in args))


# ---- the rest


def _negate(writer: Writer, value: Value, args: Sequence[str]) -> str:
    if element_of(value.type).kind == FLOAT:
        return writer.value(f"fneg {spell(value.type)} {args[0]}")
    return writer.value(f"sub {spell(value.type)} {spell_constant(value.type, 0)}, {args[0]}")


def _invert(writer: Writer, value: Value, args: Sequence[str]) -> str:
    ones = True if element_of(value.type).kind == BOOL else -1
    return writer.value(f"xor {spell(value.type)} {args[0]}, {spell_constant(value.type, ones)}")


def _absolute(writer: Writer, value: Value, args: Sequence[str]) -> str:
    """Of integers; the least one stays (the flag of llvm.abs would make it poison)."""
    if element_of(value.type).kind != SIGNED:
        return args[0]
    word = spell(value.type)
    return writer.call(word, f"llvm.abs.{_suffix(value)}", (word, args[0]), ("i1", "false"))


def _suffix(value: Value) -> str:
    assert isinstance(value.type, (Scalar, Vector))
    return suffix(value.type)


def _pick(comparison: str) -> Rule:
    """min and max of floats: the first if the comparison holds or the second is a NaN."""

    def emit(writer: Writer, value: Value, args: Sequence[str]) -> str:
        a, b = args
        word, mask = spell(value.type), _mask_of(value)
        before = writer.value(f"fcmp {comparison} {word} {a}, {b}")
        alone = writer.value(f"fcmp uno {word} {b}, {b}")
        first = writer.value(f"or {mask} {before}, {alone}")
        return writer.value(f"select {mask} {first}, {word} {a}, {word} {b}")

    return emit


def _mask_of(value: Value) -> str:
    return f"<{value.type.lanes} x i1>" if isinstance(value.type, Vector) else "i1"


def _rotate(name: str) -> Rule:
    """A funnel shift of one value takes its count modulo the width."""

    def emit(writer: Writer, value: Value, args: Sequence[str]) -> str:
        return call_intrinsic(writer, name, value.type, (args[0], args[0], args[1]))

    return emit


def _count_ones(writer: Writer, value: Value, args: Sequence[str]) -> str:
    return call_intrinsic(writer, "llvm.ctpop", value.args[0].type, args)


def _reinterpret(writer: Writer, value: Value, args: Sequence[str]) -> str:
    old, new = spell(value.args[0].type), spell(value.type)
    return args[0] if old == new else writer.value(f"bitcast {old} {args[0]} to {new}")


def _select(writer: Writer, value: Value, args: Sequence[str]) -> str:
    word = spell(value.type)
    return writer.value(f"select {spell(value.args[0].type)} {args[0]}, {word} {args[1]}, {word} {args[2]}")


def _splat(writer: Writer, value: Value, args: Sequence[str]) -> str:
    word, lanes = spell(value.type), lanes_of(value.type)
    first = writer.value(f"insertelement {word} poison, {spell(value.args[0].type)} {args[0]}, i32 0")
    if lanes == 1:
        return first
    return writer.value(f"shufflevector {word} {first}, {word} poison, <{lanes} x i32> zeroinitializer")


def _build(writer: Writer, value: Value, args: Sequence[str]) -> str:
    word, element = spell(value.type), spell(element_of(value.type))
    made = "poison"
    for lane, arg in enumerate(args):
        made = writer.value(f"insertelement {word} {made}, {element} {arg}, i32 {lane}")
    return made


def _extract(writer: Writer, value: Value, args: Sequence[str]) -> str:
    return writer.value(f"extractelement {spell(value.args[0].type)} {args[0]}, i32 {value.attr}")


def _insert(writer: Writer, value: Value, args: Sequence[str]) -> str:
    element = spell(element_of(value.type))
    return writer.value(f"insertelement {spell(value.type)} {args[0]}, {element} {args[1]}, i32 {value.attr}")


def _shuffle(writer: Writer, value: Value, args: Sequence[str]) -> str:
    word = spell(value.args[0].type)
    picks = ", ".join(f"i32 {pick}" for pick in value.attr)
    return writer.value(f"shufflevector {word} {args[0]}, {word} {args[1]}, <{lanes_of(value.type)} x i32> <{picks}>")


def _sum(writer: Writer, value: Value, args: Sequence[str]) -> str:
    """Float lanes in order (the intrinsic is, without flags): from -0.0, which adds nothing, not even a sign."""
    vector = value.args[0].type
    assert isinstance(vector, Vector)
    word, element, name = spell(vector), spell(vector.element), suffix(vector)
    if vector.element.kind == FLOAT:
        zero = spell_constant(vector.element, -0.0)
        return writer.call(element, f"llvm.vector.reduce.fadd.{name}", (element, zero), (word, args[0]))
    return writer.call(element, f"llvm.vector.reduce.add.{name}", (word, args[0]))


def _any(writer: Writer, value: Value, args: Sequence[str]) -> str:
    mask = value.args[0].type
    assert isinstance(mask, Vector)
    return writer.call("i1", f"llvm.vector.reduce.or.{suffix(mask)}", (spell(mask), args[0]))


def _all(writer: Writer, value: Value, args: Sequence[str]) -> str:
    """No lane is false. `vector.reduce.and` is shorter, but of 128 known lanes LLVM can't make it: it ends the process."""
    mask = value.args[0].type
    assert isinstance(mask, Vector)
    false = writer.value(f"xor {spell(mask)} {args[0]}, {spell_constant(mask, True)}")
    return writer.value(f"xor i1 {_any(writer, value, [false])}, true")


RULES: dict[str, Rule] = {
    "neg": _negate,
    "not": _invert,
    "abs": _absolute,
    "min": _pick("olt"),
    "max": _pick("ogt"),
    "rotate_left": _rotate("llvm.fshl"),
    "rotate_right": _rotate("llvm.fshr"),
    "count_ones": _count_ones,
    "reinterpret": _reinterpret,
    "select": _select,
    "splat": _splat,
    "build": _build,
    "extract": _extract,
    "insert": _insert,
    "shuffle": _shuffle,
    "sum": _sum,
    "any": _any,
    "all": _all,
}
