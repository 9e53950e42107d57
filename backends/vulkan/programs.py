"""A program on a device: which code fits the device, a pipeline for each kernel and size of workgroup, arguments, launches.

The size of a workgroup is part of the code, so a call with a size that was not met before compiles once more.
"""

from __future__ import annotations

import weakref

import numpy as np

from cajeta_dot.backends import Loaded
from cajeta_dot.backends.devices import LaunchLimits, find_excess, make_error, pack_scalar
from cajeta_dot.backends.spirv import Written, write
from cajeta_dot.backends.spirv.assemble import assemble
from cajeta_dot.backends.spirv.interface import lay_out, size_of_block, watch_binding
from cajeta_dot.backends.vulkan.api import VulkanError
from cajeta_dot.backends.vulkan.device import Device, bound_size
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.passes.effects import written_arrays
from cajeta_dot.record import record, replace
from cajeta_dot.types import Array, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from cajeta_dot.backends import Options
    from cajeta_dot.backends.vulkan.device import Pipeline
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.run.errors import DeviceError

    Extent = tuple[int, int, int]

_LIMITS = ("maxComputeWorkGroupSize", "maxComputeWorkGroupInvocations", "maxComputeWorkGroupCount")


class DeviceProgram:
    """All kernels of a program on one device. `options` are those that fit the device.

    `watch_loops`: the driver is known to end loops early; whether it has done so is found out behind each launch.
    """

    def __init__(self, program: Program, device: Device, options: Options, written: Written, watch_loops: bool = False):
        self.program, self.device, self.options, self.watch_loops = program, device, options, watch_loops
        self._texts: dict[Extent, str] = {options.block: written.text}
        self._shaders: dict[Extent, Any] = {}
        self._pipelines: dict[tuple[Function, Extent], Pipeline] = {}
        self._owned: list[tuple[str, Any]] = []
        weakref.finalize(self, device.destroy_all, self._owned)

    def load(self) -> Loaded:
        """An entry for each kernel. Host methods have none: only a processor runs them."""
        stores = written_arrays(self.program)
        kernels = [function for function in self.program.entries if function.kind == "kernel"]
        return Loaded({kernel: KernelEntry(self, kernel, stores[kernel]) for kernel in kernels})

    def find_pipeline(self, kernel: Function, block: Extent) -> Pipeline:
        """Raises VulkanError."""
        known = self._pipelines.get((kernel, block))
        if known is None:
            with self.device.lock:
                self.device.check()
                places = list(range(sum(isinstance(param.type, Array) for param in kernel.params)))
                if self.watch_loops:
                    places.append(watch_binding(self.program))
                push_bytes = size_of_block(lay_out(kernel))
                known = self.device.make_pipeline(self._find_shader(block), kernel.symbol, places, push_bytes)
                self._owned += known.owned
                self._pipelines[kernel, block] = known
        return known

    def _find_shader(self, block: Extent) -> Any:
        if block not in self._shaders:
            if block not in self._texts:
                self._texts[block] = self._write(block)
            self._shaders[block] = self.device.make_shader(assemble(self._texts[block]))
            self._owned.append(("ShaderModule", self._shaders[block]))
        return self._shaders[block]

    def _write(self, block: Extent) -> str:
        """The same code for another workgroup: what there is to say was said when it was written first."""
        options = replace(self.options, block=block)
        written = write(self.program, options, Reporter(self.program.source), self.watch_loops)
        if written is None:
            raise AssertionError("the size of a workgroup decides whether a program is supported")
        return written.text


@record
class KernelEntry:
    """A kernel as Python calls it. `stores` are the places of the parameters whose arrays it may write."""

    owner: DeviceProgram
    kernel: Function
    stores: frozenset[int]

    def launch(self, arguments: Sequence[Any], grid: Extent, block: Extent, threads: int) -> None:
        """As the protocol says; `threads` are those of a processor. Raises DeviceError."""
        for fault in self._find_excess(arguments, grid, block):
            raise self._fail(fault)
        if 0 in grid:
            return
        places = [place for place, param in enumerate(self.kernel.params) if isinstance(param.type, Array)]
        arrays = [arguments[place] for place in places]
        written = {at for at, place in enumerate(places) if place in self.stores}
        running = np.zeros(1, np.uint32)
        if self.owner.watch_loops:
            written.add(len(arrays))
            arrays.append(running)
        try:
            pipeline = self.owner.find_pipeline(self.kernel, block)
            self.owner.device.launch(pipeline, arrays, frozenset(written), grid, self.pack(arguments))
        except VulkanError as error:
            raise self._fail(str(error)) from error
        if running[0]:
            raise self._fail("the driver ended a loop before its time, so what it has computed is not complete")

    def call(self, arguments: Sequence[Any]) -> Any:
        """Never asked of a kernel."""
        raise NotImplementedError("a kernel is launched")

    def pack(self, arguments: Sequence[Any]) -> bytes:
        """The push constants: see `cajeta_dot.backends.spirv.interface`."""
        members = lay_out(self.kernel)
        block = bytearray(size_of_block(members))
        for member, argument in zip(members, arguments, strict=True):
            type = member.param.type
            content = pack_scalar(type, argument) if isinstance(type, Scalar) else len(argument).to_bytes(4, "little")
            block[member.offset : member.offset + len(content)] = content
        return bytes(block)

    def _find_excess(self, arguments: Sequence[Any], grid: Extent, block: Extent) -> Iterator[str]:
        """What is more than the device takes."""
        limits = self.owner.device.physical.limits
        launch = LaunchLimits(limits.group_size, limits.group_items, limits.group_count, _LIMITS)
        yield from find_excess(launch, grid, block)
        for param, argument in zip(self.kernel.params, arguments, strict=True):
            if isinstance(param.type, Array) and bound_size(argument) > limits.storage_range:
                found = f"`{param.attr}` has {argument.nbytes}"
                yield f"arrays have at most {limits.storage_range} bytes, {found} (maxStorageBufferRange)"

    def _fail(self, what: str) -> DeviceError:
        return make_error(self.owner.program.source, self.kernel, self.owner.device.physical.title, what)
