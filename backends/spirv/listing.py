"""SPIR-V text read back: instructions, and where to find what an id is. For the checker; the text is ours."""

from __future__ import annotations

import re

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')
_VERSION = re.compile(r"^; Version: (\d+)\.(\d+)$", re.MULTILINE)
# Results that have no type, so that the first operand is not one.
_UNTYPED = ("OpLabel", "OpString", "OpExtInstImport")


@record
class Instruction:
    """One line. `result` is empty where there is none."""

    line: int
    result: str
    opcode: str
    operands: tuple[str, ...]

    @property
    def type(self) -> str:
        """The id of the result's type, empty if the result has none."""
        untyped = not self.result or self.opcode in _UNTYPED or self.opcode.startswith("OpType")
        return "" if untyped else self.operands[0]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The operands without the type."""
        return self.operands[1:] if self.type else self.operands

    @property
    def ids(self) -> list[str]:
        """The ids it refers to."""
        return [operand for operand in self.operands if operand.startswith("%")]


class Listing:
    """A module. `functions` are its instructions from OpFunction to OpFunctionEnd, `head` is everything before."""

    def __init__(self, text: str):
        """Raises ValueError for text without a version."""
        found = _VERSION.search(text)
        if found is None:
            raise ValueError("the text does not say its version")
        self.version = int(found[1]), int(found[2])
        self.instructions = list(_read(text))
        self.defined = {item.result: item for item in self.instructions if item.result}
        self.functions: dict[str, list[Instruction]] = {}
        self.head: list[Instruction] = []
        current = self.head
        for item in self.instructions:
            if item.opcode == "OpFunction":
                current = self.functions[item.result] = []
            current.append(item)
        self.capabilities = {item.operands[0] for item in self.head if item.opcode == "OpCapability"}
        self.extensions = {item.operands[0].strip('"') for item in self.head if item.opcode == "OpExtension"}
        self.entry_points = [item for item in self.head if item.opcode == "OpEntryPoint"]
        self.variables = {item.result: item.arguments[0] for item in self.head if item.opcode == "OpVariable"}
        self.decorations: dict[str, list[tuple[str, ...]]] = {}
        for item in self.head:
            if item.opcode == "OpDecorate":
                self.decorations.setdefault(item.operands[0], []).append(item.operands[1:])

    def type_of(self, id: str) -> tuple[str, ...]:
        """What the type of a value is: its opcode and operands, such as `OpTypeInt 32 1`. Empty if it has none."""
        item = self.defined.get(id)
        return self.look_up(item.type) if item else ()

    def look_up(self, type: str) -> tuple[str, ...]:
        """What a type is."""
        item = self.defined.get(type)
        return (item.opcode, *item.operands) if item else ()

    def decoration(self, id: str, name: str) -> tuple[str, ...] | None:
        """The operands of a decoration, None where it is missing."""
        return next((found[1:] for found in self.decorations.get(id, ()) if found[0] == name), None)

    def variable_behind(self, pointer: str) -> str:
        """The variable that an access chain leads into."""
        item = self.defined.get(pointer)
        while item is not None and item.opcode == "OpAccessChain":
            pointer = item.arguments[0]
            item = self.defined.get(pointer)
        return pointer

    def reach(self, function: str) -> list[Instruction]:
        """The instructions of a function and of everything that it calls."""
        found = {function: self.functions.get(function, [])}
        work = [function]
        while work:
            for item in found[work.pop()]:
                callee = item.arguments[0] if item.opcode == "OpFunctionCall" else ""
                if callee and callee not in found:
                    found[callee] = self.functions.get(callee, [])
                    work.append(callee)
        return [item for body in found.values() for item in body]


def _read(text: str) -> Iterator[Instruction]:
    for number, line in enumerate(text.splitlines(), 1):
        tokens = _TOKEN.findall(line)
        if not tokens or tokens[0] == ";":
            continue
        if len(tokens) > 2 and tokens[1] == "=":
            yield Instruction(number, tokens[0], tokens[2], tuple(tokens[3:]))
        else:
            yield Instruction(number, "", tokens[0], tuple(tokens[1:]))
