"""Run-time errors of kernels and host methods, where checks are on (LANGUAGE.md sections 4, 6 and 7)."""

from __future__ import annotations

from cajeta_dot.diagnostics import CompileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.source import Source


class KernelError(RuntimeError):
    """A kernel or host method did what is not defined. `file` and `line` (from 1) say where."""

    def __init__(self, file: str, line: int, what: str):
        super().__init__(f"{file}:{line}: {what}")
        self.file, self.line, self.what = file, line, what

    def __reduce__(self) -> tuple[object, ...]:
        """Picklable, so that it comes back from a worker process."""
        own = {name: content for name, content in vars(self).items() if not name.startswith("__")}
        return type(self), tuple(own.values())


class DeviceMissing(CompileError, RuntimeError):
    """A program was to run on a device, and there is no driver, no such device, or it lacks what the program needs."""


class DeviceError(KernelError):
    """A device can't do a launch: it is too large for it, memory is short, or the device was lost. The line is the kernel's."""


class BoundsError(KernelError):
    """An access outside an array: `lanes` elements from `index`, where the array has `length`."""

    def __init__(self, file: str, line: int, what: str, index: int, lanes: int, length: int):
        super().__init__(file, line, what)
        self.index, self.lanes, self.length = index, lanes, length


class DivisionError(KernelError):
    """An integer division by zero, or of the least value by -1."""


class LaneIndexError(KernelError):
    """A run-time lane index outside the vector: `index`, where it has `lanes`."""

    def __init__(self, file: str, line: int, what: str, index: int, lanes: int):
        super().__init__(file, line, what)
        self.index, self.lanes = index, lanes


def bounds_error(source: Source, start: int, index: int, lanes: int, length: int) -> BoundsError:
    """For an access at offset `start` of the source."""
    name, line, _ = source.place(start)
    reads = f"element {index}" if lanes == 1 else f"elements {index}..{index + lanes - 1}"
    return BoundsError(name, line, f"{reads} of an array of length {length}", index, lanes, length)


def length_error(source: Source, start: int, length: int) -> BoundsError:
    """For an array made with a negative or impossibly large length."""
    name, line, _ = source.place(start)
    return BoundsError(name, line, f"an array can't have length {length}", length, 0, length)


def division_error(source: Source, start: int, dividend: int, divisor: int) -> DivisionError:
    """For an integer division or remainder at offset `start`."""
    name, line, _ = source.place(start)
    what = "division by zero" if divisor == 0 else f"{dividend} / -1 does not fit its type"
    return DivisionError(name, line, what)


def lane_index_error(source: Source, start: int, index: int, lanes: int) -> LaneIndexError:
    """For a lane read or written at offset `start`."""
    name, line, _ = source.place(start)
    return LaneIndexError(name, line, f"lane {index} of a vector of {lanes} lanes", index, lanes)
