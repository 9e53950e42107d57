"""Kernels on a Vulkan device through the Python API: the bits of the reference, the call rules, launches of every shape."""

from __future__ import annotations

import gc
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import cajeta_dot as cj
from tests.samples import programs

from .devices import GuardedDevice

# Options that leave nothing of a device but what Vulkan 1.1 promises, and that keep the newest API from being used.
WAYS: dict[str, dict[str, Any]] = {
    "all features": {},
    "Vulkan 1.1": {"target_env": "vulkan1.1"},
    "expansion": {"int_dot": False},
    "no optional features": {"bare": True},
}


pytestmark = pytest.mark.usefixtures("fresh")


def compile_text(text: str, **options: Any) -> cj.Module:
    return cj.compile(text, "k.cj", device="vulkan", **options)


def compile_both(text: str, **options: Any) -> tuple[cj.Module, cj.Module]:
    return compile_text(text, **options), cj.compile(text, "k.cj", target="reference")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", programs.NAMES)
def test_samples(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_sample(name, way, monkeypatch)


def run_sample(name: str, way: str, monkeypatch: pytest.MonkeyPatch, wide: bool = True) -> None:
    """Most samples have sizes of 64 bits; those that they are called with fit 32 as well."""
    options = {**WAYS[way]}
    if options.pop("bare", False):
        monkeypatch.setenv("CAJETA_DEVICE_FEATURES", "shaderInt64" if wide else "")
    text = (programs.SAMPLES / f"{name}.cj").read_text(encoding="utf-8")
    module = compile_text(text if wide else text.replace("int64", "int32"), **options)
    assert module.target == "spirv"
    assert not [found for found in module.diagnostics if found.severity != "remark"]
    programs.RUNS[name](module)


def test_q4k_has_the_bits_of_the_reference() -> None:
    path = programs.SAMPLES / "q4k_matvec.cj"
    found, _ = programs.multiply_q4k(cj.compile_file(path, device="vulkan"), rows=5, blocks=4)
    wanted, _ = programs.multiply_q4k(cj.compile_file(path, target="reference"), rows=5, blocks=4)
    assert found.tobytes() == wanted.tobytes()


DOTS = """
class Dots {
    @Kernel static void all(KernelBuffer<int32> out, KernelBuffer<uint8> u, KernelBuffer<int8> s, int32 start, uint32 n) {
        uint32 i = KernelThread.globalIdX();
        if (i < n) {
            Vector<uint8,4> w = u.vload<4>(4 * i); Vector<int8,4> x = s.vload<4>(4 * i);
            out[4 * i] = w.dotAccum(x, Vector<int32,1>(start))[0];
            out[4 * i + 1] = x.dotAccum(x, Vector<int32,1>(start))[0];
            out[4 * i + 2] = w.dot(w, start);
            out[4 * i + 3] = w.dotSum(x, start);
        }
    }
}
"""


@pytest.mark.parametrize("int_dot", [True, False])
@pytest.mark.parametrize("start", [0, -1, 2**31 - 1, -(2**31)])
def test_dots_of_edge_bytes(start: int, int_dot: bool) -> None:
    edges = np.array([0, 1, 127, 128, 255], np.uint8)
    u = edges[np.indices((5, 5, 5, 5)).reshape(4, -1).T].reshape(-1)
    s = np.roll(u, 1234).view(np.int8)
    results = [np.full(len(u) + 3, 7, np.int32) for _ in range(2)]
    for module, out in zip(compile_both(DOTS, int_dot=int_dot), results, strict=True):
        module["all"](out, u, s, start, len(u) // 4, threads=len(u) // 4)
    assert results[0].tobytes() == results[1].tobytes()
    assert results[0][-3:].tolist() == [7, 7, 7]


TYPES = """
class Types {{
    @Kernel static void copy(KernelBuffer<{0}> out, KernelBuffer<{0}> a, {0} extra, uint32 n) {{
        uint32 i = KernelThread.globalIdX();
        if (i < n) {{ out[i] = a[i]; }}
        if (i == n) {{ out[i] = extra; }}
    }}
}}
"""
ELEMENTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


@pytest.mark.parametrize("narrow_memory", [True, False])
@pytest.mark.parametrize("element", ELEMENTS)
def test_arrays_of_every_type_and_length(element: str, narrow_memory: bool) -> None:
    copy_arrays(element, narrow_memory)


def copy_arrays(element: str, narrow_memory: bool) -> None:
    module = compile_text(TYPES.format(element), narrow_memory=narrow_memory)
    dtype = np.dtype(element)
    random = np.random.default_rng(1)
    for count in (0, 1, 2, 3, 5, 64, 67):
        a = random.integers(0, 100, count).astype(dtype)
        out = np.full(count + 4, 9, dtype)
        module["copy"](out, a, dtype.type(101).item(), count, threads=count + 1)
        assert out.tolist() == [*a.tolist(), 101, 9, 9, 9]


SCALARS = """
class Scalars {
    @Kernel static void keep(KernelBuffer<int64> out, int8 a, uint8 b, int16 c, uint16 d, int32 e, uint32 f, int64 g, uint64 h,
                             boolean i, float32 j, float64 k, float16 l) {
        if (KernelThread.globalIdX() == 0) {
            out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = (int64) h;
            out[8] = i ? 1L : 0L; out[9] = Cajeta.f32ToBits(j); out[10] = (int64) Cajeta.f64ToBits(k); out[11] = (int64) l;
        }
    }
}
"""


@pytest.mark.parametrize(
    "numbers",
    [
        [-128, 255, -32768, 65535, -(2**31), 2**32 - 1, -(2**63), 2**64 - 1, True, -0.0, float("inf"), 65504.0],
        [127, 0, 32767, 0, 2**31 - 1, 0, 2**63 - 1, 0, False, 1.1, -1.1, -2.0],
    ],
)
def test_scalars_of_every_type(numbers: list[Any]) -> None:
    results = [np.zeros(12, np.int64) for _ in range(2)]
    for module, out in zip(compile_both(SCALARS), results, strict=True):
        module["keep"](out, *numbers, grid=1, block=1)
    assert results[0].tolist() == results[1].tolist()


PLACES = """
class Places {
    @Kernel static void note(KernelBuffer<int32> out) {
        uint32 x = KernelThread.globalIdX(); uint32 y = KernelThread.globalIdY(); uint32 z = KernelThread.globalIdZ();
        uint32 width = 12; uint32 height = 6;
        out[x + width * (y + height * z)] =
            (int32) (KernelThread.x() + 10 * KernelThread.y() + 100 * KernelThread.z() + 1000 * Workgroup.dimX()
                     + 10000 * Workgroup.dimY() + 100000 * Workgroup.dimZ() + 1000000 * Workgroup.x());
    }
}
"""


BOUNDS = (-(1 << 40), -(1 << 31), -129, -7, 0, 7, 200, 40000, 1 << 31, 1 << 40)
ORDERS = ("<", "<=", ">", ">=", "==", "!=")


@pytest.mark.parametrize("element", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_widened_integers_beside_constants(element: str) -> None:
    """Mesa 22.3 gave the opposite of some, where it knew that a side had been widened with its sign."""
    tests = [form for bound in BOUNDS for order in ORDERS for form in (f"wide {order} {bound}L", f"{bound}L {order} wide")]
    tests += [f"Math.{call} == wide" for call in ("abs(wide)", "min(wide, 0L)", "max(wide, 7L)")]
    stores = "\n".join(f"out[{len(tests)} * i + {place}] = ({test}) ? 1 : 0;" for place, test in enumerate(tests))
    text = f"""@Kernel static void compare(KernelBuffer<uint8> out, KernelBuffer<{element}> a) {{
        uint32 i = KernelThread.globalIdX();
        int64 wide = a[i];
        {stores}
    }}"""
    dtype = np.dtype(element)
    ends = np.iinfo(dtype)
    numbers = np.array([ends.min, ends.max, 7, 0, *([-7, -1] if ends.min else [200])], dtype)
    out = np.zeros(len(numbers) * len(tests), np.uint8)
    compile_text(text)["compare"](out, numbers, threads=len(numbers))
    wanted = [eval(test.replace("L", "").replace("Math.", ""), {"wide": int(number)}) for number in numbers for test in tests]
    assert out.tolist() == wanted


@pytest.mark.parametrize("block", [(1,), (12,), (4, 3, 2), (2, 1, 4), (3, 6), (12, 6, 4)])
def test_any_block_and_grid(block: tuple[int, ...]) -> None:
    """One module takes them all, whatever it was compiled for."""
    items = (*block, 1, 1)[:3]
    grid = tuple(whole // part for whole, part in zip((12, 6, 4), items, strict=True))
    results = [np.zeros(12 * 6 * 4, np.int32) for _ in range(2)]
    for module, out in zip(compile_both(PLACES, block=(2, 2)), results, strict=True):
        module["note"](out, grid=grid, block=block)
    assert results[0].tolist() == results[1].tolist()


def test_blocks_alternate_in_one_module() -> None:
    module = compile_text(PLACES)
    for block in (1, 2, 1, 3, 2):
        out = np.zeros(288, np.int32)
        module["note"](out, grid=12 // block, block=block)
        assert (out[:12] // 1000 % 10 == block).all()


TREE = """
class Tree {
    @Kernel static void add(KernelBuffer<int32> out, KernelBuffer<int32> a) {
        Shared<int32> s = shared int32[64];
        uint32 i = KernelThread.x();
        s[i] = a[KernelThread.globalIdX()];
        Barrier.workgroup();
        for (uint32 half = 32; half > 0; half = half >> 1) {
            if (i < half) { s[i] = s[i] + s[i + half]; }
            Barrier.workgroup();
        }
        if (i == 0) { out[Workgroup.x()] = s[0]; }
    }
}
"""


def test_shared_memory_and_barriers() -> None:
    a = np.arange(64 * 37, dtype=np.int32) ** 2
    out = np.full(40, -1, np.int32)
    compile_text(TREE)["add"](out, a, grid=37, block=64)
    assert out.tolist() == [*a.reshape(37, 64).sum(1, dtype=np.int32).tolist(), -1, -1, -1]


# ---- the rules of calls


FILL = """
class Fill {
    static int32 host(int32[] a) { return a[0]; }
    @Kernel static void set(KernelBuffer<uint8> out, KernelBuffer<uint8> a, uint32 n) {
        uint32 i = KernelThread.globalIdX();
        if (i < n) { out[i] = a[i] + 1; }
    }
}
"""


def test_what_is_not_written_may_be_read_only_or_a_view() -> None:
    module = compile_text(FILL)
    a = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    a.setflags(write=False)
    whole = np.zeros(30, np.uint8)
    module["set"](whole[3:27], a, 24, threads=24)
    assert whole.tolist() == [0] * 3 + list(range(1, 25)) + [0] * 3


@pytest.mark.parametrize(
    ("out", "a", "error", "message"),
    [
        (np.zeros(8, np.int8), np.zeros(8, np.uint8), TypeError, "`out` of Fill.set takes an array of uint8, found int8"),
        (np.zeros((8, 2), np.uint8)[:, 0], np.zeros(8, np.uint8), ValueError, "`out` of Fill.set is not contiguous"),
        (np.zeros(8, np.uint8), [1, 2], TypeError, "`a` of Fill.set takes an array of uint8, found list"),
    ],
)
def test_wrong_arguments_are_refused_as_everywhere(out: Any, a: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message.replace("(", "\\(")):
        compile_text(FILL)["set"](out, a, 8, threads=8)


def test_arrays_that_share_memory_are_refused() -> None:
    whole = np.zeros(9, np.uint8)
    with pytest.raises(ValueError, match="share memory"):
        compile_text(FILL)["set"](whole[1:], whole[:8], 8, threads=8)


def test_nothing_to_do() -> None:
    out = np.zeros(4, np.uint8)
    compile_text(FILL)["set"](out, out.copy(), 4, grid=(3, 0, 1), block=8)
    assert not out.any()


def test_host_methods_are_for_processors() -> None:
    with pytest.raises(RuntimeError, match=r"Fill.host is a host method: `vulkan` runs kernels only"):
        compile_text(FILL)["host"](np.zeros(1, np.int32))


def test_a_module_is_pickled_with_its_device() -> None:
    module = pickle.loads(pickle.dumps(compile_text(FILL)))
    out = np.zeros(4, np.uint8)
    module["set"](out, np.arange(4, dtype=np.uint8), 4, threads=4)
    assert out.tolist() == [1, 2, 3, 4]
    assert repr(module) == "<Module k.cj for spirv on vulkan: Fill.host, Fill.set>"


def test_threads_may_call_at_once() -> None:
    module = compile_text(FILL)
    results = [np.zeros(1000, np.uint8) for _ in range(8)]

    def call(place: int) -> None:
        for _ in range(5):
            module["set"](results[place], np.full(1000, place, np.uint8), 1000, threads=1000)

    threads = [threading.Thread(target=call, args=(place,)) for place in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(result[0]) for result in results] == list(range(1, 9))
    assert all((result == result[0]).all() for result in results)


def test_programs_leave_nothing_on_the_device(fresh: dict[Any, Any]) -> None:
    """Pipelines go with the module that made them; buffers are used again."""
    compile_text(FILL)["set"](np.zeros(8, np.uint8), np.zeros(8, np.uint8), 8, threads=8)
    gc.collect()
    (device,) = fresh.values()
    destroyed: list[str] = []
    plain = device.destroy
    device.destroy = lambda what, handle: (destroyed.append(what), plain(what, handle))[1]  # type: ignore[method-assign]
    module = compile_text(FILL)
    for _ in range(3):
        module["set"](np.zeros(8, np.uint8), np.zeros(8, np.uint8), 8, threads=8)
    assert destroyed == []
    del module
    gc.collect()  # a module and its functions know each other
    assert sorted(destroyed) == ["DescriptorPool", "DescriptorSetLayout", "Pipeline", "PipelineLayout", "ShaderModule"]


@pytest.mark.parametrize("at", [4, 5, 100, 100_000])
def test_without_checks_a_store_outside_stays_in_its_buffer(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """That much every device promises (robustBufferAccess). The guard words lie behind what the kernel may reach."""
    monkeypatch.setattr(GuardedDevice, "reach", False)
    out, other = np.arange(4, dtype=np.int32), np.array([9, 1, 2, 3], np.int32)
    compile_text(OUTSIDE, checks=False)["store"](out, other, at, grid=1, block=1)
    assert other[1:].tolist() == [1, 2, 3]


OUTSIDE = """
class Outside {
    @Kernel static void store(KernelBuffer<int32> out, KernelBuffer<int32> other, int32 at) {
        out[at] = 77;
        other[0] = out[at];
    }
}
"""


def test_guard_words_find_a_store_behind_an_array() -> None:
    """The test of the tests."""
    out, other = np.arange(4, dtype=np.int32), np.array([9, 1, 2, 3], np.int32)
    with pytest.raises(AssertionError, match="a kernel stores behind an array"):
        compile_text(OUTSIDE, checks=False)["store"](out, other, 4, grid=1, block=1)


@pytest.mark.parametrize("at", [4, 5, 100, 100_000, 2**31 - 1, -1, -(2**31)])
def test_an_access_outside_does_nothing(at: int) -> None:
    """There is no error on a device: nothing is stored, and a load gives zero."""
    module = compile_text(OUTSIDE)
    out, other = np.arange(4, dtype=np.int32), np.array([9, 1, 2, 3], np.int32)
    module["store"](out, other, at, grid=1, block=1)
    assert out.tolist() == [0, 1, 2, 3]
    assert other.tolist() == [0, 1, 2, 3]
