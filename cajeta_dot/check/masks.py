"""The methods of masks, which comparisons of vectors make: `select`, `any`, `all`."""

from __future__ import annotations

from cajeta_dot.diagnostics import rules as r
from cajeta_dot.types import BOOLEAN, Vector

from .rows import Row, plain, span, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cajeta_dot.ir import Builder, Value

    from .rows import Call, Checked, Numbers


def _check_select(call: Call) -> Checked | None:
    shape = _find_shape(call) if call.takes(2) else None
    if shape is None:
        return None
    if shape.lanes != call.vector.lanes:
        message = f"`select` on {call.vector.lanes} lanes takes vectors of as many, found {type_name(shape)}"
        at = next(a for a in call.arguments if a.type == shape)
        return call.report(r.SHAPE_MISMATCH, message, span(at, f"{shape.lanes} lanes"))
    a, b = (call.read_lanes(i, shape) for i in (0, 1))
    return (shape, (call.received, a, b)) if a and b else None


def _find_shape(call: Call) -> Vector | None:
    """The result's type: that of the first vector to choose from, or lanes of what two scalars have in common."""
    for argument in call.arguments:
        if isinstance(argument.type, Vector):
            return argument.type
    shared = call.share_type()
    assert not isinstance(shared, Vector)
    return Vector(shared, call.vector.lanes) if shared else None


def _mean_select(round: Callable[[Any], Any], mask: Numbers, a: Numbers, b: Numbers) -> Numbers:
    return tuple(x if chosen else y for chosen, x, y in zip(mask, a, b, strict=True))


def _expand_select(b: Builder, mask: Value, x: Value, y: Value) -> Value:
    return b.select(mask, x, y)


def _mean_any(round: Callable[[Any], Any], mask: Numbers) -> bool:
    return any(mask)


def _mean_all(round: Callable[[Any], Any], mask: Numbers) -> bool:
    return all(mask)


def _expand_mask(op: str) -> Callable[[Builder, Value], Value]:
    return lambda b, mask: b.emit(op, BOOLEAN, mask)


ROWS = (
    Row(
        "select", _check_select, _mean_select, _expand_select, "Lane by lane the first where the mask is true, else the other."
    ),
    Row("any", plain(lambda v: BOOLEAN), _mean_any, _expand_mask("any"), "Is a lane true?"),
    Row("all", plain(lambda v: BOOLEAN), _mean_all, _expand_mask("all"), "Are all lanes true?"),
)
NAMES = tuple(row.name for row in ROWS)
