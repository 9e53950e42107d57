"""Several x86 targets in one object: which files there are, and what can't be asked for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

# Options -> files, each with bytes or text that it holds.
WRITTEN: dict[str, dict[str, bytes]] = {
    "--target x86-scalar,x86-avx2 -c": {"out/k.o": b"add_x86_avx2\0"},
    "--target x86-avx2,x86-scalar,x86-vnni --emit obj,header": {"out/k.o": b"add_x86_vnni\0", "out/k.h": b"CAJETA_K_X86_VNNI"},
    "--target x86-sse2,x86-avx2 --emit header": {"out/k.h": b"{ CAJETA_K_X86_SSE2, CAJETA_K_X86_AVX2 }"},
    "--target x86-avx2 --emit obj,header": {"out/k.o": b"add\0", "out/k.h": b"K.add("},
    "--target x86-sse2,x86-avx2 --emit asm,obj": {
        **{"out/k_x86-sse2.s": b"add:", "out/k_x86-avx2.s": b"add:", "out/k.o": b"add_x86_sse2\0"}
    },
    "--target x86-sse2,nvptx,x86-avx2 --emit obj,header,ptx": {
        **{"out/k.o": b"add_x86_sse2\0", "out/k.h": b"CAJETA_K_X86_AVX2", "out/k_nvptx.ptx": b".entry add("}
    },
    # One computes something else, one is something else on each machine, one has no dispatcher.
    "--target x86-sse2,x86-maddubs,x86-avx2,native,aarch64-neon -c": {
        **{"out/k.o": b"add_x86_sse2\0", "out/k_x86-maddubs.o": b"add\0"},
        **{"out/k_native.o": b"add\0", "out/k_aarch64-neon.o": b"add\0"},
    },
    "--target x86-sse2,nvptx --emit obj,ptx": {"out/k_x86-sse2.o": b"add\0", "out/k_nvptx.ptx": b".entry add("},
}


@pytest.mark.parametrize("options", WRITTEN)
def test_files(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    assert cajetac(kernel, *options.split(), "-o", "out/") == (0, "", "")
    assert sorted(map(str, Path("out").iterdir())) == sorted(WRITTEN[options])
    for path, content in WRITTEN[options].items():
        assert content in Path(path).read_bytes()


def test_several_inputs(kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("l.cj").write_text(Path(kernel).read_text().replace("add", "more").replace(" count(", " tally("))
    targets = "x86-scalar,x86-avx2"
    assert cajetac(kernel, "l.cj", "--target", targets, "--emit", "obj,header", "-o", "out/").code == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["k.h", "k.o", "l.h", "l.o"]
    assert "cajeta_choose_l(" in Path("out/l.h").read_text()


# Options -> code and message.
REFUSED = {
    "--target x86-scalar,x86-avx2 -c": ("E0001", "there are several outputs, but no folder for them: 2 targets need one"),
    "--target x86-scalar,x86-avx2 -c -o k.o": ("E0001", "`k.o` is not a folder, and 2 targets need one"),
    "--target x86-scalar,x86-avx2 --emit header -o -": ("E0001", "`-` is not a folder, and 2 targets need one"),
    "--target x86-scalar,x86-avx2 --emit obj,header -o k.o": ("E0001", "`k.o` is not a folder, and 2 outputs need one"),
    "--target x86-avx2,x86-scalar,x86-avx2 -c -o out/": ("E0003", "target `x86-avx2` is named twice"),
    "--target x86-scalar,scalar -c -o out/": ("E0003", "target `x86-scalar` is named twice"),
    "--target x86-scalar,x86-avx2,nvptx -c -o out/": ("E0002", "target `nvptx` does not emit `obj`"),
    "--target x86-scalar,nvptx --emit obj,header -o out/": ("E0002", "target `nvptx` does not emit `obj`"),
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_is_refused(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac(kernel, *options.split(), "--diag-format=short")
    code, message = REFUSED[options]
    assert (result.code, result.out) == (2, "")
    assert re.search(rf"error\[{code}\]: {re.escape(message)}\n", result.err)
    assert [str(path) for path in Path().rglob("*")] == ["k.cj"]


def test_line_numbers_of_all_variants(kernel: str, cajetac: Callable[..., Result]) -> None:
    assert cajetac(kernel, "-g", "--target", "x86-scalar,x86-avx2", "-c", "-o", "out/").code == 0
    assert b".debug_line\0" in Path("out/k.o").read_bytes()


def test_the_same_bytes_in_any_folder_and_for_any_hash_seed(
    kernel: str, tmp_path: Path, cajetac_process: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    from tests.conftest import child_environment

    made: set[tuple[bytes, ...]] = set()
    for seed in "01":
        folder = tmp_path / f"folder{seed}"
        folder.mkdir()
        (folder / "k.cj").write_bytes(Path(kernel).read_bytes())
        words = ("k.cj", "-g", "--target", "x86-avx2,x86-scalar", "--emit", "obj,header", "-o", "out/")
        done = cajetac_process(*words, cwd=folder, env=child_environment(PYTHONHASHSEED=seed))
        assert (done.returncode, done.stderr) == (0, b"")
        made.add(tuple((folder / "out" / name).read_bytes() for name in ("k.o", "k.h")))
    assert len(made) == 1
