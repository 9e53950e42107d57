"""Rounding, wrapping and bits, against numpy, Python's own float and every half-precision number."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cajeta_dot.reference.numbers import from_bits, make_rounder, round_float, saturate, to_bits, wrap
from cajeta_dot.types import FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8, UINT32, UINT64, Scalar

FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
ALL_FLOATS = pytest.mark.parametrize("element", [FLOAT16, FLOAT32, FLOAT64], ids=str)


def same(a: float, b: float) -> bool:
    """Equal, with equal signs, or both no number."""
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def draw_floats(bits: int, count: int) -> list[float]:
    """Over all exponents of the width and a little beyond, of both signs."""
    draw = random.Random(bits)
    low, high = {16: (-30, 20), 32: (-155, 132), 64: (-1080, 1024)}[bits]
    return [math.ldexp(draw.uniform(-1, 1), draw.randint(low, high)) for _ in range(count)]


@pytest.mark.parametrize("element", [INT8, UINT8, INT32, UINT32, INT64, UINT64], ids=str)
def test_integers_wrap(element: Scalar) -> None:
    around = [element.low, element.high, 0, 127, 128, 255, 1 << element.bits]
    for number in (
        base + step + turns for base in around for step in (-1, 0, 1) for turns in (0, 3 << element.bits, -5 << 100)
    ):
        expected = (number - element.low) % (1 << element.bits) + element.low
        assert wrap(number, element) == make_rounder(element)(number) == expected


def test_a_fraction_is_no_integer() -> None:
    with pytest.raises(TypeError, match="the fraction 1/2 is to be an int32"):
        make_rounder(INT32)(Fraction(1, 2))


@ALL_FLOATS
def test_float64_rounds_as_numpy_rounds(element: Scalar) -> None:
    with np.errstate(over="ignore"):
        for number in [*draw_floats(element.bits, 3000), 0.0, -0.0, math.inf, -math.inf, math.nan]:
            assert same(round_float(number, element.bits), float(FLOATS[element.bits](number))), number


@ALL_FLOATS
def test_fractions_round_as_their_float_rounds(element: Scalar) -> None:
    for number in draw_floats(element.bits, 3000):
        if number:
            assert same(round_float(Fraction(number), element.bits), round_float(number, element.bits)), number


@ALL_FLOATS
def test_ties_go_to_even_and_once(element: Scalar) -> None:
    """Half a unit above an even and an odd number, and a hair to both sides that no float64 can hold."""
    unit = Fraction(1, 1 << {16: 10, 32: 23, 64: 52}[element.bits])
    hair = Fraction(1, 1 << 200)
    for steps in (0, 1, 2, 3):
        below, above = 1 + steps * unit, 1 + (steps + 1) * unit
        middle = (below + above) / 2
        assert round_float(middle, element.bits) == (below if steps % 2 == 0 else above)
        assert round_float(middle - hair, element.bits) == below
        assert round_float(middle + hair, element.bits) == above
        assert round_float(-middle - hair, element.bits) == -above


@pytest.mark.parametrize(
    ("element", "largest"), [(FLOAT16, 65504), (FLOAT32, (2**24 - 1) * 2**104), (FLOAT64, (2**53 - 1) * 2**971)], ids=str
)
def test_what_is_too_large_is_infinite(element: Scalar, largest: int) -> None:
    half_unit = (1 << largest.bit_length()) - largest >> 1
    assert round_float(largest, element.bits) == largest
    assert round_float(largest + half_unit - 1, element.bits) == largest
    assert round_float(largest + half_unit, element.bits) == math.inf
    assert round_float(-largest - half_unit, element.bits) == -math.inf
    assert round_float(10**400, element.bits) == math.inf
    assert round_float(-(10**400), element.bits) == -math.inf


@ALL_FLOATS
def test_the_least_numbers(element: Scalar) -> None:
    least = Fraction(1, 1 << {16: 24, 32: 149, 64: 1074}[element.bits])
    assert round_float(least, element.bits) == least
    assert round_float(least / 2, element.bits) == 0
    assert round_float(least / 2 + least / 1000, element.bits) == least
    assert same(round_float(-least / 3, element.bits), -0.0)
    assert round_float(least * 5 / 2, element.bits) == 2 * least


def test_integers_round_once() -> None:
    draw = random.Random(7)
    for _ in range(2000):
        number = draw.choice((1, -1)) * draw.getrandbits(draw.randint(1, 70))
        assert round_float(number, 64) == float(number)
    # through float64 this would first become the tie 2**53 + 2**29 * odd, and then go the wrong way
    tricky = (1 << 60) + (1 << 36) + 1
    assert round_float(tricky, 32) == (1 << 60) + (1 << 37)
    assert round_float(float(tricky), 32) == 1 << 60


@ALL_FLOATS
def test_bits_go_there_and_back(element: Scalar) -> None:
    draw = random.Random(element.bits)
    fraction = {16: 10, 32: 23, 64: 52}[element.bits]
    top = ((1 << (element.bits - 1 - fraction)) - 1) << fraction
    nans = [top | 1, top | (1 << fraction - 1), top | (1 << fraction) - 1, 1 << element.bits - 1 | top | 5]
    patterns = range(1 << 16) if element.bits == 16 else [draw.getrandbits(element.bits) for _ in range(5000)]
    for bits in (*nans, *patterns):
        number = from_bits(bits, element)
        assert to_bits(number, element) == bits
        as_numpy: Any = np.array([bits], f"u{element.bits // 8}").view(FLOATS[element.bits])
        assert same(number, as_numpy.item())


def test_bits_of_integers() -> None:
    assert to_bits(-1, INT8) == 255
    assert from_bits(255, INT8) == -1
    assert from_bits(255, UINT8) == 255
    assert from_bits(1 << 63, INT64) == -(1 << 63)


@pytest.mark.parametrize(
    ("number", "element", "expected"),
    [
        (1.9, INT8, 1),
        (-1.9, INT8, -1),
        (-0.9, UINT8, 0),
        (127.9, INT8, 127),
        (128.0, INT8, 127),
        (-129.0, INT8, -128),
        (-1.0, UINT8, 0),
        (1e30, INT64, 2**63 - 1),
        (2.0**63, UINT64, 2**63),
        (math.inf, UINT32, 2**32 - 1),
        (-math.inf, INT32, -(2**31)),
        (-math.inf, UINT32, 0),
        (math.nan, INT32, 0),
    ],
)
def test_floats_become_integers(number: float, element: Scalar, expected: int) -> None:
    assert saturate(number, element) == make_rounder(element)(number) == expected
