"""Every opcode that computes, on every element type, in every way of keeping lanes: equal to the reference interpreter.

Each module is made of many kernels of one operation; it is checked by spirv-val, executed by our interpreter, which stops
at what Vulkan does not define, and by a driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.ir import COMPARISONS
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Scalar,
    Type,
    Vector,
    element_of,
    lanes_of,
    with_element,
)

from .kernels import Compiled, Operation, make_expression, make_program, memory_element, numpy_type, untouched
from .operands import draw, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cajeta_dot.backends.vulkan.device import Device
    from cajeta_dot.ir import Builder, Function, Program, Value

    Expression = tuple[Type, tuple[Type, ...], Callable[..., Value]]

INTEGERS = (INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64)
FLOATS = (FLOAT16, FLOAT32, FLOAT64)
NUMBERS = (*INTEGERS, *FLOATS)
SHAPES = (0, 3, 8)  # a scalar; a register for each lane; bytes packed in words
BINARY = ("add", "sub", "mul", "div", "min", "max")
BITWISE = ("rem", "and", "or", "xor", "rotate_left", "rotate_right")
ITEMS = 32  # of a workgroup


def shape(element: Scalar, lanes: int) -> Scalar | Vector:
    return Vector(element, lanes) if lanes else element


def list_arithmetic(element: Scalar, lanes: int) -> Iterator[Operation]:
    """All that stays in its element type."""
    type = shape(element, lanes)
    for op in (*BINARY, "rem") if element.is_float else BINARY + BITWISE:
        yield Operation(op, type, (type, type))
    for op in ("floor", "ceil", "trunc", "round") if element.is_float else ("not", "count_ones", "reverse_bits"):
        yield Operation(op, type, (type,))
    for op in ("neg", "abs"):
        yield Operation(op, type, (type,))
    mask = shape(BOOLEAN, lanes)
    for op in COMPARISONS:
        yield Operation(op, mask, (type, type))
    yield Operation("select", type, (mask, type, type))
    if lanes:
        yield Operation("select", type, (BOOLEAN, type, type))


def list_conversions(element: Scalar, lanes: int) -> Iterator[Operation]:
    old = shape(element, lanes)
    for new in NUMBERS:
        if new != element:
            yield Operation("convert", shape(new, lanes), (old,))
        count, rest = divmod(max(lanes, 1) * element.bits, new.bits)
        if not rest and new != element and new.is_float == element.is_float:
            yield Operation("reinterpret", Vector(new, count), (old,))
            if count == 1:
                yield Operation("reinterpret", new, (old,))


def list_lanes(element: Scalar, lanes: int) -> Iterator[Operation]:
    """Lanes taken out, put in, moved and added up."""
    type = Vector(element, lanes)
    for lane in {0, lanes // 2, lanes - 1}:
        yield Operation("extract", element, (type,), lane)
        yield Operation("insert", type, (type, element), lane)
    for index in (INT8, UINT8, INT32, UINT64):
        yield Operation("extract_at", element, (type, index))
        yield Operation("insert_at", type, (type, index, element))
    yield Operation("splat", type, (element,))
    yield Operation("build", type, (element,) * lanes)
    yield Operation("shuffle", Vector(element, 8), (type, type), tuple(7 * k % (2 * lanes) for k in range(8)))
    for first in (1, lanes):  # neighbours, across and along packed words
        yield Operation("shuffle", type, (type, type), tuple((first + k) % (2 * lanes) for k in range(lanes)))
    yield Operation("shuffle", Vector(element, 3), (type, type), (2 * lanes - 1, 0, lanes - 1))
    if element.is_float or element.bits >= 32:
        yield Operation("sum", element, (type,))


def list_masks(lanes: int) -> Iterator[Operation]:
    mask = shape(BOOLEAN, lanes)
    for op in ("and", "or", "xor", "select"):
        yield Operation(op, mask, (mask,) * (2 + (op == "select")))
    yield Operation("not", mask, (mask,))
    for op in ("any", "all") if lanes else ():
        yield Operation(op, BOOLEAN, (mask,))
    for op in () if lanes else ("eq", "ne"):
        yield Operation(op, BOOLEAN, (BOOLEAN, BOOLEAN))


def compare(program: Program, types: Mapping[Function, tuple[Type, tuple[Type, ...]]], device: Device | None) -> None:
    """Runs every kernel and the reference on equal operands."""
    compiled = Compiled(program, block=(ITEMS, 1, 1))
    groups = 1 if device is None else 2
    items = groups * ITEMS - 1
    for seed, (kernel, (result, operands)) in enumerate(types.items()):
        arrays = [draw(type, items, seed + place) for place, type in enumerate(operands)]
        dtype, count = numpy_type(memory_element(result)), items * lanes_of(result) + 4
        wanted, found = (untouched(count, dtype) for _ in range(2))
        compiled.expect(kernel, [*arrays, wanted, items], groups)
        compiled.execute(device, kernel, [*arrays, found, items], groups)
        signs = "min" not in kernel.name and "max" not in kernel.name  # of a zero they are not specified
        alike = same(wanted, found, signs)
        place = int(np.argmin(alike))
        assert alike.all(), f"{kernel.name}: element {place} is {found[place]} instead of {wanted[place]}"


def compare_operations(operations: Iterator[Operation], device: Device | None) -> None:
    named = [(f"{o.op}_{place}", o) for place, o in enumerate(operations)]
    kernels = {o.make(name): (o.result, o.operands) for name, o in named}
    compare(make_program(*kernels), kernels, device)


@pytest.mark.parametrize("lanes", SHAPES)
@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_arithmetic(element: Scalar, lanes: int, engine: Device | None) -> None:
    compare_operations(list_arithmetic(element, lanes), engine)


@pytest.mark.parametrize("lanes", [0, 3])
@pytest.mark.parametrize("element", [INT8, UINT8, INT16, UINT16], ids=str)
def test_narrow_results_are_extended(element: Scalar, lanes: int, engine: Device | None) -> None:
    """Every result that a register of 32 bits could hold too much of, and what reads all of the register."""
    table: dict[str, Expression] = {}
    for place, operation in enumerate([*list_arithmetic(element, lanes), *list_conversions(element, lanes)]):
        new = element_of(operation.result)
        if new.is_integer and new.bits < 32:
            table[f"{operation.op}_{place}"] = widened(operation)
    compare_expressions(table, engine)


def widened(operation: Operation) -> Expression:
    def compute(b: Builder, *values: Value) -> Value:
        made = b.emit(operation.op, operation.result, *values, attr=operation.attr)
        return b.convert(made, INT32)

    return with_element(operation.result, INT32), operation.operands, compute


@pytest.mark.parametrize("lanes", SHAPES)
@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_conversions(element: Scalar, lanes: int, engine: Device | None) -> None:
    compare_operations(list_conversions(element, lanes), engine)


@pytest.mark.parametrize("lanes", [1, 3, 8])
@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_lanes(element: Scalar, lanes: int, engine: Device | None) -> None:
    compare_operations(list_lanes(element, lanes), engine)


@pytest.mark.parametrize("lanes", [0, 1, 3, 8])
def test_masks(lanes: int, engine: Device | None) -> None:
    compare_operations(list_masks(lanes), engine)


@pytest.mark.parametrize("lanes", SHAPES)
@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_constant_operands(element: Scalar, lanes: int, engine: Device | None) -> None:
    """Shifts, which go by words where the count is constant, and divisors, which need no guard where they are."""
    type = shape(element, lanes)
    counts = sorted({0, 1, 4, element.bits - 1, element.bits // 2})
    numbers = [n for n in (0, 1, 3, -1, -128, element.low, element.high) if element.low <= n <= element.high]
    table = {"shl": counts, "shr": counts, "div": numbers, "rem": numbers, "sub": [3]}
    compare_expressions(
        {f"{op}_{place}": with_constant(op, type, n) for op, row in table.items() for place, n in enumerate(row)}, device=engine
    )


def with_constant(op: str, type: Scalar | Vector, number: int) -> Expression:
    def compute(b: Builder, x: Value) -> Value:
        return b.binary(op, x, b.const(type, number))

    return type, (type,), compute


@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_run_time_shifts(element: Scalar, engine: Device | None) -> None:
    """Each lane by a count of its own, in range."""
    shapes = {lanes: shape(element, lanes) for lanes in SHAPES}
    table = {f"{op}_{lanes}": shifted(op, type) for lanes, type in shapes.items() for op in ("shl", "shr")}
    compare_expressions(table, engine)


def shifted(op: str, type: Scalar | Vector) -> Expression:
    def compute(b: Builder, x: Value, count: Value) -> Value:
        return b.binary(op, x, b.binary("and", count, b.const(type, element_of(type).bits - 1)))

    return type, (type, type), compute


def test_constants_of_every_type(engine: Device | None) -> None:
    """As a tuple and as one content for all lanes."""
    table: dict[str, Expression] = {}
    for element in NUMBERS:
        content: tuple[Any, ...] = (-0.0, float("inf"), float("nan"), -1.5)
        if not element.is_float:
            content = (element.low, element.wrap(-1), element.high, 5)
        for lanes in (0, 4, 3):
            type, attr = shape(element, lanes), content[:lanes] if lanes else content[3]
            table[f"each_{element}_{lanes}"] = constant_of(type, attr)
            table[f"all_{element}_{lanes}"] = constant_of(type, content[1])
    compare_expressions(table, engine)


def constant_of(type: Scalar | Vector, content: Any) -> Expression:
    def compute(b: Builder) -> Value:
        return b.const(type, content)

    return type, (), compute


def compare_expressions(table: dict[str, Expression], device: Device | None) -> None:
    kernels = {make_expression(*expression, name): expression[:2] for name, expression in table.items()}
    compare(make_program(*kernels), kernels, device)
