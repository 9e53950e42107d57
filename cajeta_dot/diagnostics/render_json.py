"""A diagnostic as one line of JSON, for editors and scripts. Every field is in every line; offsets count code points."""

from __future__ import annotations

from .render import render_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..source import Source
    from . import Diagnostic, Label

SCHEMA = 1


def render_json(diagnostic: Diagnostic) -> str:
    """One line without a line end. `file`, `start` and `end` are null for the command line only."""
    source, primary = diagnostic.source, diagnostic.primary
    place = source and primary and _describe_label(source, primary, True)
    others = [_describe_label(source, label, False) for label in diagnostic.secondary] if source else []
    return _write(
        {
            "schema": SCHEMA,
            "severity": diagnostic.severity,
            "code": diagnostic.code,
            "name": diagnostic.rule.name,
            "message": diagnostic.message,
            "file": source.name if source else None,
            "start": place["start"] if place else None,
            "end": place["end"] if place else None,
            "labels": [place, *others] if place else others,
            "notes": list(diagnostic.notes),
            "help": [
                {
                    "message": help.message,
                    "applicability": help.applicability,
                    "edits": [{"start": edit.start, "end": edit.end, "text": edit.text} for edit in help.edits],
                }
                for help in diagnostic.helps
            ],
            "rendered": render_text(diagnostic),
        }
    )


def render_fault(file: str, line: int, what: str) -> str:
    """What a program did wrong while it ran. That has no code, and no column."""
    return _write({"schema": SCHEMA, "severity": "fault", "message": what, "file": file, "line": line})


def render_summary(errors: int, warnings: int, truncated: bool) -> str:
    """The last line: how many of each were printed, and whether there were more."""
    counts = {"errors": errors, "warnings": warnings, "truncated": truncated}
    return _write({"schema": SCHEMA, "severity": "summary", **counts})


def _describe_place(source: Source, offset: int) -> dict[str, int]:
    line, column = source.position(offset)
    return {"line": line, "column": column, "offset": offset}


def _describe_label(source: Source, label: Label, primary: bool) -> dict[str, Any]:
    return {
        "start": _describe_place(source, label.start),
        "end": _describe_place(source, label.end),
        "message": label.text,
        "primary": primary,
    }


def _write(fields: dict[str, Any]) -> str:
    import json  # only where it is asked for: it takes as long to import as a small file to check

    return json.dumps(fields, separators=(",", ":"))
