"""Kernels on CUDA devices: what the driver is given and asked for, and what is said where there is none."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cajeta_dot as cj
from cajeta_dot.backends.cuda import device as devices

from .fake import FakeDriver, Result

if TYPE_CHECKING:
    from tests.conftest import Result as Answer

    Cajetac = Callable[..., Answer]

TEXT = """class Dots {
    static int32 host(int32[] a) { return a[0]; }
    @Kernel static void dots(KernelBuffer<int32> out, KernelBuffer<uint8> w, KernelBuffer<int8> x, uint32 n) {
        uint32 i = KernelThread.globalIdX();
        if (i < n) { out[i] = w.vload<4>(4 * i).dotSum(x.vload<4>(4 * i), out[i]); }
    }
    @Kernel static void scalars(
        KernelBuffer<float64> out, int8 a, uint16 b, int32 c, uint64 d, boolean e, float16 f, float32 g
    ) {
        out[0] = a; out[1] = b; out[2] = c; out[3] = (float64) d; out[4] = e ? 1.0 : 0.0; out[5] = f; out[6] = g;
    }
}
"""


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Puts something in the place of cuda.bindings.driver; None: there is no such package."""
    monkeypatch.setattr(devices, "_open_driver", devices._open_driver.__wrapped__)  # pyright: ignore[reportPrivateUsage]

    def put(driver: Any) -> None:
        for name in ("cuda", "cuda.bindings"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)

    return put


@pytest.fixture
def fake(install: Callable[[Any], None]) -> FakeDriver:
    driver = FakeDriver(TEXT)
    install(driver)
    return driver


def test_a_launch(fake: FakeDriver) -> None:
    module = cj.compile(TEXT, "k.cj", device="cuda")
    assert module.target == "nvptx"
    assert [choice.instruction for choice in module.choices] == ["dp4a.u32.s32"]
    w, x = np.array([255, 128, 1, 0, 0, 5, 10, 15], np.uint8), np.array([-128, 127, -1, 9, -127, -90, -53, -16], np.int8)
    w.setflags(write=False)
    out = np.array([5, -5, 7], np.int32)
    module["dots"](out, w, x, 2, grid=(2, 1, 1), block=(3, 1))
    assert out.tolist() == [5 - 255 * 128 + 128 * 127 - 1, -5 - 1220, 7]
    assert fake.launches == [(2, 1, 1, 3, 1, 1)]
    assert fake.memory == {}


def test_scalars_have_their_own_sizes(fake: FakeDriver) -> None:
    module = cj.compile(TEXT, "k.cj", device="cuda:0")
    numbers = [-128, 65535, -(2**31), 2**63, True, -1.5, 0.25]
    out = np.zeros(7, np.float64)
    module["scalars"](out, *numbers, threads=1)
    assert out.tolist() == [*map(float, numbers)]


def test_nothing_to_do_and_nothing_to_copy(fake: FakeDriver) -> None:
    module = cj.compile(TEXT, "k.cj", device="cuda")
    empty = [np.zeros(0, kind) for kind in (np.int32, np.uint8, np.int8)]
    module["dots"](*empty, 0, grid=0, block=1)
    module["dots"](*empty, 0, grid=1, block=1)
    assert fake.launches == [(1, 1, 1, 1, 1, 1)]


def test_the_call_rules_are_those_of_every_target(fake: FakeDriver) -> None:
    module = cj.compile(TEXT, "k.cj", device="cuda")
    with pytest.raises(TypeError, match=r"`out` of Dots\.dots takes an array of int32, found int64"):
        module["dots"](np.zeros(1, np.int64), np.zeros(4, np.uint8), np.zeros(4, np.int8), 1, threads=1)
    with pytest.raises(RuntimeError, match=r"Dots\.host is a host method: `cuda` runs kernels only"):
        module["host"](np.zeros(1, np.int32))
    with pytest.raises(cj.DeviceError, match="at most 64 items along z, found 65") as caught:
        module["dots"](np.zeros(1, np.int32), np.zeros(4, np.uint8), np.zeros(4, np.int8), 1, grid=1, block=(1, 1, 65))
    assert caught.value.line == 3


