"""C programs around compiled kernels: built by the compiler of this machine, as strictly as it can be told."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from cajeta_dot.cli import run as run_cajetac

HERE = Path(__file__).parent
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
DIALECTS = {"c99": "gcc", "c11": "gcc", "c++11": "g++", "c++20": "g++"}


def need(program: str) -> str:
    """Skips the test, loudly, where the machine has no such program."""
    found = shutil.which(program)
    if not found:
        pytest.skip(f"NO {program.upper()}: install it to have the C interface tested as a whole")
    return found


def compile_kernels(source: Path, targets: str, folder: Path, *options: str) -> None:
    """Object and header of a file, into a folder."""
    words = [str(source), "--target", targets, "--emit", "obj,header", "-o", f"{folder}/", *options]
    assert run_cajetac(words) == 0


def build(program: Path, folder: Path, *objects: str, dialect: str = "c99", options: tuple[str, ...] = ()) -> Path:
    """A C program and the objects that lie in a folder with their headers."""
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip(f"NOT AN x86-64 MACHINE: {platform.machine()} can't run programs for one")
    made = folder / f"{program.stem}.{dialect}"
    language = ["-x", "c++"] if "+" in dialect else ["-x", "c"]
    command = [
        need(DIALECTS[dialect]),
        f"-std={dialect}",
        *STRICT,
        *options,
        f"-I{folder}",
        *language,
        str(program),
        "-x",
        "none",
    ]
    done = subprocess.run([*command, *objects, "-o", str(made)], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return made


def run(program: Path, *words: object) -> str:
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
