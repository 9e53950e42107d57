"""Functions around a lowering, as LLVM IR text, and what to read in their assembly."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from cajeta_dot.backends.forms.algebra import Vector, by_registers, into_one_lane
from cajeta_dot.backends.forms.llvm_reading import LlvmReading, spell, spell_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends.forms.algebra import Instruction, Lowering

    Shape = tuple[int, int]  # lane bits, lanes


def new_reading() -> LlvmReading:
    numbers = count()
    return LlvmReading([], lambda: f"%v{next(numbers)}", {})


def block_function(
    operands: Sequence[Shape], body: Callable[[Sequence[Vector[str]]], Vector[str]], invariant: Sequence[int] = ()
) -> str:
    """A module with `void blocks(ptr in0, ptr in1, …, ptr out, i64 blocks)`: the body on block after block, at least 1.

    invariant: operands of which there is one block only.
    """
    reading = new_reading()

    def point_at(pointer: str, bits: int, lanes: int, block: str) -> str:  # an array: LLVM rounds <12 x i8> up to 16 bytes
        return reading.write(f"getelementptr [{lanes} x i{bits}], ptr {pointer}, i64 {block}")

    loaded: list[Vector[str]] = []
    for i, (bits, lanes) in enumerate(operands):
        source = point_at(f"%in{i}", bits, lanes, "0" if i in invariant else "%block")
        term = reading.write(f"load {spell_type(bits, lanes)}, ptr {source}, align 1")
        loaded.append(Vector(reading, term, bits, lanes))
    result = body(loaded)
    target = point_at("%out", result.bits, result.lanes, "%block")
    parameters = "".join(f"ptr noalias readonly %in{i}, " for i in range(len(operands)))
    lines = [
        *reading.declarations.values(),
        f"define void @blocks({parameters}ptr noalias %out, i64 %blocks) {{",
        "entry:",
        "  br label %loop",
        "loop:",
        "  %block = phi i64 [0, %entry], [%next, %loop]",
        *(f"  {line}" for line in reading.lines),
        f"  store {spell(result)}, ptr {target}, align 1",
        "  %next = add i64 %block, 1",
        "  %more = icmp ult i64 %next, %blocks",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
        "",
    ]
    return "\n".join(lines)


def dot_function(lower: Lowering, width: int, registers: Sequence[int], lanes: int = 0, invariant: Sequence[int] = ()) -> str:
    """The same for a dot product of `width` bytes: w, x, and an accumulator of width/4 lanes or of one that takes all."""
    whole = into_one_lane(lower, registers) if lanes == 1 else by_registers(lower, registers)
    shapes = [(8, width), (8, width), (32, lanes or width // 4)]
    return block_function(shapes, lambda operands: whole(*operands), invariant)


def register_function(instruction: Instruction, size: int) -> str:
    """A module with one instruction as a function of its operands, passed in registers; its result has `size` bits."""
    reading = new_reading()
    lanes = size // instruction.result
    operands: list[Vector[str]] = []
    parameters: list[str] = []
    for i, d in enumerate(instruction.operands):
        count = d.per * lanes
        bits, lanes_passed = (32, 1) if d.bits * count == 32 else (d.bits, count)  # a GPU has no vectors
        parameters.append(f"{spell_type(bits, lanes_passed)} %in{i}")
        operands.append(Vector(reading, f"%in{i}", bits, lanes_passed).as_lanes(d.bits))
    result = instruction(*operands)
    whole = spell_type(result.bits, result.lanes)
    head = f"define {whole} @one({', '.join(parameters)}) {{"
    return "\n".join([*reading.declarations.values(), head, *reading.lines, f"ret {spell(result)}", "}", ""])


def loop(assembly: str) -> list[str]:
    """The instructions of an x86 function's only loop."""
    jump = list(re.finditer(r"^\s*j\w+\s+(\.LBB\S+)", assembly, re.MULTILINE))[-1]
    start = assembly.index(f"\n{jump[1]}:")
    lines = [re.sub(r"\s+", " ", line.split("#")[0]).strip() for line in assembly[start : jump.start()].splitlines()]
    return [line for line in lines if line and not line.startswith(".")]


def vector_operations(lines: Sequence[str]) -> list[str]:
    """Those that compute: not the moves, not the loop's own."""
    return [line for line in lines if re.match(r"(\{vex\} )?v?p(?!ush|op)", line)]
