"""The runner of programs with known answers: what passes, what fails, what a target can't do, and a process that ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import acceptance
from tests.vulkan.devices import find_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT = """class P {
    @Kernel static void twice(KernelBuffer<int32> out, KernelBuffer<int8> a, int32 by, KernelBuffer<float32> f) {
        uint32 i = KernelThread.globalIdX();
        out[i] = a[i] * by;
        f[i] = f[i] / f[i];
    }
    static int64 sum(int32[] a) { int64 t = 0; for (int64 i = 0; i < a.count(); i++) { t += a[i]; } return t; }
    static int32 at(int32[] a, int32 i) { return a[i]; }
}
"""
ZEROS = {"name": "f", "dtype": "float32", "shape": [4], "values": [0, 1, 2, "inf"]}
KERNEL: dict[str, Any] = {
    "entry": "P.twice",
    "kind": "kernel",
    "grid": [2],
    "block": [2],
    "args": [
        {"name": "out", "dtype": "int32", "shape": [5], "fill": 7},
        {"name": "a", "dtype": "int8", "shape": [4], "file": "p.npz", "key": "a", "readonly": True},
        {"name": "by", "scalar": "int32", "value": 3},
        ZEROS,
    ],
    "expect": {"out": {"values": [-384, 0, 3, 381, 7]}, "f": {"values": ["nan", 1, 1, "nan"]}},
}
A = {"name": "a", "dtype": "int32", "shape": [3], "values": [1, 2, 3]}
SUM = {"entry": "sum", "kind": "function", "args": [{**A, "view": [1, 3, 1]}], "returns": 5}
OUTSIDE = {
    "entry": "at",
    "kind": "function",
    "args": [A, {"name": "i", "scalar": "int32", "value": 3}],
    "error": {"kind": "BoundsError|IndexError", "line": 8, "index": 3, "length": 3, "mentions": "length 3"},
}


@pytest.fixture
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a process for each target, which takes a second to start."""

    def run_target(folder: Path, target: str, names: Sequence[str], timeout: float) -> dict[str, Any]:
        return {name: acceptance.run_program(folder, name, target) for name in names}

    monkeypatch.setattr(acceptance, "run_target", run_target)


def make_folder(path: Path, *cases: dict[str, Any], targets: Any = "all", text: str = TEXT, name: str = "p") -> Path:
    np.savez(path / "p.npz", a=np.array([-128, 0, 1, 127], np.int8))
    (path / f"{name}.cj").write_text(text)
    document = {"source": f"{name}.cj", "targets": targets, "cases": cases}
    (path / f"{name}.json").write_text(json.dumps(document))
    return path


def run(folder: Path, targets: str, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, list[str]]:
    code = acceptance.main([str(folder), "--targets", targets, *more])
    return code, capsys.readouterr().out.splitlines()


def test_all_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_folder(tmp_path, KERNEL, SUM, OUTSIDE)
    code, (head, row, *rest) = run(tmp_path, "reference,x86-scalar", capsys)
    assert head.split() == ["program", "reference", "x86-scalar", "bits"]
    assert row.split() == ["p", "3/3", "3/3", "equal"]
    assert rest == ["1 programs on 2 targets, 2 runs, 0 failures"]
    assert code == 0


@pytest.mark.usefixtures("_in_process")
def test_the_table_for_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, page = make_folder(tmp_path, SUM), tmp_path / "table.md"
    assert run(folder, "reference,x86-scalar", capsys, "--markdown", str(page))[0] == 0
    assert page.read_text().splitlines() == [
        "| program | reference | x86-scalar | bits |",
        "|---|---|---|---|",
        "| p | 1/1 | 1/1 | equal |",
    ]


@pytest.mark.usefixtures("_in_process")
@pytest.mark.skipif(bool(find_problem()), reason="no Vulkan driver")
def test_devices_run_kernels_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_folder(tmp_path, KERNEL, SUM, OUTSIDE)
    make_folder(tmp_path, SUM, targets=["cpu"], name="host")
    code, lines = run(tmp_path, "reference,vulkan", capsys)
    assert [line.split() for line in lines[1:3]] == [["host", "1/1", "CPU", "only", "-"], ["p", "3/3", "1/1", "equal"]]
    assert code == 0


