"""Arrays for kernels: numpy's own begin at a multiple of 16 bytes, and a vector of 64 then lies in two cache lines."""

from __future__ import annotations

import operator
from math import prod

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex

    from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register


def empty(shape: SupportsIndex | tuple[SupportsIndex, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array like `numpy.empty(shape, dtype)` whose first element is at a multiple of 64 bytes.

    C-contiguous, writable, its content whatever was in memory. Raises TypeError for a dtype that holds Python objects,
    ValueError for a negative extent, MemoryError where there is no room.
    """
    element = np.dtype(dtype)
    if element.hasobject:
        raise TypeError(f"cajeta_dot.empty makes arrays of numbers, found dtype {element}")
    extents = tuple(map(operator.index, shape)) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if min(extents, default=0) < 0:
        raise ValueError(f"an array can't have the shape {extents}")
    size = prod(extents) * element.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(element).reshape(extents)
