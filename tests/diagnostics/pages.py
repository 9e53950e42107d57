"""The pages of the rules taken apart: the examples that they show, how `cajetac` is called on them, and what comes out.

A page has a title, a paragraph that says why, and the sections Wrong and Right; those of warnings and remarks say in a third
one how the program or the command line says that it was meant. Programs stand in blocks marked `cajeta`, each a whole file
called `example.cj`. What comes out stands in a block marked `text` where the command is `cajetac check example.cj`, else
in one marked `console`, behind the command.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cajeta_dot.diagnostics import rules

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(rules.__file__).parent
INDEX = FOLDER.parents[2] / "docs" / "diagnostics.md"
INDEX_HEADING = "## All codes\n\n"
FILE = "example.cj"
PLAIN = f"cajetac check {FILE}"
SILENT = re.compile(r"^Not reported yet: ", re.MULTILINE)  # how the page of a rule begins its example that nothing uses
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)

# Code -> how its wrong example becomes the bytes of a file, where they can't stand on a page.
PREPARED: dict[str, Callable[[str], bytes]] = {
    "E0101": lambda text: text.encode("latin-1"),
    "E0111": lambda text: text.replace("…", "~" * 300).encode(),
    "E0112": lambda text: text.encode().ljust((8 << 20) + 1),
}


@dataclass
class Example:
    """A file, a command, and what is shown of it: all that comes out, stdout first."""

    content: bytes
    command: str
    shown: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables in front of the command."""
        words = shlex.split(self.command)
        return dict(word.split("=", 1) for word in words[: words.index("cajetac")])

    @property
    def words(self) -> list[str]:
        """What stands behind `cajetac`."""
        words = shlex.split(self.command)
        return words[words.index("cajetac") + 1 :]


@dataclass
class Page:
    """`wrong` is None for a rule that nothing reports yet."""

    code: str
    text: str
    title: str
    why: str
    sections: list[str]
    wrong: Example | None
    right: list[Example]


def list_pages() -> list[str]:
    """The codes that have one."""
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def list_rules() -> str:
    """The table of all rules, as it ends the overview."""
    rows = [f"| {rule.code} | `{rule.name}` | {rule.summary} |\n" for _, rule in sorted(rules.RULES.items())]
    return "| code | name | |\n|---|---|---|\n" + "".join(rows)


def read_page(code: str) -> Page:
    """Taken apart. Raises ValueError for a page that is not built as all are."""
    text = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    head, *parts = _SECTION.split(text)
    title, why, *rest = head.strip().split("\n\n")
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    if not parts or rest or list(sections)[:2] != ["Wrong", "Right"]:
        raise ValueError(f"{code}.md: a title, one paragraph, `## Wrong` and `## Right` are wanted")
    programs, command, shown = _read_section(sections["Wrong"])
    (program,) = programs
    prepare = PREPARED.get(code, lambda text: text.encode())
    wrong = None if SILENT.search(sections["Wrong"]) else Example(prepare(program), command or PLAIN, shown)
    right: list[Example] = []
    for name in list(sections)[1:]:
        others, own_command, shown = _read_section(sections[name])
        for other in others or ([program] if own_command else []):
            right.append(Example(other.encode(), own_command or command or PLAIN, shown))
    return Page(code, text, title, why, list(sections), wrong, right)


def _read_section(text: str) -> tuple[list[str], str, str]:
    """Programs; command, empty if none is shown; output."""
    programs: list[str] = []
    command = shown = ""
    for mark, body in _BLOCK.findall(text):
        if mark == "cajeta":
            programs.append(body)
        elif mark == "text":
            shown = body
        elif mark == "console":
            command, _, shown = body.removeprefix("$ ").partition("\n")
        else:
            raise ValueError(f"a block marked {mark!r}")
    return programs, command, shown
