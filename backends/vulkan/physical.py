"""The Vulkan devices of this machine: found, described, one of them chosen. Nothing is opened on them here.

Optional features are those of the table; which a device may use can be narrowed by CAJETA_DEVICE_FEATURES, a comma list of
their names (empty: none), as CAJETA_HOST_FEATURES does it for processors.
"""

from __future__ import annotations

import ctypes
import os

from cajeta_dot.backends import DeviceInfo, NoDevice
from cajeta_dot.backends.vulkan import api
from cajeta_dot.backends.vulkan.api import POINTER, U32, Library, VulkanError, fill
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

KIND = "vulkan"
NO_LOADER = "no Vulkan loader on this machine"
NO_DEVICE = "the Vulkan loader finds no device"
INSTALL = "install the driver of the GPU; one for the CPU is, on Debian, `apt install libvulkan1 mesa-vulkan-drivers`"
LEAST, NEWEST = (1, 1), (1, 3)  # versions of Vulkan that are made use of
VARIABLE = "CAJETA_DEVICE_FEATURES"
# Devices that lack something of Vulkan, such as those of macOS, are listed and opened only where these are asked for.
PORTABILITY, PORTABLE_DEVICE = "VK_KHR_portability_enumeration", "VK_KHR_portability_subset"
# By VkPhysicalDeviceType; where nobody chooses, the first device of the kind that comes first in PREFERENCE is taken.
DEVICE_KINDS = ("other", "integrated GPU", "discrete GPU", "virtual GPU", "CPU")
PREFERENCE = ("discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other")


@record
class Feature:
    """An optional feature: the sType of the structure it is in (0: Vulkan 1.0's own), its place among the structure's
    `count` flags, and, unless it has always been there, the extension it came with and the version that took it up."""

    name: str
    structure: int
    count: int
    place: int
    extension: str = ""
    core: tuple[int, int] = (9, 9)


FEATURES = (
    Feature("robustBufferAccess", 0, 55, 0),
    Feature("shaderFloat64", 0, 55, 39),
    Feature("shaderInt64", 0, 55, 40),
    Feature("storageBuffer16BitAccess", 1_000_083_000, 4, 0, "VK_KHR_16bit_storage", (1, 1)),
    Feature("storageBuffer8BitAccess", 1_000_177_000, 3, 0, "VK_KHR_8bit_storage", (1, 2)),
    Feature("shaderFloat16", 1_000_082_000, 2, 0, "VK_KHR_shader_float16_int8", (1, 2)),
    Feature("shaderIntegerDotProduct", 1_000_280_000, 1, 0, "VK_KHR_shader_integer_dot_product", (1, 3)),
    Feature("robustBufferAccess2", 1_000_286_000, 3, 0, "VK_EXT_robustness2"),
)
# Those that keep an access outside a buffer from reaching anything else: always on where they are there.
PROTECTION = ("robustBufferAccess", "robustBufferAccess2")
DOT = "shaderIntegerDotProduct"
# Memory and types beside 32 bits -> the feature.
_ELEMENTS = {
    "8-bit": "storageBuffer8BitAccess",
    "16-bit": "storageBuffer16BitAccess",
    "float16": "shaderFloat16",
    "int64": "shaderInt64",
    "float64": "shaderFloat64",
}
# Places of integerDotProduct4x8BitPacked{Unsigned,Signed,MixedSignedness}Accelerated among the dot properties.
_ACCELERATED = (3, 4, 5)
ZEROS = "shaderSignedZeroInfNanPreserve"
_ZEROS_OF = {32: 3, 64: 4}  # places of that with Float32 and Float64 behind it, among the float properties
_FLOAT_CONTROLS = (1, 2)  # the version of Vulkan that took them up


