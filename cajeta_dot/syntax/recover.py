"""Parsing goes on after a mistake. Here is the machinery: tokens one by one, a look ahead through the tables, skipping.

What is put in, left out or read as something else is decided by the table in `repairs.py`. Parsing like this is slower than
the driver for correct text.
"""

from __future__ import annotations

import re
from itertools import takewhile

from ..diagnostics.rules import NOT_CLOSED, TOO_DEEP
from ..record import record
from .machine import ACCEPT, SHIFT
from .parse import MAX_DEPTH
from .problems import Problem
from .repairs import CLOSERS, REPAIRS, skip_foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..diagnostics import Edit, Rule
    from .machine import Gotos
    from .parse import Parser
    from .tree import Node

MAX_PROBLEMS = 100
MAX_REPAIRS = 1000  # also those that are not reported

_SPACES = re.compile(r"\s*")
_MEMBER_AHEAD = re.compile(r"[@}]|(?<![\w$])(?:public|private|protected|static|final|class|interface|enum|void)(?![\w$])")
_MARKED = re.compile(r"@\s*(?:[\w$]+\s*\.\s*)*(?:Kernel|Device)\b")


@record
class Bracket:
    """One that is open: its offset (negative if the parser put it in), which one, and the word or the node before it."""

    at: int
    mark: str
    before: object


