"""Small programs made of IR by hand, and how they are run: kernels that apply one operation to lane after lane."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.backends import Options
from cajeta_dot.backends.native import backend as native
from cajeta_dot.backends.ptx_emulator import backend as ptx_emulator
from cajeta_dot.backends.reference import backend as reference
from cajeta_dot.backends.x86 import TIERS
from cajeta_dot.backends.x86 import backend as x86
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.ir import Builder, Function, Program, Slot, Value
from cajeta_dot.passes.verify import verify
from cajeta_dot.source import Source
from cajeta_dot.types import BOOLEAN, UINT8, UINT32, VOID, Array, Scalar, Vector, element_of, lanes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cajeta_dot.backends import Backend, Entry
    from cajeta_dot.types import Type

    Build = Callable[[Builder, list[Value]], Value]

from . import emulation

Shape = Scalar | Vector
Lanes = np.ndarray[Any, Any]
CPU_TARGETS = [info.name for info in x86.targets()]
# The tests of opcodes run on emulated machines instead where this names some of `emulation.EMULATORS`; it takes minutes.
EMULATED = os.environ.get("CAJETA_TEST_EMULATED", "").split()
EXACT = EMULATED or [tier.info.name for tier in TIERS if not x86.missing(tier.info.name)]
# Those of them between which LLVM writes other code for what is no dot product.
RUNNABLE = EMULATED or [target for target in ("x86-vnni", "x86-avx2", "x86-ssse3", "x86-scalar") if target in EXACT]
# And the emulator of the other machine that LLVM writes code for, where only kernels can be called.
RUNNABLE_KERNELS = [*RUNNABLE, "ptx-emulator"]
SOURCE = Source("test.cj", "line one\nline two\nline three\nline four\n")


def param(name: str, type: Type) -> Value:
    return Value("param", type, attr=name)


def array(element: Scalar) -> Array:
    return Array(element, "array")


def make_function(
    name: str, kind: str, params: Sequence[Value], result: Type, write: Callable[[Builder, Function], None]
) -> Function:
    """A function whose body `write` fills. Its owner is the class `T`."""
    function = Function(f"T.{name}", name, kind, params, result)
    write(Builder(function.body), function)
    return function


def make_kernel(name: str, params: Sequence[Value], write: Callable[[Builder, Function], None]) -> Function:
    return make_function(name, "kernel", params, VOID, write)


def make_program(*functions: Function) -> Program:
    """Verified, callees first as they are given."""
    names = {f.name: f for f in functions if f.kind != "device"}
    program = Program(SOURCE, functions, names)
    verify(program)
    return program


def add_slot(function: Function, name: str, type: Shape) -> Slot:
    slot = Slot(name, type)
    function.slots.append(slot)
    return slot


def apply(name: str, operands: Sequence[Shape], result: Shape, build: Build) -> Function:
    """A kernel: item i reads its part of each input array, and writes `build(builder, values)` to its part of `out`."""
    return apply_all(name, operands, {"out": (result, build)})


def apply_all(name: str, operands: Sequence[Shape], made: Mapping[str, tuple[Shape, Build]]) -> Function:
    """The same with several results, an array for each in front of the inputs. A mask is stored as bytes 0 and 1."""
    outputs = [param(word, array(element_of(stored_as(type)))) for word, (type, _) in made.items()]
    inputs = [param(f"in{k}", array(element_of(type))) for k, type in enumerate(operands)]

    def write(b: Builder, _: Function) -> None:
        item = b.emit("coordinate", UINT32, attr="global.x")

        def place(type: Shape) -> Value:
            return b.binary("mul", item, b.const(UINT32, lanes_of(type)))

        values = [b.load(source, place(type), type) for source, type in zip(inputs, operands, strict=True)]
        for target, (type, build) in zip(outputs, made.values(), strict=True):
            value, stored = build(b, values), stored_as(type)
            if type != stored:
                value = b.select(value, b.const(stored, 1), b.const(stored, 0))
            b.store(target, place(stored), value)

    return make_kernel(name, [*outputs, *inputs], write)


def stored_as(type: Shape) -> Shape:
    return Vector(UINT8, type.lanes) if isinstance(type, Vector) and type.element == BOOLEAN else type


# ---- running


def load(program: Program, target: str, checks: bool = True, optimize: int = 2) -> dict[str, Entry]:
    """Its entries by the names of the functions, without the class."""
    backend: Backend = {"reference": reference, "native": native, "ptx-emulator": ptx_emulator}.get(target, x86)
    load = emulation.load if target in emulation.EMULATORS else backend.load
    reporter = Reporter(SOURCE)
    loaded = load(program, target, Options(checks=checks, optimize=optimize), reporter)
    assert loaded is not None, [d.message for d in reporter.found]
    return {function.name.removeprefix("T."): entry for function, entry in loaded.entries.items()}


def dtype_of(element: Scalar) -> np.dtype[Any]:
    return np.dtype("bool" if element == BOOLEAN else str(element))


def run_lanes(entry: Entry, result: Shape, operands: Sequence[Lanes], items: int, threads: int = 1) -> Lanes:
    """What a kernel of `apply` writes, from flat input arrays."""
    return run_all(entry, [result], operands, items, threads)[0]


def run_all(entry: Entry, results: Sequence[Shape], operands: Sequence[Lanes], items: int, threads: int = 1) -> list[Lanes]:
    """What a kernel of `apply_all` writes."""
    outputs = [np.zeros(items * lanes_of(type), dtype_of(element_of(stored_as(type)))) for type in results]
    groups, size = (items // 8, 8) if items % 8 == 0 else (items, 1)
    entry.launch([*outputs, *operands], (groups, 1, 1), (size, 1, 1), threads)
    return outputs
