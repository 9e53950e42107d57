"""explain, targets, kernels and choices."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.diagnostics import rules
from cajeta_dot.diagnostics.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result


@pytest.mark.parametrize("code", RULES)
def test_every_code_is_explained(code: str, cajetac: Callable[..., Result]) -> None:
    page = Path(rules.__file__).with_name(f"{code}.md").read_text(encoding="utf-8")
    for words in (["explain", code], ["explain", code.lower()], ["explain", RULES[code].name], ["--explain", code]):
        assert cajetac(*words) == (0, page, "")


def test_a_page_is_shown_whole(cajetac: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "E0402.md").write_text("# E0402\n\nä page\n", encoding="utf-8")
    monkeypatch.setattr(rules, "__file__", str(tmp_path / "__init__.py"))
    assert cajetac("explain", "E0402").out == "# E0402\n\nä page\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["X9999"], "error[E0003]: no diagnostic `X9999`\n\n"),
        (["E0407x"], "error[E0003]: no diagnostic `E0407x`\n  = help: did you mean `E0407`?"),
        (["e0503"], "error[E0003]: no diagnostic `e0503`\n  = help: did you mean `E"),
        (["operandsign"], "error[E0003]: no diagnostic `operandsign`\n  = help: did you mean `operand-sign`?"),
        (["lane-cuont"], "error[E0003]: no diagnostic `lane-cuont`\n  = help: did you mean `lane-count`?"),
        ([], "error[E0003]: `cajetac explain` takes one code\n  = help: for example `cajetac explain E0402`"),
        (["E0401", "E0402"], "error[E0003]: `cajetac explain` takes one code\n  = help: for example `cajetac explain E0402`"),
    ],
)
def test_what_cannot_be_explained(words: list[str], message: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("explain", *words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(message)


def test_targets(cajetac: Callable[..., Result]) -> None:
    result = cajetac("targets")
    assert (result.code, result.err) == (0, "")
    assert result == cajetac("--print-targets")
    rows = {line.split("  ")[0]: line for line in result.out.splitlines()}
    assert "emits only" in rows["fake, fk"]
    assert "llvm-ir,asm,obj" in rows["fake, fk"]
    assert "  runs  " in rows["fake-run"]
    assert "  needs a coprocessor  " in rows["fake-lack"]


def test_one_target_is_told_whole(cajetac: Callable[..., Result]) -> None:
    result = cajetac("targets", "fk")
    lines = ["target      fake, fk", "            emits three kinds", "here        emits only", "emits       llvm-ir, asm, obj"]
    assert result == (0, "\n".join([*lines, "dot         vpfake\n"]), "")
    result = cajetac("targets", "x86-vnni")
    assert (result.code, result.err) == (0, "")
    assert re.search(r"^-mcpu  .*\n(?:  .*\n)*  .*\bznver4\b", result.out, re.MULTILINE)
    assert re.search(r"^-mattr  .*\n(?:  .*\n)*  .*\bavxvnni\b", result.out, re.MULTILINE)
    assert "\n--gpu-arch  sm_50 sm_52 " in cajetac("targets", "nvptx").out
    (row,) = json.loads(cajetac("targets", "nvptx", "--json").out)
    assert "sm_61" in row["architectures"]


def test_targets_takes_names_of_targets(cajetac: Callable[..., Result]) -> None:
    assert cajetac("targets", "k.cj") == (2, "", "error[E0603]: no target `k.cj`\n  = help: `cajetac targets` lists them\n\n")
    assert cajetac("targets", "fake", "fk") == (2, "", "error[E0003]: `cajetac targets` takes one name at most, found 2\n\n")


def test_targets_as_json(cajetac: Callable[..., Result]) -> None:
    found = {row["name"]: row for row in json.loads(cajetac("targets", "--json").out)}
    kinds = ["llvm-ir", "asm", "obj"]
    same = {"kinds": kinds, "backend": "fake", "devices": [], "cpus": [], "architectures": [], "features": []}
    assert found["fake"] == same | {
        **{"name": "fake", "aliases": ["fk"], "summary": "emits three kinds"},
        **{"dot": "vpfake", "runs": False, "missing": ""},
    }
    assert found["fake-lack"] == same | {
        **{"name": "fake-lack", "aliases": [], "summary": "runs elsewhere"},
        **{"dot": "", "runs": True, "missing": "a coprocessor"},
    }


def test_kernels(kernel: str, cajetac: Callable[..., Result]) -> None:
    assert cajetac("--print-kernels", kernel) == (
        0,
        "kernel K.add(KernelBuffer<int32> out, KernelBuffer<int8> w, int32 n)\nhost int64 K.count(float32[] x, boolean all)\n",
        "",
    )
    add, count = json.loads(cajetac(kernel, "--print-kernels", "--json").out)
    assert add == {
        **{"file": "k.cj", "line": 3, "kind": "kernel", "name": "K.add", "result": "void"},
        "parameters": [
            {"name": "out", "type": "KernelBuffer<int32>"},
            {"name": "w", "type": "KernelBuffer<int8>"},
            {"name": "n", "type": "int32"},
        ],
    }
    assert (count["line"], count["kind"], count["name"], count["result"]) == (8, "host", "K.count", "int64")


def test_choices(kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("--print-choices", kernel, "--target=fake")
    assert result == (0, "k.cj:3:24: dotAccum of 64 lanes, us, on fake: vnni, vpdpbusd (not exact): fits\n", "")
    (choice,) = json.loads(cajetac("--print-choices", kernel, "--target=fake", "--json").out)
    assert choice == {
        **{"target": "fake", "file": "k.cj", "line": 3, "column": 24, "function": "K.add", "operation": "dotAccum"},
        **{"lanes": 64, "signs": "us", "form": "vnni", "instruction": "vpdpbusd", "why": "fits", "exact": False},
    }
    assert len(json.loads(cajetac("--print-choices", kernel, "--target=fake,fake-gpu", "--json").out)) == 2


def test_a_method_called_twice_is_told_once(tmp_path: Path, cajetac: Callable[..., Result]) -> None:
    file = tmp_path / "twice.cj"
    file.write_text(
        "class K {"
        " @Device static int32 f(uint8[] w, int8[] x, int64 n) {"
        " return w.vload<4>(n).dotAccum(x.vload<4>(n), Vector<int32,1>(0))[0]; }"
        " @Kernel static void k(int32[] y, uint8[] w, int8[] x) { y[0] = f(w, x, 0L) + f(w, x, 4L); } }"
    )
    out = cajetac("--print-choices", file, "--target=x86-avx2").out
    assert (out.count("dot of 4 lanes"), len(out.splitlines())) == (1, 1)


def test_what_the_source_is_told_is_told_once(kernel: str, cajetac: Callable[..., Result]) -> None:
    """However many targets are asked."""
    Path("warn.cj").write_text("class K { @Kernel static void f(int8[] out, int32 n) { out[0] = n; } }")
    result = cajetac("--print-choices", "warn.cj", "--target=fake,fake-gpu", "--diag-format=short")
    assert result.err.count("warning[W0302]") == 1
    assert [line.split(" on ")[1].split(":")[0] for line in result.out.splitlines()] == ["fake", "fake-gpu"]


def test_processors_and_features_are_for_targets_that_take_them(kernel: str, cajetac: Callable[..., Result]) -> None:
    for option, words in (("-mcpu", "-mcpu=znver4"), ("-mattr", "-mattr=+avx2")):
        message = f"error[E0003]: `{option}` is for the targets of CPUs, found `fake`\n  = help: leave it out\n\n"
        assert cajetac("check", kernel, "--target=fake", words) == (2, "", message)
    result = cajetac("check", kernel, "--target=x86-avx2", "-mcpu", "znver44", "--diag-format=short")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("k.cj: error[E0603]: no x86 processor `znver44`")


@pytest.mark.parametrize("query", ["--print-kernels", "--print-choices"])
@pytest.mark.parametrize("json", [[], ["--json"]])
def test_errors_leave_no_answer(query: str, json: list[str], kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("bad.cj").write_text("class K { static int32 f() { return x; } }")
    result = cajetac(query, "bad.cj", "--target=fake", "--diag-format=short", *json)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("bad.cj:1:37: error[E0201]")


@pytest.mark.parametrize(
    ("features", "target", "why"),
    [("avx2", "x86-avx2", "`x86-avx512bw` needs `avx512bw`"), ("", "x86-scalar", "CAJETA_HOST_FEATURES is empty"),
     ("avx10.2,avxvnniint8,avxvnni,avx512vnni,avx512vl", "x86-avx10.2", "it is the best there is")],
)  # fmt: skip
def test_what_native_is_here(
    features: str, target: str, why: str, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAJETA_HOST_FEATURES", features)
    monkeypatch.delenv("CAJETA_SIMD_SCALAR_FALLBACK", raising=False)
    told = cajetac("--print-host")
    assert told.code == 0
    assert f"native      {target}: {why}\n" in told.out
    host = json.loads(cajetac("--print-host", "--json").out)
    assert (host["target"], host["why"], host["name"]) == (target, why, "as CAJETA_HOST_FEATURES says")
    assert set(features.split(",")) - {""} <= set(host["features"])
    monkeypatch.setenv("CAJETA_SIMD_SCALAR_FALLBACK", "1")
    assert json.loads(cajetac("--print-host", "--json").out)["target"] == "x86-scalar"
    assert cajetac("--print-host", "k.cj").code == 2
