"""Is it a statement or a member of the wider language, and where does it end? Asked where the dialect has no such form.

A small machine for parsing expression grammars, as LPeg has one: it keeps its own stack, so that no text is too deep for it,
and remembers what each rule matched where, so that it takes time in proportion to the text.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Part: TypeAlias = "tuple[str, list[Part]]"  # a sign of the grammar, or "" for a sequence, and what it is of

    from .machine import Machine

GRAMMAR = "wider.peg"
MAX_TOKENS = 20_000  # of one statement or member
_RULE = re.compile(r"^(\w+)\s*=\s*", re.MULTILINE)
_MARK = re.compile(r"""\s*("[^"]*"|\w+|[|?*+()])""")
_KNOWN_BY_WHAT_FOLLOWS = ("SHARED", "MUT")  # names all the same
_CLASS_NAME = re.compile(r"[A-Z](?:[\w$]*[a-z][\w$]*|\d?)")  # `Name`, `T`, `T1`, but no `NAME`: that is a constant

# What the machine does: a list of these with what each is about, a text, a kind, or a place in the list.
TEXT, KIND, CALL, RETURN, CHOICE, COMMIT, REPEAT = range(7)
_DONE, _ELSE, _FAILED = -1, -2, -1


def _read_choice(marks: list[str]) -> Part:
    """Takes them from the end of the list."""
    parts: list[Part] = [("", [])]
    while marks and (mark := marks.pop()) != ")":
        if mark == "|":
            parts.append(("", []))
        elif mark in ("?", "*", "+"):
            parts[-1][1][-1] = (mark, parts[-1][1][-1:])
        else:
            parts[-1][1].append(_read_choice(marks) if mark == "(" else (mark, []))
    return parts[0] if len(parts) == 1 else ("|", parts)


class Rules:
    """The grammar as a program, and where each rule begins in it.

    A choice knows with which tokens its alternatives begin, so that those are not tried that can't match.
    """

    def __init__(self, grammar: str):
        text = re.sub(r"^#.*", "", grammar, flags=re.MULTILINE)
        heads = list(_RULE.finditer(text))
        self.trees: dict[str, Part] = {}
        for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)], strict=True):
            marks = [mark[1] for mark in _MARK.finditer(text, head.end(), end)]
            self.trees[head[1]] = _read_choice([*reversed(marks)])
        self.first: dict[str, frozenset[str]] = dict.fromkeys(self.trees, frozenset())
        before = -1
        while before != (before := sum(map(len, self.first.values()))):
            self.first |= {name: self._find_first(tree) for name, tree in self.trees.items()}
        self.code: list[tuple[int, Any, Any]] = []
        self.begin: dict[str, int] = {}
        for name, tree in self.trees.items():
            self.begin[name] = len(self.code)
            self._write(tree)
            self.code.append((RETURN, None, None))
        self.code = [(op, self.begin[what] if op == CALL else what, first) for op, what, first in self.code]

    def _find_first(self, part: Part) -> frozenset[str]:
        """The texts and kinds that it can begin with; also the empty text, where it may match nothing."""
        word, parts = part
        if word == "|":
            return frozenset[str]().union(*map(self._find_first, parts))
        if word in ("?", "*"):
            return self._find_first(parts[0]) | {""}
        if word == "+":
            return self._find_first(parts[0])
        if word == "":
            found = frozenset({""})
            for one in parts:
                found = (found - {""}) | self._find_first(one)
                if "" not in found:
                    break
            return found
        return self.first[word] if word in self.trees else frozenset({"NAME" if word == "CLASS" else word.strip('"')})

    def _write(self, part: Part) -> None:
        word, parts = part
        code = self.code
        if word == "":
            for one in parts:
                self._write(one)
        elif word == "|":
            exits: list[int] = []
            for one in parts[:-1]:
                choice = self._begin_choice(one)
                exits.append(len(code))
                code.append((COMMIT, 0, None))
                self._end_choice(choice)
            self._write(parts[-1])
            for at in exits:
                code[at] = (COMMIT, len(code), None)
        elif word in ("?", "*", "+"):
            if word == "+":
                self._write(parts[0])
            choice = self._begin_choice(parts[0])
            code.append((COMMIT, len(code) + 1, None) if word == "?" else (REPEAT, choice, None))
            self._end_choice(choice)
        elif word[0] == '"':
            code.append((TEXT, word[1:-1], None))
        else:
            first = self._find_first(part)
            code.append((CALL, word, None if "" in first else first) if word in self.trees else (KIND, word, None))

    def _begin_choice(self, part: Part) -> int:
        choice, first = len(self.code), self._find_first(part)
        self.code.append((CHOICE, 0, None if "" in first else first))
        self._write(part)
        return choice

    def _end_choice(self, choice: int) -> None:
        self.code[choice] = (CHOICE, len(self.code), self.code[choice][2])

    def match(self, rule: str, tokens: Tokens) -> int:
        """The number of tokens that the rule matches; 0 if it does not."""
        code, texts, kinds, at, place = self.code, tokens.texts, tokens.kinds, 0, self.begin[rule]
        known: dict[tuple[int, int], int] = {}  # where it ends what a rule matches somewhere; FAILED
        stack: list[tuple[int, int, int]] = [(_DONE, place, 0)]  # where to return to, rule, start; or _ELSE, alternative, start
        while True:
            op, what, first = code[place]
            place += 1
            if op == RETURN:
                place, begun, start = stack.pop()
                known[begun, start] = at
                if place == _DONE:
                    return at
                continue
            if op == CHOICE:
                if at == len(texts):
                    tokens.read()
                if first is None or texts[at] in first or kinds[at] in first:
                    stack.append((_ELSE, what, at))
                else:
                    place = what
                continue
            if op in (COMMIT, REPEAT):
                before = stack.pop()[2]
                place = what if op == COMMIT or at > before else place
                continue
            if op == CALL:
                if at == len(texts):
                    tokens.read()
                could = first is None or texts[at] in first or kinds[at] in first
                end = known.get((what, at)) if could else _FAILED
                if end is None:
                    stack.append((place, what, at))
                    place = what
                    continue
                fits = end != _FAILED
                at = end if fits else at
            else:
                if at == len(texts):
                    tokens.read()
                fits = texts[at] == what if op == TEXT else tokens.is_kind(at, what)
                at += fits
            while not fits:
                back, begun, start = stack.pop()
                if back == _DONE:
                    return 0
                if back == _ELSE:
                    place, at, fits = begun, start, True
                else:
                    known[begun, start] = _FAILED


