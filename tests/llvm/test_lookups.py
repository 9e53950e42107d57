"""Table lookups: one instruction where the processor has it, the same answer everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.backends import Options
from cajeta_dot.backends.llvm.lookups import match_lookup
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import SCALARIZED
from cajeta_dot.driver import find_target
from cajeta_dot.types import INT8, UINT8, Vector

from .programs import RUNNABLE, SOURCE, apply, load, make_program, run_lanes

if TYPE_CHECKING:
    from cajeta_dot.ir import Builder, Function, Value

LANES = (1, 4, 16, 24, 32, 64, 100, 256)
TABLE = Vector(INT8, 16)


def look_up(b: Builder, values: list[Value], mask: int = 15) -> Value:
    """As the methods expand: each lane of the masked indexes picks a lane of the table."""
    indexes, table = values
    assert isinstance(indexes.type, Vector)
    low = b.binary("and", indexes, b.const(indexes.type, mask))
    lanes = [b.emit("extract_at", INT8, table, b.extract(low, lane)) for lane in range(indexes.type.lanes)]
    return b.emit("build", Vector(INT8, indexes.type.lanes), *lanes)


def lookup_kernel(lanes: int) -> Function:
    return apply(f"look{lanes}", [Vector(UINT8, lanes), TABLE], Vector(INT8, lanes), look_up)


@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("checks", [True, False])
def test_every_index_finds_its_byte(checks: bool, target: str) -> None:
    made = load(make_program(*map(lookup_kernel, LANES)), target, checks=checks)
    random = np.random.default_rng(5)
    for lanes in LANES:
        indexes = np.resize(np.arange(256), (64, lanes)).astype(np.uint8)
        indexes[32:] = random.integers(0, 256, (32, lanes))
        tables = random.integers(-128, 128, (64, 16)).astype(np.int8)
        got = run_lanes(made[f"look{lanes}"], Vector(INT8, lanes), [indexes.reshape(-1), tables.reshape(-1)], 64)
        assert (got.reshape(64, lanes) == np.take_along_axis(tables, (indexes & 15).astype(int), axis=1)).all()


@pytest.mark.parametrize(("target", "lanes", "instruction", "registers"), [
    ("x86-vnni", 64, "pshufb", 1), ("x86-vnni", 256, "pshufb", 4), ("x86-vnni", 24, "pshufb", 1),
    ("x86-avx2", 16, "pshufb", 1), ("x86-avx2", 64, "pshufb", 2), ("x86-scalar", 64, "pshufb", 0),
    ("aarch64-neon", 64, "\ttbl\t", 4), ("wasm32-simd128", 24, "i8x16.swizzle", 2),
])  # fmt: skip
def test_a_register_takes_one_instruction(target: str, lanes: int, instruction: str, registers: int) -> None:
    found = find_target(target)
    assert found
    artifact = found[0].emit(make_program(lookup_kernel(lanes)), target, "asm", Options(checks=True), Reporter(SOURCE))
    assert artifact is not None
    assert isinstance(artifact.content, str)
    assert artifact.content.count(instruction) == registers
    assert ("pinsrb" in artifact.content) is False


def test_only_masked_indexes_in_order_of_one_table_are_a_lookup() -> None:
    from cajeta_dot.ir import Builder, Value

    def build(order: list[int], mask: int, lanes: int = 16) -> Value:
        b = Builder([])
        table, indexes = Value("param", Vector(INT8, lanes)), Value("param", Vector(UINT8, 4))
        low = b.binary("and", indexes, b.const(Vector(UINT8, 4), mask))
        picks = [b.emit("extract_at", INT8, table, b.extract(low, lane)) for lane in order]
        return b.emit("build", Vector(INT8, len(order)), *picks)

    assert match_lookup(build([0, 1, 2, 3], 15))
    assert match_lookup(build([0, 1, 2, 3], 7))
    assert not match_lookup(build([0, 1, 3, 2], 15))
    assert not match_lookup(build([0, 1, 2], 15))
    assert not match_lookup(build([0, 1, 2, 3], 31))
    assert not match_lookup(build([0, 1, 2, 3], 15, lanes=32))


@pytest.mark.parametrize(
    ("target", "choice", "remark"),
    [
        ("x86-avx2", ("shuffle", "pshufb", ""), ""),
        ("aarch64-neon", ("shuffle", "tbl", ""), ""),
        (
            "x86-sse2",
            ("lane by lane", "a load and an insert for each lane", "pshufb needs ssse3"),
            "a lookup of 16 lanes is done lane by lane on `x86-sse2`; pshufb needs ssse3",
        ),
        (
            "nvptx",
            ("lane by lane", "a load and an insert for each lane", ""),
            "a lookup of 16 lanes is done lane by lane on `nvptx`",
        ),
    ],
)
def test_what_a_lookup_became_is_told(target: str, choice: tuple[str, str, str], remark: str) -> None:
    reporter = Reporter(SOURCE)
    found = find_target(target)
    assert found
    artifact = found[0].emit(make_program(lookup_kernel(16)), target, "llvm-ir", Options(), reporter)
    assert artifact
    (found,) = artifact.choices
    assert (found.form, found.instruction, found.why) == choice
    assert (found.operation, found.lanes, found.signs, found.exact) == ("lookup", 16, "", True)
    assert [(d.rule, d.message) for d in reporter.found] == ([(SCALARIZED, remark)] if remark else [])
