"""Executes SPIR-V text, one work item after another, and stops at everything that Vulkan leaves undefined.

A driver gives some answer for an access outside a buffer, a shift by the width, a division by zero, a conversion that does
not fit, a local that was never stored to or a barrier that not all items reach; this raises UndefinedBehaviour instead.
Only what the backend emits is known. Integers are kept as their bits, without a sign; floats as Python floats that their
type has; vectors and arrays as tuples.
"""

from __future__ import annotations

import math
import operator
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cajeta_dot.backends.spirv.listing import Instruction, Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from numpy.typing import NDArray

    Inputs = dict[str, tuple[int, ...]]  # built-ins

MAX_STEPS = 5_000_000


class UndefinedBehaviour(Exception):
    """The module did what has no defined result."""


class Pointer(NamedTuple):
    """A place: a variable, an offset in bytes (0 for locals and built-ins, which are whole), and what lies there."""

    variable: str
    offset: int
    type: str


class Step(NamedTuple):
    """An instruction with what would otherwise be looked up each time: name, operands, their width, the result's type."""

    item: Instruction
    name: str
    ids: list[str]
    width: int
    type: tuple[str, ...]


class Interpreter:
    """A module and, during a run, its memory: `buffers` leads from variables to bytes, which end where the array ends."""

    def __init__(self, text: str):
        self.listing = Listing(text)
        self.heads: dict[str, list[Instruction]] = {}
        self.blocks: dict[str, dict[str, list[Step]]] = {}
        for name, items in self.listing.functions.items():
            self.heads[name], blocks = _split(items)
            self.blocks[name] = {label: [self.prepare(item) for item in block] for label, block in blocks.items()}
        self.constants: dict[str, Any] = {}
        for item in self.listing.head:
            if item.opcode.startswith("OpConstant"):
                self.constants[item.result] = self.read_constant(item)
            elif item.opcode == "OpVariable":
                self.constants[item.result] = Pointer(item.result, 0, self.pointee(item.result))
        self.offsets = {
            item.operands[:2]: int(item.operands[3])
            for item in self.listing.head
            if item.opcode == "OpMemberDecorate" and item.operands[2] == "Offset"
        }
        self.buffers: dict[str, bytearray] = {}
        self.shared: dict[tuple[str, int], Any] = {}  # by variable and element; what was never stored to is not there
        self.inputs: Inputs = {}
        self.steps = 0

    def prepare(self, item: Instruction) -> Step:
        name, ids = item.opcode, [id for id in item.arguments if id.startswith("%")]
        if name == "OpExtInst":
            name, ids = item.arguments[1], ids[1:]
        width = self.listing.type_of(ids[0])[1:2] if ids else ()
        return Step(item, name, ids, int(width[0]) if width and width[0].isdigit() else 1, self.listing.look_up(item.type))

    def pointee(self, variable: str) -> str:
        """The type of what a variable holds."""
        return self.listing.look_up(self.listing.defined[variable].type)[2]

    def run(self, entry: str, arrays: Sequence[NDArray[Any]], push: bytes, groups: tuple[int, int, int]) -> dict[int, bytes]:
        """All work items of a launch, in order. What the buffers hold then, by their bindings."""
        start = next(item.operands[1] for item in self.listing.entry_points if item.operands[2] == f'"{entry}"')
        used = dict.fromkeys(id for item in self.listing.reach(start) for id in item.ids if id in self.listing.variables)
        bindings = {name: int(found[0]) for name in used if (found := self.listing.decoration(name, "Binding"))}
        self.buffers = {name: self.make_buffer(name, arrays[place]) for name, place in bindings.items()}
        self.buffers |= {name: bytearray(push) for name in used if self.listing.variables[name] == "PushConstant"}
        mode = next(i for i in self.listing.head if i.opcode == "OpExecutionMode" and i.operands[0] == start)
        size = tuple(int(items) for items in mode.operands[2:])
        self.steps = 0
        for group in np.ndindex(*groups[::-1]):
            self.shared = {}
            self.run_group(start, group[::-1], size)
        return {place: bytes(self.buffers[name]) for name, place in bindings.items()}

    def run_group(self, start: str, at: tuple[int, ...], size: tuple[int, ...]) -> None:
        """One workgroup: each item goes on to the next barrier, which all of them reach or none."""
        items: list[tuple[Inputs, Generator[None, None, Any]]] = []
        for local in np.ndindex(*size[::-1]):
            item = local[::-1]
            spot = tuple(a * b + c for a, b, c in zip(at, size, item, strict=True))
            inputs = {"GlobalInvocationId": spot, "LocalInvocationId": item, "WorkgroupId": at}
            items.append((inputs, self.call(start, [])))
        while items:
            waiting: list[tuple[Inputs, Generator[None, None, Any]]] = []
            for inputs, item in items:
                self.inputs = inputs
                if next(item, True) is None:
                    waiting.append((inputs, item))
            if waiting and len(waiting) < len(items):
                raise UndefinedBehaviour("not every item reaches the barrier")
            items = waiting

    def make_buffer(self, variable: str, array: NDArray[Any]) -> bytearray:
        """The bytes of an array, rounded up to whole elements of the module."""
        (elements,) = self.listing.look_up(self.pointee(variable))[1:]
        stride = self.listing.decoration(elements, "ArrayStride")
        assert stride
        content = bytearray(array.tobytes())
        return content + bytes(-len(content) % int(stride[0]))

    # ---- functions and blocks

    def call(self, name: str, arguments: Sequence[Any]) -> Generator[None, None, Any]:
        """Runs a function; stops at each barrier."""
        params = [item.result for item in self.heads[name] if item.opcode == "OpFunctionParameter"]
        values: dict[str, Any] = {**self.constants, **dict(zip(params, arguments, strict=True))}
        blocks = self.blocks[name]
        label = next(iter(blocks))
        while True:
            self.steps += len(blocks[label])
            if self.steps > MAX_STEPS:
                raise UndefinedBehaviour("the module does not come to an end")
            for step in blocks[label]:
                match step.name:
                    case "OpBranch":
                        label = step.ids[0]
                    case "OpBranchConditional":
                        label = step.ids[1 if values[step.ids[0]] else 2]
                    case "OpReturn":
                        return None
                    case "OpReturnValue":
                        return values[step.ids[0]]
                    case "OpControlBarrier":
                        yield
                    case "OpFunctionCall":
                        arguments = [values[id] for id in step.ids[1:]]
                        values[step.item.result] = yield from self.call(step.ids[0], arguments)
                    case _:
                        try:
                            values[step.item.result] = self.execute(values, step)
                        except UndefinedBehaviour as error:
                            raise UndefinedBehaviour(f"line {step.item.line}: {step.name}: {error}") from None

    def execute(self, values: dict[str, Any], step: Step) -> Any:
        if step.name in KNOWN:
            return self.calculate(step, [values[id] for id in step.ids])
        match step.name:
            case "OpVariable":
                values[f"content {step.item.result}"] = None
                return Pointer(step.item.result, 0, self.pointee(step.item.result))
            case "OpLoad":
                return self.load(values, values[step.ids[0]])
            case "OpStore":
                return self.store(values, *(values[id] for id in step.ids))
            case "OpAtomicAnd" | "OpAtomicOr":
                place, _, _, bits = (values[id] for id in step.ids)
                before = self.load(values, place)
                self.store(values, place, before & bits if step.name == "OpAtomicAnd" else before | bits)
                return before
            case "OpAccessChain":
                base, *indexes = (values[id] for id in step.ids)
                return self.point(base, indexes)
            case "OpSelectionMerge" | "OpLoopMerge" | "OpLine":
                return None
            case "OpCompositeConstruct":
                return tuple(values[id] for id in step.ids)
            case "OpCompositeExtract":
                return values[step.ids[0]][int(step.item.arguments[1])]
            case "OpBitcast":
                return self.bitcast(step, values[step.ids[0]])
            case "OpSelect":
                condition, a, b = (values[id] for id in step.ids)
                return a if condition else b
            case name:
                raise UndefinedBehaviour(f"{name} is not known here")

    # ---- memory

    def point(self, base: Pointer, indexes: Sequence[int]) -> Pointer:
        type, offset = base.type, base.offset
        for index in indexes:
            what = self.listing.defined[type]
            if what.opcode == "OpTypeStruct":
                offset += self.offsets[type, str(index)]
                type = what.operands[index]
            elif what.opcode == "OpTypeRuntimeArray":
                stride = self.listing.decoration(type, "ArrayStride")
                assert stride
                offset += index * int(stride[0])
                type = what.operands[0]
            elif what.opcode == "OpTypeArray" and index >= self.constants[what.operands[1]]:
                raise UndefinedBehaviour(f"element {index} of {base.variable}")
            else:  # a component of a built-in, an element of a shared array
                offset, type = index, what.operands[0]
        return Pointer(base.variable, offset, type)

    def load(self, values: dict[str, Any], place: Pointer) -> Any:
        if place.variable in self.listing.variables:
            built_in = self.listing.decoration(place.variable, "BuiltIn")
            if built_in:
                return self.inputs[built_in[0]][place.offset]
            if self.listing.variables[place.variable] == "Workgroup":
                if place[:2] not in self.shared:
                    raise UndefinedBehaviour(f"element {place.offset} of {place.variable} was never stored to")
                return self.shared[place[:2]]
            layout, number = self.layout(place.type)
            found = struct.unpack_from(layout, self.reach_memory(place, number), place.offset)[0]
            return found & (1 << 8 * number) - 1 if isinstance(found, int) else found
        content = values[f"content {place.variable}"]
        if content is None:
            raise UndefinedBehaviour(f"{place.variable} was never stored to")
        return content

    def store(self, values: dict[str, Any], place: Pointer, content: Any) -> None:
        if self.listing.variables.get(place.variable) == "Workgroup":
            self.shared[place[:2]] = content
        elif place.variable in self.listing.variables:
            if self.listing.decoration(place.variable, "NonWritable") is not None:
                raise UndefinedBehaviour(f"{place.variable} is NonWritable")
            layout, number = self.layout(place.type)
            struct.pack_into(layout, self.reach_memory(place, number), place.offset, content)
        else:
            values[f"content {place.variable}"] = content

    def reach_memory(self, place: Pointer, number: int) -> bytearray:
        memory = self.buffers[place.variable]
        if not 0 <= place.offset <= len(memory) - number:
            raise UndefinedBehaviour(f"byte {place.offset} of {place.variable}, which has {len(memory)}")
        return memory

    def layout(self, type: str) -> tuple[str, int]:
        opcode, bits, *_ = self.listing.look_up(type)
        number = int(bits) // 8
        letters = {"OpTypeInt": {1: "B", 2: "H", 4: "I", 8: "Q"}, "OpTypeFloat": {4: "f", 8: "d"}}
        return "<" + letters[opcode][number], number

    # ---- values

    def read_constant(self, item: Instruction) -> Any:
        if item.opcode in ("OpConstantTrue", "OpConstantFalse"):
            return item.opcode == "OpConstantTrue"
        opcode, bits, *_ = self.listing.look_up(item.type)
        if opcode == "OpTypeInt":
            return int(item.arguments[0]) & (1 << int(bits)) - 1
        return _read_float(item.arguments[0], int(bits))

    def bits_of(self, type: tuple[str, ...], content: Any) -> int:
        """The bits of a value, its first component lowest."""
        if type[0] == "OpTypeVector":
            element = self.listing.look_up(type[1])
            return sum(self.bits_of(element, part) << int(element[1]) * at for at, part in enumerate(content))
        if type[0] == "OpTypeInt":
            return content
        layout = {"32": "<f", "64": "<d"}[type[1]]
        return int.from_bytes(struct.pack(layout, content), "little")

    def bitcast(self, step: Step, content: Any) -> Any:
        bits = self.bits_of(self.listing.type_of(step.ids[0]), content)
        type = step.type
        if type[0] == "OpTypeVector":
            width = int(self.listing.look_up(type[1])[1])
            return tuple(bits >> width * at & (1 << width) - 1 for at in range(int(type[2])))
        if type[0] == "OpTypeInt":
            return bits
        number = int(type[1]) // 8
        return struct.unpack({4: "<f", 8: "<d"}[number], bits.to_bytes(number, "little"))[0]

    def calculate(self, step: Step, operands: list[Any]) -> Any:
        """An operation on numbers. Operands are read by the opcode; results are cut or rounded to their type."""
        name, width, type = step.name, step.width, step.type
        if name in SIGNED_OPERANDS:
            operands = [_signed(number, width) for number in operands]
        if name == "OpShiftRightArithmetic":
            operands[0] = _signed(operands[0], width)
        found: Any
        if name in FLOATS:
            found = _compute_floats(FLOATS[name], width, operands)
        else:
            found = PLAIN[name](*operands) if name in PLAIN else WIDTHS[name](width, *operands)
        if type[0] == "OpTypeInt":
            if name in ("OpConvertFToS", "OpConvertFToU"):
                _demand_range(found, int(type[1]), name == "OpConvertFToS")
            return found & (1 << int(type[1])) - 1
        return _round(found, int(type[1])) if type[0] == "OpTypeFloat" else found


