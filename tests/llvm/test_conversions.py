"""`convert` between all number types, and float16, which most processors know little of."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.types import FLOAT16, FLOAT32, FLOAT64, SCALARS, UINT16, Scalar, Vector, with_element

from . import oracle
from .programs import RUNNABLE_KERNELS, Shape, apply, apply_all, dtype_of, load, make_program, run_all, run_lanes
from .values import edges, fill, same

if TYPE_CHECKING:
    from cajeta_dot.backends import Entry
    from cajeta_dot.ir import Function

    from .programs import Build

NUMBERS = [scalar for scalar in SCALARS.values() if scalar.is_number]
WIDTHS = (None, 1, 3, 8)
ITEMS = 8


def shape(element: Scalar, lanes: int | None) -> Shape:
    return element if lanes is None else Vector(element, lanes)


def convert_to(element: Scalar) -> Build:
    return lambda b, v: b.convert(v[0], element)


@cache
def entries(target: str, source: Scalar) -> dict[str, Entry]:
    functions: list[Function] = []
    for lanes in WIDTHS:
        type = shape(source, lanes)
        made = {str(e): (with_element(type, e), convert_to(e)) for e in NUMBERS}
        functions.append(apply_all(str(lanes), [type], made))
    return load(make_program(*functions), target)


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("source", NUMBERS, ids=str)
def test_each_number_type_becomes_each_other(source: Scalar, lanes: int | None, target: str) -> None:
    count = -(-len(edges(source)) // (ITEMS * (lanes or 1))) * ITEMS
    numbers = fill(edges(source), count * (lanes or 1))
    types = [with_element(shape(source, lanes), element) for element in NUMBERS]
    array = np.array(numbers, dtype_of(source))
    for element, got in zip(NUMBERS, run_all(entries(target, source)[str(lanes)], types, [array], count), strict=True):
        with np.errstate(over="ignore"):
            wanted = np.array([oracle.convert(number, source, element) for number in numbers], got.dtype)
        wrong = [k for k in range(len(got)) if not same(got[k : k + 1], wanted[k : k + 1])]
        assert not wrong, f"{source} {numbers[wrong[0]]} as {element}: {got[wrong[0]]}, not {wanted[wrong[0]]}"


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
@pytest.mark.parametrize("element", [FLOAT32, FLOAT64], ids=str)
def test_every_float16_widens_exactly(element: Scalar, target: str) -> None:
    lanes = 16
    kernel = apply("widen", [Vector(FLOAT16, lanes)], Vector(element, lanes), convert_to(element))
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    got = run_lanes(load(make_program(kernel), target)["widen"], Vector(element, lanes), [halves], 65536 // lanes)
    assert same(got, halves.astype(dtype_of(element)))


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
@pytest.mark.parametrize("element", [FLOAT32, FLOAT64], ids=str)
def test_floats_round_once_to_the_nearest_float16(element: Scalar, target: str) -> None:
    """Every float16, what lies halfway to the next one, and that a hair more and less."""
    dtype = dtype_of(element)
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    middles = (halves[:-1] + halves[1:]) / 2
    middles = np.append(middles, 65520.0).astype(dtype)
    with np.errstate(all="ignore"):
        numbers = np.concatenate(
            [halves.astype(dtype), middles, np.nextafter(middles, dtype.type(0)), np.nextafter(middles, dtype.type(np.inf))]
        )
        numbers = np.concatenate([numbers, -numbers, np.array([np.inf, -np.inf, np.nan, 1e300, 1e-300], dtype)])
        numbers = np.resize(numbers, -(-len(numbers) // 64) * 64)
        wanted = numbers.astype(np.float16)
    kernel = apply("narrow", [Vector(element, 8)], Vector(FLOAT16, 8), convert_to(FLOAT16))
    got = run_lanes(load(make_program(kernel), target)["narrow"], Vector(FLOAT16, 8), [numbers], len(numbers) // 8)
    assert same(got, wanted)


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
def test_a_float16_that_only_moves_keeps_its_bits(target: str) -> None:
    kernel = apply("move", [Vector(FLOAT16, 8)], Vector(FLOAT16, 8), lambda b, v: b.shuffle(v[0], v[0], range(7, -1, -1)))
    bits = np.arange(65536, dtype=np.uint16)
    got = run_lanes(load(make_program(kernel), target)["move"], Vector(FLOAT16, 8), [bits.view(np.float16)], 8192)
    assert (got.view(np.uint16) == bits.reshape(-1, 8)[:, ::-1].reshape(-1)).all()


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
def test_a_float16_read_as_bits_and_back(target: str) -> None:
    kernel = apply("read", [FLOAT16], UINT16, lambda b, v: b.reinterpret(v[0], UINT16))
    bits = np.arange(0, 65536, 7, dtype=np.uint16)[:8192]
    assert (run_lanes(load(make_program(kernel), target)["read"], UINT16, [bits.view(np.float16)], len(bits)) == bits).all()
