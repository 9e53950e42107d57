"""The lines for tools: what is in them, and that it is always there."""

from __future__ import annotations

import json

from cajeta_dot.diagnostics import Diagnostic, Edit, Help, Label
from cajeta_dot.diagnostics.render import render_text
from cajeta_dot.diagnostics.render_json import render_json, render_summary
from cajeta_dot.diagnostics.rules import LANE_COUNT, USAGE
from cajeta_dot.source import Source


def test_a_source_error() -> None:
    diagnostic = Diagnostic(
        LANE_COUNT,
        "error",
        "`dotAccum` needs …\n",
        Source("größe.cj", "a\r\n\té w\n"),
        Label(6, 7, "6 lanes"),
        (Label(4, 6),),
        ("a note",),
        (Help("pad", (Edit(6, 7, "v"),), "machine"), Help("words")),
    )
    line = render_json(diagnostic)
    assert "\n" not in line
    assert line.isascii()
    start, end = {"line": 2, "column": 4, "offset": 6}, {"line": 2, "column": 5, "offset": 7}
    assert json.loads(line) == {
        "schema": 1,
        "severity": "error",
        "code": "E0402",
        "name": "lane-count",
        "message": "`dotAccum` needs …\n",
        "file": "größe.cj",
        "start": start,
        "end": end,
        "labels": [
            {"start": start, "end": end, "message": "6 lanes", "primary": True},
            {"start": {"line": 2, "column": 2, "offset": 4}, "end": start, "message": "", "primary": False},
        ],
        "notes": ["a note"],
        "help": [
            {"message": "pad", "applicability": "machine", "edits": [{"start": 6, "end": 7, "text": "v"}]},
            {"message": "words", "applicability": "text", "edits": []},
        ],
        "rendered": render_text(diagnostic),
    }


def test_the_command_line_has_every_field_too() -> None:
    fields = json.loads(render_json(Diagnostic(USAGE, "error", "m", None, None)))
    assert list(fields) == [
        *("schema", "severity", "code", "name", "message", "file", "start", "end", "labels", "notes", "help", "rendered")
    ]
    assert fields["file"] is fields["start"] is fields["end"] is None
    assert fields["labels"] == fields["notes"] == fields["help"] == []


def test_summary_is_spelled_as_promised() -> None:
    assert render_summary(1, 0, False) == '{"schema":1,"severity":"summary","errors":1,"warnings":0,"truncated":false}'
