"""The dot family: `dot`, `dotAccum`, `dotSum`.

All three are one operation of the IR. They differ in how they read their operands and in the shape of the accumulator,
and that difference stands here, once: `dot` reads both operands with the receiver's signedness, `dotAccum` and `dotSum`
read the weights (the receiver) by their own and the activations (the argument) always signed.
"""

from __future__ import annotations

from cajeta_dot.diagnostics import Edit, Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.types import FLOAT16, INT32, INT64, SIGNED, Scalar, Type, Vector, other_sign

from .rows import Row, span, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.ir import Builder, Value

    from .operand import Operand
    from .rows import Call, Checked

DOT_NAMES = ("dot", "dotAccum", "dotSum")


# ---- what they mean


def _products(w: Sequence[int], x: Sequence[int]) -> list[int]:
    return [a * b for a, b in zip(w, x, strict=True)]


def _mean_dot(round: Callable[[float], float], w: Sequence[float], x: Sequence[float], *acc: int) -> float:
    """Integers: one exact sum. Floats: each product and each sum rounded, starting from the first product."""
    first, *rest = [round(a * b) for a, b in zip(w, x, strict=True)]
    if acc:
        return first + sum(rest) + acc[0]
    total = first
    for product in rest:
        total = round(total + product)
    return total


def _mean_dot_accum(round: Callable[[int], int], w: Sequence[int], x: Sequence[int], acc: Sequence[int]) -> tuple[int, ...]:
    products = _products(w, x)
    return tuple(start + sum(products[4 * j : 4 * j + 4]) for j, start in enumerate(acc))


def _mean_dot_sum(round: Callable[[int], int], w: Sequence[int], x: Sequence[int], acc: int) -> int:
    return acc + sum(_products(w, x))


# ---- in core IR


def _expand_dot(b: Builder, w: Value, x: Value, *acc: Value) -> Value:
    if acc:
        return b.scalar_dot(w, x, acc[0])
    product = b.binary("mul", w, x)
    assert isinstance(product.type, Vector)
    return b.emit("sum", product.type.element, product)


def _expand_dot_accum(b: Builder, w: Value, x: Value, acc: Value) -> Value:
    return b.dot(w, x, acc)


def _expand_dot_sum(b: Builder, w: Value, x: Value, acc: Value) -> Value:
    return b.scalar_dot(w, x, acc)


# ---- how they are called


def _check_dot(call: Call) -> Checked | None:
    vector = call.vector
    if vector.element == FLOAT16:
        return call.refuse_receiver(r.DOT_OPERAND, "`dot` of float16 lanes is not defined: use `toF32()` first")
    if vector.element.is_float:
        if not call.takes(1, " for float vectors", r.DOT_ARGUMENTS):
            return None
        other = call.read(0, vector) if _has_as_many_lanes(call) else None
        return (vector.element, (call.received, other)) if other else None
    if vector.element.bits != 8:
        return call.refuse_receiver(r.DOT_OPERAND, f"`dot` is defined for 8-bit vectors, found {type_name(vector)}")
    if vector.lanes != 4:
        return _refuse_lanes(call)
    if len(call.arguments) not in (1, 2):
        return _refuse_count(call, "1 or 2 arguments (vector, and perhaps an accumulator)")
    if _are_exchanged(call):
        return None
    x = _read_bytes(call, vector.element.kind)
    acc = _read_scalar_accumulator(call)
    return (INT32, (call.received, x, acc)) if x and acc else None


