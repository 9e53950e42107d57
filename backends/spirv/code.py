"""The instructions of one function, in order, and the few patterns that everything else is written with.

An operand is an id; its type is in `Module.type_of`. It knows SPIR-V's rules for operand types and nothing of the source's
types: `cast` where two ids differ only in the sign of their integer type.
"""

from __future__ import annotations

from cajeta_dot.types import INT32, INT64, UINT32, UINT64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.backends.spirv.module import Module

# What a driver could otherwise contract: a product and a sum with one rounding instead of two.
_ROUNDING = frozenset({"OpFAdd", "OpFSub", "OpFMul", "OpFDiv"})
_INTEGERS = {"int": INT32, "uint": UINT32, "long": INT64, "ulong": UINT64}


class Code:
    """Appends instructions. `contract` allows the driver to fuse float operations."""

    def __init__(self, module: Module, contract: bool = False):
        self.module, self.contract = module, contract
        self.variables: list[str] = []
        self.lines: list[str] = []

    # ---- instructions

    def op(self, opcode: str, word: str, *operands: str) -> str:
        """An operation with a result of a scalar type of the module."""
        return self.typed(opcode, self.module.scalar(word), *operands)

    def typed(self, opcode: str, type: str, *operands: str) -> str:
        """The same for any type id."""
        result = self.module.number()
        self.module.type_of[result] = type
        self.lines.append(" ".join([result, "=", opcode, type, *operands]))
        if opcode in _ROUNDING and not self.contract:
            self.module.decorations.append(f"OpDecorate {result} NoContraction")
        return result

    def do(self, opcode: str, *operands: str) -> None:
        """An operation without a result."""
        self.lines.append(" ".join([opcode, *operands]))

    def extended(self, function: str, word: str, *operands: str) -> str:
        """A function of GLSL.std.450."""
        return self.op("OpExtInst", word, self.module.extended(), function, *operands)

    def label(self, name: str) -> None:
        """A block begins."""
        self.lines.append(f"{name} = OpLabel")

    def local(self, word: str, name: str) -> str:
        """A variable of the function; without a name, it is none of the source's."""
        pointer = self.module.pointer("Function", self.module.scalar(word))
        result = self.module.name(name) if name else self.module.number()
        self.variables.append(f"{result} = OpVariable {pointer} Function")
        return result

    # ---- constants and casts

    def uint(self, number: int) -> str:
        return self.module.integer("uint", number)

    def zero(self, word: str) -> str:
        """False, for booleans."""
        if word == "bool":
            return self.module.boolean(False)
        return self.module.floating(word, 0.0) if word in ("float", "double") else self.module.integer(word, 0)

    def type_of(self, a: str) -> str:
        return self.module.type_of[a]

    def cast(self, a: str, word: str) -> str:
        """The same bits under another type of the same size."""
        if self.type_of(a) == self.module.scalar(word):
            return a
        if a in self.module.integers and word in _INTEGERS:
            return self.module.integer(word, _INTEGERS[word].wrap(self.module.integers[a]))
        return self.op("OpBitcast", word, a)

    # ---- patterns on 32-bit integers; operands of either sign, results uint

    def add(self, a: str, number: int) -> str:
        return self._compute("OpIAdd", int.__add__, a, number)

    def shift_left(self, a: str, count: int) -> str:
        return self._compute("OpShiftLeftLogical", int.__lshift__, a, count)

    def shift_right(self, a: str, count: int) -> str:
        return self._compute("OpShiftRightLogical", int.__rshift__, a, count)

    def mask(self, a: str, bits: int) -> str:
        if a in self.module.integers:
            return self.uint(self.module.integers[a] & bits)
        return self.op("OpBitwiseAnd", "uint", a, self.uint(bits))

    def _compute(self, opcode: str, compute: Callable[[int, int], int], a: str, number: int) -> str:
        """An operation with a constant, for which 0 does nothing; of two constants no instruction is made."""
        if a in self.module.integers:
            return self.uint(UINT32.wrap(compute(UINT32.wrap(self.module.integers[a]), number)))
        return self.op(opcode, "uint", a, self.uint(number)) if number else self.cast(a, "uint")

    def field(self, a: str, offset: int, bits: int, signed: bool) -> str:
        """A bit field of 32 bits, extended by its sign to int or with zeros to uint."""
        word, opcode = ("int", "OpBitFieldSExtract") if signed else ("uint", "OpBitFieldUExtract")
        if bits == 32:
            return self.cast(a, word)
        return self.op(opcode, word, self.cast(a, word), self.uint(offset), self.uint(bits))

    def insert(self, a: str, field: str, offset: int, bits: int) -> str:
        """`a` with the low bits of `field` at an offset; both of one type, which is the result's."""
        return self.typed("OpBitFieldInsert", self.type_of(a), a, field, self.uint(offset), self.uint(bits))

    def select(self, condition: str, a: str, b: str) -> str:
        """Of two ids of one scalar type."""
        return self.typed("OpSelect", self.type_of(a), condition, a, b)

    def access(self, storage: str, word: str, base: str, *indexes: str) -> str:
        """A pointer into a variable."""
        pointer = self.module.pointer(storage, self.module.scalar(word))
        return self.typed("OpAccessChain", pointer, base, *indexes)

    def fetch(self, storage: str, word: str, base: str, *indexes: str) -> str:
        """What lies there."""
        return self.op("OpLoad", word, self.access(storage, word, base, *indexes))
