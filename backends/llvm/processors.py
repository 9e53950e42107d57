"""What the pages of processors share: from the question if this machine can run a target to its output and its code.

A processor runs all work items itself (see `kernels`); a page is a table of `Tier`s, the best first, and a few words.
"""

from __future__ import annotations

from cajeta_dot.backends import Loaded
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends import Artifact, Options, TargetInfo
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.modules import ModuleText
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

    Refine = Callable[[Machine, Options, str, Reporter], Machine | None]

KINDS = ("llvm-ir", "asm", "obj")
# Family of a machine -> what LLVM calls a processor that can run its code, and what a message calls it.
_PROCESSORS = {"x86": ("x86_64", "an x86-64 processor"), "aarch64": ("aarch64", "an AArch64 processor")}


@record
class Tier:
    """One target."""

    info: TargetInfo
    machine: Machine


class Processors:
    """A backend for the tiers of one family. Where the processor is another, `runs` is unset in their rows.

    better: the target that packs what others of the family expand to scalar code. refine: makes the machine of a target for
    a processor and features that the user names, and reports where it can't.
    """

    def __init__(self, name: str, tiers: Sequence[Tier], better: str = "", refine: Refine | None = None):
        self.name, self.tiers, self.better, self.refine = name, tiers, better, refine

    def targets(self) -> Sequence[TargetInfo]:
        return [tier.info for tier in self.tiers]

    def find(self, target: str) -> Tier:
        """The tier of a target or alias."""
        return next(tier for tier in self.tiers if target == tier.info.name or target in tier.info.aliases)

    def missing(self, target: str) -> str:
        """What this machine lacks, as a message names it."""
        return find_missing(self.find(target).machine)

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """As the protocol says; `kind` is one of KINDS."""
        from cajeta_dot.backends.llvm.compile import write_artifact

        machine = self.resolve(target, options, reporter)
        module = machine and self._write(program, machine, options, reporter)
        return write_artifact(module, machine, kind, options.optimize) if machine and module else None

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """As the protocol says."""
        machine = self.resolve(target, options, reporter)
        if machine is None or refuse_missing(target, find_missing(machine), reporter):
            return None
        module = self._write(program, machine, options, reporter)
        if module is None:
            return None
        from cajeta_dot.backends.llvm.jit import load_module

        return Loaded(load_module(program.source, module, machine, options.optimize), module.choices)

    def resolve(self, target: str, options: Options, reporter: Reporter) -> Machine | None:
        """The machine of a target or alias, as the user wants it; None after an error."""
        machine = self.find(target).machine
        if self.refine and (options.cpu or options.features):
            return self.refine(machine, options, target, reporter)
        return machine

    def _write(self, program: Program, machine: Machine, options: Options, reporter: Reporter) -> ModuleText | None:
        from cajeta_dot.backends.llvm.compile import remark_scalar, warn_clamping, write_program

        module = write_program(program, machine, options.checks, reporter, options.debug_lines)
        if module:
            warn_clamping(module.choices, machine, reporter)
            remark_scalar(module.choices, machine, f"`{self.better}` would pack it", reporter)
        return module


def find_missing(machine: Machine) -> str:
    """What this machine lacks to run code for another, as a message names it; empty if nothing."""
    from cajeta_dot.backends.llvm.host import detect_host

    host = detect_host()
    architecture, words = _PROCESSORS[machine.family]
    if host.architecture != architecture:
        return words
    return next((f"`{feature}`" for feature in machine.features if feature not in host.features), "")


def refuse_missing(target: str, missing: str, reporter: Reporter) -> bool:
    """Reports what is missing to run a target; true if there is something."""
    if missing:
        from cajeta_dot.diagnostics import Help
        from cajeta_dot.diagnostics.rules import FEATURE_MISSING

        why = "which this CPU lacks" if missing.startswith("`") else "which this machine is not"
        message = f"`{target}` needs {missing}, {why}"
        reporter.report(FEATURE_MISSING, message, None, helps=[Help("`--target native`")])
    return bool(missing)
