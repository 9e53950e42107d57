"""A program on a CUDA device: its PTX as the driver has compiled it, and launches of its kernels.

A kernel takes, in order, for each array its address and its int64 length, and scalars as they are (`backends/llvm/kernels`).
"""

from __future__ import annotations

import ctypes
import os
import weakref
from contextlib import suppress

from cajeta_dot.backends import Loaded
from cajeta_dot.backends.cuda.device import CudaError, Device
from cajeta_dot.backends.devices import find_excess, make_error, pack_scalar
from cajeta_dot.passes.effects import written_arrays
from cajeta_dot.record import record
from cajeta_dot.types import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from cajeta_dot.ir import Function, Program

    Extent = tuple[int, int, int]


class DeviceProgram:
    """All kernels of a program on one device. Raises CudaError where the driver does not take the PTX."""

    def __init__(self, program: Program, device: Device, ptx: str, exports: Mapping[Function, str]):
        self.program, self.device, self.stores = program, device, written_arrays(program)
        with device.lock:
            device.enter()
            self._module = device.driver.call("cuModuleLoadData", ptx.encode() + b"\0")
            weakref.finalize(self, _unload, device, self._module)
            kernels = [function for function in program.entries if function.kind == "kernel"]
            self.handles = {k: device.driver.call("cuModuleGetFunction", self._module, exports[k].encode()) for k in kernels}

    def load(self) -> Loaded:
        """An entry for each kernel. Host methods have none: only a processor runs them."""
        return Loaded({kernel: KernelEntry(self, kernel) for kernel in self.handles})


def _unload(device: Device, module: Any) -> None:
    if device.process == os.getpid():
        with device.lock, suppress(CudaError):  # at the end of the process there may be nothing left to unload it from
            device.enter()
            device.driver.call("cuModuleUnload", module)


@record
class KernelEntry:
    """A kernel as Python calls it."""

    owner: DeviceProgram
    kernel: Function

    def launch(self, arguments: Sequence[Any], grid: Extent, block: Extent, threads: int) -> None:
        """As the protocol says; `threads` are those of a processor. Raises DeviceError."""
        device, source = self.owner.device, self.owner.program.source
        for fault in find_excess(device.limits, grid, block):
            raise make_error(source, self.kernel, device.title, fault)
        if 0 in grid:
            return
        try:
            with device.lock:
                device.enter()
                self._run(arguments, grid, block)
        except CudaError as error:
            raise make_error(source, self.kernel, device.title, str(error)) from error

    def call(self, arguments: Sequence[Any]) -> Any:
        """Never asked of a kernel."""
        raise NotImplementedError("a kernel is launched")

    def _run(self, arguments: Sequence[Any], grid: Extent, block: Extent) -> None:
        call, stores = self.owner.device.driver.call, self.owner.stores[self.kernel]
        memory: dict[int, Any] = {}
        values: list[bytes] = []
        try:
            for place, (param, argument) in enumerate(zip(self.kernel.params, arguments, strict=True)):
                if isinstance(param.type, Scalar):
                    values.append(pack_scalar(param.type, argument))
                    continue
                memory[place] = call("cuMemAlloc", max(argument.nbytes, 1))
                if argument.nbytes:
                    call("cuMemcpyHtoD", memory[place], argument.ctypes.data, argument.nbytes)
                values += [int(memory[place]).to_bytes(8, "little"), len(argument).to_bytes(8, "little")]
            cells = [ctypes.create_string_buffer(value, 8) for value in values]
            addresses = (ctypes.c_void_p * max(1, len(cells)))(*map(ctypes.addressof, cells))
            handle = self.owner.handles[self.kernel]
            call("cuLaunchKernel", handle, *grid, *block, 0, 0, ctypes.addressof(addresses), 0)
            call("cuCtxSynchronize")
            for place in stores:
                if arguments[place].nbytes:
                    call("cuMemcpyDtoH", arguments[place].ctypes.data, memory[place], arguments[place].nbytes)
        finally:
            for address in memory.values():
                call("cuMemFree", address)
