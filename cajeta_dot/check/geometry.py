"""The float geometry set: lengths, directions, reflections. Each step is rounded once, sums go from lane 0 upwards.

The formulas are those of GLSL 4.60 section 8.5, without its freedom to compute them otherwise.
"""

from __future__ import annotations

import math

from cajeta_dot.types import FLOAT16, Scalar, Vector

from .rows import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.ir import Builder, Value

    from .rows import Call, Checked

    Floats = Sequence[float]
    Round = Callable[[float], float]


# ---- what they mean


def _multiply(round: Round, a: Floats, b: Floats) -> list[float]:
    return [round(x * y) for x, y in zip(a, b, strict=True)]


def _subtract(round: Round, a: Floats, b: Floats) -> list[float]:
    return [round(x - y) for x, y in zip(a, b, strict=True)]


def _mean_dot(round: Round, a: Floats, b: Floats) -> float:
    total, *rest = _multiply(round, a, b)
    for product in rest:
        total = round(total + product)
    return total


def _divide(x: float, y: float) -> float:
    """IEEE division, which Python refuses for zero."""
    if y:
        return x / y
    if x == 0 or x != x or y != y:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _root(x: float) -> float:
    return math.sqrt(x) if x > 0 else x if x == 0 else math.nan


def _mean_length(round: Round, v: Floats) -> float:
    return round(_root(_mean_dot(round, v, v)))


def _mean_distance(round: Round, v: Floats, w: Floats) -> float:
    return _mean_length(round, _subtract(round, v, w))


def _mean_normalize(round: Round, v: Floats) -> Floats:
    length = _mean_length(round, v)
    return tuple(round(_divide(lane, length)) for lane in v)


def _mean_lerp(round: Round, v: Floats, w: Floats, t: Floats) -> Floats:
    way = _multiply(round, _subtract(round, w, v), t)
    return tuple(round(a + b) for a, b in zip(v, way, strict=True))


def _mean_cross(round: Round, v: Floats, w: Floats) -> Floats:
    def lane(i: int, j: int) -> float:
        return round(round(v[i] * w[j]) - round(v[j] * w[i]))

    return lane(1, 2), lane(2, 0), lane(0, 1)


def _mean_reflect(round: Round, v: Floats, n: Floats) -> Floats:
    twice = round(_mean_dot(round, n, v) * 2.0)
    return tuple(_subtract(round, v, [round(twice * lane) for lane in n]))


def _mean_refract(round: Round, v: Floats, n: Floats, eta: float) -> Floats:
    cosine = _mean_dot(round, n, v)
    sine = round(1.0 - round(cosine * cosine))
    k = round(1.0 - round(round(eta * eta) * sine))
    if k < 0.0:
        return tuple(0.0 for _ in v)
    along = round(round(eta * cosine) + round(_root(k)))
    return tuple(_subtract(round, [round(eta * lane) for lane in v], [round(along * lane) for lane in n]))


# ---- in core IR


def _shape(v: Value) -> Vector:
    assert isinstance(v.type, Vector)
    return v.type


def _dot(b: Builder, v: Value, w: Value) -> Value:
    return b.emit("sum", _shape(v).element, b.binary("mul", v, w))


def _scale(b: Builder, v: Value, by: Value) -> Value:
    return b.binary("mul", b.splat(by, _shape(v).lanes), v)


def _expand_length(b: Builder, v: Value) -> Value:
    return b.unary("sqrt", _dot(b, v, v))


def _expand_distance(b: Builder, v: Value, w: Value) -> Value:
    return _expand_length(b, b.binary("sub", v, w))


def _expand_normalize(b: Builder, v: Value) -> Value:
    return b.binary("div", v, b.splat(_expand_length(b, v), _shape(v).lanes))


def _expand_lerp(b: Builder, v: Value, w: Value, t: Value) -> Value:
    return b.binary("add", v, b.binary("mul", b.binary("sub", w, v), t))


def _expand_cross(b: Builder, v: Value, w: Value) -> Value:
    def turn(value: Value, *picks: int) -> Value:
        return b.shuffle(value, value, picks)

    first = b.binary("mul", turn(v, 1, 2, 0), turn(w, 2, 0, 1))
    return b.binary("sub", first, b.binary("mul", turn(v, 2, 0, 1), turn(w, 1, 2, 0)))


def _expand_reflect(b: Builder, v: Value, n: Value) -> Value:
    cosine = _dot(b, n, v)
    twice = b.binary("mul", cosine, b.const(_shape(v).element, 2.0))
    return b.binary("sub", v, _scale(b, n, twice))


def _expand_refract(b: Builder, v: Value, n: Value, eta: Value) -> Value:
    shape = _shape(v)
    one = b.const(shape.element, 1.0)
    cosine = _dot(b, n, v)
    sine = b.binary("sub", one, b.binary("mul", cosine, cosine))
    k = b.binary("sub", one, b.binary("mul", b.binary("mul", eta, eta), sine))
    along = b.binary("add", b.binary("mul", eta, cosine), b.unary("sqrt", k))
    bent = b.binary("sub", _scale(b, v, eta), _scale(b, n, along))
    inside = b.compare("lt", k, b.const(shape.element, 0.0))
    return b.select(inside, b.const(shape, 0.0), bent)


# ---- how they are called


def _check(vectors: int, scalars: int = 0, one_result: bool = False, lanes: int = 0) -> Callable[[Call], Checked | None]:
    """So many arguments of the receiver's type, then so many of its element type; a result of one or the other."""

    def check(call: Call) -> Checked | None:
        shape = call.vector
        if not shape.element.is_float or shape.element == FLOAT16:
            return call.refuse("float32 and float64 lanes")
        if lanes and shape.lanes != lanes:
            return call.refuse(f"{lanes} lanes")
        if not call.takes(vectors + scalars):
            return None
        wanted: list[Scalar | Vector] = [shape] * vectors + [shape.element] * scalars
        values = [call.read_lanes(i, type) if isinstance(type, Vector) else call.read(i, type) for i, type in enumerate(wanted)]
        ready = [value for value in values if value]
        if len(ready) < len(values):
            return None
        return shape.element if one_result else shape, (call.received, *ready)

    return check


ROWS = (
    Row("length", _check(0, one_result=True), _mean_length, _expand_length, "The square root of the dot with itself."),
    Row("distance", _check(1, one_result=True), _mean_distance, _expand_distance, "The length of the difference."),
    Row("normalize", _check(0), _mean_normalize, _expand_normalize, "The lanes divided by the length."),
    Row("lerp", _check(2), _mean_lerp, _expand_lerp, "v + (w - v) * t, for a scalar t or one for each lane."),
    Row("cross", _check(1, lanes=3), _mean_cross, _expand_cross, "The cross product of three lanes."),
    Row("reflect", _check(1), _mean_reflect, _expand_reflect, "v - 2 * dot(n, v) * n, for a normal n."),
    Row("refract", _check(1, 1), _mean_refract, _expand_refract, "The direction behind a surface with normal n and ratio eta."),
)
