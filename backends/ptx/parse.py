"""PTX text to functions: names resolved, operands told apart. Instructions are not understood here.

A module is cut into functions first; a body is read when it is asked for, because a launch needs few of many.
"""

from __future__ import annotations

import re

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Operand = "Register | Immediate | Special | Variable | Address | Pack | Label"


class PtxError(Exception):
    """The text has something that this machine does not know: an instruction, a directive, a form of operand."""


@record
class Register:
    """`bits` is 1 for a predicate. `index` is its place among the registers of its function."""

    name: str
    bits: int
    index: int


@record
class Immediate:
    """`bits` is 32 or 64 for the bit pattern of a float, and 0 for an integer, which has as many as are wanted."""

    number: int
    bits: int = 0


@record
class Special:
    """A register that the machine sets, such as `%tid.x`."""

    name: str


class Variable:
    """Memory with a name. Compared by identity: a name may be declared again in another scope."""

    def __init__(self, name: str, space: str, size: int, alignment: int, content: bytes = b""):
        self.name, self.space, self.size, self.alignment, self.content = name, space, size, alignment, content


@record
class Address:
    """`base` is a register, a variable, or None where the offset is the whole address."""

    base: Register | Variable | None
    offset: int


@record
class Pack:
    """Several operands in braces. None is `_`, which is thrown away."""

    parts: tuple[Register | Immediate | None, ...]


@record
class Label:
    """A place in the function, or another function."""

    name: str


@record
class Instruction:
    """`guard` is the predicate it runs under, and whether that must be false. `line` counts in the PTX text from 1, `source`
    in the program's (0: not said, see `.loc`)."""

    opcode: str
    operands: tuple[Register | Immediate | Special | Variable | Address | Pack | Label, ...]
    guard: tuple[Register, bool] | None
    line: int
    source: int
    text: str


class Body:
    """What stands between a function's braces. `tables` are the lists of labels that `brx.idx` takes its target from."""

    def __init__(self) -> None:
        self.registers: list[Register] = []
        self.variables: list[Variable] = []
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}


class Function:
    """`parameters` and `results` are variables of space `param`; `threads` is what `.maxntid` says, or None."""

    def __init__(self, module: Module, name: str, head: tuple[str, str, str, str], text: str, line: int):
        self.module, self.name, self.is_entry = module, name, head[0] == "entry"
        self.results, self.parameters = _read_parameters(head[1]), _read_parameters(head[2])
        bounds = _BOUNDS.fullmatch(head[3])
        if not bounds:
            raise PtxError(f"not understood: `{' '.join(head[3].split())}`")
        self.threads = tuple(int(part) for part in bounds["threads"].split(",")) if bounds["threads"] else None
        self._text, self._line = text, line
        self._body: Body | None = None

    @property
    def body(self) -> Body:
        """Read once, when first asked for. Raises PtxError."""
        if self._body is None:
            self._body = _BodyReader(self).read(self._text, self._line)
        return self._body


