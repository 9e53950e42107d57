"""The type at which every operator works, for every pair of operand types, and where two signs are worth a word."""

from __future__ import annotations

import itertools

import pytest

from cajeta_dot.ir import Function, Value, walk
from cajeta_dot.types import FLOAT16, FLOAT32, SCALARS, Scalar, Vector, element_of

from .checking import check, codes

INTEGERS = [scalar for scalar in SCALARS.values() if scalar.is_integer]
FLOATS = [scalar for scalar in SCALARS.values() if scalar.is_float]
PAIRS = list(itertools.product(INTEGERS, repeat=2))
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "&": "and", "|": "or", "^": "xor"}
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SHIFTS = {"<<": "shl", ">>": "shr", ">>>": "shr"}


def functions(text: str) -> list[Function]:
    program, _ = check(text)
    assert program
    return sorted(program.functions, key=lambda function: function.start)


def find(function: Function, op: str) -> Value:
    """The one operation of its kind that is not part of a conversion."""
    (found,) = [item for item in walk(function.body) if isinstance(item, Value) and item.op == op]
    return found


@pytest.mark.parametrize("operator", ARITHMETIC)
def test_arithmetic_is_as_wide_as_the_wider_and_unsigned_if_either_is(operator: str) -> None:
    text = "\n".join(f"static boolean f{n}({a} x, {b} y) {{ return (x {operator} y) == 1; }}" for n, (a, b) in enumerate(PAIRS))
    for function, (a, b) in zip(functions(text), PAIRS, strict=True):
        kind = "u" if "u" in (a.kind, b.kind) else "s"
        value = find(function, ARITHMETIC[operator])
        assert value.type == Scalar(kind, max(a.bits, b.bits)), (a, b)
        assert {arg.type for arg in value.args} == {value.type}


@pytest.mark.parametrize("operator", COMPARISONS)
def test_comparisons_are_signed_if_either_is(operator: str) -> None:
    text = "\n".join(f"static boolean f{n}({a} x, {b} y) {{ return x {operator} y; }}" for n, (a, b) in enumerate(PAIRS))
    for function, (a, b) in zip(functions(text), PAIRS, strict=True):
        kind = "s" if "s" in (a.kind, b.kind) else "u"
        assert {arg.type for arg in find(function, COMPARISONS[operator]).args} == {Scalar(kind, max(a.bits, b.bits))}, (a, b)


@pytest.mark.parametrize("operator", SHIFTS)
def test_shifts_are_as_wide_as_the_wider_and_signed_as_the_left(operator: str) -> None:
    text = "\n".join(f"static boolean f{n}({a} x, {b} y) {{ return (x {operator} y) == 1; }}" for n, (a, b) in enumerate(PAIRS))
    for function, (a, b) in zip(functions(text), PAIRS, strict=True):
        shift = find(function, SHIFTS[operator])
        kind = "u" if operator == ">>>" else a.kind
        assert shift.type == Scalar(kind, max(a.bits, b.bits)), (a, b)
        count = shift.args[1]
        assert count.op == "and" or (count.op == "reinterpret" and count.args[0].op == "and"), "the count is masked"


def test_two_signs_in_a_division() -> None:
    pairs = [(operator, a, b) for operator in "/%" for a, b in PAIRS]
    text = [f"static void f{n}({a} x, {b} y) {{ x {o}= y; }}" for n, (o, a, b) in enumerate(pairs)]
    wanted = [(n, "W0304") for n, (_, a, b) in enumerate(pairs, 1) if a.kind != b.kind]
    assert [(found.line, found.code) for found in check("\n".join(text))[1]] == wanted


def test_two_signs_in_a_comparison() -> None:
    pairs = [(operator, a, b) for operator in COMPARISONS for a, b in PAIRS]
    text = [f"static boolean f{n}({a} x, {b} y) {{ return x {o} y; }}" for n, (o, a, b) in enumerate(pairs)]

    def differs(a: Scalar, b: Scalar) -> bool:
        if a.kind == b.kind:
            return False
        signed, unsigned = (a, b) if a.is_signed else (b, a)
        return unsigned.bits >= signed.bits

    wanted = [(n, "W0304") for n, (_, a, b) in enumerate(pairs, 1) if differs(a, b)]
    assert [(found.line, found.code) for found in check("\n".join(text))[1]] == wanted