class FeatureChain:
    """The structures in which a device's features are asked for and turned on, linked to each other.

    Only those are linked that the device knows, by its version or an extension; `extensions` are those it takes.
    """

    def __init__(self, version: tuple[int, int], extensions: frozenset[str]):
        self.known = [f for f in FEATURES if not f.structure or version >= f.core or f.extension in extensions]
        needed = {f.extension for f in self.known if f.extension and version < f.core}
        self.extensions = sorted(needed | extensions & {PORTABLE_DEVICE})
        self.first = fill(api.Features)
        self._parts: dict[int, Any] = {0: self.first}
        for feature in self.known:
            if feature.structure not in self._parts:
                kind = api.structure("Features", flags=U32 * feature.count)
                part = kind(type_number=feature.structure, next=self.first.next)
                self.first.next = ctypes.addressof(part)
                self._parts[feature.structure] = part

    def read(self) -> frozenset[str]:
        """The names of what is on."""
        return frozenset(f.name for f in self.known if self._parts[f.structure].flags[f.place])

    def turn_on(self, names: frozenset[str]) -> None:
        for feature in self.known:
            if feature.name in names:
                self._parts[feature.structure].flags[feature.place] = 1


class Instance:
    """The loader and what it finds. One for each process; it stays until the process ends.

    Raises NoDevice where there is no loader, or none that takes Vulkan 1.1.
    """

    def __init__(self) -> None:
        try:
            self.library = Library()
        except OSError as error:
            raise NoDevice(NO_LOADER, INSTALL) from error
        version = self._read_version()
        if version < LEAST:
            raise NoDevice("the Vulkan loader takes version 1.0 only, 1.1 is needed", INSTALL)
        self.version = min(version, NEWEST)
        major, minor = self.version
        app = fill(api.ApplicationInfo, name=b"cajetac", api=major << 22 | minor << 12)
        listed = self.library.count("vkEnumerateInstanceExtensionProperties", api.Extension, None, failing=True)
        portable = PORTABILITY.encode() in [extension.name for extension in listed]
        names = (api.TEXT * 1)(PORTABILITY.encode())
        info = fill(
            api.InstanceCreateInfo,
            flags=int(portable),
            app=ctypes.addressof(app),
            ne=int(portable),
            names=ctypes.addressof(names),
        )
        self.handle = POINTER()
        try:
            self.library.call("vkCreateInstance", ctypes.byref(info), None, ctypes.byref(self.handle))
            found = self.library.count("vkEnumeratePhysicalDevices", POINTER, self.handle, failing=True)
        except VulkanError as error:
            message = NO_DEVICE if error.result == api.NO_DRIVER else f"Vulkan can't be used: {error}"
            raise NoDevice(message, INSTALL) from error
        self.devices = [Physical(self, index, POINTER(handle)) for index, handle in enumerate(found)]

    def _read_version(self) -> tuple[int, int]:
        if not self.library.has("vkEnumerateInstanceVersion"):
            return 1, 0
        number = U32(0)
        self.library.call("vkEnumerateInstanceVersion", ctypes.byref(number))
        return api.version_of(number.value)[:2]


