"""`cajeta_dot.empty`: numpy arrays that begin at a cache line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cajeta_dot as cj

TEXT = "static void f(int8[] a) { for (int64 i = 0; i < a.count(); i++) { a[i] = (int8) i; } }"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float16", "float64", "bool", np.int64])
@pytest.mark.parametrize("shape", [0, 1, 7, (3, 5), (2, 0, 4), (), [4, 4], np.int32(9)])
def test_shape_and_alignment(shape: Any, dtype: Any) -> None:
    expected = np.empty(shape, dtype)
    for _ in range(5):
        made = cj.empty(shape, dtype)
        assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
        assert made.flags.c_contiguous
        assert made.flags.writeable
        assert made.flags.aligned
        assert made.size == 0 or made.ctypes.data % 64 == 0


def test_default_is_that_of_numpy() -> None:
    assert cj.empty(3).dtype == np.empty(3).dtype


def test_arrays_do_not_share_memory() -> None:
    a, b = cj.empty(100, np.int8), cj.empty(100, np.int8)
    cj.compile(TEXT)["f"](a)
    b[:] = 5
    assert a.tolist() == list(range(100))


@pytest.mark.parametrize(
    ("shape", "dtype", "error"), [(-1, "int8", ValueError), (2, object, TypeError), (1.5, "int8", TypeError)]
)
def test_refusals(shape: Any, dtype: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        cj.empty(shape, dtype)
