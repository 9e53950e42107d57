"""One object for several targets: whichever variant a C program runs, the results are those of the reference."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends import x86
from cajeta_dot.backends.llvm.host import detect_host
from cajeta_dot.backends.x86 import TIERS
from cajeta_dot.run.compile import compile_file

from .building import HERE, build, compile_kernels, need, run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

SOURCE = HERE / "dots.cj"
TARGETS = ("x86-scalar", "x86-avx2", "x86-vnni")  # the number of a variant is its place here
ALL_TARGETS = tuple(tier.info.name for tier in reversed(TIERS))
EDGES = (0, 1, 127, 128, 255)
COLUMNS = (0, 1, 3, 31, 32, 33, 63, 65, 96, 127)


def list_cases() -> list[tuple[int, int, Numbers, Numbers]]:
    """Rows, columns and bytes: every pair of edge bytes alone, then mixed ones."""
    random = np.random.default_rng(7)
    cases: list[tuple[int, int, Numbers, Numbers]] = []
    for u in EDGES:
        for s in EDGES:
            cases.append((1, 67, np.full(67, u, np.uint8), np.full(67, s, np.uint8).view(np.int8)))
    for rows, columns in enumerate(COLUMNS, 1):
        u, s = (random.choice(np.array(EDGES, np.uint8), rows * columns) for _ in range(2))
        cases.append((rows, columns, u, s.view(np.int8)))
        u, s = (random.integers(0, 256, rows * columns, np.uint8) for _ in range(2))
        cases.append((rows, columns, u, s.view(np.int8)))
    return cases


def write_cases(path: Path) -> None:
    """As the program reads them."""
    with open(path, "wb") as file:
        for rows, columns, u, s in list_cases():
            file.write(np.array([rows, columns], np.int64).tobytes() + u.tobytes() + s.tobytes())


def expect_output() -> str:
    """What the reference computes, as the program prints it."""
    module = compile_file(SOURCE, target="reference")
    lines: list[str] = []
    for rows, columns, u, s in list_cases():
        y = np.zeros(4 * rows, np.int32)
        module["rows"](y, u, s, columns, grid=rows, block=1)
        totals = [module["total"](u, negative) for negative in (False, True)]
        lines.append(" ".join(map(str, [*y.tolist(), *totals])))
        lines += [str(module["last"](s))] if s.size else []
    numbers = np.arange(48, dtype=np.int32)
    module["reverse"](numbers, grid=3, block=16)
    places = np.full(96, 2**32 - 1, np.uint32)
    module["where"](places, grid=(3, 2, 2), block=(2, 2, 2))
    lines += [" ".join(map(str, array.tolist())) + " " for array in (numbers, places)]
    less = [((1.5, 1.75, 200, -3)), ((1.5, 1.5, 200, -3)), ((float(np.float32(-1e30)), 0.0, 255, 255))]
    lines.append(" ".join(str(int(module["less"](*each))) for each in less))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, beside the object that it was built with and the cases."""
    folder = tmp_path_factory.mktemp("dispatch")
    compile_kernels(SOURCE, "x86-vnni,x86-scalar,x86-avx2", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["dots.h", "dots.o"]
    write_cases(folder / "cases")
    return build(HERE / "dots.c", folder, "dots.o")


@pytest.fixture(scope="module")
def expected() -> str:
    return expect_output()


def best_here(targets: tuple[str, ...]) -> int:
    """The number of the last target that this machine can run, by LLVM's word."""
    return max(number for number, target in enumerate(targets) if not x86.backend.missing(target))


@pytest.mark.parametrize("newest", [0, 1, 2, 2**31 - 1])
def test_every_variant_computes_the_same(newest: int, built: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAJETA_HOST_FEATURES", raising=False)
    head, _, output = run(built, newest, built.parent / "cases").partition("\n")
    assert head == f"chosen {min(newest, best_here(TARGETS))}"
    assert output == expected


def test_the_first_call_chooses(built: Path, expected: str) -> None:
    assert run(built, "first", built.parent / "cases") == expected


def test_the_variants_are_different_code(built: Path) -> None:
    """Or else the tests above would say nothing: each has the dot instruction of its target."""
    need("objdump")
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "dots.o"], cwd=built.parent, capture_output=True, text=True, check=True
    ).stdout
    bodies = dict(re.findall(r"<(\w+)>:\n(.*?)\n\n", listing + "\n\n", re.DOTALL))
    assert {f"rows{suffix}" for suffix in ("", "_x86_scalar", "_x86_avx2", "_x86_vnni")} <= bodies.keys()
    assert "vpdpbusd" in bodies["rows_x86_vnni"]
    assert "vpmaddubsw" in bodies["rows_x86_avx2"]
    assert "vpdpbusd" not in bodies["rows_x86_avx2"]
    assert "imul" in bodies["rows_x86_scalar"]
    assert "%ymm" not in bodies["rows_x86_scalar"]
    assert not re.search(r"\bv[a-z]+ ", bodies["rows"] + bodies["less"] + bodies["cajeta_choose_dots"])


