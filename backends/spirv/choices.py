"""What each dot operation became, for the user."""

from __future__ import annotations

from cajeta_dot.backends import Choice
from cajeta_dot.backends.spirv.dots import EXPANSION, name_opcode
from cajeta_dot.backends.spirv.plan import reachable
from cajeta_dot.diagnostics import Label
from cajeta_dot.diagnostics.rules import SCALARIZED
from cajeta_dot.ir import Value, walk
from cajeta_dot.types import element_of, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program

BIT_FIELDS = "bit fields"


def list_choices(program: Program, int_dot: bool) -> tuple[Choice, ...]:
    """One for each dot operation in kernels and what they call, in the order of the program."""
    return tuple(
        _describe(item, function, int_dot)
        for function in reachable(program)
        for item in walk(function.body)
        if isinstance(item, Value) and item.op == "dot"
    )


def remark_expanded(choices: Iterable[Choice], reporter: Reporter) -> None:
    """A remark for each dot operation that is not done by its opcode."""
    for choice in choices:
        if choice.form == BIT_FIELDS:
            message = f"`{choice.operation}` is expanded to {choice.lanes} multiplies on `spirv`; {choice.why}"
            reporter.report(SCALARIZED, message, Label(choice.start, choice.end))


def _describe(value: Value, function: Function, int_dot: bool) -> Choice:
    opcode = name_opcode(value)
    if int_dot:
        form, instruction, why = "packed words", f"{opcode} + OpIAdd", ""
    else:
        form, instruction, why = BIT_FIELDS, EXPANSION, f"{opcode} is not used with --no-int-dot"
    signs = "".join(element_of(arg.type).kind for arg in value.args[:2])
    lanes = lanes_of(value.args[0].type)
    return Choice(value.start, value.end, function.name, "dot", lanes, signs, form, instruction, why)
