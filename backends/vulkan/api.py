"""The part of Vulkan's C interface that computing needs, through ctypes: structures, numbers, and the loader.

Layouts, sTypes and results are those of vulkan_core.h. A structure that Vulkan takes by pointer begins with its sType and a
chain; `fill` puts the sType there. Handles of objects are 64 bits wide, those of instances, devices, queues and command
buffers are pointers.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

U32, U64, SIZE, POINTER, TEXT = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
WHOLE_SIZE = 0xFFFF_FFFF_FFFF_FFFF
COMPUTE = 0x20  # the shader stage
STORAGE_BUFFER = 7  # the kind of descriptor
TIMEOUT, DEVICE_LOST, NO_DRIVER = 2, -4, -9

# Library by platform. The Vulkan SDK's loader is the only interface on Windows; MoltenVK's own name is not tried.
_LOADERS = {"win32": ("vulkan-1.dll",), "darwin": ("libvulkan.1.dylib", "libvulkan.dylib")}
_OTHER_LOADERS = ("libvulkan.so.1", "libvulkan.so")

RESULTS = {
    -1: "out of host memory",
    -2: "out of device memory",
    -3: "initialization failed",
    DEVICE_LOST: "the device was lost: it was reset, for instance because a kernel ran too long or wrote outside its arrays",
    -5: "memory can't be mapped",
    -6: "layer not present",
    -7: "extension not present",
    -8: "feature not present",
    NO_DRIVER: "there is no driver that fits this loader",
    -10: "too many objects",
    -12: "fragmented pool",
    -13: "unknown error",
    -1000069000: "out of pool memory",
}
STRUCTURE_TYPES = {
    "ApplicationInfo": 0,
    "InstanceCreateInfo": 1,
    "DeviceQueueCreateInfo": 2,
    "DeviceCreateInfo": 3,
    "SubmitInfo": 4,
    "MemoryAllocateInfo": 5,
    "FenceCreateInfo": 8,
    "BufferCreateInfo": 12,
    "ShaderModuleCreateInfo": 16,
    "ShaderStageCreateInfo": 18,
    "ComputePipelineCreateInfo": 29,
    "PipelineLayoutCreateInfo": 30,
    "SetLayoutCreateInfo": 32,
    "DescriptorPoolCreateInfo": 33,
    "SetAllocateInfo": 34,
    "WriteSet": 35,
    "CommandPoolCreateInfo": 39,
    "CommandBufferAllocateInfo": 40,
    "CommandBufferBeginInfo": 42,
    "MemoryBarrier": 46,
    "Features": 1_000_059_000,
    "Properties": 1_000_059_001,
    "DotProperties": 1_000_280_001,
    "FloatProperties": 1_000_197_000,
}


class VulkanError(RuntimeError):
    """A call failed: `result` is what it gave, 0 where there was no call."""

    def __init__(self, message: str, result: int = 0):
        super().__init__(message)
        self.result = result


def structure(name: str, /, **fields: Any) -> Any:
    """A ctypes structure; those that Vulkan takes by pointer begin with their type and a chain."""
    head = {"type_number": U32, "next": POINTER} if name in STRUCTURE_TYPES else {}
    return type(name, (ctypes.Structure,), {"_fields_": list((head | fields).items())})


def fill(kind: Any, /, **content: Any) -> Any:
    """One of them, with its type number; fields that are not named are zero."""
    return kind(type_number=STRUCTURE_TYPES[kind.__name__], **content)


ApplicationInfo = structure("ApplicationInfo", name=TEXT, version=U32, engine=TEXT, engine_version=U32, api=U32)
InstanceCreateInfo = structure("InstanceCreateInfo", flags=U32, app=POINTER, nl=U32, layers=POINTER, ne=U32, names=POINTER)
DeviceQueueCreateInfo = structure("DeviceQueueCreateInfo", flags=U32, family=U32, count=U32, priorities=POINTER)
DeviceCreateInfo = structure(
    "DeviceCreateInfo", flags=U32, count=U32, queues=POINTER, nl=U32, layers=POINTER, ne=U32, names=POINTER, features=POINTER
)
SubmitInfo = structure("SubmitInfo", nw=U32, waits=POINTER, stages=POINTER, count=U32, buffers=POINTER, ns=U32, signals=POINTER)
MemoryAllocateInfo = structure("MemoryAllocateInfo", size=U64, kind=U32)
FenceCreateInfo = structure("FenceCreateInfo", flags=U32)
BufferCreateInfo = structure("BufferCreateInfo", flags=U32, size=U64, usage=U32, sharing=U32, count=U32, families=POINTER)
ShaderModuleCreateInfo = structure("ShaderModuleCreateInfo", flags=U32, size=SIZE, code=POINTER)
ShaderStageCreateInfo = structure("ShaderStageCreateInfo", flags=U32, stage=U32, module=U64, name=TEXT, special=POINTER)
ComputePipelineCreateInfo = structure(
    "ComputePipelineCreateInfo", flags=U32, stage=ShaderStageCreateInfo, layout=U64, base=U64, index=ctypes.c_int32
)
PipelineLayoutCreateInfo = structure("PipelineLayoutCreateInfo", flags=U32, sets=U32, layouts=POINTER, ranges=U32, push=POINTER)
SetLayoutCreateInfo = structure("SetLayoutCreateInfo", flags=U32, count=U32, bindings=POINTER)
DescriptorPoolCreateInfo = structure("DescriptorPoolCreateInfo", flags=U32, sets=U32, count=U32, sizes=POINTER)
SetAllocateInfo = structure("SetAllocateInfo", pool=U64, count=U32, layouts=POINTER)
WriteSet = structure(
    "WriteSet", set=U64, binding=U32, element=U32, count=U32, kind=U32, images=POINTER, buffers=POINTER, views=POINTER
)
CommandPoolCreateInfo = structure("CommandPoolCreateInfo", flags=U32, family=U32)
CommandBufferAllocateInfo = structure("CommandBufferAllocateInfo", pool=U64, level=U32, count=U32)
CommandBufferBeginInfo = structure("CommandBufferBeginInfo", flags=U32, inheritance=POINTER)
MemoryBarrier = structure("MemoryBarrier", source=U32, destination=U32)
Features = structure("Features", flags=U32 * 55)
DotProperties = structure("DotProperties", flags=U32 * 30)
FloatProperties = structure("FloatProperties", flags=U32 * 17)
Binding = structure("Binding", number=U32, kind=U32, count=U32, stages=U32, samplers=POINTER)
PushRange = structure("PushRange", stages=U32, offset=U32, size=U32)
PoolSize = structure("PoolSize", kind=U32, count=U32)
BufferRange = structure("BufferRange", buffer=U64, offset=U64, size=U64)
QueueFamily = structure("QueueFamily", flags=U32, count=U32, timestamps=U32, granularity=U32 * 3)
MemoryNeeds = structure("MemoryNeeds", size=U64, alignment=U64, kinds=U32)
MemoryKind = structure("MemoryKind", flags=U32, heap=U32)
MemoryHeap = structure("MemoryHeap", size=U64, flags=U32)
MemoryProperties = structure("MemoryProperties", count=U32, kinds=MemoryKind * 32, heaps=U32, heap=MemoryHeap * 16)
Extension = structure("Extension", name=ctypes.c_char * 256, version=U32)
# VkPhysicalDeviceLimits up to the last limit that matters here; what stands between is named by its count only.
Limits = structure(
    "Limits",
    images=U32 * 5,
    texels=U32,
    uniform_range=U32,
    storage_range=U32,
    push_constants=U32,
    allocations=U32 * 2,
    granularity=U64 * 2,
    sets=U32 * 3,
    storage_buffers=U32,
    other_descriptors=U32 * 12,
    vertex=U32 * 5,
    tessellation=U32 * 8,
    geometry=U32 * 5,
    fragment=U32 * 4,
    shared_memory=U32,
    group_count=U32 * 3,
    group_items=U32,
    group_size=U32 * 3,
)
Properties = structure(
    "Properties",
    api=U32,
    driver=U32,
    vendor=U32,
    device=U32,
    kind=U32,
    name=ctypes.c_char * 256,
    cache=ctypes.c_uint8 * 16,
    limits=Limits,
    rest=ctypes.c_uint8 * 512,  # the limits behind those, and what sparse images can do
)


class Library:
    """The loader. Raises OSError where there is none."""

    def __init__(self) -> None:
        self._loader = _open_loader()
        self._functions: dict[str, Any] = {}

    def call(self, name: str, *arguments: Any) -> int:
        """A function with a result. Raises VulkanError for a negative one."""
        result: int = self._find(name, ctypes.c_int32)(*arguments)
        if result < 0:
            raise VulkanError(f"{RESULTS.get(result, f'result {result}')} ({name})", result)
        return result

    def command(self, name: str, *arguments: Any) -> None:
        """A function without a result."""
        self._find(name, None)(*arguments)

    def has(self, name: str) -> bool:
        return hasattr(self._loader, name)

    def count(self, name: str, kind: Any, *arguments: Any, failing: bool = False) -> Any:
        """What an enumeration gives: asked for its length first. `failing`: it has a result."""
        ask = self.call if failing else self.command
        number = U32(0)
        ask(name, *arguments, ctypes.byref(number), None)
        found = (kind * number.value)()
        ask(name, *arguments, ctypes.byref(number), found)
        return found

    def _find(self, name: str, result: Any) -> Any:
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = getattr(self._loader, name)
            function.restype = result
        return function


def _open_loader() -> ctypes.CDLL:
    names = [ctypes.util.find_library("vulkan") or "", *_LOADERS.get(sys.platform, _OTHER_LOADERS)]
    return _open_first([name for name in names if name])


def _open_first(names: Sequence[str]) -> ctypes.CDLL:
    for name in names[:-1]:
        try:
            return ctypes.CDLL(name)
        except OSError:  # the next one may be there
            continue
    return ctypes.CDLL(names[-1])


def version_of(number: int) -> tuple[int, int, int]:
    """VK_MAKE_API_VERSION taken apart."""
    return number >> 22 & 0x7F, number >> 12 & 0x3FF, number & 0xFFF
