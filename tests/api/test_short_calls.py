"""The short way into a kernel that is called often: it does what the long way does, and refuses in the same words."""

from __future__ import annotations

import gc
import math
import struct
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import cajeta_dot as cj
from cajeta_dot.backends.llvm.calls import spread
from cajeta_dot.backends.llvm.threads import Spreader
from cajeta_dot.run.functions import MOST_SHORTS, OFTEN, Function

ELEMENTS = ["boolean", "float16", "float32", "float64"] + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def warm(kernel: Function, *arguments: Any, **extent: Any) -> Function:
    """The kernel after so many launches that the next one goes the short way, if there is one."""
    for _ in range(OFTEN):
        kernel(*arguments, **extent)
    return kernel


def goes_short(kernel: Function, *arguments: Any, **extent: Any) -> bool:
    """Does this launch do without the reader of arguments?"""
    reader, asked = kernel._reader.read, list[object]()  # pyright: ignore[reportPrivateUsage]

    def read(given: Any) -> Any:
        asked.append(given)
        return reader(given)

    kernel._reader.read = read  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
    try:
        kernel(*arguments, **extent)
    finally:
        del kernel._reader.read  # pyright: ignore[reportPrivateUsage]
    return not asked


def scale(element: str = "int32", threads: int = 1) -> Function:
    """y[i] = x[i] + a"""
    text = f"""@Kernel public static void scale(KernelBuffer<{element}> y, KernelBuffer<{element}> x, {element} a) {{
        uint32 i = KernelThread.globalIdX();
        y[i] = {"x[i] || a" if element == "boolean" else f"({element}) (x[i] + a)"};
    }}"""
    return cj.compile(text, num_threads=threads)["scale"]


