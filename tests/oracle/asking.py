"""Asks every row of the tables which operands it takes, and makes one call of each combination: a function, and its meaning.

A row that is added is tested by being there.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cajeta_dot.check.builtins import FUNCTIONS
from cajeta_dot.check.convert import Converter
from cajeta_dot.check.dots import DOT_NAMES
from cajeta_dot.check.fold import Emitter
from cajeta_dot.check.methods import METHODS, receives
from cajeta_dot.check.operand import Operand
from cajeta_dot.check.rows import Call, Row
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import OPERAND_SIGN
from cajeta_dot.ir import Value
from cajeta_dot.reference.numbers import make_rounder
from cajeta_dot.source import Source
from cajeta_dot.syntax.tree import Empty
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    SCALARS,
    UINT8,
    UINT16,
    UINT32,
    Scalar,
    Vector,
    element_of,
    lanes_of,
)

from .arithmetic import cast_all
from .numbers import dtype_of, few_edges, from_python, random_bits, to_python

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .numbers import Elements

    Shape = Scalar | Vector

ITEMS = 32
NUMBERS = [scalar for scalar in SCALARS.values() if scalar.is_number]
INTEGERS = [scalar for scalar in NUMBERS if scalar.is_integer]
BYTES = (INT8, UINT8)
DOT_LANES = (4, 8, 12, 16, 20, 32, 48, 64, 128, 256)
LANES, MORE_LANES = (1, 3, 4, 16), (2, 33)
MIXED = (INT8, UINT8, INT32, UINT32, INT64, FLOAT32, FLOAT64)  # what functions are asked about in pairs
ACCUMULATORS = (INT32, INT16, UINT16, INT8, UINT8)  # what becomes an int32 without a word


class Case(NamedTuple):
    """One call. `operands` are the types as the program writes them, a method's receiver first; `read` how the row reads
    each of them."""

    row: Row
    operands: tuple[Shape, ...]
    read: tuple[Value, ...]
    result: Shape

    @property
    def is_method(self) -> bool:
        return self.row.name in METHODS

    def __str__(self) -> str:
        return f"{self.row.name}({', '.join(map(str, self.operands))})"


# ---- which operands a row takes


def ask(row: Row, operands: Sequence[Shape]) -> Case | None:
    """The case, if the row takes these operands without a word; that a dot reads one otherwise is no reason against it."""
    reporter = Reporter(Source("", ""))
    converter = Converter(reporter, Emitter([]))
    given = [Operand(Empty(0, 0), type, Value("param", type, attr=place)) for place, type in enumerate(operands)]
    is_method = row.name in METHODS
    call = Call(row.name, given[0] if is_method else None, given[1:] if is_method else given, 0, 0, converter)
    checked = row.check(call)
    if checked is None or any(found.rule is not OPERAND_SIGN for found in reporter.found):
        return None
    result, read = checked
    assert isinstance(result, (Scalar, Vector))
    return Case(row, tuple(operands), tuple(read), result)


def receivers(row: Row) -> Iterator[Vector]:
    """Vectors that may have the method: bytes in many widths for those that take bytes by four, else a few of each type."""
    if row.name in ("select", "any", "all"):
        yield from (Vector(BOOLEAN, lanes) for lanes in (*LANES, *MORE_LANES))
        return
    for element in NUMBERS:
        counts = LANES + MORE_LANES if element in (INT8, FLOAT32) else LANES
        if element in BYTES and row.name in DOT_NAMES:
            counts = DOT_LANES
        yield from (Vector(element, lanes) for lanes in counts)


def arguments(receiver: Vector, row: Row) -> Iterator[tuple[Shape, ...]]:
    """What to offer beside a receiver."""
    same, element, lanes = receiver, receiver.element, receiver.lanes
    other = Vector(Scalar({"s": "u", "u": "s"}.get(element.kind, element.kind), element.bits), lanes)
    yield ()
    if row.name in ("tableLookup", "lut4"):
        yield from ((Vector(table, 16),) for table in BYTES)
    elif row.name == "select":
        for number in (INT8, UINT16, INT64, FLOAT32):
            shape = Vector(number, lanes)
            yield from itertools.product((shape, number), repeat=2)
    elif row.name in DOT_NAMES:
        sums: list[Shape] = [*(ACCUMULATORS if lanes in (4, 16) else (INT32,)), Vector(INT32, max(1, lanes // 4))]
        yield from ((x,) for x in (same, other))
        yield from ((x, accumulator) for x in (same, other) for accumulator in sums)
    else:
        yield from ((x,) for x in (same, element))
        yield from ((same, same), (same, element), (element, element))


def method_cases() -> list[Case]:
    found = [
        ask(row, (receiver, *offered))
        for row in METHODS.values()
        for receiver in receivers(row)
        if receives(row, receiver)
        for offered in arguments(receiver, row)
    ]
    return [case for case in found if case]


def function_cases() -> list[Case]:
    """Of one to three operands: scalars of every type, mixed ones for two, and vectors."""
    offers: list[tuple[Shape, ...]] = []
    for number in NUMBERS:
        shapes: tuple[Shape, ...] = (number, Vector(number, 3), Vector(number, 16))
        offers += [(shape,) * count for shape in shapes for count in (1, 2, 3)]
        offers += [(Vector(number, 4), number), (number, Vector(number, 4)), (Vector(number, 4), number, Vector(number, 4))]
    offers += [pair for pair in itertools.product(MIXED, repeat=2) if pair[0] != pair[1]]
    found = [ask(row, operands) for row in FUNCTIONS.values() for operands in offers]
    return [case for case in found if case]


# ---- the function of a case


def write_function(name: str, case: Case, in_kernel: bool) -> str:
    """Item i makes the call on the i-th part of every array: a vector's lanes, one element for a scalar. Host methods, which
    loop over the items, compile faster than kernels."""
    spelled = [_spell(type, f"a{place}") for place, type in enumerate(case.operands)]
    head, rest = (f"{spelled[0]}.", spelled[1:]) if case.is_method else ("", spelled)
    call = f"{head}{case.row.name}({', '.join(rest)})"
    parameters = f"{element_of(case.result)}[] o" + "".join(
        f", {_stored(type)}[] a{place}" for place, type in enumerate(case.operands)
    )
    lanes = lanes_of(case.result)
    store = f"o.vstore(i * {lanes}, {call});" if isinstance(case.result, Vector) else f"o[i] = {call};"
    if in_kernel:
        return f"@Kernel static void {name}({parameters}) {{ uint32 i = KernelThread.x(); {store} }}"
    return f"static void {name}({parameters}, int32 n) {{ for (int32 i = 0; i < n; i++) {{ {store} }} }}"


def _stored(type: Shape) -> Scalar:
    """Masks can't be loaded: they are made of bytes."""
    element = element_of(type)
    return INT8 if element == BOOLEAN else element


