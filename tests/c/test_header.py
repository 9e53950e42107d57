"""Headers: what C and C++ make of them, whatever a program's names are, and what a fault says to a C caller."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cajeta_dot.backends.llvm.kernels import FAULT_OFFSET, LAUNCH_BYTES
from cajeta_dot.backends.x86 import TIERS
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.driver import check_source, emit, find_target
from cajeta_dot.source import Source

from .building import DIALECTS, HERE, build, compile_kernels, run

NAMES = """
class A { @Kernel static void b_c(KernelBuffer<int32> out) { out[0] = 1; }  static int32 same(int32 a) { return a + 1; } }
class A_b { @Kernel static void c(KernelBuffer<int32> out) { out[0] = 2; }  static int32 same(int32 a) { return a + 2; } }
class C { static int32 same(int32 a, int32 b) { return a - b; } }
class Many {
    static int32 sum(int32 a) { return a; }
    static int32 sum(int32 a, int32 b) { return a + b; }
    static int32 main(int32 register, int32 linux, int32 cajeta_launch) { return register + linux + cajeta_launch; }
    static float32 sinf(float32 x) { return x * 2.0f; }
    static boolean read(boolean[] bool, int64 fault, int64 launch) { return bool[fault] & bool[launch]; }
    static int32 größe(int32[] w, int32 w_length, int32 größe, int32 $a) { return w[0] + w_length + größe + $a; }
    static int32 Many_sum_2(uint8[] int32_t, uint8[] INT32_MAX) { return (int32) int32_t[0] + (int32) INT32_MAX[0]; }
    static int32 two_x86_avx2(int32 delete) { return delete + 5; }
    static int32 two(int32 a) { return a + 6; }
    static Vector<int32,4> lanes(Vector<int32,4> v) { return v; }
    static void nothing() { }
    static float64 widen(float16[] halves, int64 i) { return (float64) halves[i]; }
}
"""
USE = r"""
#include "names.h"
#include "names.h"
#include "dots.h"
#include <stddef.h>
#include <stdio.h>