def _split(items: list[Instruction]) -> tuple[list[Instruction], dict[str, list[Instruction]]]:
    """What stands before the first label, and the blocks by their labels."""
    head: list[Instruction] = []
    blocks: dict[str, list[Instruction]] = {}
    current = head
    for item in items:
        if item.opcode == "OpLabel":
            current = blocks[item.result] = []
        else:
            current.append(item)
    return head, blocks


def _read_float(literal: str, bits: int) -> float:
    try:
        number = float.fromhex(literal)
    except OverflowError:
        number = -math.inf if literal[0] == "-" else math.inf
    infinite = abs(number) >= (2.0**128 if bits == 32 else math.inf)
    if infinite:
        return math.nan if "0x1.8p" in literal else math.copysign(math.inf, number)
    return number


def _signed(number: int, width: int) -> int:
    return number - (1 << width) if number >> width - 1 else number


def _round(number: float, bits: int) -> float:
    """Once, to the nearest: a Python integer would become a double first."""
    kind = np.float32 if bits == 32 else np.float64
    with np.errstate(all="ignore"):
        exact = np.array(number, np.int64 if number < 0 else np.uint64) if isinstance(number, int) else np.float64(number)
        return float(exact.astype(kind))


def _demand_range(number: int, bits: int, signed: bool) -> None:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not low <= number <= high:
        raise UndefinedBehaviour(f"{number} does not fit {bits} bits")


