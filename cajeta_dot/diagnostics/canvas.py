"""One row of a terminal: text put at columns, each part with a style; painted with or without colours."""

from __future__ import annotations

PAINT = {
    "error": "1;31",
    "warning": "1;33",
    "remark": "1;32",
    "help": "1;36",
    "frame": "1;34",
    "added": "32",
    "removed": "31",
    "bold": "1",
}


class Canvas:
    """Grows to the right. Columns count from 0; text is added as it is, so that wide characters belong to the end only."""

    def __init__(self, text: str = "", style: str = ""):
        self.cells: list[tuple[str, str]] = [(character, style) for character in text]

    def add(self, text: str, style: str = "") -> Canvas:
        """Behind all that is there. Gives itself, for chains."""
        self.cells += [(character, style) for character in text]
        return self

    def put(self, column: int, text: str, style: str = "") -> Canvas:
        """From a column on, over what is there."""
        missing = column - len(self.cells)
        self.cells += [(" ", "")] * missing
        self.cells[column : column + len(text)] = [(character, style) for character in text]
        return self

    def join(self, other: Canvas) -> Canvas:
        self.cells += other.cells
        return self

    def paint(self, colour: bool = False) -> str:
        """The row without spaces at its end."""
        cells = self.cells
        while cells and cells[-1][0] == " ":
            cells = cells[:-1]
        if not colour:
            return "".join(character for character, _ in cells)
        pieces: list[str] = []
        now = ""
        for character, style in cells:
            if style != now:
                pieces.append(("\x1b[0m" if now else "") + (f"\x1b[{PAINT[style]}m" if style else ""))
                now = style
            pieces.append(character)
        return "".join(pieces) + ("\x1b[0m" if now else "")
