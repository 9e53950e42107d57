"""Methods that look lanes up in a table of sixteen: `tableLookup`, whose receiver is the table, and `lut4`, whose is not."""

from __future__ import annotations

from cajeta_dot.diagnostics import rules as r
from cajeta_dot.types import INT8, Vector, with_element

from .rows import Row, span, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Builder, Value

    from .rows import Call, Checked, Numbers


def _check_table_lookup(call: Call) -> Checked | None:
    table = Vector(INT8, 16)
    if call.vector != table:
        return call.refuse(type_name(table))
    if not call.takes(1):
        return None
    index = call.read(0, table)
    return (table, (call.received, index)) if index else None


def _mean_table_lookup(round: Callable[[int], int], table: Numbers, index: Numbers) -> Numbers:
    return tuple(0 if i & 128 else table[i & 15] for i in index)


def _expand_table_lookup(b: Builder, table: Value, index: Value) -> Value:
    assert isinstance(index.type, Vector)
    negative = b.compare("lt", index, b.const(index.type, 0))
    return b.select(negative, b.const(index.type, 0), _look_up(b, table, index))


def _check_lut4(call: Call) -> Checked | None:
    if not call.demand_integers(at_most=8) or not call.takes(1):
        return None
    found = call.arguments[0].type
    if not isinstance(found, Vector) or found.lanes != 16 or found.element.bits != 8 or not found.element.is_integer:
        message = f"the table of `lut4` has 16 lanes of 8 bits, found {type_name(found)}"
        return call.report(r.WRONG_ARGUMENTS, message, span(call.arguments[0], type_name(found)))
    table = call.arguments[0].value
    assert table
    return with_element(call.vector, found.element), (call.received, table)


def _mean_lut4(round: Callable[[int], int], index: Numbers, table: Numbers) -> Numbers:
    return tuple(table[i & 15] for i in index)


def _expand_lut4(b: Builder, index: Value, table: Value) -> Value:
    return _look_up(b, table, index)


def _look_up(b: Builder, table: Value, index: Value) -> Value:
    """Lane by lane: table[index & 15]."""
    assert isinstance(index.type, Vector)
    assert isinstance(table.type, Vector)
    low = b.binary("and", index, b.const(index.type, 15))
    lanes = [b.emit("extract_at", table.type.element, table, b.extract(low, i)) for i in range(index.type.lanes)]
    return b.emit("build", Vector(table.type.element, index.type.lanes), *lanes)


ROWS = (
    Row("tableLookup", _check_table_lookup, _mean_table_lookup, _expand_table_lookup, "table[i & 15]; 0 if i < 0."),
    Row("lut4", _check_lut4, _mean_lut4, _expand_lut4, "table[i & 15]."),
)
