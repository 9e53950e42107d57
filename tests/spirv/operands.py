"""Numbers for operands: every edge of a type among random ones, always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.types import BOOLEAN, Scalar, Type, element_of, lanes_of

from .kernels import numpy_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INTEGERS = (0, 1, 2, 3, 7, 127, 128, 129, 240, 254, 255, 256, 32767, 32768, 65535, -1, -2, -7, -127, -128, -129, -32768)
_FLOATS = (0.0, 1.0, 0.5, 1.5, 2.5, 0.49999997, 0.1, 127.5, 128.0, 255.5, 2049.0, 65504.0, 65519.9, 65520.0, 2.0**31, 2.0**32)
_TINY = (2.0**-14, 2.0**-15, 2.0**-24, 2.0**-25, 3 * 2.0**-26)  # where halves become denormal, and vanish


def draw(type: Type, items: int, seed: int) -> NDArray[Any]:
    """The elements of `items` values."""
    element, count = element_of(type), items * lanes_of(type)
    rng = np.random.default_rng([seed, element.bits, ord(element.kind), lanes_of(type)])
    if element == BOOLEAN:
        return rng.integers(0, 2, count).astype(np.int32)
    edges = edges_of(element)
    chosen = rng.choice(edges, count)
    chosen[: min(count, len(edges))] = rng.permutation(edges)[:count]
    return np.where(rng.random(count) < 0.6, chosen, _random(element, count, rng)).astype(numpy_type(element))


def edges_of(element: Scalar) -> NDArray[Any]:
    """The numbers of a type around which something changes."""
    if element.is_float:
        special = [np.inf, np.nan] if element.bits > 16 else [np.inf, np.nan, 6e-8]
        both = [sign * number for number in (*_FLOATS, *_TINY, *special) for sign in (1, -1)]
        with np.errstate(over="ignore"):
            return np.array(both).astype(numpy_type(element))
    near = (element.low, element.low + 1, element.high - 1, element.high, element.high // 2, element.high // 2 + 1)
    return np.array(sorted({n for n in (*_INTEGERS, *near) if element.low <= n <= element.high}), numpy_type(element))


def _random(element: Scalar, count: int, rng: np.random.Generator) -> NDArray[Any]:
    if not element.is_float:
        return np.frombuffer(rng.bytes(count * element.bits // 8), numpy_type(element))
    return (rng.standard_normal(count) * 10.0 ** rng.integers(-4, 5, count)).astype(numpy_type(element))


def same(a: NDArray[Any], b: NDArray[Any], signs_of_zero: bool = True) -> NDArray[np.bool_]:
    """Where two arrays are alike bit for bit; any NaN equals any NaN."""
    if a.dtype.kind != "f":
        return a == b
    signs = (np.signbit(a) == np.signbit(b)) | (not signs_of_zero)
    return (a != a) & (b != b) | (a == b) & signs
