"""The bounds of every opcode against what the interpreter computes, on operands drawn from their bounds; and faults in them.

Each rule is asked about narrow and wide operands of every integer type, about the ends of types and about zero. A rule that is
wrong by one at either end must be found, for each opcode: else the test would say nothing.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest

from cajeta_dot import bounds
from cajeta_dot.bounds import RULES, bound, is_integer, whole
from cajeta_dot.ir import Value
from cajeta_dot.reference.evaluate import EVALUATE, Setting
from cajeta_dot.source import Source
from cajeta_dot.types import (
    BOOLEAN,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Array,
    Scalar,
    Vector,
    element_of,
    lanes_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cajeta_dot.bounds import Bounds
    from cajeta_dot.types import Type

SETTING = Setting(Source("t.cj", ""), checks=False)
INTEGERS = (INT8, UINT8, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64)
CASES = 500  # operations for each opcode
DRAWN = 24  # results for each


def draw_bounds(r: random.Random, type: Type) -> Bounds:
    """An interval: a point, narrow, or anything; often at an end of the type, or around zero."""
    low, high = whole(type)
    near = [n for n in (low, low + 1, -2, -1, 0, 1, 2, 7, 15, 16, high // 2, high - 1, high) if low <= n <= high]
    start = r.choice(near) if r.random() < 0.6 else r.randint(low, high)
    reach = r.choice((0, 1, 3, 15, 100, high - low))
    return max(low, start - r.randint(0, reach)), min(high, start + r.randint(0, reach))


def draw_number(r: random.Random, within: Bounds) -> int:
    low, high = within
    kind = r.random()
    if kind < 0.5:
        return r.choice(within)
    return min(max(r.choice((-1, 0, 1)), low), high) if kind < 0.6 else r.randint(low, high)


def draw_operand(r: random.Random, type: Type, within: Bounds) -> Any:
    if type == BOOLEAN:
        return r.random() < 0.5
    if isinstance(type, Vector):
        if type.element == BOOLEAN:
            return tuple(r.random() < 0.5 for _ in range(type.lanes))
        same = r.random() < 0.3
        lane = draw_number(r, within)
        return tuple(lane if same else draw_number(r, within) for _ in range(type.lanes))
    return draw_number(r, within)


def draw_operation(r: random.Random, op: str) -> Value:
    """An operation of small vectors or scalars, with operands of the types that it takes."""
    element = r.choice(INTEGERS)
    lanes = r.choice((1, 2, 4))
    vector = Vector(element, lanes)
    type = vector if r.random() < 0.5 else element

    def make(result: Type, *operands: Type, attr: Any = None) -> Value:
        return Value(op, result, tuple(Value("param", t) for t in operands), attr)

    match op:
        case "const":
            return make(vector, attr=tuple(draw_number(r, whole(element)) for _ in range(lanes)))
        case "not" | "neg" | "abs" | "count_ones":
            return make(type, type)
        case "sum":
            return make(vector.element, vector) if element.bits >= 32 else make(INT32, Vector(INT32, lanes))
        case "dot":
            into = r.choice((1, lanes))
            w, x = (Vector(r.choice((INT8, UINT8)), 4 * lanes) for _ in "wx")
            return make(Vector(INT32, into), w, x, Vector(INT32, into))
        case "convert":
            return make(vector, Vector(r.choice(INTEGERS), lanes))
        case "reinterpret":
            bits = r.choice((element.bits, 8, 32))
            kinds = [t for t in INTEGERS if t.bits == bits and element.bits * 4 % bits == 0]
            old = r.choice(kinds)
            return make(Vector(element, 4), Vector(old, element.bits * 4 // old.bits))
        case "select":
            return make(type, Vector(BOOLEAN, lanes) if type is vector else BOOLEAN, type, type)
        case "splat":
            return make(vector, element)
        case "build":
            return make(vector, *[element] * lanes)
        case "shuffle":
            count = r.choice((1, 2, 4))
            return make(Vector(element, count), vector, vector, attr=tuple(r.randrange(2 * lanes) for _ in range(count)))
        case "extract":
            return make(element, vector, attr=r.randrange(lanes))
        case "extract_at":
            return make(element, vector, INT32)
        case "insert":
            return make(vector, vector, element, attr=r.randrange(lanes))
        case "insert_at":
            return make(vector, vector, INT32, element)
        case "length":
            return make(INT64, Array(element, "array"))
        case _:
            return make(type, type, type)


def compute(value: Value, operands: Sequence[Any]) -> tuple[int, ...]:
    """The lanes of what the interpreter makes."""
    if value.op == "const":
        return value.attr
    if value.op == "length":
        return (len(operands[0]),)
    result: Any = EVALUATE[value.op](value, SETTING)(*operands)
    return result if isinstance(value.type, Vector) else (result,)


def find_fault(op: str, seed: int = 0) -> str:
    """Operands whose result is not within its bounds, in words; empty if none is found."""
    r = random.Random(f"{op} {seed}")
    for _ in range(CASES):
        value = draw_operation(r, op)
        limits = [draw_bounds(r, arg.type) if is_integer(arg.type) else bounds.NOTHING for arg in value.args]
        if op in ("shl", "shr"):  # whose counts are masked by whoever makes them
            width = element_of(value.type).bits
            limits[1] = max(limits[1][0], 0), min(limits[1][1], width - 1)
            limits[1] = limits[1] if limits[1][0] <= limits[1][1] else (0, width - 1)
        low, high = bound(value, limits)
        for _ in range(DRAWN):
            operands = [draw_operand(r, arg.type, within) for arg, within in zip(value.args, limits, strict=True)]
            if value.op == "length":
                operands = [[0] * r.choice((0, 0, 1, 5))]
            for lane in compute(value, operands):
                if not low <= lane <= high:
                    types = ", ".join(str(arg.type) for arg in value.args)
                    return f"{op}({types}) of {operands} in {limits} is {lane}, not in {low}..{high}"
    return ""


@pytest.mark.parametrize("op", RULES)
def test_results_lie_in_their_bounds(op: str) -> None:
    assert find_fault(op) == ""


def too_high(found: Bounds) -> Bounds:
    return found[0] + 1, max(found)


def too_low(found: Bounds) -> Bounds:
    return min(found), found[1] - 1


UNREACHABLE = {("length", "too_low")}  # nobody makes an array of 2^63 - 1 elements


def planted() -> Iterator[Any]:
    for op, wrong in itertools.product(RULES, (too_high, too_low)):
        if (op, wrong.__name__) not in UNREACHABLE:
            yield pytest.param(op, wrong, id=f"{op}-{wrong.__name__}")


@pytest.mark.parametrize(("op", "wrong"), list(planted()))
def test_a_rule_that_is_wrong_by_one_is_noticed(op: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES[op]

    def plant(value: Value, operands: Sequence[Bounds]) -> Bounds | None:
        found = rule(value, operands)
        return found and wrong(found)

    monkeypatch.setitem(RULES, op, plant)
    assert find_fault(op)


@pytest.mark.parametrize("element", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("op", ["and", "or", "xor", "shr", "shl", "div", "rem", "min", "max", "add", "sub", "mul"])
def test_all_operands_of_few_bits(op: str, element: Scalar) -> None:
    """Every pair of intervals over some numbers, every pair of numbers in them."""
    numbers = [n for n in (-128, -16, -3, -1, 0, 1, 2, 5, 7, 8, 127, 255) if element.holds(n)]
    value = Value(op, element, (Value("param", element), Value("param", element)))
    seconds = [n for n in numbers if 0 <= n < 8] if op in ("shl", "shr") else numbers
    evaluate = EVALUATE[op](value, SETTING)
    results = {(x, y): evaluate(x, y) for x in numbers for y in seconds}
    intervals, others = (list(itertools.combinations_with_replacement(some, 2)) for some in (numbers, seconds))
    for a, b in itertools.product(intervals, others):
        low, high = bound(value, [a, b])
        made = [results[x, y] for x in numbers for y in seconds if a[0] <= x <= a[1] and b[0] <= y <= b[1]]
        assert low <= min(made), (a, b)
        assert max(made) <= high, (a, b)


def test_bounds_of_single_numbers_are_exact() -> None:
    """Where the operands are known, so is the result: no rule may hide behind all that a type holds."""
    r = random.Random(1)
    loose = {"count_ones", "rem", "select", "splat", "reinterpret", "length", "build", "insert", "insert_at", "shuffle"}
    for op in RULES.keys() - loose - {"const", "extract", "extract_at", "and", "or", "xor"}:
        for _ in range(50):
            value = draw_operation(r, op)
            points = [draw_number(r, whole(arg.type)) for arg in value.args]
            operands = [
                (point,) * arg.type.lanes if isinstance(arg.type, Vector) else point
                for point, arg in zip(points, value.args, strict=True)
            ]
            if op in ("shl", "shr"):
                points[1] = 3
                operands[1] = (3,) * lanes_of(value.type) if isinstance(value.type, Vector) else 3
            wanted = set(compute(value, operands))
            assert wanted == set(bound(value, [(point, point) for point in points])), (op, points)
