"""Checking a text as the compiler does, and reading what a case file expects."""

from __future__ import annotations

import re
from pathlib import Path

from cajeta_dot.check import check_unit
from cajeta_dot.diagnostics import Diagnostic, Edit, Reporter
from cajeta_dot.ir import Program
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.simplify import simplify
from cajeta_dot.passes.verify import verify
from cajeta_dot.source import Source
from cajeta_dot.syntax import parse_source

CASES = sorted((Path(__file__).parent / "cases").glob("*.cj"))
_EXPECTED = re.compile(r"//\s*(?:error|warning|remark):\s*([EWR][0-9]{4}(?:\s*,\s*[EWR][0-9]{4})*)")


def check(text: str, name: str = "Test.cj") -> tuple[Program | None, list[Diagnostic]]:
    """The program, None after an error, and all that was said, by position. What comes out of the checker is verified."""
    source = Source(name, text)
    reporter = Reporter(source)
    unit = parse_source(source, reporter)
    program = check_unit(unit, source, reporter) if unit and not reporter.failed else None
    assert (program is None) == reporter.failed
    if program:
        verify(program)
        verify(expand(program))
        simplify(program)
        verify(program)
        verify(expand(program))
    return program, reporter.in_order()


def codes(text: str) -> list[str]:
    """The codes of what is said about a text, by position."""
    return [diagnostic.code for diagnostic in check(text)[1]]


def found_in(text: str) -> list[tuple[int | None, str]]:
    """Line and code of all that is said about a text."""
    return sorted((diagnostic.line, diagnostic.code) for diagnostic in check(text)[1] if diagnostic.line)


def expected_in(text: str) -> list[tuple[int, str]]:
    """Line and code of all that the comments of a text expect."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        for listed in _EXPECTED.findall(line):
            found += [(number, code) for code in re.split(r"\s*,\s*", listed)]
    return sorted(found)


def apply(text: str, edits: tuple[Edit, ...]) -> str:
    """The text with all edits of one help made."""
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
