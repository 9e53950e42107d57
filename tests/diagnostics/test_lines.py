"""Marks stand under what they mark, whatever the characters."""

from __future__ import annotations

from unicodedata import category, east_asian_width

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cajeta_dot.diagnostics.lines import LONG, Line, sanitize

ALPHABET = "ab \tä世é\u0301\u200d\x00\x1b\u202e🙂ｱ"


def measure(printed: str) -> int:
    """How many columns a terminal gives to text that holds nothing to control it."""
    widths = {True: 0, False: 1}
    return sum(2 if east_asian_width(c) in "WF" else widths[category(c) in ("Mn", "Me", "Cf")] for c in printed)


@settings(deadline=None)
@given(st.text(ALPHABET, max_size=LONG), st.integers(0, LONG))
def test_column_is_the_width_of_what_is_printed_before(text: str, index: int) -> None:
    index = min(index, len(text))
    if index < len(text) and measure(Line(text[index]).text) == 0:
        return  # stands on its base
    assert Line(text).column(index) == measure(Line(text[:index]).text)


@settings(deadline=None)
@given(st.text(ALPHABET, max_size=4 * LONG), st.lists(st.tuples(st.integers(0, 4 * LONG), st.integers(0, 300)), max_size=4))
def test_marks_of_a_long_line(text: str, spans: list[tuple[int, int]]) -> None:
    visible = [(min(start, len(text)), min(start + size, len(text))) for start, size in spans]
    line = Line(text, visible)
    assert measure(line.text) == line.column(len(text))
    for start, end in visible:
        first, behind = line.columns(start, end)
        assert 0 <= first < behind <= line.column(len(text)) + 1
        if start < end <= start + 60 and line.size > LONG and text.isalpha() and text.isascii():
            assert line.text[first:behind] == text[start:end]


def test_short_labels_of_a_long_line_are_printed_in_full() -> None:
    text = "".join(chr(97 + i % 26) for i in range(20000))
    spans = [(0, 3), (5000, 5060), (5070, 5071), (19999, 20000)]
    line = Line(text, spans)
    assert [line.text[slice(*line.columns(*span))] for span in spans] == [text[slice(*span)] for span in spans]
    assert line.text.count("...") == 2
    assert len(line.text) < 400


def test_a_long_line_without_labels_shows_its_start() -> None:
    assert Line("x" * 1000).text == "x" * LONG + "..."


@pytest.mark.parametrize("size", [LONG - 1, LONG])
def test_a_line_of_usual_length_is_whole(size: int) -> None:
    assert Line("x" * size).text == "x" * size


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\x1b[2J", "a␛[2J"),
        ("\x7f", "␡"),
        ("\x9b31m", "\ufffd31m"),
        ("\u2066x\u2069", "\ufffdx\ufffd"),
        ("a\nb\tc", "a\nb    c"),
        ("\ud800", "\ufffd"),
        ("größe 世界", "größe 世界"),
    ],
)
def test_nothing_steers_the_terminal(text: str, shown: str) -> None:
    assert sanitize(text) == shown
