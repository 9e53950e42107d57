"""lark's own parser for the grammar, and what the fast driver has to agree with it about."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from lark import Token, Tree, UnexpectedInput, UnexpectedToken

from cajeta_dot.grammar import tables
from cajeta_dot.record import fields_of
from cajeta_dot.syntax import tree as nodes
from cajeta_dot.syntax.build import BUILDERS
from cajeta_dot.syntax.comments import blank_comments, mask_numerals
from cajeta_dot.syntax.machine import Machine
from cajeta_dot.syntax.parse import Parser

GRAMMAR = Path(tables.GRAMMAR).read_text(encoding="utf-8")
LARK = tables.make_lark(GRAMMAR, keep_all_tokens=True)
TABLES = tables.build_tables(GRAMMAR)


class TreeBuilders(dict[str, Any]):
    """In place of the real builders: (rule, start, end, symbols)."""

    def __missing__(self, name: str) -> Any:
        def build(v: Any, start: int, end: int) -> Any:
            symbols = cast("list[Any]", v) if type(v) is list else [] if v is None else [v]
            return (name, start, end, tuple(symbols))

        return build


MACHINE = Machine(TABLES)
TREES = Machine(TABLES, TreeBuilders())


class Refusing(Parser):
    """Goes no further than the first token that does not fit."""

    refused_at: int | None = None

    def recover(self, start: int) -> None:
        self.refused_at = start


def compare_with_lark(text: str, start: str = "unit") -> int | None:
    """The number of nodes, or None where both refuse the text at the same place."""
    blanked = mask_numerals(blank_comments(text)[0])
    parser = Refusing(TREES, text, start)
    mine = parser.parse()
    theirs, refused_at = _parse_with_lark(blanked, start)
    if refused_at is not None:
        assert parser.refused_at == refused_at
        return None
    assert parser.refused_at is None
    assert not parser.problems, parser.problems
    count = _assert_same_rules(mine, theirs)
    if blanked.strip():  # of nothing at all lark does not say where it is
        assert_equal_nodes(Parser(MACHINE, text, start).parse(), _build_from(theirs))
    return count


def _parse_with_lark(text: str, start: str) -> tuple[Any, int | None]:
    """The tree, and where the first token is that does not fit."""
    try:
        return LARK.parse(text, start=start), None
    except UnexpectedToken as error:
        token = cast("Token", error.token)
        return None, len(text) if token.type == "$END" else token.start_pos
    except UnexpectedInput as error:
        return None, error.pos_in_stream


def _assert_same_rules(mine: Any, theirs: Any) -> int:
    """Same rules, same spans, same tokens. Returns the number of nodes."""
    work, count = [(mine, theirs)], 0
    while work:
        mine, theirs = work.pop()
        if isinstance(theirs, Token):
            assert mine == (theirs.start_pos if isinstance(mine, int) else str(theirs))
            continue
        count += 1
        name, start, end, symbols = mine
        assert name == theirs.data
        if not theirs.meta.empty:
            assert (start, end) == (theirs.meta.start_pos, theirs.meta.end_pos), theirs
        assert len(symbols) == len(theirs.children), (mine, theirs)
        work += zip(symbols, theirs.children, strict=True)
    return count


def _build_from(tree: Tree[Token]) -> Any:
    """The real builders, driven by lark's finished tree instead of by the fast driver."""
    done: list[Any] = []
    work: list[tuple[Any, bool]] = [(tree, False)]
    while work:
        item, ready = work.pop()
        if isinstance(item, Token):
            done.append(item.start_pos if MACHINE.number[item.type] in MACHINE.marks else str(item))
        elif not ready:
            work.append((item, True))
            work += [(child, False) for child in reversed(item.children)]
        else:
            count = len(item.children)
            v = done[len(done) - count :]
            del done[len(done) - count :]
            value: Any = None if not v else v[0] if count == 1 else v
            start, end = (0, 0) if item.meta.empty else (item.meta.start_pos, item.meta.end_pos)
            done.append(BUILDERS[str(item.data)](value, start, end))
    return done[0]


def assert_equal_nodes(a: Any, b: Any) -> None:
    """Nodes are compared by identity elsewhere; here by what they hold, without recursion."""
    work = [(a, b)]
    while work:
        a, b = work.pop()
        assert type(a) is type(b)
        if isinstance(a, nodes.Node):
            work += [(getattr(a, name), getattr(b, name)) for name in fields_of(type(a))]
        elif isinstance(a, tuple):
            work += zip(cast("tuple[Any, ...]", a), cast("tuple[Any, ...]", b), strict=True)
        else:
            assert a == b
