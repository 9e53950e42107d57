"""Indexes of 64 bits made 32 bits wide: which arithmetic goes, and that every program reads and writes where it did."""

from __future__ import annotations

import numpy as np
import pytest

from cajeta_dot import BoundsError, driver
from cajeta_dot.ir import Program, Value, walk
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.narrow_indexes import narrow_indexes
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference import execute
from cajeta_dot.reference.flow import translate
from cajeta_dot.types import Scalar

HEAD = "static void f(int32[] out, int32[] in, int32 i, uint32 u, int8 s, int64 w) { "
# The index, and whether there are operations of 64 bits left in it; parameters may be negative.
INDEXES = {
    "(int64) i": False,
    "(int64) u + 3": False,
    "(int64) s + 130": False,
    "((int64) i * 5 - 7 + (int64) u) & 15": False,
    "((int64) i << 2) ^ 1": False,
    "-(int64) s": False,
    "~(int64) s & 31": False,
    "(int64) (uint64) u": False,
    "w": True,  # its low half is taken
    "w + i": True,
    "(int64) i / 3": False,
    "(int64) i % 7": False,
    "(int64) u / 3 + (int64) u": False,
    "(int64) u / 4294967295L": False,
    "(int64) u / 4294967296L": True,
    "(int64) i / -3": True,
    "((int64) u + 1) / 3": True,  # the upper half matters
    "((int64) i << 2) >>> 1": True,
    "((int64) i << s) & 15": True,  # a count that only run time knows
}


def check(index: str) -> tuple[Program, Program]:
    source, reporter = driver.decode("t.cj", f"{HEAD}out[{index}] = in[{index}] + 1; }}".encode())
    program = driver.check_source(source, reporter)
    assert program, [found.message for found in reporter.found]
    core = expand(program)
    made = narrow_indexes(core)
    verify(made)
    return core, made


def has_wide(program: Program) -> bool:
    """Is there an operation that has to do with 64 bits?"""
    (function,) = program.functions
    values = [item for item in walk(function.body) if isinstance(item, Value) and item.op != "const"]
    types = [type for value in values for type in (value.type, *(arg.type for arg in value.args))]
    return any(isinstance(type, Scalar) and type.bits == 64 for type in types)


@pytest.mark.parametrize("index", INDEXES)
def test_only_what_needs_64_bits_has_them(index: str) -> None:
    core, made = check(index)
    assert has_wide(core)
    assert has_wide(made) is INDEXES[index]


def test_a_program_without_them_stays_as_it_is() -> None:
    core, made = check("i + s")
    assert made is core


@pytest.mark.parametrize("index", INDEXES)
def test_the_same_elements_are_meant(index: str) -> None:
    core, made = check(index)
    for i, u, s, w in ((9, 4, 3, 20), (0, 0, 0, 0), (20, 2, -20, 7), (3, 25, -3, 2**33 + 5)):
        outputs: list[list[int]] = []
        for program in (core, made):
            arrays = [np.full(256, -1, np.int32), np.arange(256, dtype=np.int32)]
            try:
                execute.call(translate(program, False)[program.names["f"]], [*arrays, i, u, s, w])
            except BoundsError:  # not defined without checks
                break
            outputs.append(arrays[0].tolist())
        assert len(outputs) != 2 or outputs[0] == outputs[1]
