"""From source text to a module that Python can call: the entrance to the Python API."""

from __future__ import annotations

import os

from cajeta_dot import driver
from cajeta_dot.backends import Options
from cajeta_dot.diagnostics import CompileError, Help
from cajeta_dot.diagnostics.rules import FEATURE_MISSING
from cajeta_dot.run.build import build
from cajeta_dot.run.module import Module, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from cajeta_dot.diagnostics import Diagnostic, Reporter
    from cajeta_dot.ir import Program
    from cajeta_dot.run.cache import CacheFile
    from cajeta_dot.source import Source


def compile(
    text: str,
    filename: str = "<string>",
    target: str = "native",
    checks: bool = True,
    num_threads: int | None = None,
    cache: bool = True,
    defines: Mapping[str, int] | None = None,
    **options: Any,
) -> Module:
    """Compiles a program and, where this machine can run the target's code, loads it.

    `filename` is what messages say. With `checks`, an access outside an array, a zero divisor or a bad lane index raises
    at run time; without, the first is undefined. `num_threads` is how many threads run a kernel's workgroups; by default
    as many as the process may use. With `cache`, code for this processor is kept in the user's cache folder, and a later
    process need not compile it again (`cajeta_dot.run.cache`). `defines` gives constants of the program, by `NAME` or
    `Class.NAME`, other values. `options` are the other fields of
    `cajeta_dot.backends.Options`; with `device="vulkan"`, `"vulkan:1"` or `"vulkan:NAME"`, kernels run on that device. Checks
    raise nothing there: an access outside an array then reads zeros and stores nothing.

    Raises CompileError with all that was found: if the source has errors, if no target has that name (E0603), if this
    machine can't run it (E0601), if the target refuses the program (E06xx). Where a device was named and can't be had, or
    lacks what the program needs, it is a DeviceMissing.
    """
    for name, given in (("text", text), ("filename", filename)):
        if not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance] - not every caller is type-checked
            raise TypeError(f"`{name}` is text, found {type(given).__name__}")
    # Lone surrogates are no text; as bytes they meet the check for UTF-8 that every file meets.
    return compile_texts(
        [(text.encode("utf-8", "surrogatepass"), filename)], target, checks, num_threads, options, cache, defines
    )


def compile_file(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str = "native",
    checks: bool = True,
    num_threads: int | None = None,
    cache: bool = True,
    defines: Mapping[str, int] | None = None,
    **options: Any,
) -> Module:
    """As `compile`, from a file, or from several that use each other's classes. Raises OSError if one can't be read.

    The module then has what is in all of them, and is named after the first. Raises ValueError for an empty list.
    """
    paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else list(path)
    if not paths:
        raise ValueError("there is no file to compile")
    return compile_texts(tuple(_read(one) for one in paths), target, checks, num_threads, options, cache, defines)


def _read(path: str | os.PathLike[str]) -> tuple[bytes, str]:
    name = os.fspath(path)  # a number would be an open file, and would be closed
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - of a path of bytes it is none
        raise TypeError(f"a file is named by text or a path, found {name!r}")
    with open(name, "rb") as file:
        return file.read(), name


def compile_texts(
    texts: Sequence[tuple[bytes, str]],
    target: str,
    checks: bool,
    num_threads: int | None,
    options: dict[str, Any],
    cache: bool = True,
    values: Mapping[str, int] | None = None,
) -> Module:
    """As `compile`, from what is in files, each with its name."""
    if not isinstance(target, str):  # pyright: ignore[reportUnnecessaryIsInstance] - not every caller is type-checked
        raise TypeError(f"`target` is the name of one, found {target!r}")
    if num_threads is not None:
        is_whole = not isinstance(num_threads, bool) and hasattr(num_threads, "__index__")
        if not is_whole or num_threads < 1:
            raise ValueError(f"num_threads is a whole number from 1 on, found {num_threads!r}")
    chosen = Options(**check_options({**options, "checks": checks}))
    files = [driver.decode(name, data) for data, name in texts]
    values = _read_values(values)
    kept = _find_kept(files, target, chosen, values) if cache and not chosen.device else None
    built = kept.read() if kept else None
    rebuild = (compile_texts, (tuple(texts), target, checks, num_threads, options, cache, values))
    if kept and built:
        name, backend, info = files[0][0].name, kept.backend, kept.info
        return Module(name, backend, info, chosen, num_threads, built, _Again(texts, values), rebuild, cache)
    reporter, program, said = _check(files, values)
    if chosen.device:
        found = driver.resolve_on_device(target, chosen.device, reporter)
    else:
        found = driver.resolve_target(target, reporter)
    if found is None or program is None:
        raise CompileError([*said, *reporter.in_order()])
    backend, info = found
    missing = backend.missing(info.name) if info.runs and not chosen.features else ""  # with changes its loader must tell
    if missing:
        message = f"`{info.name}` needs {missing}, which this machine lacks"
        reporter.report(FEATURE_MISSING, message, None, helps=[Help("`native` is the best target that this machine has")])
        raise CompileError(reporter.in_order())
    built = build(program, backend, info, chosen, reporter)
    if kept:
        kept.write(built)
    return Module(program.source.name, backend, info, chosen, num_threads, built, lambda: program, rebuild, cache)


def _read_values(given: Mapping[str, int] | None) -> dict[str, int]:
    values = dict(given or {})
    for name, value in values.items():
        if type(name) is not str or type(value) is not int:
            raise TypeError(f"`defines` are integers by the names of constants, found {name!r}: {value!r}")
    return values


def _find_kept(
    files: Sequence[tuple[Source, Reporter]], target: str, options: Options, values: Mapping[str, int]
) -> CacheFile | None:
    """Where code for the target is kept, if it can be."""
    found = driver.find_target(target)
    if found is None or not found[1].keeps or any(reporter.failed for _, reporter in files):
        return None
    from cajeta_dot.run.cache import CacheFile

    backend: Any = found[0]  # a KeepingBackend
    return CacheFile([source for source, _ in files], backend, found[1], options, values)


class _Again:
    """The program of a module whose code was kept: checked when somebody asks for it, and once."""

    def __init__(self, texts: Sequence[tuple[bytes, str]], values: Mapping[str, int]):
        self.texts, self.values = texts, values
        self.program: Program | None = None

    def __call__(self) -> Program:
        if self.program is None:
            self.program = _check([driver.decode(name, data) for data, name in self.texts], self.values)[1]
        assert self.program  # it was compiled before
        return self.program


def _check(
    files: Sequence[tuple[Source, Reporter]], values: Mapping[str, int]
) -> tuple[Reporter, Program | None, list[Diagnostic]]:
    """Where to report more, the program, and what was said about files that could not be parsed."""
    if len(files) == 1:
        source, reporter = files[0]
        return reporter, driver.check_source(source, reporter, values), []
    from cajeta_dot.files import Files

    checked = Files(files, values)
    return checked.reporter, checked.program, [d for _, reporter in files for d in reporter.in_order()]
