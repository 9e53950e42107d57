"""A program as text, for `--emit ir` and for people who debug the compiler.

    kernel Dot.matvec(%out: KernelBuffer<int32>, %rows: uint32)
      slot total: int32
      %0: uint32 = coordinate global.x
      %1: boolean = lt %0, %rows
      if %1
        %2: Vector<int32,16> = dotAccum %3, %4, %5
        set total, %6

Values are numbered in the order of the text, parameters and slots keep their names; slots of one name get a number.
A method or built-in prints as its name. A loop is its test, `while` or `do`, its body, `update` and `again`. The text
holds no paths, offsets or addresses, and nothing reads it back.
"""

from __future__ import annotations

from cajeta_dot.ir import Barrier, Break, Continue, If, Loop, Return, Value
from cajeta_dot.types import VOID, Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Block, Function, Item, Program, Slot


def print_program(program: Program) -> str:
    """All functions, callees before their callers."""
    return "\n".join(_Printer(function).text() for function in program.functions)


class _Printer:
    """One function. `names` are what values and slots are called."""

    def __init__(self, function: Function):
        self.function = function
        self.lines: list[str] = []
        self.numbered = 0
        self.names: dict[Value | Slot, str] = {param: f"%{param.attr}" for param in function.params}
        used: dict[str, int] = {}
        for slot in function.slots:
            count = used[slot.name] = used.get(slot.name, -1) + 1
            self.names[slot] = f"{slot.name}.{count}" if count else slot.name

    def text(self) -> str:
        function = self.function
        params = ", ".join(f"{self.names[param]}: {param.type}" for param in function.params)
        result = "" if function.result == VOID else f" -> {function.result}"
        contraction = " fast_math" if function.fast_math else ""
        self.line(0, f"{function.kind} {function.name}({params}){result}{contraction}")
        for slot in function.slots:
            self.line(1, f"slot {self.names[slot]}: {slot.type}")
        self.block(1, function.body)
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def block(self, depth: int, block: Block) -> None:
        for item in block:
            if isinstance(item, Value):
                self.value(depth, item)
            elif isinstance(item, If):
                self.line(depth, f"if {self.names[item.condition]}")
                self.block(depth + 1, item.then)
                if item.otherwise:
                    self.line(depth, "else")
                    self.block(depth + 1, item.otherwise)
            elif isinstance(item, Loop):
                self.line(depth, "loop")
                self.block(depth + 1, item.test)
                self.line(depth, f"while {self.names[item.condition]}" if item.condition else "do")
                self.block(depth + 1, item.body)
                if item.update or item.again:
                    self.line(depth, "update")
                    self.block(depth + 1, item.update)
                if item.again:
                    self.line(depth, f"again {self.names[item.again]}")
            else:
                self.line(depth, self.statement(item))

    def statement(self, item: Item) -> str:
        if isinstance(item, Return):
            return f"return {self.names[item.value]}" if item.value else "return"
        return _WORDS[type(item)]

    def value(self, depth: int, value: Value) -> None:
        word = value.attr.name if value.op == "method" else value.op
        show = _ATTRIBUTES.get(value.op)
        attribute = [self.names[value.attr]] if value.op in ("get", "set") else [show(value)] if show and show(value) else []
        operands = [self.names[arg] for arg in value.args]
        leads = value.op in ("set", "call")
        listed = ", ".join(attribute + operands if leads else operands + attribute)
        text = f"{word} {listed}" if listed else word
        if value.type != VOID:
            self.names[value] = f"%{self.numbered}"
            self.numbered += 1
            text = f"{self.names[value]}: {value.type} = {text}"
        self.line(depth, text)


_WORDS: dict[type, str] = {Break: "break", Continue: "continue", Barrier: "barrier"}
# How the attribute of an opcode reads; those of slots are names of the function.
_ATTRIBUTES: dict[str, Callable[[Value], str]] = {
    "const": lambda value: str(value.attr).lower(),
    "extract": lambda value: str(value.attr),
    "insert": lambda value: str(value.attr),
    "shuffle": lambda value: str(value.attr),
    "load": lambda value: value.attr or "",
    "store": lambda value: value.attr or "",
    "shared": lambda value: str(value.type.length) if isinstance(value.type, Array) else "",
    "call": lambda value: value.attr.name,
    "coordinate": lambda value: value.attr,
}