def list_instructions(path: Path, function: str) -> list[str]:
    """Mnemonics and operands, without what depends on where the function is."""
    command = ["objdump", "-d", "--no-show-raw-insn", "--no-addresses", f"--disassemble={function}", path.name]
    listing = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=True).stdout
    code = listing.partition(f"<{function}>:\n")[2].partition("\n\n")[0]
    return [re.sub(r"\s*(#.*|<.*>|-?0x[0-9a-f]+\(%rip\))", "", row).replace(function, "") for row in code.splitlines()]


@pytest.mark.parametrize("target", TARGETS)
def test_a_variant_is_the_code_of_its_target(target: str, built: Path, tmp_path: Path) -> None:
    """To be in one object with others costs nothing."""
    need("objdump")
    compile_kernels(SOURCE, target, tmp_path)
    for function in ("rows", "reverse", "total", "less"):
        alone = list_instructions(tmp_path / "dots.o", function)
        assert len(alone) > 5
        assert list_instructions(built.parent / "dots.o", f"{function}_{target.replace('-', '_')}") == alone


def test_a_shared_library_can_be_made_of_it(built: Path) -> None:
    need("gcc")
    library = built.parent / "libdots.so"
    subprocess.run(["gcc", "-shared", "-Wl,-z,defs", "-o", library, built.parent / "dots.o"], check=True)
    functions = ctypes.CDLL(str(library))
    fault = (ctypes.c_int64 * 5)()
    functions.last.restype = ctypes.c_int8
    assert functions.last(bytes([1, 2, 0x80]), ctypes.c_int64(3), fault) == -128
    assert functions.cajeta_choose_dots(0) == 0


RACE = r"""
#include "dots.h"
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t start;
static int64_t results[16];

static void *work(void *place) {
    uint8_t bytes[5] = {0, 1, 127, 128, 255};
    struct cajeta_fault fault = cajeta_no_fault();
    pthread_barrier_wait(&start);
    *(int64_t *)place = total(bytes, 5, 0, &fault) + fault.site;
    return NULL;
}

int main(void) {
    pthread_t threads[16];
    pthread_barrier_init(&start, NULL, 16);
    for (int i = 0; i < 16; i++) pthread_create(&threads[i], NULL, work, &results[i]);
    for (int i = 0; i < 16; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 16; i++) printf("%d ", (int)results[i]);
    return 0;
}
"""


def test_threads_may_come_first_together(built: Path) -> None:
    (built.parent / "race.c").write_text(RACE)
    program = build(built.parent / "race.c", built.parent, "dots.o", dialect="c11", options=("-D_GNU_SOURCE", "-pthread"))
    for _ in range(20):
        assert run(program).split() == ["511"] * 16


