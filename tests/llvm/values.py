"""Values that go wrong first: ends of ranges, signs, ties, what rounds and what does not."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.types import BOOLEAN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cajeta_dot.types import Scalar


def edges(element: Scalar) -> list[Any]:
    """Values of a type, the same in each run."""
    if element == BOOLEAN:
        return [False, True]
    if element.is_integer:
        top = 1 << element.bits
        raw = [
            0,
            1,
            2,
            3,
            5,
            7,
            15,
            127,
            128,
            200,
            255,
            top // 2 - 1,
            top // 2,
            top // 2 + 1,
            top - 1,
            top - 2,
            top // 3,
            top // 5,
        ]
        return sorted({element.wrap(number) for number in raw})
    ends = {
        16: [65504.0, 65472.0, 2.0**-24, 2.0**-14, 6.0975551605e-05, 2049.0 / 2048, 1023.5, 0.49975586],
        32: [
            3.4028234663852886e38,
            2.0**-149,
            2.0**-126,
            8388607.5,
            8388609.0,
            16777217.0,
            0.49999997,
            2147483520.0,
            4294967040.0,
        ],
        64: [
            1.7976931348623157e308,
            5e-324,
            2.0**-1022,
            2.0**52 + 1,
            2.0**53 - 1,
            0.49999999999999994,
            9223372036854774784.0,
            1e300,
        ],
    }[element.bits]
    plain = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.5,
        3.0,
        100.25,
        127.0,
        128.0,
        255.0,
        256.0,
        32768.0,
        65535.0,
        65520.0,
        65519.996,
        1e9,
        2.0**31,
        2.0**63,
    ]
    with np.errstate(all="ignore"):
        rounded = np.array([*plain, *ends, math.inf], f"float{element.bits}").astype(float).tolist()
    numbers = list(dict.fromkeys(rounded))
    return [*numbers, *(-number for number in numbers), math.nan]


def pairs(element: Scalar) -> tuple[list[Any], list[Any]]:
    """Every edge with every edge."""
    both = list(itertools.product(edges(element), repeat=2))
    return [a for a, _ in both], [b for _, b in both]


def fill(values: list[Any], count: int) -> list[Any]:
    """As many values, again from the first where they end."""
    return [values[k % len(values)] for k in range(count)]


def same(got: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Bit for bit; any NaN is as good as another."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if got.dtype.kind != "f":
        return bool((got == expected).all())
    bits = f"u{got.dtype.itemsize}"
    return bool(((got.view(bits) == expected.view(bits)) | (np.isnan(got) & np.isnan(expected))).all())
