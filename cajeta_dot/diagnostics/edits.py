"""Helps applied to the text: which of them can be made together, and what comes out."""

from __future__ import annotations

from bisect import bisect, insort

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from . import Diagnostic, Edit, Help


def choose_helps(diagnostics: Iterable[Diagnostic], unsafe: bool = False) -> list[Help]:
    """One help of each diagnostic, a safe one first. Of those whose edits meet, the first; the rest is for another round."""
    chosen: list[Help] = []
    taken: list[tuple[int, int]] = []  # in order, apart from each other or of one help
    for diagnostic in diagnostics:
        wanted = ("machine", "unsafe") if unsafe else ("machine",)
        help = next((help for how in wanted for help in diagnostic.helps if help.applicability == how), None)
        if help and not any(_meets(edit, taken) for edit in help.edits):
            chosen.append(help)
            for edit in help.edits:
                insort(taken, (edit.start, edit.end))
    return chosen


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. They don't overlap; insertions at one place stay in their order."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += text[at : edit.start], edit.text
        at = edit.end
    return "".join(pieces) + text[at:]


def _meets(edit: Edit, taken: list[tuple[int, int]]) -> bool:
    """Side by side counts: it could not be told whose text comes first."""
    behind = bisect(taken, (edit.start, edit.end))
    return any(start <= edit.end and edit.start <= end for start, end in taken[max(behind - 1, 0) : behind + 1])
