"""Memory: arrays, each in the middle of 2**44 addresses of its own. So an address tells which array is meant, also when it lies
far outside of it.

An access must lie in the array, at a multiple of its own width, and in the state space that the instruction names. Only reads
may go on to the next multiple of 16 bytes: what CUDA allocates ends at one, and compilers rely on it.
"""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Lanes = NDArray[Any]

SPAN_BITS = 44
_MIDDLE = 1 << SPAN_BITS - 1
GENERIC = 1 << 62  # set in generic addresses of shared and local memory: `cvta` sets and clears it
GRANULE = 16
FILLER = 0xA5  # what memory that nobody wrote holds


class Fault(Exception):
    """What the program did, in words."""

    def __init__(self, what: str):
        super().__init__(what)
        self.what = what


class OutOfBounds(Fault):
    """`size` bytes at `offset` from the beginning of an array of a launch."""

    def __init__(self, what: str, region: Region, offset: int, size: int):
        super().__init__(what)
        self.region, self.offset, self.size = region, offset, size


class Region:
    """One array. Shared arrays have a copy for each workgroup, local ones for each thread: `copies` tells, by the thread's
    number, which is its own; None where all have the same."""

    def __init__(
        self, space: str, name: str, size: int, count: int = 1, copies: Lanes | None = None, content: bytes | None = None
    ):
        self.space, self.name, self.size, self.copies = space, name, size, copies
        self.readable = self.stride = -(-size // GRANULE) * GRANULE
        self.bytes = np.full(self.stride * count, FILLER, np.uint8)
        if content is not None:
            self.bytes[:size] = np.frombuffer(content, np.uint8)
        self._views: dict[int, Lanes] = {1: self.bytes}

    def view(self, size: int) -> Lanes:
        """As unsigned numbers of that many bytes."""
        if size not in self._views:
            self._views[size] = self.bytes.view(f"u{size}")
        return self._views[size]


class Memory:
    """The arrays of a launch by their numbers; address 0 is in none."""

    def __init__(self) -> None:
        self.regions: list[Region | None] = [None]
        self._free: list[int] = []

    def place(self, region: Region) -> int:
        """Adds an array; returns the address of its first byte, in its own state space."""
        if self._free:
            number = self._free.pop()
            self.regions[number] = region
        else:
            number = len(self.regions)
            self.regions.append(region)
        return (number << SPAN_BITS) + _MIDDLE

    def remove(self, address: int) -> None:
        """Takes away the array at an address that `place` gave."""
        number = address >> SPAN_BITS
        self.regions[number] = None
        self._free.append(number)

    def load(self, space: str, addresses: Lanes, threads: Lanes, size: int, count: int) -> list[Lanes]:
        """`count` neighbours of `size` bytes for each thread. Raises Fault."""
        made: list[Lanes] | None = None
        for region, offsets, chosen in self._locate(space, addresses):
            places = _check(region, offsets, size, count, region.readable)
            if region.copies is not None:
                places = places + region.copies[threads[chosen]] * (region.stride // size)
            source = region.view(size)
            parts = [source[places + k] for k in range(count)]
            if isinstance(chosen, slice):
                return parts
            if made is None:
                made = [np.zeros(len(addresses), source.dtype) for _ in range(count)]
            for whole, part in zip(made, parts, strict=True):
                whole[chosen] = part
        return made or []

    def store(self, space: str, addresses: Lanes, threads: Lanes, size: int, contents: list[Lanes]) -> None:
        """The same the other way round."""
        for region, offsets, chosen in self._locate(space, addresses):
            if region.space == "const":
                raise Fault(f"a store to `{region.name}`, which is constant")
            places = _check(region, offsets, size, len(contents), region.size)
            if region.copies is not None:
                places = places + region.copies[threads[chosen]] * (region.stride // size)
            target = region.view(size)
            for k, content in enumerate(contents):
                target[places + k] = content[chosen] if len(content) > 1 else content

    def _locate(self, space: str, addresses: Lanes) -> list[tuple[Region, Lanes, Lanes | slice]]:
        """Each array that is pointed into, the offsets there, and of which threads. Most accesses are to one array."""
        first = int(addresses[0]) >> SPAN_BITS
        offsets = (addresses & np.uint64((1 << SPAN_BITS) - 1)).view(np.int64) - _MIDDLE
        numbers = addresses >> np.uint64(SPAN_BITS)
        if (numbers == first).all():
            return [(self._find(space, first), offsets, slice(None))]
        found: list[tuple[Region, Lanes, Lanes | slice]] = []
        for number in np.unique(numbers):
            chosen = numbers == number
            found.append((self._find(space, int(number)), offsets[chosen], chosen))
        return found

    def _find(self, space: str, number: int) -> Region:
        """The array of a number, if it may be reached in this way."""
        is_generic = bool(number & GENERIC >> SPAN_BITS)
        place = number & ~(GENERIC >> SPAN_BITS)
        region = self.regions[place] if place < len(self.regions) else None
        if region is None:
            raise Fault(f"address {number << SPAN_BITS:#x}.. is in no array")
        is_global = region.space in ("global", "const")
        wanted = f"of space .{space}" if space else "generic"
        if is_generic and (space or is_global):
            raise Fault(f"a generic address of `{region.name}` where one {wanted} is wanted")
        if not is_generic and space != region.space and not (is_global and space in ("", "global")):
            raise Fault(f"an address of space .{region.space}, of `{region.name}`, where one {wanted} is wanted")
        return region


def _check(region: Region, offsets: Lanes, size: int, count: int, end: int) -> Lanes:
    """Offsets in units of `size`."""
    whole = size * count
    if whole > 1 and (offsets & whole - 1).any():
        offset = int(offsets[np.argmax(offsets & whole - 1 != 0)])
        raise Fault(f"an access of {whole} bytes at byte {offset} of `{region.name}`: not at a multiple of {whole}")
    outside = (offsets < 0) | (offsets > end - whole)
    if outside.any():
        offset = int(offsets[np.argmax(outside)])
        what = f"an access of {whole} bytes at byte {offset} of `{region.name}`, which has {region.size}"
        raise OutOfBounds(what, region, offset, whole)
    return offsets // size if size > 1 else offsets
