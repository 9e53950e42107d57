"""Which brace is the wrong one, where a file has too many or too few: told by the indentation of the lines.

The parser alone finds a missing `}` only at the end of the file, and one too many only where the class has ended.
"""

from __future__ import annotations

import re

from ..diagnostics import Edit
from ..diagnostics.rules import CLOSES_NOTHING, NOT_CLOSED, SYNTAX
from ..record import record
from .problems import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .parse import Parser
    from .tree import Node

TAB = 4  # columns, where tabs and spaces are mixed
MAX_FAULTS = 20  # more than that is no slip of the pen
_MARK = re.compile(r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[{}();\n]""")
_SPACES = re.compile(r"\s*")
_INDENT = re.compile(r"[^\S\n]*")
_HEAD = re.compile(r".*(?:\)|\b(?:else|do|try|finally))(?=[^\S\n]*\n\s*([\w$]+|\S))")  # of a block, without its `{`


def retry_with_braces(parser: Parser, tree: Node | None) -> tuple[Node | None, list[Problem]]:
    """Parse again with the braces mended, if it is plain which ones are wrong. Returns the better tree, and its problems."""
    first = parser.problems
    mended = mend_braces(parser.text, parser.source)
    if mended is None:
        return tree, first
    parser.text, parser.problems = mended
    parser.restart()
    second = parser.parse()
    return (second, parser.problems) if len(parser.problems) <= len(first) else (tree, first)


def mend_braces(text: str, source: str) -> tuple[str, list[Problem]] | None:
    """The text with the same offsets and other braces, and what was wrong; None if indentation doesn't tell.

    `text` is `source` without its comments. Braces that are still open at the end are left to the parser.
    """
    surplus = text.count("{") - text.count("}")  # those in strings are the same in a good file and a bad one
    if not 0 < abs(surplus) <= MAX_FAULTS:
        return None
    faults = _find_faults(text, source, surplus)
    if not faults:
        return None
    characters = list(text)
    for fault in faults:
        at = fault.found_start
        if fault.rule is NOT_CLOSED:  # into the space before what follows, where there may already be another one
            at -= 1
            while at >= 0 and characters[at] == "}" and text[at].isspace():
                at -= 1
        if fault.rule is not CLOSES_NOTHING and (at < 0 or not characters[at].isspace()):
            return None
        characters[at] = _MENDED[fault.rule]
    return "".join(characters), faults


_MENDED = {NOT_CLOSED: "}", CLOSES_NOTHING: " ", SYNTAX: "{"}


@record
class _Line:
    start: int
    first: int  # offset of the first character that is no space
    column: int
    sibling: int | None = None  # where the line before it begins that has the same column, if all between are deeper


@record
class _Opened:
    at: int
    column: int


def _find_faults(text: str, source: str, surplus: int) -> list[Problem]:
    """Braces whose lines are not indented like those of their partners. `found_start` is where one is missing or too much.

    Empty where there are more of them than `surplus` explains: then the indentation follows other habits.
    """
    missing: list[Problem] = []
    extra: list[Problem] = []
    opened: list[_Opened] = []
    parentheses = boundary = 0  # `boundary`: behind the last statement
    line = boundary_line = _read_line(source, 0)
    outer = [line]  # the lines that this one is inside of by its column, and itself
    last_block: int | None = None
    for match in _MARK.finditer(text):
        at, mark = match.start(), match[0]
        if mark == "\n":
            line = _read_line(source, at + 1)
            if not text.startswith(("\n", "\r"), _skip(_INDENT, text, at + 1)):  # neither empty nor all comment
                line = _nest(line, outer)
        elif mark in "()":
            parentheses = max(parentheses + (1 if mark == "(" else -1), 0)
        elif mark == "{":
            begin = _skip(_SPACES, text, boundary)  # of the statement or the member that the brace belongs to
            broken = source.rfind("\n", boundary, begin) + 1
            begin_line = _read_line(source, broken) if broken else boundary_line
            heads = begin_line.first == begin < at
            while heads and opened and opened[-1].column >= begin_line.column:
                missing.append(_describe_missing(text, opened.pop().at, begin))
            opened.append(_Opened(at, begin_line.column))
        elif mark == "}":
            leads = line.first == at
            if leads and any(other.column == line.column for other in opened):
                while opened[-1].column != line.column:
                    missing.append(_describe_missing(text, opened.pop().at, at))
            tells = leads or (surplus < 0 and bool(opened) and opened[-1].at < line.start)
            if not opened or (tells and opened[-1].column < line.column):
                extra.append(_describe_extra(text, at, line if leads else None, last_block))
            else:
                opened.pop()
                last_block = at + 1
        if len(missing) > max(surplus, 0) or len(extra) > max(-surplus, 0):
            return []
        if mark in "{}" or (mark == ";" and parentheses == 0):
            parentheses, boundary, boundary_line = 0, at + 1, line
    return missing + extra


def _describe_missing(text: str, opened: int, place: int) -> Problem:
    shown = len(text[:place].rstrip())
    return Problem(NOT_CLOSED, opened, opened + 1, "{", place, expected=("`}`",), other=shown)


def _describe_extra(text: str, at: int, line: _Line | None, last_block: int | None) -> Problem:
    """What is wrong may be that the block it closes was not opened: then a line of the same column is the head of one."""
    head = _HEAD.match(text, line.sibling) if line and line.sibling is not None else None
    if head:
        return Problem(SYNTAX, head.end(), head.end(), head[1], head.end(), ("`{`",))
    return Problem(CLOSES_NOTHING, at, at + 1, "}", at, (), last_block, (Edit(at, at + 1, ""),))


def _nest(line: _Line, outer: list[_Line]) -> _Line:
    """The line with its sibling. `outer` becomes the lines that the next one may be inside of."""
    sibling: int | None = None
    while outer and outer[-1].column >= line.column:
        last = outer.pop()
        sibling = last.start if last.column == line.column else None
    line = _Line(line.start, line.first, line.column, sibling)
    outer.append(line)
    return line


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _read_line(source: str, start: int) -> _Line:
    first = _skip(_INDENT, source, start)
    return _Line(start, first, len(source[start:first].expandtabs(TAB)))
