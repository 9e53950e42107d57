"""THE table of the functions of built-in classes: `Math`, `Bits`, `Cajeta`; and the coordinates of a work item."""

from __future__ import annotations

import math

from cajeta_dot.diagnostics import rules as r
from cajeta_dot.types import (
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    UINT32,
    UINT64,
    Array,
    Scalar,
    Type,
    Vector,
    Void,
    element_of,
)

from .methods import greater, lesser
from .rows import Row, same_op, span, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction
    from typing import Any

    from cajeta_dot.ir import Builder, Value

    from .rows import Call, Checked


# ---- Math


def _read_all(call: Call, type: Scalar | Vector) -> tuple[Value, ...] | None:
    """Scalars meet as operands do, literals as arguments do; beside lanes a scalar is converted to their element type."""
    values: list[Value] = []
    for index, argument in enumerate(call.arguments):
        if isinstance(type, Vector):
            value = call.read_lanes(index, type)
        else:
            value = call.read(index, type) if argument.is_bare else call.converter.cast(argument, type)
        if value is None:
            return None
        values.append(value)
    return tuple(values)


def _check_numbers(count: int) -> Callable[[Call], Checked | None]:
    def check(call: Call) -> Checked | None:
        if not call.takes(count):
            return None
        type = call.share_type()
        values = _read_all(call, type) if type else None
        return (type, values) if type and values else None

    return check


def _check_floats(count: int) -> Callable[[Call], Checked | None]:
    """Like numbers; literals are floats, and integers are refused, since the result would silently be another type."""

    def check(call: Call) -> Checked | None:
        if not call.takes(count):
            return None
        type = call.share_type()
        if type is None:
            return None
        if element_of(type) == FLOAT16:
            return call.report(r.NOT_SUPPORTED, f"`{call.name}` of float16 is not supported yet", call.name_label())
        if element_of(type).is_integer:
            if not all(a.is_bare for a in call.arguments):
                wrong = next(a for a in call.arguments if not a.is_bare)
                message = f"`{call.name}` takes floats, found {type_name(wrong.type)}"
                return call.report(r.WRONG_ARGUMENTS, message, span(wrong, type_name(wrong.type)))
            type = FLOAT64
        values = _read_all(call, type)
        return (type, values) if values else None

    return check


