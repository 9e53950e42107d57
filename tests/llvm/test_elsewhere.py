"""Code for AArch64, RISC-V and WebAssembly, run by qemu and node where these are installed.

`CAJETA_TEST_EMULATED="aarch64-neon wasm32-simd128" pytest tests/llvm/test_{operations,conversions,lookups}.py` runs the tests
of all opcodes there too.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot import BoundsError, compile, compile_file, driver
from cajeta_dot.backends import Loaded, Options, TargetInfo
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.types import INT8, INT32, UINT8, Vector

from . import emulation
from .emulation import EMULATORS
from .programs import SOURCE, apply_all, make_program, run_all
from .test_dots import SIGNS, accumulators, define, draw
from .test_lookups import lookup_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from cajeta_dot.backends import Artifact, Backend
    from cajeta_dot.ir import Builder, Function, Program, Value

    from .programs import Build

LANES = (4, 8, 12, 16, 20, 32, 48, 64, 128, 256)
ITEMS = 48


@pytest.fixture(params=EMULATORS)
def machine(request: pytest.FixtureRequest) -> str:
    """Each machine that has an emulator here."""
    if EMULATORS[request.param].missing:
        pytest.skip(EMULATORS[request.param].missing)
    return request.param


def load(program: Program, machine: str, **options: Any) -> Loaded:
    loaded = emulation.load(program, machine, Options(**options), Reporter(SOURCE))
    assert loaded
    return loaded


def every_dot(lanes: int) -> Function:
    """A kernel with all dot products of so many bytes, by their signs and the lanes of the accumulator."""
    types = [Vector(UINT8, lanes), Vector(UINT8, lanes), Vector(INT32, lanes // 4), Vector(INT32, 1)]

    def build(signs: str, into: int) -> Build:
        def make(b: Builder, v: list[Value]) -> Value:
            w, x = (b.reinterpret(v[k], Vector(INT8, lanes)) if sign == "s" else v[k] for k, sign in enumerate(signs))
            return b.dot(w, x, v[2] if into > 1 else v[3])

        return make

    made = {f"{signs}{into}": (Vector(INT32, into), build(signs, into)) for signs in SIGNS for into in widths(lanes)}
    return apply_all(f"dots{lanes}", types, made)


def widths(lanes: int) -> list[int]:
    """The accumulators that so many bytes may have."""
    return sorted({1, lanes // 4})


def test_a_dot_is_exact_and_wraps(machine: str) -> None:
    kernels = {lanes: every_dot(lanes) for lanes in LANES}
    made = load(make_program(*kernels.values()), machine).entries
    for lanes, kernel in kernels.items():
        w, x = draw(lanes, ITEMS)
        acc, single = accumulators(ITEMS, lanes // 4), accumulators(ITEMS, 1)
        cases = [(signs, into) for signs in SIGNS for into in widths(lanes)]
        results = [Vector(INT32, into) for _, into in cases]
        found = run_all(made[kernel], results, [v.reshape(-1) for v in (w, x, acc, single)], ITEMS)
        for (signs, into), got in zip(cases, found, strict=True):
            wanted = define(signs, w, x, acc if into > 1 else single)
            wrong = np.argwhere(got.reshape(ITEMS, into) != wanted)
            assert not len(wrong), (signs, lanes, into, wrong[0])


BOUNDS = ((127, 255), (255, 127), (127, 127), (15, 255))


def every_small_dot() -> Function:
    """A kernel with dot products of operands that are known to have no other bits than `BOUNDS`."""
    types = [Vector(UINT8, 32), Vector(UINT8, 32), Vector(INT32, 8)]

    def build(signs: str, bounds: Sequence[int]) -> Build:
        def make(b: Builder, v: list[Value]) -> Value:
            kept = [b.binary("and", v[k], b.const(types[k], bound)) for k, bound in enumerate(bounds)]
            w, x = (b.reinterpret(k, Vector(INT8, 32)) if sign == "s" else k for k, sign in zip(kept, signs, strict=True))
            return b.dot(w, x, v[2])

        return make

    made = {f"{signs}{w}_{x}": (types[2], build(signs, (w, x))) for signs in SIGNS for w, x in BOUNDS}
    return apply_all("small", types, made)


def test_what_is_known_of_the_operands_changes_no_result(machine: str) -> None:
    """The forms for small operands, at the largest that they are right for."""
    kernel = every_small_dot()
    loaded = load(make_program(kernel), machine)
    w, x = draw(32, ITEMS)
    acc = accumulators(ITEMS, 8)
    cases = [(signs, *bounds) for signs in SIGNS for bounds in BOUNDS]
    found = run_all(loaded.entries[kernel], [Vector(INT32, 8)] * len(cases), [v.reshape(-1) for v in (w, x, acc)], ITEMS)
    for (signs, w_max, x_max), got in zip(cases, found, strict=True):
        assert (got.reshape(ITEMS, 8) == define(signs, w & w_max, x & x_max, acc)).all(), (signs, w_max, x_max)
    forms = {choice.form.partition(",")[0] for choice in loaded.choices}
    small = {"aarch64-dotprod": {"sdot", "udot"}, "aarch64-neon": {"neon narrow"}, "wasm32-simd128": {"relaxed"}}
    assert small.get(machine, set()) <= forms


def test_bytes_are_looked_up_in_a_table(machine: str) -> None:
    kernel = lookup_kernel(24)
    indexes = np.arange(ITEMS * 24).astype(np.uint8)
    table = np.random.default_rng(1).integers(-128, 128, (ITEMS, 16)).astype(np.int8)
    (got,) = run_all(
        load(make_program(kernel), machine).entries[kernel], [Vector(INT8, 24)], [indexes, table.reshape(-1)], ITEMS
    )
    wanted = np.take_along_axis(table, (indexes & 15).astype(int).reshape(ITEMS, 24), axis=1)
    assert (got.reshape(ITEMS, 24) == wanted).all()


class Emulated:
    """A backend that loads for an emulated machine."""

    name = "emulated"

    def __init__(self, machine: str):
        self.info = TargetInfo(machine, "emulated", (), runs=True)

    def targets(self) -> Sequence[TargetInfo]:
        return (self.info,)

    def missing(self, target: str) -> str:
        return ""

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        raise NotImplementedError

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        return emulation.load(program, target, options, reporter)


@pytest.fixture
def compile_for(monkeypatch: pytest.MonkeyPatch, machine: str) -> str:
    """The machine as a target that the Python API finds."""
    backend = Emulated(machine)

    def find_target(name: str) -> tuple[Backend, TargetInfo]:
        return backend, backend.info

    monkeypatch.setattr(driver, "find_target", find_target)
    return machine


@cache
def load_samples() -> ModuleType:
    """How each sample is called, and what must come out: the tests of the samples know."""
    path = Path(__file__).parents[1] / "samples" / "programs.py"
    spec = importlib.util.spec_from_file_location("sample_programs", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_programs"] = module
    spec.loader.exec_module(module)
    return module


def test_samples_run(compile_for: str) -> None:
    samples = load_samples()
    for name, run in samples.RUNS.items():
        run(compile_file(samples.SAMPLES / f"{name}.cj", target=compile_for))


def test_q4k_bits_are_those_of_the_reference(compile_for: str, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = load_samples()
    path = samples.SAMPLES / "q4k_matvec.cj"
    y, _ = samples.multiply_q4k(compile_file(path, target=compile_for), rows=3, blocks=2)
    monkeypatch.undo()
    reference, _ = samples.multiply_q4k(compile_file(path, target="reference"), rows=3, blocks=2)
    assert y.tobytes() == reference.tobytes()


SUM = """
    @Kernel
    static void sum_{kind}(KernelBuffer<int32> out, KernelBuffer<{kind}> a, KernelBuffer<int8> b, int64 n) {{
        Vector<int32,4> acc = Vector<int32,4>(2147483647);
        for (int64 k = 0; k + 16 <= n; k += 16) {{ acc = a.vload<16>(k).dotAccum(b.vload<16>(k), acc); }}
        out.vstore(0, acc);
    }}
