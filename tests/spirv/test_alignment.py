"""Known trailing zero bits: what is proven, and that nothing wrong is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.ir import Builder, Function, If, Loop, Program, Return, Slot, Value
from cajeta_dot.passes.alignment import find_trailing_zeros
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference.execute import call
from cajeta_dot.reference.flow import translate
from cajeta_dot.source import Source
from cajeta_dot.types import INT8, INT32, INT64, UINT8, UINT16, UINT32, UINT64, VOID, Scalar, Vector

if TYPE_CHECKING:
    from collections.abc import Callable

TYPES = (INT8, UINT8, UINT16, INT32, UINT32, INT64, UINT64)
LIMIT = 1 << 40


def make_function(*params: Scalar, result: Any = VOID) -> tuple[Function, Builder]:
    values = [Value("param", type, attr=f"p{place}") for place, type in enumerate(params)]
    function = Function("T.f", "f", "host", values, result)
    return function, Builder(function.body)


EXPRESSIONS: dict[str, tuple[Callable[[Builder, Value, Value], Value], int]] = {
    # of x, a multiple of 4, and y, of which nothing is known
    "x": (lambda b, x, y: x, 2),
    "y": (lambda b, x, y: y, 0),
    "x + 8": (lambda b, x, y: b.binary("add", x, b.const(UINT32, 8)), 2),
    "x + 2": (lambda b, x, y: b.binary("add", x, b.const(UINT32, 2)), 1),
    "x - y": (lambda b, x, y: b.binary("sub", x, y), 0),
    "y * 12": (lambda b, x, y: b.binary("mul", y, b.const(UINT32, 12)), 2),
    "x * x": (lambda b, x, y: b.binary("mul", x, x), 4),
    "x * 0": (lambda b, x, y: b.binary("mul", x, b.const(UINT32, 0)), 32),
    "y << 3": (lambda b, x, y: b.binary("shl", y, b.const(UINT32, 3)), 3),
    "x << y": (lambda b, x, y: b.binary("shl", x, b.binary("and", y, b.const(UINT32, 31))), 2),
    "x >> 1": (lambda b, x, y: b.binary("shr", x, b.const(UINT32, 1)), 1),
    "x >> 5": (lambda b, x, y: b.binary("shr", x, b.const(UINT32, 5)), 0),
    "x >> y": (lambda b, x, y: b.binary("shr", x, b.binary("and", y, b.const(UINT32, 31))), 0),
    "y & 0xF0": (lambda b, x, y: b.binary("and", y, b.const(UINT32, 0xF0)), 4),
    "x | 16": (lambda b, x, y: b.binary("or", x, b.const(UINT32, 16)), 2),
    "x ^ 2": (lambda b, x, y: b.binary("xor", x, b.const(UINT32, 2)), 1),
    "-x": (lambda b, x, y: b.unary("neg", x), 2),
    "~x": (lambda b, x, y: b.unary("not", x), 0),
    "x / 2": (lambda b, x, y: b.binary("div", x, b.const(UINT32, 2)), 1),
    "x / 3": (lambda b, x, y: b.binary("div", x, b.const(UINT32, 3)), 0),
    "x % 6": (lambda b, x, y: b.binary("rem", x, b.const(UINT32, 6)), 1),
    "min(x, 8)": (lambda b, x, y: b.binary("min", x, b.const(UINT32, 8)), 2),
    "x < y ? x : 8": (lambda b, x, y: b.select(b.compare("lt", x, y), x, b.const(UINT32, 8)), 2),
    "(int64) x": (lambda b, x, y: b.convert(x, INT64), 2),
    "(uint8) (x * 128)": (lambda b, x, y: b.convert(b.binary("mul", x, b.const(UINT32, 128)), UINT8), 8),
    "(int64) (y * 0)": (lambda b, x, y: b.convert(b.binary("mul", y, b.const(UINT32, 0)), INT64), 64),
    "(int32) x": (lambda b, x, y: b.convert(x, INT32), 2),
    "a lane of x": (lambda b, x, y: b.extract(b.splat(x, 4), 1), 0),
    "a word of bytes": (lambda b, x, y: b.reinterpret(b.const(Vector(UINT8, 4), 0), UINT32), 0),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text: str) -> None:
    compute, zeros = EXPRESSIONS[text]
    function, b = make_function(UINT32, UINT32)
    x, y = function.params
    value = compute(b, x, y)
    assert find_trailing_zeros(function, {x: 2}).get(value, 0) == zeros


def test_a_local_is_the_worst_of_what_is_set() -> None:
    """Wherever it is set: a loop that steps by eight from a multiple of four stays a multiple of four."""
    function, b = make_function(UINT32)
    (n,) = function.params
    index, other = Slot("i", UINT32), Slot("j", UINT32)
    function.slots.extend([index, other])
    b.set(index, b.const(UINT32, 4))
    b.set(other, b.const(UINT32, 0))
    loop = Loop([], None, [], [])
    test, body, update = Builder(loop.test), Builder(loop.body), Builder(loop.update)
    loop.condition = test.compare("lt", test.get(index), n)
    read = body.get(other)
    seen = body.get(index)
    body.set(other, body.binary("add", read, seen))
    update.set(index, update.binary("add", update.get(index), update.const(UINT32, 8)))
    function.body.append(loop)
    after = b.get(index)
    facts = find_trailing_zeros(function, {})
    assert (facts[seen], facts[read], facts[after]) == (2, 2, 2)
    branch = If(loop.condition, [], [])
    loop.body.append(branch)
    late = Builder(branch.otherwise)
    late.set(index, late.binary("add", late.get(index), late.const(UINT32, 1)))
    facts = find_trailing_zeros(function, {})
    assert (facts[seen], facts[read], facts[after]) == (0, 0, 0)


OPERATIONS = ("add", "sub", "mul", "and", "or", "xor", "div", "rem", "min", "max", "shl", "shr", "neg", "abs", "not")


def grow(b: Builder, rng: np.random.Generator, values: list[Value]) -> Value:
    """One more random operation on what there is."""
    a = values[rng.integers(len(values))]
    assert isinstance(a.type, Scalar)
    alike = [value for value in values if value.type == a.type]
    other = alike[rng.integers(len(alike))]
    if rng.random() < 0.4:
        other = b.const(a.type, a.type.wrap(int(rng.integers(-70, 70)) * int(rng.choice([1, 4, 16]))))
    op = str(rng.choice(["convert", "select", *OPERATIONS]))
    if op == "convert":
        return b.convert(a, TYPES[rng.integers(len(TYPES))])
    if op == "select":
        return b.select(b.compare("lt", a, other), a, other)
    if op in ("neg", "abs", "not"):
        return b.unary(op, a)
    if op in ("shl", "shr"):
        other = b.const(a.type, int(rng.integers(a.type.bits)))
    return b.binary(op, a, other)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_proven_holds(seed: int) -> None:
    """Random expressions of parameters that are multiples of 1, 2, 4 … : no result has fewer zeros than are proven."""
    rng = np.random.default_rng(seed)
    types: list[Scalar] = [TYPES[int(rng.integers(len(TYPES)))] for _ in range(3)]
    function, b = make_function(*types, result=INT32)
    values = list(function.params)
    for _ in range(12):
        values.append(grow(b, rng, values))
    given = {param: int(rng.integers(4)) for param in function.params}
    facts = find_trailing_zeros(function, given)
    assert isinstance(values[-1].type, Scalar)
    function.result = values[-1].type
    function.body.append(Return(values[-1]))
    program = Program(Source("t.cj", ""), [function], {})
    verify(program)
    code = translate(program, checks=False)[function]
    zeros = facts.get(values[-1], 0)
    for _ in range(40):
        numbers = [int(rng.integers(-LIMIT, LIMIT)) << given[param] for param in function.params]
        result: int = call(code, [type.wrap(number) for type, number in zip(types, numbers, strict=True)])
        assert result % 2 ** min(zeros, values[-1].type.bits) == 0
