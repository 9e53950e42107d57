"""Random programs do on every target what the reference does; the programs are varied; and planted faults are found."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends.forms import forms
from cajeta_dot.backends.llvm import conversions, jit, operations
from cajeta_dot.diagnostics import ERROR, CompileError
from cajeta_dot.record import replace
from cajeta_dot.run.compile import compile as compile_text
from tests.conftest import ROOT, child_environment

from .programs import Program, make_program
from .running import FILE, REFERENCE, Failure, Setting, check, find_targets, pick_settings, run, shrink
from .scalars import COMPARISONS, COORDINATES, SHIFTS
from .writer import NUMBERS, TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.run.errors import KernelError
    from cajeta_dot.types import Scalar

    Plant = Callable[[pytest.MonkeyPatch], None]

CHUNK = 10
DRAWN = 300  # programs over which is counted what is drawn


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" in metafunc.fixturenames:
        first: int = metafunc.config.option.fuzz_seed
        count: int = metafunc.config.option.fuzz_programs
        chunks = [range(start, min(start + CHUNK, first + count)) for start in range(first, first + count, CHUNK)]
        metafunc.parametrize("seeds", chunks, ids=[f"{seeds[0]}-{seeds[-1]}" for seeds in chunks])


def test_programs_agree(seeds: range) -> None:
    for seed in seeds:
        failure = check(make_program(seed), pick_settings(seed))
        if failure:
            pytest.fail(f"{failure}\nshrunk: {shrink(failure)}")


def test_every_target_has_its_turn() -> None:
    met = {setting.target for seed in range(DRAWN) for setting in pick_settings(seed)}
    assert met == set(find_targets())
    levels = {(setting.target, setting.optimize) for seed in range(DRAWN) for setting in pick_settings(seed)}
    assert len(levels) == 4 * len(met)


# ---- what is drawn


@cache
def draw_many() -> list[Program]:
    return [make_program(seed) for seed in range(DRAWN)]


_OFTEN = (
    *(row.name for table in TABLES for row in table.rows),
    *(f"operator {op}" for op in ("+", "-", "*", "/", "%", "&", "|", "^", "~", "&&", "||", *SHIFTS, *COMPARISONS)),
    *(f"type {type}" for type in ("boolean", *NUMBERS)),
    *(f"buffer of {type}" for type in NUMBERS),
    *(f"coordinate {name}" for name in COORDINATES),
    *(f"mode {mode}" for mode in ("guarded", "faulting", "unchecked")),
    *(f"{kind} entry" for kind in ("kernel", "host")),
    *(f"{kind} helper" for kind in ("device", "host")),
    *(f"cast {a} to {b}" for a in ("float", "integer") for b in ("float", "integer")),
    *("static final constant", "local named like a constant", "overload", "unguarded division", "unreachable code"),
    *("loop of unknown length", "loop over dotAccum", "break", "continue", "comparison of mixed signs", "Cajeta.vload16"),
    *("barrier", "barrier in a loop", "barrier under a condition", "Shared", "BlockPadded"),
)


def test_everything_is_drawn() -> None:
    total: Counter[str] = Counter()
    for program in draw_many():
        total.update(program.used)
    rare = {what: total[what] for what in _OFTEN if total[what] < 8}
    assert not rare
    lanes = [int(what.split()[1]) for what in total if what.startswith("lanes ")]
    assert len(lanes) >= 18
    assert min(lanes) == 1
    assert max(lanes) == 256


def test_errors_are_drawn() -> None:
    """Run-time errors of every kind, in a fair part of the programs that may have them."""
    found: Counter[str] = Counter()
    for program in draw_many():
        found[run(program, Setting(REFERENCE)).error.partition(":")[0]] += 1
    assert found["BoundsError"] >= 8
    assert found["DivisionError"] >= 3
    assert found["LaneIndexError"] >= 3
    assert found[""] >= 0.8 * DRAWN


def digest(seeds: range) -> str:
    """Everything that seeds stand for: text, arguments, launch."""
    found = hashlib.sha256()
    for seed in seeds:
        program = make_program(seed)
        found.update(f"{program.text}{program.grid}{program.block}{program.checks}".encode())
        for argument in program.arguments:
            found.update(argument.tobytes() if isinstance(argument, np.ndarray) else repr(argument).encode())
    return found.hexdigest()


def test_a_seed_is_a_program() -> None:
    """In every process, whatever was drawn before."""
    code = "from tests.fuzz.test_programs import digest; print(digest(range(5, 20)))"
    made = subprocess.run(
        [sys.executable, "-c", code], env=child_environment(PYTHONHASHSEED="7"), cwd=ROOT, capture_output=True, check=True
    )
    assert made.stdout.decode().strip() == digest(range(5, 20))


# ---- text for GPUs


@pytest.mark.parametrize("target", ["spirv", "nvptx"])
def test_gpu_text_or_a_reason(target: str) -> None:
    """A program is compiled, or refused at a place in it; nothing else."""
    compiled = 0
    for seed in range(1000, 1040):
        program = make_program(seed)
        try:
            assert compile_text(program.text, FILE, target=target, checks=False).emit()
            compiled += 1
        except CompileError as refused:
            errors = [found for found in refused.diagnostics if found.severity == ERROR]
            assert {found.code for found in errors} == {"E0604"}, seed
            assert all(found.primary for found in errors), seed
    assert compiled >= 15


# ---- is anything found?


def break_shift(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(operations.INSTRUCTIONS, ("shr", "s"), "lshr")


def break_comparison(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(operations.COMPARISONS, ("lt", "u"), "icmp slt")


def break_float_comparison(patch: pytest.MonkeyPatch) -> None:
    """As if a NaN were less than everything."""
    patch.setitem(operations.COMPARISONS, ("lt", "f"), "fcmp ult")


def break_select(patch: pytest.MonkeyPatch) -> None:
    right = operations.RULES["select"]

    def select(writer: Any, value: Any, args: Sequence[str]) -> str:
        condition, first, second = args
        return right(writer, value, (condition, second, first))

    patch.setitem(operations.RULES, "select", select)


def break_widening(patch: pytest.MonkeyPatch) -> None:
    right = conversions._instruction  # pyright: ignore[reportPrivateUsage]

    def widen(old: Scalar, new: Scalar) -> str:
        return right(old, new).replace("zext", "sext")

    patch.setattr(conversions, "_instruction", widen)


def break_dot(patch: pytest.MonkeyPatch) -> None:
    """Sums of pairs clamp, as those of the target do that says so."""
    right = forms.choose

    def choose(*given: Any, **named: Any) -> Any:
        return right(*given, **{**named, "allowed_inexact": True})

    patch.setattr(forms, "choose", choose)


def break_line_of_error(patch: pytest.MonkeyPatch) -> None:
    right = jit.make_error

    def make(source: Any, site: Any, value: int, other: int) -> KernelError:
        return right(source, replace(site, start=0), value, other)

    patch.setattr(jit, "make_error", make)


PLANTED: list[Plant] = [
    break_shift,
    break_comparison,
    break_float_comparison,
    break_select,
    break_widening,
    break_dot,
    break_line_of_error,
]


def find_failure(seeds: range) -> Failure | None:
    """With checks on: wrong code must not write where it likes."""
    setting = Setting("x86-avx2" if "x86-avx2" in find_targets() else "native", optimize=0)
    found = (check(make_program(seed)._replace(checks=True), [setting]) for seed in seeds)
    return next(filter(None, found), None)


@pytest.mark.parametrize("plant", PLANTED)
def test_planted_faults_are_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert find_failure(range(DRAWN))


def test_failures_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    break_shift(monkeypatch)
    failure = find_failure(range(DRAWN))
    assert failure
    small = shrink(failure, tries=150)
    assert small.difference
    assert len(small.program.text) < len(failure.program.text) / 2
    assert f"seed {failure.program.seed} " in str(small)
    assert small.program.text in str(small)
