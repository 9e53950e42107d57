"""Every scalar type into every other, wherever a value is converted; what is said follows from the numbers they hold."""

from __future__ import annotations

import itertools

import pytest

from cajeta_dot.types import BOOLEAN, SCALARS, Scalar

from .checking import check

NUMBERS = [scalar for scalar in SCALARS.values() if scalar.is_number]
PAIRS = list(itertools.product(SCALARS.values(), repeat=2))

# Where a value meets a type: a method, given its number and the two types. The code for what no conversion joins.
PLACES: dict[str, tuple[str, str]] = {
    "declaration": ("static void f{n}({source} x) {{ {target} y = x; }}", "E0301"),
    "assignment": ("static void f{n}({source} x, {target} y) {{ y = x; }}", "E0301"),
    "element": ("static void f{n}({source} x, {target}[] y) {{ y[0] = x; }}", "E0301"),
    "result": ("static {target} f{n}({source} x) {{ return x; }}", "E0301"),
    "argument": ("static void f{n}({source} x) {{ g{n}(x); }} static void g{n}({target} y) {{ }}", "E0208"),
}
LANE_PLACES: dict[str, tuple[str, str]] = {
    "lane": ("static void f{n}({source} x, Vector<{target},4> y) {{ y[1] = x; }}", "E0301"),
    "constructor": ("static void f{n}({source} x) {{ Vector<{target},4> y = Vector<{target},4>(x); }}", "E0208"),
    "operand": ("static void f{n}({source} x, Vector<{target},4> y) {{ y = y + x; }}", "E0301"),
}


def expect(source: Scalar, target: Scalar, mismatch: str) -> str | None:
    """LANGUAGE.md section 4 and `When each speaks`: silent exactly if every value exists, or an integer becomes a float."""
    if source == target:
        return None
    if BOOLEAN in (source, target):
        return mismatch
    if source.is_float:
        return None if target.is_float and target.bits > source.bits else "W0302"
    if target.is_float:
        return None
    if target.bits < source.bits:
        return "W0302"
    holds_all = target.low <= source.low and source.high <= target.high
    return None if holds_all else "W0301"


@pytest.mark.parametrize("place", [*PLACES, *LANE_PLACES])
def test_every_pair(place: str) -> None:
    form, mismatch = {**PLACES, **LANE_PLACES}[place]
    pairs = [(s, t) for s, t in PAIRS if place in PLACES or t != BOOLEAN]
    text = "\n".join(form.format(n=n, source=s, target=t) for n, (s, t) in enumerate(pairs))
    wanted = [(n, code) for n, (s, t) in enumerate(pairs, 1) if (code := expect(s, t, mismatch))]
    assert [(found.line, found.code) for found in check(text)[1]] == wanted


@pytest.mark.parametrize(
    "form", ["static {t} f{n}({s} x) {{ return ({t}) x; }}", "static void f{n}({s} x, {t} y) {{ y += x; }}"]
)
def test_a_cast_and_a_compound_assignment_are_silent(form: str) -> None:
    pairs = list(itertools.product(NUMBERS, repeat=2))
    assert check("\n".join(form.format(n=n, s=s, t=t) for n, (s, t) in enumerate(pairs)))[1] == []


def test_a_cast_does_not_join_booleans_and_numbers() -> None:
    pairs = [(s, t) for s, t in PAIRS if (s == BOOLEAN) != (t == BOOLEAN)]
    text = "\n".join(f"static {t} f{n}({s} x) {{ return ({t}) x; }}" for n, (s, t) in enumerate(pairs))
    assert [(found.line, found.code) for found in check(text)[1]] == [(n, "E0301") for n in range(1, len(pairs) + 1)]


def test_lanes_convert_without_a_cast_only_in_sign() -> None:
    pairs = list(itertools.product(NUMBERS, repeat=2))
    text = "\n".join(f"static void f{n}(Vector<{s},4> x, Vector<{t},4> y) {{ y = x; }}" for n, (s, t) in enumerate(pairs))

    def code(source: Scalar, target: Scalar) -> str | None:
        if source.is_float != target.is_float:
            return "E0301"
        if source.bits != target.bits:
            return "E0304"
        return None if source == target else "W0301"

    wanted = [(n, said) for n, (s, t) in enumerate(pairs, 1) if (said := code(s, t))]
    assert [(found.line, found.code) for found in check(text)[1]] == wanted


def test_a_count_of_any_type_shifts_silently() -> None:
    integers = [scalar for scalar in NUMBERS if scalar.is_integer]
    pairs = list(itertools.product(integers, repeat=2))
    scalars = [f"static void f{n}({s} x, {t} y, {s}[] z) {{ z[0] = ({s}) (x << y); }}" for n, (s, t) in enumerate(pairs)]
    lanes = [f"static Vector<{s},4> v{n}(Vector<{s},4> x, {t} y) {{ return x >>> y; }}" for n, (s, t) in enumerate(pairs)]
    assert check("\n".join(scalars + lanes))[1] == []