def _over_lanes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A meaning on numbers, applied to each lane where the operands are vectors."""

    def mean(round: Callable[[Any], Any], *operands: Any) -> Any:
        if isinstance(operands[0], tuple):
            return tuple(function(*lanes) for lanes in zip(*operands, strict=True))
        return function(*operands)

    return mean


def _is_special(x: float) -> bool:
    """NaN, an infinity or a zero: what rounding to a whole number leaves as it is."""
    return x == 0 or math.isnan(x) or math.isinf(x)


def _rounding(function: Callable[[float], int]) -> Callable[[float], float]:
    def mean(x: float) -> float:
        return x if _is_special(x) else math.copysign(float(function(x)), x)

    return mean


def _round_half_away(x: float) -> int:
    whole = math.trunc(x)
    return whole + (1 if x > 0 else -1) if abs(x - whole) >= 0.5 else whole


def _mean_sqrt(x: float) -> float | Fraction:
    """The float64 root of a float32, rounded again, is the float32 root: 53 bits are more than 2 * 24 + 2."""
    return math.sqrt(x) if x >= 0 else (x if x == 0 else math.nan)


def _mean_fma(x: float, y: float, z: float) -> float | Fraction:
    """Exact, so that the caller rounds once."""
    if not all(map(math.isfinite, (x, y, z))):
        return z if math.isfinite(x) and math.isfinite(y) else x * y + z
    from fractions import Fraction

    exact = Fraction(x) * Fraction(y) + Fraction(z)
    return exact if exact else x * y + z  # the sign of a zero


# ---- Bits


def _bits_type(call: Call) -> Scalar:
    first = call.arguments[0].type
    return UINT64 if isinstance(first, Scalar) and first.bits == 64 else UINT32


def _check_bits(result: Scalar | None) -> Callable[[Call], Checked | None]:
    def check(call: Call) -> Checked | None:
        if not call.takes(1):
            return None
        type = _bits_type(call)
        value = call.read(0, type)
        return (result or type, (value,)) if value else None

    return check


def _check_rotate(call: Call) -> Checked | None:
    if not call.takes(2):
        return None
    type = _bits_type(call)
    value = call.read(0, type)
    count = call.arguments[1]
    if isinstance(count.type, (Array, Vector, Void)) or not count.type or not element_of(count.type).is_integer:
        message = f"`{call.name}` takes an integer count, found {type_name(count.type)}"
        return call.report(r.WRONG_ARGUMENTS, message, span(count, type_name(count.type)))
    amount = call.converter.cast(count, type)
    return (type, (value, amount)) if value and amount else None


def _mean_count(round: Callable[[int], int], x: int) -> int:
    return x.bit_count()


def _expand_count(b: Builder, x: Value) -> Value:
    return b.convert(b.unary("count_ones", x), UINT32)


# The width is that of the result, which `round` knows: all ones, wrapped, is the greatest number.
def _mean_reverse(round: Callable[[int], int], x: int) -> int:
    width = round(-1).bit_length()
    return int(format(x, f"0{width}b")[::-1], 2)


def _mean_rotate(direction: int) -> Callable[..., int]:
    def mean(round: Callable[[int], int], x: int, count: int) -> int:
        width = round(-1).bit_length()
        left = direction * count % width
        return x << left | x >> (width - left)

    return mean


# ---- Cajeta


def _check_bits_of(argument: Scalar, result: Scalar) -> Callable[[Call], Checked | None]:
    def check(call: Call) -> Checked | None:
        if not call.takes(1):
            return None
        given = call.arguments[0]
        if argument.is_integer and isinstance(given.literal, int):
            value = call.converter.adopt(given, argument)  # a literal is bits here: 0x80000000 is the sign
        else:
            value = call.read(0, argument)
        return (result, (value,)) if value else None

    return check


def _expand_bits_of(result: Type) -> Callable[[Builder, Value], Value]:
    def expand(b: Builder, x: Value) -> Value:
        return b.reinterpret(x, result)

    return expand


FUNCTIONS: dict[str, Row] = {
    row.name: row
    for row in (
        Row("Math.abs", _check_numbers(1), _over_lanes(abs), same_op("abs"), "Without sign; the least integer stays."),
        Row("Math.min", _check_numbers(2), _over_lanes(lesser), same_op("min"), "The lesser; a NaN loses."),
        Row("Math.max", _check_numbers(2), _over_lanes(greater), same_op("max"), "The greater; a NaN loses."),
        Row("Math.floor", _check_floats(1), _over_lanes(_rounding(math.floor)), same_op("floor"), "Toward minus infinity."),
        Row("Math.ceil", _check_floats(1), _over_lanes(_rounding(math.ceil)), same_op("ceil"), "Toward infinity."),
        Row("Math.trunc", _check_floats(1), _over_lanes(_rounding(math.trunc)), same_op("trunc"), "Toward zero."),
        Row(
            "Math.round",
            _check_floats(1),
            _over_lanes(_rounding(_round_half_away)),
            same_op("round"),
            "To the nearest whole number, ties away from zero.",
        ),
        Row("Math.sqrt", _check_floats(1), _over_lanes(_mean_sqrt), same_op("sqrt"), "The root, correctly rounded."),
        Row("Math.fma", _check_floats(3), _over_lanes(_mean_fma), same_op("fma"), "a * b + c, rounded once."),
        Row("Bits.count", _check_bits(UINT32), _mean_count, _expand_count, "How many bits are set."),
        Row("Bits.reverse", _check_bits(None), _mean_reverse, same_op("reverse_bits"), "The bits in the other order."),
        Row("Bits.rotateLeft", _check_rotate, _mean_rotate(1), same_op("rotate_left"), "Rotated toward the high end."),
        Row("Bits.rotateRight", _check_rotate, _mean_rotate(-1), same_op("rotate_right"), "Rotated toward the low end."),
        Row(
            "Cajeta.bitsToF32",
            _check_bits_of(INT32, FLOAT32),
            None,
            _expand_bits_of(FLOAT32),
            "The float32 with these bits.",
        ),
        Row(
            "Cajeta.f32ToBits",
            _check_bits_of(FLOAT32, INT32),
            None,
            _expand_bits_of(INT32),
            "The bits of a float32.",
        ),
        Row(
            "Cajeta.bitsToF64",
            _check_bits_of(INT64, FLOAT64),
            None,
            _expand_bits_of(FLOAT64),
            "The float64 with these bits.",
        ),
        Row(
            "Cajeta.f64ToBits",
            _check_bits_of(FLOAT64, INT64),
            None,
            _expand_bits_of(INT64),
            "The bits of a float64.",
        ),
    )
}

_THREAD = {**{axis: f"local.{axis}" for axis in "xyz"}, **{f"globalId{axis.upper()}": f"global.{axis}" for axis in "xyz"}}
COORDINATES: dict[str, str] = {
    **{f"{name}.{method}": what for name in ("KernelThread", "Thread") for method, what in _THREAD.items()},
    **{f"Workgroup.{axis}": f"group.{axis}" for axis in "xyz"},
    **{f"Workgroup.dim{axis.upper()}": f"size.{axis}" for axis in "xyz"},
}
WAIT = "Barrier.workgroup"
CLASSES = frozenset(name.partition(".")[0] for name in (*FUNCTIONS, *COORDINATES, WAIT)) | {"Vector"}


def list_names(owner: str) -> list[str]:
    """The functions of a built-in class, `Math.abs`."""
    return [name for name in (*FUNCTIONS, *COORDINATES, WAIT, "Cajeta.vload16") if name.startswith(f"{owner}.")]