def numbers_of(element: str) -> list[Any]:
    """The ends of the type, and what lies between."""
    if element == "boolean":
        return [True, False]
    if element.startswith("float"):
        largest = float(np.finfo(element).max)
        return [0.0, -0.0, 1.5, 0.1, largest, -largest, math.inf, -math.inf, 5e-324, 1, -3]
    ends = np.iinfo(element)
    return [0, 1, ends.max // 2, int(ends.min), int(ends.max)]


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_type_of_numbers_and_arrays(element: str) -> None:
    kernel, launch = scale(element), {"grid": 1, "block": 4}
    dtype = "bool" if element == "boolean" else element
    x, y, z = np.array([0, 1, 1, 0], dtype), np.zeros(4, dtype), np.zeros(4, dtype)
    for number in numbers_of(element):
        kernel(z, x, number, **launch)  # the long way first, then often
    warm(kernel, y, x, numbers_of(element)[0], **launch)
    for number in numbers_of(element):
        scale(element)(z, x, number, **launch)
        assert goes_short(kernel, y, x, number, **launch) == (
            element != "float16" and not (element.startswith("float") and isinstance(number, int)) and number != 2**64 - 1
        )
        assert y.tobytes() == z.tobytes(), number


@pytest.mark.parametrize("element", ["float32", "float64"])
def test_not_a_number(element: str) -> None:
    kernel = scale(element)
    y, x = np.zeros(4, element), np.zeros(4, element)
    warm(kernel, y, x, 1.0, grid=1, block=4)
    kernel(y, x, math.nan, grid=1, block=4)
    assert np.isnan(y).all()


def test_any_rank_and_no_elements() -> None:
    kernel = cj.compile(
        "@Kernel public static void ends(KernelBuffer<int64> y, KernelBuffer<int8> a, KernelBuffer<int8> b) {"
        " y[0] = (int64) a.count(); y[1] = (int64) b.count(); }",
        num_threads=1,
    )["ends"]
    y = np.zeros(2, np.int64)
    warm(kernel, y, np.zeros(1, np.int8), np.zeros(1, np.int8), grid=1, block=1)
    for a, b in (((), (2, 0, 3)), ((2, 3), (1, 1, 4, 1)), ((5,), (0,))):
        assert goes_short(kernel, y, np.zeros(a, np.int8), np.zeros(b, np.int8), grid=1, block=1)
        assert y.tolist() == [math.prod(a), math.prod(b)]


def refused() -> dict[str, tuple[Any, ...]]:
    """Arguments for `scale` of int32."""
    y, x = np.zeros(8, np.int32), np.zeros(8, np.int32)
    read_only = np.zeros(8, np.int32)
    read_only.flags.writeable = False
    return {
        "too few": (y, x),
        "too many": (y, x, 1, 1),
        "other element": (y, x.astype(np.uint32), 1),
        "other order of bytes": (y, x.astype(">i4"), 1),
        "not contiguous": (y[::2], x, 1),
        "not aligned": (np.zeros(33, np.uint8)[1:].view(np.int32), x, 1),
        "read-only": (read_only, x, 1),
        "the same array": (y, y, 1),
        "part of it": (y[:5], y[4:], 1),
        "masked": (np.ma.zeros(8, np.int32), x, 1),
        "a list": ([1, 2], x, 1),
        "nothing": (None, x, 1),
        "a bool": (y, x, True),
        "a float": (y, x, 1.0),
        "too large": (y, x, 2**31),
        "too small": (y, x, -(2**31) - 1),
        "far too large": (y, x, 2**200),
        "an array of one": (y, x, np.zeros(1, np.int32)),
    }


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("what", list(refused()))
def test_refusals_are_the_same(what: str, threads: int) -> None:
    given, launch = refused()[what], {"grid": 2, "block": 2}
    with pytest.raises((TypeError, ValueError, OverflowError)) as by_the_long_way:
        scale(threads=threads)(*given, **launch)
    kernel = warm(scale(threads=threads), np.zeros(8, np.int32), np.zeros(8, np.int32), 1, **launch)
    with pytest.raises(by_the_long_way.type) as found:
        kernel(*given, **launch)
    assert str(found.value) == str(by_the_long_way.value)
    y = np.zeros(8, np.int32)
    assert goes_short(kernel, y, np.ones(8, np.int32), 1, **launch)
    assert y.tolist() == [2, 2, 2, 2, 0, 0, 0, 0]


def test_what_is_accepted_the_long_way_still_is() -> None:
    kernel, launch = scale(), {"grid": 1, "block": 4}
    y, x = np.zeros(4, np.int32), np.ones(4, np.int32)
    warm(kernel, y, x, 1, **launch)

    class Named(np.ndarray[Any, Any]):
        pass

    for given in (x.view(Named), memoryview(x.data)):
        y[:] = 0
        assert not goes_short(kernel, y, given, np.int8(4), **launch)
        assert y.tolist() == [5, 5, 5, 5]


def test_arrays_that_were_changed_since() -> None:
    kernel, launch = scale(), {"grid": 1, "block": 4}
    y, x = np.zeros(4, np.int32), np.ones(4, np.int32)
    warm(kernel, y, x, 1, **launch)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        kernel(y, x, 1, **launch)


@pytest.mark.parametrize("extent", [{"grid": True, "block": 4}, {"grid": (1, 1.0), "block": 4}, {"grid": 1.0, "block": 4}])
def test_extents_that_equal_good_ones(extent: dict[str, Any]) -> None:
    kernel, y, x = scale(), np.zeros(4, np.int32), np.ones(4, np.int32)
    for grid in (1, (1, 1)):
        warm(kernel, y, x, 1, grid=grid, block=4)
    with pytest.raises(TypeError):
        kernel(y, x, 1, **extent)


def test_all_spellings_of_an_extent() -> None:
    kernel, y, x = scale(), np.zeros(256, np.int32), np.ones(256, np.int32)
    spellings: list[dict[str, Any]] = [{"grid": 4, "block": 64}, {"threads": 250}, {"grid": (4, 1), "block": (64, 1, 1)}]
    for extent in spellings:
        warm(kernel, y, x, 1, **extent)
    for extent in spellings:
        y[:] = 0
        assert goes_short(kernel, y, x, 1, **extent)
        assert y.tolist() == [2] * 256
    assert not goes_short(kernel, y, x, 1, grid=[4], block=64)
    for count in range(2 * MOST_SHORTS):
        kernel(y, x, 1, grid=0, block=count + 1)
    assert len(kernel._shorts) <= MOST_SHORTS  # pyright: ignore[reportPrivateUsage]
    kernel(y, x, 1, grid=0, block=1)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_fault_is_raised_and_all_items_run(threads: int) -> None:
    kernel = scale(threads=threads)
    y, x = np.zeros(400, np.int32), np.ones(400, np.int32)
    warm(kernel, y, x, 1, grid=100, block=4)
    y[:] = 0
    with pytest.raises(cj.KernelError) as found:
        kernel(y, x[:150], 1, grid=100, block=4)
    assert "150" in str(found.value)
    assert y.tolist() == [2] * 150 + [0] * 250


def test_of_several_faults_the_first_is_told() -> None:
    def fail(_: object, first: int, end: int) -> bytes:
        time.sleep(0.001)
        return struct.pack("=5q", 1, first, -end, 0, 0)

    assert spread(fail, Spreader(), 3)((), 0, 16) == struct.pack("=5q", 1, 0, -1, 0, 0)


def test_arguments_that_are_changed_meanwhile_are_an_error() -> None:
    def run(_: object, first: int, end: int) -> bool:
        time.sleep(0.001)
        return not first

    with pytest.raises(RuntimeError, match="were changed"):
        spread(run, Spreader(), 3)((), 0, 16)


def test_no_stays_no() -> None:
    def refuse(_: object, first: int, end: int) -> bool:
        time.sleep(0.001)
        return False

    assert spread(refuse, Spreader(), 3)((), 0, 16) is False


def test_nothing_is_kept_and_nothing_is_lost() -> None:
    kernel, launch = scale(), {"grid": 1, "block": 4}
    y, x, number = np.zeros(4, np.int32), np.ones(4, np.int32), 12345
    warm(kernel, y, x, number, **launch)
    gc.collect()
    before = [sys.getrefcount(each) for each in (y, x, number, True, False, None)]
    for _ in range(200):
        kernel(y, x, number, **launch)
        with pytest.raises(TypeError):
            kernel(y, x, 0.5, **launch)
    gc.collect()
    after = [sys.getrefcount(each) for each in (y, x, number, True, False, None)]
    assert all(abs(a - b) < 100 for a, b in zip(before, after, strict=True))


def test_code_lives_as_long_as_it_is_called() -> None:
    y, x = np.zeros(4, np.int32), np.ones(4, np.int32)
    for _ in range(3):
        kernel = warm(scale(), y, x, 1, grid=1, block=4)
        kernel(y, x, 1, grid=1, block=4)
        del kernel
        gc.collect()


def test_python_goes_on_while_it_runs() -> None:
    kernel = cj.compile(
        "@Kernel public static void wait(KernelBuffer<int32> y, int64 n) {"
        " int32 s = y[0]; for (int64 i = 0; i < n; i++) { s = s * 3 + y[(int64) (s & 1)]; } y[0] = s; }",
        num_threads=1,
    )["wait"]
    y = np.ones(2, np.int32)
    warm(kernel, y, 1, grid=1, block=1)
    done, steps = threading.Event(), 0

    def run() -> None:
        kernel(y, 100_000_000, grid=1, block=1)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not done.wait(0.001):
        steps += 1
    thread.join()
    assert steps > 5


def test_another_interpreter_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from cajeta_dot.backends.llvm import calls

    monkeypatch.setattr(calls, "_is_as_assumed", lambda: False)
    kernel, y, x = scale(), np.zeros(4, np.int32), np.ones(4, np.int32)
    warm(kernel, y, x, 1, grid=1, block=4)
    assert not goes_short(kernel, y, x, 1, grid=1, block=4)
    assert y.tolist() == [2, 2, 2, 2]