_rules: Rules | None = None


def load_rules() -> Rules:
    """Read and compiled once, when first needed: correct text never asks for them."""
    global _rules
    if _rules is None:
        from cajeta_dot.grammar import tables

        path = os.path.join(os.path.dirname(tables.GRAMMAR), GRAMMAR)
        _rules = Rules(tables.__loader__.get_data(path).decode())
    return _rules


class Tokens:
    """The tokens of a text from an offset on, read as they are asked for. Behind the last one there are empty ones."""

    def __init__(self, machine: Machine, text: str, at: int):
        self.machine, self.matches = machine, machine.scan(text, at)
        self.texts: list[str] = []
        self.kinds: list[str] = []
        self.ends: list[int] = []

    def read(self) -> None:
        """One more."""
        match = next(self.matches, None)
        group = match.lastindex if match else None
        if match is None or group is None or len(self.texts) > MAX_TOKENS:
            self.texts.append("")
            self.kinds.append("")
            return
        machine = self.machine
        kind, words, _ = machine.groups[group]
        name = machine.names[words.get(match[group], kind)]
        self.texts.append(match[group])
        self.kinds.append("NAME" if name in _KNOWN_BY_WHAT_FOLLOWS else name)
        self.ends.append(match.end(group))

    def is_kind(self, at: int, name: str) -> bool:
        """A `CLASS` is a name that looks like one."""
        if name == "CLASS":
            return self.kinds[at] == "NAME" and _CLASS_NAME.fullmatch(self.texts[at]) is not None
        return self.kinds[at] == name


def find_end(machine: Machine, text: str, begun: int, rule: str) -> int | None:
    """Where what begins at `begun` ends, if the rule of the wider language (`statement`, `item`, `member`) matches it."""
    tokens = Tokens(machine, text, begun)
    count = load_rules().match(rule, tokens)
    return tokens.ends[count - 1] if count else None