@pytest.mark.parametrize("name", ["cuMemAlloc", "cuMemcpyHtoD", "cuLaunchKernel", "cuCtxSynchronize", "cuMemcpyDtoH"])
def test_failures_free_what_was_taken(name: str, fake: FakeDriver) -> None:
    module = cj.compile(TEXT, "k.cj", device="cuda")
    fake.fail = {name: Result.OUT_OF_MEMORY}
    with pytest.raises(cj.DeviceError, match=rf"`Dots.scalars` on `cuda:0 \(NVIDIA H200\)`: out of memory \({name}\)"):
        module["scalars"](np.zeros(7), 0, 0, 0, 0, False, 0.0, 0.0, threads=1)
    assert fake.memory == {}


def test_modules_are_unloaded(fake: FakeDriver) -> None:
    module = cj.compile(TEXT, "k.cj", device="cuda")
    assert ".version" in fake.modules[0]
    del module
    gc.collect()
    assert fake.modules == [""]


def expect_missing(message: str, device: str = "cuda") -> None:
    with pytest.raises(cj.DeviceMissing) as caught:
        cj.compile(TEXT, device=device)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0601", message)


def test_without_the_package(install: Callable[[Any], None]) -> None:
    install(None)
    expect_missing(devices.NO_PACKAGE)


def test_without_a_driver(fake: FakeDriver) -> None:
    fake.fail = {"cuInit": Result.NO_DEVICE}
    expect_missing(f"{devices.NO_DEVICE}: no device (cuInit)")
    fake.names = ()
    expect_missing(devices.NO_DEVICE)
    fake.cuInit = None  # type: ignore[assignment,method-assign]

    def lack(_: int) -> Any:
        raise RuntimeError("libcuda.so.1 is not found")

    fake.cuInit = lack  # type: ignore[method-assign]
    expect_missing(devices.NO_DRIVER)


def test_ptx_that_the_driver_refuses(fake: FakeDriver) -> None:
    fake.fail = {"cuModuleLoadData": Result.OUT_OF_MEMORY}
    expect_missing("the CUDA device can't be used: out of memory (cuModuleLoadData)")


@pytest.mark.parametrize(
    ("wish", "name"), [("cuda", "NVIDIA H200"), ("cuda:1", "NVIDIA L4"), ("cuda:l4", "NVIDIA L4"), ("cuda:H200", "NVIDIA H200")]
)
def test_choice(wish: str, name: str, install: Callable[[Any], None]) -> None:
    install(FakeDriver(TEXT, ("NVIDIA H200", "NVIDIA L4")))
    entry: Any = cj.compile(TEXT, device=wish)["dots"]._entry  # pyright: ignore[reportPrivateUsage]
    assert entry.owner.device.name == name


@pytest.mark.parametrize(
    ("wish", "message"),
    [("cuda:2", "no CUDA device `2`"), ("cuda:amd", "no CUDA device `amd`"), ("cuda:nvidia", "`nvidia` fits 2 CUDA devices")],
)
def test_no_choice(wish: str, message: str, install: Callable[[Any], None]) -> None:
    install(FakeDriver(TEXT, ("NVIDIA H200", "NVIDIA L4")))
    expect_missing(message, wish)


def test_the_command_line(fake: FakeDriver, install: Callable[[Any], None], cajetac: Cajetac) -> None:
    listed = cajetac("devices")
    assert listed.code == 0
    (row,) = [line for line in listed.out.splitlines() if line.startswith("cuda:0 ")]
    assert "NVIDIA H200" in row
    assert row.split()[-6:] == ["accelerated", "yes", "yes", "yes", "yes", "yes"]
    install(None)
    result = cajetac("run", "samples/dp4a.cj", "--device", "cuda", "--kernel", "registers", "--threads", 1)
    assert result.code == 3
    assert result.err == f"error[E0601]: {devices.NO_PACKAGE}\n  = help: `pip install 'cajeta-dot[cuda]'`\n\n"
