"""Object code in memory, and its functions as Python calls them.

Where `elf` can't place an object, LLVM's own linker does: one LLJIT serves the process, each program is a library of its own
in it. ctypes gives up the GIL during a call, so the workgroups of a launch can be spread over threads. What is passed has
been checked (`cajeta_dot.run.arguments`).
"""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from itertools import count
from threading import Lock

from cajeta_dot.backends.llvm.assembler import make_target_machine, write_object
from cajeta_dot.backends.llvm.checks import FAULT_BYTES, Site, make_error
from cajeta_dot.backends.llvm.elf import NotLoadable, can_load, load_object
from cajeta_dot.backends.llvm.kernels import FAULT_OFFSET, LAUNCH_BYTES
from cajeta_dot.backends.llvm.threads import Spreader
from cajeta_dot.backends.llvm.types import bits_of, float_of
from cajeta_dot.record import record
from cajeta_dot.types import BOOL, BOOLEAN, FLOAT, FLOAT16, SCALARS, VOID, Array, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn, Protocol

    from llvmlite.binding import LLJIT, ResourceTracker

    from cajeta_dot.backends import Short
    from cajeta_dot.backends.llvm.calls import Shortener
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.modules import ModuleText
    from cajeta_dot.ir import Function
    from cajeta_dot.run.errors import KernelError
    from cajeta_dot.source import Source
    from cajeta_dot.types import Type

    Extent = tuple[int, int, int]

    class Linked(Protocol):
        """Code in memory for as long as this lives."""

        def __getitem__(self, name: str, /) -> int:
            """The address of an exported function."""
            ...


_library_numbers = count()
_link_lock = Lock()


@record
class ObjectCode:
    """A module compiled for this process. `exports`: names of its kernels and host methods, in the order of the file; empty for
    what only other methods can call."""

    code: bytes
    exports: tuple[str, ...]
    sites: tuple[Site, ...]

    def load(self, source: Source, functions: Sequence[Function], machine: Machine) -> dict[Function, NativeEntry]:
        """An entry for each exported function, which may be without its body. This machine must have the other's features.

        Raises LookupError, ValueError or OSError for code that can't be put into memory or lacks one of them.
        """
        linked = link(self.code, filter(None, self.exports), machine)
        return {
            function: NativeEntry(source, function, self.sites, linked, linked[name], machine)
            for function, name in zip(functions, self.exports, strict=True)
            if name
        }

    def pack(self) -> tuple[Any, ...]:
        """Numbers, texts and bytes, to be kept."""
        sites = [(site.number, site.kind, site.start, site.lanes, str(site.type)) for site in self.sites]
        return self.code, self.exports, tuple(sites)

    @classmethod
    def unpack(cls, kept: tuple[Any, ...]) -> ObjectCode:
        """From what `pack` gave."""
        code, exports, sites = kept
        return cls(
            code, exports, tuple(Site(number, kind, start, lanes, SCALARS[type]) for number, kind, start, lanes, type in sites)
        )


def compile_module(module: ModuleText, functions: Sequence[Function], machine: Machine, optimize: int) -> ObjectCode:
    """The module for this process; `functions` are its kernels and host methods."""
    code = write_object_here(module.text, machine, optimize)
    return ObjectCode(code, tuple(module.exports.get(function, "") for function in functions), tuple(module.sites))


def write_object_here(text: str, machine: Machine, optimize: int) -> bytes:
    """Object code for this process."""
    import llvmlite.binding as llvm

    return write_object(text, machine, optimize, llvm.get_process_triple())


def link(code: bytes, names: Iterable[str], machine: Machine) -> Linked:
    """Object code put into this process: addresses by name, for as long as what is returned lives."""
    if can_load():
        try:
            return load_object(code)
        except (NotLoadable, OSError):  # then LLVM knows how, or says why not
            pass
    return _link_by_llvm(code, names, machine)


def _link_by_llvm(code: bytes, names: Iterable[str], machine: Machine) -> ResourceTracker:
    import llvmlite.binding as llvm

    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in names:
        builder.export_symbol(name)
    with _link_lock:
        return builder.link(_open_linker(machine, llvm.get_process_triple()), f"program{next(_library_numbers)}")


@cache
def _open_linker(machine: Machine, triple: str) -> LLJIT:
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(make_target_machine(machine, 2, triple))


