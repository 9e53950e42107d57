"""The target `ptx-emulator`: the PTX that `nvptx` writes, run on this machine and watched while it runs.

It shares nothing with what writes the PTX; `cajeta_dot.backends.ptx` reads the text as a GPU's assembler would. An access
outside an array or not at a multiple of its width, a register that is read before it is written and a barrier that not all
reach are run-time errors. Host methods have no PTX: they are compiled where kernels call them.
"""

from __future__ import annotations

from cajeta_dot.backends import Artifact, Loaded, TargetInfo
from cajeta_dot.backends.ptx_versions import LOWEST_VERSIONS
from cajeta_dot.record import record
from cajeta_dot.types import Array, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from cajeta_dot.backends import Backend, Options
    from cajeta_dot.backends.ptx.execute import FaultAt
    from cajeta_dot.backends.ptx.machine import Machine
    from cajeta_dot.backends.ptx.memory import Region
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.run.errors import KernelError
    from cajeta_dot.source import Source

EMULATOR = TargetInfo(
    "ptx-emulator",
    "the PTX of nvptx, run here and checked at every access",
    ("ptx", "llvm-ir"),
    runs=True,
    dot="dp4a",
    architectures=tuple(LOWEST_VERSIONS),
)


@record
class EmulatedEntry:
    """A kernel, or a host method, which can't be called. `name` is that of the kernel's entry in the PTX."""

    machine: Machine
    name: str
    function: Function
    source: Source

    def launch(self, arguments: Sequence[Any], grid: tuple[int, int, int], block: tuple[int, int, int], threads: int) -> None:
        """As the protocol says, but that the fault reported is the first in time: all work items go in step. There is never
        more than one thread."""
        from cajeta_dot.backends.ptx.execute import FaultAt
        from cajeta_dot.backends.ptx.memory import Region

        most = self.machine.find(self.name).function.threads
        if most and any(size > limit for size, limit in zip(block, most, strict=True)):
            raise ValueError(f"block {block} is more than {most}, for which {self.function.name} was compiled")
        passed: list[Region | bytes] = []
        arrays: list[tuple[Any, Region]] = []
        for param, argument in zip(self.function.params, arguments, strict=True):
            if isinstance(param.type, Array):
                region = Region("global", param.attr, argument.nbytes, content=argument.tobytes())
                arrays.append((argument, region))
                passed += [region, len(argument).to_bytes(8, "little")]
            else:
                passed.append(_encode(argument, param.type))
        try:
            self.machine.launch(self.name, passed, grid, block)
        except FaultAt as fault:
            raise self._make_error(fault, arrays) from None
        finally:
            for array, region in arrays:
                if array.flags.writeable:
                    array.view("u1")[:] = region.bytes[: region.size]

    def call(self, arguments: Sequence[Any]) -> Any:
        """Host methods have no PTX of their own. Raises RuntimeError."""
        raise RuntimeError(f"{self.function.name} is a host method: on {EMULATOR.name} only kernels can be called from outside")

    def _make_error(self, found: FaultAt, arrays: Sequence[tuple[Any, Region]]) -> KernelError:
        """At the line that the PTX names for its instruction, else at that of the kernel."""
        from cajeta_dot.backends.ptx.memory import OutOfBounds
        from cajeta_dot.run.errors import BoundsError, KernelError

        named = found.instruction.source if found.instruction else 0
        name, line, _ = self.source.place(self.function.start)
        line = named or line
        fault = found.fault
        for array, region in arrays:
            if isinstance(fault, OutOfBounds) and fault.region is region:
                index, lanes = fault.offset // array.itemsize, max(1, fault.size // array.itemsize)
                return BoundsError(name, line, str(found), index, lanes, len(array))
        return KernelError(name, line, str(found))


def _encode(argument: Any, type: object) -> bytes:
    import numpy as np

    assert isinstance(type, Scalar)
    return np.array([argument], str(type) if type.is_number else "u1").tobytes()


class PtxEmulatorBackend:
    """One target, whose options are those of `nvptx`."""

    name = "ptx-emulator"

    def targets(self) -> Sequence[TargetInfo]:
        return (EMULATOR,)

    def missing(self, target: str) -> str:
        return ""

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """What `nvptx` emits."""
        from cajeta_dot.backends.nvptx import NVPTX
        from cajeta_dot.backends.nvptx import backend as nvptx

        return nvptx.emit(program, NVPTX.name, kind, options, reporter)

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """As the protocol says. An instruction that the emulator doesn't know is an error of the
        launch (`PtxError`), for it is a fault of ours."""
        from cajeta_dot.backends.ptx.machine import Machine
        from cajeta_dot.backends.ptx.parse import Module

        artifact = self.emit(program, target, "ptx", options, reporter)
        if artifact is None:
            return None
        module = Module(str(artifact.content))
        machine = Machine(module)
        # LLVM keeps the order of the kernels, and changes letters of their names that PTX doesn't have.
        names = (name for name, function in module.functions.items() if function.is_entry)
        named = {function: next(names) if function.kind == "kernel" else "" for function in program.functions}
        entries = {f: EmulatedEntry(machine, named[f], f, program.source) for f in program.entries}
        return Loaded(entries, artifact.choices)


backend: Backend = PtxEmulatorBackend()
