"""Constants computed while compiling are those that the interpreter, which shares no code with it, computes at run time."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from cajeta_dot.check.builtins import FUNCTIONS
from cajeta_dot.check.fold import Emitter, fold
from cajeta_dot.ir import COMPARISONS, Function, Program, Return, Value
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference.execute import call
from cajeta_dot.reference.flow import translate
from cajeta_dot.source import Source
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    SCALARS,
    UINT32,
    UINT64,
    Scalar,
    Type,
    Vector,
    with_element,
)

INTEGERS = [scalar for scalar in SCALARS.values() if scalar.is_integer]
FLOATS = [FLOAT32, FLOAT64]
BINARY = ("add", "sub", "mul", "div", "rem")
BITS = ("and", "or", "xor")


def edges(type: Scalar) -> list[Any]:
    if type == BOOLEAN:
        return [False, True]
    if type.is_float:
        least, most = {16: (2.0**-24, 65504.0), 32: (2.0**-149, 3.4028234663852886e38), 64: (5e-324, 1.7976931348623157e308)}[
            type.bits
        ]
        return [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.5,
            3.0,
            1 / 3 if type.bits == 64 else 0.3333333432674408,
            least,
            most,
            -most,
            math.inf,
            math.nan,
        ]
    return sorted(
        {type.low, type.low + 1, type.low // 3, -1 if type.is_signed else 2, 0, 1, 7, type.high // 5, type.high - 1, type.high}
    )


def run(op: str, type: Type, operands: list[tuple[Scalar, Any]], attr: Any = None) -> Any:
    """The operation on parameters, interpreted."""
    params = [Value("param", t, attr=f"p{n}") for n, (t, _) in enumerate(operands)]
    function = Function("T.f", "f", "host", params, type)
    value = Value(op, type, tuple(params), attr)
    function.body += [value, Return(value)]
    program = Program(Source("t.cj", ""), [function], {})
    verify(program)
    return call(translate(program, False)[function], [content for _, content in operands])


def folded(op: str, type: Type, operands: list[tuple[Scalar, Any]], attr: Any = None) -> Any:
    """The constant that an emitter makes of it, or None."""
    emitter = Emitter([])
    value = emitter.emit(op, type, *(emitter.const(t, content) for t, content in operands), attr=attr)
    return value.attr if value.op == "const" else None


def same(a: Any, b: Any) -> bool:
    """Equal, of one kind, zeros with their signs; any NaN is any NaN."""
    if isinstance(a, float) and isinstance(b, float):
        return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return a.__class__ is b.__class__ and a == b


@pytest.mark.parametrize(
    ("op", "type"), [*itertools.product(BINARY + BITS, INTEGERS), *itertools.product(BINARY, FLOATS)], ids=str
)
def test_binary_operations(op: str, type: Scalar) -> None:
    for a, b in itertools.product(edges(type), repeat=2):
        content = folded(op, type, [(type, a), (type, b)])
        if type.is_integer and op in ("div", "rem") and (b == 0 or (b == -1 and a == type.low)):
            assert content is None, "an error where checks are on"
        else:
            assert same(content, run(op, type, [(type, a), (type, b)])), (a, b)


@pytest.mark.parametrize("op", ["shl", "shr"])
@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_shifts(type: Scalar, op: str) -> None:
    for a, count in itertools.product(edges(type), (0, 1, type.bits // 2, type.bits - 1)):
        assert same(folded(op, type, [(type, a), (type, count)]), run(op, type, [(type, a), (type, count)])), (a, count)


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("type", [*INTEGERS, *FLOATS], ids=str)
def test_comparisons(type: Scalar, op: str) -> None:
    for a, b in itertools.product(edges(type), repeat=2):
        assert same(folded(op, BOOLEAN, [(type, a), (type, b)]), run(op, BOOLEAN, [(type, a), (type, b)])), (a, b)


@pytest.mark.parametrize("op", BITS)
def test_booleans(op: str) -> None:
    for a, b in itertools.product((False, True), repeat=2):
        assert same(folded(op, BOOLEAN, [(BOOLEAN, a), (BOOLEAN, b)]), run(op, BOOLEAN, [(BOOLEAN, a), (BOOLEAN, b)]))
    assert folded("not", BOOLEAN, [(BOOLEAN, True)]) is False
    assert folded("eq", BOOLEAN, [(BOOLEAN, True), (BOOLEAN, True)]) is True


@pytest.mark.parametrize(
    ("op", "type"), [*itertools.product(("neg", "not"), INTEGERS), *itertools.product(("neg",), FLOATS)], ids=str
)
def test_unary_operations(op: str, type: Scalar) -> None:
    for a in edges(type):
        assert same(folded(op, type, [(type, a)]), run(op, type, [(type, a)])), a


@pytest.mark.parametrize(
    ("old", "new"), [(a, b) for a, b in itertools.product(SCALARS.values(), repeat=2) if a.is_number and b.is_number and a != b]
)
def test_conversions(old: Scalar, new: Scalar) -> None:
    op = "reinterpret" if old.is_integer and new.is_integer and old.bits == new.bits else "convert"
    for a in edges(old):
        assert same(folded(op, new, [(old, a)]), run(op, new, [(old, a)])), a


def test_select_splat_and_extract() -> None:
    assert folded("select", INT32, [(BOOLEAN, True), (INT32, 3), (INT32, 4)]) == 3
    assert folded("select", INT32, [(BOOLEAN, False), (INT32, 3), (INT32, 4)]) == 4
    lanes = Vector(INT32, 4)
    emitter = Emitter([])
    splat = emitter.splat(emitter.const(INT32, 7), 4)
    assert (splat.op, splat.type, splat.attr) == ("const", lanes, 7)
    assert emitter.extract(splat, 2).attr == 7
    assert emitter.convert(splat, FLOAT32).type == with_element(lanes, FLOAT32)


FUNCTION_OPERANDS: dict[str, list[Scalar]] = {
    "Math.abs": [*INTEGERS, *FLOATS],
    "Math.min": [*INTEGERS, *FLOATS],
    "Math.max": [*INTEGERS, *FLOATS],
    **{f"Math.{name}": FLOATS for name in ("floor", "ceil", "trunc", "round", "sqrt", "fma")},
    **{f"Bits.{name}": [UINT32, UINT64] for name in ("count", "reverse", "rotateLeft", "rotateRight")},
    "Cajeta.bitsToF32": [INT32],
    "Cajeta.f32ToBits": [FLOAT32],
    "Cajeta.bitsToF64": [INT64],
    "Cajeta.f64ToBits": [FLOAT64],
}
_ARGUMENTS = {"Math.min": 2, "Math.max": 2, "Math.fma": 3, "Bits.rotateLeft": 2, "Bits.rotateRight": 2}
_RESULTS = {
    "Bits.count": UINT32,
    "Cajeta.bitsToF32": FLOAT32,
    "Cajeta.f32ToBits": INT32,
    "Cajeta.bitsToF64": FLOAT64,
    "Cajeta.f64ToBits": INT64,
}


def test_every_function_is_here() -> None:
    assert set(FUNCTION_OPERANDS) == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    row = FUNCTIONS[name]
    for type in FUNCTION_OPERANDS[name]:
        result = _RESULTS.get(name, type)
        for contents in itertools.product(edges(type)[:8], repeat=_ARGUMENTS.get(name, 1)):
            operands = [(type, content) for content in contents]
            op, attr = ("method", row) if row.meaning else ("reinterpret", None)
            content = folded(op, result, operands, attr)
            found = run(op, result, operands, attr)
            if any(c != c for c in contents) or found != found:
                assert content is None, "a NaN keeps its bits at run time only"
            else:
                assert same(content, found), contents


def test_what_is_left_to_run_time() -> None:
    assert fold("add", INT32, (Value("param", INT32, attr="x"), Value("const", INT32, attr=1))) is None
    lanes = Vector(INT32, 4)
    tuples = Value("const", lanes, attr=(1, 2, 3, 4))
    assert fold("extract", INT32, (tuples,)) is None
    assert fold("add", lanes, (tuples, tuples)) is None
