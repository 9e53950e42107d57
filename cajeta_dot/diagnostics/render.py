"""A diagnostic as people read it: rustc's layout, or one line. The same as data for tools is `render_json.py`.

What is printed of a line of source, and in which columns, is `lines.py`; the drawing of labels and edits is `snippet.py`.
"""

from __future__ import annotations

from . import ERROR, REMARK, WARNING
from .canvas import Canvas
from .lines import sanitize
from .snippet import draw_edits, draw_labels, last_line_shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Diagnostic

PROGRAM = "cajetac"  # stands where a file would, when the command line is at fault


def render_text(diagnostic: Diagnostic, colour: bool = False) -> str:
    """Several lines without a line end behind the last: header, place, labelled source, notes, helps."""
    source, primary = diagnostic.source, diagnostic.primary
    rows = [_draw_header(diagnostic)]
    width = len(str(last_line_shown(diagnostic)))
    framed = source is not None and primary is not None
    if source is not None and primary is not None:
        line, column = source.position(primary.start)
        rows.append(Canvas(" " * width + "--> ", "frame").add(f"{sanitize(source.name)}:{line}:{column}"))
        rows += draw_labels(source, primary, diagnostic.secondary, width, diagnostic.severity)
    remarks = [("note", note) for note in diagnostic.notes]
    remarks += [("help", help.message) for help in diagnostic.helps if not help.edits]
    shown = [help for help in diagnostic.helps if help.edits]
    if framed and (remarks or shown):
        rows.append(Canvas(" " * width + " |", "frame"))
    rows += [row for word, text in remarks for row in _draw_remark(word, text, width)]
    for help in shown:
        rows.append(Canvas("help", "help").add(f": {sanitize(help.message)}"))
        if source is not None:
            rows += draw_edits(source, help.edits, width)
    return "\n".join(row.paint(colour) for row in rows)


def render_short(diagnostic: Diagnostic, colour: bool = False) -> str:
    """`file:line:col: severity[CODE]: message`, one line."""
    source, primary = diagnostic.source, diagnostic.primary
    place = sanitize(source.name) if source else PROGRAM
    if source and primary:
        line, column = source.position(primary.start)
        place += f":{line}:{column}"
    return Canvas(f"{place}: ", "bold").join(_draw_header(diagnostic)).paint(colour).replace("\n", " ")


def name_switch(diagnostic: Diagnostic) -> str:
    """The flag that governs this diagnostic, in brackets: `[-Wnarrowing]`; empty for errors that no flag governs."""
    flag = {ERROR: "-Werror=", WARNING: "-W", REMARK: "-R"}[diagnostic.severity]
    return "" if diagnostic.rule.severity == ERROR else f" [{flag}{diagnostic.rule.name}]"


def _draw_header(diagnostic: Diagnostic) -> Canvas:
    message = f": {sanitize(diagnostic.message)}{name_switch(diagnostic)}"
    return Canvas(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity).add(message, "bold")


def _draw_remark(word: str, text: str, width: int) -> list[Canvas]:
    first, *rest = sanitize(text).split("\n")
    indent = " " * (width + len(f" = {word}: "))
    head = Canvas(" " * width + " = ", "frame").add(word, "bold").add(f": {first}")
    return [head, *(Canvas(indent + line) for line in rest)]
