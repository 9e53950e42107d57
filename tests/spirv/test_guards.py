"""With checks on, an access outside an array reads zeros and stores nothing, on every device and in shared memory too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from .kernels import Compiled, check_text, untouched

if TYPE_CHECKING:
    from cajeta_dot.backends.vulkan.device import Device

# Indexes at, before and behind both ends of an array of 10 elements, as far as a type of index goes.
INDEXES = {
    "int8": (-128, -1, 0, 6, 7, 9, 10, 127),
    "int32": (-(2**31), -(2**30), -1, 0, 6, 7, 9, 10, 1 << 20, 2**30, 2**31 - 1),
    "uint32": (0, 6, 9, 10, 2**31, 2**32 - 4, 2**32 - 1),
    "int64": (-(2**63), -(2**32), -1, 0, 6, 9, 10, 2**32, 2**32 + 3, 2**40 + 9, 2**63 - 1),
    "uint64": (3, 10, 2**32, 2**64 - 1),
}
COUNT = 10


def compile_access(element: str, index: str, lanes: int, place: str) -> Compiled:
    """out = a[at..], and a[at..] = out plus one; the array is a buffer, or a copy of it in shared memory."""
    load, store = (f"a.vload<{lanes}>(at)", "a.vstore(at, v + 1)") if lanes else ("a[at]", "a[at] = v + 1")
    type, keep = (f"Vector<{element},{lanes}>", "out.vstore(0, v);") if lanes else (element, "out[0] = v;")
    body = f"{type} v = {load}; {keep} {store};"
    if place == "shared":
        copy_in, copy_out = (
            f"for (uint32 i = 0; i < {COUNT}; i++) {{ {text} }}" for text in ("a[i] = buffer[i];", "buffer[i] = a[i];")
        )
        body = f"Shared<{element}> a = shared {element}[{COUNT}]; {copy_in} {body} {copy_out}"
    name = "buffer" if place == "shared" else "a"
    text = f"@Kernel static void k(KernelBuffer<{element}> out, KernelBuffer<{element}> {name}, {index} at) {{ {body} }}"
    return Compiled(check_text(text), checks=True, block=(1, 1, 1))


@pytest.mark.parametrize("place", ["buffer", "shared"])
@pytest.mark.parametrize(
    ("element", "lanes"), [("uint8", 0), ("uint8", 3), ("uint8", 4), ("uint8", 16), ("int16", 4), ("float32", 4), ("int64", 1)]
)
def test_nothing_outside_is_touched(element: str, lanes: int, place: str, engine: Device | None) -> None:
    access_all(element, "int64", lanes, place, engine)


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_may_have_any_type(index: str, engine: Device | None) -> None:
    access_all("int32", index, 4, "buffer", engine)


def access_all(element: str, index: str, lanes: int, place: str, engine: Device | None) -> None:
    number = max(lanes, 1)
    compiled = compile_access(element, index, lanes, place)
    for at in INDEXES[index]:
        a, out = np.arange(1, COUNT + 1).astype(element), untouched(number + 2, element)
        compiled.execute(engine, compiled.program.entries[0], [out, a, at])
        wanted, read = np.arange(1, COUNT + 1).astype(element), np.zeros(number, element)
        if at >= 0 and at + number <= COUNT:
            read = wanted[at : at + number].copy()
            wanted[at : at + number] += 1
        assert a.tolist() == wanted.tolist(), at
        assert out[:number].tolist() == read.tolist(), at
        assert out[number:].tobytes() == untouched(2, element).tobytes(), at


HELPERS = """
class Guard {
    @Device static int32 take(KernelBuffer<int32> x, int32 at) { return x[at]; }
    @Kernel static void walk(KernelBuffer<int32> out, KernelBuffer<int32> x, int32 n) {
        int32 total = 0;
        for (int32 i = x[0] - 3; x[i + 3] != 99 && i < n; i += x[i + 100] + 1) { total += take(x, i); }
        do { total += x[n]; n -= 1; } while (x[n] != 0);
        out[0] = total;
        out[5] = x[1000] + 1;
    }
}
"""


def test_guards_in_loops_and_helpers(engine: Device | None) -> None:
    compiled = Compiled(check_text(HELPERS), checks=True, block=(1, 1, 1))
    x, out = np.array([1, 2, 3, 4, 5, 6], np.int32), np.zeros(6, np.int32)
    compiled.execute(engine, compiled.program.entries[0], [out, x, 8])
    assert out.tolist() == [1 + 2 + 3 + 4 + 5 + 6 + 0, 0, 0, 0, 0, 1]


def test_an_empty_array(engine: Device | None) -> None:
    compiled = compile_access("int32", "int32", 4, "buffer")
    a: np.ndarray[Any, Any] = np.zeros(0, np.int32)
    out = untouched(6, np.int32)
    compiled.execute(engine, compiled.program.entries[0], [out, a, 0])
    assert out[:4].tolist() == [0, 0, 0, 0]


def test_without_checks_there_are_none() -> None:
    compiled = Compiled(check_text(HELPERS))
    assert "%inside" not in compiled.text
