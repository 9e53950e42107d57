"""The readings agree: numpy with Python's integers, and z3's terms with numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import z3

from cajeta_dot.backends.forms import instructions
from cajeta_dot.backends.forms.algebra import Instruction, by_registers, cut, into_one_lane, join
from cajeta_dot.backends.forms.forms import FORMS
from cajeta_dot.backends.forms.formulas import one
from cajeta_dot.backends.forms.numpy_reading import Integers, NumpyReading, evaluate
from cajeta_dot.backends.forms.z3_reading import Z3Reading, word

from .operands import define, draw, name
from .wrong_forms import WRONG

if TYPE_CHECKING:
    from cajeta_dot.backends.forms.forms import Form

INSTRUCTIONS = [i for i in vars(instructions).values() if isinstance(i, Instruction)]
WIDTHS = (4, 8, 12, 16, 20, 32, 48, 64, 128)


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_numpy_agrees_with_integers(form: Form) -> None:
    for width in WIDTHS:
        w, x, acc = draw(form, width, width // 4, rows=16)
        wanted = define(form, w, x, acc)
        for registers in (form.registers(), form.registers()[-1:]):
            assert (evaluate(by_registers(form.lower, registers), w, x, acc) == wanted).all(), (width, registers)


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_numpy_agrees_with_integers_on_one_lane(form: Form) -> None:
    for width in WIDTHS:
        w, x, acc = draw(form, width, 1, rows=16)
        for registers in (form.registers()[:1], form.registers()):
            made = evaluate(into_one_lane(form.lower, registers), w, x, acc)
            assert (made == define(form, w, x, acc)).all(), (width, registers)


UNKNOWN = ("padding looked at", "relaxed on", "relaxed with")  # the result is unknown to any reading
KNOWN = [*FORMS, *(form for form in WRONG if not form.idea.startswith(UNKNOWN))]


@pytest.mark.parametrize("form", KNOWN, ids=name)
def test_z3_terms_mean_what_numpy_computes(form: Form) -> None:
    """The reading the proofs rest on, with numbers put in."""
    reading, width, rows = Z3Reading({"w": form.w_max, "x": form.x_max}), max(form.registers()[0], 16), 6
    variables = reading.vector("w", 8, width), reading.vector("x", 8, width), reading.vector("a", 32, width // 4)
    numbers = draw(form, width, width // 4, rows)
    for lower in (by_registers(form.lower, form.registers()[:1]), by_registers(one(form.means), (4,))):
        terms, wanted = lower(*variables).term, evaluate(lower, *numbers)
        for row in range(rows):
            values = [
                (word(variable, vector.bits), z3.BitVecVal(int(number), vector.bits))
                for vector, drawn in zip(variables, numbers, strict=True)
                for variable, number in zip(vector.term, drawn[row], strict=True)
            ]
            for term, number in zip(terms, wanted[row], strict=True):
                value = z3.simplify(z3.substitute(word(term, 32), *values))
                assert isinstance(value, z3.BitVecNumRef)
                assert value.as_signed_long() == number


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=name)
def test_operands_without_a_sign_need_none(instruction: Instruction) -> None:
    """`signed=None` promises that the result's bits are the same whatever multiple of 2^bits is added."""
    random = np.random.default_rng(1)
    operands = [[Integers(random.integers(-(2**31), 2**31, size=99)) for _ in range(d.per)] for d in instruction.operands]
    moved = [
        [v + Integers(np.array(2**d.bits)) for v in lanes] if d.signed is None else lanes
        for d, lanes in zip(instruction.operands, operands, strict=True)
    ]
    difference = instruction.meaning(operands).values - instruction.meaning(moved).values
    assert (difference % 2**instruction.result == 0).all()
    assert all(d.bits >= instruction.result for d in instruction.operands if d.signed is None)


def test_padding_is_unknown() -> None:
    padded = Z3Reading({}).vector("w", 8, 4).window(0, 8).term
    assert len({word(lane, 8).sexpr() for lane in padded}) == 8
    zeros = NumpyReading().vector(np.zeros((64, 4), np.uint8)).window(0, 8).term
    assert not zeros[:, :4].any()
    assert all(len(set(zeros[:, lane].tolist())) > 16 for lane in range(4, 8))


def test_terms_that_print_alike_are_alike() -> None:
    reading = Z3Reading({})
    low_bytes = [z3.Extract(7, 0, reading.unknown(bits)) for bits in (16, 16, 32)]
    texts = [reading.canonicalize(term).text for term in low_bytes]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 3), (3, 1), (4, 4)])
def test_vectors_of_any_lengths_join(first: int, second: int) -> None:
    a, b = np.arange(first, dtype=np.int32)[None], np.arange(100, 100 + second, dtype=np.int32)[None]
    reading = NumpyReading()
    joined = join(reading.vector(a), reading.vector(b))
    assert joined.term.tolist() == np.hstack([a, b]).tolist()
    assert joined.lanes == first + second


@pytest.mark.parametrize(
    ("width", "registers", "sizes"),
    [(20, [16, 32], [32]), (48, [16, 32], [32, 16]), (48, [16, 32, 64], [64]), (12, [4], [4, 4, 4]), (4, [16], [16])],
)
def test_registers_cover_any_width(width: int, registers: list[int], sizes: list[int]) -> None:
    assert cut(width, registers) == sizes
