"""A checked program to the text of one machine, and that to what was asked for: what all families share."""

from __future__ import annotations

from cajeta_dot.backends import Artifact
from cajeta_dot.backends.llvm.lookups import LANE_BY_LANE
from cajeta_dot.backends.llvm.modules import refuse, write_module
from cajeta_dot.diagnostics import Help, Label
from cajeta_dot.diagnostics.rules import SATURATION, SCALARIZED
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.inline import inline_barriers
from cajeta_dot.passes.remainders import expand_remainders
from cajeta_dot.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cajeta_dot.backends import Choice, Options
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.modules import ModuleText
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.passes.rows import Row


def write_program(
    program: Program,
    machine: Machine,
    checks: bool,
    reporter: Reporter,
    lines: bool = False,
    options: Options | None = None,
) -> ModuleText | None:
    """The module, its exports by the program's own functions; None after an error. `lines`: with line numbers. `options`:
    what a CPU's loops may become; without them they stay as they are."""
    core = expand(program)
    # Where a kernel is cut at its barriers, they must be in the kernel; on a GPU LLVM rounds on the way to a remainder.
    core = expand_remainders(core) if machine.is_gpu else inline_barriers(core)
    if refuse(core, machine, reporter):
        return None
    rows: Mapping[Function, Row] = {}
    if options and options.optimize and not machine.is_gpu:
        from cajeta_dot.backends.llvm.loops import optimize_loops

        core, rows = optimize_loops(core, machine, checks, options, reporter)
    module = write_module(core, machine, checks, lines, rows)
    copies = core.functions[-len(program.functions) :]
    origins = dict(zip(copies, program.functions, strict=True))
    return replace(module, exports={origins[function]: name for function, name in module.exports.items()})


def write_artifact(module: ModuleText, machine: Machine, kind: str, optimize: int) -> Artifact:
    """A module as `llvm-ir`, `asm` (or `ptx`) or `obj`."""
    if kind == "llvm-ir":
        return Artifact(kind, module.text, module.choices, module.exports)
    from cajeta_dot.backends.llvm.assembler import write_assembly, write_object

    make = write_object if kind == "obj" else write_assembly
    return Artifact(kind, make(module.text, machine, optimize), module.choices, module.exports)


def warn_clamping(choices: Iterable[Choice], machine: Machine, reporter: Reporter) -> None:
    """W0401 for each dot product whose weights are not known to be small enough for the clamping form."""
    for choice in choices:
        if not choice.exact:
            reporter.report(
                SATURATION,
                f"{choice.why}; on `{machine.target}` each pair of products is clamped to 16 bits",
                Label(choice.start, choice.end, "exact for weights 0..128"),
                helps=[Help("mask the weights, or choose `x86-avx2`, which is exact")],
            )


def remark_scalar(choices: Iterable[Choice], machine: Machine, better: str, reporter: Reporter) -> None:
    """A remark for each operation that became scalar code; `better` says what would do dot products with fewer instructions."""
    for choice in choices:
        if choice.form == "scalar":
            what = f"`{choice.operation}` is expanded to {choice.lanes} multiplies on `{machine.target}`; {better}"
        elif choice.form == LANE_BY_LANE:
            need = f"; {choice.why}" if choice.why else ""
            what = f"a {choice.operation} of {choice.lanes} lanes is done {choice.form} on `{machine.target}`{need}"
        else:
            continue
        reporter.report(SCALARIZED, what, Label(choice.start, choice.end))
