"""THE table of the methods of vectors and masks: the rows of `dots.py`, `lookups.py`, `masks.py`, and all others.

`vload`, `vstore` and `count`, which arrays have, are not here: `calls.py`.
"""

from __future__ import annotations

from cajeta_dot.diagnostics import Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import lanes_of_constant
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT16,
    FLOAT32,
    INT8,
    INT32,
    SIGNED,
    UNSIGNED,
    Array,
    Scalar,
    Type,
    Vector,
    other_sign,
    with_element,
)

from . import dots, geometry, lookups, masks
from .rows import Row, same_op, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cajeta_dot.ir import Builder, Value

    from .rows import Call, Checked, Numbers


ARRAY_METHODS = ("vload", "vstore", "count")


def receives(method: Row, type: Vector) -> bool:
    """Masks have a few methods, other vectors the rest."""
    return (method.name in masks.NAMES) == (type.element == BOOLEAN)


# ---- reading bits otherwise


def _warn_known_negative(call: Call) -> None:
    """Whoever writes a negative constant and `asUnsigned` may want an absolute value."""
    lanes = lanes_of_constant(call.received.attr) if call.received.op == "const" else []
    known = next((lane for lane in lanes if lane < 0), None)
    if known is not None:
        becomes = other_sign(call.vector.element, UNSIGNED).wrap(known)
        call.report(
            r.KNOWN_NEGATIVE,
            f"`asUnsigned` keeps the bits: {known} becomes {becomes}",
            call.name_label("not an absolute value"),
        )


def _check_sign(kind: str) -> Callable[[Call], Checked | None]:
    def check(call: Call) -> Checked | None:
        if not call.demand_integers() or not call.takes(0):
            return None
        vector = call.vector
        if kind == UNSIGNED:
            _warn_known_negative(call)
        return with_element(vector, other_sign(vector.element, kind)), (call.received,)

    return check


def _expand_sign(kind: str) -> Callable[[Builder, Value], Value]:
    def expand(b: Builder, v: Value) -> Value:
        assert isinstance(v.type, Vector)
        return b.reinterpret(v, with_element(v.type, other_sign(v.type.element, kind)))

    return expand


