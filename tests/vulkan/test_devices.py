"""Which device is taken, what it has, and what is said where there is none or it can't do something."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cajeta_dot as cj
from cajeta_dot.backends import NoDevice
from cajeta_dot.backends.vulkan import device as devices
from cajeta_dot.backends.vulkan import physical, selftest, trials
from cajeta_dot.backends.vulkan.api import DEVICE_LOST, NO_DRIVER, TIMEOUT, Library, Limits, VulkanError

from .devices import GuardedDevice, skip_without_driver

if TYPE_CHECKING:
    from tests.conftest import Result

    Cajetac = Callable[..., Result]

TEXT = """class K {
    @Kernel static void dots(KernelBuffer<int32> out, KernelBuffer<uint8> w, KernelBuffer<int8> x) {
        uint32 i = KernelThread.globalIdX();
        out[i] = w.vload<4>(4 * i).dotSum(x.vload<4>(4 * i), out[i]);
    }
}
"""


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[Any, Any]]:
    """No device is open yet; those that are opened are closed behind the test."""
    skip_without_driver()
    known: dict[Any, Any] = {}
    monkeypatch.setattr(devices, "Device", GuardedDevice)
    monkeypatch.setattr(devices, "_devices", known)
    yield known
    for device in known.values():
        if not device.lost:
            device.close()


def run_dots(**options: Any) -> tuple[cj.Module, list[int]]:
    module = cj.compile(TEXT, "k.cj", device="vulkan", **options)
    out, w = np.array([5, -5], np.int32), np.array([255, 128, 1, 0, 0, 5, 10, 15], np.uint8)
    module["dots"](out, w, np.array([-128, 127, -1, 9, -127, -90, -53, -16], np.int8), grid=1, block=2)
    return module, out.tolist()


WANTED = [5 - 255 * 128 + 128 * 127 - 1, -5 - 1220]


# ---- finding one


class Fake:
    """As much of a device as choosing looks at."""

    def __init__(self, index: int, name: str, kind: str = "CPU", missing: str = ""):
        self.index, self.name, self.kind, self.missing = index, name, kind, missing
        self.title, self.whole_version = f"vulkan:{index} ({name})", (1, 0, 5)


FAKES = [Fake(0, "llvmpipe"), Fake(1, "Radeon RX 9070", "discrete GPU"), Fake(2, "Radeon 890M", "integrated GPU")]


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> list[Fake]:
    found = [*FAKES]
    instance = type("Instance", (), {"devices": found})
    monkeypatch.setattr(physical, "find_instance", instance)
    return found


@pytest.mark.parametrize(
    ("wish", "index"), [("", 1), ("0", 0), ("2", 2), ("llvmpipe", 0), ("LLVM", 0), ("rx 9070", 1), ("890m", 2)]
)
def test_choice(wish: str, index: int, fakes: list[Fake]) -> None:
    assert physical.choose(wish).index == index


OFFER = "there are `vulkan:0 (llvmpipe)`, `vulkan:1 (Radeon RX 9070)`, `vulkan:2 (Radeon 890M)`"


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ("3", "no Vulkan device `3`"),
        ("9070", "no Vulkan device `9070`"),
        ("geforce", "no Vulkan device `geforce`"),
        ("radeon", "`radeon` fits 2 Vulkan devices"),
    ],
)
def test_no_choice(wish: str, message: str, fakes: list[Fake]) -> None:
    with pytest.raises(NoDevice) as caught:
        physical.choose(wish)
    assert (caught.value.message, caught.value.help) == (message, OFFER)


def test_old_devices_are_taken_only_by_name_and_refused(fakes: list[Fake]) -> None:
    fakes[1] = Fake(1, "Old", "discrete GPU", missing="Vulkan 1.1")
    assert physical.choose("").index == 2
    with pytest.raises(NoDevice, match=r"`vulkan:1 \(Old\)` needs Vulkan 1.1, has 1.0"):
        physical.choose("1")


def refuse_to_open() -> None:
    raise OSError("libvulkan.so.1: cannot open shared object file")


def refuse_instance(self: Library, name: str, *arguments: Any) -> int:
    if name == "vkCreateInstance":
        raise VulkanError("no driver", NO_DRIVER)
    return 0


def read_version(self: physical.Instance) -> tuple[int, int]:
    return 1, 3


@pytest.fixture(params=["no loader", "no driver", "no device"])
def absent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The message that belongs to it."""
    if request.param == "no driver":
        skip_without_driver()
    monkeypatch.setattr(physical, "_instances", {})
    if request.param == "no loader":
        monkeypatch.setattr("cajeta_dot.backends.vulkan.api._open_loader", refuse_to_open)
        return "no Vulkan loader on this machine"
    if request.param == "no driver":
        monkeypatch.setattr(Library, "call", refuse_instance)
        monkeypatch.setattr(physical.Instance, "_read_version", read_version)
    else:
        monkeypatch.setattr(physical, "find_instance", type("Instance", (), {"devices": []}))
    return "the Vulkan loader finds no device"


