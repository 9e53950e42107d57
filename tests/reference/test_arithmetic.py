"""Arithmetic of single operations, against numpy at edges and at random, and against rules where numpy has others."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cajeta_dot.run.errors import DivisionError
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Scalar,
    Vector,
)

Evaluate = Callable[..., Any]
INTEGERS = [INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64]
FLOATS = [FLOAT16, FLOAT32, FLOAT64]


def draw_integers(element: Scalar, count: int, seed: int) -> list[int]:
    """The edges of bytes and of the type, then anything."""
    draw = random.Random(seed)
    edges = [element.wrap(n) for n in (0, 1, -1, 127, 128, 255, element.low, element.high, element.low + 1)]
    drawn = edges + [draw.randint(element.low, element.high) for _ in range(count - len(edges))]
    draw.shuffle(drawn)
    return drawn


def draw_floats(element: Scalar, count: int, seed: int) -> list[float]:
    """Any bit patterns, and the special numbers."""
    draw = random.Random(seed)
    drawn = [draw.getrandbits(element.bits) for _ in range(count)]
    array: Any = np.array(drawn, f"u{element.bits // 8}").view(str(element))
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.5, 0.5, 2.5]
    return special + array.tolist()[len(special) :]


def same_bits(got: tuple[float, ...], expected: Any, element: Scalar) -> bool:
    made: Any = np.array(got, str(element))
    view = f"u{element.bits // 8}"
    return bool(np.all((made.view(view) == expected.view(view)) | (np.isnan(made) & np.isnan(expected))))


NUMPY_INTEGERS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
}


@pytest.mark.parametrize("element", INTEGERS, ids=str)
@pytest.mark.parametrize("op", NUMPY_INTEGERS)
def test_integers_as_numpy(evaluate: Evaluate, op: str, element: Scalar) -> None:
    a, b = draw_integers(element, 200, 1), draw_integers(element, 200, 2)
    type = Vector(element, 200)
    expected = NUMPY_INTEGERS[op](np.array(a, str(element)), np.array(b, str(element)))
    assert evaluate(op, type, (type, tuple(a)), (type, tuple(b))) == tuple(expected.tolist())


@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_one_operand(evaluate: Evaluate, element: Scalar) -> None:
    a = draw_integers(element, 200, 3)
    type, array = Vector(element, 200), np.array(a, str(element))

    def run(op: str) -> Any:
        return evaluate(op, type, (type, tuple(a)))

    assert run("neg") == tuple((-array).tolist())
    assert run("not") == tuple((~array).tolist())
    assert run("abs") == tuple(np.abs(array).tolist())
    words = [format(n % (1 << element.bits), f"0{element.bits}b") for n in a]
    assert run("count_ones") == tuple(element.wrap(word.count("1")) for word in words)
    assert run("reverse_bits") == tuple(element.wrap(int(word[::-1], 2)) for word in words)


@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_shifts_and_rotations(evaluate: Evaluate, element: Scalar) -> None:
    a = draw_integers(element, 200, 4)
    counts = [place % element.bits for place in range(200)]
    type = Vector(element, 200)
    operands = (type, tuple(a)), (type, tuple(counts))
    array, by = np.array(a, str(element)), np.array(counts, str(element))
    assert evaluate("shl", type, *operands) == tuple((array << by).tolist())
    assert evaluate("shr", type, *operands) == tuple((array >> by).tolist())
    for op, left in (("rotate_left", 1), ("rotate_right", -1)):
        words = [format(n % (1 << element.bits), f"0{element.bits}b") for n in a]
        turned = [
            int(word[left * c % element.bits :] + word[: left * c % element.bits], 2)
            for word, c in zip(words, counts, strict=True)
        ]
        assert evaluate(op, type, *operands) == tuple(map(element.wrap, turned))


@pytest.mark.parametrize("count", [-1, 8, 100])
def test_a_shift_count_must_have_been_masked(evaluate: Evaluate, count: int) -> None:
    with pytest.raises(ValueError, match=f"shift count {count} for 8 bits"):
        evaluate("shl", INT8, (INT8, 1), (INT8, count))


def test_a_rotation_counts_modulo_the_width(evaluate: Evaluate) -> None:
    assert evaluate("rotate_left", UINT8, (UINT8, 0x81), (UINT8, 9)) == 0x03
    assert evaluate("rotate_right", INT32, (INT32, 1), (INT32, -31)) == -(2**31)


# ---- division


@pytest.mark.parametrize(
    ("a", "b", "quotient", "rest"),
    [(7, 2, 3, 1), (-7, 2, -3, -1), (7, -2, -3, 1), (-7, -2, 3, -1), (-128, 1, -128, 0), (127, -128, 0, 127), (0, -5, 0, 0)],
)
def test_division_is_toward_zero(evaluate: Evaluate, a: int, b: int, quotient: int, rest: int) -> None:
    for checks in (True, False):
        assert evaluate("div", INT8, (INT8, a), (INT8, b), checks=checks) == quotient
        assert evaluate("rem", INT8, (INT8, a), (INT8, b), checks=checks) == rest


@pytest.mark.parametrize("op", ["div", "rem"])
@pytest.mark.parametrize(("a", "b", "said"), [(5, 0, "division by zero"), (-128, -1, "-128 / -1 does not fit its type")])
def test_scalars_fault_where_checks_are_on(evaluate: Evaluate, op: str, a: int, b: int, said: str) -> None:
    with pytest.raises(DivisionError, match=rf"t\.cj:1: {said}"):
        evaluate(op, INT8, (INT8, a), (INT8, b))
    assert evaluate(op, INT8, (INT8, a), (INT8, b), checks=False) == (-128 if op == "div" and b else 0)


def test_unsigned_division_has_no_minus_one(evaluate: Evaluate) -> None:
    assert evaluate("div", UINT8, (UINT8, 128), (UINT8, 255)) == 0
    assert evaluate("rem", UINT8, (UINT8, 128), (UINT8, 255)) == 128


def test_lanes_never_fault(evaluate: Evaluate) -> None:
    type = Vector(INT32, 4)
    operands = (type, (7, -(2**31), -(2**31), -7)), (type, (0, -1, 0, 2))
    assert evaluate("div", type, *operands) == (0, -(2**31), 0, -3)
    assert evaluate("rem", type, *operands) == (0, 0, 0, -1)


# ---- floats


@pytest.mark.parametrize("element", FLOATS, ids=str)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_floats_round_once(evaluate: Evaluate, op: str, element: Scalar) -> None:
    a, b = draw_floats(element, 256, 5), draw_floats(element, 256, 6)
    b.reverse()
    type = Vector(element, 256)
    numpy = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op]
    with np.errstate(all="ignore"):
        expected = numpy(np.array(a, str(element)), np.array(b, str(element)))
    assert same_bits(evaluate(op, type, (type, tuple(a)), (type, tuple(b))), expected, element)


SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_division_by_special_numbers(evaluate: Evaluate, element: Scalar) -> None:
    pairs = [(a, b) for a in SPECIAL for b in SPECIAL]
    type = Vector(element, len(pairs))
    a, b = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    with np.errstate(all="ignore"):
        expected = np.array(a, str(element)) / np.array(b, str(element))
        rest = np.fmod(np.array(a, str(element)), np.array(b, str(element)))
    assert same_bits(evaluate("div", type, (type, a), (type, b)), expected, element)
    assert same_bits(evaluate("rem", type, (type, a), (type, b)), rest, element)


@pytest.mark.parametrize("element", FLOATS, ids=str)
@pytest.mark.parametrize("op", ["floor", "ceil", "trunc", "sqrt", "neg", "abs"])
def test_floats_of_one_operand(evaluate: Evaluate, op: str, element: Scalar) -> None:
    a = draw_floats(element, 256, 7)
    type = Vector(element, 256)
    numpy = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "sqrt": np.sqrt, "neg": np.negative, "abs": np.abs}[op]
    with np.errstate(all="ignore"):
        expected = numpy(np.array(a, str(element)))
    assert same_bits(evaluate(op, type, (type, tuple(a))), expected, element)


def test_ties_round_away_from_zero(evaluate: Evaluate) -> None:
    type = Vector(FLOAT32, 8)
    halves = (0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.25, 8388607.5)
    got = evaluate("round", type, (type, halves))
    assert same_bits(got, np.array([1, -1, 2, 3, -3, 0.0, -0.0, 8388608], "float32"), FLOAT32)
    assert all(math.isnan(a) if math.isnan(b) else a == b for b in SPECIAL for a in [evaluate("round", FLOAT64, (FLOAT64, b))])


def test_a_nan_loses(evaluate: Evaluate) -> None:
    for op, of_both in (("min", 1.0), ("max", 2.0)):
        assert evaluate(op, FLOAT32, (FLOAT32, 1.0), (FLOAT32, 2.0)) == of_both
        assert evaluate(op, FLOAT32, (FLOAT32, math.nan), (FLOAT32, 2.0)) == 2.0
        assert evaluate(op, FLOAT32, (FLOAT32, 1.0), (FLOAT32, math.nan)) == 1.0
        assert math.isnan(evaluate(op, FLOAT32, (FLOAT32, math.nan), (FLOAT32, math.nan)))


@pytest.mark.parametrize(
    ("a", "b", "c", "expected"),
    [
        (1 + 2.0**-12, 1 + 2.0**-12, -(1 + 2.0**-11), 2.0**-24),  # the product rounded first would give 0
        (math.inf, 0.0, 1.0, math.nan),
        (math.inf, 1.0, -math.inf, math.nan),
        (2.0, 3.0, math.inf, math.inf),
        (-0.0, 1.0, -0.0, -0.0),
        (-0.0, 1.0, 0.0, 0.0),
        (2.0, 3.0, -6.0, 0.0),
        (-(2.0**-100), 2.0**-100, -0.0, -0.0),
        (2.0**-100, 2.0**-100, 1.0, 1.0),
        (3e38, 10.0, -3e38, math.inf),
    ],
)
def test_fma_rounds_once(evaluate: Evaluate, a: float, b: float, c: float, expected: float) -> None:
    operands = [(FLOAT32, float(np.float32(number))) for number in (a, b, c)]
    got = evaluate("fma", FLOAT32, *operands)
    assert math.isnan(got) if math.isnan(expected) else (got, math.copysign(1, got)) == (expected, math.copysign(1, expected))


def test_fma_of_float64_does_not_overflow_on_the_way(evaluate: Evaluate) -> None:
    assert evaluate("fma", FLOAT64, (FLOAT64, 1e308), (FLOAT64, 10.0), (FLOAT64, -math.inf)) == -math.inf
    assert evaluate("fma", FLOAT64, (FLOAT64, 2.0**1023), (FLOAT64, 2.0), (FLOAT64, -(2.0**1023))) == 2.0**1023


# ---- booleans and comparisons


def test_booleans(evaluate: Evaluate) -> None:
    for a in (False, True):
        assert evaluate("not", BOOLEAN, (BOOLEAN, a)) is (not a)
        for b in (False, True):
            pair = (BOOLEAN, a), (BOOLEAN, b)
            results = {"and": a and b, "or": a or b, "xor": a != b, "eq": a == b, "ne": a != b}
            assert all(evaluate(op, BOOLEAN, *pair) is expected for op, expected in results.items())


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("eq", (False, True, False, False)),
        ("ne", (True, False, True, True)),
        ("lt", (True, False, False, False)),
        ("le", (True, True, False, False)),
        ("gt", (False, False, True, False)),
        ("ge", (False, True, True, False)),
    ],
)
def test_comparisons(evaluate: Evaluate, op: str, expected: tuple[bool, ...]) -> None:
    type, mask = Vector(FLOAT64, 4), Vector(BOOLEAN, 4)
    assert evaluate(op, mask, (type, (1.0, -0.0, 3.0, math.nan)), (type, (2.0, 0.0, 2.0, math.nan))) == expected
