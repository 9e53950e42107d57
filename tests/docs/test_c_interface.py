"""docs/c-interface.md tells the truth: its programs are compiled and run, its commands give what they show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "c-interface.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
STRICT = "-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror"


def read_files() -> dict[str, str]:
    """The programs, by the names that their first lines give."""
    programs = [body for language, body in BLOCK.findall(TEXT) if language == "c"]
    named = [re.match(r"/\* (\w+\.c) \*/\n", body) for body in programs]
    return {name[1]: body for name, body in zip(named, programs, strict=True) if name}


def read_commands() -> list[tuple[str, str]]:
    consoles = [body for language, body in BLOCK.findall(TEXT) if language == "console"]
    parts = [part for body in consoles for part in re.split(r"^\$ ", body, flags=re.M)[1:]]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


@pytest.mark.skipif(not shutil.which("gcc"), reason="NO GCC: install a C compiler to have the C interface tested")
def test_the_page_can_be_followed_from_top_to_bottom(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "samples", tmp_path / "samples", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name, content in read_files().items():
        (tmp_path / name).write_text(content)
    commands = read_commands()
    assert len(commands) > 8
    for command, output in commands:
        words = command.replace("gcc ", f"gcc {STRICT} ", 1)
        if command.startswith("cajetac "):
            words = f"{sys.executable} -m cajeta_dot {command.removeprefix('cajetac ')}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "LC_ALL": "C"}
        done = subprocess.run(words, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, output.rstrip("\n") + "\n" * bool(output.strip()), ""), (
            command
        )


def test_the_readme_shows_a_part_of_it() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = [body for language, body in BLOCK.findall(readme) if language == "c"]
    assert shown in TEXT
