"""Programs on machines that this one is not: their objects are linked with a small host and run by qemu or node.

A call is one process. Its standard input holds the arguments: for an array its length, its size and its bytes, for a scalar
eight bytes (an int64 or a float64); then `struct cajeta_launch` or, for a host method, `struct cajeta_fault`. Its standard
output holds what the arrays and the struct are afterwards, and the result in eight bytes.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import weakref
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.backends import Loaded, Options, aarch64, riscv64, wasm32
from cajeta_dot.backends.aarch64_features import AARCH64
from cajeta_dot.backends.llvm.assembler import write_object
from cajeta_dot.backends.llvm.checks import FAULT_BYTES, make_error
from cajeta_dot.backends.llvm.compile import write_program
from cajeta_dot.backends.llvm.kernels import FAULT_OFFSET, LAUNCH_BYTES
from cajeta_dot.backends.llvm.refine import refine
from cajeta_dot.backends.llvm.types import float_of
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.record import record, replace
from cajeta_dot.types import BOOL, BOOLEAN, FLOAT, VOID, Array, Scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.modules import ModuleText
    from cajeta_dot.ir import Function, Program

    Extent = tuple[int, int, int]
    # From a folder with `program.o`, and what it exports, to the command that calls one of these, given its symbol.
    Link = Callable[[Path, dict[Function, str]], "Callable[[str], list[str]]"]

HERE = Path(__file__).parent


@record
class Emulator:
    """A machine, what links and runs a program for it, and the Debian packages that have these tools."""

    machine: Machine
    link: Link
    tools: tuple[str, ...]
    packages: str

    @property
    def missing(self) -> str:
        """Why it can't be used, in one line; empty if it can."""
        missing = [tool for tool in self.tools if not shutil.which(tool)]
        if not missing:
            return ""
        return f"NO {', '.join(missing)}: nothing runs the code for {self.machine.target} (apt install {self.packages})"


# ---- linking


_IN_C = {(BOOL, 1): "uint8_t", (FLOAT, 16): "uint16_t", (FLOAT, 32): "float", (FLOAT, 64): "double"}
_HOST = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void take(void *to, size_t size) { if (size && fread(to, 1, size, stdin) != size) exit(3); }
static int64_t take_word(void) { int64_t word; take(&word, 8); return word; }
static double take_float(void) { double number; take(&number, 8); return number; }
static void *take_array(int64_t size) { void *to = aligned_alloc(64, (size + 127) / 64 * 64); take(to, size); return to; }
"""


def _write_caller(number: int, function: Function, symbol: str) -> str:
    types: list[str] = []
    taken: list[str] = []
    passed: list[str] = []
    given: list[str] = []
    for place, param in enumerate(function.params):
        if isinstance(param.type, Array):
            types += ["void *", "int64_t"]
            taken.append(f"int64_t n{place} = take_word(), b{place} = take_word(); void *a{place} = take_array(b{place});")
            passed += [f"a{place}", f"n{place}"]
            given.append(f"fwrite(a{place}, 1, b{place}, stdout);")
        else:
            types.append(_spell_in_c(param.type))
            taken.append(f"{types[-1]} a{place} = take_{_unit_of(param.type)}();")
            passed.append(f"a{place}")
    call, result = f"function{number}({', '.join([*passed, 'record'])})", "int64_t result = 0;"
    if function.result != VOID:
        result = f"{'double' if _unit_of(function.result) == 'float' else 'int64_t'} result ="
    return f"""{_spell_in_c(function.result)} function{number}({", ".join([*types, "void *"])}) __asm__("{symbol}");
