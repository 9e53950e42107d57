"""Which arrays are written, through calls, and which functions can fault."""

from __future__ import annotations

import pytest

from cajeta_dot.ir import Builder, Function, If, Program, Value
from cajeta_dot.passes.effects import faulting_functions, written_arrays
from cajeta_dot.passes.verify import verify
from cajeta_dot.source import Source
from cajeta_dot.types import BOOLEAN, FLOAT32, INT32, VOID, Array, Type, Vector

INTS = Array(INT32, "array")


def make_function(name: str, kind: str = "host", arrays: int = 2) -> tuple[Function, Builder]:
    """A function of some arrays and a number; its body is empty."""
    params = [Value("param", INTS, attr=f"a{place}") for place in range(arrays)] + [Value("param", INT32, attr="n")]
    function = Function(name, name, kind, params, VOID)
    return function, Builder(function.body)


def make_program(*functions: Function) -> Program:
    program = Program(Source("t.cj", ""), functions, {})
    verify(program)
    return program


def test_stores_write_and_loads_do_not() -> None:
    function, b = make_function("f", arrays=3)
    first, second, third, n = function.params
    b.block.append(
        If(b.const(BOOLEAN, False), [], [value := Value("load", INT32, (first, n)), Value("store", VOID, (second, n, value))])
    )
    b.length(third)
    program = make_program(function)
    assert written_arrays(program) == {function: {1}}


def test_calls_pass_it_on_by_position() -> None:
    inner, b = make_function("inner")
    b.store(inner.params[1], inner.params[2], b.load(inner.params[0], inner.params[2], INT32))
    outer, b = make_function("outer", "kernel", arrays=3)
    b.emit("call", VOID, outer.params[2], outer.params[0], outer.params[3], attr=inner)
    program = make_program(inner, outer)
    assert written_arrays(program) == {inner: {1}, outer: {0}}


def test_a_method_that_calls_itself_with_its_arrays_exchanged() -> None:
    function, b = make_function("f", arrays=3)
    a, second, third, n = function.params
    b.store(a, n, n)
    b.emit("call", VOID, second, third, a, n, attr=function)
    assert written_arrays(make_program(function)) == {function: {0, 1, 2}}


def test_arrays_made_inside_are_nobodys() -> None:
    function, b = make_function("f", arrays=0)
    made = b.emit("allocate", INTS, function.params[0])
    b.store(made, function.params[0], function.params[0])
    assert written_arrays(make_program(function)) == {function: frozenset()}


@pytest.mark.parametrize(
    ("op", "type", "divisor", "faults"),
    [
        ("div", INT32, None, True),
        ("rem", INT32, None, True),
        ("div", INT32, 7, False),
        ("div", INT32, -1, True),
        ("rem", INT32, 0, True),
        ("div", FLOAT32, 0.0, False),
        ("div", Vector(INT32, 4), 0, False),
        ("add", INT32, None, False),
    ],
)
def test_what_can_fault(op: str, type: Type, divisor: int | float | None, faults: bool) -> None:
    function = Function("f", "f", "host", [Value("param", type, attr="x")], VOID)
    b = Builder(function.body)
    x = function.params[0]
    b.binary(op, x, x if divisor is None else b.emit("const", type, attr=divisor))
    assert faulting_functions(make_program(function)) == ({function} if faults else frozenset())


def test_callers_of_what_faults_fault() -> None:
    inner, b = make_function("inner", arrays=1)
    b.load(inner.params[0], inner.params[1], INT32)
    outer, b = make_function("outer", arrays=1)
    b.emit("call", VOID, *outer.params, attr=inner)
    innocent, b = make_function("innocent", arrays=1)
    b.length(innocent.params[0])
    assert faulting_functions(make_program(inner, outer, innocent)) == {inner, outer}
