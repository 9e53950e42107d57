"""Every benchmark runs and prints a number for each row. What the numbers are is not tested: machines differ, and are busy."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks import calls, check, cold, growth, kernels, parse, start_up, turns
from benchmarks.cases import list_cases
from benchmarks.sides import Case, Peers

NUMBER = re.compile(r"\d+\.\d+")
needs_compiler = pytest.mark.skipif(not shutil.which("gcc"), reason="NO GCC: install a C compiler to have the peers compiled")


@pytest.fixture(autouse=True)
def one_run_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "ROUND_SECONDS", 0.0)


def rows(text: str) -> dict[str, list[float]]:
    """The numbers of each line but the first, by what stands in front of them."""
    found: dict[str, list[float]] = {}
    for line in text.splitlines()[1:]:
        name, *_ = NUMBER.split(line, maxsplit=1)
        found[name.strip()] = [float(number) for number in NUMBER.findall(line)]
    return found


@needs_compiler
def test_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    kernels.main(["dot us 4 KiB", "saxpy", "Q4_K once", "signedness", "2 threads", "--rounds", "1"])
    found = rows(capsys.readouterr().out)
    assert len(found) == 7
    assert all(numbers for numbers in found.values())


@needs_compiler
def test_every_case_has_a_name_of_its_own(tmp_path: Path) -> None:
    names = [name for name, _ in list_cases(Peers(tmp_path))]
    assert len(names) == len(set(names)) > 20


def test_other_results_stop_the_benchmark() -> None:
    import numpy as np

    ours, theirs = np.ones(3, np.int32), np.zeros(3, np.int32)
    case = Case(lambda: None, lambda: None, {"peer": lambda: theirs.fill(2)}, 1, ours, theirs)
    with pytest.raises(SystemExit, match="peer has other results"):
        case.compare()
    same = case._replace(peers={"peer": lambda: theirs.fill(1)})
    same.compare()


@needs_compiler
def test_calls(capsys: pytest.CaptureFixture[str]) -> None:
    calls.main(["--rounds", "1"])
    found = rows(capsys.readouterr().out)
    assert {"numpy.add, one element", "ctypes, pointers made before", "kernel, one workgroup"} <= set(found)


def test_cold_processes(capsys: pytest.CaptureFixture[str]) -> None:
    cold.main(["1"])
    assert list(rows(capsys.readouterr().out)) == ["spirv", "nvptx", "x86-vnni"]


def test_growth(capsys: pytest.CaptureFixture[str]) -> None:
    growth.main(["1", "2"])
    found = rows(capsys.readouterr().out)
    assert len(found) == 6
    assert all(len(numbers) == 2 for numbers in found.values())


def test_start_up(capsys: pytest.CaptureFixture[str]) -> None:
    start_up.main(1)
    assert len(rows(capsys.readouterr().out)) == 10


@pytest.mark.parametrize("main", [parse.main, check.main], ids=["parse", "check"])
def test_front_end(main: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(main)
    monkeypatch.setattr(sys, "argv", ["", "100"])
    main()
    assert NUMBER.search(capsys.readouterr().out.splitlines()[-1])
