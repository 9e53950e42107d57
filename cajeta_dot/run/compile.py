"""From source text to a module that Python can call: the entrance to the Python API."""

from __future__ import annotations

import os

from cajeta_dot import driver
from cajeta_dot.backends import Options
from cajeta_dot.diagnostics import CompileError, Help
from cajeta_dot.diagnostics.rules import FEATURE_MISSING
from cajeta_dot.run.module import Module, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def compile(
    text: str,
    filename: str = "<string>",
    target: str = "native",
    checks: bool = True,
    num_threads: int | None = None,
    **options: Any,
) -> Module:
    """Compiles a program and, where this machine can run the target's code, loads it.

    `filename` is what messages say. With `checks`, an access outside an array, a zero divisor or a bad lane index raises
    at run time; without, the first is undefined. `num_threads` is how many threads run a kernel's workgroups; by default
    as many as the process may use. `options` are the other fields of `cajeta_dot.backends.Options`; with `device="vulkan"`,
    `"vulkan:1"` or `"vulkan:NAME"`, kernels run on that device. Checks raise nothing there: an access outside an array then
    reads zeros and stores nothing.

    Raises CompileError with all that was found: if the source has errors, if no target has that name (E0603), if this
    machine can't run it (E0601), if the target refuses the program (E06xx). Where a device was named and can't be had, or
    lacks what the program needs, it is a DeviceMissing.
    """
    # Lone surrogates are no text; as bytes they meet the check for UTF-8 that every file meets.
    return _compile(text.encode("utf-8", "surrogatepass"), filename, target, checks, num_threads, options)


def compile_file(
    path: str | os.PathLike[str],
    target: str = "native",
    checks: bool = True,
    num_threads: int | None = None,
    **options: Any,
) -> Module:
    """As `compile`, from a file. Raises OSError if it can't be read."""
    with open(path, "rb") as file:
        data = file.read()
    return _compile(data, os.fspath(path), target, checks, num_threads, options)


def _compile(data: bytes, filename: str, target: str, checks: bool, num_threads: int | None, options: dict[str, Any]) -> Module:
    if num_threads is not None and (isinstance(num_threads, bool) or num_threads < 1):
        raise ValueError(f"num_threads must be positive, found {num_threads!r}")
    chosen = Options(**check_options({**options, "checks": checks}))
    source, reporter = driver.decode(filename, data)
    if chosen.device:
        found = driver.resolve_on_device(target, chosen.device, reporter)
    else:
        found = driver.resolve_target(target, reporter)
    program = driver.check_source(source, reporter)
    if found is None or program is None:
        raise CompileError(reporter.in_order())
    backend, info = found
    missing = backend.missing(info.name) if info.runs and not chosen.features else ""  # with changes its loader must tell
    if missing:
        message = f"`{info.name}` needs {missing}, which this machine lacks"
        reporter.report(FEATURE_MISSING, message, None, helps=[Help("`native` is the best target that this machine has")])
        raise CompileError(reporter.in_order())
    rebuild = (_compile, (data, filename, target, checks, num_threads, options))
    return Module(program, backend, info, chosen, num_threads, reporter, rebuild)
