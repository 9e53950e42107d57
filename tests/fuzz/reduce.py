"""Makes a program smaller for as long as it fails: without a line, without the braces around some, with a part for a whole.

It works on the text as the generator lays it out: one statement a line, every operation in parentheses of its own. Lines
that count the turns of a loop end in `TURN` and stay as they are, since a loop without them would not end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TURN = "// turn"
_HEADS = ("for (", "while (", "} while (")


def reduce_text(text: str, fails: Callable[[str], bool], tries: int = 400) -> str:
    """A text for which `fails` is true as it is for the first, asked at most so often."""
    changed = True
    while changed and tries > 0:
        changed = False
        for candidate in _candidates(text):
            tries -= 1
            if fails(candidate):
                text, changed = candidate, True
                break
            if tries <= 0:
                break
    return text


def _candidates(text: str) -> Iterator[str]:
    lines = text.split("\n")
    for place in reversed(range(len(lines))):
        yield from _shorter(lines, place)
    for place in reversed(range(len(lines))):
        line = lines[place]
        if not line.strip().startswith(_HEADS) and TURN not in line:
            for smaller in _simpler(line):
                yield "\n".join([*lines[:place], smaller, *lines[place + 1 :]])


def _shorter(lines: list[str], place: int) -> Iterator[str]:
    """Without the statement that begins here, or with what is inside it alone."""
    line = lines[place]
    if not line.strip() or line.strip().startswith("}") or TURN in line:
        return
    end = _find_end(lines, place)
    before, behind = lines[:place], lines[end + 1 :]
    if "entry(" not in line and not line.startswith("class "):
        yield "\n".join([*before, *behind])
    if end > place and not re.search(r"static|class ", line) and not line.strip().startswith(_HEADS) and "do {" not in line:
        inside = [inner for inner in lines[place + 1 : end] if not inner.strip().startswith("} else")]
        yield "\n".join([*before, *inside, *behind])


def _find_end(lines: list[str], place: int) -> int:
    """The line that closes what this one opens; itself if it opens nothing."""
    depth = 0
    for number in range(place, len(lines)):
        depth += lines[number].count("{") - lines[number].count("}")
        if depth <= 0 and not lines[number].rstrip().endswith("else {"):
            return number
    return place


def _simpler(line: str) -> Iterator[str]:
    """Instead of a part in parentheses, one of its operands, or a number."""
    for start, end in sorted(_groups(line), key=lambda group: group[0] - group[1]):
        if re.search(r"[\w>]$", line[:start]):  # the arguments of a call
            continue
        for operand in (*_words(line[start + 1 : end]), "0", "1"):
            if len(operand) < end + 1 - start:
                yield line[:start] + operand + line[end + 1 :]


def _groups(line: str) -> Iterator[tuple[int, int]]:
    """Places of parentheses that belong together."""
    opened: list[int] = []
    for place, letter in enumerate(line):
        if letter == "(":
            opened.append(place)
        elif letter == ")" and opened:
            yield opened.pop(), place


def _words(text: str) -> list[str]:
    """What stands between spaces outside of parentheses: the operands, and operators, which won't compile."""
    words, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and not depth:
            words.append("")
        else:
            words[-1] += letter
    return [word for word in words if word and re.search(r"\w", word)]