"""


def test_sums_of_every_number_of_steps(compile_for: str) -> None:
    """Where they are split, steps are left over."""
    kinds = ("uint8", "int8")
    module = compile(f"class Sums {{ {''.join(SUM.format(kind=kind) for kind in kinds)} }}", target=compile_for)
    w, x = (v.reshape(-1) for v in draw(16, ITEMS))
    for kind in kinds:
        a, b = w.view(kind), x.view("int8")
        products = (a.astype(np.int64) * b).reshape(ITEMS, 4, 4).sum(axis=2)
        for steps in (0, 1, 7, 8, 9, 17):
            out = np.zeros(4, np.int32)
            module[f"sum_{kind}"](out, a, b, 16 * steps, grid=1, block=1)
            wanted = products[:steps].sum(axis=0) + 2**31 - 1
            assert (out == (wanted + 2**31) % 2**32 - 2**31).all(), (kind, steps)


MEETING = """
class Meeting {
    @Kernel
    static void reverse(KernelBuffer<int32> out, KernelBuffer<int16> in, float32 factor, int64 offset, boolean negative) {
        Shared<int16> tile = shared int16[16];
        uint32 i = KernelThread.x();
        tile[15 - i] = in[KernelThread.globalIdX()];
        Barrier.workgroup();
        int32 x = (int32) ((float32) tile[i] * factor) + (int32) offset;
        if (negative) { x = -x; }
        out[KernelThread.globalIdX()] = x;
    }
}
"""


def test_workgroups_meet_at_barriers_and_arguments_arrive(compile_for: str) -> None:
    module = compile(MEETING, target=compile_for)
    numbers = np.arange(-24, 24, dtype=np.int16) * 1000
    for negative in (False, True):
        out = np.zeros(48, np.int32)
        module["reverse"](out, numbers, 2.5, -(2**31), negative, grid=3, block=16)
        wanted = (numbers.reshape(3, 16)[:, ::-1].reshape(-1) * 2.5).astype(np.int64) - 2**31
        wanted = -wanted if negative else wanted
        assert (out == (wanted + 2**31) % 2**32 - 2**31).all()


FAULTS = """
class Faults {
    @Kernel
    static void read(KernelBuffer<int32> out, KernelBuffer<int8> in, int32 from) {
        out.vstore(0, in.vload<4>(from).dotAccum(in.vload<4>(0), out.vload<1>(0)));
    }
}
"""


def test_an_access_outside_an_array_is_told(compile_for: str) -> None:
    module = compile(FAULTS, target=compile_for)
    out, bytes = np.zeros(1, np.int32), np.full(8, -128, np.int8)
    module["read"](out, bytes, 4, grid=1, block=1)
    assert out.tolist() == [4 * 128 * 128]
    for at in (5, -1, 2**31 - 1):
        with pytest.raises(BoundsError) as caught:
            module["read"](out, bytes, at, grid=1, block=1)
        assert (caught.value.line, caught.value.index, caught.value.length) == (5, at, 8)
    assert out.tolist() == [4 * 128 * 128]