def _check_as_words(call: Call) -> Checked | None:
    vector = call.vector
    if not call.demand_integers(at_most=8) or not call.takes(0):
        return None
    if vector.lanes % 4:
        message = f"`asWords` needs a lane count that is a multiple of 4, found {vector.lanes}"
        return call.refuse_receiver(r.LANE_COUNT, message)
    return Vector(INT32, vector.lanes // 4), (call.received,)


def _mean_as_words(round: Callable[[int], int], v: Numbers) -> Numbers:
    return tuple(sum((v[4 * j + k] & 255) << 8 * k for k in range(4)) for j in range(len(v) // 4))


def _check_as_bytes(call: Call) -> Checked | None:
    vector = call.vector
    if not call.demand_integers(at_least=32, at_most=32) or not call.takes(0):
        return None
    if vector.lanes * 4 > 256:
        return call.refuse("vectors of at most 64 lanes")
    return Vector(INT8, vector.lanes * 4), (call.received,)


def _mean_as_bytes(round: Callable[[int], int], v: Numbers) -> Numbers:
    return tuple(word >> 8 * k for word in v for k in range(4))


def _check_bitcast(element: Scalar) -> Callable[[Call], Checked | None]:
    def check(call: Call) -> Checked | None:
        if call.vector.element.bits != 32:
            return call.refuse("32-bit lanes")
        return (with_element(call.vector, element), (call.received,)) if call.takes(0) else None

    return check


def _expand_reinterpret(type_of: Callable[[Vector], Vector]) -> Callable[[Builder, Value], Value]:
    def expand(b: Builder, v: Value) -> Value:
        assert isinstance(v.type, Vector)
        return b.reinterpret(v, type_of(v.type))

    return expand


# ---- wider, narrower, other numbers


def _check_widen(call: Call) -> Checked | None:
    vector = call.vector
    if not call.demand_integers(at_most=32) or not call.takes(0):
        return None
    if vector.lanes % 2:
        return call.refuse("an even number of lanes")
    _warn_narrow_product(call)
    return Vector(Scalar(vector.element.kind, 2 * vector.element.bits), vector.lanes // 2), (call.received,)


def _half(which: int) -> Callable[..., Numbers]:
    def mean(round: Callable[[int], int], v: Numbers) -> Numbers:
        half = len(v) // 2
        return v[which * half : (which + 1) * half]

    return mean


def _expand_widen(which: int) -> Callable[[Builder, Value], Value]:
    def expand(b: Builder, v: Value) -> Value:
        assert isinstance(v.type, Vector)
        half, element = v.type.lanes // 2, v.type.element
        part = b.shuffle(v, v, range(which * half, (which + 1) * half))
        return b.convert(part, Scalar(element.kind, 2 * element.bits))

    return expand


def _check_narrow(call: Call) -> Checked | None:
    vector = call.vector
    if not call.demand_integers(at_least=16) or not call.takes(1):
        return None
    if vector.lanes > 128:
        return call.refuse("vectors of at most 128 lanes")
    high = call.read(0, vector)
    narrow = Vector(Scalar(vector.element.kind, vector.element.bits // 2), 2 * vector.lanes)
    return (narrow, (call.received, high)) if high else None


def _mean_narrow(round: Callable[[int], int], low: Numbers, high: Numbers) -> Numbers:
    return (*low, *high)


def _expand_narrow(b: Builder, low: Value, high: Value) -> Value:
    assert isinstance(low.type, Vector)
    both = b.shuffle(low, high, range(2 * low.type.lanes))
    return b.convert(both, Scalar(low.type.element.kind, low.type.element.bits // 2))


def _check_to_f32(call: Call) -> Checked | None:
    element = call.vector.element
    if element == FLOAT32 or not element.is_number:
        return call.refuse("integer, float16 and float64 lanes")
    if not call.takes(0):
        return None
    _warn_narrow_product(call)
    return with_element(call.vector, FLOAT32), (call.received,)


def _check_from_float(result: Scalar) -> Callable[[Call], Checked | None]:
    def check(call: Call) -> Checked | None:
        if not call.vector.element.is_float or call.vector.element == result:
            return call.refuse("wider float lanes" if result.is_float else "float lanes")
        return (with_element(call.vector, result), (call.received,)) if call.takes(0) else None

    return check


def _mean_to_i32(round: Callable[[int], int], v: Numbers) -> Numbers:
    return tuple(0 if lane != lane else int(min(max(lane, INT32.low), INT32.high)) for lane in v)


def _expand_convert(element: Scalar) -> Callable[[Builder, Value], Value]:
    return lambda b, v: b.convert(v, element)


def _warn_narrow_product(call: Call) -> None:
    """A product of bytes keeps eight bits; what widens it afterwards comes too late."""
    product = call.received
    if product.op != "mul" or call.vector.element.bits != 8 or any(a.op == "const" for a in product.args):
        return
    call.report(
        r.NARROW_PRODUCT,
        f"`*` on {type_name(call.vector)} keeps 8 bits; 100 * 100 becomes 16",
        Label(product.start, product.end, "the product is cut to 8 bits here"),
        [call.name_label("too late to widen")],
    )


# ---- lanes into one, lanes against lanes


def _check_sum(call: Call) -> Checked | None:
    if not call.takes(0):
        return None
    _warn_narrow_product(call)
    element = call.vector.element
    if element == FLOAT16:
        return call.refuse("lanes other than float16 (use `toF32()` first)")
    return (INT32 if element.is_integer and element.bits < 32 else element), (call.received,)


def _mean_sum(round: Callable[[Any], Any], v: Numbers) -> Any:
    total = v[0]
    for lane in v[1:]:
        total = round(total + lane)
    return total


def _expand_sum(b: Builder, v: Value) -> Value:
    assert isinstance(v.type, Vector)
    element = v.type.element
    if element.is_integer and element.bits < 32:
        v, element = b.convert(v, INT32), INT32
    return b.emit("sum", element, v)


def _check_pair(call: Call) -> Checked | None:
    """One argument of the receiver's own type; a scalar is splatted, as beside an operator."""
    if not call.takes(1):
        return None
    other = call.read_lanes(0, call.vector)
    return (call.vector, (call.received, other)) if other else None


def lesser(a: Any, b: Any) -> Any:
    """The lesser of two numbers; a NaN loses."""
    return a if a < b or b != b else b


def greater(a: Any, b: Any) -> Any:
    """The greater of two numbers; a NaN loses."""
    return a if a > b or b != b else b


def _lanes(function: Callable[..., Any]) -> Callable[..., Numbers]:
    def mean(round: Callable[[Any], Any], *vectors: Numbers) -> Numbers:
        return tuple(function(*lanes) for lanes in zip(*vectors, strict=True))

    return mean


def _check_same(call: Call) -> Checked | None:
    return (call.vector, (call.received,)) if call.takes(0) else None


def _check_clamp(call: Call) -> Checked | None:
    if not call.takes(2):
        return None
    low, high = (call.read_lanes(i, call.vector) for i in (0, 1))
    return (call.vector, (call.received, low, high)) if low and high else None


def _bring_between(v: Any, low: Any, high: Any) -> Any:
    return lesser(greater(v, low), high)


def _expand_clamp(b: Builder, v: Value, low: Value, high: Value) -> Value:
    return b.binary("min", b.binary("max", v, low), high)


def _identity(round: Callable[[Any], Any], v: Numbers) -> Numbers:
    return v


METHODS: dict[str, Row] = {
    row.name: row
    for row in (
        *dots.ROWS,
        *geometry.ROWS,
        *lookups.ROWS,
        *masks.ROWS,
        Row("asUnsigned", _check_sign(UNSIGNED), _identity, _expand_sign(UNSIGNED), "The same bits, read as unsigned."),
        Row("asSigned", _check_sign(SIGNED), _identity, _expand_sign(SIGNED), "The same bits, read as signed."),
        Row(
            "asWords",
            _check_as_words,
            _mean_as_words,
            _expand_reinterpret(lambda v: Vector(INT32, v.lanes // 4)),
            "Four bytes as one int32: byte k of word j is lane 4j+k.",
        ),
        Row(
            "asBytes",
            _check_as_bytes,
            _mean_as_bytes,
            _expand_reinterpret(lambda v: Vector(INT8, v.lanes * 4)),
            "Each word as four int8: lane 4j+k is byte k of word j.",
        ),
        Row(
            "bitcastF32",
            _check_bitcast(FLOAT32),
            None,
            _expand_reinterpret(lambda v: Vector(FLOAT32, v.lanes)),
            "The same 32 bits, read as float32.",
        ),
        Row(
            "bitcastI32",
            _check_bitcast(INT32),
            None,
            _expand_reinterpret(lambda v: Vector(INT32, v.lanes)),
            "The same 32 bits, read as int32.",
        ),
        Row("widenLo", _check_widen, _half(0), _expand_widen(0), "The first half of the lanes at twice the width."),
        Row("widenHi", _check_widen, _half(1), _expand_widen(1), "The second half of the lanes at twice the width."),
        Row(
            "narrow",
            _check_narrow,
            _mean_narrow,
            _expand_narrow,
            "The low halves of the receiver's lanes, then of the argument's.",
        ),
        Row("toF32", _check_to_f32, _identity, _expand_convert(FLOAT32), "The numbers as float32, nearest even."),
        Row("toI32", _check_from_float(INT32), _mean_to_i32, _expand_convert(INT32), "Toward zero; NaN is 0, saturates."),
        Row("toF16", _check_from_float(FLOAT16), _identity, _expand_convert(FLOAT16), "The numbers as float16."),
        Row("sum", _check_sum, _mean_sum, _expand_sum, "All lanes added in order; bytes and 16-bit lanes in int32."),
        Row("min", _check_pair, _lanes(lesser), same_op("min"), "The lesser of each pair of lanes; a NaN loses."),
        Row("max", _check_pair, _lanes(greater), same_op("max"), "The greater of each pair of lanes; a NaN loses."),
        Row("abs", _check_same, _lanes(abs), same_op("abs"), "Without sign; the least integer stays."),
        Row(
            "clamp",
            _check_clamp,
            _lanes(_bring_between),
            _expand_clamp,
            "The lanes brought between two bounds.",
        ),
    )
}


def names_on(type: Type) -> list[str]:
    """The methods that a value of a type has."""
    if isinstance(type, Array):
        return list(ARRAY_METHODS)
    return [row.name for row in METHODS.values() if receives(row, type)] if isinstance(type, Vector) else []


# What other languages and instruction sets call our methods.
ELSEWHERE = {
    **dict.fromkeys(("dotProduct", "dot4", "dp4a", "dot4add", "sdot", "udot"), "dot"),
    **dict.fromkeys(("vpdpbusd", "dotAccumulate", "usdot", "sudot", "maddubs", "dotAdd"), "dotAccum"),
    **dict.fromkeys(("reduce", "reduceAdd", "hsum", "total", "reduce_add"), "sum"),
    **dict.fromkeys(("toUnsigned", "unsigned", "asUint8"), "asUnsigned"),
    **dict.fromkeys(("toSigned", "signed", "asInt8"), "asSigned"),
    **dict.fromkeys(("toFloat", "toFloat32", "asFloat"), "toF32"),
    **dict.fromkeys(("toInt", "toInt32"), "toI32"),
    **dict.fromkeys(("blend", "where"), "select"),
    "shuffle": "tableLookup",
}
