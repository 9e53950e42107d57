"""Bounds hold in every run: while a program is interpreted, each integer is looked up in the bounds of its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cajeta_dot.ir import Value, walk
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.simplify import simplify
from cajeta_dot.ranges import Ranges
from cajeta_dot.reference import flow
from cajeta_dot.reference.evaluate import EVALUATE
from cajeta_dot.types import Scalar, Vector, element_of

from .programs import programs
from .running import compile_text, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Function, Program

numbers = st.tuples(st.integers(-(2**31), 2**31 - 1) | st.integers(-4, 12), st.integers(0, 2**32 - 1) | st.integers(0, 12))


def is_integer(value: Value) -> bool:
    return isinstance(value.type, (Scalar, Vector)) and element_of(value.type).is_integer


class Watch:
    """The interpreter's table with every integer result compared with its bounds; `seen` counts the comparisons."""

    def __init__(self, program: Program):
        self.bounds: dict[Value, tuple[int, int]] = {}
        self.seen = 0
        for function in program.functions:
            ranges = Ranges(function)
            for item in walk(function.body):
                if isinstance(item, Value) and is_integer(item):
                    self.bounds[item] = ranges.of(item)

    def table(self) -> dict[str, Callable[..., Any]]:
        return {op: self.watch(recipe) for op, recipe in EVALUATE.items()}

    def watch(self, recipe: Callable[..., Any]) -> Callable[..., Any]:
        def make(value: Value, setting: Any) -> Callable[..., Any]:
            evaluate = recipe(value, setting)
            if value not in self.bounds:
                return evaluate
            low, high = self.bounds[value]

            def compare(*operands: Any) -> Any:
                result: Any = evaluate(*operands)
                lanes: tuple[int, ...] = result if isinstance(value.type, Vector) else (result,)
                for lane in lanes:
                    assert low <= lane <= high, f"{value} gives {lane}, bounds are {low}..{high}"
                    self.seen += 1
                return result

            return compare

        return make


def watched_run(program: Program, arguments: tuple[int, int]) -> int:
    watch = Watch(program)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow, "EVALUATE", watch.table())
        run(program, arguments, checks=False)
    return watch.seen


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs(), numbers)
def test_every_value_lies_in_its_bounds(text: str, arguments: tuple[int, int]) -> None:
    program = compile_text(text)
    assert watched_run(program, arguments) > 0
    simplify(program)
    watched_run(program, arguments)
    watched_run(expand(program), arguments)


def bounds_of(expression: str, parameters: str = "int8[] s, uint8[] u, int32[] w, int32 n, int8 b, uint8 c") -> tuple[int, int]:
    """The bounds of what a method returns."""
    program = compile_text(f"static Vector<int32,1> f({parameters}) {{ return Vector<int32,1>((int32) ({expression})); }}")
    simplify(program)
    return result_bounds(program.names["f"])


def result_bounds(function: Function) -> tuple[int, int]:
    ranges = Ranges(function)
    (splat,) = [item for item in walk(function.body) if isinstance(item, Value) and item.op == "splat"]
    return ranges.of(splat)


