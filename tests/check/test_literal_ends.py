"""Literals at both ends of every integer type: where they land they must fit it, beside it they may be its bits."""

from __future__ import annotations

import pytest

from cajeta_dot.types import BOOLEAN, SCALARS, Scalar

from .checking import check

INTEGERS = [scalar for scalar in SCALARS.values() if scalar.is_integer]
ends = pytest.mark.parametrize("type", INTEGERS, ids=str)

LANDS = (
    "static void f{n}({t}[] a) {{ {t} x = {v}; a[0] = x; }}",
    "static void f{n}({t}[] a) {{ a[0] = {v}; }}",
    "static {t} f{n}() {{ return {v}; }}",
    "static void f{n}() {{ g{n}({v}); }} static void g{n}({t} x) {{ }}",
    "static Vector<{t},2> f{n}() {{ return Vector<{t},2>(0, {v}); }}",
    "static void f{n}(Vector<{t},2> x) {{ x[0] = {v}; }}",
    "static final {t} F{n} = {v};",
    "static {t} f{n}(boolean c) {{ return c ? 0 : {v}; }}",
)
ADOPTS = (
    "static void f{n}({t} x) {{ x = x + {v}; }}",
    "static void f{n}({t} x) {{ x = {v} - x; }}",
    "static void f{n}({t} x) {{ x &= {v}; }}",
    "static boolean f{n}({t} x) {{ return x < {v}; }}",
    "static void f{n}(Vector<{t},2> x) {{ x = x ^ {v}; }}",
    "static boolean f{n}(Vector<{t},2> x) {{ return (x == {v}).any(); }}",
)


def spell(number: int) -> tuple[str, ...]:
    """A number as a literal, and as expressions of literals, each of which has at most 64 bits."""
    half = number // 2
    forms = [str(number), f"(({number}))", f"({half} + ({number - half}))"]
    return (*forms, f"~({~number})") if abs(~number) < 1 << 64 else tuple(forms)


def lines(forms: tuple[str, ...], type: Scalar, numbers: list[int]) -> list[str]:
    cases = [(form, text) for form in forms for number in numbers for text in spell(number)]
    return [form.format(n=n, t=type, v=text) for n, (form, text) in enumerate(cases)]


def refused(text: list[str]) -> set[int]:
    """The lines with E0303; nothing else is said."""
    found = check("\n".join(text))[1]
    assert {diagnostic.code for diagnostic in found} <= {"E0303"}
    return {line for diagnostic in found if (line := diagnostic.line)}


@ends
def test_landing(type: Scalar) -> None:
    inside = lines(LANDS, type, [type.low, type.low + 1, type.high - 1, type.high])
    assert refused(inside) == set()
    outside = lines(LANDS, type, [type.low - 1, *([type.high + 1] if type.high + 1 < 1 << 64 else [])])
    assert refused(outside) == set(range(1, len(outside) + 1))


@ends
def test_beside_a_value(type: Scalar) -> None:
    low, high = -(1 << type.bits - 1), (1 << type.bits) - 1
    inside = lines(ADOPTS, type, [low, low + 1, high - 1, high])
    assert refused(inside) == set()
    outside = lines(ADOPTS, type, [low - 1, *([high + 1] if high + 1 < 1 << 64 else [])])
    assert refused(outside) == set(range(1, len(outside) + 1))


@ends
def test_the_message_names_the_ends_and_offers_the_same_bits(type: Scalar) -> None:
    number = -1 if type.low == 0 else type.high + 1
    (found,) = check(f"static {type} f() {{ return {number}; }}")[1]
    assert f"({type.low}..{type.high})" in found.message
    (help,) = found.helps
    assert help.applicability == "unsafe"
    (edit,) = help.edits
    assert (int(edit.text) - number) % (1 << type.bits) == 0
    assert type.low <= int(edit.text) <= type.high


def test_a_literal_alone_is_int32_or_int64() -> None:
    text = """static int32 f() { return g(2147483647) + g(1); } static int32 g(int32 x) { return x; }
    static int8 h() { return (int8) (2147483647 / 2 * 3); }
    static int64 i() { return -9223372036854775808 + 0; }
    static boolean j() { return 2147483648 > 2147483647; }
    static int64 k(int32[] a) { return a[0] + 1L; }
    static int64 l(int32 x) { return x + 2147483647L; }"""
    assert check(text)[1] == []


@pytest.mark.parametrize("count", ["-1", "{bits}", "{bits} + 0", "300"])
@ends
def test_constant_shift_counts_outside_the_width(type: Scalar, count: str) -> None:
    text = count.format(bits=type.bits)
    for form in (
        "static {t} f({t} x) {{ return x << {c}; }}",
        "static Vector<{t},4> f(Vector<{t},4> x) {{ return x >> {c}; }}",
    ):
        found = check(form.format(t=type, c=text))[1]
        assert [diagnostic.code for diagnostic in found] == ["E0305"]
        assert f"(0..{type.bits - 1})" in found[0].message


@ends
def test_constant_shift_counts_inside_the_width(type: Scalar) -> None:
    counts = (0, 1, type.bits - 1)
    text = [f"static {type} f{c}({type} x) {{ return x << {c} >> {c} >>> {c}; }}" for c in counts]
    text += [f"static Vector<{type},4> g{c}(Vector<{type},4> x) {{ return x << {c} >> {c} >>> {c}; }}" for c in counts]
    assert check("\n".join(text))[1] == []


def test_float_literals_take_the_float_type_they_meet() -> None:
    floats = [scalar for scalar in SCALARS.values() if scalar.is_float]
    text = [f"static {t} f{n}({t} x) {{ {t} y = 0.1; return x * 0.1 + y - 1; }}" for n, t in enumerate(floats)]
    assert check("\n".join(text))[1] == []
    assert BOOLEAN not in floats
    for type in INTEGERS:
        assert [found.code for found in check(f"static {type} f() {{ return 1.5; }}")[1]] == ["W0302"]
