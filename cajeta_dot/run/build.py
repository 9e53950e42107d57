"""A checked program lowered for one target: what a module is made of, as plain records."""

from __future__ import annotations

from cajeta_dot.diagnostics import CompileError
from cajeta_dot.diagnostics.rules import FEATURE_MISSING
from cajeta_dot.record import fields_of, record
from cajeta_dot.run.errors import DeviceMissing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cajeta_dot.backends import Backend, Choice, Entry, Options, TargetInfo
    from cajeta_dot.diagnostics import Diagnostic, Reporter
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.source import Source


@record
class Lowering:
    """What one operation became: where it stands, `form` and `why` in words, whether the result is exact."""

    file: str
    line: int
    function: str
    operation: str
    lanes: int
    signs: str
    form: str
    instruction: str
    why: str
    exact: bool


@record
class Built:
    """functions: kernels and host methods in the order of the file. names: what a user may call each, to its place there.
    written: for each the positions of the arrays that it may write. entries: code in memory, if this machine runs it.
    kept: what the backend makes the entries of again, in another process; None if it can't.
    """

    functions: tuple[Function, ...]
    names: Mapping[str, int]
    written: tuple[frozenset[int], ...]
    choices: tuple[Lowering, ...]
    diagnostics: tuple[Diagnostic, ...]
    entries: Mapping[Function, Entry]
    kept: Any = None


def build(program: Program, backend: Backend, info: TargetInfo, options: Options, reporter: Reporter) -> Built:
    """Code in memory; where this machine can't run it, the text is made once to see that it can be.

    Raises CompileError if the target refuses the program.
    """
    from cajeta_dot.passes.effects import written_arrays

    entries: Mapping[Function, Entry] = {}
    choices: tuple[Choice, ...] = ()
    kept: Any = None
    if info.runs or options.device:
        loaded = backend.load(program, info.name, options, reporter)
        if loaded is None or reporter.failed:
            lacking = options.device and any(found.rule is FEATURE_MISSING for found in reporter.found)
            raise (DeviceMissing if lacking else CompileError)(reporter.in_order())
        entries, choices, kept = loaded.entries, loaded.choices, loaded.kept
    elif info.kinds:
        artifact = backend.emit(program, info.name, info.kinds[0], options, reporter)
        if artifact is None or reporter.failed:
            raise CompileError(reporter.in_order())
        choices = artifact.choices
    functions = program.entries
    written = written_arrays(program)
    return Built(
        tuple(functions),
        {name: functions.index(function) for name, function in program.names.items()},
        tuple(written[function] for function in functions),
        tuple(_place(choice, program.source) for choice in choices),
        tuple(reporter.in_order()),
        entries,
        kept,
    )


def _place(choice: Choice, source: Source) -> Lowering:
    name, line, _ = source.place(choice.start)
    return Lowering(name, line, *(getattr(choice, field) for field in fields_of(Lowering)[2:]))