def _spell(type: Shape, array: str) -> str:
    if isinstance(type, Scalar):
        return f"{array}[i]"
    load = f"{array}.vload<{type.lanes}>(i * {type.lanes})"
    return f"({load} != 0)" if type.element == BOOLEAN else load


def make_arrays(case: Case) -> list[Elements]:
    """The operands of all items: every telling edge with every other, edges mixed among the lanes, random bits."""
    arrays: list[Elements] = []
    for place, type in enumerate(case.operands):
        element, lanes = element_of(type), lanes_of(type)
        known = few_edges(element)
        constant = [known[item // 5**place % len(known) if place < 2 else 3 * item % len(known)] for item in range(ITEMS - 7)]
        mixed = [known[(item + (3 * place + 1) * lane) % len(known)] for item in range(3) for lane in range(lanes)]
        filled = np.repeat(np.array(constant, known.dtype), lanes)
        array = np.concatenate([filled, np.array(mixed, known.dtype), random_bits(element, 4 * lanes, 10 * place + lanes)])
        arrays.append(array.astype(np.int8) if element == BOOLEAN else array)
    return arrays


# ---- the meaning of a case


def expect(case: Case, arrays: Sequence[Elements]) -> Elements:
    """What the row's meaning makes of the arrays, brought into the result's type; a row without one reads bits otherwise."""
    element = element_of(case.result)
    if case.row.meaning is None:
        old = element_of(case.read[0].type)
        numbers = arrays[0] if element_of(case.operands[0]) == old else from_python(to_python(arrays[0]), old)
        return numbers.view(dtype_of(element))
    fit = make_rounder(element)
    results: list[Any] = []
    for item in range(ITEMS):
        given = [_part(array, type, item) for array, type in zip(arrays, case.operands, strict=True)]
        with np.errstate(all="ignore"):
            made = case.row.meaning(fit, *(_read(value, given) for value in case.read))
        lanes: list[Any] = list(made) if isinstance(case.result, Vector) else [made]
        assert len(lanes) == lanes_of(case.result)
        results += [fit(lane) for lane in lanes]
    return from_python(results, element)


def _part(array: Elements, type: Shape, item: int) -> Any:
    """An item's operand: a tuple of lanes, or a number."""
    lanes = lanes_of(type)
    numbers = to_python(array[item * lanes : (item + 1) * lanes])
    if element_of(type) == BOOLEAN:
        numbers = [number != 0 for number in numbers]
    return tuple(numbers) if isinstance(type, Vector) else numbers[0]


def _read(value: Value, given: Sequence[Any]) -> Any:
    """An operand as the row reads it: the conversions that checking put before it."""
    if value.op == "param":
        return given[value.attr]
    if value.op == "const":
        return value.attr
    inner = _read(value.args[0], given)
    if value.op == "splat":
        return (inner,) * lanes_of(value.type)
    assert value.op in ("convert", "reinterpret"), value
    old, new = element_of(value.args[0].type), element_of(value.type)
    assert lanes_of(value.args[0].type) == lanes_of(value.type)
    assert value.op == "convert" or (old.is_integer and new.is_integer and old.bits == new.bits)
    lanes: list[Any] = cast_all(inner if isinstance(value.type, Vector) else [inner], old, new)
    return tuple(lanes) if isinstance(value.type, Vector) else lanes[0]
