"""What the parser found wrong, and how it is said: a problem is what the tables know, a diagnostic is what the user reads."""

from __future__ import annotations

from ..diagnostics import Edit, Help, Label
from ..diagnostics.rules import (
    ASSIGNMENT_IN_CONDITION,
    CLOSES_NOTHING,
    FILE_TOO_LARGE,
    MISSING_SEMICOLON,
    NOT_CLOSED,
    RESERVED_WORD,
    SYNTAX,
    TEXT_NOT_CLOSED,
    TOO_DEEP,
    UNKNOWN_CHARACTER,
)
from ..record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..diagnostics import Reporter, Rule

MAX_EXPECTED = 4  # words in one message
MAX_FOUND = 40  # characters of the user's text in one message


@record
class Problem:
    """One thing that is wrong with the text.

    `start..end` is what to point at, equal for a place where something is missing. `found` is the text of the token at which
    it was noticed, `found_start` where that is; empty is the end of the file. `expected` says in words what could stand there.
    `other` is a second place: of a bracket that isn't closed, where that shows; of one that closes nothing, the end of the last
    block. `edits` mend it. `help` says more than the rule alone does.
    """

    rule: Rule
    start: int
    end: int
    found: str
    found_start: int
    expected: tuple[str, ...] = ()
    other: int | None = None
    edits: tuple[Edit, ...] = ()
    help: str = ""


def report_problems(problems: list[Problem], reporter: Reporter, length: int) -> None:
    """Report them in order of position. `length` is the offset of the end of the text."""
    for problem in sorted(problems, key=lambda p: p.start):
        message, text, other, help_message = WORDS[problem.rule](problem)
        secondary: list[Label] = []
        if problem.other is not None:
            secondary.append(Label(problem.other, problem.other, "file ends here" if problem.other == length else other))
        helps: list[Help] = []
        if help_message:
            helps.append(Help(help_message, problem.edits, "machine" if problem.edits else "text"))
        reporter.report(problem.rule, message, Label(problem.start, problem.end, text), secondary, helps=helps)


def quote(text: str) -> str:
    """The user's text in a message: in backticks, and cut off where it is long."""
    if not text:
        return "the end of the file"
    return f"`{text}`" if len(text) <= MAX_FOUND else f"`{text[:MAX_FOUND]}…`"


def list_words(words: tuple[str, ...]) -> str:
    """`a, b or c`, at most MAX_EXPECTED of them."""
    *most, last = words[:MAX_EXPECTED]
    return f"{', '.join(most)} or {last}" if most else last


# ---- one function for each rule: message, text of the primary label, text of the secondary one, help

if TYPE_CHECKING:
    from collections.abc import Callable

    Words = tuple[str, str, str, str]


def _say_missing_semicolon(problem: Problem) -> Words:
    (what,) = problem.expected
    return f"expected `;` after {what}", "`;` is missing here", "", "insert `;`"


def _say_not_closed(problem: Problem) -> Words:
    return f"this {quote(problem.found)} is not closed", "opened here", f"expected {list_words(problem.expected)} here", ""


def _say_closes_nothing(problem: Problem) -> Words:
    return f"this {quote(problem.found)} closes nothing", "", "the last block ends here", "remove it"


def _say_text_not_closed(problem: Problem) -> Words:
    kind = {"/": "comment", "'": "character"}.get(problem.found[0], "string")
    help = "comments nest: each `/*` needs its own `*/`" if kind == "comment" else ""
    return f"this {kind} is not closed", "opened here", "", help


def _say_unknown_character(problem: Problem) -> Words:
    character = problem.found[0]
    shown = f"`{character}` " if character.isprintable() else ""
    use = f"use `{problem.edits[0].text}`" if problem.edits and problem.edits[0].text else "remove it" if problem.edits else ""
    return f"unknown character {shown}(U+{ord(character):04X})", "", "", use


def _say_syntax(problem: Problem) -> Words:
    return f"expected {list_words(problem.expected)}, found {quote(problem.found)}", "", "", problem.help


def _say_reserved_word(problem: Problem) -> Words:
    return f"{quote(problem.found)} is a reserved word", "can't be a name", "", "rename it"


def _say_assignment_in_condition(problem: Problem) -> Words:
    return "expected a comparison, found an assignment", "assigns", "", "use `==`"


def _say_too_deep(problem: Problem) -> Words:
    (limit,) = problem.expected
    return f"nested too deeply: {limit} constructs are open here, the most that the compiler follows", "", "", ""


def _say_too_large(problem: Problem) -> Words:
    (limit,) = problem.expected
    return f"the file has more than {limit} words and marks, the most that is read", "the first one too many", "", ""


WORDS: dict[Rule, Callable[[Problem], Words]] = {
    MISSING_SEMICOLON: _say_missing_semicolon,
    NOT_CLOSED: _say_not_closed,
    CLOSES_NOTHING: _say_closes_nothing,
    TEXT_NOT_CLOSED: _say_text_not_closed,
    UNKNOWN_CHARACTER: _say_unknown_character,
    SYNTAX: _say_syntax,
    RESERVED_WORD: _say_reserved_word,
    ASSIGNMENT_IN_CONDITION: _say_assignment_in_condition,
    TOO_DEEP: _say_too_deep,
    FILE_TOO_LARGE: _say_too_large,
}
