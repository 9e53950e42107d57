"""Several inputs: what one calls in another, whose finding is whose, and what goes into which output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

TOOLS = """// tools
class Tools {
    static int32 half(int32 x) { return x / 2; }
    static int32 unused(int32 x) { return x; }
    @Device static int32 at(KernelBuffer<int8> b, int32 i) { return b[i] + Tools.half(i); }
}
"""
MAIN = """class Main {
    @Kernel static void k(KernelBuffer<int32> out, KernelBuffer<int8> b) { out[0] = Tools.at(b, 2); }
    static int32 doubled(int32 x) { return Tools.half(x) * 4; }
}
"""


@pytest.fixture(autouse=True)
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(**{"Tools.cj": TOOLS, "Main.cj": MAIN})


def write(**texts: str) -> None:
    for name, text in texts.items():
        Path(name).write_text(text)


def check(cajetac: Callable[..., Result], *words: str) -> list[dict[str, Any]]:
    """What is said, as data."""
    result = cajetac("check", *words, "--diag-format=json")
    return [json.loads(line) for line in result.err.splitlines()][:-1]


def places(found: list[dict[str, Any]]) -> list[tuple[str, str, int, int]]:
    return [(one["code"], one["file"], one["start"]["line"], one["start"]["column"]) for one in found]


def test_an_output_has_its_own_methods_and_what_they_reach(cajetac: Callable[..., Result]) -> None:
    assert cajetac("Main.cj", "Tools.cj", "--target", "x86-scalar", "-O0", "-o", "out/").code == 0
    main, tools = Path("out/Main.ll").read_text(), Path("out/Tools.ll").read_text()
    exported = [
        line.split("@")[1].split("(")[0] for line in main.splitlines() if line.startswith("define ") and "internal" not in line
    ]
    assert exported == ["k", "doubled"]
    assert "@half..body" in main
    assert "unused" not in main
    assert "@half(" in tools
    assert "@unused(" in tools
    assert "@k(" not in tools


def test_outputs_do_not_depend_on_the_order_nor_on_each_other(cajetac: Callable[..., Result]) -> None:
    for folder, files in {"a/": ["Main.cj", "Tools.cj"], "b/": ["Tools.cj", "Main.cj"], "c/": ["Tools.cj"]}.items():
        assert cajetac(*files, "--target", "x86-scalar,nvptx", "-o", folder).code == 0
    assert Path("a/Main_x86-scalar.ll").read_text() == Path("b/Main_x86-scalar.ll").read_text()
    assert Path("a/Main_nvptx.ptx").read_text() == Path("b/Main_nvptx.ptx").read_text()
    assert Path("a/Tools_x86-scalar.ll").read_text() == Path("c/Tools_x86-scalar.ll").read_text()


def test_a_file_without_kernels_has_nothing_for_a_gpu(cajetac: Callable[..., Result]) -> None:
    told = cajetac("Main.cj", "Tools.cj", "--target", "spirv", "-o", "out/")
    assert told.code == 0
    assert told.err == "`Tools.cj` has no kernel, so there is no output of it for `spirv`\n"
    assert [path.name for path in Path("out").iterdir()] == ["Main.spvasm"]


def test_findings_are_about_their_own_file(cajetac: Callable[..., Result]) -> None:
    write(**{"Main.cj": MAIN.replace("Tools.half(x)", "Tools.half(true)"), "Tools.cj": TOOLS.replace("x / 2", "x / 0")})
    found = check(cajetac, "Main.cj", "Tools.cj")
    assert places(found) == [("E0208", "Main.cj", 3, 55), ("E0306", "Tools.cj", 3, 45)]
    assert found[0]["notes"] == ["`x` is `int32`: Tools.cj:3:29"]
    assert "Tools.half(true)" in found[0]["rendered"]
    assert found[1]["start"]["offset"] == TOOLS.index("/ 2") + 2


def test_a_mistake_in_one_file_hides_nothing_in_the_others(cajetac: Callable[..., Result]) -> None:
    write(**{"Tools.cj": TOOLS.replace("x / 2;", "x / 2"), "Other.cj": "class Other { static int32 f() { return y; } }"})
    found = check(cajetac, "Main.cj", "Tools.cj", "Other.cj")
    assert places(found) == [("E0104", "Tools.cj", 3, 46), ("E0201", "Other.cj", 1, 41)]


def test_a_class_of_several_files(cajetac: Callable[..., Result]) -> None:
    write(**{"More.cj": "package other;\n" + TOOLS, "Third.cj": "package third;\n" + TOOLS})
    found = check(cajetac, "Main.cj", "Third.cj", "More.cj")
    assert places(found) == [("E0209", "Main.cj", 2, 85), ("R0602", "Main.cj", 3, 44)]
    assert found[0]["message"] == "class `Tools` is defined in 2 files"
    assert found[0]["notes"] == ["defined here: Third.cj:3:7", "defined here: More.cj:3:7"]
    assert check(cajetac, "Tools.cj", "More.cj") == []
    assert check(cajetac, "Main.cj", "Tools.cj", "More.cj") == []
    write(**{"Main.cj": "import other.Tools;\n" + MAIN})
    assert check(cajetac, "Main.cj", "Tools.cj", "More.cj") == []
    write(**{"Main.cj": "package other;\n" + MAIN})
    assert check(cajetac, "Main.cj", "Tools.cj", "More.cj") == []


def test_own_classes_come_first(cajetac: Callable[..., Result]) -> None:
    write(
        **{
            "Both.cj": MAIN + "class Tools { @Device static int32 at(KernelBuffer<int8> b, int32 i) { return 7; } "
            "static int32 half(int32 x) { return 5; } }"
        }
    )
    run = ["--kernel", "Main.doubled", "--arg", "x=9"]
    assert cajetac("run", "Both.cj", "Tools.cj", "--target", "reference", *run).out == "value = 20\n"
    assert cajetac("run", "Main.cj", "Tools.cj", "--target", "reference", *run).out == "value = 16\n"


def test_calls_in_a_circle_and_kernels_that_reach_hosts(cajetac: Callable[..., Result]) -> None:
    write(**{
        "A.cj": "class A { @Device static int32 f(int32 x) { return B.g(x); }\n"
        "@Kernel static void k(KernelBuffer<int32> out) { out[0] = f(1); out[1] = B.sum(out); } }",
        "B.cj": "class B { @Device static int32 g(int32 x) { return A.f(x); }\nstatic int32 sum(int32[] a) { return a[0]; } }",
    })  # fmt: skip
    found = check(cajetac, "A.cj", "B.cj")
    assert [(one["code"], one["file"]) for one in found] == [("E0510", "A.cj"), ("E0507", "B.cj")]


def test_fixes_see_all_files(cajetac: Callable[..., Result]) -> None:
    write(**{"Main.cj": MAIN.replace("Tools.half", "Tools.hafl"), "Tools.cj": TOOLS.replace("x / 2", "y / 2")})
    cajetac("check", "--fix", "Main.cj", "Tools.cj")
    assert Path("Main.cj").read_text() == MAIN
    assert check(cajetac, "Main.cj")[0]["code"] == "E0207"


def test_queries_name_the_file(cajetac: Callable[..., Result]) -> None:
    told = json.loads(cajetac("--print-kernels", "Main.cj", "Tools.cj", "--json").out)
    assert [(one["file"], one["line"], one["name"]) for one in told] == [
        ("Main.cj", 2, "Main.k"),
        ("Main.cj", 3, "Main.doubled"),
        ("Tools.cj", 3, "Tools.half"),
        ("Tools.cj", 4, "Tools.unused"),
    ]


def test_debug_lines_are_those_of_the_file(cajetac: Callable[..., Result]) -> None:
    assert cajetac("Main.cj", "Tools.cj", "--target", "spirv", "-g", "-o", "out/").code == 0
    text = Path("out/Main.spvasm").read_text()
    assert 'OpString "Main.cj"' in text
    assert {line.split()[-2] for line in text.splitlines() if "OpLine" in line} <= {"2", "3"}
