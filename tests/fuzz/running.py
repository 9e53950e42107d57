"""Runs a random program on a target, and says in what two runs differ."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cajeta_dot import driver
from cajeta_dot.diagnostics import CompileError
from cajeta_dot.run.compile import compile as compile_text
from cajeta_dot.run.errors import KernelError

from .reduce import reduce_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from .programs import Program

    Elements = NDArray[Any]

FILE = "fuzz.cj"
REFERENCE = "reference"
_CLAMPING = "x86-maddubs"  # not exact, and says so
LEVELS = (2, 0, 3, 1)


class Outcome(NamedTuple):
    """What a run leaves: all arguments, the value of a host method, the error."""

    arguments: tuple[Any, ...]
    value: Any
    error: str


class Setting(NamedTuple):
    """How a program is run. `threads` spread the workgroups; `device` is what runs it if not this processor."""

    target: str
    optimize: int = 2
    threads: int = 1
    device: str = ""

    def __str__(self) -> str:
        return f"{self.device or self.target}, optimize={self.optimize}, num_threads={self.threads}"


@cache
def find_targets() -> list[str]:
    """All exact processors whose code this machine can run; the reference is none, and GPUs are not called as these are."""
    return [
        info.name
        for backend, info in driver.all_targets()
        if info.runs and info.name not in (REFERENCE, _CLAMPING) and "ptx" not in info.kinds and not backend.missing(info.name)
    ]


def pick_settings(seed: int, count: int = 2) -> list[Setting]:
    """Some of the targets for a seed; seeds in a row take turns, and at every turn another level of optimization."""
    targets = find_targets()
    picked: list[Setting] = []
    for step in range(min(count, len(targets))):
        number = seed * count + step
        picked.append(Setting(targets[number % len(targets)], LEVELS[(number // len(targets) + step) % 4], 1 + seed % 2))
    return picked


def all_settings(seed: int) -> list[Setting]:
    """Every target."""
    return [Setting(target, LEVELS[(seed + number) % 4], 1 + seed % 2) for number, target in enumerate(find_targets())]


def run(program: Program, setting: Setting, text: str = "") -> Outcome:
    """Runs `text`, by default the program's own. Raises CompileError if it does not compile."""
    module = compile_text(
        text or program.text,
        FILE,
        target=setting.target,
        checks=program.checks,
        num_threads=setting.threads,
        optimize=setting.optimize,
        device=setting.device,
        cache=False,  # tests put faults into the compiler
    )
    return call(module[program.entry], program)


def call(entry: Callable[..., Any], program: Program) -> Outcome:
    """Calls the entry on copies of the arguments."""
    arguments = tuple(a.copy() if hasattr(a, "copy") else a for a in program.arguments)
    extent: dict[str, Any] = {"grid": program.grid, "block": program.block} if program.grid else {}
    value, error = None, ""
    try:
        value = entry(*arguments, **extent)
    except KernelError as fault:
        error = f"{type(fault).__name__}: {fault}"
    return Outcome(arguments, value, error)


def differ(program: Program, expected: Outcome, found: Outcome) -> str:
    """Where two outcomes are not the same bits, in words; "" if they are. One NaN is as good as another."""
    if expected.error != found.error:
        return f"error {found.error or 'none'}, expected {expected.error or 'none'}"
    if not _same(expected.value, found.value):
        return f"value {found.value!r}, expected {expected.value!r}"
    for place, argument in enumerate(program.arguments):
        if hasattr(argument, "dtype"):
            wanted: Elements = expected.arguments[place]
            got: Elements = found.arguments[place]
            places = _differing(wanted, got)
            if places:
                first = places[0]
                where = f"argument {place} ({wanted.dtype}), element {first} and {len(places) - 1} more"
                return f"{where}: {got[first]!r}, expected {wanted[first]!r}"
    return ""


def _same(a: Any, b: Any) -> bool:
    if a is None or type(a) is not type(b):
        return a is b
    one: Elements = np.array([a])
    other: Elements = np.array([b])
    return not _differing(one, other)


def _differing(a: Elements, b: Elements) -> list[int]:
    alike = a == b
    if a.dtype.kind == "f":
        alike = (alike & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
    places: list[int] = np.flatnonzero(~alike).tolist()
    return places


class Failure(NamedTuple):
    """A program that a target runs otherwise than the reference."""

    program: Program
    setting: Setting
    difference: str

    def __str__(self) -> str:
        launch = f"grid={self.program.grid}, block={self.program.block}" if self.program.grid else "host method"
        head = f"seed {self.program.seed} on {self.setting}, checks={self.program.checks}, {launch}: {self.difference}"
        return f"{head}\n\n{self.program.text}"


def check(program: Program, settings: Sequence[Setting]) -> Failure | None:
    """The first target that does not do as the reference does. Raises CompileError if the program does not compile."""
    expected = run(program, Setting(REFERENCE))
    for setting in settings:
        difference = differ(program, expected, run(program, setting))
        if difference:
            return Failure(program, setting, difference)
    return None


def shrink(failure: Failure, tries: int = 400) -> Failure:
    """The same failure in a smaller program."""
    found = [failure]

    def fails(text: str) -> bool:
        program = failure.program._replace(text=text)
        try:
            expected = run(program, Setting(REFERENCE))
            if expected.error and not program.checks:
                return False  # what is not defined may end the process
            difference = differ(program, expected, run(program, failure.setting))
        except (CompileError, TypeError):
            return False
        if difference:
            found.append(Failure(program, failure.setting, difference))
        return bool(difference)

    reduce_text(failure.program.text, fails, tries)
    return found[-1]