def _check_dot_accum(call: Call) -> Checked | None:
    if not _has_bytes_by_four(call):
        return None
    if len(call.arguments) != 2:
        return _refuse_count(call, "2 arguments (activations, accumulator)")
    if _are_exchanged(call):
        return None
    x = _read_bytes(call, SIGNED)
    wanted = Vector(INT32, call.vector.lanes // 4)
    other = call.arguments[0].type
    if x is None and isinstance(other, Vector) and call.arguments[1].type == Vector(INT32, other.lanes // 4):
        return None  # it fits the activations: what does not fit is the receiver, which was said
    acc = _read_lane_accumulator(call, wanted)
    return (wanted, (call.received, x, acc)) if x and acc else None


def _check_dot_sum(call: Call) -> Checked | None:
    if not _has_bytes_by_four(call):
        return None
    if len(call.arguments) != 2:
        return _refuse_count(call, "2 arguments (activations, accumulator)")
    if _are_exchanged(call):
        return None
    x = _read_bytes(call, SIGNED)
    acc = _read_scalar_accumulator(call)
    return (INT32, (call.received, x, acc)) if x and acc else None


def _has_bytes_by_four(call: Call) -> bool:
    vector = call.vector
    if not vector.element.is_integer:
        call.refuse_receiver(r.DOT_OPERAND, f"`{call.name}` is an integer operation, found {type_name(vector)}")
    elif vector.element.bits != 8:
        call.refuse_receiver(r.DOT_OPERAND, f"`{call.name}` is defined for 8-bit vectors, found {type_name(vector)}")
    elif vector.lanes % 4:
        padded = vector.lanes + -vector.lanes % 4
        message = f"`{call.name}` needs a lane count that is a multiple of 4, found {vector.lanes}"
        call.refuse_receiver(r.LANE_COUNT, message, [Help(f"pad to {padded} lanes with zeros")])
    else:
        return True
    return False


def _refuse_lanes(call: Call) -> None:
    vector = call.vector
    way = f"use `dotAccum` with a `Vector<int32,{vector.lanes // 4}>` accumulator"
    message = f"`dot` is defined for 4-lane 8-bit vectors, found {type_name(vector)}"
    call.refuse_receiver(r.DOT_SHAPE, message, [] if vector.lanes % 4 else [Help(way)])


def _refuse_count(call: Call, takes: str) -> None:
    found = len(call.arguments)
    place = Label(call.end - 1, call.end - 1) if found < 2 else span(call.arguments[2])
    helps = [Help("add the accumulator: `, acc`")] if found == 1 else []
    call.report(r.DOT_ARGUMENTS, f"`{call.name}` takes {takes}, found {found}", place, helps=helps)


def _is_bytes(type: Type) -> bool:
    return isinstance(type, Vector) and type.element.is_integer and type.element.bits == 8


def _are_exchanged(call: Call) -> bool:
    """Does the accumulator stand in front of the operand? Reports it."""
    if len(call.arguments) != 2:
        return False
    first, second = call.arguments
    if _is_bytes(first.type) or not _is_bytes(second.type):
        return False
    message = f"the first argument of `{call.name}` is an 8-bit vector, found {type_name(first.type)}"
    texts = call.converter.text(first), call.converter.text(second)
    edits = (Edit(first.start, first.end, texts[1]), Edit(second.start, second.end, texts[0]))
    helps = [Help("exchange the arguments", edits, "machine")]
    labels = [span(second, type_name(second.type))]
    call.report(r.DOT_OPERAND, message, span(first, type_name(first.type)), labels, helps)
    return True


def _has_as_many_lanes(call: Call) -> bool:
    """Does the second operand, if it is a vector, have the receiver's lane count? Reports if not."""
    vector, argument = call.vector, call.arguments[0]
    found = argument.type
    if not isinstance(found, Vector) or found.lanes == vector.lanes:
        return True
    assert call.receiver
    call.report(
        r.OPERAND_LANES,
        f"operands of `{call.name}` have different lane counts, {vector.lanes} and {found.lanes}",
        span(argument, f"{found.lanes} lanes"),
        [span(call.receiver, f"{vector.lanes} lanes")],
        [Help(f"load as many lanes of both: `vload<{vector.lanes}>`")],
    )
    return False


def _read_bytes(call: Call, kind: str) -> Value | None:
    """The second operand: as many byte lanes as the receiver, read as `kind` whatever it is declared as."""
    argument = call.arguments[0]
    found = argument.type
    if not isinstance(found, Vector) or not _is_bytes(found):
        message = f"`{call.name}` is defined for 8-bit vectors, found {type_name(found)}"
        return call.report(r.DOT_OPERAND, message, span(argument, type_name(found)))
    if not _has_as_many_lanes(call):
        return None
    if found.element.kind != kind:
        _warn_reading(call, argument, kind)
    assert argument.value
    return call.converter.as_kind(argument.value, kind)


def _warn_reading(call: Call, argument: Operand, kind: str) -> None:
    """The operation reads the argument otherwise than it is declared: say how each byte comes out."""
    assert call.receiver
    assert isinstance(argument.type, Vector)
    declared = argument.type.element
    word, sample = ("signed", 200) if kind == SIGNED else ("unsigned", -127)
    becomes = other_sign(declared, kind).wrap(sample)
    keep = ".asSigned()" if kind == SIGNED else ".asUnsigned()"
    if call.name == "dot":
        reads = f"`dot` reads both operands as {word}, so this {type_name(argument.type)} is reinterpreted"
        helps = [Help("to keep this reading, say so", call.converter.put_around(argument, "", keep), "machine")]
        if kind != SIGNED:
            helps.insert(0, Help("for unsigned weights and signed activations use `dotAccum`"))
        else:
            helps.insert(0, Help("for unsigned weights use `dotAccum` on them: `u.dotAccum(s, acc)`"))
    else:
        reads = f"`{call.name}` always reads its activations as signed, found {type_name(argument.type)}"
        helps = [Help("if the values are 0..127, say so", call.converter.put_around(argument, "", keep), "unsafe")]
        if call.vector.element.is_signed:
            edits = (
                Edit(call.receiver.start, call.receiver.end, call.converter.primary_text(argument)),
                Edit(argument.start, argument.end, call.converter.text(call.receiver)),
            )
            helps = [Help("exchange the operands: unsigned weights are the receiver", edits, "machine")]
    call.report(
        r.OPERAND_SIGN,
        reads,
        span(argument, f"{sample} is read as {becomes}"),
        [span(call.receiver, "signed" if call.vector.element.is_signed else "unsigned")],
        helps,
    )


def _read_scalar_accumulator(call: Call) -> Value | None:
    """int32; narrower integers widen, uint32 is read as int32 with a warning; none is zero."""
    if len(call.arguments) < 2:
        return call.converter.emitter.const(INT32, 0)
    argument = call.arguments[1]
    found = argument.type
    fits = isinstance(found, Scalar) and found.is_integer and found.bits <= 32
    if not fits:
        helps: list[Help] = []
        if found == INT64 and not argument.is_bare and call.receiver:
            helps.append(_add_outside(call, argument))
        message = f"accumulator of `{call.name}` must be `int32`, found {type_name(found)}"
        return call.report(r.ACCUMULATOR_TYPE, message, span(argument, type_name(found)), helps=helps)
    return call.converter.convert(argument, INT32)


def _add_outside(call: Call, argument: Operand) -> Help:
    """`(acc + (int64) a.dot(b))` instead of `a.dot(b, acc)`."""
    assert call.receiver
    first = call.arguments[0]
    front = Edit(call.receiver.start, call.receiver.start, f"({call.converter.text(argument)} + (int64) ")
    rest = Edit(argument.start, argument.end, "0") if call.name == "dotSum" else Edit(first.end, argument.end, "")
    edits = (front, rest, Edit(call.end, call.end, ")"))
    return Help("add in `int64`, outside", edits, "machine")


def _read_lane_accumulator(call: Call, wanted: Vector) -> Value | None:
    argument = call.arguments[1]
    found, lanes = argument.type, call.vector.lanes
    assert call.receiver
    four_to_one = span(call.receiver, f"{lanes} lanes, four to one accumulator lane")
    if found == wanted:
        return argument.value
    if isinstance(found, Scalar):
        return call.report(
            r.ACCUMULATOR_SCALAR,
            f"`{call.name}` keeps its result in lanes; accumulator must be {type_name(wanted)}, found {type_name(found)}",
            span(argument, type_name(found)),
            [four_to_one],
            [Help("for one sum use `dotSum`, or reduce with `sum()` after the loop")],
        )
    if isinstance(found, Vector) and found.element == INT32:
        return call.report(
            r.ACCUMULATOR_LANES,
            f"accumulator of `{call.name}` must have {wanted.lanes} lanes for {lanes}-lane operands, found {found.lanes}",
            span(argument, type_name(found)),
            [four_to_one],
            [Help(f"declare the accumulator as {type_name(wanted)}")],
        )
    return call.report(
        r.ACCUMULATOR_TYPE,
        f"accumulator of `{call.name}` must be {type_name(wanted)}, found {type_name(found)}",
        span(argument, type_name(found)),
        [four_to_one],
        [Help(f"declare the accumulator as {type_name(wanted)}")],
    )


ROWS = (
    Row(
        "dot",
        _check_dot,
        _mean_dot,
        _expand_dot,
        "Four bytes times four bytes, both read with the receiver's signedness, plus an int32; or float lanes in order.",
    ),
    Row(
        "dotAccum",
        _check_dot_accum,
        _mean_dot_accum,
        _expand_dot_accum,
        "Lane j of the accumulator plus weights 4j..4j+3 times activations 4j..4j+3; activations are signed.",
    ),
    Row(
        "dotSum",
        _check_dot_sum,
        _mean_dot_sum,
        _expand_dot_sum,
        "All weights times all activations, plus an int32; activations are signed.",
    ),
)
