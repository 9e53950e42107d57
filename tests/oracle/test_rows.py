"""Every row of the tables, on every combination of operands it takes: each target gives what the row's meaning says.

On the target `expansion` the interpreter runs the row's expansion instead of its meaning.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.check.builtins import FUNCTIONS
from cajeta_dot.check.dots import DOT_NAMES
from cajeta_dot.check.methods import METHODS
from cajeta_dot.types import BOOLEAN, INT32, element_of

from .asking import ITEMS, Case, expect, function_cases, make_arrays, method_cases, write_function
from .numbers import differing
from .running import EVERY_TARGET, GPU_TARGETS, TARGETS, load

if TYPE_CHECKING:
    from collections.abc import Collection

    from .numbers import Elements

CASES = {f"k{n}": case for n, case in enumerate([*method_cases(), *function_cases()])}
ROWS = [*METHODS, *FUNCTIONS]
# Which zero the lesser or greater of two is, is left open.
ZEROS_ALIKE = ("min", "max", "clamp", "Math.min", "Math.max")


def write_text(cases: Collection[str], in_kernel: bool) -> str:
    return "\n".join(write_function(name, CASES[name], in_kernel) for name in cases)


DOTS = write_text([name for name, case in CASES.items() if case.row.name in DOT_NAMES], True)
OTHERS = write_text([name for name, case in CASES.items() if case.row.name not in DOT_NAMES], False)


def choose(target: str, row: str) -> tuple[list[str], str]:
    """The cases of a row that a target is asked, and the text that has them. LLVM takes ten times as long for kernels of a GPU
    as for host methods, so these targets are asked every fourth case of what is no dot product."""
    cases = [name for name, case in CASES.items() if case.row.name == row]
    if row in DOT_NAMES:
        return cases, DOTS
    if target not in GPU_TARGETS:
        return cases, OTHERS
    return cases[::4], write_text(cases[::4], True)


@cache
def prepare(name: str) -> tuple[list[Elements], Elements]:
    """The operands of a case and what must come out."""
    arrays = make_arrays(CASES[name])
    return arrays, expect(CASES[name], arrays)


def test_every_row_has_a_case() -> None:
    assert {case.row.name for case in CASES.values()} == set(ROWS)


def test_the_dot_family_is_asked_in_every_width_and_sign() -> None:
    for row, count in {"dotAccum": 2 * 2 * 10, "dotSum": 2 * 2 * (10 + 2 * 4), "dot": 2 * 2 * (1 + 5)}.items():
        found = [case for case in CASES.values() if case.row.name == row and element_of(case.operands[0]).is_integer]
        assert len(found) == count
        assert {element_of(case.result) for case in found} == {INT32}


@pytest.mark.parametrize(
    ("target", "row"),
    [
        *((target, row) for target in EVERY_TARGET for row in DOT_NAMES),
        *((target, row) for target in TARGETS for row in ROWS if row not in DOT_NAMES),
    ],
)
def test_the_meaning_is_what_comes_out(target: str, row: str) -> None:
    cases, text = choose(target, row)
    launch = load(target, text)
    wrong: list[str] = []
    for name in cases:
        arrays, wanted = prepare(name)
        output = np.zeros(len(wanted), wanted.dtype)
        launch(name, [output, *arrays], ITEMS)
        places = differing(output, wanted, row in ZEROS_ALIKE)
        wrong += [describe(CASES[name], place, output, wanted) for place in places[:1]]
    assert not wrong


def describe(case: Case, place: int, output: Elements, wanted: Elements) -> str:
    return f"{case}: item {place * ITEMS // len(wanted)} gives {output[place]} instead of {wanted[place]}"


def test_operands_are_telling() -> None:
    """The accumulators of the dot family begin at both ends of int32, and the sums leave it."""
    case = next(case for case in CASES.values() if case.row.name == "dotAccum" and case.operands[0] == case.operands[1])
    accumulators = make_arrays(case)[2]
    assert {-(2**31), 2**31 - 1, 0, -1} <= set(accumulators.tolist())
    assert BOOLEAN not in {element_of(type) for type in case.operands}
