"""Line numbers (`-g`): the right ones, in every form that tools read, and no other code for them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cajeta_dot.backends import Options
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.driver import check_source, emit, find_target
from cajeta_dot.source import Source

SAMPLES = Path(__file__).parents[2] / "samples"
# Faults, calls, recursion, loops with several ends, helpers that wait at a barrier.
ALL_SORTS = """\
class K {
    static int32 sum(int32[] v, int32 n) {
        int32[] copy = heap int32[4];
        if (n <= 0) { return 0; }
        return v[n - 1] / v[0] + sum(v, n - 1) + copy[0];
    }

    @Device static int32 meet(int32 i) {
        Barrier.workgroup();
        return i;
    }

    @Kernel
    public static void reverse(KernelBuffer<int32> out, int32 n) {
        Shared<int32> s = shared int32[64];
        int32 i = (int32) KernelThread.x();
        for (int32 k = 0; k < n; k++) {
            s[i] = meet(i);
            Barrier.workgroup();
            for (int32 j = 0; j < n; j++) {
                if (j == k) { continue; }
                out[i] = s[63 - i] % n;
                if (out[i] == 3) { break; }
            }
        }
    }
}
"""


def build(source: Source, target: str, kind: str, lines: bool = True, **options: object) -> str | bytes:
    reporter = Reporter(source)
    program, found = check_source(source, reporter), find_target(target)
    assert program
    assert found
    artifact = emit(program, *found, kind, Options(debug_lines=lines, **options), reporter)  # type: ignore[arg-type]
    assert artifact, [str(found) for found in reporter.found]
    return artifact.content


def text(source: Source, target: str, kind: str, lines: bool = True, **options: object) -> str:
    content = build(source, target, kind, lines, **options)
    assert isinstance(content, str)
    return content


def sample(name: str) -> Source:
    return Source(f"samples/{name}.cj", (SAMPLES / f"{name}.cj").read_text(encoding="utf-8"))


def instructions(assembly: str) -> list[str]:
    """Without comments."""
    return [re.sub(r"\s*(#|//).*", "", line) for line in assembly.splitlines() if re.match(r"\t[a-z@{]", line)]


def lines_of(assembly: str, mnemonic: str) -> set[int]:
    """The source lines of all instructions of that name."""
    found: set[int] = set()
    line = 0
    for written in assembly.splitlines():
        located = re.match(r"\t\.loc\t\d+ (\d+)", written)
        line = int(located[1]) if located else line
        if re.match(rf"\t(\{{vex\}} )?{mnemonic}\b", written):
            found.add(line)
    return found


@pytest.mark.parametrize("target", ["x86-vnni", "x86-avx2", "x86-scalar", "nvptx"])
@pytest.mark.parametrize("optimize", [0, 2])
@pytest.mark.parametrize("source", [sample("q4k_matvec"), sample("gemm_int8"), Source("k.cj", ALL_SORTS)], ids=lambda s: s.name)
def test_the_instructions_stay_the_same(source: Source, optimize: int, target: str) -> None:
    kind = "ptx" if target == "nvptx" else "asm"
    plain, located = (text(source, target, kind, lines, optimize=optimize, checks=True) for lines in (False, True))
    assert instructions(plain) == instructions(located)
    assert "\t.loc\t" in located
    assert "\t.loc\t" not in plain


@pytest.mark.parametrize("target", ["x86-vnni", "nvptx"])
def test_without_it_nothing_is_said(target: str) -> None:
    assert "!dbg" not in text(sample("q4k_matvec"), target, "llvm-ir", lines=False)
    assert "!D" not in text(sample("q4k_matvec"), target, "llvm-ir", lines=False)


@pytest.mark.parametrize(
    ("target", "kind", "mnemonic"),
    [("x86-vnni", "asm", "vpdpbusd"), ("x86-avx2", "asm", "vpmaddubsw"), ("nvptx", "ptx", r"dp4a\.\w+\.\w+")],
)
def test_a_dot_is_at_its_line(target: str, kind: str, mnemonic: str) -> None:
    source = sample("q4k_matvec")
    wanted = {number for number, line in enumerate(source.text.splitlines(), 1) if ".dotAccum(" in line}
    assert lines_of(text(source, target, kind), mnemonic) == wanted


def test_checks_are_at_the_line_of_what_they_guard() -> None:
    source = Source("k.cj", ALL_SORTS)
    divisions = lines_of(text(source, "x86-scalar", "asm", checks=True), "idivl")
    assert divisions == {5, 22}


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("samples/k.cj", "samples/k.cj"),
        ("../k.cj", "../k.cj"),
        ("/home/somebody/k.cj", "k.cj"),
        ("<stdin>", "<stdin>"),
        ('a"\\ä.cj', "a\\22\\5C\\C3\\A4.cj"),
    ],
)
def test_the_file_has_no_folder_of_this_machine(name: str, named: str) -> None:
    found = text(Source(name, ALL_SORTS), "x86-scalar", "llvm-ir")
    assert f'!DIFile(filename: "{named}", directory: ".")' in found
    assert isinstance(build(Source(name, ALL_SORTS), "x86-scalar", "obj"), bytes)


def test_a_column_that_llvm_does_not_take_is_left_out() -> None:
    spaces = " " * 70_000
    source = Source("k.cj", f"class K {{ static int32 f(int32 a) {{ return {spaces} a * 5; }} }}")
    assert "!DILocation(line: 1, column: 0, scope:" in text(source, "x86-scalar", "llvm-ir")
    assert build(source, "x86-scalar", "obj")


def test_the_bytes_are_the_same_each_time() -> None:
    assert build(sample("gemm_int8"), "x86-avx2", "obj") == build(sample("gemm_int8"), "x86-avx2", "obj")


@pytest.mark.parametrize("source", [sample("q4k_matvec"), Source("k.cj", ALL_SORTS)], ids=lambda s: s.name)
def test_readelf_finds_the_lines(source: Source, tmp_path: Path) -> None:
    if not shutil.which("readelf"):
        pytest.skip("NO READELF: install binutils to have the line table read by another program")
    content = build(source, "x86-avx2", "obj", checks=True)
    assert isinstance(content, bytes)
    (tmp_path / "k.o").write_bytes(content)
    command = ["readelf", "--debug-dump=decodedline", "k.o"]
    table = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert table.stderr == ""
    rows = re.findall(rf"^{re.escape(source.name)}\s+(\d+)\s+0", table.stdout, re.M)
    code = {number for number, line in enumerate(source.text.splitlines(), 1) if re.search(r"\.dotAccum\(|\] [/%] ", line)}
    assert len(code) == 2
    assert code <= {int(row) for row in rows}
    assert max(map(int, rows)) <= len(source.text.splitlines())


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_ptxas_takes_the_lines(architecture: str, tmp_path: Path) -> None:
    """Without `, debug` behind the target, which would turn its optimizer off."""
    found = text(sample("q4k_matvec"), "nvptx", "ptx", gpu_arch=architecture)
    assert f".target {architecture}\n" in found
    if not shutil.which("ptxas"):
        pytest.skip("NO PTXAS: the assembler of NVIDIA's toolkit is not on the path")
    (tmp_path / "k.ptx").write_text(found)
    command = ["ptxas", f"-arch={architecture}", "-lineinfo", "k.ptx", "-o", "k.cubin"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
