"""Which device is taken, what it has, and what is said where there is none or it can't do something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cajeta_dot as cj
from cajeta_dot.backends import NoDevice
from cajeta_dot.backends.vulkan import physical, selftest, trials
from cajeta_dot.backends.vulkan.api import NO_DRIVER, Library, VulkanError

from .devices import GuardedDevice, skip_without_driver
from .programs import NARROW, TEXT, WANTED, run_dots

if TYPE_CHECKING:
    from tests.conftest import Result

    Cajetac = Callable[..., Result]

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