def test_what_is_unsigned_by_mixing_goes_back_silently() -> None:
    """Where the unsigned operand is no wider than the signed one; a wider one makes the result truly unsigned."""
    pairs = [(o, a, b) for o in ("+", "-", "*", "&", "|", "^") for a, b in PAIRS if a.kind != b.kind]
    text = [
        f"static void f{n}({a} x, {b} y) {{ {Scalar('s', max(a.bits, b.bits))} z = x {o} y; }}"
        for n, (o, a, b) in enumerate(pairs)
    ]

    def is_mixed(a: Scalar, b: Scalar) -> bool:
        signed, unsigned = (a, b) if a.is_signed else (b, a)
        return unsigned.bits <= signed.bits

    wanted = [(n, "W0301") for n, (_, a, b) in enumerate(pairs, 1) if not is_mixed(a, b)]
    assert [(found.line, found.code) for found in check("\n".join(text))[1]] == wanted


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "%", "<", "=="])
def test_an_integer_beside_a_float_becomes_that_float(operator: str) -> None:
    op = {**ARITHMETIC, **COMPARISONS}[operator]
    pairs = [*itertools.product(FLOATS, [*INTEGERS, *FLOATS]), *itertools.product(INTEGERS, FLOATS)]
    body = "return x {o} y;" if operator in COMPARISONS else "return (x {o} y) == y;"
    text = [f"static boolean f{n}({a} x, {b} y) {{ {body.format(o=operator)} }}" for n, (a, b) in enumerate(pairs)]
    for function, (a, b) in zip(functions("\n".join(text)), pairs, strict=True):
        widest = max((t for t in (a, b) if t.is_float), key=lambda t: t.bits)
        computed = FLOAT32 if widest == FLOAT16 else widest
        values = [item for item in walk(function.body) if isinstance(item, Value) and item.op == op]
        assert element_of(values[0].args[0].type) == computed, (a, b)


LANE_FORMS = {"scalar on the right": "v {o} x", "scalar on the left": "x {o} v"}


@pytest.mark.parametrize("form", LANE_FORMS)
def test_a_scalar_beside_lanes_becomes_one_of_them(form: str) -> None:
    numbers = [*INTEGERS, *FLOATS]
    pairs = [(a, b) for a, b in itertools.product(numbers, repeat=2)]
    text = [
        f"static void f{n}(Vector<{a},4> v, {b} x, {a}[] out) {{ out.vstore(0, {LANE_FORMS[form].format(o='-')}); }}"
        for n, (a, b) in enumerate(pairs)
    ]
    for function, (a, _) in zip(functions("\n".join(text)), pairs, strict=True):
        element = FLOAT32 if a == FLOAT16 else a
        assert find(function, "sub").type == Vector(element, 4)


def test_a_literal_with_an_l_is_an_int64() -> None:
    text = """static boolean f(int32 x) { return (x + 1L) == 2; }
    static boolean g(int32 x) { return (1L << x) == 2; }
    static boolean h(int32 x) { return (x << 1L) == 2; }
    static boolean i(int32 x) { return Math.max(x, 1L) == 2; }"""
    made = [find(function, op) for function, op in zip(functions(text), ("add", "shl", "shl", "method"), strict=True)]
    assert [value.type for value in made] == [Scalar("s", 64)] * 4


def test_a_literal_takes_the_type_beside_it_through_operators() -> None:
    text = "static int8 f(int8 x) { return x + -(3 + 4) * ~2 - (1 << 3) + (1 << x); }"
    assert codes(text) == []
    (function,) = functions(text)
    assert {item.type for item in walk(function.body) if isinstance(item, Value) and item.op in ("add", "sub", "shl")} == {
        Scalar("s", 8)
    }


def test_a_choice_of_literals_takes_the_type_it_meets() -> None:
    assert codes("static int8 f(boolean c, int8 x) { int8 y = c ? 1 : -1; return x + (c ? 100 : 200) + y; }") == []
    assert codes("static float32 f(boolean c) { return c ? 0.1 : 1; }") == []
    assert codes("static int8 f(boolean c) { return c ? 1 : 128; }") == ["E0303"]
    assert codes("static int8 f(boolean c, boolean d) { return c ? d ? 1 : 2 : 3; }") == []
