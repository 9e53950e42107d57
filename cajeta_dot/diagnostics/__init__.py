"""What the compiler says, as data. How it looks is `render.py`; which rules there are is `rules/`.

A `Reporter` collects the diagnostics of one compilation of one source. Nothing here raises for a user's mistake.
"""

from __future__ import annotations

from ..record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..source import Source

ERROR, WARNING, REMARK = "error", "warning", "remark"


@record
class Rule:
    """One row of `rules/table.py`. The first letter of the code is the severity; `name` is what -W takes."""

    code: str
    name: str
    summary: str

    @property
    def severity(self) -> str:
        return {"E": ERROR, "W": WARNING, "R": REMARK}[self.code[0]]


@record
class Label:
    """What stands at a part of the text: offsets, the second behind the last character; equal for a place between two."""

    start: int
    end: int
    text: str = ""


@record
class Edit:
    """Text to put in place of `start..end`."""

    start: int
    end: int
    text: str


@record
class Help:
    """How to go on. `applicability` is machine (safe to apply), unsafe (changes meaning) or text (no edits)."""

    message: str
    edits: tuple[Edit, ...] = ()
    applicability: str = "text"


@record
class Diagnostic:
    """One finding. `severity` may differ from the rule's own (-Werror). `primary` is None for the command line only."""

    rule: Rule
    severity: str
    message: str
    source: Source | None
    primary: Label | None
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    helps: tuple[Help, ...] = ()

    @property
    def code(self) -> str:
        return self.rule.code

    @property
    def line(self) -> int | None:
        """The line of the primary label, from 1."""
        return self.source.position(self.primary.start)[0] if self.source and self.primary else None


class Reporter:
    """Collects what is found in one source. `failed` says if there was an error."""

    def __init__(self, source: Source | None):
        self.source = source
        self.found: list[Diagnostic] = []
        self.failed = False

    def report(
        self,
        rule: Rule,
        message: str,
        primary: Label | None,
        secondary: Sequence[Label] = (),
        notes: Sequence[str] = (),
        helps: Sequence[Help] = (),
    ) -> None:
        severity = rule.severity
        self.failed = self.failed or severity == ERROR
        self.found.append(
            Diagnostic(rule, severity, message, self.source, primary, tuple(secondary), tuple(notes), tuple(helps))
        )

    def in_order(self) -> list[Diagnostic]:
        """All of them by position; those at one place in the order in which they were found. Each is about one file."""
        ordered = sorted(self.found, key=lambda d: d.primary.start if d.primary else -1)
        if self.source is None or not self.source.parts:
            return ordered
        from .places import localize

        return [localize(diagnostic) for diagnostic in ordered]


class CompileError(Exception):
    """The source has errors. `diagnostics` holds all that was found, `str()` is the rendered text."""

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        super().__init__(diagnostics)
        self.diagnostics = list(diagnostics)

    def __str__(self) -> str:
        from .render import render_text

        return "\n\n".join(render_text(diagnostic) for diagnostic in self.diagnostics if diagnostic.severity != REMARK)


SHORT_WORD = 3
MAX_WORD = 100  # letters; longer ones are compared with nothing


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` may be misspelt for: at most two edits away, or a third of its length; one if it is short."""
    if len(word) > MAX_WORD:
        return None
    limit = max(2, len(word) // 3) if len(word) > SHORT_WORD else 1
    found = sorted((distance, name) for name in known if (distance := _edits(word.lower(), name.lower(), limit)) <= limit)
    return found[0][1] if found and found[0][0] < len(word) else None


def _edits(a: str, b: str, limit: int) -> int:
    """Insertions, deletions, exchanges and swaps of neighbours between two words; more than `limit` is just more."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]


__all__ = [
    "ERROR",
    "REMARK",
    "WARNING",
    "CompileError",
    "Diagnostic",
    "Edit",
    "Help",
    "Label",
    "Reporter",
    "Rule",
    "nearest",
]
