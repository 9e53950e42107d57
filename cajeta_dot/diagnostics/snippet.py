"""Source lines with what stands at them: labels as rustc draws them, and lines as an edit would leave them."""

from __future__ import annotations

from ..record import record
from .canvas import Canvas
from .lines import DOTS, Line, sanitize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..source import Source
    from . import Diagnostic, Edit, Label

MOST_LINES = 6  # of a label, or of an edit, that are shown in full


@record
class Mark:
    """A label as it is drawn: lines from 1, offsets in them from 0, `behind` the last one; where bars stand in the margin."""

    first: int
    start: int
    last: int
    behind: int
    text: str
    sign: str
    style: str
    bar: int

    @property
    def spans_lines(self) -> bool:
        return self.first != self.last


def last_line_shown(diagnostic: Diagnostic) -> int:
    """The greatest line number that the diagnostic prints: it decides how wide the frame is."""
    source = diagnostic.source
    if source is None or (diagnostic.primary is None and not diagnostic.helps):
        return 1
    ends = [_last_offset(label) for label in (diagnostic.primary, *diagnostic.secondary) if label]
    ends += [edit.end for help in diagnostic.helps for edit in help.edits]
    added = max((edit.text.count("\n") for help in diagnostic.helps for edit in help.edits), default=0)
    return source.position(min(max(ends, default=0), len(source.text)))[0] + added


# ---- labels


def draw_labels(source: Source, primary: Label, secondary: Sequence[Label], width: int, severity: str) -> list[Canvas]:
    """The frame's first row, then every labelled line with the marks under it."""
    labels = [(primary, "^", severity), *((label, "-", "frame") for label in secondary)]
    marks: list[Mark] = []
    bars = 0
    for label, sign, style in labels:
        mark = _locate(source, label, sign, style, bars)
        bars += mark.spans_lines
        marks.append(mark)
    rows = [_start_row(width, "")]
    before = 0
    for number in _choose_lines(marks):
        if before and number == before + 2:
            rows.append(_draw_line(source, number - 1, marks, bars, width))
        elif before and number > before + 2:
            rows.append(Canvas(DOTS.ljust(width + 3), "frame").join(_draw_margin(marks, bars, before, after=True)))
        rows.append(_draw_line(source, number, marks, bars, width))
        rows += _draw_marks(source, number, marks, bars, width)
        before = number
    return rows


def _last_offset(label: Label) -> int:
    return max(label.start, label.end - 1)


def _locate(source: Source, label: Label, sign: str, style: str, bar: int) -> Mark:
    size = len(source.text)
    start, last = min(label.start, size), min(_last_offset(label), size)
    first_line, first_column = source.position(start)
    last_line, last_column = source.position(last)
    behind = last_column - 1 + (label.end > label.start)
    text = sanitize(label.text).replace("\n", " ")
    return Mark(first_line, first_column - 1, last_line, behind, text, sign, style, bar)


def _choose_lines(marks: Sequence[Mark]) -> list[int]:
    chosen: set[int] = set()
    for mark in marks:
        if mark.last - mark.first < MOST_LINES:
            chosen.update(range(mark.first, mark.last + 1))
        else:
            chosen.update((mark.first, mark.first + 1, mark.last - 1, mark.last))
    return sorted(chosen)


def _start_row(width: int, number: int | str, divider: str = "|", style: str = "frame") -> Canvas:
    return Canvas(f"{number:>{width}} {divider} ", style)


def _lay_out(source: Source, number: int, marks: Sequence[Mark]) -> Line:
    """The line so that every mark's ends on it are visible."""
    visible: list[tuple[int, int]] = []
    for mark in marks:
        if mark.first == number == mark.last:
            visible.append((mark.start, mark.behind))
        elif mark.first == number:
            visible.append((mark.start, mark.start + 1))
        elif mark.last == number:
            visible.append((mark.behind - 1, mark.behind))
    return Line(source.line(number), visible)


def _draw_line(source: Source, number: int, marks: Sequence[Mark], bars: int, width: int) -> Canvas:
    text = source.line(number)
    margin = _draw_margin(marks, bars, number)
    for mark in marks:
        if mark.spans_lines and mark.first == number and not text[: mark.start].strip():
            margin.put(2 * mark.bar, "/", mark.style)
    return _start_row(width, number).join(margin).add(_lay_out(source, number, marks).text)


def _draw_margin(marks: Sequence[Mark], bars: int, number: int, after: bool = False) -> Canvas:
    """The bars of the labels that have begun above line `number` and not ended; `after`: below it."""
    margin = Canvas(" " * 2 * bars)
    for mark in marks:
        if mark.spans_lines and mark.first + (not after) <= number and number <= mark.last - after:
            margin.put(2 * mark.bar, "|", mark.style)
    return margin


