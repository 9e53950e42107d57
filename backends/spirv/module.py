"""A SPIR-V module as text: its sections in their order, and every type and constant once.

It knows how things are declared and nothing of programs. Ids are readable (`%uint_4`, `%acc`); temporaries are numbers.
Section order and the rules for duplicates: SPIR-V specification, sections 2.4 and 2.16.1.
"""

from __future__ import annotations

import re
import struct

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@record
class Environment:
    """What `--target-env` names: the SPIR-V version of that Vulkan version."""

    name: str
    version: tuple[int, int]


ENVIRONMENTS = {
    environment.name: environment
    for environment in (Environment("vulkan1.1", (1, 3)), Environment("vulkan1.2", (1, 5)), Environment("vulkan1.3", (1, 6)))
}
DEFAULT_ENVIRONMENT = "vulkan1.1"

# From this version on the interface of an entry point lists every global variable, before only Input and Output.
FULL_INTERFACE = (1, 4)

# Scalar types: how they are declared, and the capability that their declaration needs. The narrow ones live in memory only.
SCALAR_TYPES = {
    "bool": ("OpTypeBool", ""),
    "int": ("OpTypeInt 32 1", ""),
    "uint": ("OpTypeInt 32 0", ""),
    "long": ("OpTypeInt 64 1", "Int64"),
    "ulong": ("OpTypeInt 64 0", "Int64"),
    "float": ("OpTypeFloat 32", ""),
    "double": ("OpTypeFloat 64", "Float64"),
    "uchar": ("OpTypeInt 8 0", "StorageBuffer8BitAccess"),
    "ushort": ("OpTypeInt 16 0", "StorageBuffer16BitAccess"),
    "void": ("OpTypeVoid", ""),
}
# Capability -> the extension it comes from, and the version that made it part of SPIR-V.
EXTENSIONS = {
    "DotProduct": ("SPV_KHR_integer_dot_product", (1, 6)),
    "StorageBuffer8BitAccess": ("SPV_KHR_8bit_storage", (1, 5)),
    "SignedZeroInfNanPreserve": ("SPV_KHR_float_controls", (1, 4)),
}


