"""What only a process shows: pipes, signals, closed streams, crashes, and what is imported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT, child_environment

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

Process = subprocess.CompletedProcess[bytes]
COMMAND = [sys.executable, "-m", "cajeta_dot"]


@pytest.fixture(autouse=True)
def reachable(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Child processes find the distribution too."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")]))


def test_a_broken_pipe_is_quiet(kernel: str) -> None:
    line = f"'{sys.executable}' -m cajeta_dot {kernel} --emit=ast -o - | head -c 1; echo ${{PIPESTATUS[0]}}"
    Path(kernel).write_text(f"class K {{ static int32 f() {{ return {' + '.join(['1'] * 5000)}; }} }}")
    done = subprocess.run(["bash", "-c", line], capture_output=True, env=child_environment(), check=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"U0\n", b"")


def test_a_broken_pipe_of_messages_is_quiet(kernel: str) -> None:
    Path("bad.cj").write_text("class K {" + "".join(f"static int32 f{i}() {{ return x; }}\n" for i in range(3000)) + "}")
    line = f"('{sys.executable}' -m cajeta_dot check bad.cj --error-limit 0; echo $? >code) 2>&1 | head -c 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, env=child_environment(), check=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"e", b"")
    assert int(Path("code").read_text()) == 1


def test_a_crash_that_nobody_reads_of_is_one(kernel: str, tmp_path: Path) -> None:
    line = f"('{sys.executable}' -m cajeta_dot {kernel} --target=fake-crash; echo $? >code) 2>&1 | true"
    environment = child_environment(TMPDIR=str(tmp_path))
    done = subprocess.run(["bash", "-c", line], capture_output=True, env=environment, check=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert int(Path("code").read_text()) == 70
    assert list(tmp_path.glob("cajetac-*.txt"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["explain", "E0402"], ["k.cj", "--emit=ir"], ["targets"]])
def test_a_full_disk_is_told(words: list[str], kernel: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, env=child_environment(), check=False)
    assert done.returncode == 2
    assert b"error[E0003]: can't write standard output: no space left on device\n" in done.stderr


@pytest.mark.parametrize(
    ("redirect", "code", "said"),
    [("<&-", 2, "can't read standard input"), (">&-", 2, "can't write standard output"), ("2>&-", 0, "")],
)
def test_closed_streams(redirect: str, code: int, said: str, kernel: str) -> None:
    file = "-" if redirect == "<&-" else kernel
    line = f"'{sys.executable}' -m cajeta_dot {file} --emit=ir {redirect}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, env=child_environment(), check=False, timeout=60)
    assert done.returncode == code
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_output_is_utf8_whatever_the_locale(kernel: str, cajetac_process: Callable[..., Process]) -> None:
    Path(kernel).write_text("class Größe { static int32 f() { return 1; } }", encoding="utf-8")
    done = cajetac_process(kernel, "--emit=ast", env=child_environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0"))
    assert done.returncode == 0
    assert "Größe".encode() in done.stdout
    done = cajetac_process("größe.cj", env=child_environment(PYTHONIOENCODING="ascii"))
    assert (done.returncode, done.stderr[:23]) == (2, b"error[E0003]: no file `")


def test_interrupt(kernel: str, tmp_path: Path) -> None:
    """Whoever runs these tests in the background may have them ignore interrupts, and what they start."""
    os.mkfifo("slow.cj")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        child = subprocess.Popen([*COMMAND, "check", "slow.cj"], stderr=subprocess.PIPE, env=child_environment())
    finally:
        signal.signal(signal.SIGINT, before)
    with open("slow.cj", "wb"):  # opens once the child reads from the other end
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=30) == 130
    assert child.stderr
    assert child.stderr.read() == b""
    child.stderr.close()


def test_a_crash_is_reported(kernel: str, cajetac_process: Callable[..., Process], tmp_path: Path) -> None:
    done = cajetac_process(kernel, "--target=fake-crash", "-o", "k.ll", env=child_environment(TMPDIR=str(tmp_path)))
    assert (done.returncode, done.stdout) == (70, b"")
    first, second, third, saved = done.stderr.decode().splitlines()
    assert first == "cajetac: internal error: KeyError: 'lost'"
    assert "please report it" in second
    assert third.startswith("cajetac ")
    assert third.split(", ")[1].startswith("fake_backend_module:")
    report = Path(saved.removeprefix("saved with the source, for the report: "))
    assert report.parent == tmp_path
    text = report.read_text()
    assert "Traceback (most recent call last)" in text
    assert Path(kernel).read_text() in text
    assert "--target=fake-crash" in text
    assert not Path("k.ll").exists()


def test_debug_shows_the_traceback(kernel: str, cajetac_process: Callable[..., Process], tmp_path: Path) -> None:
    done = cajetac_process(kernel, "--target=fake-crash", "--debug", env=child_environment(TMPDIR=str(tmp_path)))
    assert done.returncode == 70
    assert b"Traceback (most recent call last)" in done.stderr


def test_a_crash_keeps_what_was_found_before(kernel: str, cajetac: Callable[..., Result], tmp_path: Path) -> None:
    Path("bad.cj").write_text("class K { static int32 f() { return x; } }")
    result = cajetac("check", "bad.cj", kernel, "--target=fake-crash", "--diag-format=json")
    assert result.code == 70
    assert '"code":"E0201"' in result.err
    assert '"severity":"summary"' in result.err.splitlines()[-1]


def test_the_crash_report_needs_no_folder(kernel: str, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_words: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", fail)
    result = cajetac(kernel, "--target=fake-crash")
    assert result.code == 70
    assert "no report could be saved: [Errno 28] No space left on device" in result.err


# What takes long to import -> lines that must do without it.
HEAVY = "argparse dataclasses importlib.metadata inspect json lark llvmlite numpy pathlib tempfile typing traceback"
LIGHT = ["--version", "--help", "explain E0402", "check k.cj", "check bad.cj", "k.cj --emit=ir", "k.cj --target=fake"]


@pytest.mark.parametrize("line", LIGHT)
def test_nothing_heavy_is_imported(line: str, kernel: str) -> None:
    """Without site, so that nobody else's start-up files import it; lark is imported for the first parse of all only."""
    Path("bad.cj").write_text("class K { static int32 f() { return x; } }")
    subprocess.run([*COMMAND, "check", kernel], env=child_environment(), check=True)
    code = f"""
import sys
sys.path[:] = {[str(ROOT), *sys.path]!r}
from cajeta_dot.cli import run
sys.stdout, sys.stderr = open("out", "w"), open("err", "w")
print(run({line.split()!r}), *sorted(set({HEAVY.split()!r}) & set(sys.modules)), file=sys.__stdout__)
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["1" if "bad" in line else "0"]
