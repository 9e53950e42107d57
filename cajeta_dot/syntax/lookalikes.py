"""Characters that are no part of the language but look like some that are: from papers, web pages, word processors."""

from __future__ import annotations

# Written as escapes, since they can't be told apart by looking at them.
_LOOKALIKES = {
    '"': "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u301d\u301e",
    "'": "\u2018\u2019\u201a\u201b\u2032\u00b4",
    ";": "\u037e\u061b",
    ",": "\u3001\u060c",
    ".": "\u3002\u2024",
    "-": "\u2212\u2010\u2011\u2012\u2013\u2014\u2015",
    "*": "\u00d7\u2217\u22c5\u00b7\u2219\u2022",
    "/": "\u00f7\u2215\u2044",
    "&": "\u2227",
    "|": "\u2228\u2223",
    "!": "\u00ac",
    "~": "\u223c\u02dc",
    "^": "\u02c6",
    "<": "\u2039\u27e8",
    ">": "\u203a\u27e9",
    "<=": "\u2264\u2a7d",
    ">=": "\u2265\u2a7e",
    "!=": "\u2260",
    "==": "\u2261",
    "<<": "\u226a",
    ">>": "\u226b",
}
_MEANINGS = {character: meaning for meaning, characters in _LOOKALIKES.items() for character in characters}
_FULL_WIDTH = 0xFEE0  # from `!`..`~` to their wide twins


def find_meaning(character: str) -> str | None:
    """What to write instead, if there is an ASCII text that looks the same or means the same."""
    narrow = ord(character) - _FULL_WIDTH
    return chr(narrow) if ord("!") <= narrow <= ord("~") else _MEANINGS.get(character)


def find_partner(text: str, at: int, limit: int) -> int | None:
    """Of a quotation mark that is none: where on its line, before `limit`, the text in quotes ends, whatever mark that is."""
    mark = find_meaning(text[at])
    line, _, _ = text[at + 1 : limit].partition("\n")
    ends = (place for place, character in enumerate(line, at + 1) if character == mark or find_meaning(character) == mark)
    return next(ends, None)
