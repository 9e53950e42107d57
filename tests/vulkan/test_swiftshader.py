"""A second driver, which shares nothing with the first: SwiftShader, a processor's own. It has no types but those of 32 bits
and no narrow memory, so that what is optional is left out here for real.

What it lacks is refused by name; everything else has the bits of the reference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cajeta_dot as cj
from cajeta_dot.backends.vulkan import physical
from tests.fuzz.programs import make_program
from tests.fuzz.running import REFERENCE, Setting, differ, run
from tests.fuzz.writer import ON_A_GPU, WITHOUT_64_BITS
from tests.samples import programs

from .devices import LAVAPIPE, SWIFTSHADER, use_drivers
from .programs import NARROW, TEXT, WANTED, run_dots
from .test_calls import (
    ELEMENTS,
    copy_arrays,
    run_sample,
    test_an_access_outside_does_nothing,
    test_blocks_alternate_in_one_module,
    test_dots_of_edge_bytes,
    test_shared_memory_and_barriers,
)
from .test_devices import test_a_lying_driver_is_found_out, test_without_the_feature_dots_are_expanded
from .test_loops import test_long_loops_are_right_or_refused, test_watched_loops_raise_no_false_alarm

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

# Tests of the first driver that hold here as they are.
__all__ = [
    "test_a_lying_driver_is_found_out",
    "test_an_access_outside_does_nothing",
    "test_blocks_alternate_in_one_module",
    "test_dots_of_edge_bytes",
    "test_long_loops_are_right_or_refused",
    "test_shared_memory_and_barriers",
    "test_watched_loops_raise_no_false_alarm",
    "test_without_the_feature_dots_are_expanded",
]
pytestmark = pytest.mark.usefixtures("fresh")
WITHOUT_WIDE_TYPES = ("dp4a", "signedness")  # the samples that need no 64 bits
FEATURES = {"Int64": "shaderInt64", "Float64": "shaderFloat64"}  # by the capability that a module asks for
TINY = float(np.finfo(np.float32).tiny)
A_CASE = 10  # random programs
VULKAN = Setting("spirv", device="vulkan")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> None:
    use_drivers(monkeypatch, SWIFTSHADER)


def find_refused(text: str, **options: Any) -> set[str]:
    """The features for want of which a program is refused; none if it compiles. Each is told with its place and the device."""
    try:
        cj.compile(text, "k.cj", device="vulkan", **options)
    except cj.DeviceMissing as error:
        found = [told for told in error.diagnostics if told.severity == "error"]
        assert all(told.code == "E0601" and told.line and "vulkan:0 (SwiftShader" in told.message for told in found)
        return {name for told in found for name in re.findall(r"`(shader\w+)`", told.message)}
    return set()


# ---- samples


@pytest.mark.parametrize("name", programs.NAMES)
def test_samples_that_need_64_bits_are_refused(name: str) -> None:
    text = (programs.SAMPLES / f"{name}.cj").read_text(encoding="utf-8")
    assert find_refused(text) == (set() if name in WITHOUT_WIDE_TYPES else {"shaderInt64"})


@pytest.mark.parametrize("way", ["all features", "no optional features"])
@pytest.mark.parametrize("name", programs.NAMES)
def test_samples(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_sample(name, way, monkeypatch, wide=False)


# ---- types


@pytest.mark.parametrize("element", ELEMENTS)
def test_arrays_of_every_type_and_length(element: str) -> None:
    wanted = {"int64": "shaderInt64", "uint64": "shaderInt64", "float64": "shaderFloat64"}.get(element)
    assert find_refused(NARROW.format(element)) == ({wanted} if wanted else set())
    if not wanted:
        copy_arrays(element, narrow_memory=True)


# ---- random programs


def without_denormals(argument: Any) -> Any:
    """Those are zero here, as Vulkan allows (docs/vulkan.md)."""
    if isinstance(argument, float):
        return 0.0 if abs(argument) < TINY else argument
    if getattr(argument, "dtype", None) == np.float32:
        argument[np.abs(argument) < TINY] = 0
    return argument


@pytest.mark.parametrize(("first", "features"), [(10, None), (20, None), (1000, ""), (1010, "")])
def test_kernels_agree(first: int, features: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what the device has, and with nothing optional."""
    if features is not None:
        monkeypatch.setenv(physical.VARIABLE, features)
    for seed in range(first, first + A_CASE):
        program = make_program(seed, WITHOUT_64_BITS)
        program = program._replace(arguments=tuple(map(without_denormals, program.arguments)))
        difference = differ(program, run(program, Setting(REFERENCE)), run(program, VULKAN))
        assert not difference, f"seed {seed}: {difference}\n\n{program.text}"


def test_kernels_with_64_bits_are_refused() -> None:
    """For what their code asks for, no less and no more."""
    refused: list[set[str]] = []
    for seed in range(20):
        program = make_program(seed, ON_A_GPU)
        code = cj.compile(program.text, "k.cj", target="spirv").emit("spirv-asm")
        assert isinstance(code, str)
        wanted = {feature for capability, feature in FEATURES.items() if f"OpCapability {capability}\n" in code}
        refused.append(find_refused(program.text))
        assert refused[-1] == wanted, f"seed {seed}\n\n{program.text}"
    assert {*FEATURES.values()} in refused
    assert {"shaderInt64"} in refused


# ---- the device


def test_it_is_listed_and_passes_its_test(cajetac: Callable[..., Result]) -> None:
    head, row, *_ = cajetac("devices").out.splitlines()
    assert head.split()[-6:] == ["dot", "8-bit", "16-bit", "float16", "int64", "float64"]
    assert row.startswith("vulkan:0  SwiftShader")
    assert "tested" in row
    assert row.split()[-5:] == ["no"] * 5


def test_it_is_chosen_by_name_and_by_number(monkeypatch: pytest.MonkeyPatch, fresh: dict[Any, Any]) -> None:
    """Among two devices that are both there."""
    if not LAVAPIPE:
        pytest.skip("no other driver (Debian: mesa-vulkan-drivers)")
    use_drivers(monkeypatch, LAVAPIPE[0], SWIFTSHADER)
    names = [device.name for device in physical.find_devices()]
    (place,) = (number for number, name in enumerate(names) if "SwiftShader" in name)
    assert len(names) == 2
    for wish in ("vulkan:swiftshader", f"vulkan:{place}"):
        assert run_dots()[1] == WANTED
        with pytest.raises(cj.DeviceMissing, match=rf"`shaderInt64`, which `vulkan:{place} \(SwiftShader"):
            cj.compile(NARROW.format("int64"), device=wish)
        assert cj.compile(TEXT, device=wish).device == wish
    cj.compile(NARROW.format("int64"), device=f"vulkan:{1 - place}")
    with pytest.raises(cj.DeviceMissing, match="no Vulkan device `2`"):
        cj.compile(TEXT, device="vulkan:2")
    assert len(fresh) == 2
