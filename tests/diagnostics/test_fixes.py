"""Rule 6 of the diagnostics on the examples of the pages: what a help proposes compiles, and cures what it is about."""

from __future__ import annotations

from collections import Counter

import pytest

from cajeta_dot.diagnostics import Diagnostic, Help, Reporter
from cajeta_dot.diagnostics.edits import apply_edits
from cajeta_dot.driver import check_source, decode
from cajeta_dot.source import Source

from .pages import FILE, list_pages, read_page

APPLICABLE = ("machine", "unsafe")


def find(text: str) -> list[Diagnostic]:
    source = Source(FILE, text)
    reporter = Reporter(source)
    check_source(source, reporter)
    return reporter.in_order()


def read_wrong(code: str) -> tuple[str, list[Diagnostic]]:
    """The text of the wrong example, and what the front end says about it."""
    wrong = read_page(code).wrong
    if wrong is None:
        return "", []
    source, reporter = decode(FILE, wrong.content)
    check_source(source, reporter)
    return source.text, reporter.in_order()


def list_helps() -> list[tuple[str, int, Help]]:
    """Code, number of the diagnostic, and each of its helps that has edits."""
    return [
        (code, number, help)
        for code in list_pages()
        for number, found in enumerate(read_wrong(code)[1])
        for help in found.helps
        if help.applicability in APPLICABLE
    ]


HELPS = list_helps()


@pytest.mark.parametrize(("code", "number", "help"), HELPS, ids=[f"{code}-{help.applicability}" for code, _, help in HELPS])
def test_a_help_cures_and_breaks_nothing(code: str, number: int, help: Help) -> None:
    """A safe one leaves everything else as it was. An unsafe one may bring a warning, but no error."""
    text, before = read_wrong(code)
    after = find(apply_edits(text, help.edits))
    rest = Counter(found.code for place, found in enumerate(before) if place != number)
    left = Counter(found.code for found in after)
    assert left[code] < Counter(found.code for found in before)[code]
    if help.applicability == "machine":
        assert left == rest
    assert not [found.message for found in after if found.severity == "error" and found.code not in rest]


@pytest.mark.parametrize("code", list_pages())
def test_helps_have_edits_or_are_words(code: str) -> None:
    text, before = read_wrong(code)
    for found in before:
        assert len(found.notes) <= 1
        assert len(found.helps) <= 2
        for help in found.helps:
            assert (help.applicability in APPLICABLE) == bool(help.edits)
            assert all(0 <= edit.start <= edit.end <= len(text) for edit in help.edits)
            assert apply_edits(text, help.edits) != text or not help.edits


def test_pages_show_many_kinds_of_help() -> None:
    """So that the tests above have something to test."""
    assert len({code for code, _, help in HELPS if help.applicability == "machine"}) >= 14
