"""Numbers as written: their forms, and the one rounding of a float literal to the type it meets."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cajeta_dot.check.literals import (
    LiteralError,
    combine_floats,
    decode_float,
    decode_integer,
    round_exact,
    round_float,
)
from cajeta_dot.reference import numbers

WIDTHS = (16, 32, 64)


@pytest.mark.parametrize(
    ("text", "value", "is_long"),
    [
        ("0", 0, False),
        ("00", 0, False),
        ("7", 7, False),
        ("0777", 511, False),
        ("0_7", 7, False),
        ("0x0", 0, False),
        ("0xfF", 255, False),
        ("0X7f_ff", 32767, False),
        ("0b101", 5, False),
        ("0B1_0", 2, False),
        ("1_000_000", 1000000, False),
        ("9L", 9, True),
        ("9l", 9, True),
        ("0L", 0, True),
        ("0x1FL", 31, True),
        ("0b1l", 1, True),
        ("18446744073709551615", (1 << 64) - 1, False),
        ("0xFFFFFFFFFFFFFFFFL", (1 << 64) - 1, True),
        ("01777777777777777777777", (1 << 64) - 1, False),
    ],
)
def test_integers(text: str, value: int, is_long: bool) -> None:
    assert decode_integer(text) == (value, is_long)


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ("08", 1, "digit `8` is not valid in an octal literal"),
        ("0x1G", 3, "digit `G` is not valid in a hexadecimal literal"),
        ("0b12", 3, "digit `2` is not valid in a binary literal"),
        ("12ab", 2, "digit `a` is not valid in a decimal literal"),
        ("0x", 2, "needs a digit"),
        ("0bL", 2, "needs a digit"),
        ("5u", 1, "no unsigned suffix"),
        ("1_", 1, "between digits"),
        ("0x_1", 2, "between digits"),
        ("1_L", 1, "between digits"),
        ("18446744073709551616", 0, "more than 64 bits"),
        ("0x10000000000000000", 0, "more than 64 bits"),
        ("1é", 1, "digit `é`"),
    ],
)
def test_integers_that_can_not_be_read(text: str, offset: int, words: str) -> None:
    with pytest.raises(LiteralError) as error:
        decode_integer(text)
    assert error.value.offset == offset
    assert words in error.value.message


@pytest.mark.parametrize(
    ("text", "digits", "suffix"),
    [
        ("1.5", "1.5", ""),
        ("1.", "1.", ""),
        (".5", ".5", ""),
        ("1e3", "1e3", ""),
        ("1e-400f", "1e-400", "f"),
        ("0x1p4", Fraction(16), ""),
        ("0X1_0.8P-3d", Fraction(33, 16), "d"),
        ("0x.8p1F", Fraction(1), "f"),
        ("0x1.p-1074", Fraction(1, 1 << 1074), ""),
        ("1E-3F", "1E-3", "f"),
        ("1f", "1", "f"),
        ("2.5D", "2.5", "d"),
        ("1_0.2_5e1_0", "10.25e10", ""),
    ],
)
def test_floats(text: str, digits: str | Fraction, suffix: str) -> None:
    assert decode_float(text) == (digits, suffix)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        *(
            ("1_.5", 1),
            ("1._5", 2),
            ("1.5_", 3),
            ("1e", 0),
            ("1e+", 0),
            ("1.5x", 3),
            ("._1", 1),
            ("1e401", 0),
            ("1e-99999999", 0),
        ),
        *(("0x.p1", 0), ("0x1p", 0), ("0x1_.8p1", 0), ("0x1p1601", 0), ("0x1p-999999999f", 0), ("0x1g.p1", 0)),
    ],
)
def test_floats_that_can_not_be_read(text: str, offset: int) -> None:
    with pytest.raises(LiteralError) as error:
        decode_float(text)
    assert error.value.offset == offset


# ---- one rounding


def nearest(exact: Fraction, bits: int) -> float:
    """The float next to an exact number, found among numpy's neighbours of a first guess; ties to the even one."""
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[bits]
    with np.errstate(over="ignore"):
        guess = kind(float(exact)) if abs(exact) < Fraction(2) ** 1024 else kind(math.copysign(math.inf, exact))
        around = [guess, np.nextafter(guess, kind(np.inf)), np.nextafter(guess, kind(-np.inf))]
    largest = Fraction(float(np.finfo(kind).max))
    step = largest - Fraction(float(np.nextafter(np.finfo(kind).max, kind(0))))
    if abs(exact) >= largest + step / 2:
        return math.copysign(math.inf, exact)
    finite = [x for x in around if np.isfinite(x)]
    best = min(abs(Fraction(float(x)) - exact) for x in finite)
    ties = [x for x in finite if abs(Fraction(float(x)) - exact) == best]
    even = [x for x in ties if int(x.view(f"u{bits // 8}")) % 2 == 0]
    return float((even or ties)[0])


