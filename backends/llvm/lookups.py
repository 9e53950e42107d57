"""Table lookups: bytes chosen from a table of 16 bytes, for which x86, AArch64 and WebAssembly have one instruction for a whole
register.

`lut4` and `tableLookup` expand to lanes taken one by one: a `build` of `extract_at` of the table, each at one lane of a vector
of masked indexes. LLVM puts that together again for up to 32 lanes, but not for 64.
"""

from __future__ import annotations

from cajeta_dot.backends import Choice
from cajeta_dot.ir import lanes_of_constant
from cajeta_dot.types import Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.writer import Writer
    from cajeta_dot.ir import Function, Value

TABLE_LANES = 16
LANE_BY_LANE = "lane by lane"  # the form of a lookup for which there is no instruction
# Bytes of a register, the feature that it takes, the instruction, and the intrinsic, whose every 16 bytes look into 16 of the
# table.
_SHUFFLES = (
    (16, "ssse3", "pshufb", "llvm.x86.ssse3.pshuf.b.128"),
    (32, "avx2", "pshufb", "llvm.x86.avx2.pshuf.b"),
    (64, "avx512bw", "pshufb", "llvm.x86.avx512.pshuf.b.512"),
    (16, "neon", "tbl", "llvm.aarch64.neon.tbl1.v16i8"),
    (16, "simd128", "i8x16.swizzle", "llvm.wasm.swizzle"),
)


def match_lookup(value: Value) -> tuple[Value, Value] | None:
    """The table and the indexes, all of them in 0..15, if a `build` of several lanes is a lookup."""
    first = value.args[0]
    if len(value.args) == 1 or first.op != "extract_at" or first.args[1].op != "extract":
        return None
    table, indexes = first.args[0], first.args[1].args[0]
    if not _is_table(table) or not _is_masked(indexes, len(value.args)):
        return None
    for lane, arg in enumerate(value.args):
        if arg.op != "extract_at" or arg.args[0] is not table:
            return None
        index = arg.args[1]
        if index.op != "extract" or index.args[0] is not indexes or index.attr != lane:
            return None
    return table, indexes


def describe_lookup(value: Value, function: Function, machine: Machine) -> Choice:
    """What a lookup became, for the user. `pshufb` is told of where the processor's family has it."""
    instruction = next((name for _, feature, name, _ in _SHUFFLES if feature in machine.forms), "")
    form, why = ("shuffle", "") if instruction else (LANE_BY_LANE, "pshufb needs ssse3" if machine.family == "x86" else "")
    instruction = instruction or "a load and an insert for each lane"
    lanes = len(value.args)
    return Choice(value.start, value.end, function.name, "lookup", lanes, "", form, instruction, why)


def _is_table(table: Value) -> bool:
    return isinstance(table.type, Vector) and table.type.lanes == TABLE_LANES and table.type.element.bits == 8


def _is_masked(indexes: Value, lanes: int) -> bool:
    """Are these so many bytes, each in 0..15?"""
    if not isinstance(indexes.type, Vector) or indexes.type.lanes != lanes or indexes.type.element.bits != 8:
        return False
    mask = indexes.args[1] if indexes.op == "and" else None
    return mask is not None and mask.op == "const" and all(0 <= m < TABLE_LANES for m in lanes_of_constant(mask.attr))


def emit_lookup(writer: Writer, table: str, indexes: str, lanes: int, features: frozenset[str]) -> str | None:
    """The lookup in registers as large as the features allow; None where they allow none."""
    registers = {size: intrinsic for size, feature, _, intrinsic in _SHUFFLES if feature in features}
    if not registers:
        return None
    from cajeta_dot.backends.forms.algebra import Vector as Lanes
    from cajeta_dot.backends.forms.algebra import assemble
    from cajeta_dot.backends.llvm.reading import WriterReading

    reading = WriterReading(writer)
    all_indexes, one_table = Lanes(reading, indexes, 8, lanes), Lanes(reading, table, 8, TABLE_LANES)

    def look_up(start: int, size: int) -> Lanes[str]:
        type = f"<{size} x i8>"
        repeated = one_table.shuffle(one_table, [lane % TABLE_LANES for lane in range(size)])
        indexes = all_indexes.window(start, size)
        found = writer.call(type, registers[size], (type, repeated.term), (type, indexes.term))
        return Lanes(reading, found, 8, size)

    return assemble(lanes, tuple(registers), look_up).term
