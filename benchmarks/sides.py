"""What is timed: a kernel with and without checks, and its peers: C of our own, and other software (`peers.py`)."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import cajeta_dot as cj

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[], Any]
    Array = np.ndarray[Any, Any]

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples"
REPEATS = 64  # launched along z, which the kernels don't look at: so that the call from Python does not count


class Case(NamedTuple):
    """One kernel: how it is run with and without checks, and what it is measured against.

    work: operations of one launch, of which a run does `repeats`. ours, theirs: where results are written, to be compared;
    the same array where a peer works on the kernel's own. clock: what tells the time: of the thread, or where there are
    several of the wall.
    """

    run: Run
    unchecked: Run
    peers: dict[str, Run]
    work: int
    ours: Array
    theirs: Array
    repeats: int = REPEATS
    clock: Callable[[], float] = time.thread_time

    def compare(self) -> None:
        """Runs every side once. Raises SystemExit where one does not write what the kernel does: the same integers, or
        floats as near as another order of additions leaves them."""
        self.run()
        if self.ours is self.theirs:
            return
        for name, run in self.peers.items():
            self.theirs[...] = 0
            run()
            if not _are_alike(self.ours, self.theirs):
                raise SystemExit(f"{name} has other results")


def _are_alike(ours: Array, theirs: Array) -> bool:
    if ours.dtype.kind == "f":
        return np.allclose(ours, theirs, rtol=2e-5, atol=1e-5 * float(np.abs(theirs).max()))
    return np.array_equal(ours, theirs)


class Peers:
    """The C library. Where this machine has no AVX-512 VNNI, what needs it is not in there."""

    def __init__(self, folder: Path):
        compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            raise SystemExit("no C compiler: install gcc, or name one in CC")
        path = folder / "peers.so"
        # As the language has it: a product is rounded before it is added.
        flags = ["-O3", "-march=native", "-ffp-contract=off", "-pthread", "-shared", "-fPIC", "-o", str(path)]
        subprocess.run([compiler, *flags, str(HERE / "peers.c")], check=True)
        self.library = ctypes.CDLL(str(path))

    def bind(self, repeats: int = REPEATS, /, **named: tuple[Any, ...]) -> dict[str, Run]:
        """So many calls with fixed arguments, by what the rows are called; those that the library lacks are left out."""
        made: dict[str, Run] = {}
        for label, (name, *arguments) in named.items():
            if hasattr(self.library, name):
                function = getattr(self.library, name)
                function.restype = None
                made[label] = _fix(function, repeats, [_in_c(argument) for argument in arguments], arguments)
        return made


def _fix(function: Any, repeats: int, passed: list[Any], kept: object) -> Run:
    def run(kept: object = kept) -> None:
        for _ in range(repeats):
            function(*passed)

    return run


def _in_c(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_float(argument) if isinstance(argument, float) else ctypes.c_int64(argument)


def align(array: Array) -> Array:
    """A copy that begins at a cache line, as `cajeta_dot.empty` makes them."""
    made = cj.empty(array.shape, array.dtype)
    made[...] = array
    return made


def make_runs(
    source: str | Path,
    name: str,
    *arguments: Any,
    grid: tuple[int, int],
    block: int | tuple[int, int],
    repeats: int = REPEATS,
    target: str = "native",
) -> tuple[Run, Run]:
    """The kernel with and without checks, in one thread and so many times in one launch."""
    compiler: Any = cj.compile_file if isinstance(source, Path) else cj.compile
    checked, unchecked = (compiler(source, target=target, checks=checks, num_threads=1)[name] for checks in (True, False))
    launch: dict[str, Any] = {"grid": (*grid, repeats), "block": block}
    return lambda: checked(*arguments, **launch), lambda: unchecked(*arguments, **launch)
