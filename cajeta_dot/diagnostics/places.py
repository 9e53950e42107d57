"""From offsets in several files put end to end to offsets in the one that a diagnostic points at."""

from __future__ import annotations

from ..record import replace
from . import Edit, Help, Label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..source import Source
    from . import Diagnostic


def localize(diagnostic: Diagnostic) -> Diagnostic:
    """The same about the one file that it points at. Labels in others become notes that name the place."""
    source, primary = diagnostic.source, diagnostic.primary
    if source is None or primary is None:
        return diagnostic
    part, start = source.locate(primary.start)
    by = primary.start - start
    here = [label for label in diagnostic.secondary if source.locate(label.start)[0] is part]
    notes = [_tell(source, label) for label in diagnostic.secondary if label not in here]
    return replace(
        diagnostic,
        source=part,
        primary=_move(primary, by),
        secondary=tuple(_move(label, by) for label in here),
        notes=(*diagnostic.notes, *notes),
        helps=tuple(_move_help(help, source, part, by) for help in diagnostic.helps),
    )


def _move(label: Label, by: int) -> Label:
    return Label(label.start - by, label.end - by, label.text)


def _tell(source: Source, label: Label) -> str:
    name, line, column = source.place(label.start)
    return f"{label.text or 'see'}: {name}:{line}:{column}"


def _move_help(help: Help, source: Source, part: Source, by: int) -> Help:
    """Edits of another file can't be shown beside the text of this one."""
    if any(source.locate(edit.start)[0] is not part for edit in help.edits):
        return Help(help.message)
    return Help(help.message, tuple(Edit(e.start - by, e.end - by, e.text) for e in help.edits), help.applicability)
