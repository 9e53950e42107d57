"""Where text came from: its name, its lines, and the place of an offset in it."""

from __future__ import annotations

from bisect import bisect_right
from os.path import isabs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Source:
    """One file. `text` has no byte order mark; offsets count code points from 0."""

    parts: tuple[Source, ...] = ()  # of several files

    def __init__(self, name: str, text: str):
        self.name = name
        self.text = text
        self._starts: list[int] | None = None

    @property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        if self._starts is None:
            self._starts = [0]
            at = self.text.find("\n")
            while at >= 0:
                self._starts.append(at + 1)
                at = self.text.find("\n", at + 1)
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; a tab counts as one column."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    @property
    def name_in_output(self) -> str:
        """The name for what is written to be used elsewhere: of an absolute path only the end, for the rest is this
        machine's own."""
        return self.name.replace("\\", "/").rpartition("/")[2] if isabs(self.name) else self.name

    def locate(self, offset: int) -> tuple[Source, int]:
        """The file that an offset is in, and the offset there."""
        return self, offset

    def place(self, offset: int) -> tuple[str, int, int]:
        """Where an offset is: the name of the file, line and column."""
        part, offset = self.locate(offset)
        return part.name, *part.position(offset)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        starts = self.line_starts
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].removesuffix("\r")


class Sources(Source):
    """Several files as one text, end to end, so that an offset tells the file too. `name` is that of the one it is about."""

    def __init__(self, parts: Sequence[Source], name: str = ""):
        super().__init__(name or parts[0].name, "\n".join(part.text for part in parts))
        self.parts = tuple(parts)
        self.starts = [0]
        for part in parts[:-1]:
            self.starts.append(self.starts[-1] + len(part.text) + 1)

    def locate(self, offset: int) -> tuple[Source, int]:
        at = bisect_right(self.starts, offset) - 1
        return self.parts[at], offset - self.starts[at]

    def position(self, offset: int) -> tuple[int, int]:
        return self.place(offset)[1:]
