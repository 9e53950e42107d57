"""Every opcode that computes, on every type and on each CPU target that runs here, over the edges of the types."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends.llvm.modules import write_module
from cajeta_dot.backends.x86 import SCALAR
from cajeta_dot.ir import COMPARISONS, Builder, Function, Value, lanes_of_constant
from cajeta_dot.record import record
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    SCALARS,
    UINT8,
    UINT32,
    Scalar,
    Vector,
    element_of,
    lanes_of,
    with_element,
)

from . import oracle
from .programs import RUNNABLE_KERNELS, Lanes, Shape, apply, apply_all, dtype_of, load, make_program, run_all, run_lanes
from .values import edges, fill, pairs, same

if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.backends import Entry

    from .programs import Build

NUMBERS = [scalar for scalar in SCALARS.values() if scalar.is_number]
INTEGERS = [scalar for scalar in NUMBERS if scalar.is_integer]
FLOATS = [scalar for scalar in NUMBERS if scalar.is_float]
WIDTHS = (None, 1, 3, 16)  # lanes; None is a scalar
ITEMS = 8

# opcode -> operands, the elements it is for
BINARY = {
    **dict.fromkeys(("add", "sub", "mul", "div", "rem", "min", "max", *COMPARISONS), NUMBERS),
    **dict.fromkeys(("and", "or", "xor", "shl", "shr", "rotate_left", "rotate_right"), INTEGERS),
}
UNARY = (
    dict.fromkeys(("neg", "abs"), NUMBERS)
    | dict.fromkeys(("not", "count_ones", "reverse_bits"), INTEGERS)
    | dict.fromkeys(("floor", "ceil", "trunc", "sqrt", "round"), FLOATS)
)


def shape(element: Scalar, lanes: int | None) -> Shape:
    return element if lanes is None else Vector(element, lanes)


def build(op: str, type: Shape) -> Build:
    """One operation; a shift gets its count within the width, as the checker makes sure of."""

    def make(b: Builder, values: list[Value]) -> Value:
        if op in ("shl", "shr"):
            width = b.const(type, element_of(type).bits - 1)
            values = [values[0], b.binary("and", values[1], width)]
        return b.emit(op, with_element(type, BOOLEAN) if op in COMPARISONS else type, *values)

    return make


TABLES = {1: UNARY, 2: BINARY, 3: {"fma": FLOATS}}  # by the number of operands


def result_of(op: str, type: Shape) -> Shape:
    return with_element(type, BOOLEAN) if op in COMPARISONS else type


def opcodes(element: Scalar, operands: int) -> list[str]:
    return [op for op, elements in TABLES[operands].items() if element in elements]


@cache
def entries(target: str, element: Scalar) -> dict[str, Entry]:
    """One kernel for each shape and number of operands, which applies all opcodes. Without checks: division is total."""
    functions: list[Function] = []
    for lanes in WIDTHS:
        type = shape(element, lanes)
        for operands in TABLES:
            made = {op: (result_of(op, type), build(op, type)) for op in opcodes(element, operands)}
            functions.append(apply_all(f"{lanes}_{operands}", [type] * operands, made))
    return load(make_program(*functions), target, checks=False)


def operands_of(element: Scalar, operands: int) -> list[list[Any]]:
    if operands == 1:
        return [edges(element)]
    first, second = pairs(element)
    return [first, second, first[5:] + first[:5]][:operands]


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_each_opcode_is_exact_on_every_type(element: Scalar, lanes: int | None, target: str) -> None:
    type = shape(element, lanes)
    for operands in TABLES:
        ops = opcodes(element, operands)
        columns = operands_of(element, operands)
        items = -(-len(columns[0]) // (lanes_of(type) * ITEMS)) * ITEMS
        arrays = [np.array(fill(column, items * lanes_of(type)), dtype_of(element)) for column in columns]
        results = [result_of(op, type) for op in ops]
        entry = entries(target, element)[f"{lanes}_{operands}"]
        for op, got in zip(ops, run_all(entry, results, arrays, items), strict=True):
            compare(op, element, columns, got[: len(columns[0])])


def compare(op: str, element: Scalar, columns: list[list[Any]], got: Lanes) -> None:
    wanted = np.array([oracle.evaluate(op, element, *lanes) for lanes in zip(*columns, strict=True)], got.dtype)
    if op in ("min", "max") and element.is_float:
        got, wanted = got + 0, wanted + 0  # the sign of a zero is not specified
    wrong = [k for k in range(len(got)) if not same(got[k : k + 1], wanted[k : k + 1])]
    assert not wrong, f"{op} of {[column[wrong[0]] for column in columns]}: {got[wrong[0]]}, not {wanted[wrong[0]]}"


def test_nothing_is_assumed_of_any_operand() -> None:
    """Everything is defined, so no flag may say that something doesn't happen."""
    functions: list[Function] = []
    for element in NUMBERS:
        for operands in TABLES:
            made = {op: (result_of(op, element), build(op, element)) for op in opcodes(element, operands)}
            functions.append(apply_all(f"{element}_{operands}", [element] * operands, made))
    text = write_module(make_program(*functions), SCALAR.machine, checks=False).text
    assert not re.findall(
        r"\b(?:nsw|nuw|exact|disjoint|nneg|samesign|undef|inbounds|fast|nnan|ninf|nsz|reassoc|contract)\b", text
    )


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
def test_a_float16_fma_rounds_once(target: str) -> None:
    """Each of these would come out otherwise if it were rounded to float32 first."""
    rows = [
        (1.189453125, 2560.0, 3.445148468017578e-05, 3046.0),
        (0.1334228515625, 1.4638671875, 30.34375, 30.546875),
        (1.1494140625, 14.796875, 7.683038711547852e-05, 17.015625),
    ]
    entry = load(make_program(apply("f", [FLOAT16] * 3, FLOAT16, lambda b, v: b.emit("fma", FLOAT16, *v))), target)["f"]
    *operands, wanted = (np.array(column, np.float16) for column in zip(*rows, strict=True))
    assert same(run_lanes(entry, FLOAT16, operands, len(rows)), wanted)


