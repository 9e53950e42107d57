"""Every x86 instruction this machine has, against its model: what the proofs take on trust, tried on silicon.

In every encoding that it has, at every register size, on all pairs of bytes and on vectors of any bytes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends.forms import instructions
from cajeta_dot.backends.forms.algebra import Instruction
from cajeta_dot.backends.forms.instructions import dot, dot_accumulate, pmaddubsw, vpdpbusd
from cajeta_dot.backends.forms.numpy_reading import SIGNED, UNSIGNED, NumpyReading
from cajeta_dot.record import replace

from .emission import block_function
from .machines import host_features, run_blocks
from .operands import name
from .wrong_forms import vpdpbusds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cajeta_dot.backends.forms.algebra import Lanes
    from cajeta_dot.backends.forms.numpy_reading import Array

DECLARED = [i for i in (*vars(instructions).values(), vpdpbusds) if isinstance(i, Instruction) and i.family == "x86"]
EXTREMES = {
    8: np.array([0, 1, 127, 128, 129, 255], np.uint8),
    16: np.array(
        [0, 1, 127, 128, 255, 256, 0x3FFF, 0x4000, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xBFFF, 0xC000, 0xFF80, 0xFFFF], np.uint16
    ),
    32: np.array([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x7FFF0000, 0x80010000], np.uint32),
}


def runnable(instruction: Instruction) -> list[tuple[int, str]]:
    """The result sizes, in bits, at which this machine has an x86 instruction; each with the features of one encoding."""
    return [
        (bits, features.strip())
        for bits, encoding in instruction.encodings.items()
        for features in encoding.needs.split("|")
        if set(features.split()) <= host_features()
    ]


def pair_up(lanes: Lanes) -> Array:
    """All pairs of bytes; of 16-bit values, all pairs of some 250 spread over the range and its ends."""
    values = np.arange(256, dtype=np.uint32)
    if lanes.bits == 16:
        values = np.unique(np.concatenate([EXTREMES[16], np.linspace(0, 65535, 240, dtype=np.uint32)]))
    both = np.meshgrid(values, values, indexing="ij")
    return np.stack([v.ravel() for v in both], axis=1).astype(UNSIGNED[lanes.bits])


def draw_groups(instruction: Instruction, random: np.random.Generator) -> Iterator[list[Array]]:
    """Values for one result lane at a time: an array (groups, per) for each operand."""

    def draw_anything(d: Lanes, n: int) -> Array:
        return random.integers(2**d.bits, size=(n, d.per), dtype=UNSIGNED[d.bits])

    def draw_extremes(d: Lanes, n: int) -> Array:
        return random.choice(EXTREMES[d.bits], (n, d.per))

    a = instruction.operands[-1]
    pairs = pair_up(a)
    for draw in (draw_anything, draw_extremes):
        yield [draw(d, 100_000) for d in instruction.operands]
        for at in [*(slice(k, k + 1) for k in range(a.per)), slice(None)]:  # each place with other neighbours, then all
            operands = [draw(d, len(pairs)) for d in instruction.operands]
            operands[-2][:, at], operands[-1][:, at] = pairs[:, :1], pairs[:, 1:]
            yield operands


def arrange(groups: NDArray[Any], lanes: int) -> NDArray[Any]:
    """Groups side by side, one register in a row."""
    whole = len(groups) // lanes * lanes
    return np.ascontiguousarray(groups[:whole].reshape(-1, lanes * groups.shape[1]))


@cache
def draw_batches(instruction: Instruction, lanes: int) -> tuple[list[Array], NDArray[Any]]:
    """Rows of operands, and what the model makes of them; the shift moves every pair to another lane."""
    batches = [
        [arrange(np.roll(group, shift, axis=0), lanes) for group in groups]
        for shift, groups in enumerate(draw_groups(instruction, np.random.default_rng(lanes)))
    ]
    rows = [np.concatenate(operand) for operand in zip(*batches, strict=True)]
    reading = NumpyReading()
    return rows, instruction(*map(reading.vector, rows)).term.view(SIGNED[instruction.result])


def count_differences(instruction: Instruction, bits: int, features: str) -> tuple[int, int]:
    """How many result lanes were compared, and how many differed."""
    lanes = bits // instruction.result
    shapes = [(d.bits, d.per * lanes) for d in instruction.operands]
    ir = block_function(shapes, lambda operands: instruction(*operands))
    rows, want = draw_batches(instruction, lanes)
    got = run_blocks(ir, rows, lanes, SIGNED[instruction.result], features)
    return got.size, int((got != want).sum())


@pytest.mark.parametrize("instruction", [i for i in DECLARED if runnable(i)], ids=name)
def test_models_match_the_machine(instruction: Instruction) -> None:
    for bits, features in runnable(instruction):
        compared, different = count_differences(instruction, bits, features)
        assert compared > 65536 * (1 + instruction.operands[-1].per)
        assert different == 0, (bits, features)


def test_all_pairs_of_bytes_are_tried_in_every_place() -> None:
    for instruction in (pmaddubsw, vpdpbusd):
        drawn = list(draw_groups(instruction, np.random.default_rng(0)))
        for place in range(instruction.operands[-1].per):
            tried = np.zeros(65536, bool)
            for *_, a, b in drawn:
                tried[256 * a[:, place].astype(int) + b[:, place]] = True
            assert tried.all()


def test_this_machine_says_what_could_not_be_tried() -> None:
    """Not a check: which models rest on the manual alone, here."""
    lacking = [i.name for i in DECLARED if not runnable(i)]
    if lacking:
        pytest.skip(f"THIS MACHINE HAS NO {', '.join(lacking)}: their models rest on the manual")


@pytest.mark.parametrize("wrong", [replace(pmaddubsw, meaning=dot), replace(vpdpbusds, meaning=dot_accumulate)], ids=name)
def test_a_wrong_model_is_noticed(wrong: Instruction) -> None:
    if not runnable(wrong):
        pytest.skip(f"this machine has no {wrong.name}")
    for bits, features in runnable(wrong):
        assert count_differences(wrong, bits, features)[1]
