"""A kernel's instructions beside the lines of the source that they were made for.

A backend's text is read back: assembly as LLVM writes it for ELF, PTX, or SPIR-V, each with line numbers in it (`-g`). It is
cut into functions; those that a kernel calls belong to it, unless they are a runtime's and have no lines.
"""

from __future__ import annotations

import re

from .diagnostics.canvas import Canvas
from .record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from cajeta_dot.backends import Backend, Options, TargetInfo

    from .diagnostics import Reporter
    from .ir import Function, Program
    from .source import Source

# What multiplies pairs of lanes and adds the products, on every target that has a name for it. Dots are made of these, and on
# x86 some other products.
_DOT = re.compile(r"v?pdp|v?pmaddubsw|v?pmaddwd|dp[24]a|op[su]+dot|[su]+dot|v_dot|vqdot|i\d+x\d+\.(dot|relaxed_dot)")
# The word for what an instruction does, behind an encoding that was asked for, a predicate or a result.
_MNEMONIC = re.compile(r"(?:\{\w+\} |@!?%\w+ |%\w+ = )?([\w.]+)")
_NAME = re.compile(r'"[^"]+"|%?[\w.$]+')
_COMMENT = ("#", "//", ";")


@record
class Instruction:
    """One line of code, or a label. `line` and `column` of the source count from 1; they are 0 for what has no place."""

    text: str
    line: int
    column: int
    is_label: bool = False

    @property
    def multiplies_pairs(self) -> bool:
        """Is it one of those that dot products are made of?"""
        mnemonic = _MNEMONIC.match(self.text)
        return not self.is_label and mnemonic is not None and bool(_DOT.match(mnemonic[1].lower()))


@record
class Code:
    """One function of an output, by its name there."""

    symbol: str
    instructions: tuple[Instruction, ...]


@record
class Listing:
    """A kernel or host method and what it calls, itself first. `dots` are lines and columns of dot products in the source."""

    source: Source
    name: str
    target: str
    functions: tuple[Code, ...]
    dots: frozenset[tuple[int, int]]

    def write(self, colour: bool = False) -> str:
        """For people: each run of instructions below the line they belong to, labels as they stand."""
        rows = [f"{self.source.name}: {self.name} for {self.target}"]
        for code in self.functions:
            rows += ["", Canvas(f"{code.symbol}:", "bold").paint(colour), *self._write_code(code, colour)]
        return "\n".join(rows) + "\n"

    def describe(self) -> dict[str, Any]:
        """For programs: plain data."""
        functions = [{"symbol": c.symbol, "code": [self._describe(i) for i in c.instructions]} for c in self.functions]
        return {"file": self.source.name, "name": self.name, "target": self.target, "functions": functions}

    def _is_dot(self, instruction: Instruction) -> bool:
        """Was it made for a dot product? Where LLVM joins what was made for several places of a line, it gives no column."""
        line, column = instruction.line, instruction.column
        made_here = (line, column) in self.dots if column else any(line == dot for dot, _ in self.dots)
        return made_here and instruction.multiplies_pairs

    def _write_code(self, code: Code, colour: bool) -> Iterator[str]:
        width = len(str(len(self.source.line_starts)))
        now = -1
        for instruction in code.instructions:
            if instruction.is_label:
                yield instruction.text
                continue
            if instruction.line != now:
                now = instruction.line
                number = str(now) if now else ""
                text = self.source.line(now).expandtabs(4) if now else ""
                yield Canvas(f"{number:>{width + 2}} | ", "frame").add(text).paint(colour)
            style = "remark" if self._is_dot(instruction) else ""
            yield Canvas(" " * (width + 5)).add(instruction.text, style).paint(colour)

    def _describe(self, instruction: Instruction) -> dict[str, Any]:
        place = {"line": instruction.line or None, "column": instruction.column or None}
        return {"text": instruction.text, **place, "label": instruction.is_label, "dot": self._is_dot(instruction)}


def find_kind(target: TargetInfo) -> str:
    """The kind of a target's output that can be read; empty if there is none."""
    return next((kind for kind in _READERS if kind in target.kinds), "")


def disassemble(
    program: Program, function: Function, backend: Backend, target: TargetInfo, options: Options, reporter: Reporter
) -> Listing | None:
    """The code of an entry, or None after an error.

    Raises ValueError where the target has no kind of output that can be read, or makes no function of this one.
    """
    kind = find_kind(target)
    if not kind:
        raise ValueError(f"target `{target.name}` has no instructions to show")
    artifact = backend.emit(program, target.name, kind, replace(options, debug_lines=True), reporter)
    if artifact is None or reporter.failed:
        return None
    assert isinstance(artifact.content, str)
    known = {code.symbol: code for code in _READERS[kind](artifact.content.splitlines())}
    symbol = artifact.symbols.get(function, "")
    if symbol not in known:
        raise ValueError(f"target `{target.name}` makes no function of its own of `{function.name}`")
    dots = frozenset(program.source.position(choice.start) for choice in artifact.choices if choice.operation == "dot")
    return Listing(program.source, function.name, target.name, _find_code(known, symbol), dots)


