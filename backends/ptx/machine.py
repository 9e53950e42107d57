"""A module of PTX ready to be launched."""

from __future__ import annotations

import numpy as np

from cajeta_dot.backends.ptx.execute import Batch, Frame
from cajeta_dot.backends.ptx.memory import Fault, Memory, Region
from cajeta_dot.backends.ptx.parse import PtxError
from cajeta_dot.backends.ptx.program import Code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.ptx.execute import Extent, Lanes
    from cajeta_dot.backends.ptx.parse import Module, Variable

MOST_THREADS = 4096  # that run at once, as long as a workgroup has no more


class Machine:
    """A module that can be run. What it makes of a function is kept for the next launch."""

    def __init__(self, module: Module):
        self.module = module
        self._codes: dict[str, Code] = {}

    def find(self, name: str) -> Code:
        """Raises PtxError for a function that there is not, or that has what is not known."""
        if name not in self._codes:
            if name not in self.module.functions:
                raise PtxError(f"no function `{name}`")
            self._codes[name] = Code(self.module.functions[name])
        return self._codes[name]

    def launch(self, name: str, arguments: Sequence[Region | bytes], grid: Extent, block: Extent) -> None:
        """Runs a kernel. An argument is an array, whose address the kernel gets, or the bytes of a number.

        Raises FaultAt, with the arrays as they were then, and PtxError.
        """
        code = self.find(name)
        most = code.function.threads
        if most and any(size > limit for size, limit in zip(block, (*most, 1, 1), strict=False)):
            raise Fault(f"a launch with workgroups of {block}, where `{name}` takes {most} at most")
        groups, size = grid[0] * grid[1] * grid[2], block[0] * block[1] * block[2]
        step = max(1, MOST_THREADS // size)
        memory = Memory()
        parameters = self._place_arguments(code, arguments, memory)
        with np.errstate(all="ignore"):
            for first in range(0, groups, step):
                batch = Batch(self.find, memory, grid, block, np.arange(first, min(first + step, groups)))
                frame = Frame(batch, code, np.arange(batch.size), parameters, is_whole=True)
                frame.run()

    def _place_arguments(self, code: Code, arguments: Sequence[Region | bytes], memory: Memory) -> dict[Variable, Lanes]:
        placed: dict[Variable, Lanes] = {}
        for variable, argument in zip(code.function.parameters, arguments, strict=True):
            if isinstance(argument, Region):
                argument = memory.place(argument).to_bytes(8, "little")
            if len(argument) != variable.size:
                raise PtxError(f"`{variable.name}` has {variable.size} bytes, given are {len(argument)}")
            placed[variable] = np.frombuffer(argument, np.uint8).reshape(1, -1)
        return placed
