"""Whatever the input is, the compiler answers: soon, in little memory, with 0 or with errors that have a place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, child_environment

from .inputs import BROKEN, NESTED, NESTED_MEMBERS, NESTED_STATEMENTS, VALID, write_nested

SECONDS = 10
MEMORY = 1 << 30
EVERY_PHASE = ("build", "--target", "reference,x86-scalar", "-o")


def limit_memory() -> None:
    """In the child. Where there is no such limit, there is none."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answer(content: str | bytes, folder: Path, *words: str) -> tuple[int, list[Any]]:
    """The exit code, and the errors that were told."""
    file = folder / "K.cj"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = subprocess.run(
        [sys.executable, "-m", "cajeta_dot", *words, str(file), "--diag-format=json"],
        preexec_fn=None if sys.platform in ("win32", "darwin") else limit_memory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=child_environment(),
        timeout=SECONDS,
    )
    told = (done.stdout + done.stderr).decode()
    assert done.returncode in (0, 1), told[-2_000:]
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    return done.returncode, [line for line in lines if line["severity"] == "error"]


def assert_placed(errors: list[Any], content: str | bytes) -> None:
    """Each has a line that the text has."""
    text = content.decode(errors="replace") if isinstance(content, bytes) else content
    for error in errors:
        assert 1 <= error["start"]["line"] <= text.count("\n") + 1, error["message"][:200]


@pytest.mark.parametrize("name", VALID)
def test_programs_go_through_every_phase(name: str, tmp_path: Path) -> None:
    content = VALID[name]()
    code, errors = answer(content, tmp_path, *EVERY_PHASE, str(tmp_path / "out") + "/")
    assert (code == 1) == bool(errors)
    assert {error["code"] for error in errors} <= REFUSED.get(name, set())
    assert_placed(errors, content)


# What is beyond a limit, and says so.
REFUSED = {
    "product of floats": {"E0303"},
    "calls in a row": {"E0111"},
    "barriers in helpers called twice": {"E0511"},
    "variables that follow each other": {"E0506"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_program_is_answered(name: str, tmp_path: Path) -> None:
    content = BROKEN[name]()
    code, errors = answer(content, tmp_path, "check")
    assert (code == 1) == bool(errors)
    assert errors
    assert_placed(errors, content)


@pytest.mark.parametrize("depth", [100, 30_000])
@pytest.mark.parametrize("kind", [*NESTED, *NESTED_STATEMENTS, *NESTED_MEMBERS])
def test_nesting_has_a_limit(kind: str, depth: int, tmp_path: Path) -> None:
    content = write_nested(kind, depth)
    code, errors = answer(content, tmp_path, "check")
    assert (code == 1) == bool(errors)
    assert_placed(errors, content)
