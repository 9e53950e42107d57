"""A stand-in for `cuda.bindings.driver`: memory is this process's, and a kernel is looked up in the PTX that was loaded.

A launch reads its parameters as the driver does, by the sizes that the PTX declares, and runs the kernel of that name in
the reference interpreter, which shares nothing with the code that made the PTX.
"""

from __future__ import annotations

import ctypes
import enum
import re
from typing import Any

import numpy as np

from cajeta_dot import driver
from cajeta_dot.reference.execute import launch
from cajeta_dot.reference.flow import translate
from cajeta_dot.types import Array

_SIZES = {"u8": 1, "u16": 2, "u32": 4, "b32": 4, "f32": 4, "u64": 8, "b64": 8, "f64": 8, "b16": 2}


class Result(enum.IntEnum):
    SUCCESS = 0
    OUT_OF_MEMORY = 2
    NO_DEVICE = 100


class FakeDriver:
    """`text` is the program whose PTX will be loaded; `fail` names a function that fails, and how."""

    class CUdevice_attribute:  # noqa: N801 - the driver's name
        """Every attribute is its own name."""

    def __init__(self, text: str, names: tuple[str, ...] = ("NVIDIA H200",), capability: tuple[int, int] = (9, 0)):
        source, reporter = driver.decode("k.cj", text.encode())
        program = driver.check_source(source, reporter)
        assert program
        self.program, self.codes = program, translate(program, False)
        self.names = names
        self.attributes = {
            **{"COMPUTE_CAPABILITY_MAJOR": capability[0], "COMPUTE_CAPABILITY_MINOR": capability[1], "INTEGRATED": 0},
            **{"MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64, "MAX_THREADS_PER_BLOCK": 1024},
            **{"MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65535, "MAX_GRID_DIM_Z": 65535},
        }
        for name in self.attributes:
            setattr(self.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}", name)
        self.fail: dict[str, Result] = {}
        self.memory: dict[int, Any] = {}
        self.modules: list[str] = []
        self.launches: list[tuple[Any, ...]] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("cu") and name in object.__getattribute__(self, "fail"):
            result = object.__getattribute__(self, "fail").pop(name)

            def fail(*_: object) -> tuple[Any, ...]:
                return (result,)

            return fail
        return object.__getattribute__(self, name)

    def cuInit(self, flags: int) -> tuple[Any, ...]:  # noqa: N802
        return (Result.SUCCESS,)

    def cuGetErrorString(self, result: Result) -> tuple[Any, ...]:  # noqa: N802
        return Result.SUCCESS, result.name.lower().replace("_", " ").encode()

    def cuDeviceGetCount(self) -> tuple[Any, ...]:  # noqa: N802
        return Result.SUCCESS, len(self.names)

    def cuDeviceGet(self, index: int) -> tuple[Any, ...]:  # noqa: N802
        return Result.SUCCESS, index

    def cuDeviceGetName(self, length: int, device: int) -> tuple[Any, ...]:  # noqa: N802
        return Result.SUCCESS, self.names[device].encode().ljust(length, b"\0")

    def cuDeviceGetAttribute(self, name: str, device: int) -> tuple[Any, ...]:  # noqa: N802
        return Result.SUCCESS, self.attributes[name]

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[Any, ...]:  # noqa: N802
        return Result.SUCCESS, f"context {device}"

    def cuCtxSetCurrent(self, context: str) -> tuple[Any, ...]:  # noqa: N802
        return (Result.SUCCESS,)

    def cuCtxSynchronize(self) -> tuple[Any, ...]:  # noqa: N802
        return (Result.SUCCESS,)

    def cuModuleLoadData(self, image: bytes) -> tuple[Any, ...]:  # noqa: N802
        assert image.endswith(b"\0")
        self.modules.append(image.decode())
        return Result.SUCCESS, len(self.modules) - 1

    def cuModuleUnload(self, module: int) -> tuple[Any, ...]:  # noqa: N802
        self.modules[module] = ""
        return (Result.SUCCESS,)

    def cuModuleGetFunction(self, module: int, name: bytes) -> tuple[Any, ...]:  # noqa: N802
        found = re.search(rf"\.entry {re.escape(name.decode())}\((.*?)\)", self.modules[module], re.S)
        assert found, f"no entry {name!r}"
        sizes = [_SIZES[word] for word in re.findall(r"\.param \.(\w+)", found[1])]
        place = [function.symbol for function in self.program.entries if function.kind == "kernel"]
        kernels = re.findall(r"\.entry ([\w$]+)\(", self.modules[module])
        return Result.SUCCESS, (place[kernels.index(name.decode())], sizes)

    def cuMemAlloc(self, size: int) -> tuple[Any, ...]:  # noqa: N802
        buffer = ctypes.create_string_buffer(size)
        self.memory[ctypes.addressof(buffer)] = buffer
        return Result.SUCCESS, ctypes.addressof(buffer)

    def cuMemFree(self, address: int) -> tuple[Any, ...]:  # noqa: N802
        del self.memory[address]
        return (Result.SUCCESS,)

    def cuMemcpyHtoD(self, to: int, source: int, size: int) -> tuple[Any, ...]:  # noqa: N802
        ctypes.memmove(to, source, size)
        return (Result.SUCCESS,)

    def cuMemcpyDtoH(self, to: int, source: int, size: int) -> tuple[Any, ...]:  # noqa: N802
        ctypes.memmove(to, source, size)
        return (Result.SUCCESS,)

    def cuLaunchKernel(self, function: Any, *rest: Any) -> tuple[Any, ...]:  # noqa: N802
        *extent, shared, stream, addresses, extra = rest
        assert (shared, stream, extra) == (0, 0, 0)
        symbol, sizes = function
        kernel = next(f for f in self.program.entries if f.symbol == symbol)
        pointers = (ctypes.c_void_p * len(sizes)).from_address(addresses)
        cells = iter([ctypes.string_at(pointer, size) for pointer, size in zip(pointers, sizes, strict=True)])
        arguments: list[Any] = []
        for param in kernel.params:
            if isinstance(param.type, Array):
                address, length = (int.from_bytes(next(cells), "little") for _ in range(2))
                dtype = np.dtype(str(param.type.element))
                memory: Any = (ctypes.c_char * (length * dtype.itemsize)).from_address(address)
                arguments.append(np.frombuffer(memory, dtype))
            else:
                word = str(param.type)
                number = np.frombuffer(next(cells), "bool" if word == "boolean" else word)[0].item()
                arguments.append(number)
        launch(self.codes[kernel], arguments, tuple(extent[:3]), tuple(extent[3:]))
        self.launches.append(tuple(extent))
        return (Result.SUCCESS,)