@pytest.mark.usefixtures("_in_process")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"expect": {"out": {"values": [-384, 0, 4, 381, 7]}}}, "out[2] is 3 instead of 4; 1 of 5 differ"),
        ({"expect": {"out": {"values": [-384, 0, 3, 381, 7]}}}, "f[0] is nan instead of 0.0; 3 of 4 differ"),
        ({"error": {"kind": "BoundsError"}}, "BoundsError is wanted, nothing was raised"),
        ({"block": [-1]}, "ValueError: block must be positive, found (-1,)"),
    ],
)
def test_failures_are_told(change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_folder(tmp_path, {**KERNEL, "label": "changed", **change}, SUM)
    code, (_, row, *rest) = run(tmp_path, "reference", capsys)
    assert row.split() == ["p", "1/2", "-"]
    assert rest == [f"p on reference: P.twice changed: {message}", "1 programs on 1 targets, 1 runs, 1 failures"]
    assert code == 1


@pytest.mark.usefixtures("_in_process")
@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({**SUM, "returns": 6}, "the value is 5 instead of 6"),
        ({**OUTSIDE, "error": {"kind": "BoundsError", "line": 9}}, "line 9 is wanted, found 8"),
        ({**OUTSIDE, "error": {"kind": "any", "mentions": "nothing"}}, "the message does not name nothing"),
        ({**OUTSIDE, "error": {"kind": "DivisionError"}}, "DivisionError is wanted, found BoundsError"),
    ],
)
def test_failures_of_host_methods(
    case: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = run(make_folder(tmp_path, case), "reference", capsys)
    assert message in lines[2]
    assert code == 1


@pytest.mark.usefixtures("_in_process")
def test_what_targets_can_not_do(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAJETA_HOST_FEATURES", "")
    make_folder(tmp_path, SUM)
    code, lines = run(tmp_path, "reference,x86-vnni", capsys)
    assert lines[1].split() == ["p", "1/1", "not", "here", "-"]
    assert lines[2].startswith("x86-vnni: error[E0601]: `x86-vnni` needs `avx512vnni`")
    assert code == 0
    assert acceptance.main([str(tmp_path), "--targets", "reference,x87"]) == 2
    assert capsys.readouterr().err == "no target or device `x87`\n"


def test_different_bits_are_found() -> None:
    results = [{"digests": {"0": "a", "1": "b"}}, {"digests": {"0": "a"}}, {"said": "unsupported"}]
    assert acceptance.agree(results) == "equal"
    assert acceptance.agree([*results, {"digests": {"1": "c"}}]) == "DIFFERENT"
    assert acceptance.agree(results[1:]) == "-"


def test_a_program_that_ends_its_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one runs in a new process; one that does not come to an end is stopped."""
    for name in ("a", "b", "c"):
        make_folder(tmp_path, SUM, name=name)
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os, time\n"
        "from tests import acceptance\n"
        "plain = acceptance.run_program\n"
        "def run(folder, name, target):\n"
        "    if name == 'a': os._exit(9)\n"
        "    if name == 'b': time.sleep(60)\n"
        "    return plain(folder, name, target)\n"
        "import runpy, sys\n"
        "acceptance.run_program = run\n"
        "if '--child' in sys.orig_argv:\n"
        "    sys.exit(acceptance.main(sys.orig_argv[sys.orig_argv.index('tests.acceptance') + 1:]))\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{site}:{Path(__file__).parents[2]}")
    code, lines = run(tmp_path, "reference", capsys, "--timeout", "5")
    assert [line.split()[:2] for line in lines[1:4]] == [["a", "0/1"], ["b", "0/1"], ["c", "1/1"]]
    assert lines[4:6] == ["a on reference: the process ends with 9", "b on reference: no answer in 5 s"]
    assert code == 1
