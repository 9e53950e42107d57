"""A compiled source: its functions, its outputs, what was said and chosen while it was compiled."""

from __future__ import annotations

import os
from types import MappingProxyType

from cajeta_dot.backends import Options
from cajeta_dot.diagnostics import CompileError, Reporter, nearest
from cajeta_dot.diagnostics.rules import FEATURE_MISSING, SKIPPED_METHOD
from cajeta_dot.passes.effects import written_arrays
from cajeta_dot.record import fields_of, record, replace
from cajeta_dot.run.errors import DeviceMissing
from cajeta_dot.run.functions import Function, read_extent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from cajeta_dot import ir
    from cajeta_dot.backends import Backend, Choice, Entry, TargetInfo
    from cajeta_dot.diagnostics import Diagnostic
    from cajeta_dot.ir import Program
    from cajeta_dot.source import Source

    Rebuild = tuple[Callable[..., "Module"], tuple[Any, ...]]


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


class Module:
    """Made by `compile` and `compile_file`. `target` is the target's own name, also where an alias was asked for; `device`
    is what was asked for as one, or empty.

    `module["Class.method"]`, or `module["method"]` where only one class has it, is a `Function`; `functions` has all.
    It can be pickled: it is then compiled again where it is unpickled, `native` for the machine there.
    """

    def __init__(
        self,
        program: Program,
        backend: Backend,
        info: TargetInfo,
        options: Options,
        threads: int | None,
        reporter: Reporter,
        rebuild: Rebuild,
    ):
        """Lowers the program. `rebuild` makes the module anew. Raises CompileError if the target refuses the program."""
        self.filename, self.target, self.kinds = program.source.name, info.name, info.kinds
        self.device = options.device
        self._program, self._backend, self._info, self._options = program, backend, info, options
        self._rebuild = rebuild
        entries, choices = self._lower(reporter)
        self.diagnostics: list[Diagnostic] = reporter.in_order()
        self.choices = [_place(choice, program.source) for choice in choices]
        threads = threads or _count_processors()
        written = written_arrays(program)
        made = {f: Function(self, f, entries.get(f), written[f], threads) for f in program.entries}
        self.functions: Mapping[str, Function] = MappingProxyType({n: made[f] for n, f in program.names.items()})

    def _lower(self, reporter: Reporter) -> tuple[Mapping[ir.Function, Entry], tuple[Choice, ...]]:
        """Code in memory; where this machine can't run it, the text is made once to see that it can be."""
        arguments = self._program, self.target
        entries: Mapping[ir.Function, Entry] = {}
        choices: tuple[Choice, ...] = ()
        if self._info.runs or self._options.device:
            loaded = self._backend.load(*arguments, self._options, reporter)
            if loaded is None or reporter.failed:
                lacking = self._options.device and any(found.rule is FEATURE_MISSING for found in reporter.found)
                raise (DeviceMissing if lacking else CompileError)(reporter.in_order())
            entries, choices = loaded.entries, loaded.choices
        elif self.kinds:
            artifact = self._backend.emit(*arguments, self.kinds[0], self._options, reporter)
            if artifact is None or reporter.failed:
                raise CompileError(reporter.in_order())
            choices = artifact.choices
        return entries, choices

    def __getitem__(self, name: str) -> Function:
        if name in self.functions:
            return self.functions[name]
        raise KeyError(f"no kernel or host method `{name}` in {self.filename}; {self._explain_missing(name)}")

    def _explain_missing(self, name: str) -> str:
        """Why there is no function of that name, or which one may be meant."""
        for diagnostic in self.diagnostics:
            message = diagnostic.message
            if diagnostic.rule is SKIPPED_METHOD and (f"`{name}`" in message or f".{name}`" in message):
                return message
        near = nearest(name, self.functions)
        return f"did you mean `{near}`?" if near else f"there are {', '.join(self.functions) or 'none'}"

    def __contains__(self, name: object) -> bool:
        return name in self.functions

    def emit(self, kind: str = "", **options: Any) -> str | bytes:
        """The target's output of that kind, its first one if none is named; `ir` is there for every target.

        Options are those of `compile`, which hold where they are not given. Raises ValueError for a kind that the target
        does not have, CompileError if it refuses the program.
        """
        kind = kind or next(iter(self.kinds), "ir")
        if kind == "ir":
            from cajeta_dot.passes.print import print_program

            return print_program(self._program)
        if kind not in self.kinds:
            near = nearest(kind, self.kinds)
            offer = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"target {self.target} has no output {kind!r}, it has {', '.join(self.kinds)}{offer}")
        reporter = Reporter(self._program.source)
        chosen = replace(self._options, **check_options(options))
        artifact = self._backend.emit(self._program, self.target, kind, chosen, reporter)
        if artifact is None or reporter.failed:
            raise CompileError(reporter.in_order())
        return artifact.content

    def disasm(self, name: str) -> str:
        """The instructions of a kernel or host method below the lines of the source that they were made for.

        Raises KeyError for a name that is not there, ValueError where the target has no instructions to show.
        """
        from cajeta_dot.listing import disassemble

        reporter = Reporter(self._program.source)
        definition = self[name].definition
        listing = disassemble(self._program, definition, self._backend, self._info, self._options, reporter)
        if listing is None:
            raise CompileError(reporter.in_order())
        return listing.write()

    def __repr__(self) -> str:
        where = f" on {self.device}" if self.device else ""
        return f"<Module {self.filename} for {self.target}{where}: {', '.join(f.name for f in self._program.entries)}>"

    def __reduce__(self) -> Rebuild:
        return self._rebuild


def check_options(given: dict[str, Any]) -> dict[str, Any]:
    """What is given for fields of `backends.Options`. Raises TypeError for unknown names and types, ValueError for values."""
    known = fields_of(Options)
    checked: dict[str, Any] = {}
    for name, content in given.items():
        if name not in known:
            near = nearest(name, known)
            raise TypeError(
                f"no option `{name}`" + (f"; did you mean `{near}`?" if near else f", there are {', '.join(known)}")
            )
        if name == "block":
            content = read_extent(name, content, least=1)
        wanted = type(getattr(_DEFAULTS, name)).__name__
        if type(content).__name__ != wanted:
            raise TypeError(f"option `{name}` is of type {wanted}, found {content!r}")
        if name == "optimize" and content not in (0, 1, 2, 3):
            raise ValueError(f"option `optimize` is 0, 1, 2 or 3, found {content}")
        checked[name] = content
    return checked


_DEFAULTS = Options()


def _place(choice: Choice, source: Source) -> Lowering:
    name, line, _ = source.place(choice.start)
    return Lowering(
        name,
        line,
        choice.function,
        choice.operation,
        choice.lanes,
        choice.signs,
        choice.form,
        choice.instruction,
        choice.why,
        choice.exact,
    )


def _count_processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
