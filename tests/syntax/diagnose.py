"""Texts with mistakes, and what is said about them, in a form that fits into a table."""

from __future__ import annotations

from cajeta_dot.diagnostics import Diagnostic, Edit, Reporter
from cajeta_dot.source import Source
from cajeta_dot.syntax import Unit, parse_source

BODY = "class C {{ void k() {{ {} }} int32 after() {{ return 1; }} }}"
CLASS = "class C {{ {} int32 after() {{ return 1; }} }}"


def diagnose(text: str) -> tuple[Unit | None, list[Diagnostic]]:
    """The tree and all diagnostics, in the order in which they were reported."""
    source = Source("test.cj", text)
    reporter = Reporter(source)
    unit = parse_source(source, reporter)
    assert reporter.failed == bool(reporter.found)
    assert reporter.found == reporter.in_order()
    return unit, reporter.found


def point_at(diagnostic: Diagnostic) -> str:
    """The code, and the line with the labelled text in `[…]`; a place between two characters is `[]`."""
    source, primary = diagnostic.source, diagnostic.primary
    assert source
    assert primary
    line, column = source.position(primary.start)
    text = source.line(line)
    before, after = text[: column - 1], text[column - 1 :]
    length = primary.end - primary.start
    return f"{before}[{after[:length]}]{after[length:]}"


def apply_helps(text: str, diagnostics: list[Diagnostic]) -> str:
    """The text with every machine-applicable edit made."""
    edits: list[Edit] = []
    for diagnostic in diagnostics:
        edits += [edit for help in diagnostic.helps if help.applicability == "machine" for edit in help.edits]
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