def _draw_marks(source: Source, number: int, marks: Sequence[Mark], bars: int, width: int) -> list[Canvas]:
    line = _lay_out(source, number, marks)
    text = source.line(number)
    here = [mark for mark in marks if mark.first == number == mark.last]
    opening = [m for m in marks if m.spans_lines and m.first == number and text[: m.start].strip()]
    closing = [m for m in marks if m.spans_lines and m.last == number]
    rows: list[Canvas] = []
    begun = {m.bar for m in marks if m.spans_lines and m.first == number and m not in opening}

    def start_row() -> Canvas:
        margin = _draw_margin(marks, bars, number)
        for mark in marks:
            if mark.spans_lines and mark.bar in begun:
                margin.put(2 * mark.bar, "|", mark.style)
        return _start_row(width, "").join(margin)

    offset = width + 3 + 2 * bars
    for drawn in _stack(here, line):
        row = start_row()
        for column, piece, style in drawn:
            row.put(offset + column, piece, style)
        rows.append(row)
    for mark in opening:
        row = start_row()
        column = offset + line.column(mark.start)
        _draw_arm(row, width + 3 + 2 * mark.bar + 1, column, mark)
        rows.append(row)
        begun.add(mark.bar)
    for mark in closing:
        row = start_row()
        column = offset + line.columns(mark.behind - 1, mark.behind)[0]
        _draw_arm(row, width + 3 + 2 * mark.bar + 1, column, mark)
        row.add(f" {mark.text}", mark.style)
        rows.append(row)
        marks = [m for m in marks if m is not mark]
    return rows


def _draw_arm(row: Canvas, start: int, column: int, mark: Mark) -> None:
    """The line from the margin to the sign at `column`; other bars stay on top of it."""
    for at in range(start, column):
        if at >= len(row.cells) or row.cells[at][0] == " ":
            row.put(at, "_", mark.style)
    row.put(column, mark.sign, mark.style)


def _stack(here: Sequence[Mark], line: Line) -> list[list[tuple[int, str, str]]]:
    """Rows of (column, text, style): the marks, the text of the last one beside them, the other texts hanging below."""
    if not here:
        return []
    placed = [(*line.columns(mark.start, mark.behind), mark) for mark in here]
    secondary_first = reversed(placed)  # the primary label's signs are put over the others'
    signs = [(start, mark.sign * (end - start), mark.style) for start, end, mark in secondary_first]
    texts = sorted((p for p in placed if p[2].text), key=lambda p: -p[0])
    if texts:
        start, end, mark = texts[0]
        if all(other is mark or other_end <= start for _, other_end, other in placed):
            signs.append((end + 1, mark.text, mark.style))
            texts = texts[1:]
    rows = [signs]
    if texts:
        rows.append([(start, "|", mark.style) for start, _, mark in texts])
    while texts:
        (start, _, mark), *texts = texts
        rows.append([*((left, "|", m.style) for left, _, m in texts if left < start), (start, mark.text, mark.style)])
    return rows


# ---- edits


def draw_edits(source: Source, edits: Sequence[Edit], width: int) -> list[Canvas]:
    """The changed lines: signs under what is new, or old and new lines where lines come and go or text only goes."""
    rows = [_start_row(width, "")]
    before = 0
    for first, last, group in _group(source, edits):
        if before and first > before + 1:
            rows.append(Canvas(DOTS, "frame"))
        if first == last and all(edit.text and "\n" not in edit.text for edit in group):
            rows += _draw_changed_line(source, first, group, width)
        else:
            rows += _draw_difference(source, first, last, group, width)
        before = last
    return rows


def _group(source: Source, edits: Sequence[Edit]) -> list[tuple[int, int, list[Edit]]]:
    """Edits that touch the same lines together: first line, last line, edits in order."""
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        first, last = source.position(edit.start)[0], source.position(edit.end)[0]
        if groups and first <= groups[-1][1]:
            groups[-1] = groups[-1][0], max(last, groups[-1][1]), [*groups[-1][2], edit]
        else:
            groups.append((first, last, [edit]))
    return groups


def _apply(source: Source, first: int, last: int, edits: Sequence[Edit]) -> tuple[str, list[tuple[int, int, bool]]]:
    """The new text of some lines, and what in it is new: start, end, whether it takes the place of something."""
    start = source.line_starts[first - 1]
    end = source.line_starts[last - 1] + len(source.line(last))
    pieces: list[str] = []
    new: list[tuple[int, int, bool]] = []
    at, size = start, 0
    for edit in edits:
        kept = source.text[at : edit.start]
        size += len(kept)
        new.append((size, size + len(edit.text), edit.end > edit.start))
        size += len(edit.text)
        pieces += (kept, edit.text)
        at = edit.end
    return "".join(pieces) + source.text[at : max(at, end)], new


def _draw_changed_line(source: Source, number: int, edits: Sequence[Edit], width: int) -> list[Canvas]:
    text, new = _apply(source, number, number, edits)
    line = Line(text, [(start, end) for start, end, _ in new])
    signs = _start_row(width, "")
    for start, end, replaces in new:
        first, behind = line.columns(start, end)
        signs.put(width + 3 + first, ("~" if replaces else "+") * (behind - first), "added")
    return [_start_row(width, number).add(line.text), signs]


def _draw_difference(source: Source, first: int, last: int, edits: Sequence[Edit], width: int) -> list[Canvas]:
    old = [source.line(number) for number in range(first, last + 1)]
    new = [line.removesuffix("\r") for line in _apply(source, first, last, edits)[0].split("\n")]
    while old and new and old[0] == new[0]:
        old, new, first = old[1:], new[1:], first + 1
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    rows: list[Canvas] = []
    for lines, divider, style in ((old, "-", "removed"), (new, "+", "added")):
        for number, text in enumerate(lines[:MOST_LINES], first):
            rows.append(_start_row(width, number, divider, style).add(Line(text).text))
        if len(lines) > MOST_LINES:
            rows.append(Canvas(DOTS, "frame"))
    return rows
