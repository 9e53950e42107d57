"""`Math.fma` rounds once: against exact fractions, at ties and just beside them, where a second rounding would show."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.types import FLOAT16, FLOAT32, Scalar, Vector

from .kernels import Compiled, Operation, make_program, numpy_type, untouched
from .operands import draw, same

if TYPE_CHECKING:
    from cajeta_dot.backends.vulkan.device import Device

ITEMS = 600
PRECISION = {FLOAT32: 24, FLOAT16: 11}  # bits of a significand


def draw_hard(element: Scalar, lanes: int) -> list[np.ndarray[Any, Any]]:
    """Operands, the last of them chosen so that many sums lie at a tie or a hair beside it, cancel, or are tiny."""
    random = np.random.default_rng([element.bits, lanes])
    type = Vector(element, lanes) if lanes else element
    a, b, c = (draw(type, ITEMS, seed).copy() for seed in range(3))
    dtype, bits = a.dtype, PRECISION[element]
    for place in range(0, len(a), 2):
        one, exponent = 1 << bits - 1, int(random.integers(0, 3))
        x, y = (int(random.integers(one, 2 * one)) for _ in range(2))
        scale = 2.0 ** (-bits - exponent)
        a[place], b[place] = dtype.type(x * scale), dtype.type(y * scale)
        product = Fraction(float(a[place])) * Fraction(float(b[place]))
        half_unit = Fraction(1, 2 ** (bits + int(random.integers(0, 4))))
        target = Fraction(round(product / (2 * half_unit))) * 2 * half_unit + half_unit
        with np.errstate(over="ignore"):
            c[place] = dtype.type(float((target if random.random() < 0.5 else -target) - product))
    return [a, b, c]


@pytest.mark.parametrize("lanes", [0, 3])
@pytest.mark.parametrize("element", [FLOAT32, FLOAT16], ids=str)
def test_there_is_one_rounding(element: Scalar, lanes: int, engine: Device | None) -> None:
    type = Vector(element, lanes) if lanes else element
    program = make_program(Operation("fma", type, (type,) * 3).make())
    compiled, kernel = Compiled(program), program.functions[0]
    arrays = draw_hard(element, lanes)
    found, wanted = (untouched(len(arrays[0]), numpy_type(element)) for _ in range(2))
    items, groups = ITEMS, -(-ITEMS // 64)
    compiled.execute(engine, kernel, [*arrays, found, items], groups)
    compiled.expect(kernel, [*arrays, wanted, items], groups)
    alike = same(wanted, found)
    place = int(np.argmin(alike))
    assert alike.all(), [array[place] for array in (*arrays, found, wanted)]
    check_nearest(arrays, found)


def check_nearest(operands: list[np.ndarray[Any, Any]], found: np.ndarray[Any, Any]) -> None:
    """No number of the type is nearer to the exact result; asked where both neighbours are numbers."""
    infinity = found.dtype.type(np.inf)
    with np.errstate(over="ignore"):
        neighbours = [np.nextafter(found, side) for side in (infinity, -infinity)]
    places = np.flatnonzero(np.all([np.isfinite(array) for array in (*operands, found, *neighbours)], 0))
    assert len(places) > ITEMS // 2
    for place in places:
        a, b, c, near, *others = (Fraction(float(array[place])) for array in (*operands, found, *neighbours))
        assert all(abs(a * b + c - near) <= abs(a * b + c - other) for other in others)