def _truncate(number: float) -> int:
    if not math.isfinite(number):
        raise UndefinedBehaviour(f"{number} is no integer")
    return int(number)


def _shift_left(width: int, number: int, count: int) -> int:
    return number << _demand_count(width, count)


def _shift_right(width: int, number: int, count: int) -> int:
    return number >> _demand_count(width, count)


def _demand_count(width: int, count: int) -> int:
    if not 0 <= count < width:
        raise UndefinedBehaviour(f"a shift of {width} bits by {count}")
    return count


def _divide(width: int, a: int, b: int) -> int:
    """Toward zero; operands have the sign that the opcode reads."""
    if b == 0 or (a == -(1 << width - 1) and b == -1):
        raise UndefinedBehaviour(f"{a} / {b}")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _modulo(width: int, a: int, b: int) -> int:
    return a - _divide(width, a, b) * b


def _field(_: int, word: int, offset: int, count: int) -> int:
    if offset + count > 32:
        raise UndefinedBehaviour(f"a field of {count} bits at {offset}")
    return word >> offset & (1 << count) - 1


def _signed_field(width: int, word: int, offset: int, count: int) -> int:
    return _signed(_field(width, word, offset, count), count)


def _insert(width: int, word: int, field: int, offset: int, count: int) -> int:
    old = _field(width, word, offset, count)
    return word ^ (old ^ field & (1 << count) - 1) << offset