@pytest.mark.parametrize(
    ("expression", "bounds"),
    [
        ("b", (-128, 127)),
        ("c", (0, 255)),
        ("b & 15", (0, 15)),
        ("15 & b", (0, 15)),
        ("b & -2", (-128, 127)),
        ("c >> 4", (0, 15)),
        ("b >> 4", (-8, 7)),
        ("(b & 15) << 3", (0, 120)),
        ("(b & 7) << (n & 3)", (0, 56)),
        ("(n & 255) >> (n & 3)", (0, 255)),
        ("b >> (n & 3)", (-128, 127)),
        ("(b & 15) << 4", (-128, 127)),  # may leave int8
        ("(c & 15) << 4", (0, 240)),
        ("(b & 15) | (b & 3)", (0, 15)),
        ("(b & 15) ^ 16", (0, 31)),
        ("(c & 3) + (c & 12)", (0, 15)),
        ("(c & 3) - (c & 12)", (0, 255)),  # may wrap
        ("(int32) (c & 3) - (c & 12)", (0, 4294967295)),
        ("(int32) (c & 3) - (int32) (c & 12)", (-12, 3)),
        ("(int32) b * b", (-16256, 16384)),
        ("n % 10", (-9, 9)),
        ("(n & 255) % 10", (0, 9)),
        ("(n & 7) % 10", (0, 7)),
        ("n > 3 ? 5 : -7", (-7, 5)),
        ("Math.min(n, 5)", (-2147483648, 2147483647)),  # methods are not looked into
        ("(s.vload<4>(0) & 15).asUnsigned()[2]", (0, 255)),
        ("(s.vload<4>(0) & 15)[n]", (0, 15)),
        ("Vector<int8,4>(1, -3, 7, 2)[n]", (-3, 7)),
        ("s[0]", (-128, 127)),
        ("(int8) (n & 127)", (0, 127)),
        ("(int8) (n & 255)", (-128, 127)),
        ("(uint8) (n & 255)", (0, 255)),
    ],
)
def test_what_is_understood(expression: str, bounds: tuple[int, int]) -> None:
    wanted = bounds if bounds[1] <= 2147483647 else (-2147483648, 2147483647)  # the cast to int32 keeps all or nothing
    assert bounds_of(expression) == wanted


@pytest.mark.parametrize(
    ("expression", "bounds"),
    [
        ("Math.min(n & 255, 5)", (0, 5)),
        ("Math.max(n & 255, 5)", (5, 255)),
        ("(s.vload<4>(0) & 15).asUnsigned()[1]", (0, 15)),
        ("s.vload<4>(0).asUnsigned()[1]", (0, 255)),
        ("(s.vload<4>(0) & 15).asWords()[0]", (-2147483648, 2147483647)),
        ("(w.vload<4>(0) & 15).asBytes()[9]", (-128, 127)),
        ("(s.vload<4>(0) & 15).widenHi()[1]", (0, 15)),
        ("(s.vload<4>(0) & 15).clamp(-3, 5)[1]", (0, 5)),
        ("(w.vload<4>(0) & 15).bitcastF32().bitcastI32()[1]", (-2147483648, 2147483647)),
    ],
)
def test_methods_are_understood_once_they_are_expanded(expression: str, bounds: tuple[int, int]) -> None:
    program = compile_text(
        f"static Vector<int32,1> f(int8[] s, int32[] w, int32 n) {{ return Vector<int32,1>({expression}); }}"
    )
    simplify(program)
    assert result_bounds(expand(program).names["f"]) == bounds


def test_a_variable_is_bounded_by_all_that_is_stored_in_it() -> None:
    text = (
        "static Vector<int32,1> f(int32 n) { int32 x = 3; while (n > 0) { x = n & 7; n = n - 1; } return Vector<int32,1>(x); }"
    )
    assert result_bounds(compile_text(text).names["f"]) == (0, 7)


def test_a_variable_that_depends_on_itself_is_anything() -> None:
    text = (
        "static Vector<int32,1> f(int32 n) { int32 x = 0; while (n > 0) { x = x + 1; n = n - 1; } return Vector<int32,1>(x); }"
    )
    assert result_bounds(compile_text(text).names["f"]) == (-2147483648, 2147483647)


def test_long_chains_are_cut_off_not_followed() -> None:
    chain = " & 15".join(["n"] + [""] * 1000)
    low, high = bounds_of(chain)
    assert (low, high) in ((0, 15), (-2147483648, 2147483647))


def test_bytes_read_as_unsigned() -> None:
    program = compile_text("static Vector<int8,4> f(int8[] s) { return s.vload<4>(0) & 127; }")
    ranges = Ranges(program.names["f"])
    values = [item for item in walk(program.names["f"].body) if isinstance(item, Value) and item.op in ("load", "and")]
    assert [ranges.unsigned_byte_limit(value) for value in values] == [255, 127]
