"""Bounds hold in every run: while a program is interpreted, each integer is looked up in the bounds of its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cajeta_dot.bounds import whole
from cajeta_dot.ir import Value, walk
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.simplify import simplify
from cajeta_dot.ranges import Ranges, _Origins, _Walk  # pyright: ignore[reportPrivateUsage]
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
            origins = _Origins(function, lambda call: whole(call.type))
            for item in walk(function.body):
                if isinstance(item, Value) and is_integer(item):
                    self.bounds[item] = origins.trace(item) or ranges.of(item)

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
        ("Math.min(n, 5)", (-2147483648, 5)),
        ("(s.vload<4>(0) & 15).asUnsigned()[2]", (0, 15)),
        ("(b & 15) | -16", (-16, -1)),
        ("b | 64", (-128, 127)),
        ("~(c & 15)", (240, 255)),
        ("-(b & 15)", (-15, 0)),
        ("Math.abs(n % 10)", (0, 9)),
        ("(c & 15) / 3", (0, 5)),
        ("n / 1000", (-2147483, 2147483)),
        ("(uint8) ((c & 15) + 250) & 255", (0, 255)),
        ("(uint8) ((n & 3) + 256)", (0, 3)),  # the low bits of a number beyond the type
        ("(u.vload<4>(0) & 3).dot(u.vload<4>(0) & 7)", (0, 84)),
        ("(u.vload<16>(0) & 3).dotSum(s.vload<16>(0), n & 15)", (-6144, 6111)),
        ("(s.vload<16>(0) & 1).sum()", (0, 16)),
        ("Vector<int8,16>(7, 3, 9, 1, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2).tableLookup(s.vload<16>(0))[3]", (0, 9)),
        ("u.vload<8>(0).lut4(Vector<int8,16>(7, 3, 9, 1, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2))[3]", (1, 9)),
        ("(s.vload<4>(0) > 3).select(Vector<int8,4>(5), Vector<int8,4>(-7))[1]", (-7, 5)),
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
        ("Vector<int8,16>(7, 3, 9, 1, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2).tableLookup(s.vload<16>(0))[3]", (0, 9)),
    ],
)
@pytest.mark.parametrize("expanded", [False, True])
def test_methods_are_understood_expanded_or_not(expression: str, bounds: tuple[int, int], expanded: bool) -> None:
    program = compile_text(
        f"static Vector<int32,1> f(int8[] s, int32[] w, int32 n) {{ return Vector<int32,1>({expression}); }}"
    )
    simplify(program)
    assert result_bounds((expand(program) if expanded else program).names["f"]) == bounds


INT32 = (-(2**31), 2**31 - 1)
FLOWS = [  # statements over `int32 n`, then the bounds of `x` behind them
    # branches
    ("int32 x = 3; if (n > 0) x = n & 7;", (0, 7)),
    ("int32 x; if (n > 0) { x = 1; } else { x = 5; }", (1, 5)),
    ("int32 x = n; if (n < 0) { x = 0; }", INT32),  # the condition is on n
    ("int32 x = n; if (x < 0) { x = 0; }", (0, 2**31 - 1)),
    ("int32 x = n; if (x <= 0) { x = 1; } if (x >= 100) { x = 99; }", (1, 99)),
    ("int32 x = n; if (0 > x) { x = 0; } else if (x > 15) { x = 15; }", (0, 15)),
    ("int32 x = n; if (x != 7) { x = 8; }", (7, 8)),
    ("int32 x = n; if (x == 7) { x = 8; } else { x = 4; }", (4, 8)),
    ("int32 x = n & 15; if (x != 0) { x = x - 1; }", (0, 14)),
    ("int32 x = n & 15; if (!(x > 3)) { x = 9; }", (4, 15)),
    ("uint8 x = (uint8) n; if (x > 100) { x = 100; }", (0, 100)),
    ("int8 y = (int8) n; if (y < 0) { y = 0; } int32 x = y;", (0, 127)),
    ("int32 x = n & 3; if (x > 9) { x = 100; }", (0, 3)),  # nobody comes there
    ("int32 x = 1; if (n > 3) { x = 2; return Vector<int32,1>(x & 1); }", (1, 1)),
    ("int32 x = n & 7; if ((x < 3) & ((x = 9) > 4)) { n = 1; }", (9, 9)),  # the condition is on what x was
    # loops
    ("int32 x = 3; while (n > 0) { x = n & 7; n = n - 1; }", (0, 7)),
    ("int32 x = 0; while (n > 0) { x = x + 1; n = n - 1; }", INT32),
    ("int32 x = 0; for (int32 i = 0; i < 16; i++) { x = i; }", (0, 15)),
    ("int32 x = 0; for (int32 i = 0; i <= 16; i++) { x = i; }", (0, 16)),
    ("int32 x = 0; for (int32 i = 15; i >= 0; i--) { x = i; }", (0, 15)),
    ("int32 x = 0; for (int32 i = 0; i < 100; i += 8) { x = i; }", (0, 99)),
    ("int32 x = 0; for (int32 i = 0; i < n; i++) { x = i; }", (0, 2**31 - 2)),
    ("int32 x = 0; for (int32 i = 0; i < 9; i++) { for (int32 k = i; k < 9; k++) { x = (i + k) & 31; } }", (0, 30)),
    ("int32 i = 0; while (i < 16) { i = i + 1; } int32 x = i;", (16, 16)),
    ("int32 i = 0; while (i < 16) { if (n == i) break; i = i + 1; } int32 x = i;", (0, 16)),
    ("int32 x = 1; while (n > 0) { x = x ^ 1; n = n - 1; }", (0, 1)),
    ("int32 x = 0; while (n > 0) { n = n - 1; if (n > 5) { x = 9; continue; } x = x & 3; }", (0, 9)),
    ("int32 x = 0; while (n > 0) { n = n - 1; if (n > 5) { x = 9; break; } x = x & 3; }", (0, 9)),
    ("int32 x = 0; int32 y = 0; int32 z = 0; while (n > 0) { x = y; y = z; z = n & 3; n = n - 1; }", (0, 3)),
    ("int32 x = 5; do { x = n & 7; n = n - 1; } while (n > 0);", (0, 7)),
    ("int32 x = 0; do { x = x + 1; } while (x < 10);", (10, 10)),
    ("uint8 x = 0; while (n > 0) { x = x + 1; if (x == 10) { x = 0; } n = n - 1; }", (0, 9)),
    ("uint8 x = 0; while (n > 0) { x = x + 1; if (x == 10) { x = 0; } x = x + 20; n = n - 1; }", (0, 255)),
]


@pytest.mark.parametrize(("statements", "bounds"), FLOWS)
def test_locals_are_followed_through_branches_and_loops(statements: str, bounds: tuple[int, int]) -> None:
    program = compile_text(f"static Vector<int32,1> f(int32 n) {{ {statements} return Vector<int32,1>((int32) x); }}")
    function = program.names["f"]
    splats = [item for item in walk(function.body) if isinstance(item, Value) and item.op == "splat"]
    assert Ranges(function).of(splats[-1]) == bounds


def test_deep_nesting_is_cut_off_not_followed() -> None:
    """What is stored in depths that are not followed counts, and so do the jumps there."""
    opened = "".join(f"if (n > {k}) {{ " for k in range(90))
    text = "static Vector<int32,1> f(int32 n) {{ int32 x = 1; while (n > 0) {{ n = n - 1; {} }} return Vector<int32,1>(x); }}"
    program = compile_text(text.format(f"{opened} x = n; break; {'}' * 90}"))
    assert result_bounds(program.names["f"]) == INT32
    loops = "".join(f"for (int32 i{k} = 0; i{k} < 9; i{k}++) {{ " for k in range(70))
    program = compile_text(text.format(f"{loops} x = (n & 3) + 1; {'}' * 70}"))
    assert result_bounds(program.names["f"]) == INT32
    few = "".join(f"for (int32 i{k} = 0; i{k} < 9; i{k}++) {{ " for k in range(20))
    program = compile_text(text.format(f"{few} x = (n & 3) + 1; {'}' * 20}"))
    assert result_bounds(program.names["f"]) in ((1, 4), INT32)


@pytest.mark.parametrize(
    ("statements", "followed"),
    [
        ("Vector<int8,4> v = s.vload<4>(n) & 15;", False),
        ("Vector<int8,4> v = s.vload<4>(n); for (int32 i = 0; i < n; i++) { n = n - 1; }", False),
        ("Vector<int8,4> v = s.vload<4>(n).asUnsigned().min(Vector<uint8,4>(9)).asSigned();", False),
        ("Vector<int8,4> v = s.vload<4>(n).asUnsigned().lut4(s.vload<16>(0) & 15);", False),
        ("Vector<int8,4> v = s.vload<4>(n); if (n > 3) { v = v & 15; } else { v = v & 3; }", True),
        ("Vector<int8,4> v = Vector<int8,4>((int8) n);", True),
    ],
)
def test_the_function_is_followed_only_where_it_tells_more(
    statements: str, followed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Following takes several times as long as compiling."""
    program = compile_text(f"static int32 f(int8[] s, int32 n) {{ {statements} return v.dotSum(v, 0); }}")
    function = program.names["f"]
    (dot,) = [
        item for item in walk(function.body) if isinstance(item, Value) and item.op == "method" and item.attr.name == "dotSum"
    ]
    walks: list[_Walk] = []

    def follow(function: Function, of_result: Callable[[Value], tuple[int, int]]) -> _Walk:
        walks.append(_Walk(function, of_result))
        return walks[-1]

    monkeypatch.setattr("cajeta_dot.ranges._Walk", follow)
    found = Ranges(function).of(dot.args[0])
    assert bool(walks) is followed
    assert found == _Walk(function, lambda call: whole(call.type)).known[dot.args[0]]


