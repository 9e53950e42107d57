"""Every rule of `passes/operands.py`: what fits passes, and each way not to fit is caught."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cajeta_dot.ir import OPS, Function, Program, Return, Slot, Value
from cajeta_dot.passes.operands import RULES
from cajeta_dot.passes.verify import InvalidIR, verify
from cajeta_dot.source import Source
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
    UINT32,
    UINT64,
    VOID,
    Array,
    Type,
    Vector,
)

B4, I4, U4, F4 = Vector(INT8, 4), Vector(INT32, 4), Vector(UINT32, 4), Vector(FLOAT32, 4)
MASK4 = Vector(BOOLEAN, 4)
W16, X16 = Vector(UINT8, 16), Vector(INT8, 16)
INTS, HALVES = Array(INT32, "array"), Array(FLOAT16, "KernelBuffer")
SLOT, OTHER_SLOT = Slot("here", INT32), Slot("elsewhere", INT32)
ROW = SimpleNamespace(name="row", meaning=lambda _round, a: a)  # pyright: ignore[reportUnknownLambdaType]
FREE = Function("T.free", "free", "host", [Value("param", INTS, attr="a"), Value("param", INT32, attr="n")], INT64)
FREE.body = [LENGTH := Value("length", INT64, (FREE.params[0],)), Return(LENGTH)]
KERNEL = Function("T.kernel", "kernel", "kernel", [], VOID)

Case = tuple[str, Type, tuple[Type, ...], Any]

# Opcode, result, operands, attribute.
FITS: list[Case] = [
    ("const", INT8, (), -128),
    ("const", UINT64, (), 2**64 - 1),
    ("const", BOOLEAN, (), True),
    ("const", FLOAT16, (), 0.5),
    ("const", FLOAT32, (), float("nan")),
    ("const", FLOAT32, (), float("inf")),
    ("const", I4, (), 7),
    ("const", I4, (), (1, 2, 3, 4)),
    ("const", MASK4, (), (True, False, True, False)),
    ("const", FLOAT64, (), 0.1),
    ("add", INT32, (INT32, INT32), None),
    ("mul", F4, (F4, F4), None),
    ("neg", UINT32, (UINT32,), None),
    ("div", I4, (I4, I4), None),
    ("and", INT8, (INT8, INT8), None),
    ("xor", BOOLEAN, (BOOLEAN, BOOLEAN), None),
    ("not", MASK4, (MASK4,), None),
    ("shl", B4, (B4, B4), None),
    ("count_ones", UINT64, (UINT64,), None),
    ("sqrt", FLOAT64, (FLOAT64,), None),
    ("fma", F4, (F4, F4, F4), None),
    ("eq", BOOLEAN, (BOOLEAN, BOOLEAN), None),
    ("lt", BOOLEAN, (INT8, INT8), None),
    ("ne", MASK4, (F4, F4), None),
    ("convert", FLOAT32, (INT64,), None),
    ("convert", I4, (F4,), None),
    ("reinterpret", INT32, (B4,), None),
    ("reinterpret", UINT32, (FLOAT32,), None),
    ("select", INT8, (BOOLEAN, INT8, INT8), None),
    ("select", I4, (BOOLEAN, I4, I4), None),
    ("select", F4, (MASK4, F4, F4), None),
    ("splat", I4, (INT32,), None),
    ("build", I4, (INT32,) * 4, None),
    ("extract", INT32, (I4,), 3),
    ("insert", I4, (I4, INT32), 0),
    ("extract_at", INT32, (I4, UINT8), None),
    ("insert_at", I4, (I4, INT64, INT32), None),
    ("shuffle", Vector(INT32, 2), (I4, I4), (0, 7)),
    ("dot", I4, (W16, X16, I4), None),
    ("dot", Vector(INT32, 1), (W16, W16, Vector(INT32, 1)), None),
    ("sum", INT32, (I4,), None),
    ("sum", FLOAT16, (Vector(FLOAT16, 4),), None),
    ("any", BOOLEAN, (MASK4,), None),
    ("all", BOOLEAN, (MASK4,), None),
    ("load", INT32, (INTS, UINT64), None),
    ("load", Vector(FLOAT16, 8), (HALVES, INT8), None),
    ("store", VOID, (INTS, INT32, INT32), None),
    ("store", VOID, (INTS, INT32, I4), None),
    ("length", INT64, (INTS,), None),
    ("allocate", INTS, (INT64,), None),
    ("shared", Array(INT8, "Shared", 64), (), "tile"),
    ("get", INT32, (), SLOT),
    ("set", VOID, (INT32,), SLOT),
    ("call", INT64, (Array(INT32, "KernelBuffer"), INT32), FREE),
    ("coordinate", UINT32, (), "global.x"),
    ("method", INT8, (B4,), ROW),
]  # fmt: skip

# The same, and a part of what is said.
MISFITS: list[tuple[str, Type, tuple[Type, ...], Any, str]] = [
    ("const", INT8, (), 128, "128 is no int8"),
    ("const", UINT8, (), -1, "-1 is no uint8"),
    ("const", INT8, (), True, "True is no int8"),
    ("const", INT8, (), 1.0, "1.0 is no int8"),
    ("const", FLOAT32, (), 0.1, "0.1 is no float32"),
    ("const", FLOAT32, (), 1e39, "no float32"),
    ("const", FLOAT32, (), 1, "1 is no float32"),
    ("const", BOOLEAN, (), 1, "1 is no boolean"),
    ("const", I4, (), (1, 2, 3), "3 lanes"),
    ("const", INT32, (), (1,), "1 lanes"),
    ("const", INTS, (), 0, "neither a scalar"),
    ("const", I4, (), (1, 2, 3, None), "None is no int32"),
    ("const", INT32, (), None, "None is no int32"),
    ("add", INT32, (INT32, UINT32), None, "differ in type"),
    ("add", INT64, (INT32, INT32), None, "differ in type"),
    ("add", INT32, (INT32,), None, "1 operands instead of 2"),
    ("add", BOOLEAN, (BOOLEAN, BOOLEAN), None, "not for boolean"),
    ("sub", INTS, (INTS, INTS), None, "for scalars and vectors"),
    ("rem", MASK4, (MASK4, MASK4), None, "not for boolean"),
    ("and", FLOAT32, (FLOAT32, FLOAT32), None, "not for float32"),
    ("not", INT8, (UINT8,), None, "differ in type"),
    ("shr", FLOAT32, (FLOAT32, FLOAT32), None, "not for float32"),
    ("shl", INT32, (INT32, INT8), None, "differ in type"),
    ("count_ones", UINT32, (UINT64,), None, "differ in type"),
    ("floor", INT32, (INT32,), None, "not for int32"),
    ("fma", FLOAT32, (FLOAT32, FLOAT32, FLOAT64), None, "differ in type"),
    ("eq", BOOLEAN, (INT8, UINT8), None, "operands differ"),
    ("lt", BOOLEAN, (BOOLEAN, BOOLEAN), None, "not for booleans"),
    ("eq", MASK4, (MASK4, MASK4), None, "not for masks"),
    ("eq", BOOLEAN, (I4, I4), None, "must be Vector<boolean,4>"),
    ("eq", INT32, (INT32, INT32), None, "must be boolean"),
    ("convert", INT32, (BOOLEAN,), None, "for numbers"),
    ("convert", I4, (INT32,), None, "differ in shape"),
    ("convert", I4, (Vector(INT8, 8),), None, "shape"),
    ("convert", INTS, (INT32,), None, "for numbers"),
    ("reinterpret", INT64, (INT32,), None, "differ in size"),
    ("reinterpret", MASK4, (INT8,), None, "for numbers"),
    ("select", INT8, (INT8, INT8, INT8), None, "neither a boolean"),
    ("select", I4, (Vector(BOOLEAN, 8), I4, I4), None, "neither a boolean"),
    ("select", INT8, (BOOLEAN, INT8, UINT8), None, "choices differ"),
    ("select", INT8, (BOOLEAN, INT16, INT16), None, "must be int16"),
    ("select", INT8, (MASK4, INT8, INT8), None, "neither a boolean"),
    ("splat", I4, (INT8,), None, "lanes of int8"),
    ("splat", Vector(INT32, 8), (I4,), None, "for scalars"),
    ("splat", INT32, (INT32,), None, "lanes of int32"),
    ("build", I4, (INT32,) * 3, None, "in number"),
    ("build", I4, (INT32,) * 3 + (INT8,), None, "not all int32"),
    ("extract", INT32, (I4,), 4, "no lane 4"),
    ("extract", INT32, (I4,), -1, "no lane -1"),
    ("extract", INT32, (I4,), None, "no lane None"),
    ("extract", INT8, (I4,), 0, "must be int32"),
    ("extract", INT32, (INT32,), 0, "for vectors"),
    ("insert", I4, (I4, INT8), 0, "no int32"),
    ("insert", Vector(INT32, 8), (I4, INT32), 0, "must be Vector<int32,4>"),
    ("extract_at", INT32, (I4, FLOAT32), None, "no integer"),
    ("extract_at", INT8, (I4, INT32), None, "must be int32"),
    ("insert_at", I4, (I4, INT32, INT64), None, "no int32"),
    ("insert_at", I4, (INT32, INT32, INT32), None, "for vectors"),
    ("shuffle", Vector(INT32, 2), (I4, I4), (0, 8), "do not all exist"),
    ("shuffle", Vector(INT32, 2), (I4, I4), (0, 1, 2), "must be Vector<int32,3>"),
    ("shuffle", I4, (I4, U4), (0, 1, 2, 3), "differ in type"),
    ("shuffle", I4, (I4, I4), None, "do not all exist"),
    ("dot", I4, (Vector(INT16, 16), X16, I4), None, "bytes"),
    ("dot", I4, (W16, B4, I4), None, "differ in lanes"),
    ("dot", U4, (W16, X16, U4), None, "accumulator"),
    ("dot", Vector(INT32, 2), (W16, X16, Vector(INT32, 2)), None, "accumulator"),
    ("dot", INT32, (B4, B4, INT32), None, "accumulator"),
    ("dot", Vector(INT32, 1), (W16, X16, I4), None, "must be Vector<int32,4>"),
    ("dot", Vector(INT32, 1), (Vector(INT8, 6), Vector(INT8, 6), Vector(INT32, 1)), None, "by the four"),
    ("sum", INT8, (B4,), None, "32 and 64 bits"),
    ("sum", INT64, (I4,), None, "must be int32"),
    ("sum", BOOLEAN, (MASK4,), None, "32 and 64 bits"),
    ("any", BOOLEAN, (I4,), None, "for masks"),
    ("all", MASK4, (MASK4,), None, "must be boolean"),
    ("any", BOOLEAN, (BOOLEAN,), None, "for masks"),
    ("load", UINT32, (INTS, INT32), None, "holds int32"),
    ("load", F4, (INTS, INT32), None, "holds int32"),
    ("load", INT32, (I4, INT32), None, "for arrays"),
    ("load", INT32, (INTS, FLOAT32), None, "no integer"),
    ("store", VOID, (INTS, INT32, INT8), None, "holds int32"),
    ("store", INT32, (INTS, INT32, INT32), None, "must be void"),
    ("length", INT32, (INTS,), None, "must be int64"),
    ("length", INT64, (I4,), None, "for arrays"),
    ("allocate", INT32, (INT32,), None, "no array"),
    ("shared", Array(INT8, "Shared"), (), "tile", "no array of known length"),
    ("shared", INT32, (), "tile", "no array of known length"),
    ("call", INT64, (Array(INT32, "Shared", 4), INT32), FREE, "takes"),
    ("allocate", INTS, (FLOAT32,), None, "no integer"),
    ("get", INT64, (), SLOT, "must be int32"),
    ("get", INT32, (), OTHER_SLOT, "not one of the function"),
    ("get", INT32, (), None, "not one of the function"),
    ("set", VOID, (INT64,), SLOT, "holds int32"),
    ("set", INT32, (INT32,), SLOT, "must be void"),
    ("set", VOID, (INT32,), OTHER_SLOT, "not one of"),
    ("call", INT64, (INTS,), FREE, "2 parameters"),
    ("call", INT64, (Array(INT8, "array"), INT32), FREE, r"takes \(int32\[\], int32\)"),
    ("call", INT32, (INTS, INT32), FREE, "must be int64"),
    ("call", VOID, (), KERNEL, "can't be called"),
    ("call", VOID, (), None, "does not come before"),
    ("call", VOID, (), Function("T.later", "later", "host", [], VOID), "does not come before"),
    ("coordinate", INT32, (), "global.x", "must be uint32"),
    ("coordinate", UINT32, (), "global.w", "no 'global.w'"),
    ("method", INT8, (B4,), None, "no row"),
    ("method", INTS, (B4,), ROW, "scalars and vectors"),
    ("method", INT8, (INTS,), ROW, "scalars and vectors"),
    ("method", Vector(INT8, 257), (B4,), ROW, "vector of 257 lanes"),
    ("method", Vector(INT8, 0), (B4,), ROW, "vector of 0 lanes"),
    ("nonsense", INT8, (), None, "no operation of a body"),
    ("param", INT8, (), "x", "no operation of a body"),
]  # fmt: skip


def make_program(op: str, result: Type, operands: tuple[Type, ...], attr: Any) -> Program:
    """A function whose only operation takes its parameters."""
    kind = {"coordinate": "device", "shared": "kernel"}.get(op, "host")
    params = [Value("param", type, attr=f"p{place}") for place, type in enumerate(operands)]
    function = Function("T.f", "f", kind, params, VOID)
    function.slots = [SLOT]
    function.body = [Value(op, result, tuple(params), attr)]
    return Program(Source("t.cj", ""), [FREE, KERNEL, function], {})


@pytest.mark.parametrize("case", FITS, ids=lambda case: f"{case[0]} {case[1]}")
def test_what_fits_passes(case: Case) -> None:
    verify(make_program(*case))


@pytest.mark.parametrize("case", MISFITS, ids=lambda case: f"{case[0]} {case[4]}")
def test_what_does_not_fit_is_refused(case: tuple[str, Type, tuple[Type, ...], Any, str]) -> None:
    with pytest.raises(InvalidIR, match=rf"T\.f: {case[0]}: .*{case[4]}"):
        verify(make_program(*case[:4]))


def test_the_cases_cover_every_rule() -> None:
    assert {rule for _, rule in OPS.values()} == set(RULES)
    rules = set(RULES) - {"anything"}
    assert {OPS[case[0]][1] for case in FITS} == rules
    assert {OPS[case[0]][1] for case in MISFITS if case[0] in OPS} >= rules
