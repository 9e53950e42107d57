"""One cause, one error: which problems only follow from the one before them."""

from __future__ import annotations

from ..diagnostics.rules import CLOSES_NOTHING, NOT_CLOSED, SYNTAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .problems import Problem

ENDS = "\n;{}"  # behind one of these, a bracket is not about what was before


def drop_consequences(problems: list[Problem], text: str) -> list[Problem]:
    """The problems by position, without those that a bracket makes twice. `text` is without comments."""
    unexpected = {problem.found_start for problem in problems if problem.rule is SYNTAX}
    kept: list[Problem] = []
    for problem in sorted(problems, key=lambda one: one.start):
        if problem.rule is NOT_CLOSED and problem.start in unexpected:
            continue  # what should not be there need not be closed
        before = kept[-1] if kept else None
        if before and _follows(problem, before, text):
            continue
        kept.append(problem)
    return kept


def _follows(problem: Problem, before: Problem, text: str) -> bool:
    between = text[before.end : problem.start]
    if problem.rule is CLOSES_NOTHING and problem.found[:1] in (")", "]"):
        return before.rule in (SYNTAX, NOT_CLOSED) and not any(mark in between for mark in ENDS)
    return problem.rule is SYNTAX and before.rule is NOT_CLOSED and not between.strip()