def _reverse(width: int, number: int) -> int:
    return int(f"{number:0{width}b}"[::-1], 2)


def _dot(a_signed: bool, b_signed: bool) -> Callable[[int, int], int]:
    def dot(a: int, b: int) -> int:
        sides = [
            [_signed(word >> 8 * k & 255, 8) if signed else word >> 8 * k & 255 for k in range(4)]
            for word, signed in ((a, a_signed), (b, b_signed))
        ]
        return sum(x * y for x, y in zip(*sides, strict=True))

    return dot


def _compute_floats(compute: Callable[..., Any], width: int, operands: Sequence[float]) -> float:
    """In the operands' own width, so that nothing is rounded twice."""
    kind = np.float32 if width == 32 else np.float64
    with np.errstate(all="ignore"):
        return float(compute(*(kind(number) for number in operands)))


def _differ(a: float, b: float) -> bool:
    return a < b or a > b


_ORDERS: dict[str, Callable[..., bool]] = {
    "LessThan": operator.lt,
    "LessThanEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEqual": operator.ge,
}
SIGNED_OPERANDS = frozenset({"OpSDiv", "OpSConvert", "OpConvertSToF", *(f"OpS{order}" for order in _ORDERS)})
PLAIN: dict[str, Callable[..., Any]] = {
    "OpIAdd": operator.add,
    "OpISub": operator.sub,
    "OpIMul": operator.mul,
    "OpSNegate": operator.neg,
    "OpNot": operator.invert,
    "OpBitwiseAnd": int.__and__,
    "OpBitwiseOr": int.__or__,
    "OpBitwiseXor": int.__xor__,
    "OpBitCount": int.bit_count,
    "OpLogicalAnd": bool.__and__,
    "OpLogicalOr": bool.__or__,
    "OpLogicalNot": operator.not_,
    **{f"{kind}{order}": compare for order, compare in _ORDERS.items() for kind in ("OpS", "OpU", "OpFOrd")},
    **dict.fromkeys(("OpLogicalEqual", "OpIEqual", "OpFOrdEqual"), operator.eq),
    **dict.fromkeys(("OpLogicalNotEqual", "OpINotEqual", "OpFUnordNotEqual"), operator.ne),
    "OpFOrdNotEqual": _differ,
    **dict.fromkeys(("OpUConvert", "OpSConvert", "OpFConvert", "OpConvertSToF", "OpConvertUToF"), operator.pos),
    "OpConvertFToS": _truncate,
    "OpConvertFToU": _truncate,
    "OpSDot": _dot(True, True),
    "OpSUDot": _dot(True, False),
    "OpUDot": _dot(False, False),
}
# These ask for the width of their first operand.
WIDTHS: dict[str, Callable[..., int]] = {
    "OpSDiv": _divide,
    "OpUDiv": _divide,
    "OpUMod": _modulo,
    "OpShiftLeftLogical": _shift_left,
    "OpShiftRightLogical": _shift_right,
    "OpShiftRightArithmetic": _shift_right,
    "OpBitFieldInsert": _insert,
    "OpBitFieldUExtract": _field,
    "OpBitFieldSExtract": _signed_field,
    "OpBitReverse": _reverse,
}
FLOATS: dict[str, Callable[..., Any]] = {
    "OpFAdd": operator.add,
    "OpFSub": operator.sub,
    "OpFMul": operator.mul,
    "OpFDiv": np.divide,
    "OpFNegate": operator.neg,
    "FAbs": abs,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Trunc": np.trunc,
    "Sqrt": np.sqrt,
}
KNOWN = frozenset({*PLAIN, *WIDTHS, *FLOATS})
