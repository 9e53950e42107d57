"""Conversions, lanes, dot and sum, methods, and what reads and writes arrays."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.run.errors import BoundsError, LaneIndexError
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    SCALARS,
    UINT8,
    UINT32,
    UINT64,
    VOID,
    Array,
    Scalar,
    Vector,
)

if TYPE_CHECKING:
    from cajeta_dot.reference.numbers import Rounder

Evaluate = Callable[..., Any]
I4, MASK4 = Vector(INT32, 4), Vector(BOOLEAN, 4)

CONVERSIONS: list[tuple[Scalar, Any, Scalar, Any]] = [
    (INT32, -1, UINT8, 255),
    (INT32, 200, INT8, -56),
    (UINT8, 255, INT32, 255),
    (INT8, -1, UINT64, 2**64 - 1),
    (INT64, 2**40 + 5, INT16, 5),
    (INT32, 16777217, FLOAT32, 16777216.0),
    (INT32, 16777219, FLOAT32, 16777220.0),
    (UINT64, 2**64 - 1, FLOAT32, 2.0**64),
    (UINT64, 2**63 + 2**39 + 1, FLOAT32, 2.0**63 + 2.0**40),
    (INT64, -(2**53) - 1, FLOAT64, -(2.0**53)),
    (INT32, 65520, FLOAT16, math.inf),
    (INT32, 65519, FLOAT16, 65504.0),
    (FLOAT64, 0.1, FLOAT32, float(np.float32(0.1))),
    (FLOAT64, 1 + 2.0**-11 + 2.0**-30, FLOAT16, 1 + 2.0**-10),  # through float32 this would be a tie
    (FLOAT32, 3e38, FLOAT16, math.inf),
    (FLOAT16, 2.0**-24, FLOAT64, 2.0**-24),
    (FLOAT32, -2.9, INT32, -2),
    (FLOAT32, 3e9, INT32, 2**31 - 1),
    (FLOAT32, -5.0, UINT32, 0),
    (FLOAT64, math.nan, INT64, 0),
    (FLOAT64, 300.0, INT8, 127),
]


@pytest.mark.parametrize(("old", "number", "new", "expected"), CONVERSIONS)
def test_conversions(evaluate: Evaluate, old: Scalar, number: Any, new: Scalar, expected: Any) -> None:
    got = evaluate("convert", new, (old, number))
    assert got == expected
    assert type(got) is type(expected)
    assert evaluate("convert", Vector(new, 2), (Vector(old, 2), (number, number))) == (expected, expected)


def test_reinterpretation_as_numpy(evaluate: Evaluate) -> None:
    """Every pair of element types, sixteen bytes of anything; lane 0 is the low end."""
    content = random.Random(9).randbytes(16)
    numbers = [scalar for scalar in SCALARS.values() if scalar.is_number]

    def lanes(scalar: Scalar) -> Any:
        return np.frombuffer(content, np.dtype(str(scalar)).newbyteorder("<"))

    for old in numbers:
        for new in numbers:
            types = Vector(old, 128 // old.bits), Vector(new, 128 // new.bits)
            got = evaluate("reinterpret", types[1], (types[0], tuple(lanes(old).tolist())))
            assert np.array(got, str(new)).tobytes() == content, (str(old), str(new))


def test_reinterpretation_of_one_scalar(evaluate: Evaluate) -> None:
    assert evaluate("reinterpret", INT32, (Vector(UINT8, 4), (0x78, 0x56, 0x34, 0x92))) == 0x92345678 - 2**32
    assert evaluate("reinterpret", Vector(INT16, 2), (UINT32, 0xFFFF0001)) == (1, -1)
    assert evaluate("reinterpret", FLOAT32, (INT32, 0x3F800000)) == 1.0
    assert evaluate("reinterpret", UINT8, (INT8, -1)) == 255


def test_selection(evaluate: Evaluate) -> None:
    assert evaluate("select", INT32, (BOOLEAN, True), (INT32, 1), (INT32, 2)) == 1
    assert evaluate("select", INT32, (BOOLEAN, False), (INT32, 1), (INT32, 2)) == 2
    vectors = (I4, (1, 2, 3, 4)), (I4, (5, 6, 7, 8))
    assert evaluate("select", I4, (BOOLEAN, False), *vectors) == (5, 6, 7, 8)
    assert evaluate("select", I4, (MASK4, (True, False, False, True)), *vectors) == (1, 6, 7, 4)


def test_lanes(evaluate: Evaluate) -> None:
    vector = (I4, (10, 11, 12, 13))
    assert evaluate("splat", I4, (INT32, 7)) == (7, 7, 7, 7)
    assert evaluate("build", I4, *[(INT32, n) for n in (4, 3, 2, 1)]) == (4, 3, 2, 1)
    assert evaluate("build", Vector(INT32, 1), (INT32, 4)) == (4,)
    assert evaluate("extract", INT32, vector, attr=2) == 12
    assert evaluate("insert", I4, vector, (INT32, 0), attr=3) == (10, 11, 12, 0)
    assert evaluate("shuffle", Vector(INT32, 3), vector, (I4, (20, 21, 22, 23)), attr=(7, 0, 3)) == (23, 10, 13)


@pytest.mark.parametrize(
    ("type", "index", "lane"),
    [(INT8, 0, 0), (UINT8, 3, 3), (INT32, -1, 3), (UINT8, 255, 3), (INT64, 6, 2), (UINT64, 2**64 - 3, 1)],
)
def test_lanes_by_run_time_index(evaluate: Evaluate, type: Scalar, index: int, lane: int) -> None:
    vector = (I4, (10, 11, 12, 13))
    replaced = tuple(99 if place == lane else 10 + place for place in range(4))
    assert evaluate("extract_at", INT32, vector, (type, index), checks=False) == 10 + lane
    assert evaluate("insert_at", I4, vector, (type, index), (INT32, 99), checks=False) == replaced
    if index == lane:
        assert evaluate("extract_at", INT32, vector, (type, index)) == 10 + lane
        assert evaluate("insert_at", I4, vector, (type, index), (INT32, 99)) == replaced
        return
    for op, result, operands in (("extract_at", INT32, []), ("insert_at", I4, [(INT32, 99)])):
        with pytest.raises(LaneIndexError, match=rf"t\.cj:1: lane {index} of a vector of 4 lanes") as caught:
            evaluate(op, result, vector, (type, index), *operands)
        assert (caught.value.index, caught.value.lanes) == (index, 4)


def test_a_lane_index_counts_as_unsigned(evaluate: Evaluate) -> None:
    """Where the lanes are no power of two it matters: -1 of 8 bits is 255, the first of three."""
    vector = (Vector(INT8, 3), (5, 6, 7))
    assert evaluate("extract_at", INT8, vector, (INT8, -1), checks=False) == 5
    assert evaluate("extract_at", INT8, vector, (INT32, -1), checks=False) == 5
    assert evaluate("extract_at", INT8, vector, (INT16, -2), checks=False) == 7


# ---- across lanes


@pytest.mark.parametrize("w_element", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("x_element", [INT8, UINT8], ids=str)
def test_dot(evaluate: Evaluate, w_element: Scalar, x_element: Scalar) -> None:
    draw = random.Random(3)
    edges = [0, 1, 127, 128, 255]
    w, x = ([element.wrap(draw.choice([*edges, draw.getrandbits(8)])) for _ in range(16)] for element in (w_element, x_element))
    accumulator = (2**31 - 1, -(2**31), 0, -7)
    products = [a * b for a, b in zip(w, x, strict=True)]
    by_four = tuple(INT32.wrap(a + sum(products[4 * j : 4 * j + 4])) for j, a in enumerate(accumulator))
    operands = (Vector(w_element, 16), tuple(w)), (Vector(x_element, 16), tuple(x))
    assert evaluate("dot", I4, *operands, (I4, accumulator)) == by_four
    one = Vector(INT32, 1)
    assert evaluate("dot", one, *operands, (one, (2**31 - 1,))) == (INT32.wrap(2**31 - 1 + sum(products)),)


def test_the_dot_of_the_language_reference(evaluate: Evaluate) -> None:
    weights, activations, zero = (0, 5, 10, 15), (-127, -90, -53, -16), (Vector(INT32, 1), (0,))
    mixed = (Vector(UINT8, 4), weights), (Vector(INT8, 4), activations)
    unsigned = (Vector(UINT8, 4), weights), (Vector(UINT8, 4), tuple(a + 256 for a in activations))
    assert evaluate("dot", Vector(INT32, 1), *mixed, zero) == (-1220,)
    assert evaluate("dot", Vector(INT32, 1), *unsigned, zero) == (6460,)


def test_sums(evaluate: Evaluate) -> None:
    assert evaluate("sum", INT32, (I4, (2**31 - 1, 1, 5, -3))) == -(2**31) + 2
    assert evaluate("sum", UINT64, (Vector(UINT64, 2), (2**64 - 1, 3))) == 2
    # lanes in order: 1 disappears in 2**24 each time, -0.0 stays
    assert evaluate("sum", FLOAT32, (Vector(FLOAT32, 4), (2.0**24, 1.0, 1.0, 1.0))) == 2.0**24
    assert evaluate("sum", FLOAT32, (Vector(FLOAT32, 4), (1.0, 1.0, 1.0, 2.0**24))) == 2.0**24 + 4
    assert math.copysign(1, evaluate("sum", FLOAT32, (Vector(FLOAT32, 1), (-0.0,)))) == -1


def test_masks(evaluate: Evaluate) -> None:
    for mask in ((True,) * 4, (False,) * 4, (False, True, False, False)):
        assert evaluate("any", BOOLEAN, (MASK4, mask)) is any(mask)
        assert evaluate("all", BOOLEAN, (MASK4, mask)) is all(mask)


# ---- methods


def test_the_meaning_of_a_row_is_brought_into_the_type(evaluate: Evaluate) -> None:
    def double(round: Rounder, lanes: tuple[int, ...]) -> list[int]:
        assert round(300) == 44
        return [2 * lane for lane in lanes]

    row = SimpleNamespace(name="double", meaning=double)
    assert evaluate("method", Vector(INT8, 3), (Vector(INT16, 3), (1, 64, 200)), attr=row) == (2, -128, -112)
    row = SimpleNamespace(name="third", meaning=lambda round, number: number / 3)  # pyright: ignore
    assert evaluate("method", FLOAT32, (FLOAT32, 1.0), attr=row) == float(np.float32(1 / 3))


def test_a_row_of_the_wrong_number_of_lanes_is_a_mistake(evaluate: Evaluate) -> None:
    row = SimpleNamespace(name="half", meaning=lambda _, lanes: lanes[::2])  # pyright: ignore
    with pytest.raises(ValueError, match="the meaning of half gives 2 lanes, its type has 4"):
        evaluate("method", I4, (I4, (1, 2, 3, 4)), attr=row)


# ---- memory

ELEMENTS = list(SCALARS.values())


def make_array(element: Scalar, count: int, seed: int = 1) -> Any:
    """Elements of any bits, NaNs among the floats."""
    if element == BOOLEAN:
        return np.array([True, False] * count)[:count]
    made = np.frombuffer(random.Random(seed).randbytes(count * element.bits // 8), str(element)).copy()
    if element.is_float:
        made.view(f"u{element.bits // 8}")[3] = {16: 0x7C01, 32: 0xFF800001, 64: 0x7FF0000000000001}[element.bits]
    return made


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_elements_go_through_unchanged(evaluate: Evaluate, element: Scalar) -> None:
    source, target = make_array(element, 8), make_array(element, 8, seed=2)
    type = Array(element, "array")
    for place in range(8):
        content = evaluate("load", element, (type, source), (INT32, place))
        evaluate("store", VOID, (type, target), (UINT8, place), (element, content))
    assert target.tobytes() == source.tobytes()


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_lanes_go_through_unchanged(evaluate: Evaluate, element: Scalar) -> None:
    if element == BOOLEAN:
        return  # no vector has boolean lanes in memory
    source, target = make_array(element, 16), make_array(element, 16, seed=2)
    before, type, lanes = target.copy(), Array(element, "array"), Vector(element, 8)
    content = evaluate("load", lanes, (type, source), (INT32, 3))
    evaluate("store", VOID, (type, target), (INT64, 5), (lanes, content))
    assert target[5:13].tobytes() == source[3:11].tobytes()
    assert target[:5].tobytes() + target[13:].tobytes() == before[:5].tobytes() + before[13:].tobytes()


@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize(
    ("type", "index", "lanes"),
    [(INT32, 8, 1), (INT32, -1, 1), (UINT64, 2**64 - 1, 1), (INT64, -(2**63), 1), (UINT8, 5, 4), (INT8, -1, 4), (UINT32, 8, 4)],
)
def test_outside_an_array_nothing_is_touched(evaluate: Evaluate, type: Scalar, index: int, lanes: int, checks: bool) -> None:
    array = np.arange(8, dtype="int32")
    operands = (Array(INT32, "array"), array), (type, index)
    content = (INT32, 9) if lanes == 1 else (Vector(INT32, lanes), (9,) * lanes)
    what = f"element {index}" if lanes == 1 else rf"elements {index}\.\.{index + lanes - 1}"
    for op, result, stored in (("load", content[0], []), ("store", VOID, [content])):
        with pytest.raises(BoundsError, match=rf"t\.cj:1: {what} of an array of length 8") as caught:
            evaluate(op, result, *operands, *stored, checks=checks)
        error = caught.value
        assert (error.file, error.line, error.index, error.lanes, error.length) == ("t.cj", 1, index, lanes, 8)
    assert array.tolist() == list(range(8))


def test_lengths(evaluate: Evaluate) -> None:
    assert evaluate("length", INT64, (Array(INT8, "array"), np.zeros(0, "int8"))) == 0
    assert evaluate("length", INT64, (Array(INT8, "array"), np.zeros(5, "int8"))) == 5
