"""The text of one function while it is written: instructions, names, labels, declarations.

It knows LLVM's grammar as far as blocks and calls go, and nothing of our IR.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Operand = tuple[str, str]  # a type and a value, as LLVM spells them


class Writer:
    """`declarations` belongs to the module: a line for each function that it only calls.

    `entry` is what the first block does before all else: the locals, and what is computed once for the whole function.
    `label` is that of the block at hand, `is_open` tells if it still lacks its last instruction. `location` is what is put
    behind every instruction to say where it comes from.
    """

    def __init__(self, declarations: dict[str, str]):
        self.declarations = declarations
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.is_open, self.label = True, "entry"
        self.location = ""
        self._values = self._labels = 0

    # ---- values

    def name(self) -> str:
        """A name for a value that no other value of the function has."""
        self._values += 1
        return f"%v{self._values}"

    def value(self, instruction: str) -> str:
        """Do something that has a result; returns its name."""
        name = self.name()
        self.lines.append(f"{name} = {instruction}{self.location}")
        return name

    def do(self, instruction: str) -> None:
        """Do something that has none."""
        self.lines.append(instruction + self.location)

    def value_in_entry(self, instruction: str) -> str:
        """The same for what is done once, when the function is entered."""
        name = self.name()
        self.entry.append(f"{name} = {instruction}")
        return name

    def call(self, result: str, function: str, *operands: Operand) -> str:
        """Call what another module or LLVM itself defines."""
        self.declarations[function] = f"declare {result} @{function}({', '.join(type for type, _ in operands)})"
        return self.value(f"call {result} @{function}({spell_operands(operands)})")

    # ---- blocks

    def new_labels(self, *words: str) -> list[str]:
        """Labels that belong together: the words with one new number."""
        self._labels += 1
        return [f"{word}{self._labels}" for word in words]

    def begin(self, label: str) -> None:
        """Start a block. The one before goes on to it unless it is closed."""
        self.jump(label)
        self.lines.append(f"{label}:")
        self.is_open, self.label = True, label

    def jump(self, label: str) -> None:
        self.close(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, *, rare: bool = False) -> None:
        """`rare`: the first way is hardly ever taken (metadata !0 of the module)."""
        self.close(f"br i1 {condition}, label %{yes}, label %{no}{', !prof !0' if rare else ''}")

    def close(self, instruction: str) -> None:
        """The last instruction of a block; a block that has one already can't be reached here."""
        if self.is_open:
            self.lines.append(instruction + self.location)
        self.is_open = False

    def text(self) -> list[str]:
        """The body: everything between the braces."""
        indented = (line if line.endswith(":") else f"  {line}" for line in (*self.entry, *self.lines))
        return ["entry:", *indented]


def spell_operands(operands: Sequence[Operand]) -> str:
    return ", ".join(f"{type} {value}" for type, value in operands)
