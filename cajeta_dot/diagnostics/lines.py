"""How one line of source stands on a terminal: what is printed, and in which column each character begins.

Tabs, wide and combining characters, control characters and very long lines are dealt with here and nowhere else. It knows
no labels: a caller names the parts of the line that must stay visible.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TAB = 4  # columns, as rustc prints them
LONG = 160  # code points from which a line is cut
CONTEXT = 40  # code points that stay on both sides of what is shown of a long line
KEPT_HEAD, KEPT_TAIL = 60, 20  # of a label that is itself long
DOTS = "..."
# Text that would turn the direction of what follows, or break the line: shown as a replacement character.
_UNSEEN = {*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, *range(0xD800, 0xE000)}


class Line:
    """A printable line. `text` is what to print, `column(i)` where code point i of the source line begins, from 0."""

    def __init__(self, source_text: str, visible: Iterable[tuple[int, int]] = ()):
        self.size = len(source_text)
        self._columns: dict[int, int] | None = None
        self._gaps: list[tuple[int, int]] = []  # first code point that is left out, column of the dots
        if self.size <= LONG and source_text.isascii() and source_text.isprintable():
            self.text = source_text
        else:
            self.text = self._lay_out(source_text, _choose_kept(self.size, visible))

    def _lay_out(self, source_text: str, kept: list[tuple[int, int]]) -> str:
        self._columns = {}
        column, pieces, behind = 0, list[str](), 0
        for start, end in [*kept, (self.size, self.size)]:
            if start > behind:
                self._gaps.append((behind, column))
                pieces.append(DOTS)
                column += len(DOTS)
            for i in range(start, end):
                shown, width = _show(source_text[i])
                self._columns[i] = column if width else max(0, column - 1)  # a combining mark stands on its base
                pieces.append(shown)
                column += width
            behind = end
        self._columns[self.size] = column
        return "".join(pieces)

    def column(self, index: int) -> int:
        if self._columns is None:
            return index
        if index > self.size:
            return self._columns[self.size] + index - self.size
        found = self._columns.get(index)
        if found is None:  # left out: at the dots
            return next(column for first, column in reversed(self._gaps) if first <= index)
        return found

    def columns(self, start: int, end: int) -> tuple[int, int]:
        """The first column and the one behind the last of `start..end`; always at least one wide."""
        first, behind = self.column(start), self.column(end)
        if self._columns is not None and end > start and end not in self._columns:
            behind += len(DOTS)
        return first, max(first + 1, behind)


def sanitize(text: str) -> str:
    """Text from the user that can't steer the terminal; line ends stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c == "\n" else _show(c)[0] for c in text)


def _choose_kept(size: int, visible: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of a line of `size` code points to print, in order, apart from each other."""
    if size <= LONG:
        return [(0, size)]
    wanted: list[tuple[int, int]] = []
    for start, end in visible:
        if end - start > KEPT_HEAD + KEPT_TAIL:
            wanted += [(start - CONTEXT, start + KEPT_HEAD), (end - KEPT_TAIL, end + CONTEXT)]
        else:
            wanted.append((start - CONTEXT, end + CONTEXT))
    kept: list[tuple[int, int]] = []
    for start, end in sorted(wanted) or [(0, LONG)]:
        start, end = max(0, min(start, size)), min(end, size)
        if start <= len(DOTS):
            start = 0
        if kept and start <= kept[-1][1] + len(DOTS):
            kept[-1] = kept[-1][0], max(end, kept[-1][1])
        else:
            kept.append((start, end))
    if kept[-1][1] >= size - len(DOTS):
        kept[-1] = kept[-1][0], size
    return kept


def _show(character: str) -> tuple[str, int]:
    """What to print for a code point, and how many columns it takes."""
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character, 1
    if character == "\t":
        return " " * TAB, TAB
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code == 0x7F:
        return "\u2421", 1
    if code in _UNSEEN:
        return "\ufffd", 1
    from unicodedata import category, east_asian_width  # only where text is not plain

    if category(character) in ("Mn", "Me", "Cf"):
        return character, 0
    return character, 2 if east_asian_width(character) in "WF" else 1