def test_without_a_device_python_gets_a_runtime_error(absent: str) -> None:
    with pytest.raises(cj.DeviceMissing) as caught:
        cj.compile(TEXT, device="vulkan")
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, cj.CompileError)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0601", absent)
    assert [help.message for help in found.helps] == [physical.INSTALL]


def test_without_a_device_the_command_line_ends_with_3(absent: str, cajetac: Cajetac) -> None:
    result = cajetac("run", "samples/dp4a.cj", "--device", "vulkan", "--kernel", "registers", "--threads", 1)
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith(f"error[E0601]: {absent}\n  = help: install ")


def test_a_wrong_kind_of_device() -> None:
    with pytest.raises(cj.CompileError) as caught:
        cj.compile(TEXT, device="vulcan:1")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0603", "no device `vulcan:1`")
    assert found.helps[0].message == "did you mean `vulkan`?"
    with pytest.raises(cj.CompileError, match="target `x86-scalar` does not run on `vulkan`"):
        cj.compile(TEXT, target="x86-scalar", device="vulkan")
    with pytest.raises(cj.CompileError, match="no target `spirw`"):
        cj.compile(TEXT, target="spirw", device="vulkan")


@pytest.mark.parametrize("device", ["vulkan", "vulkan:0", "vulkan:"])
def test_names_of_the_device_that_is_there(device: str, fresh: dict[Any, Any]) -> None:
    module = cj.compile(TEXT, target="spirv", device=device)
    assert (module.target, module.device) == ("spirv", device)
    assert len(fresh) == 1


# ---- what the device has decides the code


def test_the_newest_version_and_the_opcodes_are_used(fresh: dict[Any, Any]) -> None:
    module, out = run_dots()
    assert out == WANTED
    assert [choice.instruction for choice in module.choices] == ["OpSUDot + OpIAdd"]
    assert module.diagnostics == []


