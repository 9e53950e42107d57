"""Text to syntax tree: one regular expression, LALR tables, one builder call for each rule.

Here is only what a correct text needs. At the first mistake the parse is handed over to `recover.py`.
"""

from __future__ import annotations

from itertools import islice

from ..collector import PAUSED_COLLECTOR
from .comments import blank_comments, mask_numerals
from .machine import ACCEPT, SHIFT, load_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..diagnostics import Reporter
    from ..source import Source
    from .machine import Gotos, Machine
    from .problems import Problem
    from .tree import Node, Unit

# Symbols waiting on the stack: 980 nested parentheses, 490 blocks or calls, 160 loops.
MAX_DEPTH = 1000
MAX_TOKENS = 1_500_000  # more than 100,000 long lines have; each costs about 200 bytes, and more in the checker


class Parser:
    """One text being parsed. Three stacks grow together: states below the top, values, and where each value starts.

    Values are nodes, growing lists, the text of names, keywords and literals, and the offsets of punctuation marks.
    """

    def __init__(self, machine: Machine, text: str, start: str = "unit"):
        self.machine, self.start = machine, start
        self.source = text
        blanked, self.unclosed = blank_comments(text)
        self.text = mask_numerals(blanked)
        self.problems: list[Problem] = []
        self.restart()

    def restart(self) -> None:
        """Forget what was parsed, but not what is wrong with the text and what it has become."""
        self.stack: list[Gotos] = []
        self.values: list[Any] = []
        self.value_starts: list[int] = []

    def parse(self) -> Node | None:
        """The tree, with `Bad` nodes where something was skipped; None if not even that was possible."""
        machine, text, stack, values, value_starts = self.machine, self.text, self.stack, self.values, self.value_starts
        groups, slices, max_depth = machine.groups, machine.slices, MAX_DEPTH
        row = machine.row_of_state(machine.starts[self.start][0])
        last_end = 0
        for match in islice(machine.scan(text), MAX_TOKENS + 1):  # the last one is the end
            group: Any = match.lastindex
            start, end = match.span(group)
            value: Any = match[group]
            kind, texts, is_mark = groups[group]
            if texts:
                kind = texts.get(value, kind)
            if is_mark:
                value = start
            while True:
                length, symbol, builder = row[kind]
                if length == 1:
                    values[-1] = builder(values[-1], value_starts[-1], last_end)
                    row = stack[-1][symbol]
                elif length == SHIFT:
                    stack.append(symbol)
                    values.append(value)
                    value_starts.append(start)
                    row = builder
                    last_end = end
                    if len(stack) > max_depth:
                        return self.recover(start)
                    break
                elif length > 1:
                    top, rest = slices[length]
                    first = value_starts[-length]
                    v = values[top]
                    del stack[rest], values[rest], value_starts[rest]
                    values[-1] = builder(v, first, last_end)
                    row = stack[-1][symbol]
                elif length == 0:
                    gotos, symbol = symbol
                    stack.append(gotos)
                    values.append(builder(None, start, last_end))
                    value_starts.append(start)
                    row = gotos[symbol]
                elif length == ACCEPT:
                    return values[-1]
                else:
                    return self.recover(start)
        return self.recover(len(text))

    def recover(self, start: int) -> Node | None:
        """Parse again, with repairs from the token on that does not fit: it has reduced what it should not have touched.

        A text with too many tokens is refused here, and nothing else is said of it: to count those of every text takes as
        long as a fifth of parsing it.
        """
        from .preprocess import join_types
        from .recover import Recovery

        self.restart()
        surplus = self.find_surplus()
        if surplus is None:
            joined = join_types(self)
            return Recovery(self, start if joined is None else min(start, joined)).finish()
        self.problems, self.unclosed = [describe_surplus(surplus)], None
        return None

    def find_surplus(self) -> int | None:
        """Where the first token is that is one too many."""
        if len(self.text) <= MAX_TOKENS:  # each has a character
            return None
        match = next(islice(self.machine.scan(self.text), MAX_TOKENS, None), None)
        at = match.start(match.lastindex or 0) if match else len(self.text)
        return at if at < len(self.text) else None  # the last token is the end


def describe_surplus(at: int) -> Problem:
    """The file has too many tokens."""
    from ..diagnostics.rules import FILE_TOO_LARGE
    from .problems import Problem

    return Problem(FILE_TOO_LARGE, at, at + 1, "", at, expected=(str(MAX_TOKENS),))


def describe_unclosed(text: str, opened: int) -> Problem:
    """A comment or a text block that is never closed."""
    from ..diagnostics.rules import TEXT_NOT_CLOSED
    from .problems import Problem

    mark = "/*" if text[opened] == "/" else '"""'
    return Problem(TEXT_NOT_CLOSED, opened, opened + len(mark), mark, opened)


def parse_text(text: str, start: str = "unit") -> tuple[Node | None, list[Problem]]:
    """The tree and the syntax errors, in the order in which they were found."""
    parser = Parser(load_machine(), text, start)
    with PAUSED_COLLECTOR:
        if "#" in parser.text:
            from .preprocess import blank_directives

            blank_directives(parser)
        tree = parser.parse()
        problems = parser.problems
        if parser.unclosed is not None:
            problems.append(describe_unclosed(text, parser.unclosed))
        elif problems and tree is not None:
            from .braces import retry_with_braces

            tree, problems = retry_with_braces(parser, tree)
        if len(problems) > 1:
            from .consequences import drop_consequences

            problems = drop_consequences(problems, parser.text)
    return tree, problems


def parse_source(source: Source, reporter: Reporter) -> Unit | None:
    """The tree of a file. Everything that is wrong with the syntax is reported, in order of position.

    After errors the tree has `Bad` nodes and may hold names that are empty; None if nothing could be built.
    """
    from .conditions import find_assigned_conditions
    from .tree import Unit

    tree, problems = parse_text(source.text)
    unit = tree if isinstance(tree, Unit) else None
    if unit is not None:
        noticed = {problem.found_start for problem in problems}
        problems += [one for one in find_assigned_conditions(unit, source.text) if one.start not in noticed]
    if problems:
        from .problems import report_problems

        report_problems(problems, reporter, len(source.text))
    return unit