int main(void) {
    struct cajeta_fault fault = cajeta_no_fault();
    struct cajeta_launch launch = cajeta_make_launch(1, 1, 1, 1, 1, 1);
    int32_t out = 0;
    const uint8_t bytes[2] = {1, 0}, high = 0x80;
    const uint16_t halves[2] = {0x3C00, 0xC000};
    b_c(&out, 1, &launch);
    printf("%d ", (int)out);
    c(&out, 1, &launch);
    printf("%d ", (int)out);
    printf("%d %d %d\n", (int)A_same(10, &fault), (int)A_b_same(10, &fault), (int)C_same(10, 3, &fault));
    printf("%d %d %d\n", (int)Many_sum_1(7, &fault), (int)Many_sum_2(7, 8, &fault), (int)main_(1, 2, 4, &fault));
    printf("%g %d %d\n", (double)sinf_(1.5f, &fault), read_(bytes, 2, 0, 0, &fault), read_(bytes, 2, 0, 1, &fault));
    out = 100;
    printf("%d %d\n", (int)gr_uf6__udf_e(&out, 1, 1, 2, 3, &fault), (int)Many_sum_2_(&high, 1, &high, 1, &fault));
    printf("%d %d\n", (int)two_x86_avx2(1, &fault), (int)two(1, &fault));
    nothing(&fault);
    printf("%g %g\n", widen(halves, 2, 0, &fault), widen(halves, 2, 1, &fault));
    printf("%d %d\n", (int)sizeof launch, (int)offsetof(struct cajeta_launch, fault));
    return 0;
}
"""


@pytest.mark.parametrize("targets", ["x86-scalar", "x86-scalar,x86-avx2"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_names(dialect: str, targets: str, tmp_path: Path) -> None:
    (tmp_path / "names.cj").write_text(NAMES, encoding="utf-8")
    compile_kernels(tmp_path / "names.cj", targets, tmp_path)
    compile_kernels(HERE / "dots.cj", targets, tmp_path)
    (tmp_path / "use.c").write_text(USE)
    made = run(build(tmp_path / "use.c", tmp_path, "names.o", "dots.o", dialect=dialect))
    assert made.splitlines() == [
        "1 2 11 12 7",
        "7 15 7",
        "3 1 0",
        "106 256",
        "6 7",
        "1 -2",
        f"{LAUNCH_BYTES} {FAULT_OFFSET}",
    ]


def test_what_is_read_only_is_const(tmp_path: Path) -> None:
    compile_kernels(HERE / "dots.cj", "x86-avx2", tmp_path)
    header = (tmp_path / "dots.h").read_text()
    prototypes = " ".join(header.split())
    assert (
        "void rows(int32_t *y, int64_t y_length, const uint8_t *u, int64_t u_length, const int8_t *s, int64_t s_length, "
        "int64_t columns, struct cajeta_launch *launch);" in prototypes
    )
    assert "void reverse(int32_t *out, int64_t out_length, struct cajeta_launch *launch);" in prototypes
    assert "uint8_t less(float a, double b, uint8_t c, int16_t d, struct cajeta_fault *fault);" in prototypes
    assert re.findall(r"\bchar\b.*", header) == [
        "char cajeta_launch_has_80_bytes[sizeof(struct cajeta_launch) == 80 ? 1 : -1];",
        "char *file;",
    ]
    assert "choose" not in header


def write(target: str, source: Source, **options: object) -> str:
    from cajeta_dot.backends import Options

    reporter = Reporter(source)
    program, found = check_source(source, reporter), find_target(target)
    assert program
    assert found
    artifact = emit(program, *found, "header", Options(**options), reporter)  # type: ignore[arg-type]
    assert artifact
    assert isinstance(artifact.content, str)
    return artifact.content


@pytest.mark.parametrize("checks", [False, True])
def test_headers_of_all_targets_are_alike(checks: bool) -> None:
    """So that objects for other targets, and other sites in them, fit the same callers."""
    source = Source("faults.cj", (HERE / "faults.cj").read_text())
    headers = {write(tier.info.name, source, checks=checks).replace(tier.info.name, "TARGET") for tier in TIERS}
    assert len(headers) == 1
    assert ("{CAJETA_BOUNDS, " in headers.pop()) is checks


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("a/q4k-matvec.cj", "q4k_matvec"),
        ("/home/somebody/k.cj", "k"),
        ("<stdin>", "stdin"),
        ("2d.conv.cj", "c2d_conv"),
        (".cj", "c_cj"),
        ("*/ evil?\\??.cj", "c_u20_evil_u3f__u5c__u3f__u3f_"),
        ("größe.cajeta", "gr_uf6__udf_e"),
    ],
)
def test_any_file_name(name: str, unit: str, tmp_path: Path) -> None:
    header = write("x86-scalar", Source(name, "class K { static int32 f(int32 a) { return a; } }"))
    assert f"#ifndef CAJETA_{unit.upper()}_H\n" in header
    (tmp_path / "k.h").write_text(header)
    (tmp_path / "k.c").write_text(
        f'#include "k.h"\nint main(void) {{ return cajeta_place_{unit}(0).kind != CAJETA_NO_FAULT; }}\n'
    )
    assert run(build(tmp_path / "k.c", tmp_path)) == ""


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    compile_kernels(HERE / "faults.cj", "x86-scalar,x86-avx2,x86-vnni", folder, "--checks")
    return build(HERE / "faults.c", folder, "faults.o")


@pytest.mark.parametrize("variant", [0, 1, 2])
def test_a_fault_names_its_kind_its_line_and_its_item(variant: int, faults: Path) -> None:
    file = re.escape(str((HERE / "faults.cj").name))
    rows = run(faults, variant).splitlines()
    assert [re.sub(rf"\S*{file}:", "", row) for row in rows] == [
        "0 0 lanes 0 group -1 item -1 value 0 other 0",
        "1 6 lanes 4 group 2 item 1 value 5 other 8",
        "1 2 3 4 5 0 0 0 ",
        "2 7 lanes 1 group 0 item 0 value 1 other 0",
        "3 13 lanes 4 group 0 item 0 value 4 other 0",
        "0 4 17 lanes 1 group -1 item -1 value 1125899906842624 other 0",
        "9999 0 0 lanes 0 group -1 item -1 value 0 other 0",
        "0 5 21 lanes 1 group -1 item -1 value 10000 other 0",
        "0 1 23 lanes 1 group -1 item -1 value -1 other 3",
    ]
