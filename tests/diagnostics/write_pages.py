"""Puts into every page what comes out now, and all rules into the index: `python -m tests.diagnostics.write_pages [CODE...]`.

To be read before it is committed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from cajeta_dot.cli.exit_codes import INTERNAL_ERROR
from tests.conftest import child_environment

from .pages import FILE, FOLDER, INDEX, INDEX_HEADING, PLAIN, Example, list_pages, list_rules, read_page


def answer(example: Example) -> str:
    """All that comes out, in a process of its own."""
    with TemporaryDirectory() as folder:
        (Path(folder) / FILE).write_bytes(example.content)
        done = subprocess.run(
            [sys.executable, "-m", "cajeta_dot", "--color", "never", *example.words],
            cwd=folder,
            env=child_environment(**example.environment, PYTHONIOENCODING="utf-8"),
            capture_output=True,
            check=False,
            text=True,
            encoding="utf-8",
        )
    if done.returncode == INTERNAL_ERROR:
        raise RuntimeError(done.stderr)
    return (done.stdout + done.stderr).rstrip("\n") + "\n"


def write_page(code: str) -> None:
    """The outputs of the wrong example, and of a right one whose command is shown."""
    page = read_page(code)
    text = page.text
    for example in [page.wrong, *page.right]:
        if example is None or (example is not page.wrong and not example.shown):
            continue
        opening = "```text\n" if example.command == PLAIN else f"```console\n$ {example.command}\n"
        text = text.replace(f"{opening}{example.shown}```", f"{opening}{answer(example)}```")
    (FOLDER / f"{code}.md").write_text(text, encoding="utf-8")


def write_index() -> None:
    """The table at the end of the overview."""
    text, heading, _ = INDEX.read_text(encoding="utf-8").partition(INDEX_HEADING)
    INDEX.write_text(text + heading + list_rules(), encoding="utf-8")


if __name__ == "__main__":
    write_index()
    for each in sys.argv[1:] or list_pages():
        write_page(each)