class Module:
    """All functions of a text by name, and its variables outside of functions."""

    def __init__(self, text: str):
        """Raises PtxError for what is no PTX of the kind that compilers write."""
        text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}
        at = 0
        while found := _FUNCTION.search(text, at):
            self._read_outside(text[at : found.start()])
            end = _find_close(text, found.end()) if found["open"] == "{" else found.end()
            if found["open"] == "{":
                head = found["kind"], found["results"] or "", found["parameters"] or "", found["bounds"] or ""
                line = text.count("\n", 0, found.end()) + 1
                self.functions[found["name"]] = Function(self, found["name"], head, text[found.end() : end - 1], line)
            at = end
        self._read_outside(text[at:])
        target = re.search(r"\.target\s+(\w+)", text)
        self.target = target[1] if target else ""

    def _read_outside(self, text: str) -> None:
        for statement in re.findall(r"[^;]*;", re.sub(r"\.(version|target|address_size)[^\n]*", "", text)):
            if not statement.strip().startswith((".file", ".section")):
                variable = _read_variable(statement)
                self.variables[variable.name] = variable


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_NAME = r"[A-Za-z_$%][\w$]*"
_FUNCTION = re.compile(
    rf"(?:\.(?:visible|weak|extern)\s+)*\.(?P<kind>entry|func)\s*(?:\((?P<results>[^)]*)\))?\s*(?P<name>{_NAME})\s*"
    r"(?:\((?P<parameters>[^)]*)\))?(?P<bounds>[^{;]*)(?P<open>[{;])"
)
_VARIABLE = re.compile(
    r"\s*(?:\.(?:visible|extern|weak)\s+)*\.(?P<space>global|const|shared|local|param)\s+(?:\.align\s+(?P<align>\d+)\s+)?"
    rf"\.[a-z](?P<bits>\d+)\s+(?P<ptr>\.ptr(?:\s+\.\w+)*\s+(?:\.align\s+\d+\s+|\d+\s+)?)?(?P<name>{_NAME})"
    r"(?:\[(?P<count>\d+)\])?\s*(?:=\s*(?P<content>\{[^}]*\}|[^;{]+))?\s*;?\s*$"
)
_STATEMENT = re.compile(rf"(?P<label>{_NAME}):|(?P<text>(?:\{{[^{{}};]*\}}|[^{{}};:])*;)|(?P<brace>[{{}}])")
_INSTRUCTION = re.compile(rf"(?:@(?P<negated>!?)(?P<guard>{_NAME})\s+)?(?P<opcode>[a-z][\w.:]*)\s*(?P<operands>.*);$", re.S)
_OPERAND = re.compile(r"\s*(\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,]+?)\s*(?:,|$)", re.S)
_ADDRESS = re.compile(rf"\[\s*(?P<base>{_NAME})?\s*\+?\s*(?P<offset>[+-]?\w+)?\s*\]")
_MOVED = re.compile(rf"(?P<base>{_NAME})\s*(?P<offset>[+-]\s*\w+)")
_BOUNDS = re.compile(r"\s*(?:\.maxntid\s+(?P<threads>[\d,\s]+))?")
_REGISTERS = re.compile(rf"\.reg\s+\.(?:pred|[bsuf](?P<bits>\d+))\s+(?P<name>{_NAME})(?:<(?P<count>\d+)>)?;")
_DIRECTIVES = (".loc", ".pragma", ".file")


