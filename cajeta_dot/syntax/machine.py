"""The LALR tables as the driver reads them: for each state a row, and in it what to do for each terminal.

Rows are dictionaries that learn: an entry is worked out when it is first asked for.
"""

from __future__ import annotations

import re

from cajeta_dot.grammar.tables import load_tables

from .build import BUILDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cajeta_dot.grammar.tables import Tables

    from .build import Builder

    # What the driver is to do:
    #   (SHIFT, gotos of this state, row of the next state)      (ACCEPT, None, None)      (STUCK, None, None)
    #   (length of the rule, its symbol, its builder)            (0, (gotos of this state, symbol), builder)
    Action = tuple[int, Any, Any]

SHIFT, ACCEPT, STUCK = -1, -2, -3


class Gotos(dict[str, "Row"]):
    """What stands on the stack: for one state, the row behind each symbol."""

    __slots__ = ("machine", "state")

    def __init__(self, machine: Machine, state: int):
        self.machine, self.state = machine, state

    def __missing__(self, symbol: str) -> Row:
        row = self[symbol] = Row(self.machine, self.machine.gotos[self.state][symbol], self.state)
        return row


class Row(dict[int, "Action"]):
    """What to do for each terminal, when `state` is on top and `below` is under it.

    Pass-through rules (`?sum: product`) are followed here, once, and not in the driver: a name in an expression goes
    through fourteen of them. That is sound because such a rule only exchanges the top state for another one.
    """

    __slots__ = ("below", "machine", "state")

    def __init__(self, machine: Machine, state: int, below: int | None):
        self.machine, self.state, self.below = machine, state, below

    def __missing__(self, terminal: int) -> Action:
        machine, state = self.machine, self.state
        while True:
            code = machine.actions[state].get(terminal)
            if code is None:
                accepts = terminal == machine.end and state in machine.last_states
                return (ACCEPT, None, None) if accepts else (STUCK, None, None)
            if not code & 1:
                action = (SHIFT, machine.goto_table[state], machine.row_of_state(code >> 1))
                break
            symbol, length, builder, passes_through = machine.rules[code >> 1]
            if passes_through and self.below is not None:
                state = machine.gotos[self.below][symbol]
                continue
            action = (length, symbol, builder) if length else (0, (machine.goto_table[state], symbol), builder)
            break
        self[terminal] = action
        return action


class Machine:
    """The tables with the builders put in, and the rows learned so far. One is enough for all texts and threads."""

    def __init__(self, tables: Tables, builders: dict[str, Builder] = BUILDERS):
        self.actions, self.gotos, self.names, self.texts = tables["actions"], tables["gotos"], tables["names"], tables["texts"]
        self.number = {name: index for index, name in enumerate(self.names)}
        self.by_text = {text: terminal for terminal, text in self.texts.items()}
        self.end, self.bad, self.error = (self.number[name] for name in ("$END", "$BAD", "ERROR"))
        self.starts, self.first = tables["starts"], tables["first"]
        self.last_states = {last for _, last in self.starts.values()}
        self.rules = [
            (symbol, length, _only_child if passes else builders[name], passes)
            for symbol, length, name, passes in tables["rules"]
        ]
        longest = max(length for _, length, _, _ in self.rules)
        self.slices = [(slice(-length, None), slice(1 - length, None)) for length in range(longest + 1)]  # made once
        self.goto_table = [Gotos(self, state) for state in range(len(self.actions))]
        self.rows: dict[int, Row] = {}
        self.scan = re.compile(tables["pattern"]).finditer
        self.groups: dict[Any, tuple[int, dict[str, int], bool]] = dict(enumerate(tables["groups"]))  # by `lastindex`
        self.marks = {t for kind, texts, is_mark in tables["groups"] if is_mark for t in (kind, *texts.values())}

    def row_of_state(self, state: int) -> Row:
        """The row of a state whatever is below it."""
        row = self.rows.get(state)
        if row is None:
            row = self.rows[state] = Row(self, state, None)
        return row


def _only_child(v: Any, start: int, end: int) -> Any:
    return v


_machine: Machine | None = None


def load_machine() -> Machine:
    """The one for this language. Two threads that come first may both make one; either serves."""
    global _machine
    if _machine is None:
        _machine = Machine(load_tables())
    return _machine
