"""`cajetac disasm`: every instruction of a kernel under the line that it was made for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.listing import Instruction
from cajeta_dot.run.compile import compile_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

SAMPLES = Path(__file__).parents[2] / "samples"
Q4K = SAMPLES / "q4k_matvec.cj"
LINES = Q4K.read_text(encoding="utf-8").splitlines()
DOT_LINES = {number for number, line in enumerate(LINES, 1) if ".dotAccum(" in line}


def read_groups(text: str) -> dict[int, list[str]]:
    """Source line -> all instructions that stand under it; the line is shown as it is in the file."""
    groups: dict[int, list[str]] = {}
    group: list[str] = []
    for row in text.splitlines():
        head = re.fullmatch(r" *(\d+) \| (.*)", row)
        if head:
            assert head[2] == LINES[int(head[1]) - 1].rstrip()
            group = groups.setdefault(int(head[1]), [])
        elif row.strip() == "|":
            group = groups.setdefault(0, [])
        elif row.startswith(" "):
            group.append(row.strip())
    return groups


@pytest.mark.parametrize(
    ("target", "mnemonic"),
    [
        ("x86-vnni", "vpdpbusd"),
        ("x86-avxvnni", "{vex} vpdpbusd"),
        ("x86-avx2", "vpmaddubsw"),
        ("x86-sse2", "pmaddwd"),
        ("aarch64-i8mm", "usdot"),
        ("aarch64-dotprod", "sdot"),
        ("wasm32-simd128", "i32x4.relaxed_dot_i8x16_i7x16_add_s"),
        ("amdgcn", "v_dot4_i32_iu8"),
        ("nvptx", "dp4a.u32.s32"),
        ("spirv", "OpSUDot"),
    ],
)
def test_the_dot_is_under_its_line(target: str, mnemonic: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("disasm", Q4K, "--kernel", "matvec", "--target", target)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{Q4K}: Q4K.matvec for {target}\n\nmatvec:\n")
    groups = read_groups(result.out)
    with_dot = {line for line, group in groups.items() if any(f"{mnemonic} " in f"{row} " for row in group)}
    # LLVM may do the first two multiplications of a sum of minimums with `pmaddwd` too.
    assert with_dot & DOT_LINES == DOT_LINES
    assert with_dot == DOT_LINES or mnemonic == "pmaddwd"


@pytest.mark.parametrize("target", ["x86-avx2", "aarch64-i8mm", "riscv64-zvqdotq", "nvptx", "spirv"])
def test_nothing_is_left_out(target: str, cajetac: Callable[..., Result]) -> None:
    """What the listing shows is what `-g` writes for the kernel and what it calls, in that order."""
    kind = {"nvptx": "ptx", "spirv": "spirv-asm"}.get(target, "asm")
    written = cajetac(Q4K, "--target", target, "--emit", kind).out
    answer = json.loads(cajetac("disasm", Q4K, "--kernel", "matvec", "--target", target, "--json").out)
    shown = [row["text"] for function in answer["functions"] for row in function["code"] if not row["label"]]
    pattern = {"asm": r"\t([a-z{].*)", "ptx": r"\t([a-z@][^/\n]*)", "spirv-asm": r"((?:%\S+ = )?Op\w+.*)"}[kind]
    every = [" ".join(found.split()) for found in re.findall(rf"^{pattern}$", written, re.M)]
    if kind == "spirv-asm":
        first = next(place for place, row in enumerate(every) if " = OpFunction " in row)
        every = [row for row in every[first:] if not re.search("OpFunction |OpFunctionEnd|OpLabel", row)]
    assert sorted(shown) == sorted(every)


def test_json_tells_lines_labels_and_dots(cajetac: Callable[..., Result]) -> None:
    answer = json.loads(cajetac("disasm", Q4K, "--kernel", "Q4K.matvec", "--target", "x86-vnni", "--json").out)
    assert (answer["file"], answer["name"], answer["target"]) == (str(Q4K), "Q4K.matvec", "x86-vnni")
    code = [row for function in answer["functions"] for row in function["code"]]
    dots = [row for row in code if row["dot"]]
    assert len(dots) == 8
    assert {row["line"] for row in dots} == DOT_LINES
    assert all("vpdpbusd" in row["text"] and row["column"] for row in dots)
    assert any(row["label"] and row["text"].endswith(":") for row in code)
    assert all(row["line"] is None or 1 <= row["line"] <= len(LINES) for row in code)


def test_only_what_was_made_for_a_dot_is_one(cajetac: Callable[..., Result]) -> None:
    """Products of scales are made by an instruction that dots are made of as well."""
    answer = json.loads(cajetac("disasm", Q4K, "--kernel", "Q4K.matvec", "--target", "x86-avx2", "--json").out)
    pairs = [row for function in answer["functions"] for row in function["code"] if "pmaddwd" in row["text"]]
    assert len(pairs) > sum(row["dot"] for row in pairs) >= 8
    assert {row["line"] for row in pairs if row["dot"]} == DOT_LINES


def test_colour_marks_the_dots_only(cajetac: Callable[..., Result]) -> None:
    words = ("disasm", Q4K, "--kernel", "matvec", "--target", "x86-vnni", "--no-checks")
    plain = cajetac(*words)
    painted = cajetac(*words, "--color", "always")
    assert "\x1b" not in plain.out
    green = re.findall(r"\x1b\[1;32m(\S+)", painted.out)
    assert green == ["vpdpbusd"] * 8
    assert re.sub(r"\x1b\[[\d;]*m", "", painted.out) == plain.out


def test_only_what_the_kernel_calls_is_shown(cajetac: Callable[..., Result]) -> None:
    result = cajetac("disasm", "two.cj", "--kernel", "used", "--target", "x86-scalar", "-O0")
    assert re.findall(r"^(\S+):$", result.out, re.M)[0] == "used"
    assert "helper" in result.out
    assert "other" not in result.out
    checked = cajetac("disasm", "two.cj", "--kernel", "used", "--target", "x86-scalar", "--checks").out
    assert "callq cajeta.fault" in checked
    assert "cajeta.fault:" not in checked


@pytest.fixture(autouse=True)
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with a kernel, a helper, and a host method that only CPUs have."""
    monkeypatch.chdir(tmp_path)
    Path("two.cj").write_text("""class K {
    @Device static int32 helper(int32 a) {
        int32 r = 1;
        while (a > r) { r = r * 3; }
        return r;
    }
    @Kernel static void used(KernelBuffer<int32> out) {
        out[0] = helper(out[0]);
        out[1] = helper(out[1]);
    }
    @Kernel static void other(KernelBuffer<int32> out) { out[2] = 4; }
    static int32 host(int32 a) { return a + 1; }
}
""")