def test_nothing_is_run_where_no_variant_can_be(built: Path) -> None:
    """`newest` -1 stands for a CPU that has none of the targets."""
    (built.parent / "none.c").write_text(r"""
#include "dots.h"
#include <stdio.h>

int main(void) {
    int32_t numbers[4] = {1, 2, 3, 4};
    struct cajeta_fault fault = cajeta_no_fault();
    struct cajeta_launch launch = cajeta_make_launch(1, 1, 1, 4, 1, 1);
    int none = cajeta_choose_dots(-1) == -1;
    reverse(numbers, 4, &launch);
    uint8_t byte = 9;
    int sum = (int)total(&byte, 1, 0, &fault), is_less = less(1, 2, 3, 4, &fault);
    none = none && cajeta_place_dots(launch.fault.site).kind == CAJETA_NO_VARIANT;
    none = none && cajeta_place_dots(fault.site).kind == CAJETA_NO_VARIANT;
    printf("%d %d %d %d\n", none, (int)numbers[0], sum, is_less);
    return 0;
}
""")
    assert run(build(built.parent / "none.c", built.parent, "dots.o")) == "1 1 0 0\n"


def test_the_bytes_are_the_same_each_time(built: Path, tmp_path: Path) -> None:
    compile_kernels(SOURCE, "x86-avx2,x86-vnni,x86-scalar", tmp_path)
    for name in ("dots.h", "dots.o"):
        assert (tmp_path / name).read_bytes() == (built.parent / name).read_bytes()


@pytest.fixture(scope="module")
def built_for_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a variant for every target."""
    folder = tmp_path_factory.mktemp("all")
    compile_kernels(SOURCE, ",".join(ALL_TARGETS), folder)
    write_cases(folder / "cases")
    return build(HERE / "dots.c", folder, "dots.o")


def test_the_object_finds_what_llvm_finds(built_for_all: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAJETA_HOST_FEATURES", raising=False)
    head, _, output = run(built_for_all, 2**31 - 1, built_for_all.parent / "cases").partition("\n")
    assert detect_host().architecture == "x86_64"
    assert head == f"chosen {best_here(ALL_TARGETS)}"
    assert output == expected


@pytest.mark.parametrize(
    ("processor", "best"),
    [
        ("qemu64", "x86-sse2"),
        ("Nehalem", "x86-ssse3"),
        ("SandyBridge", "x86-ssse3"),  # AVX alone is no target
        ("Haswell", "x86-avx2"),
        ("Haswell,-bmi2", "x86-ssse3"),
        ("Haswell,-xsave", "x86-ssse3"),
        ("EPYC", "x86-avx2"),
    ],
)
def test_other_processors(processor: str, best: str, built_for_all: Path, expected: str) -> None:
    """Emulated ones, which end a program that uses an instruction that they lack."""
    emulator = need("qemu-x86_64")
    words = [emulator, "-cpu", processor, built_for_all, "2147483647", built_for_all.parent / "cases"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, timeout=60)
    head, _, output = done.stdout.partition("\n")
    assert (done.returncode, head) == (0, f"chosen {ALL_TARGETS.index(best)}")
    assert output == expected


def test_headers_serve_other_processors(tmp_path: Path, expected: str) -> None:
    """The same program, around an object for AArch64."""
    compiler, emulator = need("aarch64-linux-gnu-gcc"), need("qemu-aarch64")
    compile_kernels(SOURCE, "aarch64-dotprod", tmp_path)
    write_cases(tmp_path / "cases")
    command = [compiler, "-std=c99", "-DONE_TARGET", "-static", f"-I{tmp_path}", HERE / "dots.c", tmp_path / "dots.o", "-o"]
    subprocess.run([*command, tmp_path / "dots"], check=True)
    done = subprocess.run(
        [emulator, "-cpu", "max", tmp_path / "dots", "-", tmp_path / "cases"], capture_output=True, text=True, check=True
    )
    assert done.stdout == expected
