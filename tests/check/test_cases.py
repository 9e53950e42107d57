"""Small programs with their mistakes and traps: each says in comments what the checker says about it, and where."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from cajeta_dot.diagnostics import Diagnostic
from cajeta_dot.diagnostics.rules import RULES, UNKNOWN_FUNCTION, UNKNOWN_TYPE, UNKNOWN_VARIABLE

from .checking import CASES, apply, check, expected_in, found_in

# Codes of other phases: command line, syntax, targets, and what the passes behind the checker say.
_OTHERS = re.compile(r"E00..|E010[13-9]|E011[02]|E06..|W0401|R0404|R0405|R040[678]|R0601|R0604|R0605")
_NOT_SAID_SO = re.compile(r"\billegal\b|\bsimply\b|\binvalid\b|!(?![=`~])|\bplease\b", re.IGNORECASE)

SAID_ONCE = (UNKNOWN_FUNCTION, UNKNOWN_TYPE, UNKNOWN_VARIABLE)  # in a method

cases = pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cases
def test_says_what_the_comments_expect_and_nothing_else(path: Path) -> None:
    text = read(path)
    assert found_in(text) == expected_in(text)


@cases
def test_is_in_order_of_position(path: Path) -> None:
    places = [found.primary.start for found in check(read(path))[1] if found.primary]
    assert places == sorted(places)


@cases
def test_machine_applicable_helps_cure_and_break_nothing(path: Path) -> None:
    """Rule 6 of the diagnostics: help is code that compiles after being applied."""
    text = read(path)
    before = check(text)[1]
    for place, found in enumerate(before):
        for help in found.helps:
            if help.applicability == "machine":
                after = check(apply(text, help.edits))[1]
                rest = [*before[:place], *before[place + 1 :]]
                if found.rule in SAID_ONCE and any(other.message == found.message for other in after[place:]):
                    rest.append(found)  # the next use of that name in the method
                if found.code == "E0404":  # the sum is int64 then, and storing it in less is worth a warning
                    after, rest = keep_errors(after), keep_errors(rest)
                assert count(after) == count(rest), f"{found.code} in line {found.line}: {help.message}"


def keep_errors(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]


def count(diagnostics: list[Diagnostic]) -> Counter[str]:
    """How often each code is said. Lines are left out: an edit may move what follows."""
    return Counter(diagnostic.code for diagnostic in diagnostics)


@cases
def test_wording(path: Path) -> None:
    """Rules 2, 8, 10: lower case, no full stop, no blame, types in the user's spelling; spans inside the text."""
    text = read(path)
    for found in check(text)[1]:
        words = [found.message, *(help.message for help in found.helps), *found.notes]
        for said in words:
            assert said
            assert not said[0].isupper(), said
            assert not said.endswith((".", " ")), said
            assert not _NOT_SAID_SO.search(said), said
        assert "<64 x" not in found.message
        assert len(found.helps) <= 2
        assert found.primary
        for label in (found.primary, *found.secondary):
            assert 0 <= label.start <= label.end <= len(text)
        for help in found.helps:
            assert (help.applicability == "text") == (not help.edits)


def test_every_code_of_the_checker_has_a_case() -> None:
    said = {code for path in CASES for _, code in expected_in(read(path))}
    assert said == {code for code in RULES if not _OTHERS.fullmatch(code)}
