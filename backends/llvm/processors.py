"""What the pages of processors share: from the question if this machine can run a target to its output and its code.

A processor runs all work items itself (see `kernels`); a page is a table of `Tier`s, the best first, and a few words.
"""

from __future__ import annotations

from cajeta_dot.backends import Artifact, Loaded
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from cajeta_dot.backends import Entry, Options, TargetInfo
    from cajeta_dot.backends.llvm.catalogue import Catalogue
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.modules import ModuleText
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.source import Source

    Variants = Sequence[tuple[Machine, ModuleText]]
    Join = Callable[[Source, Variants, int], bytes]

KINDS = ("llvm-ir", "asm", "obj", "header")
# Family of a machine -> what LLVM calls a processor that can run its code, and what a message calls it.
_PROCESSORS = {
    "x86": ("x86_64", "an x86-64 processor"),
    "aarch64": ("aarch64", "an AArch64 processor"),
    "riscv64": ("riscv64", "a RISC-V processor"),
    "wasm32": ("wasm32", "a WebAssembly engine"),
}


@record
class Tier:
    """One target."""

    info: TargetInfo
    machine: Machine


class Processors:
    """A backend for the tiers of one family. Where the processor is another, `runs` is unset in their rows.

    better: the target that packs what others of the family expand to scalar code. catalogue: the processors and features that
    the user may name. join: makes one object of a program's modules
    for several targets, the plainest first.
    """

    def __init__(
        self, name: str, tiers: Sequence[Tier], better: str = "", catalogue: Catalogue | None = None, join: Join | None = None
    ):
        self.name, self.tiers, self.better, self.catalogue, self.join = name, tiers, better, catalogue, join

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
        variants = self._write_variants(program, target.split(","), options, reporter)
        if not variants:
            return None
        machine, module = variants[0]
        choices = tuple(choice for _, each in variants for choice in each.choices)
        if kind == "header":
            from cajeta_dot.backends.llvm.header import write_header

            return Artifact(kind, write_header(program, module, [machine for machine, _ in variants]), choices)
        if len(variants) > 1:
            assert self.join, f"{self.name} joins no targets"
            return Artifact(kind, self.join(program.source, variants, options.optimize), choices, module.exports)
        from cajeta_dot.backends.llvm.compile import write_artifact

        return write_artifact(module, machine, kind, options.optimize)

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """As the protocol says."""
        machine = self.resolve(target, options, reporter)
        if machine is None or refuse_missing(target, find_missing(machine), reporter):
            return None
        module = self._write(program, machine, options, reporter)
        if module is None:
            return None
        from cajeta_dot.backends.llvm.jit import compile_module

        functions = program.entries
        code = compile_module(module, functions, machine, options.optimize)
        kept = self.find(target).info.name, *code.pack()
        return Loaded(code.load(program.source, functions, machine), module.choices, kept)

    def fingerprint(self) -> str:
        """As the protocol says."""
        from cajeta_dot.backends.llvm.surroundings import describe_surroundings

        return describe_surroundings()

    def reload(self, kept: Any, source: Source, functions: Sequence[Function]) -> Mapping[Function, Entry]:
        """As the protocol says."""
        from cajeta_dot.backends.llvm.jit import ObjectCode

        target, *code = kept
        return ObjectCode.unpack(tuple(code)).load(source, functions, self.find(target).machine)

    def resolve(self, target: str, options: Options, reporter: Reporter) -> Machine | None:
        """The machine of a target or alias, as the user wants it; None after an error."""
        machine = self.find(target).machine
        if self.catalogue and (options.cpu or options.features):
            from cajeta_dot.backends.llvm.refine import check_names, refine

            named = check_names(options, self.catalogue, target, reporter)
            return refine(machine, options, self.catalogue, reporter) if named else None
        return machine

    def _write_variants(
        self, program: Program, targets: Sequence[str], options: Options, reporter: Reporter
    ) -> list[tuple[Machine, ModuleText]]:
        """A module for each target, the plainest first; nothing after an error."""
        names = [tier.info.name for tier in self.tiers]
        variants: list[tuple[Machine, ModuleText]] = []
        for target in sorted(targets, key=lambda target: -names.index(self.find(target).info.name)):
            machine = self.resolve(target, options, reporter)
            module = machine and self._write(program, machine, options, reporter)
            if machine and module:
                variants.append((machine, module))
        return variants if len(variants) == len(targets) else []

    def _write(self, program: Program, machine: Machine, options: Options, reporter: Reporter) -> ModuleText | None:
        from cajeta_dot.backends.llvm.compile import remark_scalar, warn_clamping, write_program

        module = write_program(program, machine, options.checks, reporter, options.debug_lines, options)
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