@settings(max_examples=300, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=30), st.sampled_from(WIDTHS))
def test_decimals_are_rounded_once(number: object, bits: int) -> None:
    text = str(number)
    exact = Fraction(text)
    assert round_exact(text, bits) == nearest(exact, bits) == numbers.round_float(exact, bits)
    assert round_exact(exact, bits) == nearest(exact, bits)


@settings(max_examples=300, deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-3, 3), st.sampled_from((16, 32)))
def test_beside_the_middle_of_two_floats(number: float, nudge: int, bits: int) -> None:
    """Where rounding to float64 first would land exactly on the middle and then go to the wrong side."""
    kind = np.float32 if bits == 32 else np.float16
    with np.errstate(over="ignore"):
        low = kind(number)
        high = np.nextafter(low, kind(np.inf))
    if not np.isfinite(low) or not np.isfinite(high):
        return
    exact = (Fraction(float(low)) + Fraction(float(high))) / 2 + Fraction(nudge, 10**40)
    assert round_exact(exact, bits) == nearest(exact, bits)
    assert math.copysign(1, round_exact(exact, bits)) == math.copysign(1, nearest(exact, bits)) or exact == 0


@settings(max_examples=200, deadline=None)
@given(st.integers(-(1 << 70), 1 << 70), st.sampled_from(WIDTHS))
def test_integers_become_the_nearest_float(number: int, bits: int) -> None:
    assert round_exact(number, bits) == nearest(Fraction(number), bits)


@pytest.mark.parametrize(
    ("number", "bits", "value"),
    [
        ("1.00000005960464477539062500000001", 32, 1.00000011920928955078125),  # float64 lies on the middle, 1e-26 above it
        ("1.000000059604644775390625", 32, 1.0),
        ("1.00000017881393432617187499999999", 32, 1.00000011920928955078125),
        ("16777217", 32, 16777216.0),
        (16777219, 32, 16777220.0),
        ((1 << 63) + (1 << 39), 32, float(1 << 63)),
        ((1 << 63) + (1 << 39) + 1, 32, float((1 << 63) + (1 << 40))),
        ("340282356779733661637539395458142568447", 32, 3.4028234663852886e38),
        ("340282356779733661637539395458142568448", 32, math.inf),
        ("65519.999", 16, 65504.0),
        ("65520", 16, math.inf),
        ("-65520", 16, -math.inf),
        ("1e400", 64, math.inf),
        ("-1e400", 64, -math.inf),
        (10**400, 64, math.inf),
        (Fraction(-(10**400)), 32, -math.inf),
        ("7.00649232162408535461864791644958e-46", 32, 0.0),  # half of the least float32
        ("7.00649232162408535461864791644959e-46", 32, 1.401298464324817e-45),
        ("1e-400", 64, 0.0),
    ],
)
def test_known_roundings(number: int | str | Fraction, bits: int, value: float) -> None:
    assert round_exact(number, bits) == value


@given(st.floats(), st.sampled_from(WIDTHS))
def test_rounding_a_float_is_what_numpy_does(number: float, bits: int) -> None:
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[bits]
    with np.errstate(over="ignore"):
        expected = float(kind(number))
    rounded = round_float(number, bits)
    assert rounded == expected or (math.isnan(rounded) and math.isnan(expected))
    assert math.copysign(1, rounded) == math.copysign(1, expected) or math.isnan(expected)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(-1000, 1000))
def test_operators_on_float_literals_are_exact(a: object, b: int) -> None:
    x, y = Fraction(str(a)), Fraction(b)
    assert combine_floats("+", str(a), b) == x + y
    assert combine_floats("-", str(a), b) == x - y
    assert combine_floats("*", str(a), b) == x * y
    assert combine_floats("/", str(a), b) == (x / y if y else None)
    assert combine_floats("%", str(a), b) is None