class Module:
    """Sections of text being filled.

    `type_of` leads from every id with a value to the id of its type, `integers` from integer constants to their numbers.
    """

    def __init__(self, environment: Environment):
        self.environment = environment
        self.entry_points: list[str] = []
        self.modes: list[str] = []
        self.strings: list[str] = []
        self.names: list[str] = []
        self.decorations: list[str] = []
        self.declarations: list[str] = []
        self.functions: list[str] = []
        self.capabilities = {"Shader"}
        self.type_of: dict[str, str] = {}
        self.integers: dict[str, int] = {}
        self._imports: dict[str, str] = {}
        self._ids: set[str] = set()
        self._repeats: dict[str, int] = {}
        self._declared: dict[str, str] = {}
        self._temporaries = 0

    def require(self, *capabilities: str) -> None:
        self.capabilities.update(capabilities)

    # ---- ids

    def number(self) -> str:
        """A new id without a name."""
        self._temporaries += 1
        return f"%{self._temporaries}"

    def identify(self, word: str) -> str:
        """A new id that reads like a word; only letters, digits and `_` of it are kept."""
        stem = re.sub(r"[^A-Za-z0-9_]", "_", word) or "_"
        name = f"%{stem}"
        while name in self._ids:
            self._repeats[stem] = self._repeats.get(stem, 1) + 1
            name = f"%{stem}_{self._repeats[stem]}"
        self._ids.add(name)
        return name

    def name(self, word: str) -> str:
        """A new id for something the source names."""
        result = self.identify(word)
        self.names.append(f"OpName {result} {quote(word)}")
        return result

    # ---- declarations

    def declare(self, word: str, text: str) -> str:
        """The id of a type or constant; it is declared at first use."""
        if text not in self._declared:
            self._declared[text] = self.identify(word)
            self.declarations.append(f"{self._declared[text]} = {text}")
        return self._declared[text]

    def scalar(self, word: str) -> str:
        """A type of SCALAR_TYPES."""
        text, capability = SCALAR_TYPES[word]
        if capability:
            self.require(capability)
        return self.declare(word, text)

    def is_declared(self, word: str) -> bool:
        """Has a type of SCALAR_TYPES been used?"""
        return SCALAR_TYPES[word][0] in self._declared

    def vector(self, word: str, count: int) -> str:
        return self.declare(f"v{count}{word}", f"OpTypeVector {self.scalar(word)} {count}")

    def array(self, word: str, count: int) -> str:
        """So many of a scalar type: a value of several registers as functions pass it, or shared memory."""
        return self.declare(f"arr_{word}_{count}", f"OpTypeArray {self.scalar(word)} {self.integer('uint', count)}")

    def pointer(self, storage: str, type: str) -> str:
        return self.declare(f"ptr_{storage}_{type[1:]}", f"OpTypePointer {storage} {type}")

    def function_type(self, result: str, params: Sequence[str]) -> str:
        return self.declare("function_type", " ".join(["OpTypeFunction", result, *params]))

    def block(self, words: Sequence[str], offsets: Sequence[int], name: str, members: Sequence[str]) -> str:
        """A struct for push constants; each has decorations of its own, so it is never shared."""
        types = [self.scalar(word) for word in words]
        result = self.identify(name)
        self.declarations.append(" ".join([f"{result} = OpTypeStruct", *types]))
        self.decorations.append(f"OpDecorate {result} Block")
        for place, (offset, member) in enumerate(zip(offsets, members, strict=True)):
            self.names.append(f"OpMemberName {result} {place} {quote(member)}")
            self.decorations.append(f"OpMemberDecorate {result} {place} Offset {offset}")
        return result

    def buffer_block(self, word: str) -> str:
        """A struct that holds nothing but a run-time array; shared by all buffers of one element type."""
        array_text = f"OpTypeRuntimeArray {self.scalar(word)}"
        new = array_text not in self._declared
        array = self.declare(f"runtime_{word}", array_text)
        result = self.declare(f"buffer_{word}", f"OpTypeStruct {array}")
        if new:
            self.decorations += [
                f"OpDecorate {array} ArrayStride {_SIZES[word]}",
                f"OpDecorate {result} Block",
                f"OpMemberDecorate {result} 0 Offset 0",
            ]
        return result

    def variable(self, storage: str, type: str, name: str, decorations: Sequence[str] = ()) -> str:
        """A variable outside functions. Its id has the pointer's type."""
        pointer = self.pointer(storage, type)
        result = self.name(name)
        self.declarations.append(f"{result} = OpVariable {pointer} {storage}")
        self.decorations += [f"OpDecorate {result} {decoration}" for decoration in decorations]
        self.type_of[result] = pointer
        return result

    # ---- constants

    def boolean(self, truth: bool) -> str:
        type = self.scalar("bool")
        return self._constant("true" if truth else "false", type, f"OpConstant{truth} {type}")

    def integer(self, word: str, number: int) -> str:
        """A constant of an integer type that has it."""
        type = self.scalar(word)
        spelling = f"n{-number}" if number < 0 else str(number)
        result = self._constant(f"{word}_{spelling}", type, f"OpConstant {type} {number}")
        self.integers[result] = number
        return result

    def floating(self, word: str, number: float) -> str:
        """A constant of float or double, one of the numbers that the type has, infinity or NaN."""
        type = self.scalar(word)
        bits, literal = _spell_float(word, number)
        return self._constant(f"{word}_0x{bits}", type, f"OpConstant {type} {literal}")

    def _constant(self, word: str, type: str, text: str) -> str:
        result = self.declare(word, text)
        self.type_of[result] = type
        return result

    def extended(self) -> str:
        """The set of GLSL's functions."""
        if "GLSL.std.450" not in self._imports:
            self._imports["GLSL.std.450"] = self.identify("glsl")
        return self._imports["GLSL.std.450"]

    # ---- text

    def render(self) -> str:
        """The whole module. Equal calls give equal text."""
        version = self.environment.version
        extensions = sorted(
            extension
            for capability, (extension, core) in EXTENSIONS.items()
            if capability in self.capabilities and version < core
        )
        lines = [
            "; SPIR-V",
            f"; Version: {version[0]}.{version[1]}",
            *(f"OpCapability {capability}" for capability in sorted(self.capabilities, key=lambda c: (c != "Shader", c))),
            *(f"OpExtension {quote(extension)}" for extension in extensions),
            *(f"{result} = OpExtInstImport {quote(name)}" for name, result in self._imports.items()),
            "OpMemoryModel Logical GLSL450",
            *self.entry_points,
            *self.modes,
            *self.strings,
            *self.names,
            *self.decorations,
            *self.declarations,
            *self.functions,
        ]
        return "\n".join(lines) + "\n"


_SIZES = {"uchar": 1, "ushort": 2, "int": 4, "uint": 4, "float": 4, "long": 8, "ulong": 8, "double": 8}


def quote(text: str) -> str:
    """A literal string of the assembler."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _spell_float(word: str, number: float) -> tuple[str, str]:
    """The bits in hexadecimal, and a literal that the assembler reads back to exactly these bits."""
    layout, infinity = (">f", "0x1p+128") if word == "float" else (">d", "0x1p+1024")
    bits = struct.pack(layout, number).hex()
    if number != number:
        return bits, infinity.replace("0x1p", "0x1.8p")
    sign = "-" if bits[0] in "89abcdef" else ""
    return bits, sign + infinity if number in (float("inf"), float("-inf")) else number.hex()
