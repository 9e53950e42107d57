"""Outputs: which there are, where they go, and that they are whole or not there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.backends import Options
from cajeta_dot.record import fields_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result


def files() -> list[str]:
    """What lies in the current folder and below."""
    return sorted(str(path) for path in Path().rglob("*") if path.is_file())


# Options -> first line on stdout.
STDOUT = {
    "--target fake": "llvm-ir fake K.add K.count",
    "--target fk": "llvm-ir fake K.add K.count",
    "--target fake -S": "asm fake K.add K.count",
    "--target fake --emit asm -o -": "asm fake K.add K.count",
    "--target fake --emit obj -o -": "obj fake K.add K.count",
    "--target fake-gpu": "ptx fake-gpu K.add K.count",
    "--target fake-gpu -S": "ptx fake-gpu K.add K.count",
    "--target fake-warn -w": "llvm-ir fake-warn K.add K.count",
    "--target null": "kernel K.add",
    "--emit ast": "Unit start=0",
    "--emit ir": "kernel K.add(",
}


@pytest.mark.parametrize("options", STDOUT)
def test_text_goes_to_stdout(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac(kernel, *options.split())
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(STDOUT[options])
    assert result.out.endswith("\n") == ("obj" not in options)
    assert files() == ["k.cj"]


# Options -> files, each with the beginning of its content.
WRITTEN = {
    "-o out.txt": {"out.txt": "llvm-ir fake "},
    "-o k.ll": {"k.ll": "llvm-ir fake "},
    "-o k.s": {"k.s": "asm fake "},
    "-o k.o": {"k.o": "obj fake "},
    "-c -o k.obj": {"k.obj": "obj fake "},
    "-o out/": {"out/k.ll": "llvm-ir fake "},
    "-o a/b/": {"a/b/k.ll": "llvm-ir fake "},
    "-o out/ --emit asm,obj,ir": {"out/k.ir": "kernel K.add", "out/k.o": "obj fake ", "out/k.s": "asm fake "},
    "-o out/ --target fake,fake-gpu": {"out/k_fake-gpu.ptx": "ptx fake-gpu ", "out/k_fake.ll": "llvm-ir fake "},
    "-o out/ --target fake,fake-gpu --emit asm,ptx,ir": {
        **{"out/k.ir": "kernel K.add", "out/k_fake-gpu.ptx": "ptx fake-gpu ", "out/k_fake.s": "asm fake "}
    },
    "-o out/ -S --target fake,fake-gpu": {"out/k_fake-gpu.ptx": "ptx fake-gpu ", "out/k_fake.s": "asm fake "},
    "-o k.ast": {"k.ast": "Unit start=0"},
    "-o k.ir": {"k.ir": "kernel K.add"},
}


@pytest.mark.parametrize("options", WRITTEN)
def test_files(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    target = [] if "--target" in options else ["--target", "fake"]
    result = cajetac(kernel, *options.split(), *target)
    assert result == (0, "", "")
    assert files() == sorted([*WRITTEN[options], "k.cj"])
    for path, content in WRITTEN[options].items():
        assert Path(path).read_text().startswith(content)


def test_several_inputs(kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("l.cajeta").write_text(Path(kernel).read_text())
    assert cajetac("build", kernel, "l.cajeta", "--target=fake", "-o", "out/").code == 0
    assert files() == ["k.cj", "l.cajeta", "out/k.ll", "out/l.ll"]


# Options -> what of `Options` is then not the default.
GIVEN: dict[str, dict[str, object]] = {
    "": {},
    "-O0 -g --checks": {"optimize": 0, "debug_lines": True, "checks": True},
    "--checks --no-checks": {},
    "--gpu-arch sm_75 --target-env=vulkan1.2": {"gpu_arch": "sm_75", "target_env": "vulkan1.2"},
    "--ptx-version 7.0": {"ptx_version": "7.0"},
    "--block 8,4 --no-int-dot --fallback": {"block": (8, 4, 1), "int_dot": False, "fallback": True},
    "--no-narrow-memory": {"narrow_memory": False},
}


@pytest.mark.parametrize("options", GIVEN)
def test_options_reach_the_backend(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    said = cajetac(kernel, "--target", "fake-wide", *options.split()).out.splitlines()[1]
    wanted = Options(**GIVEN[options])  # type: ignore[arg-type]
    assert said == " ".join(f"{name}={getattr(wanted, name)}" for name in fields_of(Options))


@pytest.mark.parametrize(
    "options",
    [
        "--target=amdgcn --gpu-arch=gfx1030 --block=64",
        "--target=nvptx --gpu-arch=sm_75 --ptx-version=8.0",
        "--target=ptx-emulator --gpu-arch=sm_75 --ptx-version=8.0",
        "--target=spirv --target-env=vulkan1.2 --no-int-dot --no-narrow-memory",
        "--target=native -mcpu=znver4 -mattr=+avxvnni",
    ],
)
def test_targets_take_the_options_made_for_them(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    assert cajetac(kernel, *options.split(), "-o", "out.txt") == (0, "", "")


# Options -> exit code, code and message.
REFUSED = {
    "--target fake -o out --emit asm,obj": (2, "E0001", "`out` is not a folder, and 2 outputs need one"),
    "--target fake,fake-gpu": (2, "E0001", "there are several outputs, but no folder for them: 2 outputs need one"),
    "--target fake --emit asm -o k.ll": (2, "E0002", "`k.ll` is named like `llvm-ir`, but `asm` goes into it"),
    "--target fake -S -o k.ptx": (2, "E0002", "`k.ptx` is named like `ptx`, but `asm` goes into it"),
    "--target fake -o k.ptx": (2, "E0002", "target `fake` does not emit `ptx`"),
    "--target fake-gpu --emit obj": (2, "E0002", "target `fake-gpu` does not emit `obj`"),
    "--target fake --emit exe": (2, "E0003", "no output kind `exe`"),
    "--target fake --emit obj": (2, "E0003", "`obj` is binary; say where it goes"),
    "--target fake -o k.cj": (2, "E0003", "`k.cj` is an input; it would be overwritten"),
    "--target fake -o ./sub/../k.cj": (2, "E0003", "`./sub/../k.cj` is an input; it would be overwritten"),
    "--target fake -o hard.txt": (2, "E0003", "`hard.txt` is an input; it would be overwritten"),
    "--target fake -o link.txt": (2, "E0003", "`link.txt` is an input; it would be overwritten"),
    "--target fake -o none/k.ll": (2, "E0003", "can't write `none/k.ll`: no such file or directory"),
    "--target fake -o locked.ll": (2, "E0003", "can't write `locked.ll`: it is read-only"),
    "--target fake sub/k.cj -o out/": (2, "E0003", "`k.cj` and `sub/k.cj` would both be written to `out/k.ll`"),
    "--target fake none.cj": (2, "E0003", "no file `none.cj`"),
    "--target fake sub -o out/": (2, "E0003", "can't read `sub`: is a directory"),
    "--target fake - -": (2, "E0003", "standard input can be read once only"),
    "--target fake,fake-gpu,fake -o out/": (2, "E0003", "target `fake` is named twice"),
    "--target fake,fk -o out/": (2, "E0003", "target `fake` is named twice"),
    "--target fake,fake-gpu -o out/ --emit asm,spirv": (2, "E0002", "target `fake` does not emit `spirv`"),
    "--target fake,fake-gpu -o out/ --emit asm,llvm-ir": (2, "E0002", "target `fake-gpu` does not emit `asm`"),
    "--target fake --gpu-arch sm_75": (2, "E0003", "`--gpu-arch` is for the targets of GPUs, found `fake`"),
    "--target fake --ptx-version 8.0": (2, "E0003", "`--ptx-version` is for targets that emit PTX, found `fake`"),
    "--target fake --target-env vulkan1.2": (2, "E0003", "`--target-env` is for targets that emit SPIR-V, found `fake`"),
    "--target fake --no-int-dot": (2, "E0003", "`--no-int-dot` is for targets that emit SPIR-V, found `fake`"),
    "--target fkae": (2, "E0603", "no target `fkae`"),
    "--target= -o k.ll": (2, "E0603", "no target ``"),
    "--target fake,": (2, "E0603", "no target ``"),
    "--target fake-refuse -o k.ll": (1, "E0604", "`dot` is not supported on `fake-refuse` yet"),
    "--target fake-warn -Werror=scalarized -o k.ll": (1, "R0601", "`dot` is expanded [-Werror=scalarized]"),
}


@pytest.mark.parametrize("options", REFUSED)
def test_nothing_is_written_after_an_error(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("sub").mkdir()
    Path("sub/k.cj").write_text(Path(kernel).read_text())
    os.link(kernel, "hard.txt")
    os.symlink(kernel, "link.txt")
    Path("k.ll").write_text("old")
    Path("locked.ll").write_text("kept")
    Path("locked.ll").chmod(0o444)
    before = {name: Path(name).read_text() for name in files()}
    result = cajetac(kernel, "--diag-format=short", *options.split())
    code, rule, message = REFUSED[options]
    assert (result.code, result.out) == (code, "")
    assert f"error[{rule}]: {message}\n" in result.err
    assert {name: Path(name).read_text() for name in files()} == before


def test_another_target_that_emits_the_kind_is_offered(
    kernel: str, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    err = cajetac(kernel, "--target=fake-gpu", "-c", "-o", "k.o").err
    assert err.startswith("error[E0002]: target `fake-gpu` does not emit `obj`\n  = help: `--target ")
    assert "fake-gpu" not in err.partition("help")[2]
    assert "  = help: `--target " in cajetac(kernel, "--target=fake", "--emit=header").err
    monkeypatch.setattr("cajeta_dot.cli.build.all_targets", list)  # as where no backend has it
    err = cajetac(kernel, "--target=fake", "--emit=header").err
    assert err == "error[E0002]: target `fake` does not emit `header`\n  = help: `fake` emits llvm-ir, asm, obj\n\n"


def test_errors_of_the_source_leave_the_old_output(kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("k.ll").write_text("old")
    Path("bad.cj").write_text("class K { static int32 f() { return x; } }")
    result = cajetac("bad.cj", "--target=fake", "-o", "k.ll", "--diag-format=short")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("bad.cj:1:37: error[E0201]: ")
    assert Path("k.ll").read_text() == "old"


def test_one_bad_input_stops_all_outputs(kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("bad.cj").write_text("class K { static int32 f() { return x; } }")
    assert cajetac(kernel, "bad.cj", "--target=fake", "-o", "out/").code == 1
    assert files() == ["bad.cj", "k.cj"]


def test_a_link_stays_a_link(kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("real").mkdir()
    Path("real/old.ll").write_text("old")
    os.symlink("real/old.ll", "k.ll")
    assert cajetac(kernel, "--target=fake", "-o", "k.ll").code == 0
    assert Path("k.ll").is_symlink()
    assert Path("real/old.ll").read_text().startswith("llvm-ir")


def test_a_device_is_written_to_and_stays(kernel: str, cajetac: Callable[..., Result]) -> None:
    """A pipe stands for /dev/null, which a faulty compiler that root tests would take away from the whole machine."""
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        assert cajetac(kernel, "--target=fake", "-o", "pipe").code == 0
        still_there = Path("pipe").is_fifo()
        if not still_there:
            reader.kill()
        assert still_there
        assert reader.communicate(timeout=30)[0].startswith(b"llvm-ir fake")


def test_new_files_have_the_usual_mode(kernel: str, cajetac: Callable[..., Result]) -> None:
    cajetac(kernel, "--target=fake", "-o", "k.ll")
    assert Path("k.ll").stat().st_mode == Path(kernel).stat().st_mode


def test_failure_while_writing_leaves_the_old(
    kernel: str, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("k.ll").write_text("old")

    def fail(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    result = cajetac(kernel, "--target=fake", "-o", "k.ll", "--diag-format=short")
    assert (result.code, result.err) == (2, "cajetac: error[E0003]: can't write `k.ll`: no space left on device\n")
    assert files() == ["k.cj", "k.ll"]
    assert Path("k.ll").read_text() == "old"


def test_stdin(kernel: str, installed: Path, cajetac_process: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    text = Path(kernel).read_bytes()
    done = cajetac_process("-", "--emit=ir", stdin=None, input=text)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"kernel K.add(")
    done = cajetac_process("check", "-", "--diag-format=short", stdin=None, input=b"\xff")
    assert done.stderr.startswith(b"<stdin>:1:1: error[E0101]")
    done = cajetac_process("check", "-", "--stdin-filename=a.cj", "--diag-format=short", stdin=None, input=b"\xff")
    assert done.stderr.startswith(b"a.cj:1:1: error[E0101]")


def test_same_bytes_whatever_the_hash_seed(
    kernel: str, cajetac_process: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    from tests.conftest import child_environment

    made = {cajetac_process(kernel, "--emit=ir", env=child_environment(PYTHONHASHSEED=seed)).stdout for seed in "013"}
    assert len(made) == 1