def _find_code(known: Mapping[str, Code], symbol: str) -> tuple[Code, ...]:
    """A function and those that it calls, each once, in the order in which they are met."""
    found = {symbol: known[symbol]}
    work = [symbol]
    while work:
        words = (word for i in known[work.pop()].instructions for word in _NAME.findall(i.text))
        for word in (word.strip('"') for word in words):
            if word in known and word not in found and any(i.line for i in known[word].instructions):
                found[word] = known[word]
                work.append(word)
    return tuple(found.values())


# ---- reading

_FUNCTION_TYPE = re.compile(r'\s*\.type\s+("[^"]+"|[^,\s]+)\s*,\s*[@%]function')
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)\s+(\d+)")
_OUR_LABEL = re.compile(r"(\.L|\$L__)(tmp|func_begin|func_end)\d+:")
_PTX_HEAD = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")


class _Body:
    """A function while it is read; the place that the last directive gave."""

    def __init__(self, symbol: str):
        self.symbol = symbol
        self.instructions: list[Instruction] = []
        self.line = self.column = 0

    def add(self, text: str) -> None:
        """A line of assembly or PTX: an instruction, a label, a place, or none of these."""
        located = _LOC.match(text)
        if located:
            self.line, self.column = int(located[1]), int(located[2])
            return
        word = text.strip()
        if word.endswith(":") and not _OUR_LABEL.match(word):
            self.instructions.append(Instruction(word, self.line, self.column, is_label=True))
        elif word and not word.endswith(":") and not word.startswith((".", *_COMMENT)):
            self.instructions.append(Instruction(" ".join(word.split()), self.line, self.column))

    def finish(self) -> Code:
        return Code(self.symbol, tuple(self.instructions))


def _read_assembly(lines: Iterable[str]) -> Iterator[Code]:
    """ELF: a function begins at the label that a `.type` directive announced, and ends where LLVM marks its end."""
    announced: set[str] = set()
    body: _Body | None = None
    for line in lines:
        typed = _FUNCTION_TYPE.match(line)
        if typed:
            announced.add(typed[1])
        elif body is None and line.partition(":")[0] in announced and ":" in line:
            body = _Body(line.partition(":")[0].strip('"'))
        elif body and line.startswith((".Lfunc_end", "\t.size\t", "\tend_function")):
            yield body.finish()
            body = None
        elif body:
            body.add(line)


def _read_ptx(lines: Iterable[str]) -> Iterator[Code]:
    """A function is a head, up to a brace that stands alone, and a body. A head that ends otherwise has none."""
    head = ""
    body: _Body | None = None
    for line in lines:
        if line == "{" and head:
            named = _PTX_HEAD.search(head)
            assert named, head
            body, head = _Body(named[1]), ""
        elif line == "}" and body:
            yield body.finish()
            body = None
        elif body:
            text = line.partition("//")[0].rstrip()
            body.add("" if text.strip() in ("{", "}") else text)
        else:
            begins = line.startswith((".visible", ".weak", ".entry", ".func"))
            head = line if begins else f"{head} {line}" if head else ""


def _read_spirv(lines: Iterable[str]) -> Iterator[Code]:
    """A kernel is called by its entry point, everything else by its id. A line counts to the end of its block."""
    entries: dict[str, str] = {}
    symbol, found = "", list[Instruction]()
    line = column = 0
    for text in (line.strip() for line in lines):
        words = text.split()
        opcode = next((word for word in words if word.startswith("Op")), "")
        if opcode == "OpEntryPoint":
            entries[words[2]] = words[3].strip('"')
        elif opcode == "OpFunction":
            symbol, found = entries.get(words[0], words[0]), []
        elif opcode == "OpFunctionEnd":
            yield Code(symbol, tuple(found))
            symbol = ""
        elif opcode in ("OpLine", "OpNoLine"):
            line, column = (int(words[2]), int(words[3])) if opcode == "OpLine" else (0, 0)
        elif symbol and opcode:
            line, column = (0, 0) if opcode == "OpLabel" else (line, column)
            found.append(Instruction(text, line, column, is_label=opcode == "OpLabel"))


# Kind of output -> what reads it, in the order in which a target's are looked for.
_READERS = {"asm": _read_assembly, "ptx": _read_ptx, "spirv-asm": _read_spirv}
