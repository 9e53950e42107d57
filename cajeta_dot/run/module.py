"""A compiled source: its functions, its outputs, what was said and chosen while it was compiled."""

from __future__ import annotations

import os
from types import MappingProxyType

from cajeta_dot.backends import Options
from cajeta_dot.diagnostics import CompileError, Reporter, nearest
from cajeta_dot.diagnostics.rules import SKIPPED_METHOD
from cajeta_dot.record import fields_of, replace
from cajeta_dot.run.functions import Function, read_extent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from cajeta_dot.backends import Backend, TargetInfo
    from cajeta_dot.diagnostics import Diagnostic
    from cajeta_dot.ir import Program
    from cajeta_dot.run.build import Built, Lowering

    Rebuild = tuple[Callable[..., "Module"], tuple[Any, ...]]


class Module:
    """Made by `compile` and `compile_file`. `target` is the target's own name, also where an alias was asked for; `device`
    is what was asked for as one, or empty.

    `module["Class.method"]`, or `module["method"]` where only one class has it, is a `Function`; `functions` has all.
    It can be pickled: it is then compiled again where it is unpickled, `native` for the machine there.
    """

    def __init__(
        self,
        filename: str,
        backend: Backend,
        info: TargetInfo,
        options: Options,
        threads: int | None,
        built: Built,
        check: Callable[[], Program],
        rebuild: Rebuild,
        keeps: bool,
    ):
        """`check` gives the program that it was built from, for outputs; `rebuild` makes the module anew. `keeps`: may code be
        kept for later processes?"""
        self.filename, self.target, self.kinds = filename, info.name, info.kinds
        self.device, self.keeps = options.device, keeps
        self._backend, self._info, self._options = backend, info, options
        self._check, self._rebuild = check, rebuild
        self.diagnostics: list[Diagnostic] = list(built.diagnostics)
        self.choices: list[Lowering] = list(built.choices)
        threads = threads or _count_processors()
        made = [
            Function(self, function, built.entries.get(function), written, threads)
            for function, written in zip(built.functions, built.written, strict=True)
        ]
        self.functions: Mapping[str, Function] = MappingProxyType({name: made[place] for name, place in built.names.items()})

    @property
    def elsewhere(self) -> str:
        """How to run what this machine's processor does not."""
        device = f"device={self._info.devices[0]!r} compiles it for one here, and " if self._info.devices else ""
        return f"{device}module.emit() gives it"

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __getitem__(self, name: str) -> Function:
        if name in self.functions:
            return self.functions[name]
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - not every caller is type-checked
            raise TypeError(f"a function is found by its name, found {name!r}")
        raise self._missing(name)

    def _missing(self, name: str) -> KeyError:
        return KeyError(f"no kernel or host method `{name}` in {self.filename}; {self._explain_missing(name)}")

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
        chosen = replace(self._options, **check_options(options))
        kind = kind or next(iter(self.kinds), "ir")
        if kind == "ir":
            from cajeta_dot.passes.print import print_program

            return print_program(self._check())
        if kind not in self.kinds:
            near = nearest(kind, self.kinds)
            offer = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"target {self.target} has no output {kind!r}, it has {', '.join(self.kinds)}{offer}")
        program = self._check()
        reporter = Reporter(program.source)
        artifact = self._backend.emit(program, self.target, kind, chosen, reporter)
        if artifact is None or reporter.failed:
            raise CompileError(reporter.in_order())
        return artifact.content

    def disasm(self, name: str) -> str:
        """The instructions of a kernel or host method below the lines of the source that they were made for.

        Raises KeyError for a name that is not there, ValueError where the target has no instructions to show.
        """
        from cajeta_dot.listing import disassemble

        if name not in self:
            raise self._missing(name)
        program = self._check()
        reporter = Reporter(program.source)
        listing = disassemble(program, program.names[name], self._backend, self._info, self._options, reporter)
        if listing is None:
            raise CompileError(reporter.in_order())
        return listing.write()

    def __repr__(self) -> str:
        where = f" on {self.device}" if self.device else ""
        functions = dict.fromkeys(function.name for function in self.functions.values())
        return f"<Module {self.filename} for {self.target}{where}: {', '.join(functions)}>"

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


def _count_processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
