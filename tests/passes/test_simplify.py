"""Simplifying changes no result, drops no run-time error, and does what it is there for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cajeta_dot.ir import Value, walk
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.simplify import simplify
from cajeta_dot.passes.verify import verify

from .programs import programs
from .running import compile_text, run

if TYPE_CHECKING:
    from cajeta_dot.ir import Function

numbers = st.tuples(st.integers(-(2**31), 2**31 - 1) | st.integers(-4, 12), st.integers(0, 2**32 - 1) | st.integers(0, 12))
random_programs = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@random_programs
@given(programs(), numbers)
def test_the_results_stay(text: str, arguments: tuple[int, int]) -> None:
    before, after = compile_text(text), compile_text(text)
    simplify(after)
    verify(after)
    expected = run(before, arguments, checks=False)
    assert run(after, arguments, checks=False) == expected
    expanded = expand(after)
    verify(expanded)
    assert run(expanded, arguments, checks=False) == expected
    simplify(expanded)
    verify(expanded)
    assert run(expanded, arguments, checks=False) == expected


@random_programs
@given(programs(wild=True), numbers)
def test_the_first_error_stays(text: str, arguments: tuple[int, int]) -> None:
    before, after = compile_text(text), compile_text(text)
    simplify(after)
    verify(after)
    assert run(after, arguments, checks=True) == run(before, arguments, checks=True)


# ---- what it is there for


def simplified(body: str) -> Function:
    program = compile_text(f"static int64 f(int8[] s, int32[] w, int32 n) {{ {body} }}")
    simplify(program)
    verify(program)
    return program.names["f"]


def ops(function: Function) -> list[str]:
    return [item.op for item in walk(function.body) if isinstance(item, Value)]


def test_a_variable_that_is_set_once_becomes_its_value() -> None:
    function = simplified("int32 a = n + 1; int32 b = a; w[0] = b * b; return b;")
    assert function.slots == []
    assert not {"get", "set"} & set(ops(function))


def test_a_value_from_the_test_of_a_loop_is_in_sight_in_its_body() -> None:
    function = simplified("int32 a; while ((a = n - 1) > 3) { w[0] = a; n = a; } return 1;")
    assert [slot.name for slot in function.slots] == ["n"]


def test_a_variable_of_a_loop_stays() -> None:
    function = simplified("int32 a = 0; while (a < n) { int32 c = a + 1; w[0] = c; a = c; } return a;")
    assert [slot.name for slot in function.slots] == ["a"]


@pytest.mark.parametrize(
    "body",
    [
        "int32 a; if (n > 0) { a = 1; } else { a = 2; } return a;",
        "int32 a = 1; if (n > 0) { a = 2; } return a;",
        "int32 a; int32 i = 0; do { a = i; w[0] = a; i = i + 1; } while (a < n); return a;",
        "int32 a; while (true) { a = n; w[0] = a; break; } return a;",
    ],
    ids=["branches", "twice", "tested behind the body", "read behind the loop"],
)
def test_a_value_out_of_sight_stays_in_its_variable(body: str) -> None:
    stored = [item.attr.name for item in walk(simplified(body).body) if isinstance(item, Value) and item.op == "set"]
    assert "a" in stored


def test_what_nobody_uses_goes_and_what_may_fault_stays() -> None:
    function = simplified(
        "int32 a = n * 3; int32 b = w[n]; int32 c = n / (n - 1); int32 d = n / 7; int8 e = s.vload<4>(n)[n]; return 1;"
    )
    assert ops(function).count("mul") == 0
    assert ops(function).count("load") == 2
    assert ops(function).count("div") == 1
    assert ops(function).count("extract_at") == 1


def test_a_variable_that_nobody_reads_goes() -> None:
    function = simplified("int32 a = 0; while (n > 3) { a = a + 1; n = n - 1; } a = w[0]; return n;")
    assert "load" in ops(function)
    assert [slot.name for slot in function.slots if slot.name == "a"] == ["a"]  # it reads itself
    function = simplified("int32 a = 0; if (n > 3) { a = 5; } a = 7; return n;")
    assert function.slots == []
    assert "set" not in ops(function)


def test_calls_stay() -> None:
    program = compile_text("static int32 g(int32[] w) { w[0] = 1; return 2; } static int64 f(int32[] w) { g(w); return 1; }")
    simplify(program)
    assert "call" in ops(program.names["f"])
