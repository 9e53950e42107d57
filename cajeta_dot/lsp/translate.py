"""Offsets, findings and trees in the protocol's words. Lines and characters count from 0."""

from __future__ import annotations

from ..diagnostics import ERROR, REMARK, WARNING
from ..syntax.tree import Class, Constructor, Field, Method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..diagnostics import Diagnostic, Edit, Help
    from ..source import Source
    from ..syntax.tree import Node, Unit

    Json = dict[str, Any]

SEVERITIES = {ERROR: 1, WARNING: 2, REMARK: 3}
CLASS, METHOD, FIELD, CONSTRUCTOR, ENUM, INTERFACE, CONSTANT = 5, 6, 8, 9, 10, 11, 14  # SymbolKind
_WORDS = {"enum": ENUM, "interface": INTERFACE}
UTF_16, UTF_32 = "utf-16", "utf-32"


class Places:
    """Places in one text. `encoding` says what a character is: a code point, or what takes 16 bits."""

    def __init__(self, source: Source, encoding: str):
        self.source, self.is_wide = source, encoding == UTF_16

    def place(self, offset: int) -> Json:
        line, column = self.source.position(min(offset, len(self.source.text)))
        character = column - 1
        if self.is_wide:
            before = self.source.line(line)[:character]
            character += sum(1 for letter in before if ord(letter) > 0xFFFF)
        return {"line": line - 1, "character": character}

    def range(self, start: int, end: int) -> Json:
        return {"start": self.place(start), "end": self.place(end)}

    def offset(self, line: int, character: int) -> int:
        """That of a place; one behind the end of its line, or of the text, is the end."""
        starts = self.source.line_starts
        if line < 0 or line >= len(starts):
            return 0 if line < 0 else len(self.source.text)
        text = self.source.line(line + 1)
        if not self.is_wide:
            return starts[line] + min(max(character, 0), len(text))
        at = 0
        while at < len(text) and character > 0:
            character -= 2 if ord(text[at]) > 0xFFFF else 1
            at += 1
        return starts[line] + at

    def edits(self, edits: Iterable[Edit]) -> list[Json]:
        return [{"range": self.range(edit.start, edit.end), "newText": edit.text} for edit in edits]


def describe(diagnostic: Diagnostic, places: Places, uri: str) -> Json:
    """One finding. Notes, and helps that are only text, stand below the message."""
    primary = diagnostic.primary
    start, end = (primary.start, primary.end) if primary else (0, 0)
    lines = [diagnostic.message]
    if primary and primary.text:
        lines.append(f"here: {primary.text}")
    lines += [f"note: {note}" for note in diagnostic.notes]
    lines += [f"help: {help.message}" for help in diagnostic.helps if not help.edits]
    return {
        "range": places.range(start, end),
        "severity": SEVERITIES[diagnostic.severity],
        "code": diagnostic.code,
        "source": "cajetac",
        "message": "\n".join(lines),
        "relatedInformation": [
            {"location": {"uri": uri, "range": places.range(label.start, label.end)}, "message": label.text}
            for label in diagnostic.secondary
            if label.text
        ],
    }


def describe_help(help: Help, diagnostic: Json, places: Places, uri: str) -> Json:
    """A help as something that can be done about a finding. One that changes what a program does is never the preferred."""
    return {
        "title": help.message,
        "kind": "quickfix",
        "diagnostics": [diagnostic],
        "isPreferred": help.applicability == "machine",
        "edit": {"changes": {uri: places.edits(help.edits)}},
    }


def describe_symbols(unit: Unit, places: Places) -> list[Json]:
    """Classes, and in them methods and fields."""
    return list(_symbols(unit.members, places))


def _symbols(nodes: Iterable[Node], places: Places) -> Iterator[Json]:
    for node in nodes:
        match node:
            case Class(name=name, members=members):
                inside = list(_symbols(members, places))
                yield {**_symbol(node, name, name.text, _WORDS.get(node.word, CLASS), places), "children": inside}
            case Method(name=name):
                yield _symbol(node, name, name.text, METHOD, places)
            case Constructor(name=name):
                yield _symbol(node, name, name.text, CONSTRUCTOR, places)
            case Field(declarators=declarators, modifiers=modifiers):
                final = any(getattr(modifier, "word", "") == "final" for modifier in modifiers)
                for one in declarators:
                    yield _symbol(one, one, one.name, CONSTANT if final else FIELD, places)
            case _:
                pass


def _symbol(node: Node, name: Node, text: str, kind: int, places: Places) -> Json:
    chosen = places.range(name.start, name.start + len(text))
    return {"name": text or "?", "kind": kind, "range": places.range(node.start, node.end), "selectionRange": chosen}
