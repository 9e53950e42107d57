"""cajeta-dot: a compiler for the Cajeta vector dialect. int8 dot products written once, the same bits on every machine.

    module = cajeta_dot.compile_file("k.cj")
    module["matvec"](y, w, x, rows, threads=rows)

What is public is listed in `__all__`; it is imported when it is first asked for, so that the command line starts fast.
"""

from __future__ import annotations

from os import path

from .version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .diagnostics import CompileError
    from .run.arrays import empty
    from .run.compile import compile, compile_file
    from .run.errors import BoundsError, DeviceError, DeviceMissing, DivisionError, KernelError, LaneIndexError
    from .run.functions import Function
    from .run.module import Module

# Installed, grammar/ and backends/ lie inside this package; in a checkout they stand beside it.
_here = path.dirname(path.abspath(__file__))
if not path.isdir(path.join(_here, "grammar")):
    __path__.append(path.dirname(_here))

_HOMES = {
    "compile": "run.compile",
    "compile_file": "run.compile",
    "empty": "run.arrays",
    "Module": "run.module",
    "Function": "run.functions",
    "CompileError": "diagnostics",
    "KernelError": "run.errors",
    "BoundsError": "run.errors",
    "DeviceError": "run.errors",
    "DeviceMissing": "run.errors",
    "DivisionError": "run.errors",
    "LaneIndexError": "run.errors",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = __import__(f"{__name__}.{_HOMES[name]}", fromlist=[name])
    found = globals()[name] = getattr(home, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


__all__ = [
    "BoundsError",
    "CompileError",
    "DeviceError",
    "DeviceMissing",
    "DivisionError",
    "Function",
    "KernelError",
    "LaneIndexError",
    "Module",
    "__version__",
    "compile",
    "compile_file",
    "empty",
]
