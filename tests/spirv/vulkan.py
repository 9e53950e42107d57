"""Runs compute shaders on a Vulkan device without a display: ctypes, libvulkan and nothing else.

    with open_device() as device:
        device.run(spirv, "kernel", arrays, groups=(4, 1, 1), push=b"...")

Arrays are numpy arrays; they are bound to set 0 in order and updated in place. The software driver lavapipe is taken where
it is installed (Debian: mesa-vulkan-drivers, libvulkan1). The numbers of `sType` and the order of fields are those of
vulkan_core.h; a structure that is passed by pointer has its type number in STRUCTURE_TYPES.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from numpy.typing import NDArray

LAVAPIPE = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
U32, U64, SIZE, POINTER, TEXT = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
WHOLE_SIZE = 0xFFFF_FFFF_FFFF_FFFF
COMPUTE_STAGE, STORAGE_BUFFER, STORAGE_USAGE, COMPUTE_QUEUE, COMPUTE_BIND_POINT = 0x20, 7, 0x20, 2, 1
HOST_VISIBLE_COHERENT = 6
API_VERSION = 1 << 22 | 3 << 12


class VulkanError(RuntimeError):
    """A call failed, or there is no device."""


STRUCTURE_TYPES = {
    "ApplicationInfo": 0,
    "InstanceCreateInfo": 1,
    "DeviceQueueCreateInfo": 2,
    "DeviceCreateInfo": 3,
    "SubmitInfo": 4,
    "MemoryAllocateInfo": 5,
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
    "Features": 1_000_059_000,
    "Features11": 49,
    "Features12": 51,
    "Features13": 53,
}


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
Features = structure("Features", flags=U32 * 55)
Features11 = structure("Features11", flags=U32 * 12)
Features12 = structure("Features12", flags=U32 * 47)
Features13 = structure("Features13", flags=U32 * 15)
Binding = structure("Binding", number=U32, kind=U32, count=U32, stages=U32, samplers=POINTER)
PushRange = structure("PushRange", stages=U32, offset=U32, size=U32)
PoolSize = structure("PoolSize", kind=U32, count=U32)
BufferRange = structure("BufferRange", buffer=U64, offset=U64, size=U64)
QueueFamily = structure("QueueFamily", flags=U32, count=U32, timestamps=U32, granularity=U32 * 3)
MemoryNeeds = structure("MemoryNeeds", size=U64, alignment=U64, kinds=U32)
MemoryKind = structure("MemoryKind", flags=U32, heap=U32)
MemoryHeap = structure("MemoryHeap", size=U64, flags=U32)
MemoryProperties = structure("MemoryProperties", count=U32, kinds=MemoryKind * 32, heaps=U32, heap=MemoryHeap * 16)


@contextmanager
def open_device() -> Generator[Device]:
    """The first device, with every feature it has. Raises OSError without a loader, VulkanError without a driver."""
    if LAVAPIPE:
        os.environ.setdefault("VK_ICD_FILENAMES", str(LAVAPIPE[0]))
    with ExitStack() as stack:
        yield Device(Library(), stack)


class Library:
    """The loader. `call` raises VulkanError for a negative result."""

    def __init__(self) -> None:
        self.loader = ctypes.CDLL(ctypes.util.find_library("vulkan") or "libvulkan.so.1")

    def call(self, name: str, *arguments: Any) -> None:
        result: int = self.loader[name](*arguments)
        if result < 0:
            raise VulkanError(f"{name} gives {result}")

    def command(self, name: str, *arguments: Any) -> None:
        """A function without a result."""
        function = self.loader[name]
        function.restype = None
        function(*arguments)

    def count(self, name: str, owner: Any, kind: Any) -> Any:
        """What an enumeration gives: asked for its length first."""
        number = U32(0)
        self.command(name, owner, ctypes.byref(number), None)
        found = (kind * number.value)()
        self.command(name, owner, ctypes.byref(number), found)
        return found


class Device:
    """A logical device with one compute queue. What it makes lives until the stack is closed."""

    def __init__(self, library: Library, stack: ExitStack):
        self.library, self.stack = library, stack
        app = fill(ApplicationInfo, api=API_VERSION)
        info = fill(InstanceCreateInfo, app=ctypes.addressof(app))
        self.instance = POINTER()
        library.call("vkCreateInstance", ctypes.byref(info), None, ctypes.byref(self.instance))
        stack.callback(library.command, "vkDestroyInstance", self.instance, None)
        found = library.count("vkEnumeratePhysicalDevices", self.instance, POINTER)
        if not len(found):
            raise VulkanError("no Vulkan device")
        self.physical = POINTER(found[0])
        self.handle = POINTER()
        self._create()
        stack.callback(library.command, "vkDestroyDevice", self.handle, None)
        self.queue = POINTER()
        library.command("vkGetDeviceQueue", self.handle, U32(self.family), U32(0), ctypes.byref(self.queue))
        self.memory = MemoryProperties()
        library.command("vkGetPhysicalDeviceMemoryProperties", self.physical, ctypes.byref(self.memory))
        self.pool = self._make(stack, "CommandPool", fill(CommandPoolCreateInfo, flags=2, family=self.family))

    def _create(self) -> None:
        """With every feature that the device reports: the chain that was asked is passed back."""
        library = self.library
        families = library.count("vkGetPhysicalDeviceQueueFamilyProperties", self.physical, QueueFamily)
        self.family = next(at for at, family in enumerate(families) if family.flags & COMPUTE_QUEUE)
        newest = fill(Features13)
        newer = fill(Features12, next=ctypes.addressof(newest))
        new = fill(Features11, next=ctypes.addressof(newer))
        features = fill(Features, next=ctypes.addressof(new))
        library.command("vkGetPhysicalDeviceFeatures2", self.physical, ctypes.byref(features))
        priority = ctypes.c_float(1.0)
        queue = fill(DeviceQueueCreateInfo, family=self.family, count=1, priorities=ctypes.addressof(priority))
        info = fill(DeviceCreateInfo, next=ctypes.addressof(features), count=1, queues=ctypes.addressof(queue))
        library.call("vkCreateDevice", self.physical, ctypes.byref(info), None, ctypes.byref(self.handle))

    def _make(self, stack: ExitStack, what: str, info: Any) -> Any:
        """An object of the device, destroyed when the stack is closed."""
        made = U64()
        self.library.call(f"vkCreate{what}", self.handle, ctypes.byref(info), None, ctypes.byref(made))
        stack.callback(self.library.command, f"vkDestroy{what}", self.handle, made, None)
        return made

    def run(
        self,
        spirv: bytes,
        entry: str,
        arrays: Sequence[NDArray[Any]],
        groups: tuple[int, int, int] = (1, 1, 1),
        push: bytes = b"",
    ) -> None:
        """One launch, waited for. Buffers are as long as their arrays, rounded up to four bytes."""
        with ExitStack() as stack:
            buffers = [self._upload(stack, array) for array in arrays]
            set_layout, layout = self._lay_out(stack, len(arrays), len(push))
            pipeline = self._compile(stack, spirv, entry, layout)
            bound = self._bind(stack, set_layout, [buffer for buffer, _ in buffers])
            self._submit(pipeline, layout, bound, groups, push)
            for array, (_, address) in zip(arrays, buffers, strict=True):
                ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def _upload(self, stack: ExitStack, array: NDArray[Any]) -> tuple[Any, Any]:
        """A buffer with the content of an array, and where the host sees it."""
        library = self.library
        size = max(4, -(-array.nbytes // 4) * 4)
        buffer = self._make(stack, "Buffer", fill(BufferCreateInfo, size=size, usage=STORAGE_USAGE))
        needs = MemoryNeeds()
        library.command("vkGetBufferMemoryRequirements", self.handle, buffer, ctypes.byref(needs))
        kind = next(
            at
            for at in range(self.memory.count)
            if needs.kinds >> at & 1 and self.memory.kinds[at].flags & HOST_VISIBLE_COHERENT == HOST_VISIBLE_COHERENT
        )
        memory, address = U64(), POINTER()
        info = fill(MemoryAllocateInfo, size=needs.size, kind=kind)
        library.call("vkAllocateMemory", self.handle, ctypes.byref(info), None, ctypes.byref(memory))
        stack.callback(library.command, "vkFreeMemory", self.handle, memory, None)
        library.call("vkBindBufferMemory", self.handle, buffer, memory, U64(0))
        library.call("vkMapMemory", self.handle, memory, U64(0), U64(WHOLE_SIZE), U32(0), ctypes.byref(address))
        ctypes.memmove(address, array.ctypes.data, array.nbytes)
        return buffer, address

    def _lay_out(self, stack: ExitStack, count: int, push: int) -> tuple[Any, Any]:
        bindings = (Binding * max(count, 1))(*(Binding(at, STORAGE_BUFFER, 1, COMPUTE_STAGE, None) for at in range(count)))
        info = fill(SetLayoutCreateInfo, count=count, bindings=ctypes.addressof(bindings))
        set_layout = self._make(stack, "DescriptorSetLayout", info)
        layouts, ranges = (U64 * 1)(set_layout), PushRange(COMPUTE_STAGE, 0, push)
        info = fill(
            PipelineLayoutCreateInfo,
            sets=1,
            layouts=ctypes.addressof(layouts),
            ranges=int(push > 0),
            push=ctypes.addressof(ranges),
        )
        return set_layout, self._make(stack, "PipelineLayout", info)

    def _compile(self, stack: ExitStack, spirv: bytes, entry: str, layout: Any) -> Any:
        code = ctypes.create_string_buffer(spirv, len(spirv))
        module = self._make(stack, "ShaderModule", fill(ShaderModuleCreateInfo, size=len(spirv), code=ctypes.addressof(code)))
        stage = fill(ShaderStageCreateInfo, stage=COMPUTE_STAGE, module=module, name=entry.encode())
        info = fill(ComputePipelineCreateInfo, stage=stage, layout=layout, index=-1)
        pipeline = U64()
        made = ctypes.byref(pipeline)
        self.library.call("vkCreateComputePipelines", self.handle, U64(0), U32(1), ctypes.byref(info), None, made)
        stack.callback(self.library.command, "vkDestroyPipeline", self.handle, pipeline, None)
        return pipeline

    def _bind(self, stack: ExitStack, set_layout: Any, buffers: Sequence[Any]) -> Any:
        size = PoolSize(STORAGE_BUFFER, max(1, len(buffers)))
        info = fill(DescriptorPoolCreateInfo, sets=1, count=1, sizes=ctypes.addressof(size))
        pool = self._make(stack, "DescriptorPool", info)
        layouts, bound = (U64 * 1)(set_layout), U64()
        info = fill(SetAllocateInfo, pool=pool, count=1, layouts=ctypes.addressof(layouts))
        self.library.call("vkAllocateDescriptorSets", self.handle, ctypes.byref(info), ctypes.byref(bound))
        ranges = [BufferRange(buffer, 0, WHOLE_SIZE) for buffer in buffers]
        writes = [
            fill(WriteSet, set=bound, binding=at, count=1, kind=STORAGE_BUFFER, buffers=ctypes.addressof(place))
            for at, place in enumerate(ranges)
        ]
        array = (WriteSet * max(1, len(writes)))(*writes)
        self.library.command("vkUpdateDescriptorSets", self.handle, U32(len(writes)), array, U32(0), None)
        return bound

    def _submit(self, pipeline: Any, layout: Any, bound: Any, groups: tuple[int, int, int], push: bytes) -> None:
        library, commands = self.library, POINTER()
        info = fill(CommandBufferAllocateInfo, pool=self.pool, count=1)
        library.call("vkAllocateCommandBuffers", self.handle, ctypes.byref(info), ctypes.byref(commands))
        begin = fill(CommandBufferBeginInfo, flags=1)
        library.call("vkBeginCommandBuffer", commands, ctypes.byref(begin))
        point, one, none = U32(COMPUTE_BIND_POINT), U32(1), U32(0)
        library.command("vkCmdBindPipeline", commands, point, pipeline)
        library.command("vkCmdBindDescriptorSets", commands, point, layout, none, one, ctypes.byref(bound), none, None)
        if push:
            library.command("vkCmdPushConstants", commands, layout, U32(COMPUTE_STAGE), none, U32(len(push)), push)
        library.command("vkCmdDispatch", commands, *(U32(count) for count in groups))
        library.call("vkEndCommandBuffer", commands)
        buffers = (POINTER * 1)(commands)
        submit = fill(SubmitInfo, count=1, buffers=ctypes.addressof(buffers))
        library.call("vkQueueSubmit", self.queue, one, ctypes.byref(submit), U64(0))
        library.call("vkQueueWaitIdle", self.queue)
        library.command("vkFreeCommandBuffers", self.handle, self.pool, one, ctypes.byref(commands))
