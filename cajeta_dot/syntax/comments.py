"""What no grammar of tokens can say, taken out of the text before it is scanned. Every offset stays what it was."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# A text whose end is missing goes on to the end of its line: to look for it again from each mark inside would take forever.
_TEXT = r""""[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"""
_CODE_ENDS = re.compile(r'//[^\n]*|/\*|"""[^\S\n]*\n|' + _TEXT)  # without groups, so that `re` looks for the first characters
_COMMENT_MARK = re.compile(r"/\*|\*/")
_TEXT_BLOCK_MARK = re.compile(r'\\.|"""', re.DOTALL)
_WORD = re.compile(_TEXT + r"|[^\W\x00-\x7f]+")
_NO_LETTER = "\N{REPLACEMENT CHARACTER}"


def blank_comments(text: str) -> tuple[str, int | None]:
    """The text with spaces for comments, and where the comment or text block begins that is never closed, if there is one.

    Block comments nest; a string hides both kinds. Line ends inside a block comment stay. A text block becomes a string of
    one line.
    """
    if "//" not in text and "/*" not in text and '"""' not in text:
        return text, None
    pieces: list[str] = []
    copied = at = 0
    unclosed = None
    while mark := _CODE_ENDS.search(text, at):
        opened, at = mark.span()
        kind = text[opened : opened + 2]
        if kind == "/*":
            end = _end_of_comment(text, at)
        elif kind == '""' and text.endswith("\n", opened, at):
            end = _end_of_text_block(text, at)
        elif kind == "//":
            end = at
        else:
            continue
        unclosed, at = (opened, len(text)) if end is None else (None, end)
        pieces.append(text[copied:opened])
        pieces.append(_BLANKS[kind](text[opened:at]))
        copied = at
    pieces.append(text[copied:])
    return "".join(pieces), unclosed


def _end_of_comment(text: str, at: int) -> int | None:
    depth = 1
    while mark := _COMMENT_MARK.search(text, at):
        at = mark.end()
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return at
    return None


def _end_of_text_block(text: str, at: int) -> int | None:
    while mark := _TEXT_BLOCK_MARK.search(text, at):
        at = mark.end()
        if mark[0] == '"""':
            return at
    return None


_BLANKS: dict[str, Callable[[str], str]] = {
    "//": lambda text: " " * len(text),
    "/*": lambda text: "\n".join(" " * len(line) for line in text.split("\n")),
    '""': lambda text: '"' + " " * (len(text) - 2) + '"',
}


def mask_numerals(text: str) -> str:
    """The text with a character of no token for each digit or numeral beyond ASCII (`²`, `٣`), strings left alone.

    Names are made of letters, and `re` has no class for letters: its `\\w` takes all numerals too.
    """
    if text.isascii():
        return text
    pieces: list[str] = []
    copied = 0
    for word in _WORD.finditer(text):
        if word[0][0] not in "\"'" and not word[0].isalpha():
            pieces += text[copied : word.start()], "".join(c if c.isalpha() else _NO_LETTER for c in word[0])
            copied = word.end()
    pieces.append(text[copied:])
    return "".join(pieces)
