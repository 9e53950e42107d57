"""From the grammar to plain tables: lark does it once, later starts read a cache and never import lark.

The tables are what lark would use itself: its terminals in its order, its LALR states, its rules. State numbers differ from
run to run (lark iterates over sets), so nothing may print them. lark's minor version is pinned: `build_tables` reads what it
does not promise to keep, and the tests compare the result with lark's own parser.
"""

from __future__ import annotations

import os
import sys

from cajeta_dot import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypedDict

    class Tables(TypedDict):
        pattern: str  # one regular expression; each group is a terminal or a run of fixed texts
        groups: list[tuple[int, dict[str, int], bool]]  # by group number: terminal, texts that are others, punctuation?
        names: list[str]  # terminals, by number
        texts: dict[int, str]  # the text of a terminal that has only one
        actions: list[dict[int, int]]  # by state: terminal -> state * 2 (shift) or rule * 2 + 1 (reduce)
        gotos: list[dict[str, int]]  # by state: symbol -> state
        rules: list[tuple[str, int, str, bool]]  # symbol, length, builder, is a pass-through of one symbol
        starts: dict[str, tuple[int, int]]  # start symbol -> first and last state
        first: dict[str, list[int]]  # symbol -> terminals it can begin with


STARTS = ("unit", "expression", "reserved")
GRAMMAR = os.path.join(os.path.dirname(__file__), "cajeta.lark")
SPOKEN_SYMBOLS = ("member", "item", "statement", "expression", "type", "parameter", "word", "reserved")


def load_tables(cache: str | None = None) -> Tables:
    """From the cache folder, or from lark (and then into the cache). An empty `cache` means none is used."""
    grammar = __loader__.get_data(GRAMMAR)  # also out of a zip; `importlib.resources` takes 20 ms to import
    folder = store.user_folder() if cache is None else cache
    if not folder:
        return build_tables(grammar.decode())
    path = os.path.join(folder, f"tables-{sys.implementation.cache_tag}{store.SUFFIX}")
    own = __loader__.get_data(__file__)  # so that nobody need remember to raise a number
    key = store.check_sum(b"\0".join((sys.version.encode(), _lark_version(), own, grammar)))
    tables = store.read(path, key)
    if tables is None:
        tables = build_tables(grammar.decode())
        store.write(path, key, tables)
    return tables


def _lark_version() -> bytes:
    """Without importing it; `importlib.metadata` takes 30 ms."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("lark")
    if spec is None or spec.origin is None:
        return b"absent"
    with open(spec.origin, "rb") as file:
        return file.read().partition(b"__version__")[2].partition(b"\n")[0]


def make_lark(grammar: str, **options: Any) -> Any:
    """lark's own parser for the grammar. For the tables, and for what is compared with it."""
    from lark import Lark

    return Lark(
        grammar, parser="lalr", lexer="basic", start=list(STARTS), maybe_placeholders=False, propagate_positions=True, **options
    )


def build_tables(grammar: str) -> Tables:
    """The only function that looks inside lark."""
    from lark.parsers.lalr_analysis import Shift

    lark = make_lark(grammar)
    table = lark.parser.parser._parse_table
    names = [*sorted(terminal.name for terminal in lark.terminals), "ERROR", "$END", "$BAD"]
    number = {name: index for index, name in enumerate(names)}
    rule_number = {rule: index for index, rule in enumerate(lark.rules)}
    actions: list[dict[int, int]] = []
    gotos: list[dict[str, int]] = []
    for state in range(len(table.states)):
        row = table.states[state]
        actions.append(
            {
                number[symbol]: argument * 2 if action is Shift else rule_number[argument] * 2 + 1
                for symbol, (action, argument) in row.items()
                if symbol in number
            }
        )
        gotos.append({symbol: argument for symbol, (_, argument) in row.items() if symbol not in number})
    pattern, groups = _scanner(lark.parser.lexer, number)
    return {
        "pattern": pattern,
        "groups": groups,
        "names": names,
        "texts": {number[t.name]: t.pattern.value for t in lark.terminals if t.pattern.type == "str"},
        "actions": actions,
        "gotos": gotos,
        "rules": [
            (str(r.origin.name), len(r.expansion), str(r.alias or r.origin.name), _passes_through(r)) for r in lark.rules
        ],
        "starts": {start: (table.start_states[start], table.end_states[start]) for start in STARTS},
        "first": _first_sets(lark.rules, number),
    }


def _passes_through(rule: Any) -> bool:
    """`?sum: product`: lark makes no node for it, so the driver need not even reduce it."""
    return len(rule.expansion) == 1 and not rule.expansion[0].is_term and rule.options.expand1 and not rule.alias


def _scanner(lexer: Any, number: dict[str, int]) -> tuple[str, list[tuple[int, dict[str, int], bool]]]:
    """lark's terminals in lark's order; neighbours of fixed text share a group, ignored ones become a prefix."""
    terminals = lexer.scanner.terminals  # first: making the scanner also makes the callbacks
    inside = {name: call.scanner.terminals for name, call in lexer.callback.items()}  # keywords that look like names
    skipped: list[str] = []
    parts: list[str] = []
    groups: list[tuple[int, dict[str, int], bool]] = [(-1, {}, False)]  # groups count from 1
    run: list[Any] = []

    def end_run() -> None:
        if run:
            parts.append("|".join(t.pattern.to_regexp() for t in run))
            groups.append((-1, {t.pattern.value: number[t.name] for t in run}, True))
            run.clear()

    for terminal in terminals:
        if terminal.name in lexer.ignore_types:
            skipped.append(terminal.pattern.to_regexp())
        elif terminal.pattern.type == "str":
            run.append(terminal)
        else:
            end_run()
            parts.append(terminal.pattern.to_regexp())
            words = {t.pattern.value: number[t.name] for t in inside.get(terminal.name, ())}
            fixed = terminal.pattern.max_width == 1  # `<` and `>` with a look ahead
            groups.append((number[terminal.name], words, fixed))
    end_run()
    parts += [r"\Z", r"""["'][^\n]*|[^\x00-\x7f\w\s]+|."""]
    groups += [(number["$END"], {}, True), (number["$BAD"], {}, False)]
    skip = "|".join(f"(?:{text})" for text in skipped)
    return f"(?:{skip})*+(?:{'|'.join(f'({part})' for part in parts)})", groups


def _first_sets(rules: list[Any], number: dict[str, int]) -> dict[str, list[int]]:
    first: dict[str, set[int]] = {str(rule.origin.name): set() for rule in rules}
    empty: set[str] = set()
    before = -1
    while before != (before := sum(map(len, first.values())) + len(empty)):
        for rule in rules:
            for symbol in rule.expansion:
                if symbol.is_term:
                    first[rule.origin.name].add(number[symbol.name])
                    break
                first[rule.origin.name] |= first[symbol.name]
                if symbol.name not in empty:
                    break
            else:
                empty.add(rule.origin.name)
    return {symbol: sorted(first[symbol]) for symbol in SPOKEN_SYMBOLS}
