"""The opcode `dot`: the form that fits is chosen, written, and remembered for the user."""

from __future__ import annotations

from cajeta_dot.backends import Choice
from cajeta_dot.backends.llvm.types import spell
from cajeta_dot.types import Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.forms.forms import Form
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.writer import Writer
    from cajeta_dot.ir import Function, Value


def signs_of(value: Value) -> str:
    """How the two operands of a dot are read: `us` is unsigned by signed."""
    return "".join(_vector(arg).element.kind for arg in value.args[:2])


def choose_form(value: Value, machine: Machine, w_max: int, x_max: int) -> Form:
    """The form that a dot takes on the machine, if no byte, read as unsigned, is more. `scalar` always fits."""
    from cajeta_dot.backends.forms.forms import choose

    lanes = _vector(value.args[0]).lanes
    return choose(signs_of(value), machine.forms, w_max, x_max, width=lanes, allowed_inexact=machine.clamps)


def describe_choice(value: Value, function: Function, machine: Machine, form: Form, w_max: int, x_max: int) -> Choice:
    """What a dot became, for the user."""
    from cajeta_dot.backends.forms.forms import explain

    return Choice(
        value.start,
        value.end,
        function.name,
        "dot",
        _vector(value.args[0]).lanes,
        signs_of(value),
        form.name,
        " + ".join(form.instructions),
        explain(form, machine.family, machine.forms, w_max, x_max) if form.exact else f"weights can reach {w_max}",
        form.exact,
    )


def emit_dot(writer: Writer, value: Value, args: Sequence[str], form: Form, machine: Machine) -> str:
    """All lanes at once, in registers as large as the machine has. One accumulator lane takes all products."""
    from cajeta_dot.backends.forms.algebra import Vector as Lanes
    from cajeta_dot.backends.forms.algebra import by_registers, into_one_lane
    from cajeta_dot.backends.llvm.reading import WriterReading

    reading = WriterReading(writer)
    bytes, acc = _vector(value.args[0]).lanes, _vector(value)
    # Forms write one lane as a scalar, where our type is a vector of one.
    lower = (by_registers if acc.lanes * 4 == bytes else into_one_lane)(form.lower, form.registers(machine.forms))
    start = writer.value(f"bitcast {spell(acc)} {args[2]} to i32") if acc.lanes == 1 else args[2]
    w, x = (Lanes(reading, arg, 8, bytes) for arg in args[:2])
    made = lower(w, x, Lanes(reading, start, 32, acc.lanes))
    return writer.value(f"bitcast i32 {made.term} to {spell(acc)}") if acc.lanes == 1 else made.term


def _vector(value: Value) -> Vector:
    assert isinstance(value.type, Vector)
    return value.type
