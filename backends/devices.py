"""What all devices share: how one is named, and how scalars are laid out in memory for them."""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.types import Scalar

# Letters of `struct` for scalars.
_LETTERS = {
    ("s", 8): "b", ("s", 16): "h", ("s", 32): "i", ("s", 64): "q",
    ("u", 8): "B", ("u", 16): "H", ("u", 32): "I", ("u", 64): "Q",
    ("f", 16): "e", ("f", 32): "f", ("f", 64): "d",
}  # fmt: skip


def split_name(device: str) -> tuple[str, str]:
    """Kind of device, and the index or name that is wanted, or empty: `vulkan:1` is `vulkan`, `1`."""
    kind, _, wish = device.partition(":")
    return kind, wish


def pack_scalar(type: Scalar, number: float | bool) -> bytes:
    """A number that the type has, in little-endian order and the type's own size; a boolean is one byte."""
    return struct.pack("<?" if not type.is_number else "<" + _LETTERS[type.kind, type.bits], number)
