"""Random programs of the dialect, as text: integers of every type, lanes, branches, loops, loads and stores.

All of them compile. Whether an access is inside its array is left to chance where `wild` is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
LANES = ("Vector<int8,4>", "Vector<uint8,4>")
ARRAYS = {"s": "int8", "u": "uint8", "w": "int32"}
SIZE = 8  # elements of every array
HEADER = "static int64 f(int8[] s, uint8[] u, int32[] w, int32 n, uint32 p)"
_BINARY = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_LITERALS = ("0", "1", "2", "3", "7", "15", "64", "127", "-1", "-2", "-128")
_FUEL = "if (left <= 0) break; left = left - 1;"  # so that every loop ends


class Writer:
    """Draws one program. `scalars` and `vectors` are the variables in scope, with their types."""

    def __init__(self, draw: Callable[[st.SearchStrategy[object]], object], wild: bool):
        self.draw, self.wild = draw, wild
        self.scalars = {"n": "int32", "p": "uint32"}
        self.vectors: dict[str, str] = {}
        self.made = 0

    def pick(self, *choices: str) -> str:
        return str(self.draw(st.sampled_from(choices)))

    def number(self, low: int, high: int) -> int:
        return int(str(self.draw(st.integers(low, high))))

    # ---- expressions

    def scalar(self, depth: int) -> str:
        kind = (
            self.pick("name", "name", "load", "binary", "binary", "cast", "choice", "lane", "step", "word") if depth else "name"
        )
        match kind:
            case "binary":
                return f"({self.scalar(depth - 1)} {self.operation(depth - 1)})"
            case "cast":
                return f"({self.pick(*TYPES)}) {self.scalar(depth - 1)}"
            case "choice":
                return f"({self.condition(depth - 1)} ? {self.scalar(depth - 1)} : {self.scalar(depth - 1)})"
            case "load":
                return f"{self.pick(*ARRAYS)}[{self.index(depth - 1)}]"
            case "lane" if self.vectors:
                return f"{self.pick(*self.vectors)}[{self.scalar(depth - 1)} & 3]"
            case "word":
                return f"{self.lanes(self.pick(*LANES), depth - 1)}.asWords()[0]"
            case "step":
                return f"Math.{self.pick('min', 'max')}({self.scalar(depth - 1)}, {self.pick(*self.scalars)})"
            case _:
                return self.pick(*self.scalars)

    def operation(self, depth: int) -> str:
        operator = self.pick(*_BINARY)
        if operator in ("<<", ">>", ">>>"):
            return f"{operator} {self.number(0, 7)}" if self.number(0, 2) else f"{operator} {self.scalar(depth)}"
        if operator in ("/", "%"):
            return f"{operator} {self.pick('3', '7', '127')}" if self.number(0, 2) else f"{operator} {self.scalar(depth)}"
        return f"{operator} {self.pick(*_LITERALS)}" if self.number(0, 1) else f"{operator} {self.scalar(depth)}"

    def condition(self, depth: int) -> str:
        compared = f"{self.scalar(depth)} {self.pick(*_COMPARISONS)} {self.pick(*self.scalars, '0', '3', '100')}"
        if depth and not self.number(0, 3):
            return f"({compared} {self.pick('&&', '||')} {self.condition(depth - 1)})"
        return f"({compared})"

    def index(self, depth: int) -> str:
        return self.scalar(depth) if self.wild and not self.number(0, 3) else f"{self.scalar(depth)} & {SIZE - 1}"

    def lanes(self, type: str, depth: int) -> str:
        """Four bytes of a signedness."""
        sign = ".asUnsigned()" if "uint8" in type else ".asSigned()"
        kind = self.pick("load", "binary", "name", "splat", "select") if depth else "load"
        match kind:
            case "binary":
                operator = self.pick("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>")
                right = str(self.number(0, 7)) if operator in ("<<", ">>", ">>>") else self.lanes(type, depth - 1)
                return f"({self.lanes(type, depth - 1)} {operator} {right})"
            case "name" if self.vectors:
                return f"{self.pick(*self.vectors)}{sign}"
            case "splat":
                return f"{type}(({type[7:-3]}) {self.scalar(depth - 1)})"
            case "select":
                test = f"({self.lanes(type, depth - 1)} {self.pick(*_COMPARISONS)} 3)"
                return f"{test}.select({self.lanes(type, depth - 1)}, {self.lanes(type, depth - 1)})"
            case _:
                return f"{self.pick('s', 'u')}.vload<4>({self.scalar(0)} & 3){sign}"

    # ---- statements

    def block(self, depth: int, loops: int) -> str:
        scalars, vectors = dict(self.scalars), dict(self.vectors)
        text = " ".join(self.statement(depth, loops) for _ in range(self.number(1, 4)))
        self.scalars, self.vectors = scalars, vectors
        return f"{{ {text} }}"

    def statement(self, depth: int, loops: int) -> str:
        kinds = ["declare", "declare", "assign", "assign", "compound", "store", "vector", "vector store"]
        kinds += ["if", "loop", "while", "do"] if depth else []
        kinds += ["leave"] if loops else []
        kinds += ["return"] if depth < 3 else []
        match self.pick(*kinds):
            case "declare":
                value = self.scalar(2)
                name, type = self.name("v"), self.pick(*TYPES)
                self.scalars[name] = type
                return f"{type} {name} = ({type}) {value};"
            case "assign":
                name = self.pick(*self.scalars)
                return f"{name} = ({self.scalars[name]}) {self.scalar(3)};"
            case "compound":
                return f"{self.pick(*self.scalars)} {self.pick('+', '-', '*', '&', '|', '^')}= {self.scalar(2)};"
            case "store":
                array = self.pick(*ARRAYS)
                return f"{array}[{self.index(1)}] = ({ARRAYS[array]}) {self.scalar(2)};"
            case "vector":
                type = self.pick(*LANES)
                value = self.lanes(type, 2)
                old = [name for name, known in self.vectors.items() if known == type]
                if old and self.number(0, 1):
                    return f"{self.pick(*old)} = {value};"
                name = self.name("b")
                self.vectors[name] = type
                return f"{type} {name} = {value};"
            case "vector store":
                return f"s.vstore({self.scalar(0)} & 3, {self.lanes(LANES[0], 2)});"
            case "if":
                test, then = self.condition(1), self.block(depth - 1, loops)
                return f"if {test} {then}" + (f" else {self.block(depth - 1, loops)}" if self.number(0, 1) else "")
            case "loop":
                name = self.name("i")
                self.scalars[name] = type = self.pick("int32", "int8", "uint8")
                body = self.block(depth - 1, loops + 1)
                del self.scalars[name]
                return f"for ({type} {name} = 0; {name} < {self.number(1, 4)}; {name}++) {{ {_FUEL} {body} }}"
            case "while":
                return f"while {self.condition(1)} {{ {_FUEL} {self.block(depth - 1, loops + 1)} }}"
            case "do":
                body = self.block(depth - 1, loops + 1)
                return f"do {{ {_FUEL} {body} }} while {self.condition(1)};"
            case "return":
                return f"if {self.condition(1)} return (int64) {self.scalar(1)};" if self.number(0, 3) else "return 7;"
            case _:
                leave = self.pick("break", "continue")
                return f"if {self.condition(1)} {leave};" if self.number(0, 3) else f"{leave};"

    def name(self, letter: str) -> str:
        self.made += 1
        return f"{letter}{self.made}"


@st.composite
def programs(draw: Callable[[st.SearchStrategy[object]], object], wild: bool = False) -> str:
    """The text of a file with one host method `f`; `left` bounds the turns that its loops take."""
    writer = Writer(draw, wild)
    body = " ".join(writer.statement(3, 0) for _ in range(writer.number(3, 8)))
    result = writer.scalar(2)
    return f"{HEADER} {{ int32 left = 20; {body} return (int64) {result}; }}"
