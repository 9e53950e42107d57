"""Launches and kernels beyond what a device takes, and devices that fail."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cajeta_dot as cj
from cajeta_dot.backends.vulkan.api import DEVICE_LOST, TIMEOUT, Library, VulkanError

from .programs import NARROW

if TYPE_CHECKING:
    from tests.conftest import Result

    Cajetac = Callable[..., Result]


def expect_excess(message: str, arguments: list[Any] | None = None, **launch: Any) -> None:
    module = cj.compile(NARROW.format("int32"), "k.cj", device="vulkan")
    with pytest.raises(cj.DeviceError) as caught:
        module["k"](*(arguments or [np.zeros(4, np.int32), 1]), **launch)
    assert isinstance(caught.value, cj.KernelError)
    assert (caught.value.file, caught.value.line) == ("k.cj", 1)
    assert caught.value.what.startswith("`K.k` on `vulkan:0 (")
    assert caught.value.what.endswith(message)


def test_launches_within_limits(limits: Any) -> None:
    limits.group_size[:] = (16, 8, 4)
    limits.group_items = 64
    limits.group_count[:] = (10, 9, 8)
    limits.storage_range = 100
    size, count = "maxComputeWorkGroupSize", "maxComputeWorkGroupCount"
    expect_excess(f"workgroups have at most 16 items along x, found 17 ({size})", grid=1, block=17)
    expect_excess(f"workgroups have at most 4 items along z, found 5 ({size})", grid=1, block=(1, 1, 5))
    expect_excess("workgroups have at most 64 items, found 65 (maxComputeWorkGroupInvocations)", grid=1, block=(13, 5))
    expect_excess(f"a grid has at most 9 workgroups along y, found 10 ({count})", grid=(1, 10), block=1)
    arrays = [np.zeros(26, np.int32), 1]
    expect_excess("arrays have at most 100 bytes, `a` has 104 (maxStorageBufferRange)", arrays, grid=1, block=1)


def test_kernels_within_limits(limits: Any) -> None:
    limits.storage_buffers, limits.shared_memory = 2, 256
    body = "Shared<int8> s = shared int8[{}]; s[0] = 1; a[0] = s[0];"
    text = f"class K {{{{ @Kernel static void k(int32[] a, int32[] b{{}}) {{{{ {body} }}}} }}}}"
    cj.compile(text.format("", 64), device="vulkan")
    for more, shared, message in (
        (", int32[] c", 64, "has at most 2 arrays, found 3"),
        ("", 65, "has at most 256 bytes of shared arrays, found 260"),
    ):
        with pytest.raises(cj.DeviceMissing) as caught:
            cj.compile(text.format(more, shared), device="vulkan")
        (found,) = caught.value.diagnostics
        assert found.message.endswith(message)
        assert found.line == 1


def fail_with(monkeypatch: pytest.MonkeyPatch, name: str, result: int) -> list[str]:
    """Lets the next call of a Vulkan function fail; the names of those that were destroyed since."""
    plain, command = Library.call, Library.command
    failing = [name]
    freed: list[str] = []

    def call(self: Library, name: str, *arguments: Any) -> int:
        if name in failing:
            failing.remove(name)
            raise VulkanError(f"failed ({name})", result)
        return plain(self, name, *arguments)

    def run(self: Library, name: str, *arguments: Any) -> None:
        if name.startswith(("vkDestroy", "vkFree")):
            freed.append(name)
        command(self, name, *arguments)

    monkeypatch.setattr(Library, "call", call)
    monkeypatch.setattr(Library, "command", run)
    return freed


def test_short_memory_is_reported_and_the_device_goes_on(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = cj.compile(NARROW.format("int32"), "k.cj", device="vulkan")
    freed = fail_with(monkeypatch, "vkAllocateMemory", -2)
    a = np.zeros(4, np.int32)
    with pytest.raises(cj.DeviceError, match=r"failed \(vkAllocateMemory\)"):
        module["k"](a, 1, threads=4)
    assert freed == ["vkDestroyBuffer", "vkFreeMemory"]
    module["k"](a, 1, threads=4)
    assert a.tolist() == [1, 1, 1, 1]


def test_kept_buffers_make_room(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = cj.compile(NARROW.format("int32"), "k.cj", device="vulkan")
    module["k"](np.zeros(4, np.int32), 1, threads=4)
    fail_with(monkeypatch, "vkAllocateMemory", -2)
    a = np.zeros(5000, np.int32)
    module["k"](a, 1, threads=5000)
    assert a.all()


@pytest.mark.parametrize("name", ["vkCreateComputePipelines", "vkCreateDescriptorPool", "vkCreateShaderModule"])
def test_what_was_made_is_freed_where_a_pipeline_fails(name: str, fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = cj.compile(NARROW.format("int32"), "k.cj", device="vulkan")
    freed = fail_with(monkeypatch, name, -1)
    a = np.zeros(4, np.int32)
    with pytest.raises(cj.DeviceError, match=f"failed \\({name}\\)"):
        module["k"](a, 1, threads=4)
    expected = ["vkDestroyPipelineLayout", "vkDestroyDescriptorSetLayout"]
    assert freed == {"vkCreateShaderModule": [], "vkCreateDescriptorPool": ["vkDestroyPipeline", *expected]}.get(name, expected)
    module["k"](a, 1, threads=4)
    assert a.tolist() == [1, 1, 1, 1]


def test_a_lost_device_is_opened_anew(fresh: dict[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    module = cj.compile(NARROW.format("int32"), "k.cj", device="vulkan")
    fail_with(monkeypatch, "vkQueueSubmit", DEVICE_LOST)
    a = np.zeros(4, np.int32)
    with pytest.raises(cj.DeviceError, match=r"failed \(vkQueueSubmit\)"):
        module["k"](a, 1, threads=4)
    with pytest.raises(cj.DeviceError, match="compile the module again"):
        module["k"](a, 1, threads=4)
    assert not fresh
    cj.compile(NARROW.format("int32"), "k.cj", device="vulkan")["k"](a, 1, threads=4)
    assert a.tolist() == [1, 1, 1, 1]


def test_an_interrupt_gives_the_device_up(fresh: dict[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Python looks up from waiting now and then; what the launch then still writes is used by nobody else."""
    module = cj.compile(NARROW.format("int32"), "k.cj", device="vulkan")
    (device,) = fresh.values()
    plain = Library.call
    answers = iter([TIMEOUT, TIMEOUT])

    def wait(self: Library, name: str, *arguments: Any) -> int:
        if name != "vkWaitForFences":
            return plain(self, name, *arguments)
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr(Library, "call", wait)
    with pytest.raises(KeyboardInterrupt):
        module["k"](np.zeros(2, np.int32), 1, grid=1, block=2)
    monkeypatch.undo()
    with pytest.raises(cj.DeviceError, match="a launch on it was interrupted; compile the module again"):
        module["k"](np.zeros(2, np.int32), 1, grid=1, block=1)
    assert device.lost


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_is_told_that_the_device_is_its_parents(fresh: Any) -> None:
    module = cj.compile(NARROW.format("int32"), "k.cj", device="vulkan")
    device = next(iter(fresh.values()))
    device.process += 1  # as after a fork, without the risk of one
    with pytest.raises(cj.DeviceError, match="was opened by the parent process"):
        module["k"](np.zeros(4, np.int32), 1, threads=4)
    device.process -= 1
