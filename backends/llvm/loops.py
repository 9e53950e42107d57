"""The passes that make loops faster, as one machine wants them, and what the user is told of it."""

from __future__ import annotations

from cajeta_dot.backends.llvm.dots import choose_form
from cajeta_dot.diagnostics import Label
from cajeta_dot.diagnostics.rules import LOOP_SPLIT, LOOP_WIDENED
from cajeta_dot.passes.inline import inline_helpers
from cajeta_dot.passes.loops import SPLIT, Wishes, specialize_loops
from cajeta_dot.passes.rows import make_row
from cajeta_dot.ranges import Ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends import Options
    from cajeta_dot.backends.forms.forms import Form
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program, Value
    from cajeta_dot.passes.rows import Row

    Rows = dict[Function, Row]

BIASED = "vnni bias"


def optimize_loops(
    program: Program, machine: Machine, checks: bool, options: Options, reporter: Reporter
) -> tuple[Program, Rows]:
    """The program for a CPU with its loops made faster, and the rows of its simple kernels. Remarks say where sums are split
    and dots are widened."""
    program = inline_helpers(program)
    kernels = [f for f in program.functions if f.kind == "kernel"] if machine.forms else []  # without vectors there is no gain
    rows: Rows = {f: row for f in kernels if (row := make_row(f, checks))}
    ranges: dict[Function, Ranges] = {}

    def choose(function: Function, dot: Value) -> Form:
        if function not in ranges:
            ranges[function] = Ranges(function)
        return choose_form(dot, machine, *(ranges[function].unsigned_byte_limit(arg) for arg in dot.args[:2]))

    wishes = Wishes(
        checks=checks,
        split=options.split_accumulators,
        register=machine.register,
        is_chain=lambda function, dot: choose(function, dot).is_chained,
        is_biased=lambda function, dot: choose(function, dot).idea == BIASED,
    )
    for note in specialize_loops(program, wishes):
        label = Label(note.dot.start, note.dot.end)
        if note.what == SPLIT:
            message = f"`{note.name}` is gathered in {note.parts} sums, so that no step of the loop waits for the one before"
            reporter.report(LOOP_SPLIT, message, label)
        else:
            message = f"{note.parts} steps of the loop become one, with as many times the lanes"
            reporter.report(LOOP_WIDENED, message, label)
    return program, rows
