"""Where text came from: its name, its lines, and the place of an offset in it."""

from __future__ import annotations

from bisect import bisect_right
from os.path import isabs


class Source:
    """One file. `text` has no byte order mark; offsets count code points from 0."""

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

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        starts = self.line_starts
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].removesuffix("\r")