class NativeEntry:
    """A kernel or host method in memory: `backends.ShortEntry`."""

    def __init__(
        self, source: Source, function: Function, sites: Sequence[Site], linked: Linked, address: int, machine: Machine
    ):
        self.source, self.sites, self.result = source, sites, function.result
        self._definition, self._address, self._machine = function, address, machine
        self._shortener: Shortener | None = None
        self._linked = linked  # the code is gone with it
        self._spreader = Spreader()
        self._pass = _make_passer(function)
        types = [type for param in function.params for type in _types_in_c(param.type)]
        result = None if function.result == VOID else _types_in_c(function.result)[0]
        self._function = ctypes.CFUNCTYPE(result, *types, ctypes.c_void_p)(address)

    def launch(self, arguments: Sequence[Any], grid: Extent, block: Extent, threads: int) -> None:
        """Run a kernel. Raises KernelError for the first work item that faulted, after all others are done."""
        passed, extents = self._pass(arguments), (*grid, *block)
        faults: list[tuple[int, ...]] = []

        def run(first: int, end: int) -> None:
            launch = _Launch()
            struct.pack_into("=6I7q", launch, 0, *extents, first, end, 0, -1, -1, 0, 0)
            self._function(*passed, ctypes.addressof(launch))
            site, *found = struct.unpack_from("=5q", launch, FAULT_OFFSET)
            if site:
                faults.append((*found[:2], site, *found[2:]))  # ordered by group and item

        groups = grid[0] * grid[1] * grid[2]
        if threads == 1 or groups == 1:
            run(0, groups)
        elif groups:
            self._spreader.run(run, groups, threads)
        if faults:
            _, _, site, value, other = min(faults)
            raise self._make_error(site, value, other)

    def shorten(self, grid: Extent, block: Extent, threads: int, written: frozenset[int], keep: bool) -> Short | None:
        """As the protocol says."""
        from cajeta_dot.backends.llvm.calls import Shortener, can_shorten, spread

        if not can_shorten(self._definition):
            return None
        if self._shortener is None:
            self._shortener = Shortener(self._definition, written, self._address, self._machine, keep)
        short = self._shortener.make(grid, block)
        return short if threads == 1 or grid[0] * grid[1] * grid[2] <= 1 else spread(short, self._spreader, threads)

    def fail(self, fault: bytes) -> NoReturn:
        """As the protocol says."""
        site, _, _, value, other = struct.unpack("=5q", fault)
        raise self._make_error(site, value, other)

    def call(self, arguments: Sequence[Any]) -> Any:
        """Call a host method. Raises KernelError."""
        fault = _Fault()
        result = self._function(*self._pass(arguments), ctypes.addressof(fault))
        if struct.unpack_from("=q", fault)[0]:
            self.fail(bytes(fault))
        return _read_result(self.result, result)

    def _make_error(self, site: int, value: int, other: int) -> KernelError:
        return make_error(self.source, self.sites[site - 1], value, other)


_Launch = ctypes.c_char * LAUNCH_BYTES
_Fault = ctypes.c_char * FAULT_BYTES
_IN_C: dict[tuple[str, int], type[Any]] = {
    (BOOL, 1): ctypes.c_uint8,
    ("s", 8): ctypes.c_int8, ("s", 16): ctypes.c_int16, ("s", 32): ctypes.c_int32, ("s", 64): ctypes.c_int64,
    ("u", 8): ctypes.c_uint8, ("u", 16): ctypes.c_uint16, ("u", 32): ctypes.c_uint32, ("u", 64): ctypes.c_uint64,
    (FLOAT, 16): ctypes.c_uint16, (FLOAT, 32): ctypes.c_float, (FLOAT, 64): ctypes.c_double,
}  # fmt: skip


def _types_in_c(type: Type) -> tuple[type[Any], ...]:
    if isinstance(type, Array):
        return ctypes.c_void_p, ctypes.c_int64
    assert isinstance(type, Scalar)
    return (_IN_C[type.kind, type.bits],)


def _make_passer(function: Function) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """A function from arguments to what ctypes takes. It is written as text: it runs at every call, and this is twice as
    fast as looking at the parameters again each time."""
    parts: list[str] = []
    for place, param in enumerate(function.params):
        argument = f"a[{place}]"
        if isinstance(param.type, Array):
            parts += [f"find_address({argument})", f"{argument}.size"]
        elif isinstance(param.type, Scalar) and _is_half(param.type):
            parts.append(f"bits_of(float16, {argument})")
        else:
            parts.append(argument)
    names = {"find_address": _find_address, "bits_of": bits_of, "float16": FLOAT16}
    return eval(f"lambda a: ({''.join(f'{part}, ' for part in parts)})", names)


def _find_address(array: Any) -> int:
    """Where the elements lie. The quick way, a fifth of the other's time, is for arrays that may be written and have some."""
    if array.size and array.flags.writeable:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    return array.ctypes.data


def _read_result(type: Type, result: Any) -> Any:
    if type == BOOLEAN:
        return bool(result)
    return float_of(type, result) if isinstance(type, Scalar) and _is_half(type) else result


def _is_half(type: Scalar) -> bool:
    return type.kind == FLOAT and type.bits == 16
