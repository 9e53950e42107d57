"""The README tells the truth: its console blocks give what they show, its Python blocks run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def commands() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for language, body in BLOCK.findall(TEXT):
        if language == "console":
            for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
                command, _, output = part.partition("\n")
                found.append((command, output))
    return found


def run(command: str) -> str:
    words = shlex.split(command)
    environment = {**os.environ, "NO_COLOR": "1"}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    assert words[0] == "cajetac"
    done = subprocess.run(
        [sys.executable, "-m", "cajeta_dot", *words[1:]],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize(("command", "output"), commands(), ids=[c for c, _ in commands()])
def test_console_block_is_what_comes_out(command: str, output: str) -> None:
    assert run(command).strip() == output.strip()


def test_python_blocks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = [body for language, body in BLOCK.findall(TEXT) if language == "python"]
    assert blocks
    for body in blocks:
        exec(compile(body, "README.md", "exec"), {})


def test_the_java_block_is_in_the_sample() -> None:
    (block,) = [body for language, body in BLOCK.findall(TEXT) if language == "java"]
    assert block in (ROOT / "samples" / "signedness.cj").read_text(encoding="utf-8")
