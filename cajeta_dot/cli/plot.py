"""Bars as SVG, written as text: labels on the left, a bar for each, its number behind it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Bar = tuple[str, float, str]  # label, length, what stands behind the bar

_ROW, _BAR, _MARGIN = 26, 16, 12  # pixels
_LETTER = 7.3  # pixels of a letter of the font at 12 pixels, about
_LONGEST = 420  # pixels of the longest bar
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def draw_bars(title: str, bars: Sequence[Bar]) -> str:
    """The picture. Lengths are not negative; the longest fills the width."""
    left = _MARGIN + round(_LETTER * max((len(label) for label, _, _ in bars), default=0)) + 10
    right = round(_LETTER * max((len(note) for _, _, note in bars), default=0)) + 10 + _MARGIN
    width = max(left + _LONGEST + right, round(_LETTER * len(title)) + 2 * _MARGIN)
    height = _MARGIN + _ROW * (len(bars) + 1) + _MARGIN
    most = max((length for _, length, _ in bars), default=0) or 1
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="monospace" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(_MARGIN, _MARGIN + 12, title, "start", bold=True),
    ]
    for number, (label, length, note) in enumerate(bars, 1):
        top = _MARGIN + _ROW * number
        size = round(_LONGEST * length / most, 1)
        lines += [
            _text(left - 10, top + 12, label, "end"),
            f'<rect x="{left}" y="{top}" width="{size}" height="{_BAR}" fill="#3b6ea5"/>',
            _text(left + size + 6, top + 12, note, "start"),
        ]
    return "\n".join([*lines, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="#222222"{weight}>{text.translate(_ESCAPES)}</text>'