def test_the_least_integer_has_a_size_that_llvm_does_not_think_impossible() -> None:
    text = write_module(make_program(apply("f", [INT32], INT32, lambda b, v: b.unary("abs", v[0]))), SCALAR.machine, False).text
    assert re.search(r"@llvm\.abs\.i32\(i32 %\w+, i1 false\)", text)


# ---- what moves lanes, and what makes one of many


def some_lanes(element: Scalar, count: int) -> np.ndarray[Any, Any]:
    with np.errstate(all="ignore"):
        return np.array(fill(edges(element), count), dtype_of(element))


@record
class Move:
    """A kind of move: the shapes that it takes and gives, by element; how it is built, and what it does to rows of lanes."""

    takes: Callable[[Scalar], list[Shape]]
    gives: Callable[[Scalar], Shape]
    build: Build
    expect: Callable[[list[Lanes]], Lanes]


PICKS = [11, 0, 6, 5]
MOVES: dict[str, Move] = {
    "extract": Move(
        lambda e: [Vector(e, 5)],
        lambda e: e,
        lambda b, v: b.extract(v[0], 3),
        lambda rows: rows[0][:, 3],
    ),
    "insert": Move(
        lambda e: [Vector(e, 5), e],
        lambda e: Vector(e, 5),
        lambda b, v: b.emit("insert", v[0].type, *v, attr=4),
        lambda rows: np.concatenate([rows[0][:, :4], rows[1]], axis=1),
    ),
    "splat": Move(
        lambda e: [e],
        lambda e: Vector(e, 7),
        lambda b, v: b.splat(v[0], 7),
        lambda rows: np.repeat(rows[0], 7, axis=1),
    ),
    "build": Move(
        lambda e: [e, e, e],
        lambda e: Vector(e, 3),
        lambda b, v: b.emit("build", Vector(element_of(v[0].type), 3), *v),
        lambda rows: np.concatenate(rows, axis=1),
    ),
    "shuffle": Move(
        lambda e: [Vector(e, 6), Vector(e, 6)],
        lambda e: Vector(e, 4),
        lambda b, v: b.shuffle(v[0], v[1], PICKS),
        lambda rows: np.concatenate(rows, axis=1)[:, PICKS],
    ),
    "select_scalar": Move(
        lambda e: [BOOLEAN, Vector(e, 4), Vector(e, 4)],
        lambda e: Vector(e, 4),
        lambda b, v: b.select(*v),
        lambda rows: np.where(*rows),
    ),
    "select_mask": Move(
        lambda e: [Vector(e, 4), Vector(e, 4)],
        lambda e: Vector(e, 4),
        lambda b, v: b.select(b.compare("lt", v[0], v[1]), v[1], v[0]),
        lambda rows: np.where(rows[0] < rows[1], rows[1], rows[0]),
    ),
}


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
@pytest.mark.parametrize("move", MOVES)
def test_lanes_are_moved_as_they_are(move: str, target: str) -> None:
    way = MOVES[move]
    made = load(make_program(*(apply(f"{move}_{e}", way.takes(e), way.gives(e), way.build) for e in NUMBERS)), target)
    for element in NUMBERS:
        arrays = [some_lanes(element_of(type), ITEMS * lanes_of(type)) for type in way.takes(element)]
        got = run_lanes(made[f"{move}_{element}"], way.gives(element), arrays, ITEMS)
        with np.errstate(invalid="ignore"):
            wanted = way.expect([flat.reshape(ITEMS, -1) for flat in arrays]).reshape(-1)
        assert same(got, wanted), (move, element, got, wanted)


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
@pytest.mark.parametrize("lanes", [1, 3, 16, 64, 256])
def test_a_sum_takes_float_lanes_in_order_and_wraps_integers(lanes: int, target: str) -> None:
    elements = [FLOAT16, FLOAT32, FLOAT64, *(e for e in INTEGERS if e.bits >= 32)]

    def add_up(element: Scalar) -> Build:
        return lambda b, v: b.emit("sum", element, *v)

    program = make_program(*(apply(f"sum_{e}", [Vector(e, lanes)], e, add_up(e)) for e in elements))
    made = load(program, target)
    random = np.random.default_rng(lanes)
    for element in elements:
        if element.is_float:
            values = (random.standard_normal((ITEMS, lanes)) * 10.0 ** random.integers(-3, 3, (ITEMS, lanes))).astype(
                dtype_of(element)
            )
            values[0, 0] = -0.0
        else:
            values = some_lanes(element, ITEMS * lanes).reshape(ITEMS, lanes)
        wanted = values[:, 0].copy()
        with np.errstate(over="ignore"):
            for lane in range(1, lanes):
                wanted = wanted + values[:, lane]
        got = run_lanes(made[f"sum_{element}"], element, [values.reshape(-1)], ITEMS)
        assert same(got, wanted), (element, got, wanted)


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
def test_any_and_all_look_at_each_lane(target: str) -> None:
    lanes = 11
    vector = Vector(UINT8, lanes)

    def ask(op: str) -> Build:
        return lambda b, v: b.emit(op, BOOLEAN, b.compare("ne", v[0], b.const(vector, 0)))

    program = make_program(*(apply(op, [vector], BOOLEAN, ask(op)) for op in ("any", "all")))
    made = load(program, target)
    rows = np.zeros((24, lanes), np.uint8)
    for k in range(lanes):
        rows[k, k] = 1 + k  # one lane
        rows[lanes + k] = 1
        rows[lanes + k, k] = 0  # all but one
    rows[22] = 255
    assert run_lanes(made["any"], BOOLEAN, [rows.reshape(-1)], 24).tolist() == rows.any(axis=1).tolist()
    assert run_lanes(made["all"], BOOLEAN, [rows.reshape(-1)], 24).tolist() == rows.all(axis=1).tolist()


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
@pytest.mark.parametrize("lanes", [1, 4, 7, 256])
def test_a_lane_index_is_taken_modulo_the_lanes_without_checks(lanes: int, target: str) -> None:
    vector = Vector(UINT8, lanes)

    def take(b: Builder, values: list[Value]) -> Value:
        return b.emit("extract_at", UINT8, *values)

    def put(b: Builder, values: list[Value]) -> Value:
        return b.emit("insert_at", vector, *values, b.const(UINT8, 99))

    functions = [apply(f"take_{e}", [vector, e], UINT8, take) for e in INTEGERS]
    functions += [apply(f"put_{e}", [vector, e], vector, put) for e in INTEGERS]
    made = load(make_program(*functions), target, checks=False)
    for element in INTEGERS:
        indexes = edges(element)[:16] if len(edges(element)) >= 16 else fill(edges(element), 16)
        rows = np.random.default_rng(1).integers(100, 256, (16, lanes)).astype(np.uint8)
        at = [index % (1 << element.bits) % lanes for index in indexes]
        numbers = np.array(indexes, dtype_of(element))
        assert (
            run_lanes(made[f"take_{element}"], UINT8, [rows.reshape(-1), numbers], 16).tolist() == rows[range(16), at].tolist()
        )
        wanted = rows.copy()
        wanted[range(16), at] = 99
        assert (run_lanes(made[f"put_{element}"], vector, [rows.reshape(-1), numbers], 16) == wanted.reshape(-1)).all()


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
def test_bits_are_read_otherwise_with_lane_0_at_the_low_end(target: str) -> None:
    ways = {
        "words": (Vector(UINT8, 8), Vector(INT32, 2)),
        "bytes": (Vector(UINT32, 2), Vector(UINT8, 8)),
        "float": (Vector(INT32, 3), Vector(FLOAT32, 3)),
        "scalar": (FLOAT64, Vector(UINT8, 8)),
        "halves": (Vector(UINT8, 4), Vector(FLOAT16, 2)),
    }

    def read_as(new: Shape) -> Build:
        return lambda b, v: b.reinterpret(v[0], new)

    made = load(make_program(*(apply(name, [old], new, read_as(new)) for name, (old, new) in ways.items())), target)
    for name, (old, new) in ways.items():
        size = element_of(old).bits * lanes_of(old) // 8
        raw = np.random.default_rng(2).integers(0, 256, ITEMS * size).astype(np.uint8)
        got = run_lanes(made[name], new, [raw.view(dtype_of(element_of(old)))], ITEMS)
        assert got.tobytes() == raw.tobytes(), name


@pytest.mark.parametrize("target", RUNNABLE_KERNELS)
def test_constants_have_each_lane_that_they_say(target: str) -> None:
    def give(type: Shape, content: object) -> Build:
        return lambda b, _: b.const(type, content)

    constants: dict[str, tuple[Shape, Any]] = {"yes": (BOOLEAN, True), "no": (BOOLEAN, False)}
    for element in NUMBERS:
        numbers = edges(element)
        constants[f"{element}_lanes"] = Vector(element, len(numbers)), tuple(numbers)
        constants[f"{element}_same"] = Vector(element, 3), numbers[1]
        constants[f"{element}_scalar"] = element, numbers[2]
    kernel = apply_all("constants", [UINT8], {name: (type, give(type, content)) for name, (type, content) in constants.items()})
    types = [type for type, _ in constants.values()]
    made = run_all(load(make_program(kernel), target)["constants"], types, [np.zeros(1, np.uint8)], 1)
    for (name, (type, content)), got in zip(constants.items(), made, strict=True):
        wanted = np.resize(np.array(lanes_of_constant(content), got.dtype), lanes_of(type))
        assert same(got, wanted), (name, content)
