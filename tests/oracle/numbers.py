"""Operands for the oracle: the edges of every type and random bits; and when two results count as the same bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.types import BOOLEAN, Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Elements = NDArray[Any]

_LARGEST = {16: 65504.0, 32: float(np.finfo(np.float32).max), 64: float(np.finfo(np.float64).max)}
_LEAST = {16: 2.0**-24, 32: 2.0**-149, 64: 5e-324}
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 3.0, 127.5, -128.5, 255.0, 2147483648.0, -2147483904.0, 1e20)


def dtype_of(type: Scalar) -> np.dtype[Any]:
    return np.dtype("bool" if type == BOOLEAN else str(type))


def edges(type: Scalar) -> Elements:
    """The numbers at which things go wrong: both ends and their neighbours, zero and its neighbours, bits alternating."""
    if type == BOOLEAN:
        return np.array([False, True])
    if type.is_float:
        special = (
            math.nan,
            math.inf,
            -math.inf,
            _LARGEST[type.bits],
            -_LARGEST[type.bits],
            _LEAST[type.bits],
            -_LEAST[type.bits],
        )
        with np.errstate(over="ignore"):
            return np.array([*_FLOATS, *special], dtype_of(type))
    numbers = {0, 1, 2, 7, 100, type.low, type.low + 1, type.high, type.high - 1, type.high // 2 + 1, type.high // 3}
    if type.is_signed:
        numbers |= {-1, -2, -7, -100}
    return np.array(sorted(numbers), dtype_of(type))


def few_edges(type: Scalar) -> Elements:
    """The most telling edges, for products of operands."""
    if not type.is_integer:
        return edges(type)[::3] if type.is_float else edges(type)
    numbers = {0, 1, type.low, type.high, -1 if type.is_signed else type.high // 2 + 1}
    return np.array(sorted(numbers), dtype_of(type))


def random_bits(type: Scalar, count: int, seed: int) -> Elements:
    """Numbers of any bits; floats too, so that some are subnormal, infinite or not numbers."""
    random = np.random.default_rng(seed)
    if type == BOOLEAN:
        return random.integers(0, 2, count).astype(bool)
    return random.integers(0, 256, count * type.bits // 8, np.uint8).view(dtype_of(type))


def differing(actual: Elements, expected: Elements, zeros_alike: bool = False) -> list[int]:
    """The places at which two arrays are not equal bit for bit; one NaN is as good as another.

    `zeros_alike`: where it is left open which zero an operation gives.
    """
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    alike = actual == expected
    if actual.dtype.kind == "f":
        if not zeros_alike:
            alike &= np.signbit(actual) == np.signbit(expected)
        alike |= np.isnan(actual) & np.isnan(expected)
    places: list[int] = np.flatnonzero(~alike).tolist()
    return places


def to_python(array: Elements) -> list[Any]:
    """The elements as exact Python numbers."""
    numbers: list[Any] = array.tolist()
    return numbers


def from_python(numbers: Sequence[Any], type: Scalar) -> Elements:
    """Numbers of the type as an array of it."""
    return np.array(list(numbers), dtype_of(type))
