"""Puts an object file into this process's memory: ELF for x86-64, as LLVM writes it for our modules.

LLVM has a linker that does this and more, but a process that finds its object in a cache would load 150 MB of LLVM for it.
Sources: the System V ABI, AMD64 supplement (sections 4.1 to 4.4), and the generic ABI's chapter on object files.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from functools import cache

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

MAGIC = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian
RELOCATABLE, X86_64 = 1, 62  # ET_REL, EM_X86_64
BITS, SYMBOLS, RELOCATIONS, ZEROS = 1, 2, 4, 8  # SHT_PROGBITS, SHT_SYMTAB, SHT_RELA, SHT_NOBITS
WRITABLE, IN_MEMORY, EXECUTABLE = 1, 2, 4  # SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR
RELATIVE = (2, 4)  # R_X86_64_PC32, R_X86_64_PLT32: S + A - P in 32 bits
LOCAL, UNDEFINED = 0, 0  # STB_LOCAL, SHN_UNDEF
_JUMP = b"\xff\x25\x00\x00\x00\x00"  # jmp [rip], to the address behind it: what lies farther away than 32 bits reach
_JUMP_SIZE = 16


class NotLoadable(Exception):
    """An object that LLVM's linker must be asked about: of another system, or with something that is not known here."""


@record
class Section:
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int


@record
class Symbol:
    name: str
    is_global: bool
    section: int
    value: int


class Image(dict[str, int]):
    """Addresses of what the object exports, by name; the code is in memory for as long as this lives."""

    def __init__(self, memory: mmap.mmap, addresses: dict[str, int]):
        super().__init__(addresses)
        self._memory = memory


def can_load() -> bool:
    """Is this a process that such objects are for?"""
    import platform

    return sys.platform == "linux" and platform.machine() == "x86_64"


def load_object(data: bytes) -> Image:
    """Places sections, resolves what they refer to, makes code executable and everything read-only.

    Raises NotLoadable, and OSError where the system allows no such memory.
    """
    return _Loading(data).finish()


class _Loading:
    """An object on its way. The image begins with jumps to what lies outside, then code, then, on pages of their own, data.

    `starts`: where in the image the sections that are in memory begin. `jumps`: where the jump to each outer function is.
    """

    def __init__(self, data: bytes):
        self.data = data
        try:
            self.sections = list(_read_sections(data))
            self.symbols = list(_read_symbols(data, self.sections))
        except (struct.error, IndexError, ValueError) as error:
            raise NotLoadable(f"it is cut off or no object ({error})") from error
        outer = dict.fromkeys(symbol.name for symbol in self.symbols if symbol.section == UNDEFINED and symbol.name)
        self.jumps = {name: place * _JUMP_SIZE for place, name in enumerate(outer)}
        self.starts: dict[int, int] = {}
        size = len(self.jumps) * _JUMP_SIZE
        size = self.code_size = self.place_sections(size, EXECUTABLE, mmap.PAGESIZE)
        size = self.place_sections(size, 0, mmap.PAGESIZE)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self.memory = mmap.mmap(-1, size, flags, mmap.PROT_READ | mmap.PROT_WRITE)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def place_sections(self, size: int, kind: int, alignment: int) -> int:
        """Those that are executable, or those that are not, behind what is there. Returns the new size, in whole pages."""
        for index, section in enumerate(self.sections):
            if section.flags & IN_MEMORY and section.flags & EXECUTABLE == kind:
                if section.flags & WRITABLE or section.kind not in (BITS, ZEROS) or section.alignment > mmap.PAGESIZE:
                    raise NotLoadable(f"a section of kind {section.kind} with flags {section.flags}")
                self.starts[index] = _round_up(size, section.alignment)
                size = self.starts[index] + section.size
        return _round_up(size, alignment)

    def finish(self) -> Image:
        for index, start in self.starts.items():
            section = self.sections[index]
            if section.kind == BITS:
                self.memory[start : start + section.size] = self.data[section.offset : section.offset + section.size]
        for name, start in self.jumps.items():
            self.memory[start : start + len(_JUMP) + 8] = _JUMP + struct.pack("<Q", _find_outer(name))
        for section in self.sections:
            if section.kind == RELOCATIONS and section.info in self.starts:
                self.relocate(section)
        size = len(self.memory)
        for start, end, rights in ((0, self.code_size, mmap.PROT_EXEC), (self.code_size, size, 0)):
            if start < end and _mprotect()(self.base + start, end - start, mmap.PROT_READ | rights):
                raise OSError(ctypes.get_errno(), "memory can't be made executable")
        exported = [symbol for symbol in self.symbols if symbol.is_global and symbol.section in self.starts]
        return Image(self.memory, {symbol.name: self.base + self.find(symbol) for symbol in exported})

    def find(self, symbol: Symbol) -> int:
        """Where it lies in the image."""
        if symbol.section == UNDEFINED:
            return self.jumps[symbol.name]
        if symbol.section not in self.starts:
            raise NotLoadable(f"`{symbol.name}` lies in no section of the image")
        return self.starts[symbol.section] + symbol.value

    def relocate(self, section: Section) -> None:
        """Writes the distances to symbols into the section that these entries are about."""
        start = self.starts[section.info]
        for offset, info, addend in struct.iter_unpack("<QQq", self.data[section.offset : section.offset + section.size]):
            if info & 0xFFFFFFFF not in RELATIVE:
                raise NotLoadable(f"a relocation of type {info & 0xFFFFFFFF}")
            place = start + offset
            struct.pack_into("<i", self.memory, place, self.find(self.symbols[info >> 32]) + addend - place)


def _read_sections(data: bytes) -> Iterator[Section]:
    if data[: len(MAGIC)] != MAGIC or struct.unpack_from("<HH", data, 16) != (RELOCATABLE, X86_64):
        raise NotLoadable("it is no object for x86-64")
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for number in range(count):
        _, kind, flags, _, offset, length, link, info, alignment, _ = struct.unpack_from(
            "<IIQQQQIIQQ", data, table + number * size
        )
        if kind != ZEROS and offset + length > len(data):
            raise ValueError(f"section {number} ends behind the end")
        yield Section(kind, flags, offset, length, link, info, max(alignment, 1))


def _read_symbols(data: bytes, sections: Sequence[Section]) -> Iterator[Symbol]:
    table = next((section for section in sections if section.kind == SYMBOLS), None)
    if table is None:
        raise NotLoadable("it has no symbols")
    names = sections[table.link].offset
    for name, info, _, section, value, _ in struct.iter_unpack("<IBBHQQ", data[table.offset : table.offset + table.size]):
        text = data[names + name : data.index(b"\0", names + name)].decode()
        yield Symbol(text, info >> 4 != LOCAL, section, value)


def _round_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


@cache
def _find_outer(name: str) -> int:
    """The address of a C function that this process has."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is None:
        raise NotLoadable(f"this process has no `{name}`")
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def _mprotect() -> Any:
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function