@pytest.mark.parametrize(
    ("helpers", "expression", "bounds"),
    [
        ("static int32 low(int32 n) { return n & 15; }", "low(n)", (0, 15)),
        ("static int32 low(int32 n) { if (n > 3) return 3; return n & 1; }", "low(n) + 1", (1, 4)),
        ("static int32 a(int32 n) { return n & 3; } static int32 b(int32 n) { return a(n) * a(n + 1); }", "b(n)", (0, 9)),
        ("static int32 sum(int32 n) { if (n < 1) return 0; return 1 + sum(n - 1); }", "sum(n) & -1", INT32),
        (
            "static Vector<int8,4> low(Vector<int8,4> v) { return v & 15; }",
            "low(s.vload<4>(0)).dot(low(s.vload<4>(4)))",
            (0, 900),
        ),
    ],
)
def test_what_a_method_returns_is_known_where_it_is_called(helpers: str, expression: str, bounds: tuple[int, int]) -> None:
    text = f"class C {{ {helpers} static Vector<int32,1> f(int8[] s, int32 n) {{ return Vector<int32,1>({expression}); }} }}"
    program = compile_text(text)
    assert result_bounds(program.names["f"]) == bounds


def test_a_long_chain_is_followed() -> None:
    assert bounds_of(" & 15".join(["n"] + [""] * 1000)) == (0, 15)


def test_bytes_read_as_unsigned() -> None:
    program = compile_text("static Vector<int8,4> f(int8[] s) { return s.vload<4>(0) & 127; }")
    ranges = Ranges(program.names["f"])
    values = [item for item in walk(program.names["f"].body) if isinstance(item, Value) and item.op in ("load", "and")]
    assert [ranges.unsigned_byte_limit(value) for value in values] == [255, 127]
