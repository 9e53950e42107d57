"""The CUDA driver, and the devices that it has. Arguments of calls and names of attributes are those of the driver API."""

from __future__ import annotations

import os
import threading
from functools import cache
from importlib import import_module

from cajeta_dot.backends import DeviceInfo, NoDevice
from cajeta_dot.backends.devices import LaunchLimits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KIND = "cuda"
NO_PACKAGE = "CUDA devices need the Python package cuda-bindings, which is not installed"
NO_DRIVER = "no CUDA driver on this machine"
NO_DEVICE = "the CUDA driver finds no device"
FIRST_WITH_DP4A = (6, 1)
_AXES = ("X", "Y", "Z")


class CudaError(RuntimeError):
    """A call of the driver failed."""


class Driver:
    """`cuda.bindings.driver`, whose functions give a result first. Raises NoDevice where it is missing."""

    def __init__(self) -> None:
        try:
            self.api: Any = import_module("cuda.bindings.driver")
        except ImportError as error:
            raise NoDevice(NO_PACKAGE, "`pip install 'cajeta-dot[cuda]'`") from error
        try:
            self.call("cuInit", 0)
        except CudaError as error:
            raise NoDevice(f"{NO_DEVICE}: {error}") from error
        except RuntimeError as error:  # the package does not find the driver's library
            raise NoDevice(NO_DRIVER, "install NVIDIA's driver") from error

    def call(self, name: str, *arguments: Any) -> Any:
        """What a function gives behind its result. Raises CudaError."""
        result, *values = getattr(self.api, name)(*arguments)
        if int(result):
            _, text = self.api.cuGetErrorString(result)
            raise CudaError(f"{text.decode() if text else int(result)} ({name})")
        return values[0] if values else None

    def attribute(self, device: Any, name: str) -> int:
        which = getattr(self.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        number: int = self.call("cuDeviceGetAttribute", which, device)
        return number


class Device:
    """One device. Its context is the one that other CUDA libraries of the process use too."""

    def __init__(self, driver: Driver, index: int):
        self.driver, self.index = driver, index
        self.lock = threading.RLock()
        self.process = os.getpid()
        self._handle = driver.call("cuDeviceGet", index)
        name: bytes = driver.call("cuDeviceGetName", 256, self._handle)
        self.name = name.split(b"\0")[0].decode(errors="replace")
        self.capability = tuple(driver.attribute(self._handle, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
        self.limits = LaunchLimits(
            [driver.attribute(self._handle, f"MAX_BLOCK_DIM_{axis}") for axis in _AXES],
            driver.attribute(self._handle, "MAX_THREADS_PER_BLOCK"),
            [driver.attribute(self._handle, f"MAX_GRID_DIM_{axis}") for axis in _AXES],
            ("maxThreadsDim", "maxThreadsPerBlock", "maxGridSize"),
        )
        self._context: Any = None

    @property
    def title(self) -> str:
        return f"{KIND}:{self.index} ({self.name})"

    def enter(self) -> None:
        """Makes the device the calling thread's own. Raises CudaError."""
        if self.process != os.getpid():
            raise CudaError("it was opened by the parent process; compile the module in the process that runs it")
        if self._context is None:
            self._context = self.driver.call("cuDevicePrimaryCtxRetain", self._handle)
        self.driver.call("cuCtxSetCurrent", self._context)

    def describe(self) -> DeviceInfo:
        version = ".".join(map(str, self.capability))
        has_dot = self.capability >= FIRST_WITH_DP4A
        return DeviceInfo(
            KIND,
            self.index,
            self.name,
            "discrete GPU" if not self.driver.attribute(self._handle, "INTEGRATED") else "integrated GPU",
            f"sm {version}",
            "",
            dict.fromkeys(("8-bit", "16-bit", "float16", "int64", "float64"), True),
            {},
            {"advertised": has_dot, "accelerated": has_dot, "test": ""},
            {
                "maxThreadsPerBlock": self.limits.group_items,
                "maxThreadsDim": list(self.limits.group_size),
                "maxGridSize": list(self.limits.group_count),
            },
        )


@cache
def _open_driver(process: int) -> list[Device]:
    driver = Driver()
    return [Device(driver, index) for index in range(driver.call("cuDeviceGetCount"))]


def find_devices() -> list[Device]:
    """At least one, each once in a process. Raises NoDevice."""
    try:
        devices = _open_driver(os.getpid())
    except CudaError as error:
        raise NoDevice(f"CUDA can't be used: {error}") from error
    if not devices:
        raise NoDevice(NO_DEVICE)
    return devices
