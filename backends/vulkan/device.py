"""A Vulkan device that was opened: its memory, its pipelines, and a launch on it.

Buffers are storage buffers in memory that the processor sees too; they are kept for the next launch. Each ends at the end of
its array, rounded up to a word, so that a device with `robustBufferAccess`, which every one has, reaches nothing else. One
launch runs at a time. What is thrown while it runs, also by Ctrl-C, gives the device up: nothing can be known of its state.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading

from cajeta_dot.backends.vulkan import api
from cajeta_dot.backends.vulkan.api import COMPUTE, POINTER, STORAGE_BUFFER, U32, U64, VulkanError, fill
from cajeta_dot.backends.vulkan.physical import FeatureChain, Physical, choose
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from numpy.typing import NDArray

_COMPUTE_QUEUE, _STORAGE_USAGE, _BIND_COMPUTE = 2, 0x20, 1
_VISIBLE, _COHERENT, _CACHED = 2, 4, 8  # properties of memory; cached memory is read faster, and not every device has it
_MEMORY_WISHES = (_VISIBLE | _COHERENT | _CACHED, _VISIBLE | _COHERENT)
_COMPUTE_STAGE, _HOST_STAGE, _SHADER_WRITE, _HOST_READ = 0x800, 0x4000, 0x40, 0x2000
_RESETTABLE = 2  # command buffers one by one
_WAIT = 100_000_000  # nanoseconds until Python may see Ctrl-C
_MOST_KEPT = 256 << 20  # bytes of buffers that wait for a next launch
_MEBIBYTE = 1 << 20


@record
class Buffer:
    """Memory of `size` bytes, seen by the processor at `address`."""

    handle: Any
    memory: Any
    address: int
    size: int


@record
class Pipeline:
    """A kernel ready to run. `places` are the bindings of its arrays, `bound` the descriptors that a launch points to them."""

    handle: Any
    layout: Any
    places: tuple[int, ...]
    bound: Any
    owned: tuple[tuple[str, Any], ...]


def bound_size(array: NDArray[Any]) -> int:
    """Bytes of an array as a kernel sees it: whole words, and at least one."""
    return max(4, -(-array.nbytes // 4) * 4)


class Device:
    """A logical device with one compute queue. `lost` says why it can't be used any more, or is empty.

    `dot_fault` and `loop_fault` are for the trials of its driver: None as long as nobody has asked.
    """

    def __init__(self, physical: Physical):
        self.physical, self.library = physical, physical.instance.library
        self.features = physical.features
        self.lock = threading.RLock()
        self.process = os.getpid()
        self.lost = ""
        self.dot_fault: str | None = None
        self.loop_fault: bool | None = None
        self._kept: dict[int, list[Buffer]] = {}
        self._kept_bytes = 0
        self.handle = self._open()
        self.queue = POINTER()
        self.library.command("vkGetDeviceQueue", self.handle, U32(self.family), U32(0), ctypes.byref(self.queue))
        self.memory = api.MemoryProperties()
        self.library.command("vkGetPhysicalDeviceMemoryProperties", physical.handle, ctypes.byref(self.memory))
        self._pool = self.make("CommandPool", fill(api.CommandPoolCreateInfo, flags=_RESETTABLE, family=self.family))
        self._fence = self.make("Fence", fill(api.FenceCreateInfo))
        self._commands = POINTER()
        info = fill(api.CommandBufferAllocateInfo, pool=self._pool, count=1)
        self.library.call("vkAllocateCommandBuffers", self.handle, ctypes.byref(info), ctypes.byref(self._commands))

    def _open(self) -> Any:
        """With those optional features that may be used."""
        physical, library = self.physical, self.library
        families = library.count("vkGetPhysicalDeviceQueueFamilyProperties", api.QueueFamily, physical.handle)
        fitting = [at for at, family in enumerate(families) if family.flags & _COMPUTE_QUEUE]
        if not fitting:
            raise VulkanError("the device can't compute")
        self.family = fitting[0]
        chain = FeatureChain(physical.version, physical.extensions)
        chain.turn_on(self.features)
        names = (api.TEXT * max(1, len(chain.extensions)))(*(name.encode() for name in chain.extensions))
        priority, handle = ctypes.c_float(1.0), POINTER()
        queue = fill(api.DeviceQueueCreateInfo, family=self.family, count=1, priorities=ctypes.addressof(priority))
        info = fill(
            api.DeviceCreateInfo,
            next=ctypes.addressof(chain.first),
            count=1,
            queues=ctypes.addressof(queue),
            ne=len(chain.extensions),
            names=ctypes.addressof(names),
        )
        library.call("vkCreateDevice", physical.handle, ctypes.byref(info), None, ctypes.byref(handle))
        return handle

    def close(self) -> None:
        """Frees all that is left; nothing may be called afterwards."""
        self._drop_kept()
        for what, handle in (("Fence", self._fence), ("CommandPool", self._pool)):
            self.destroy(what, handle)
        self.library.command("vkDestroyDevice", self.handle, None)
        self.lost = "the device was closed"

    # ---- objects

    def make(self, what: str, info: Any) -> Any:
        """An object of the device."""
        made = U64()
        self.library.call(f"vkCreate{what}", self.handle, ctypes.byref(info), None, ctypes.byref(made))
        return made

    def destroy(self, what: str, handle: Any) -> None:
        self.library.command(f"vkDestroy{what}", self.handle, handle, None)

    def destroy_all(self, owned: Iterable[tuple[str, Any]]) -> None:
        """The last made first; nothing if the device is gone, or another process made it."""
        if not self.lost and self.process == os.getpid():
            with self.lock:
                for what, handle in reversed([*owned]):
                    self.destroy(what, handle)

    def make_shader(self, spirv: bytes) -> Any:
        code = ctypes.create_string_buffer(spirv, len(spirv))
        return self.make("ShaderModule", fill(api.ShaderModuleCreateInfo, size=len(spirv), code=ctypes.addressof(code)))

    def make_pipeline(self, shader: Any, entry: str, places: Sequence[int], push_bytes: int) -> Pipeline:
        """A kernel whose arrays have these bindings, and with so many bytes of push constants."""
        owned: list[tuple[str, Any]] = []

        def own(what: str, info: Any) -> Any:
            owned.append((what, self.make(what, info)))
            return owned[-1][1]

        try:
            bindings = [api.Binding(place, STORAGE_BUFFER, 1, COMPUTE, None) for place in places]
            array = (api.Binding * max(1, len(bindings)))(*bindings)
            info = fill(api.SetLayoutCreateInfo, count=len(bindings), bindings=ctypes.addressof(array))
            set_layout = own("DescriptorSetLayout", info)
            layouts, ranges = (U64 * 1)(set_layout), api.PushRange(COMPUTE, 0, push_bytes)
            layout = own(
                "PipelineLayout",
                fill(
                    api.PipelineLayoutCreateInfo,
                    sets=1,
                    layouts=ctypes.addressof(layouts),
                    ranges=int(push_bytes > 0),
                    push=ctypes.addressof(ranges),
                ),
            )
            stage = fill(api.ShaderStageCreateInfo, stage=COMPUTE, module=shader, name=entry.encode())
            info = fill(api.ComputePipelineCreateInfo, stage=stage, layout=layout, index=-1)
            handle, bound = U64(), U64()
            place = ctypes.byref(handle)
            self.library.call("vkCreateComputePipelines", self.handle, U64(0), U32(1), ctypes.byref(info), None, place)
            owned.append(("Pipeline", handle))
            size = api.PoolSize(STORAGE_BUFFER, max(1, len(bindings)))
            pool = own("DescriptorPool", fill(api.DescriptorPoolCreateInfo, sets=1, count=1, sizes=ctypes.addressof(size)))
            info = fill(api.SetAllocateInfo, pool=pool, count=1, layouts=ctypes.addressof(layouts))
            self.library.call("vkAllocateDescriptorSets", self.handle, ctypes.byref(info), ctypes.byref(bound))
        except VulkanError:
            self.destroy_all(owned)
            raise
        return Pipeline(handle, layout, tuple(places), bound, tuple(owned))

    # ---- memory

    def take_buffer(self, size: int) -> Buffer:
        """One that was kept, or a new one; if memory is short, without those that are kept."""
        size = max(256, 1 << (size - 1).bit_length()) if size < _MEBIBYTE else -(-size // _MEBIBYTE) * _MEBIBYTE
        if self._kept.get(size):
            self._kept_bytes -= size
            return self._kept[size].pop()
        try:
            return self._make_buffer(size)
        except VulkanError:
            if not self._kept_bytes:
                raise
            self._drop_kept()
            return self._make_buffer(size)

    def keep_buffer(self, buffer: Buffer) -> None:
        """For a next launch, unless too many are waiting."""
        if self._kept_bytes + buffer.size > _MOST_KEPT:
            self._free(buffer)
        else:
            self._kept.setdefault(buffer.size, []).append(buffer)
            self._kept_bytes += buffer.size

    def _drop_kept(self) -> None:
        for buffers in self._kept.values():
            for buffer in buffers:
                self._free(buffer)
        self._kept, self._kept_bytes = {}, 0

    def _free(self, buffer: Buffer) -> None:
        self.destroy("Buffer", buffer.handle)
        self.library.command("vkFreeMemory", self.handle, buffer.memory, None)

    def _make_buffer(self, size: int) -> Buffer:
        library = self.library
        handle = self.make("Buffer", fill(api.BufferCreateInfo, size=size, usage=_STORAGE_USAGE))
        memory, address, needs = U64(), POINTER(), api.MemoryNeeds()
        try:
            library.command("vkGetBufferMemoryRequirements", self.handle, handle, ctypes.byref(needs))
            info = fill(api.MemoryAllocateInfo, size=needs.size, kind=self._find_memory(needs.kinds))
            library.call("vkAllocateMemory", self.handle, ctypes.byref(info), None, ctypes.byref(memory))
            library.call("vkBindBufferMemory", self.handle, handle, memory, U64(0))
            whole = U64(api.WHOLE_SIZE)
            library.call("vkMapMemory", self.handle, memory, U64(0), whole, U32(0), ctypes.byref(address))
        except VulkanError:
            self.destroy("Buffer", handle)
            library.command("vkFreeMemory", self.handle, memory, None)  # nothing happens if there is none
            raise
        return Buffer(handle, memory, address.value or 0, size)

    def _find_memory(self, kinds: int) -> int:
        """Every device has memory that the processor sees without further ado (specification, "Device Memory")."""
        for wish in _MEMORY_WISHES:
            for at in range(self.memory.count):
                if kinds >> at & 1 and self.memory.kinds[at].flags & wish == wish:
                    return at
        raise VulkanError("the device has no memory that the processor sees")

    # ---- launches

    def launch(
        self,
        pipeline: Pipeline,
        arrays: Sequence[NDArray[Any]],
        written: frozenset[int],
        groups: tuple[int, int, int],
        push: bytes,
    ) -> None:
        """Runs so many workgroups and waits for them. Of the arrays, those at the places `written` are read back.

        Raises VulkanError.
        """
        with self.lock:
            self.check()
            buffers: list[Buffer] = []
            try:
                for array in arrays:
                    buffers.append(self.take_buffer(self.bound(array)))
                    self.fill_buffer(buffers[-1], array)
                self._bind(pipeline, [(b, self.bound(array)) for b, array in zip(buffers, arrays, strict=True)])
                self._record(pipeline, groups, push)
                self._submit()
                for place in written:
                    self.read_buffer(buffers[place], arrays[place])
            finally:
                if not self.lost:
                    for buffer in buffers:
                        self.keep_buffer(buffer)

    def check(self) -> None:
        """Raises VulkanError if the device can't be used any more."""
        if self.process != os.getpid():
            raise VulkanError("it was opened by the parent process; compile the module in the process that runs it")
        if self.lost:
            raise VulkanError(f"{self.lost}; compile the module again")

    def bound(self, array: NDArray[Any]) -> int:
        """Bytes of its buffer that the kernel may reach."""
        return bound_size(array)

    def fill_buffer(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """What lies behind the array in its last word is zero."""
        ctypes.memset(buffer.address + (array.nbytes & ~3), 0, bound_size(array) - (array.nbytes & ~3))
        ctypes.memmove(buffer.address, array.ctypes.data, array.nbytes)

    def read_buffer(self, buffer: Buffer, array: NDArray[Any]) -> None:
        ctypes.memmove(array.ctypes.data, buffer.address, array.nbytes)

    def _bind(self, pipeline: Pipeline, buffers: Sequence[tuple[Buffer, int]]) -> None:
        ranges = [api.BufferRange(buffer.handle, 0, size) for buffer, size in buffers]
        writes = [
            fill(api.WriteSet, set=pipeline.bound, binding=place, count=1, kind=STORAGE_BUFFER, buffers=ctypes.addressof(range))
            for place, range in zip(pipeline.places, ranges, strict=True)
        ]
        if writes:
            array = (api.WriteSet * len(writes))(*writes)
            self.library.command("vkUpdateDescriptorSets", self.handle, U32(len(writes)), array, U32(0), None)

    def _record(self, pipeline: Pipeline, groups: tuple[int, int, int], push: bytes) -> None:
        library, commands, none, one = self.library, self._commands, U32(0), U32(1)
        begin = fill(api.CommandBufferBeginInfo, flags=1)  # submitted once
        library.call("vkBeginCommandBuffer", commands, ctypes.byref(begin))
        point, layout = U32(_BIND_COMPUTE), pipeline.layout
        library.command("vkCmdBindPipeline", commands, point, pipeline.handle)
        bound = ctypes.byref(pipeline.bound)
        library.command("vkCmdBindDescriptorSets", commands, point, layout, none, one, bound, none, None)
        if push:
            library.command("vkCmdPushConstants", commands, layout, U32(COMPUTE), none, U32(len(push)), push)
        library.command("vkCmdDispatch", commands, *map(U32, groups))
        barrier = ctypes.byref(fill(api.MemoryBarrier, source=_SHADER_WRITE, destination=_HOST_READ))
        stages = U32(_COMPUTE_STAGE), U32(_HOST_STAGE)
        library.command("vkCmdPipelineBarrier", commands, *stages, none, one, barrier, none, None, none, None)
        library.call("vkEndCommandBuffer", commands)

    def _submit(self) -> None:
        library, fence = self.library, ctypes.byref(self._fence)
        buffers = (POINTER * 1)(self._commands)
        submit = fill(api.SubmitInfo, count=1, buffers=ctypes.addressof(buffers))
        try:
            library.call("vkQueueSubmit", self.queue, U32(1), ctypes.byref(submit), self._fence)
            while library.call("vkWaitForFences", self.handle, U32(1), fence, U32(1), U64(_WAIT)) == api.TIMEOUT:
                pass
            library.call("vkResetFences", self.handle, U32(1), fence)
        except BaseException as error:
            self.lost = str(error) if isinstance(error, VulkanError) else "a launch on it was interrupted"
            _devices.pop(self._key, None)
            raise

    @property
    def _key(self) -> tuple[int, int, frozenset[str]]:
        return self.process, self.physical.index, self.features


# ---- each device once in a process

_devices: dict[tuple[int, int, frozenset[str]], Device] = {}
_lock = threading.Lock()


def open_device(wish: str) -> Device:
    """The device for an index, a part of a name, or for nothing in particular. Raises NoDevice and VulkanError."""
    return open_physical(choose(wish))


def open_physical(physical: Physical) -> Device:
    """Raises VulkanError."""
    key = os.getpid(), physical.index, physical.features
    with _lock:
        if key not in _devices:
            if not _devices:
                atexit.register(_close_devices)
            _devices[key] = Device(physical)
        return _devices[key]


def _close_devices() -> None:
    for (process, _, _), device in [*_devices.items()]:
        if process == os.getpid() and not device.lost:
            device.close()
    _devices.clear()