REFUSED = {
    "--kernel usde": (2, "E0003", "no kernel or host method `usde`\n  = help: did you mean `used`?"),
    "": (2, "E0003", "`cajetac disasm` needs `--kernel NAME`\n  = help: the file has `K.used`, `K.other`, `K.host`, `used`"),
    "two.cj --kernel used": (2, "E0003", "`cajetac disasm` takes one file, found 2"),
    "--kernel used --target x86-avx2,nvptx": (2, "E0003", "`cajetac disasm` takes one target, found 2"),
    "--kernel used --target nvtpx": (2, "E0603", "no target `nvtpx`\n  = help: did you mean `nvptx`?"),
    "--kernel used --target reference": (2, "E0002", "target `reference` has no instructions to show\n  = help: these have: "),
    "--kernel host --target nvptx": (2, "E0002", "target `nvptx` makes no function of its own of `K.host`"),
    "--kernel host --target spirv": (2, "E0002", "target `spirv` makes no function of its own of `K.host`"),
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_be_shown(options: str, cajetac: Callable[..., Result]) -> None:
    code, rule, message = REFUSED[options]
    result = cajetac("disasm", "two.cj", *options.split())
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(f"error[{rule}]: {message}")


def test_mistakes_in_the_source_are_what_is_said(cajetac: Callable[..., Result]) -> None:
    Path("bad.cj").write_text("class K { @Kernel static void k(KernelBuffer<int32> y) { y[0] = x; } }")
    result = cajetac("disasm", "bad.cj", "--kernel", "k", "--target", "x86-avx2", "--diag-format=short")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("bad.cj:1:65: error[E0201]")


def test_python_gives_the_same_text(cajetac: Callable[..., Result]) -> None:
    module = compile_file("two.cj", target="nvptx", checks=False)
    assert module.disasm("used") == cajetac("disasm", "two.cj", "--kernel", "used", "--target", "nvptx").out
    with pytest.raises(KeyError, match="did you mean `used`"):
        module.disasm("usde")
    with pytest.raises(ValueError, match=r"makes no function of its own of `K\.host`"):
        module.disasm("host")
    with pytest.raises(ValueError, match="has no instructions to show"):
        compile_file("two.cj", target="reference").disasm("used")


DOTS = """
vpdpbusd %ymm1, %ymm2, %ymm3
{vex} vpdpbusd %ymm1, %ymm2, %ymm3
vpdpbssd %ymm1, %ymm2, %ymm3
pmaddwd %xmm1, %xmm2
vpmaddubsw %ymm1, %ymm2, %ymm3
dp4a.u32.s32 %r1, %r2, %r3, %r4;
@%p1 dp4a.s32.s32 %r1, %r2, %r3, %r4;
%1 = OpSDot %int %2 %3 PackedVectorFormat4x8Bit
%1 = OpSUDotAccSat %int %2 %3 %4
usdot v0.4s, v1.16b, v2.16b
v_dot4_i32_iu8 v0, v1, v2, v3
vqdotu.vv v1, v2, v3
i32x4.dot_i16x8_s
"""
OTHERS = """
vpdpbusd:
vpaddd %ymm1, %ymm2, %ymm3
pdepl %eax, %ecx, %edx
vdpps $1, %xmm1, %xmm2, %xmm3
mul.lo.s32 %dp4a, %r1, %r2;
%1 = OpIAdd %int %2 %3
"""


@pytest.mark.parametrize("text", [*DOTS.splitlines()[1:], *OTHERS.splitlines()[1:]])
def test_which_instructions_are_dots(text: str) -> None:
    assert Instruction(text, 1, 1, is_label=text.endswith(":")).multiplies_pairs == (text in DOTS.splitlines())