class Physical:
    """A device as the driver describes it. `has` are the optional features of the table that it has."""

    def __init__(self, instance: Instance, index: int, handle: Any):
        self.instance, self.index, self.handle = instance, index, handle
        library = instance.library
        dots = fill(api.DotProperties)
        found = fill(api.Properties)
        library.command("vkGetPhysicalDeviceProperties", handle, ctypes.byref(found, api.Properties.api.offset))
        self.whole_version = api.version_of(found.api)
        self.version = min(self.whole_version[:2], instance.version)
        self.name = found.name.decode(errors="replace")
        number: int = found.kind
        self.kind = DEVICE_KINDS[number] if number < len(DEVICE_KINDS) else "other"
        self.limits = found.limits
        self.missing = "" if self.version >= LEAST else "Vulkan 1.1"
        self.has: frozenset[str] = frozenset()
        self.extensions: frozenset[str] = frozenset()
        self.accelerated = False
        if self.missing:
            return
        listed = library.count("vkEnumerateDeviceExtensionProperties", api.Extension, handle, None, failing=True)
        self.extensions = frozenset(extension.name.decode(errors="replace") for extension in listed)
        chain = FeatureChain(self.version, self.extensions)
        library.command("vkGetPhysicalDeviceFeatures2", handle, ctypes.byref(chain.first))
        self.has = chain.read()
        if self.version >= _FLOAT_CONTROLS:
            floats = fill(api.FloatProperties)
            found.next = ctypes.addressof(floats)
            library.command("vkGetPhysicalDeviceProperties2", handle, ctypes.byref(found))
            widths = (32, 64) if "shaderFloat64" in self.has else (32,)
            if all(floats.flags[_ZEROS_OF[bits]] for bits in widths):
                self.has |= {ZEROS}
        if DOT in self.has:
            found.next = ctypes.addressof(dots)
            library.command("vkGetPhysicalDeviceProperties2", handle, ctypes.byref(found))
            self.accelerated = all(dots.flags[place] for place in _ACCELERATED)

    @property
    def features(self) -> frozenset[str]:
        """Those that may be used: without what the environment variable leaves out; what protects memory always stays."""
        wish = os.environ.get(VARIABLE)
        return self.has if wish is None else self.has & {*PROTECTION, *(name.strip() for name in wish.split(","))}

    @property
    def title(self) -> str:
        """`vulkan:0 (llvmpipe ...)`, as messages name it."""
        return f"{KIND}:{self.index} ({self.name})"

    def describe(self, dot_test: str) -> DeviceInfo:
        """What `cajetac devices` lists."""
        limits = self.limits
        return DeviceInfo(
            KIND,
            self.index,
            self.name,
            self.kind,
            ".".join(map(str, self.whole_version)),
            self.missing,
            {word: feature in self.features for word, feature in _ELEMENTS.items()},
            {feature.name: feature.name in self.features for feature in FEATURES},
            {"advertised": DOT in self.features, "accelerated": self.accelerated, "test": dot_test},
            {
                "maxStorageBufferRange": limits.storage_range,
                "maxPerStageDescriptorStorageBuffers": limits.storage_buffers,
                "maxPushConstantsSize": limits.push_constants,
                "maxComputeSharedMemorySize": limits.shared_memory,
                "maxComputeWorkGroupCount": list(limits.group_count),
                "maxComputeWorkGroupInvocations": limits.group_items,
                "maxComputeWorkGroupSize": list(limits.group_size),
            },
        )


# ---- one instance for each process

_instances: dict[int, Instance] = {}


def find_instance() -> Instance:
    """This process's own: a child of `fork` can't go on with its parent's. Raises NoDevice."""
    process = os.getpid()
    if process not in _instances:
        _instances[process] = Instance()
    return _instances[process]


def find_devices() -> list[Physical]:
    """At least one. Raises NoDevice."""
    devices = find_instance().devices
    if not devices:
        raise NoDevice(NO_DEVICE, INSTALL)
    return devices


def choose(wish: str) -> Physical:
    """The device for what stands behind `vulkan:`, an index or a part of a name; empty is the one that is likely fastest.

    Raises NoDevice.
    """
    found = _pick(find_devices(), wish)
    if found.missing:
        raise NoDevice(f"`{found.title}` needs {found.missing}, has {found.whole_version[0]}.{found.whole_version[1]}")
    return found


def _pick(devices: Sequence[Physical], wish: str) -> Physical:
    offer = "there are " + ", ".join(f"`{device.title}`" for device in devices)
    if not wish:
        return min(devices, key=lambda device: (bool(device.missing), PREFERENCE.index(device.kind)))
    if wish.isascii() and wish.isdigit():
        if int(wish) < len(devices):
            return devices[int(wish)]
        raise NoDevice(f"no Vulkan device `{wish}`", offer)
    fitting = [device for device in devices if wish.lower() in device.name.lower()]
    if len(fitting) > 1:
        raise NoDevice(f"`{wish}` fits {len(fitting)} Vulkan devices", offer)
    if not fitting:
        raise NoDevice(f"no Vulkan device `{wish}`", offer)
    return fitting[0]