static void call{number}(void) {{
    {" ".join(taken)}
    char record[{_size_of_record(function)}]; take(record, sizeof record);
    {result} {call};
    {" ".join(given)} fwrite(record, 1, sizeof record, stdout); fwrite(&result, 1, 8, stdout);
}}
"""


def _spell_in_c(type: object) -> str:
    if type == VOID:
        return "void"
    assert isinstance(type, Scalar)
    return _IN_C.get((type.kind, type.bits), f"{'u' if type.kind == 'u' else ''}int{type.bits}_t")


def _unit_of(type: object) -> str:
    """What its eight bytes are."""
    return "float" if isinstance(type, Scalar) and type.kind == FLOAT and type.bits > 16 else "word"


def _size_of_record(function: Function) -> int:
    return LAUNCH_BYTES if function.kind == "kernel" else FAULT_BYTES


def _link_with(compiler: str, *emulator: str) -> Link:
    """A static program: its first argument is the number of the function."""

    def link(folder: Path, exports: dict[Function, str]) -> Callable[[str], list[str]]:
        callers = [_write_caller(number, *export) for number, export in enumerate(exports.items())]
        table = ", ".join(f"call{number}" for number in range(len(exports)))
        main = f"int main(int count, char **words) {{ (void (*[])(void)){{{table}}}[atoi(words[1])](); return 0; }}\n"
        (folder / "host.c").write_text("".join([_HOST, *callers, main]))
        command = [compiler, "-O1", "-w", "-static", "-o", "program", "host.c", "program.o", "-lm"]
        subprocess.run(command, cwd=folder, check=True)
        symbols = list(exports.values())
        return lambda symbol: [*emulator, str(folder / "program"), str(symbols.index(symbol))]

    return link


def _link_wasm(folder: Path, exports: dict[Function, str]) -> Callable[[str], list[str]]:
    """A module. node learns how a function is called from letters, those of the parameters and that of the result: A for an
    array, i for an int32 or less, l, f, d, v for none."""
    command = ["wasm-ld", "--no-entry", "--export-all", "--allow-undefined", "-o", "program.wasm", "program.o"]
    subprocess.run(command, cwd=folder, check=True)
    letters = {
        symbol: "".join(_find_letter(type) for type in (*(param.type for param in function.params), function.result))
        for function, symbol in exports.items()
    }
    # The first compiler of node 20 forgets the accumulator of the relaxed dot.
    node = ["node", "--experimental-wasm-relaxed-simd", "--no-liftoff", str(HERE / "host.cjs"), str(folder / "program.wasm")]
    return lambda symbol: [*node, symbol, letters[symbol]]


def _find_letter(type: object) -> str:
    if not isinstance(type, Scalar):
        return "A" if isinstance(type, Array) else "v"
    if _unit_of(type) == "float":
        return "f" if type.bits == 32 else "d"
    return "l" if type.bits == 64 else "i"


# ---- the machines


_QEMU = ("qemu-user", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross")


def _change(machine: Machine, features: str) -> Machine:
    changed = refine(machine, Options(features=features), AARCH64, Reporter(None))
    assert changed
    return changed


_QEMU_RISCV = ("qemu-user", "gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross")
_AARCH64 = _link_with("aarch64-linux-gnu-gcc", "qemu-aarch64", "-cpu", "max")
_RISCV64 = _link_with("riscv64-linux-gnu-gcc", "qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0")
# qemu knows neither Zvqdotq nor float16: what is left of the machine.
_PLAIN_RISCV = replace(
    riscv64.MACHINE,
    features=tuple(f for f in riscv64.FEATURES if f not in ("zfhmin", riscv64.DOT)),
    forms=frozenset[str](),
    halves="none",
)
_ON_AARCH64 = {
    **{tier.info.name: tier.machine for tier in aarch64.TIERS},
    # What LLVM does with fixed vectors where there are scalable ones, and where there are none at all.
    "aarch64-sve2": _change(aarch64.TIERS[0].machine, "+sve2,+bf16"),
    "aarch64-bare": _change(aarch64.TIERS[-1].machine, "-neon"),
}
EMULATORS = {
    **{
        name: Emulator(machine, _AARCH64, ("aarch64-linux-gnu-gcc", "qemu-aarch64"), " ".join(_QEMU))
        for name, machine in _ON_AARCH64.items()
    },
    "riscv64-plain": Emulator(_PLAIN_RISCV, _RISCV64, ("riscv64-linux-gnu-gcc", "qemu-riscv64"), " ".join(_QEMU_RISCV)),
    wasm32.NAME: Emulator(wasm32.MACHINE, _link_wasm, ("wasm-ld", "node"), "lld nodejs"),
}


# ---- running


def load(program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
    """As a backend's `load`."""
    emulator = EMULATORS[target]
    module = write_program(program, emulator.machine, options.checks, reporter)
    if module is None:
        return None
    folder = Path(mkdtemp(prefix="cajeta-"))
    (folder / "program.o").write_bytes(write_object(module.text, emulator.machine, options.optimize))
    command = emulator.link(folder, module.exports)
    made = [EmulatedEntry(program, module, function, command(symbol)) for function, symbol in module.exports.items()]
    for entry in made:
        entry.others = made  # the folder is theirs together
    if made:
        weakref.finalize(made[0], shutil.rmtree, folder, ignore_errors=True)  # a forked child may have been faster
    return Loaded({entry.function: entry for entry in made}, module.choices)


class EmulatedEntry:
    """A kernel or host method: `backends.Entry`."""

    def __init__(self, program: Program, module: ModuleText, function: Function, command: list[str]):
        self.source, self.sites, self.function, self.command = program.source, module.sites, function, command
        self.others: Sequence[EmulatedEntry] = ()

    def launch(self, arguments: Sequence[Any], grid: Extent, block: Extent, threads: int) -> None:
        groups = grid[0] * grid[1] * grid[2]
        self._run(arguments, struct.pack("=6I7q", *grid, *block, 0, groups, 0, -1, -1, 0, 0))

    def call(self, arguments: Sequence[Any]) -> Any:
        result = self._run(arguments, bytes(FAULT_BYTES))
        type = self.function.result
        if type == VOID:
            return None
        assert isinstance(type, Scalar)
        (number,) = struct.unpack("=d" if _unit_of(type) == "float" else "=q", result)
        if type == BOOLEAN:
            return bool(number)
        return number if isinstance(number, float) else float_of(type, number & 0xFFFF) if type.is_float else type.wrap(number)

    def _run(self, arguments: Sequence[Any], record: bytes) -> bytes:
        """The result's eight bytes; arrays are changed in place. Raises KernelError."""
        given = b"".join([*map(_write_argument, arguments), record])
        done = subprocess.run(self.command, input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
        at = 0
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                if argument.flags.writeable and argument.size:
                    argument.reshape(-1).view(np.uint8)[:] = np.frombuffer(done.stdout, np.uint8, argument.nbytes, at)
                at += argument.nbytes
        assert len(done.stdout) == at + len(record) + 8
        fault = at + (FAULT_OFFSET if len(record) == LAUNCH_BYTES else 0)
        site, _, _, value, other = struct.unpack_from("=5q", done.stdout, fault)
        if site:
            raise make_error(self.source, self.sites[site - 1], value, other)
        return done.stdout[-8:]


def _write_argument(argument: Any) -> bytes:
    if isinstance(argument, np.ndarray):
        return struct.pack("=2q", argument.size, argument.nbytes) + argument.tobytes()
    if isinstance(argument, np.floating) and argument.itemsize == 2:
        return struct.pack("=q", int(argument.view(np.uint16)))
    if isinstance(argument, (float, np.floating)):
        return struct.pack("=d", argument)
    return int(argument).to_bytes(8, "little", signed=argument < 0)
