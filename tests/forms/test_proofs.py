"""Every form is proved equal to its definition and every wrong one refuted. All widths: `prove.py`, as a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cajeta_dot.backends.forms import algebra, prove
from cajeta_dot.backends.forms.algebra import add_up
from cajeta_dot.backends.forms.forms import FORMS
from cajeta_dot.backends.forms.instructions import DOT, DOT_CLAMPED
from cajeta_dot.backends.forms.prove import Prover
from cajeta_dot.record import replace

from .operands import name
from .wrong_forms import WRONG

if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.backends.forms.algebra import T, Vector
    from cajeta_dot.backends.forms.forms import Form

# Bytes, and whether the accumulator is one lane: a register; one and a padded one; two and a padded one, added up.
CASES = [(16, False), (20, False), (12, True), (36, True)]


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_every_form_is_proved(form: Form) -> None:
    prover, registers = Prover(form), form.registers()[:1]
    assert [prover.refute(width, registers, one_lane=one_lane) for width, one_lane in CASES] == [None] * len(CASES)


@pytest.mark.parametrize("form", WRONG, ids=name)
def test_every_wrong_form_is_refuted(form: Form) -> None:
    found = Prover(form).refute(16, (16,))
    assert found, "and numpy agrees that it is wrong:"
    assert found.form != found.definition


def test_the_clamping_form_is_its_clamp_and_nothing_else_below_129() -> None:
    """What it documents, for all bytes; what every other target gives, for weights up to 128 and no further."""
    (clamping,) = [form for form in FORMS if not form.exact]
    assert clamping.means is DOT_CLAMPED
    for width, one_lane in CASES:
        assert Prover(clamping).refute(width, (16,), one_lane=one_lane) is None
        assert Prover(replace(clamping, means=DOT["us"], w_max=128)).refute(width, (16,), one_lane=one_lane) is None
        found = Prover(replace(clamping, means=DOT["us"], w_max=129)).refute(width, (16,), one_lane=one_lane)
        assert found
        assert found.definition < found.form, "the clamp cuts on the negative side first"


def forget_odd_lanes(v: Vector[T], total: Vector[T]) -> Vector[T]:
    while v.lanes > 1:
        half = v.lanes // 2
        v = v.window(0, half) + v.window(half, half)
    return total + v


def forget_the_total(v: Vector[T], total: Vector[T]) -> Vector[T]:
    return add_up(v, total ^ total)


@pytest.mark.parametrize("wrong", [forget_odd_lanes, forget_the_total], ids=lambda wrong: wrong.__name__)
def test_a_wrong_sum_of_lanes_is_refuted(wrong: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algebra, "add_up", wrong)
    found = Prover(FORMS[0]).refute(12, (16,), one_lane=True)
    assert found
    assert found.form != found.definition


def test_the_program_tells_right_from_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(prove, "WIDTHS", (4,))
    monkeypatch.setattr(prove, "FORMS", FORMS[:1])
    assert prove.main() == 0
    assert "proved" in capsys.readouterr().out
    monkeypatch.setattr(prove, "FORMS", (FORMS[0], next(f for f in WRONG if f.idea == "operands exchanged")))
    assert prove.main() == 1
    assert "REFUTED w0=" in capsys.readouterr().out