def test_without_the_feature_dots_are_expanded(fresh: dict[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAJETA_DEVICE_FEATURES", "")
    module, out = run_dots()
    assert out == WANTED
    (choice,) = module.choices
    assert choice.form == "bit fields"
    assert choice.why.endswith(" lacks shaderIntegerDotProduct")
    assert [told.code for told in module.diagnostics] == ["R0601"]
    assert physical.PROTECTION[0] in next(iter(fresh.values())).features


NARROW = "class K {{ @Kernel static void k(KernelBuffer<{0}> a, {0} b) {{ a[KernelThread.globalIdX()] = b; }} }}"


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ("int64", "integers of 64 bits need `shaderInt64`, which"),
        ("uint64", "integers of 64 bits need `shaderInt64`, which"),
        ("float64", "`float64` needs `shaderFloat64`, which"),
    ],
)
def test_wide_types_need_the_feature(element: str, message: str, fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAJETA_DEVICE_FEATURES", "")
    text = NARROW.format(element)
    with pytest.raises(cj.DeviceMissing) as caught:
        cj.compile(text, device="vulkan")
    (found,) = caught.value.diagnostics
    assert (found.code, found.line) == ("E0601", 1)
    assert found.message.startswith(message)
    assert found.primary
    assert text[found.primary.start : found.primary.end] == "a"


@pytest.mark.parametrize("element", ["int8", "uint16", "float16"])
def test_narrow_types_need_none(element: str, fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAJETA_DEVICE_FEATURES", "")
    a = np.zeros(100, element)
    cj.compile(NARROW.format(element), device="vulkan")["k"](a, 3, threads=100)
    assert (a == 3).all()


def test_a_newer_api_than_the_device_has(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_dots(target_env="vulkan1.2")[1] == WANTED
    monkeypatch.setattr(physical.choose(""), "version", (1, 1))
    assert run_dots(target_env="vulkan1.1")[1] == WANTED
    with pytest.raises(cj.DeviceMissing, match=r"has Vulkan 1.1, `vulkan1.3` is newer"):
        run_dots(target_env="vulkan1.3")
    with pytest.raises(cj.CompileError, match=r"no target environment `vulkan1\.9`"):
        run_dots(target_env="vulkan1.9")


# ---- the self-test


def test_self_test_covers_all_signs_and_edges() -> None:
    w, x, acc = selftest.make_operands()
    pairs = {(int(a), int(b)) for a, b in zip(w, x, strict=True)}
    assert pairs == {(a, b) for a in selftest.EDGES for b in selftest.EDGES}
    assert set(acc.tolist()) == set(selftest.ACCUMULATORS)
    assert len({*selftest.MIXES}) == 4
    assert selftest.expect("us", w[:4], x[:4], acc[:1]).dtype == np.int32


def test_self_test_sums_as_the_reference_does() -> None:
    """The expected numbers, against the interpreter on the same kernel."""
    from cajeta_dot.reference.execute import launch
    from cajeta_dot.reference.flow import translate

    program = selftest.make_dots()
    w, x, acc = selftest.make_operands()
    out = np.zeros(4 * len(acc), np.int32)
    launch(translate(program, False)[program.functions[0]], [out, w, x, acc, len(acc)], (10, 1, 1), (64, 1, 1))
    assert selftest.find_fault(out) == ""
    for place in (0, len(acc), len(out) - 1):
        wrong = out.copy()
        wrong[place] ^= 1 << 20
        assert f"gives {wrong[place]} instead of {out[place]}" in selftest.find_fault(wrong)


def saturate(signs: str, w: Any, x: Any, acc: Any) -> Any:
    """What a driver would have to compute that reads every byte as signed, so that this one seems to lie."""
    return RIGHT("ss", w, x, acc)


RIGHT = selftest.expect


def test_a_lying_driver_is_found_out(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One note, the expansion, and the right bits; the device is asked once."""
    monkeypatch.setattr(selftest, "expect", saturate)
    asked: list[Any] = []
    plain = trials.run

    def run(device: Any, program: Any, *arguments: Any) -> None:
        asked.append(device)
        plain(device, program, *arguments)

    monkeypatch.setattr(trials, "run", run)
    for _ in range(2):
        module, out = run_dots()
        assert out == WANTED
        (note,) = module.diagnostics
        assert (note.code, note.severity) == ("R0601", "remark")
        assert note.message.startswith("`dot` is expanded: the driver of `vulkan:0 (")
        assert note.notes[0].startswith("its self-test: OpSUDot (us) of bytes [")
        assert module.choices[0].form == "bit fields"
        assert "computes wrong dot products" in module.choices[0].why
    assert len(asked) == 1


def test_a_driver_that_refuses_the_test_is_not_trusted(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = GuardedDevice.make_pipeline

    def refuse(self: GuardedDevice, shader: Any, entry: str, places: Sequence[int], push_bytes: int) -> Any:
        if entry == "test":
            raise VulkanError("unknown error (vkCreateComputePipelines)", -13)
        return plain(self, shader, entry, places, push_bytes)

    monkeypatch.setattr(GuardedDevice, "make_pipeline", refuse)
    module, out = run_dots()
    assert out == WANTED
    assert "unknown error (vkCreateComputePipelines)" in module.diagnostics[0].notes[0]


def test_programs_without_dots_do_not_ask(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "run", None)
    cj.compile(NARROW.format("int32"), device="vulkan")
    assert run_dots(int_dot=False)[1] == WANTED
    with pytest.raises(TypeError):
        run_dots()


# ---- limits and failures


@pytest.fixture
def limits(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The device's own, which a test may change."""
    found = physical.choose("")
    copy: Any = Limits.from_buffer_copy(found.limits)
    monkeypatch.setattr(found, "limits", copy)
    return copy


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


# ---- the command line


def test_run_on_a_device(fresh: Any, cajetac: Cajetac) -> None:
    result = cajetac(
        *("run", "samples/signedness.cj", "--device", "vulkan:0", "--kernel", "both", "--arg", "out=zeros:int32:2"),
        *("--arg", "weights=uint8:0,5,10,15", "--arg", "activations=int8:-127,-90,-53,-16", "--grid", 1, "--block", 1),
    )
    assert result == (0, "out = int32[2] [-1220  6460]\n", "")


def test_run_with_less_than_the_device_has(fresh: Any, cajetac: Cajetac) -> None:
    words = (
        "run",
        "samples/dp4a.cj",
        "--device",
        "vulkan",
        "--kernel",
        "registers",
        "--arg",
        "out=zeros:int32:4",
        "--threads",
        1,
    )
    result = cajetac(*words, "--no-int-dot", "--target-env", "vulkan1.1", "--no-narrow-memory")
    assert (result.code, result.out) == (0, "out = int32[4] [   70   170  1025 -1240]\n")
    assert cajetac(*words, "--target-env", "vulkan1.1", "--no-int-dot", "--json").code == 0


def test_portable_devices_get_their_extension() -> None:
    known = frozenset({physical.PORTABLE_DEVICE, "VK_KHR_8bit_storage", "VK_KHR_swapchain"})
    assert physical.FeatureChain((1, 1), known).extensions == ["VK_KHR_8bit_storage", physical.PORTABLE_DEVICE]
    assert physical.FeatureChain((1, 2), known).extensions == [physical.PORTABLE_DEVICE]
    assert physical.FeatureChain((1, 3), frozenset()).extensions == []


def test_run_with_a_device_that_is_not_there(fresh: Any, cajetac: Cajetac) -> None:
    result = cajetac("run", "samples/dp4a.cj", "--device", "vulkan:99", "--kernel", "registers", "--threads", 1)
    assert result.code == 3
    assert result.err.startswith("error[E0601]: no Vulkan device `99`\n  = help: there are `vulkan:0 (")


def test_run_beyond_a_limit(limits: Any, cajetac: Cajetac) -> None:
    limits.group_size[0] = 4
    result = cajetac(
        *("run", "samples/dp4a.cj", "--device", "vulkan", "--kernel", "registers", "--arg", "out=zeros:int32:4"),
        *("--grid", 1, "--block", 5),
    )
    assert (result.code, result.out) == (3, "")
    assert "workgroups have at most 4 items along x, found 5" in result.err


def test_spirv_without_a_device_offers_one(cajetac: Cajetac) -> None:
    result = cajetac("run", "samples/dp4a.cj", "--target", "spirv", "--kernel", "registers", "--threads", 1)
    assert result.code == 3
    assert "`--device vulkan` runs it" in result.err


def test_devices_are_listed(fresh: Any, cajetac: Cajetac, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    result = cajetac("devices")
    assert result.code == 0
    head, row, *rest = result.out.splitlines()
    assert head.split() == ["device", "name", "type", "version", "int", "dot", "8-bit", "16-bit", "float16", "int64", "float64"]
    assert row.startswith("vulkan:0")
    assert "tested" in row
    assert any("maxStorageBufferRange" in line for line in rest)
    described = json.loads(cajetac("devices", "--json").out)
    assert described[0]["device"] == "vulkan:0"
    assert (described[0]["int_dot"]["advertised"], described[0]["int_dot"]["test"]) == (True, "passed")
    assert len(described[0]["limits"]["maxComputeWorkGroupCount"]) == 3
    monkeypatch.setattr(selftest, "expect", saturate)
    fresh.popitem()[1].close()
    listed = cajetac("devices").out
    assert "computes wrong, not used" in listed.splitlines()[1]
    assert "\nvulkan:0: OpSUDot (us) of bytes [" in listed
    monkeypatch.setenv("CAJETA_DEVICE_FEATURES", "shaderInt64")
    assert cajetac("devices").out.splitlines()[1].split()[-6:] == ["no", "no", "no", "no", "yes", "no"]


def test_devices_without_a_driver(absent: str, cajetac: Cajetac) -> None:
    result = cajetac("devices")
    assert (result.code, result.out) == (3, "")
    assert absent in result.err
    assert cajetac("devices", "k.cj").code == 2
