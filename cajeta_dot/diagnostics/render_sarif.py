"""All diagnostics of a run as one document of the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0).

A diagnostic with a place is a result; one of the command line is a notification about the tool's configuration. Remarks
have the level `note`. Helps that are safe to apply are fixes; the others, and the notes, follow the message.
"""

from __future__ import annotations

from ..version import __version__
from . import ERROR, REMARK, WARNING
from .pages import read_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..source import Source
    from . import Diagnostic, Help, Label, Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {ERROR: "error", WARNING: "warning", REMARK: "note"}


def render_sarif(diagnostics: Sequence[Diagnostic], exit_code: int, limit: int = 0) -> str:
    """One line. `limit` is the number of errors at which the list was cut, 0 if it is whole."""
    import json

    rules = list({diagnostic.rule.code: diagnostic.rule for diagnostic in diagnostics}.values())
    invocation: dict[str, Any] = {"executionSuccessful": exit_code in (0, 1), "exitCode": exit_code}
    results: list[dict[str, Any]] = []
    notifications: list[dict[str, Any]] = []
    for diagnostic in diagnostics:
        if diagnostic.source and diagnostic.primary:
            results.append(_describe_result(diagnostic, diagnostic.source, diagnostic.primary, rules))
        else:
            notifications.append(_describe_notification(diagnostic, rules))
    if notifications:
        invocation["toolConfigurationNotifications"] = notifications
    if limit:
        cut = {"level": "warning", "message": {"text": f"too many errors, stopping after {limit}"}}
        invocation["toolExecutionNotifications"] = [cut]
    driver = {"name": "cajetac", "semanticVersion": __version__, "rules": [_describe_rule(rule) for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, separators=(",", ":"))


def _describe_rule(rule: Rule) -> dict[str, Any]:
    page = read_page(rule)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": page.split("\n\n")[1]},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _describe_notification(diagnostic: Diagnostic, rules: Sequence[Rule]) -> dict[str, Any]:
    descriptor = {"id": diagnostic.code, "index": rules.index(diagnostic.rule)}
    message = {"text": _write_message(diagnostic)}
    return {"associatedRule": descriptor, "level": _LEVELS[diagnostic.severity], "message": message}


def _describe_result(diagnostic: Diagnostic, source: Source, primary: Label, rules: Sequence[Rule]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rules.index(diagnostic.rule),
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": _write_message(diagnostic)},
        "locations": [_describe_location(source, primary)],
    }
    if diagnostic.secondary:
        result["relatedLocations"] = [_describe_location(source, label) for label in diagnostic.secondary]
    fixes = [_describe_fix(source, help) for help in diagnostic.helps if help.applicability == "machine"]
    if fixes:
        result["fixes"] = fixes
    return result


def _write_message(diagnostic: Diagnostic) -> str:
    lines = [diagnostic.message, *(f"note: {note}" for note in diagnostic.notes)]
    lines += [f"help: {help.message}" for help in diagnostic.helps if help.applicability != "machine"]
    return "\n".join(lines)


def _describe_location(source: Source, label: Label) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _write_uri(source.name)}, "region": _describe_region(source, label.start, label.end)}
    return {"physicalLocation": place, **({"message": {"text": label.text}} if label.text else {})}


def _describe_region(source: Source, start: int, end: int) -> dict[str, int]:
    """Lines and columns from 1, the last column behind the text."""
    (line, column), (last_line, behind) = source.position(start), source.position(end)
    return {"startLine": line, "startColumn": column, "endLine": last_line, "endColumn": behind}


def _describe_fix(source: Source, help: Help) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _describe_region(source, edit.start, edit.end), "insertedContent": {"text": edit.text}}
        for edit in help.edits
    ]
    change = {"artifactLocation": {"uri": _write_uri(source.name)}, "replacements": replacements}
    return {"description": {"text": help.message}, "artifactChanges": [change]}


def _write_uri(name: str) -> str:
    from pathlib import Path
    from urllib.parse import quote

    path = Path(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
