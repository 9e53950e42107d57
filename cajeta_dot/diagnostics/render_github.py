"""A diagnostic as a workflow command: what a line of a job's log must be to show up at the line of the source."""

from __future__ import annotations

from . import ERROR, REMARK, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Diagnostic

_COMMANDS = {ERROR: "error", WARNING: "warning", REMARK: "notice"}
_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_FIELDS = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def render_github(diagnostic: Diagnostic) -> str:
    """One line without a line end; notes and helps follow the message in it. Without a place for the command line."""
    source, primary = diagnostic.source, diagnostic.primary
    fields: dict[str, object] = {}
    if source and primary:
        line, column = source.position(primary.start)
        fields = {"file": source.name, "line": line, "col": column}
    fields["title"] = f"{diagnostic.code} {diagnostic.rule.name}"
    said = [diagnostic.message]
    said += [f"note: {note}" for note in diagnostic.notes]
    said += [f"help: {help.message}" for help in diagnostic.helps]
    return _write(_COMMANDS[diagnostic.severity], fields, "\n".join(said))


def render_fault(file: str, line: int, what: str) -> str:
    """What a program did wrong while it ran."""
    return _write("error", {"file": file, "line": line}, what)


def _write(command: str, fields: dict[str, object], text: str) -> str:
    where = ",".join(f"{name}={_escape(str(value), _IN_FIELDS)}" for name, value in fields.items())
    return f"::{command} {where}::{_escape(text, _IN_TEXT)}"


def _escape(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(character, character) for character in text)
