"""`cajetac bench`: what is timed, what is said, what is drawn."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.cli.bench import Timed
from cajeta_dot.cli.plot import draw_bars
from tests.llvm.programs import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Result

TEXT = """
@Kernel public static void row(KernelBuffer<int32> y, KernelBuffer<uint8> w, KernelBuffer<int8> x, int32 n) {
    Vector<int32,4> acc = Vector<int32,4>(0);
    for (int32 k = 0; k + 16 <= n; k += 16) { acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc); }
    y[KernelThread.globalIdX()] = acc.sum();
}
public static int32 twice(int32 n) { return n * 2; }
"""
ROW = [
    "--kernel=row",
    "--arg=y=zeros:int32:4",
    "--arg=w=zeros:uint8:256",
    "--arg=x=zeros:int8:256",
    "--arg=n=256",
    "--threads=4",
]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "k.cj"
    path.write_text(TEXT)
    return path


def test_every_target_of_this_machine(cajetac: Callable[..., Result], program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cajeta_dot.cli.bench.ROUND_SECONDS", 0.0)
    result = cajetac("bench", program, *ROW, "--arg=y=zeros:int32:64", "--rounds=2")
    assert result.code == 0
    head, *rows = result.out.splitlines()
    assert head.split() == ["target", "median", "best", "times"]
    assert {row.split()[0] for row in rows} >= set(EXACT)
    assert rows[0].split()[5] == "1.00"


def test_json_and_plot(cajetac: Callable[..., Result], program: Path, tmp_path: Path) -> None:
    plot = tmp_path / "times.svg"
    words = (*ROW, "--arg=y=zeros:int32:64", "--rounds=3", f"--target={','.join(EXACT)}", "--json", f"--plot={plot}")
    result = cajetac("bench", program, *words)
    assert result.code == 0
    rows = json.loads(result.out)
    assert {row["target"] for row in rows} == set(EXACT)
    assert all(row["rounds"] == 3 and row["same_result"] and 0 < row["best_us"] <= row["median_us"] for row in rows)
    texts = [element.text for element in ET.parse(plot).iter(f"{SVG}text")]
    assert texts[1] == rows[0]["target"]
    assert texts[0] == "k.row, median of 3 rounds"


def test_a_plot_takes_the_place_of_no_input(cajetac: Callable[..., Result], program: Path) -> None:
    result = cajetac("bench", program, *ROW, "--target=x86-scalar", f"--plot={program}")
    assert (result.code, result.out) == (2, "")
    assert f"`{program}` is an input; it would be overwritten" in result.err
    assert program.read_text() == TEXT


def test_host_method(cajetac: Callable[..., Result], program: Path) -> None:
    result = cajetac("bench", program, "--kernel=twice", "--arg=n=21", "--rounds=1", "--target=x86-scalar")
    assert (result.code, len(result.out.splitlines())) == (0, 2)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "`cajetac bench` needs `--kernel NAME`"),
        (["--kernel=row"], 2, "argument `y` is missing"),
        ([*ROW, "--rounds=0"], 2, "takes 1 or more"),
        ([*ROW, "--target=spirv"], 1, "makes code to run elsewhere"),
        ([*ROW, "--target=x86-nothing"], 2, "no target"),
        ([*ROW, "--arg=n=999", "--arg=y=zeros:int32:64"], 1, "elements 256..271 of an array of length 256"),
        ([*ROW, "--grid=1"], 2, "takes threads alone"),
        ([*ROW, "--emit=asm"], 2, "has no option"),
    ],
)
def test_what_can_not_be_timed(cajetac: Callable[..., Result], program: Path, words: list[str], code: int, said: str) -> None:
    result = cajetac("bench", program, *words)
    assert (result.code, result.out) == (code, "")
    assert said in result.err


def test_results_that_differ_are_said(cajetac: Callable[..., Result], program: Path) -> None:
    """The clamping target, with bytes that it clamps."""
    if "x86-avx2" not in EXACT:
        pytest.skip("no AVX2")
    many = ",".join(["255"] * 16)
    arguments = ["--arg=y=zeros:int32:1", f"--arg=w=uint8:{many}", f"--arg=x=int8:{many.replace('255', '127')}", "--arg=n=16"]
    words = ["--kernel=row", *arguments, "--threads=1", "--rounds=1", "--target=x86-avx2,x86-maddubs", "--json"]
    rows = json.loads(cajetac("bench", program, *words, "--arg=y=zeros:int32:64", "-w").out)
    assert {row["target"]: row["same_result"] for row in rows} == {"x86-avx2": True, "x86-maddubs": False}


def test_progress_only_where_it_takes_long(
    cajetac: Callable[..., Result], program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (*ROW, "--arg=y=zeros:int32:64", "--rounds=2", "--target=x86-scalar")
    monkeypatch.setattr("cajeta_dot.cli.bench.PATIENCE", 1000.0)
    assert cajetac("bench", program, *words).err == ""
    monkeypatch.setattr("cajeta_dot.cli.bench.PATIENCE", 0.0)
    assert cajetac("bench", program, *words).err.splitlines()[-1] == "round 2 of 2"


def test_median_of_rounds() -> None:
    timed = Timed.__new__(Timed)
    timed.seconds = [3.0, 1.0, 2.0, 9.0]
    assert timed.median == 2.5


def test_bars_are_xml_whatever_they_are_called() -> None:
    root = ET.fromstring(draw_bars("a < b & c", [('"x"', 2.0, "2 us"), ("", 0.0, ">"), ("y", 1.0, "1 us")]))
    assert [text.text for text in root.iter(f"{SVG}text")] == ["a < b & c", '"x"', "2 us", None, ">", "y", "1 us"]
    widths = [float(bar.attrib["width"]) for bar in list(root.iter(f"{SVG}rect"))[1:]]
    assert widths == [420.0, 0.0, 210.0]
    assert ET.fromstring(draw_bars("nothing", [])).attrib["width"]
