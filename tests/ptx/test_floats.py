"""Instructions on floats against exact fractions, rounded once. Source: the PTX ISA manual."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends.ptx.instructions import OPERATIONS, dtype, width
from cajeta_dot.reference.numbers import round_float

from .machine import apply
from .test_integers import INTEGERS, array, edges, ends

if TYPE_CHECKING:
    from collections.abc import Callable

    Meaning = Callable[[float], float] | Callable[[float, float], float] | Callable[[float, float, float], float]
    Plain = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
    Exact = (
        Callable[[Fraction], Fraction]
        | Callable[[Fraction, Fraction], Fraction]
        | Callable[[Fraction, Fraction, Fraction], Fraction]
    )

TYPES = ("f16", "f32", "f64")
LARGE = ("f32", "f64")


def numbers(type: str) -> list[float]:
    """Zeros, ends, subnormal numbers, ties, what no float is, and random bits."""
    info = np.finfo(dtype(type))
    one_more = 1 + float(info.eps)
    plain = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 1 / 3, 7.0, one_more, 1 - float(info.eps) / 2, 255.0, 2048.0, 2049.5, 1e4]
    ends_ = [float(info.max), float(info.tiny), float(info.smallest_subnormal), float(info.tiny) * 0.75, math.inf]
    random = np.random.default_rng(1).integers(0, 256, 24 * width(type) // 8, np.uint8).view(dtype(type))
    with np.errstate(all="ignore"):
        found = np.array([*plain, *ends_], dtype(type)).astype(float).tolist() + random.astype(float).tolist()
    return [*dict.fromkeys(found), *(-number for number in dict.fromkeys(found)), math.nan]


def floats(values: list[float], type: str) -> Any:
    with np.errstate(all="ignore"):
        return np.array(values, dtype(type))


def check(opcode: str, type: str, operands: list[list[float]], meaning: Meaning) -> None:
    compute: Any = meaning
    made = apply(opcode, *(floats(operand, type) for operand in operands))
    wanted = floats([compute(*row) for row in zip(*operands, strict=True)], type)
    bits = f"u{width(type) // 8}"
    both_nan = np.isnan(made) & np.isnan(wanted)
    wrong = np.flatnonzero((made.view(bits) != wanted.view(bits)) & ~both_nan)
    assert not wrong.size, (opcode, [operand[wrong[0]] for operand in operands], made[wrong[0]], wanted[wrong[0]])
    if type != "f64" and opcode.split(".")[0] not in ("neg", "abs", "copysign"):
        assert set(made.view(bits)[np.isnan(made)].tolist()) <= {0x7FFF if type == "f16" else 0x7FFFFFFF}


def rows(type: str, count: int, most: int = 1000) -> list[list[float]]:
    found = list(itertools.product(numbers(type), repeat=count))
    step = -(-len(found) // most) | 1
    return [list(column) for column in zip(*found[::step], strict=True)]


def exactly(type: str, plain: Plain, exact: Exact) -> Callable[..., float]:
    """Rounded from the fraction where that is neither zero nor missing; zeros and what is no number as IEEE 754 has them."""

    on_floats: Any = plain
    on_fractions: Any = exact

    def compute(*operands: float) -> float:
        with np.errstate(all="ignore"):
            special = float(on_floats(*(dtype("f64").type(operand) for operand in operands)))
        if all(map(math.isfinite, operands)):
            try:
                total: Fraction = on_fractions(*map(Fraction, operands))
            except ZeroDivisionError:
                return special
            if total:
                return round_float(total, width(type))
        return special

    return compute


def plain_fuse(a: float, b: float, c: float) -> float:
    """Where something is infinite; a finite product may be too large for a float64."""
    return c if math.isfinite(a) and math.isfinite(b) and not math.isfinite(c) else a * b + c


@pytest.mark.parametrize("type", TYPES)
def test_arithmetic_rounds_once(type: str) -> None:
    two = rows(type, 2)
    for mode in ("", ".rn"):
        check(f"add{mode}.{type}", type, two, exactly(type, lambda a, b: a + b, lambda a, b: a + b))
        check(f"sub{mode}.{type}", type, two, exactly(type, lambda a, b: a - b, lambda a, b: a - b))
        check(f"mul{mode}.{type}", type, two, exactly(type, lambda a, b: a * b, lambda a, b: a * b))
    check(f"fma.rn.{type}", type, rows(type, 3), exactly(type, plain_fuse, lambda a, b, c: a * b + c))
    check(f"neg.{type}", type, [numbers(type)], lambda a: -a)
    check(f"abs.{type}", type, [numbers(type)], abs)


@pytest.mark.parametrize("type", LARGE)
def test_quotients_and_roots_round_once(type: str) -> None:
    check(f"div.rn.{type}", type, rows(type, 2), exactly(type, lambda a, b: a / b, lambda a, b: a / b))
    check(f"rcp.rn.{type}", type, [numbers(type)], exactly(type, lambda a: 1 / a, lambda a: 1 / a))
    check(f"sqrt.rn.{type}", type, [numbers(type)], lambda a: math.sqrt(a) if a >= 0 else math.nan)
    check(f"copysign.{type}", type, rows(type, 2), lambda a, b: math.copysign(b, a))


def test_fma_sees_what_two_roundings_lose() -> None:
    """1 + 2^-12 squared is 1 + 2^-11 + 2^-24: a tie, until the addend decides it."""
    a = floats([1 + 2.0**-12] * 3, "f32")
    c = floats([2.0**-60, -(2.0**-60), 0.0], "f32")
    assert apply("fma.rn.f32", a, a, c).tolist() == [1 + 2.0**-11 + 2.0**-23, 1 + 2.0**-11, 1 + 2.0**-11]


def least(a: float, b: float) -> float:
    if a != a or b != b:
        return b if a != a else a
    return min(a, b, key=lambda x: (x, math.copysign(1, x)))


def greatest(a: float, b: float) -> float:
    if a != a or b != b:
        return b if a != a else a
    return max(a, b, key=lambda x: (x, math.copysign(1, x)))


@pytest.mark.parametrize("type", TYPES)
def test_a_nan_loses_and_zeros_have_an_order(type: str) -> None:
    check(f"min.{type}", type, rows(type, 2), least)
    check(f"max.{type}", type, rows(type, 2), greatest)


COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "ne": lambda a, b: a != b and a == a and b == b,
}  # fmt: skip


@pytest.mark.parametrize("type", TYPES)
def test_comparisons_with_and_without_order(type: str) -> None:
    a, b = rows(type, 2)
    x, y = floats(a, type), floats(b, type)
    unordered = np.array([p != p or q != q for p, q in zip(a, b, strict=True)])
    for name, meaning in COMPARISONS.items():
        ordered = np.array([meaning(p, q) for p, q in zip(a, b, strict=True)])
        assert (apply(f"setp.{name}.{type}", x, y) == ordered).all(), name
        assert (apply(f"setp.{name}u.{type}", x, y) == (ordered | unordered)).all(), name
    assert (apply(f"setp.nan.{type}", x, y) == unordered).all()
    assert (apply(f"setp.num.{type}", x, y) == ~unordered).all()


@pytest.mark.parametrize(("type", "half"), [("f16x2", "f16"), ("f32x2", "f32")])
def test_pairs_are_two_of_the_same(type: str, half: str) -> None:
    x, y, z = (floats(operand, half)[:500] for operand in rows(half, 3))
    whole = f"u{width(half) // 4}"
    calls = {"add.rn": (x, y), "mul.rn": (x, y), "fma.rn": (x, y, z), "max": (x, y), "neg": (x,)}
    for opcode, operands in calls.items():
        if f"{opcode}.{type}" not in OPERATIONS:
            assert (type, opcode) in (("f32x2", "max"), ("f32x2", "neg"))
            continue
        made = apply(f"{opcode}.{type}", *(operand.view(whole) for operand in operands)).view(f"u{width(half) // 8}")
        single = apply(f"{opcode}.{half}", *operands).view(f"u{width(half) // 8}")
        assert made.tolist() == single.tolist(), opcode


# ---- conversions

ROUNDINGS: dict[str, Callable[[float], float]] = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("source", TYPES)
def test_floats_to_integers_saturate(source: str) -> None:
    extra = [2.0**31, 2.0**32, 2.0**63, 2.0**64, 2.0**63 - 1024, 127.5, 128.5, -128.5, 255.5, 65535.5, -0.5, 2147483647.5]
    with np.errstate(all="ignore"):
        values = numbers(source) + floats([*extra, *(-x for x in extra)], source).astype(float).tolist()
    for target, (name, rounding) in itertools.product(INTEGERS, ROUNDINGS.items()):
        low, high = ends(target)
        lost = 1 << width(target) - 1 if source == "f64" or width(target) == 64 else 0
        nan = lost if target[0] == "u" or not lost else low

        def meaning(x: float, low: int = low, high: int = high, nan: int = nan, rounding: Any = rounding) -> int:
            if x != x:
                return nan
            return min(max(rounding(x), low), high) if math.isfinite(x) else (high if x > 0 else low)

        made = apply(f"cvt.{name}.{target}.{source}", floats(values, source)).tolist()
        assert made == [meaning(x) for x in values], (target, name)


@pytest.mark.parametrize("target", TYPES)
def test_integers_to_floats_round_once(target: str) -> None:
    for source in INTEGERS:
        _, high = ends(source)
        found = {*edges(source), *(2**k + d for k in range(65) for d in (-1, 0, 1) if 2**k + d <= high)}
        found |= {
            n for k in (10, 11, 23, 24, 25, 52, 53, 54) for n in (2**k + 2 ** max(k - 11, 0) + 1, 3 * 2**k + 1) if n <= high
        }
        values = sorted(found)
        made = apply(f"cvt.rn.{target}.{source}", array(values, source)).astype(float).tolist()
        assert made == [round_float(n, width(target)) for n in values], source


def test_floats_to_floats() -> None:
    for source, target in itertools.permutations(TYPES, 2):
        name = f"cvt.{'' if width(target) > width(source) else 'rn.'}{target}.{source}"
        values = numbers(source)
        if source == "f64":
            values += [1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, 65519.99999999, 65520.0, 2.0**-25 + 2.0**-60, 2.0**-25]
        made = apply(name, floats(values, source)).astype(float)
        wanted = np.array([x if not math.isfinite(x) else round_float(x, width(target)) for x in values])
        assert ((made == wanted) & (np.signbit(made) == np.signbit(wanted)) | np.isnan(made) & np.isnan(wanted)).all(), name


@pytest.mark.parametrize("type", TYPES)
def test_rounding_to_whole_numbers(type: str) -> None:
    for name, rounding in ROUNDINGS.items():
        check(f"cvt.{name}.{type}.{type}", type, [numbers(type)], partial(_whole, rounding))


def _whole(rounding: Callable[[float], float], x: float) -> float:
    return math.copysign(rounding(x), x) if math.isfinite(x) else x
