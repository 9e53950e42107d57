"""What becomes scalar code is never silent: which sites, in which form, and what to do about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cajeta_dot

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

TEXT = """class S {
    @Kernel
    static void k(KernelBuffer<int32> out, KernelBuffer<int8> bytes, KernelBuffer<uint8> w, KernelBuffer<int8> x) {
        out.vstore(0, w.vload<16>(0).dotAccum(x.vload<16>(0), out.vload<4>(0)));
        out[4] = w.vload<4>(0).dot(w.vload<4>(4));
        bytes.vstore(0, w.vload<16>(0).lut4(x.vload<16>(0)));
    }
}
"""
# Command line -> the lines of the sites that become scalar code there.
SITES = {
    "--target x86-scalar": [4, 5, 6],
    "--target x86-sse2": [6],
    "--target x86-ssse3": [],
    "--target x86-avx2 -mattr=-ssse3": [6],
    "--target x86-avx2 -mattr=-sse2": [4, 5, 6],
    "--target nvptx": [6],
    "--target nvptx --gpu-arch sm_60 --fallback": [4, 5, 6],
    "--target spirv --no-int-dot": [4, 5],
    "--target spirv": [],
}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("s.cj").write_text(TEXT)
    return "s.cj"


def found(result: Result) -> list[tuple[str, int]]:
    lines = [json.loads(line) for line in result.err.splitlines()]
    return [(line["severity"], line["start"]["line"]) for line in lines if line.get("code") == "R0601"]


@pytest.mark.parametrize("options", SITES)
def test_every_site_is_remarked_or_refused(options: str, file: str, cajetac: Callable[..., Result]) -> None:
    words = ["check", file, *options.split(), "--diag-format=json"]
    assert found(cajetac(*words)) == []
    result = cajetac(*words, "-R", "scalarized")
    assert (result.code, found(result)) == (0, [("remark", line) for line in SITES[options]])
    result = cajetac(*words, "-Werror=scalarized")
    assert (result.code, found(result)) == (bool(SITES[options]), [("error", line) for line in SITES[options]])


def test_choices_say_the_same_to_people_to_tools_and_to_python(file: str, cajetac: Callable[..., Result]) -> None:
    options = ["--print-choices", file, "--target", "x86-sse2"]
    assert cajetac(*options).out.splitlines() == [
        "s.cj:4:38: dot of 16 lanes, us, on x86-sse2: even/odd, pmaddwd: vnni needs avxvnni or avx512vnni with avx512vl",
        "s.cj:5:32: dot of 4 lanes, uu, on x86-sse2: widen, pmaddwd: vnni-int8 needs avxvnniint8 or avx10.2",
        "s.cj:6:40: lookup of 16 lanes on x86-sse2: lane by lane, a load and an insert for each lane: pshufb needs ssse3",
    ]
    told = json.loads(cajetac(*options, "--json").out)
    module = cajeta_dot.compile(TEXT, "s.cj", target="x86-sse2")
    fields = ("file", "line", "function", "operation", "lanes", "signs", "form", "instruction", "why", "exact")
    assert [{field: getattr(choice, field) for field in fields} for choice in module.choices] == [
        {field: choice[field] for field in fields} for choice in told
    ]
    result = cajetac("check", file, "--target", "x86-sse2", "-R", "choice", "--diag-format=json")
    remarks = [json.loads(line) for line in result.err.splitlines()]
    assert [(r["start"]["line"], *r["notes"]) for r in remarks if r.get("code") == "R0406"] == [
        (choice["line"], *filter(None, [choice["why"]])) for choice in told
    ]


def test_the_environment_forces_scalar_code(file: str, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAJETA_SIMD_SCALAR_FALLBACK", "1")
    result = cajetac(file, "-S", "-o", "-", "-R", "scalarized", "--diag-format=json")
    assert found(result) == [("remark", 4), ("remark", 5), ("remark", 6)]
    assert "imul" in result.out
    assert not [word for word in ("ymm", "zmm", "pmadd", "vpdp") if word in result.out]
    monkeypatch.setenv("CAJETA_SIMD_SCALAR_FALLBACK", "0")
    monkeypatch.setenv("CAJETA_HOST_FEATURES", "avx2")
    assert found(cajetac(file, "-S", "-o", "-", "-R", "scalarized", "--diag-format=json")) == []


@pytest.mark.parametrize("setting", ["", ",", "sse2"])
def test_a_machine_that_tells_nothing_is_noted_once(
    setting: str, file: str, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAJETA_HOST_FEATURES", setting)
    Path("t.cj").write_text(TEXT)
    result = cajetac(file, "t.cj", "-o", "out/", "--diag-format=short")
    note = "remark[R0605]: `native` is `x86-scalar`: CAJETA_HOST_FEATURES is empty [-Rhost-in-doubt]"
    assert (result.code, result.err.count("R0605")) == (0, 0 if setting == "sse2" else 1)
    assert (note in result.err) is (setting != "sse2")
