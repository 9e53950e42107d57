"""What all devices share: how one is named, what a launch on it may be, and how scalars are laid out in memory for it."""

from __future__ import annotations

import struct

from cajeta_dot.record import record
from cajeta_dot.run.errors import DeviceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cajeta_dot.ir import Function
    from cajeta_dot.source import Source
    from cajeta_dot.types import Scalar

    Extent = tuple[int, int, int]

# Letters of `struct` for scalars.
_LETTERS = {
    ("s", 8): "b", ("s", 16): "h", ("s", 32): "i", ("s", 64): "q",
    ("u", 8): "B", ("u", 16): "H", ("u", 32): "I", ("u", 64): "Q",
    ("f", 16): "e", ("f", 32): "f", ("f", 64): "d",
}  # fmt: skip


@record
class LaunchLimits:
    """The most work items of a workgroup along each axis and in all, and workgroups along each axis. `names` are the API's."""

    group_size: Sequence[int]
    group_items: int
    group_count: Sequence[int]
    names: tuple[str, str, str]


def find_excess(limits: LaunchLimits, grid: Extent, block: Extent) -> Iterator[str]:
    """What of a launch is more than the device takes."""
    size, items, count = limits.names
    axes = zip("xyz", block, grid, limits.group_size, limits.group_count, strict=True)
    for axis, wide, groups, most_wide, most_groups in axes:
        if wide > most_wide:
            yield f"workgroups have at most {most_wide} items along {axis}, found {wide} ({size})"
        if groups > most_groups:
            yield f"a grid has at most {most_groups} workgroups along {axis}, found {groups} ({count})"
    volume = block[0] * block[1] * block[2]
    if volume > limits.group_items:
        yield f"workgroups have at most {limits.group_items} items, found {volume} ({items})"


def make_error(source: Source, kernel: Function, title: str, what: str) -> DeviceError:
    """What a launch of a kernel on a device raises; the line is the kernel's."""
    name, line, _ = source.place(kernel.start)
    return DeviceError(name, line, f"`{kernel.name}` on `{title}`: {what}")


def split_name(device: str) -> tuple[str, str]:
    """Kind of device, and the index or name that is wanted, or empty: `vulkan:1` is `vulkan`, `1`."""
    kind, _, wish = device.partition(":")
    return kind, wish


def pack_scalar(type: Scalar, number: float | bool) -> bytes:
    """A number that the type has, in little-endian order and the type's own size; a boolean is one byte."""
    return struct.pack("<?" if not type.is_number else "<" + _LETTERS[type.kind, type.bits], number)
