"""The opcodes of the IR that compute: on scalars, lane by lane, across lanes, and between shapes.

Each gets its operands' registers and returns those of its result.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.conversions import convert, convert_low
from cajeta_dot.backends.spirv.lanes import constant, from_words, is_packed, put_lanes, take_lane, take_lanes, to_words
from cajeta_dot.backends.spirv.packed import calculate_packed, splat_byte
from cajeta_dot.backends.spirv.scalars import calculate, calculate_low
from cajeta_dot.ir import COMPARISONS
from cajeta_dot.types import Scalar, Type, element_of, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends.spirv.code import Code
    from cajeta_dot.backends.spirv.lanes import Registers
    from cajeta_dot.ir import Value

    Operation = Callable[[Code, Value, Sequence[Registers]], Registers]


# ---- lane by lane


def _emit_constant(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    return constant(code, value.type, value.attr)


def _emit_elementwise(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    packed = is_packed(value.type)
    if packed:
        words = calculate_packed(code, value, operands)
        if words is not None:
            return words
    compute = calculate_low if packed else calculate
    element = element_of(value.args[0].type)
    sides = [take_lanes(code, arg.type, registers) for arg, registers in zip(value.args, operands, strict=True)]
    return put_lanes(code, value.type, [compute(code, value.op, element, *lane) for lane in zip(*sides, strict=True)])


def _emit_convert(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    old, new = value.args[0].type, value.type
    if is_packed(old) and is_packed(new):
        return operands[0]
    compute = convert_low if is_packed(new) else convert
    lanes = take_lanes(code, old, operands[0])
    return put_lanes(code, new, [compute(code, element_of(old), element_of(new), lane) for lane in lanes])


def _emit_reinterpret(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    return from_words(code, value.type, to_words(code, value.args[0].type, operands[0]))


def _emit_select(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    conditions, *choices = operands
    if isinstance(value.args[0].type, Scalar):
        return tuple(code.select(conditions[0], *pair) for pair in zip(*choices, strict=True))
    sides = [take_lanes(code, value.type, registers) for registers in choices]
    return put_lanes(code, value.type, [code.select(*lane) for lane in zip(conditions, *sides, strict=True)])


# ---- lanes in and out


def _emit_splat(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    register = operands[0][0]
    if not is_packed(value.type):
        return (register,) * lanes_of(value.type)
    if register in code.module.integers:
        return constant(code, value.type, code.module.integers[register])
    return splat_byte(code, register, lanes_of(value.type) // 4)


def _emit_build(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    return put_lanes(code, value.type, [registers[0] for registers in operands])


def _emit_extract(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    return (take_lane(code, value.args[0].type, operands[0], value.attr),)


def _emit_insert(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    registers, lane = list(operands[0]), operands[1][0]
    place: int = value.attr
    if is_packed(value.type):
        place, byte = divmod(place, 4)
        registers[place] = code.insert(registers[place], code.cast(lane, "uint"), 8 * byte, 8)
    else:
        registers[place] = lane
    return tuple(registers)


def _emit_extract_at(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    type = value.args[0].type
    number = _reduce_index(code, value.args[1].type, operands[1][0], lanes_of(type))
    if not is_packed(type):
        return (_choose(code, operands[0], number),)
    word = _choose(code, operands[0], code.shift_right(number, 2))
    moved = code.op("OpShiftRightLogical", "uint", word, _bit_offset(code, number))
    return (code.field(moved, 0, 8, element_of(type).is_signed),)


def _emit_insert_at(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    type, (lane,) = value.type, operands[2]
    number = _reduce_index(code, value.args[1].type, operands[1][0], lanes_of(type))
    if is_packed(type):
        offset, byte = _bit_offset(code, number), code.cast(lane, "uint")
        new = [code.op("OpBitFieldInsert", "uint", word, byte, offset, code.uint(8)) for word in operands[0]]
        number = code.shift_right(number, 2)
    else:
        new = [lane] * lanes_of(type)
    chosen = [code.op("OpIEqual", "bool", number, code.uint(place)) for place in range(len(new))]
    return tuple(code.select(*choice) for choice in zip(chosen, new, operands[0], strict=True))


def _reduce_index(code: Code, type: Type, index: str, lanes: int) -> str:
    """A run-time lane number: the index, read as unsigned, modulo the lanes."""
    element = element_of(type)
    if lanes & lanes - 1 == 0:
        low = code.op("OpUConvert", "uint", index) if element.bits == 64 else index
        return code.mask(low, lanes - 1)
    if element.bits == 64:
        wide = code.op("OpUMod", "ulong", code.cast(index, "ulong"), code.module.integer("ulong", lanes))
        return code.op("OpUConvert", "uint", wide)
    return code.op("OpUMod", "uint", code.field(index, 0, element.bits, signed=False), code.uint(lanes))


def _bit_offset(code: Code, number: str) -> str:
    return code.shift_left(code.mask(number, 3), 3)


def _choose(code: Code, registers: Sequence[str], number: str) -> str:
    """The register of that number: halving, by one bit of the number after the other."""
    bit = 0
    while len(registers) > 1:
        odd = code.op("OpINotEqual", "bool", code.mask(number, 1 << bit), code.uint(0))
        rest = registers[len(registers) & ~1 :]  # an odd one, whose number has this bit 0
        pairs = zip(registers[::2], registers[1::2], strict=False)
        registers = [*(code.select(odd, b, a) for a, b in pairs), *rest]
        bit += 1
    return registers[0]


def _emit_shuffle(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    type, picks = value.args[0].type, tuple[int, ...](value.attr)
    count = lanes_of(type)

    def pick(place: int) -> str:
        side, lane = divmod(place, count)
        return take_lane(code, type, operands[side], lane)

    if not (is_packed(type) and is_packed(value.type)):
        return put_lanes(code, value.type, [pick(place) for place in picks])
    both = [*operands[0], *operands[1]]
    words: list[str] = []
    for at in range(0, len(picks), 4):
        group = picks[at : at + 4]
        if group[0] % 4 == 0 and group == tuple(range(group[0], group[0] + 4)):
            words.append(both[group[0] // 4])
        else:
            words += put_lanes(code, type, [pick(place) for place in group])
    return tuple(words)


# ---- across lanes


def _emit_sum(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    return (_fold(code, "add", element_of(value.type), operands[0]),)


def _emit_any(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    return (_fold(code, "or", element_of(value.type), operands[0]),)


def _emit_all(code: Code, value: Value, operands: Sequence[Registers]) -> Registers:
    return (_fold(code, "and", element_of(value.type), operands[0]),)


def _fold(code: Code, op: str, element: Scalar, lanes: Sequence[str]) -> str:
    total = lanes[0]
    for lane in lanes[1:]:
        total = calculate(code, op, element, total, lane)
    return total


_ELEMENTWISE = (
    *("add", "sub", "mul", "div", "rem", "min", "max", "and", "or", "xor", "shl", "shr", "rotate_left", "rotate_right"),
    *("count_ones", "reverse_bits", "neg", "not", "abs", "floor", "ceil", "trunc", "sqrt", "round", "fma"),
    *COMPARISONS,
)
OPERATIONS: dict[str, Operation] = {
    **dict.fromkeys(_ELEMENTWISE, _emit_elementwise),
    "const": _emit_constant,
    "convert": _emit_convert,
    "reinterpret": _emit_reinterpret,
    "select": _emit_select,
    "splat": _emit_splat,
    "build": _emit_build,
    "extract": _emit_extract,
    "insert": _emit_insert,
    "extract_at": _emit_extract_at,
    "insert_at": _emit_insert_at,
    "shuffle": _emit_shuffle,
    "sum": _emit_sum,
    "any": _emit_any,
    "all": _emit_all,
}
