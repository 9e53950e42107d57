"""The Vulkan device of the tests, watched for stores outside arrays, and the line that says so where there is none.

The software driver lavapipe is taken where it is installed (Debian: mesa-vulkan-drivers, libvulkan1), unless the environment
names another. `make test` brings a second one, SwiftShader, on which some of the tests run as well.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cajeta_dot.backends import NoDevice
from cajeta_dot.backends.vulkan import device as devices
from cajeta_dot.backends.vulkan import physical
from cajeta_dot.backends.vulkan.device import Buffer, Device, bound_size
from cajeta_dot.backends.vulkan.physical import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LAVAPIPE = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
if LAVAPIPE:
    os.environ.setdefault("VK_ICD_FILENAMES", str(LAVAPIPE[0]))
SWIFTSHADER = Path(sys.prefix, "swiftshader", "vk_swiftshader_icd.json")
HINT = "on Debian: apt-get install mesa-vulkan-drivers libvulkan1"
GUARD = bytes(range(1, 129)) * 2
_problems: set[str] = set()
_instances: dict[str, dict[int, Any]] = {}  # of each list of drivers


class GuardedDevice(Device):
    """Buffers go on behind their arrays: what a kernel has stored there is found after the launch.

    `reach` says whether kernels may reach that part, so that a store too far shows and the driver hides nothing.
    """

    reach = True

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.ends: dict[int, int] = {}

    def bound(self, array: NDArray[Any]) -> int:
        return bound_size(array) + (len(GUARD) if self.reach else 0)

    def take_buffer(self, size: int) -> Buffer:
        return super().take_buffer(size + len(GUARD))

    def fill_buffer(self, buffer: Buffer, array: NDArray[Any]) -> None:
        super().fill_buffer(buffer, array)
        self.ends[buffer.address] = buffer.address + bound_size(array)
        ctypes.memmove(self.ends[buffer.address], GUARD, len(GUARD))

    def keep_buffer(self, buffer: Buffer) -> None:
        end = self.ends.pop(buffer.address, None)
        found = GUARD if end is None else ctypes.string_at(end, len(GUARD))
        super().keep_buffer(buffer)
        assert found == GUARD, "a kernel stores behind an array"


def use_drivers(monkeypatch: pytest.MonkeyPatch, *files: Path) -> None:
    """For this test, the loader finds these drivers and no other; the test is skipped where one is absent."""
    for file in files:
        if not file.exists():
            pytest.skip(f"no driver {file} (`make swiftshader` fetches it on Debian)")
    names = os.pathsep.join(map(str, files))
    monkeypatch.delenv("VK_DRIVER_FILES", raising=False)
    monkeypatch.setenv("VK_ICD_FILENAMES", names)
    monkeypatch.setattr(physical, "_instances", _instances.setdefault(names, {}))


@cache
def find_problem() -> str:
    """Why there is no device here, or nothing."""
    try:
        choose("")
    except NoDevice as error:
        return error.message
    return ""


def skip_without_driver() -> None:
    if find_problem():
        _problems.add(find_problem())
        pytest.skip(f"no Vulkan driver ({find_problem()}); {HINT}")


@pytest.fixture(scope="session")
def device() -> Iterator[GuardedDevice]:
    """A device of its own; tests that ask for it are skipped where there is none."""
    skip_without_driver()
    found = GuardedDevice(choose(""))
    yield found
    found.close()


@pytest.fixture
def driver() -> None:
    """What the loader finds. A module that wants another driver has a fixture of this name."""
    skip_without_driver()


@pytest.fixture
def fresh(driver: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[Any, Any]]:
    """No device is open yet; those that are opened have guard words behind their buffers, and are closed behind the test."""
    known: dict[Any, Any] = {}
    monkeypatch.setattr(devices, "Device", GuardedDevice)
    monkeypatch.setattr(devices, "_devices", known)
    yield known
    for opened in known.values():
        if not opened.lost:
            opened.close()


def run_module(
    device: Device, spirv: bytes, entry: str, arrays: Sequence[NDArray[Any]], groups: tuple[int, int, int], push: bytes
) -> None:
    """One launch of a module; its arrays are updated in place."""
    shader = device.make_shader(spirv)
    try:
        pipeline = device.make_pipeline(shader, entry, range(len(arrays)), len(push))
        try:
            device.launch(pipeline, arrays, frozenset(range(len(arrays))), groups, push)
        finally:
            device.destroy_all(pipeline.owned)
    finally:
        device.destroy_all([("ShaderModule", shader)])


def tell_problems(terminalreporter: pytest.TerminalReporter) -> None:
    """At the end of a run, once."""
    while _problems:
        terminalreporter.write_line(f"NOTHING WAS RUN ON A VULKAN DRIVER: {_problems.pop()}; {HINT}", red=True, bold=True)