class Recovery:
    """A parse with repairs. Up to the offset `trusted` the text is known to be correct.

    `kind` and `value` are what would be shifted for the token at `start..end`; `last_end` is the end of the token before. The
    tables let a token that does not fit reduce what is on the stack before that shows, so each is tried on the states first.
    """

    def __init__(self, parser: Parser, trusted: int):
        self.parser, self.machine, self.source, self.text = parser, parser.machine, parser.source, parser.text
        self.stack, self.values, self.value_starts = parser.stack, parser.values, parser.value_starts
        self.trusted = trusted
        self.row: Any = self.machine.row_of_state(self.machine.starts[parser.start][0])
        self.matches = self.machine.scan(self.text)
        self.last_end = 0
        self.repairs = 0
        self.quiet_until = -1  # problems up to this offset follow from one that was reported
        self.calm = 0  # so do those before so many more tokens were taken
        self.reserved: set[str] = set()  # words that this text uses as names
        self.refused = -1  # where something begins that is no statement or member of the wider language either
        self.invented: list[str] = []  # marks that are not in the text; the first has the offset -1
        self.read()

    def finish(self) -> Node | None:
        """The tree, or None if no repair helps or there were too many."""
        while True:
            if self.start >= self.trusted and not self.accepts(self.kind):
                if not self.repair():
                    return None
            elif self.feed(self.kind, self.value, self.start):
                self.last_end = self.end
                self.calm = max(self.calm - 1, 0)
                if len(self.stack) > MAX_DEPTH:
                    return self.refuse_depth()
                self.read()
            else:
                return self.values[-1]

    def refuse_depth(self) -> None:
        """There is no tree of a text that is nested deeper than the stack may grow."""
        found = self.source[self.start : self.end]
        self.parser.problems.append(Problem(TOO_DEEP, self.start, self.end, found, self.start, expected=(str(MAX_DEPTH),)))

    def repair(self) -> bool:
        """Get past the token that does not fit. False to give up."""
        if skip_foreign(self):
            return True
        self.repairs += 1
        if self.repairs > MAX_REPAIRS or len(self.parser.problems) >= MAX_PROBLEMS:
            return False
        return any(attempt(self) for attempt in REPAIRS)

    def report(
        self,
        rule: Rule,
        start: int,
        end: int,
        found: str | None = None,
        expected: tuple[str, ...] = (),
        other: int | None = None,
        edits: tuple[Edit, ...] = (),
        help: str = "",
    ) -> None:
        """Keep a problem, unless it follows from the last repair or from a comment or text that goes on to the end of the file.

        `found` is the token at hand if not given.
        """
        cut_short = self.kind == self.machine.end and self.parser.unclosed is not None
        if self.start > self.quiet_until and self.calm == 0 and not cut_short:
            found = self.found() if found is None else found
            self.parser.problems.append(Problem(rule, start, end, found, self.start, expected, other, edits, help))

    def report_open(self, bracket: int) -> None:
        """A bracket is open at the end of the file."""
        mark = self.text[bracket]
        self.report(NOT_CLOSED, bracket, bracket + 1, mark, (f"`{CLOSERS[mark]}`",), len(self.source))

    # ---- tokens

    def read(self) -> None:
        """Go to the next token."""
        self.kind, self.value, self.start, self.end = self._take(next(self.matches))

    def peek(self, at: int) -> int:
        """The kind of the first token at or behind an offset."""
        return self._take(next(self.machine.scan(self.text, at)))[0]

    def scan(self, at: int) -> Iterator[tuple[int, int, int]]:
        """Kind, start and end of each token at or behind an offset, up to the end of the text."""
        for match in self.machine.scan(self.text, at):
            kind, _, start, end = self._take(match)
            yield kind, start, end

    def _take(self, match: re.Match[str]) -> tuple[int, Any, int, int]:
        group = match.lastindex or 0
        start, end = match.span(group)
        kind, texts, is_mark = self.machine.groups[group]
        value = self.text[start:end]
        return texts.get(value, kind), start if is_mark else value, start, end

    def drop(self, end: int) -> None:
        """Leave out everything up to an offset behind the token at hand. What is missed in its place is not told."""
        while self.start < end and self.kind != self.machine.end:
            self.read()
        self.quiet_until = self.start

    def read_as(self, kind: int, value: Any) -> None:
        """Take the token at hand for another one."""
        self.kind, self.value = kind, value

    def rewrite(self, edits: tuple[Edit, ...]) -> None:
        """Change characters at or behind the token at hand, each for one other, and read it again."""
        for edit in edits:
            self.text = self.text[: edit.start] + edit.text + self.text[edit.end :]
        self.matches = self.machine.scan(self.text, self.start)
        self.quiet_until = self.start
        self.read()

    def find_next(self, at: int) -> int:
        """The offset of the next token at or behind an offset."""
        match = _SPACES.match(self.text, at)
        return match.end() if match else at

    def found(self) -> str:
        """The text of the token at hand, empty at the end of the file."""
        return self.source[self.start : self.end]

    def is_keyword(self) -> bool:
        return self.machine.texts.get(self.kind, "")[:1].isalpha()

    def is_on_new_line(self) -> bool:
        return self.text.find("\n", self.last_end, self.start) >= 0

    # ---- tables

    def accepts(self, *terminals: int) -> bool:
        """Could these come next? Walks the states only."""
        stack, row = self.stack.copy(), self.row
        for terminal in terminals:
            while True:
                length, symbol, target = row[terminal]
                if length == SHIFT:
                    stack.append(symbol)
                    row = target
                    break
                if length < 0:
                    return length == ACCEPT
                if length == 0:
                    gotos, symbol = symbol
                    stack.append(gotos)
                elif length > 1:
                    del stack[1 - length :]
                row = stack[-1][symbol]
        return True

    def feed(self, terminal: int, value: Any, start: int) -> bool:
        """Reduce, then shift a token that fits, from the text or not. False if it is the end, and all is reduced."""
        stack, values, value_starts = self.stack, self.values, self.value_starts
        while True:
            length, symbol, target = self.row[terminal]
            if length == SHIFT:
                stack.append(symbol)
                values.append(value)
                value_starts.append(start)
                self.row = target
                return True
            if length < 0:
                return False
            if length == 0:
                gotos, symbol = symbol
                stack.append(gotos)
                values.append(target(None, start, self.last_end))
                value_starts.append(start)
            else:
                v = values[-1] if length == 1 else values[-length:]
                first = value_starts[-length]
                if length > 1:
                    del stack[1 - length :], values[1 - length :], value_starts[1 - length :]
                values[-1] = target(v, first, self.last_end)
            self.row = stack[-1][symbol]

    def invent(self, terminal: int) -> None:
        """Feed a token that is missing: an empty name, or a mark. Its offset is negative, so that no text is taken for it."""
        if terminal not in self.machine.marks:
            self.feed(terminal, "", self.last_end)
            return
        self.invented.append(self.machine.texts[terminal])
        self.feed(terminal, -len(self.invented), self.last_end)

    def unshift(self) -> tuple[Any, int]:
        """Take the top symbol back. Its value and where it starts."""
        self.row = self.machine.row_of_state(self.stack.pop().state)
        return self.values.pop(), self.value_starts.pop()

    def open_brackets(self) -> list[Bracket]:
        """The brackets that are open, innermost first."""
        found: list[Bracket] = []
        closed = 0
        for index in range(len(self.values) - 1, -1, -1):
            at = self.values[index]
            if type(at) is not int:
                continue
            mark = self.text[at] if at >= 0 else self.invented[-at - 1]
            if mark in ")]}":
                closed += 1
            elif mark in "([{" and closed:
                closed -= 1
            elif mark in "([{":
                found.append(Bracket(at, mark, self.values[index - 1] if index else None))
        return found

    def open_in_statement(self) -> list[Bracket]:
        """The parentheses and square brackets that are open within the innermost braces, innermost first."""
        return list(takewhile(lambda bracket: bracket.mark != "{", self.open_brackets()))

    def is_in_body(self) -> bool:
        """Would `skip` go back to a list of statements, and not to one of members?"""
        return self.find_entry()[0]

    def hides_kernel(self, in_body: bool, begun: int, end: int | None) -> bool:
        """Would `skip` drop a member that is, or holds, a kernel or a helper of kernels?"""
        return not in_body and _MARKED.search(self.text, begun, self.start if end is None else end) is not None

    def find_entry(self) -> tuple[bool, int]:
        """Is it a statement that would be skipped, and where does it, or the member, begin?"""
        kept = self._keep()
        begun = self._unwind()
        inside = self.accepts(self.machine.error, self.machine.by_text["return"])
        self._restore(kept)
        return inside, begun

    def accepts_from_entry(self, terminals: list[int]) -> bool:
        """Could these be what the statement or the member begins with?"""
        kept = self._keep()
        self._unwind()
        fits = self.accepts(*terminals)
        self._restore(kept)
        return fits

    def _keep(self) -> tuple[Any, list[Gotos], list[Any], list[int]]:
        return self.row, self.stack.copy(), self.values.copy(), self.value_starts.copy()

    def _restore(self, kept: tuple[Any, list[Gotos], list[Any], list[int]]) -> None:
        self.row, self.stack[:], self.values[:], self.value_starts[:] = kept

    def _unwind(self) -> int:
        """Drop what was begun, back to a list of statements or members. Where it began."""
        begun = self.start
        while not self.accepts(self.machine.error) and self.stack:
            _, begun = self.unshift()
        return begun

    def begin_again(self, begun: int, word: int, kind: int) -> None:
        """Read the statement or the member again from an offset on, with the token at `word` as one of another kind."""
        self._unwind()
        self.last_end = begun
        while self.last_end and self.text[self.last_end - 1].isspace():
            self.last_end -= 1
        self.matches = self.machine.scan(self.text, begun)
        self.read()
        while self.start < word:
            self.feed(self.kind, self.value, self.start)
            self.last_end = self.end
            self.read()
        if kind != self.kind:
            self.read_as(kind, self.start if kind in self.machine.marks else self.machine.texts[kind])

    # ---- giving a statement up

    def skip(self, foreign: tuple[str, int, int] | None = None, end: int | None = None) -> bool:
        """Drop what was begun, back to a list of statements or members; then tokens, up to `end` or where such a list goes on.

        In its place stands a `Bad`, or a `Foreign` node of what `foreign` says. False if there is no such list.
        """
        machine = self.machine
        semicolon, opening, closing, left, right = (machine.by_text[mark] for mark in ";{}()")
        begun, parentheses, in_for = self.start, 0, False
        while not self.accepts(machine.error):
            if not self.stack:
                return False
            value, begun = self.unshift()
            in_for = in_for or value == "for"
            if type(value) is int and value >= 0:
                parentheses += {"(": 1, ")": -1}.get(self.text[value : value + 1], 0)
        braces: list[int] = []
        stop = False
        while self.kind != machine.end and (end is None or self.start < end):
            if end is not None:
                self.last_end = self.end
                self.read()
                continue
            if stop and self.kind != semicolon and self.accepts(machine.error, self.kind):
                break
            stop = False
            if self.kind == opening:
                braces.append(self.start)
            elif self.kind == closing:
                if not braces and self.accepts(machine.error, closing):
                    break
                del braces[-1:]
                stop = not braces
            elif not braces and in_for and parentheses > 0:  # the `;` of a `for` do not end it
                parentheses += (self.kind == left) - (self.kind == right)
            elif self.kind == semicolon:
                stop = not braces
            self.last_end = self.end
            self.read()
        opened = braces[-1:] or [bracket.at for bracket in self.open_brackets() if bracket.at >= 0]
        if foreign and self.kind == machine.end and opened:  # what is no mistake can hide one
            self.report_open(opened[0])
        self.last_end = max(self.last_end, begun)
        self.feed(machine.error, foreign, begun)
        while self.kind == machine.end and not self.accepts(self.kind) and self.accepts(closing):
            self.invent(closing)
        is_quiet, self.quiet_until = self.quiet_until > self.start, max(self.quiet_until, self.start)
        if not is_quiet and not self.accepts(machine.error, machine.by_text["return"]):  # a method may have lost its head
            member = _MEMBER_AHEAD.search(self.text, self.start)
            self.quiet_until = max(self.start, member.start() - 1) if member else len(self.text)
        return True