def _find_close(text: str, at: int) -> int:
    """The place behind the brace that closes the one before `at`."""
    depth = 1
    for brace in re.finditer(r"[{}]", text[at:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return at + brace.end()
    raise PtxError("a function is never closed")


def _read_parameters(text: str) -> list[Variable]:
    return [_read_variable(part) for part in text.split(",") if part.strip()]


def _read_variable(text: str) -> Variable:
    found = _VARIABLE.match(text)
    if not found:
        raise PtxError(f"not understood: `{' '.join(text.split())}`")
    element = int(found["bits"]) // 8
    content = b""
    if found["content"]:
        numbers = [_read_number(word, 0).number for word in re.findall(r"[^{},\s]+", found["content"])]
        content = b"".join((number % (1 << 8 * element)).to_bytes(element, "little") for number in numbers)
    size = element * int(found["count"] or 1)
    return Variable(found["name"], found["space"], size, int(found["align"] or element), content.ljust(size, b"\0"))


class _BodyReader:
    """Reads a body statement by statement; `scopes` are the names declared in the braces around, the innermost last."""

    def __init__(self, function: Function):
        self.body = Body()
        own = {variable.name: variable for variable in (*function.parameters, *function.results)}
        self.scopes: list[dict[str, Register | Variable]] = [dict(function.module.variables), dict(own)]
        self.source = 0

    def read(self, text: str, line: int) -> Body:
        at = 0
        while at < len(text):
            blank = len(text) - len(text[at:].lstrip()) if text[at].isspace() else at
            line += text.count("\n", at, blank)
            at = blank
            if at == len(text):
                break
            found = _STATEMENT.match(text, at)
            if not found:
                raise PtxError(f"line {line}: not understood: `{text[at : at + 40].splitlines()[0]}`")
            if found["label"]:
                self.body.labels[found["label"]] = len(self.body.instructions)
            elif found["brace"] == "{":
                self.scopes.append({})
            elif found["brace"]:
                self.scopes.pop()
            else:
                self._read_statement(found["text"], line)
            line += found[0].count("\n")
            at = found.end()
        return self.body

    def _read_statement(self, text: str, line: int) -> None:
        word = text.split(None, 1)[0]
        if word in _DIRECTIVES:
            if word == ".loc":
                self.source = int(text.split()[2])
        elif word == ".reg":
            self._declare_registers(text, line)
        elif word == ".branchtargets":
            name = next(name for name, at in reversed(self.body.labels.items()) if at == len(self.body.instructions))
            self.body.tables[name] = tuple(re.findall(_NAME, text.split(None, 1)[1]))
        elif text.startswith("."):
            variable = _read_variable(text)
            self.scopes[-1][variable.name] = variable
            self.body.variables.append(variable)
        else:
            self._read_instruction(text, line)

    def _declare_registers(self, text: str, line: int) -> None:
        found = _REGISTERS.match(text)
        if not found:
            raise PtxError(f"line {line}: not understood: `{text}`")
        names = [found["name"]]
        if found["count"]:
            names = [f"{found['name']}{number}" for number in range(int(found["count"]))]
        for name in names:
            register = Register(name, int(found["bits"] or 1), len(self.body.registers))
            self.body.registers.append(register)
            self.scopes[-1][name] = register

    def _read_instruction(self, text: str, line: int) -> None:
        found = _INSTRUCTION.match(text)
        if not found:
            raise PtxError(f"line {line}: not understood: `{text}`")
        guard = None
        if found["guard"]:
            predicate = self._find(found["guard"])
            if not isinstance(predicate, Register):
                raise PtxError(f"line {line}: no predicate: `{found['guard']}`")
            guard = predicate, found["negated"] == "!"
        operands = tuple(self._read_operand(word, line) for word in _split(found["operands"]))
        plain = " ".join(text.split())
        self.body.instructions.append(Instruction(found["opcode"], operands, guard, line, self.source, plain))

    def _read_operand(self, word: str, line: int) -> Register | Immediate | Special | Variable | Address | Pack | Label:
        if word[0] in "{(":
            parts = [None if part == "_" else self._read_operand(part, line) for part in _split(word[1:-1])]
            return Pack(tuple(parts))  # type: ignore[arg-type] - what may stand in it depends on the instruction
        if word[0] == "[":
            return self._read_address(word, line)
        if word[0].isdigit() or word[0] == "-":
            return _read_number(word, line)
        declared = self._find(word)
        if declared:
            return declared
        moved = _MOVED.fullmatch(word)
        if moved and isinstance(self._find(moved["base"]), Variable):
            return Address(self._find(moved["base"]), int(moved["offset"].replace(" ", ""), 0))
        return Special(word) if word[0] == "%" else Label(word)

    def _read_address(self, word: str, line: int) -> Address:
        found = _ADDRESS.fullmatch(word)
        base = self._find(found["base"]) if found and found["base"] else None
        if not found or (found["base"] and base is None):
            raise PtxError(f"line {line}: no address: `{word}`")
        return Address(base, int(found["offset"] or "0", 0))

    def _find(self, name: str) -> Register | Variable | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None


def _split(text: str) -> Iterator[str]:
    """Operands between commas; brackets hold theirs together."""
    return (found[1] for found in _OPERAND.finditer(text)) if text.strip() else iter(())


def _read_number(word: str, line: int) -> Immediate:
    try:
        if word[:2] in ("0f", "0F"):
            return Immediate(int(word[2:], 16), 32)
        if word[:2] in ("0d", "0D"):
            return Immediate(int(word[2:], 16), 64)
        return Immediate(int(word.rstrip("U"), 0))
    except ValueError:
        raise PtxError(f"line {line}: no number: `{word}`") from None
