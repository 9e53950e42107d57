"""Products of lanes that fit into 16 bits: by the shorter instruction where they surely do, and the same bits in any case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from cajeta_dot.backends import Options
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.driver import find_target
from cajeta_dot.types import INT32, UINT32, Vector

from .programs import RUNNABLE, SOURCE, apply, load, make_program, run_lanes

if TYPE_CHECKING:
    from cajeta_dot.ir import Builder, Function, Value

LANES = (1, 2, 3, 4, 5, 8, 12, 16, 31, 64)
EDGES = [0, 1, -1, 2, 127, -128, 2**15 - 1, 2**15, -(2**15), -(2**15) - 1, 2**16 - 1, -(2**16), 2**31 - 1, -(2**31), 2**16]
ITEMS = 40


class Keep(NamedTuple):
    """How numbers are brought between `low` and `high`. `first`: one number for all lanes, as a scale is."""

    low: int
    high: int
    first: bool = False

    def build(self, b: Builder, value: Value) -> Value:
        type = value.type
        assert isinstance(type, Vector)
        if self.first:
            value = b.splat(b.extract(value, 0), type.lanes)
        if self.low >= 0:
            return b.binary("min", b.binary("and", value, b.const(type, 0xFFFF)), b.const(type, self.high))
        kept = b.binary("shr", b.binary("shl", value, b.const(type, 16)), b.const(type, 16))
        return b.binary("add", kept, b.const(type, self.low + 2**15))

    def compute(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The same in wide integers."""
        if self.first:
            numbers = np.repeat(numbers[:, :1], numbers.shape[1], axis=1)
        low = numbers & 0xFFFF
        return np.minimum(low, self.high) if self.low >= 0 else low - ((low & 0x8000) << 1) + self.low + 2**15


SIGNED, MASKED = Keep(-(2**15), 2**15 - 1), Keep(0, 2**15 - 1)
PAIRS = {
    "signed": (INT32, SIGNED, SIGNED),
    "masked": (INT32, MASKED, MASKED),
    "mixed": (INT32, MASKED, SIGNED),
    "scaled": (INT32, SIGNED, Keep(-(2**15), 2**15 - 1, first=True)),
    "unsigned": (UINT32, MASKED, MASKED),
}
WIDE_PAIRS = {
    "one more": (INT32, SIGNED, Keep(0, 2**15)),
    "one less": (INT32, Keep(-(2**15) - 1, 2**15 - 2), SIGNED),
    "halves": (UINT32, Keep(0, 2**16 - 1), MASKED),
}
ALL = {**PAIRS, **WIDE_PAIRS}


def product_kernel(name: str, lanes: int) -> Function:
    """`a * b + c`, so that what adds behind it may be one with it."""
    element, first, second = ALL[name]
    type = Vector(element, lanes)

    def build(b: Builder, values: list[Value]) -> Value:
        return b.binary("add", b.binary("mul", first.build(b, values[0]), second.build(b, values[1])), values[2])

    return apply(f"{name.replace(' ', '_')}{lanes}", [type] * 3, type, build)


@pytest.mark.parametrize("target", RUNNABLE)
def test_every_pair_of_signs_and_every_number_of_lanes(target: str) -> None:
    made = load(make_program(*(product_kernel(name, lanes) for name in ALL for lanes in LANES)), target)
    random = np.random.default_rng(7)
    for name, (element, first, second) in ALL.items():
        for lanes in LANES:
            a, b, c = (random.choice(np.array(EDGES), (ITEMS, lanes)) for _ in range(3))
            a[ITEMS // 2 :] = random.integers(-(2**31), 2**31, (ITEMS // 2, lanes))
            dtype = np.uint32 if element == UINT32 else np.int32
            operands = [v.astype(np.int64).astype(np.uint32).view(dtype).reshape(-1) for v in (a, b, c)]
            got = run_lanes(made[f"{name.replace(' ', '_')}{lanes}"], Vector(element, lanes), operands, ITEMS)
            expected = (first.compute(a) * second.compute(b) + c).astype(np.uint32).view(dtype)
            assert (got.reshape(ITEMS, lanes) == expected).all(), (name, lanes)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("target", "lanes", "registers"), [
    ("x86-vnni", 16, 1), ("x86-vnni", 64, 4), ("x86-avx2", 8, 1), ("x86-avx2", 12, 2), ("x86-sse2", 4, 1), ("x86-ssse3", 5, 2),
])  # fmt: skip
def test_the_shorter_instruction_only_where_it_is_exact(target: str, lanes: int, registers: int, name: str) -> None:
    found = find_target(target)
    assert found
    artifact = found[0].emit(make_program(product_kernel(name, lanes)), target, "llvm-ir", Options(), Reporter(SOURCE))
    assert artifact is not None
    assert isinstance(artifact.content, str)
    calls = [line for line in artifact.content.splitlines() if "pmadd" in line and "call" in line]
    assert len(calls) == (registers if name in PAIRS else 0)


@pytest.mark.parametrize("target", ["x86-scalar", "aarch64-dotprod", "nvptx", "wasm32-simd128"])
def test_other_machines_multiply_as_they_do(target: str) -> None:
    found = find_target(target)
    assert found
    artifact = found[0].emit(make_program(product_kernel("signed", 16)), target, "llvm-ir", Options(), Reporter(SOURCE))
    assert artifact is not None
    assert " mul <16 x i32> " in str(artifact.content)
