"""Operators, casts and single lanes of vectors, on every target (LANGUAGE.md section 6): what scalars do, at lane width."""

from __future__ import annotations

import itertools
import operator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.reference.numbers import make_rounder
from cajeta_dot.types import BOOLEAN, INT8, INT32, INT64, UINT8, UINT16, UINT32, UINT64, Scalar

from .arithmetic import COMPARISONS, FLOATS, INTEGERS, NUMBERS, SHIFTS, cast_all, compute, operators_of, shift
from .numbers import differing, dtype_of, few_edges, from_python, random_bits, to_python
from .running import TARGETS, load

if TYPE_CHECKING:
    from .numbers import Elements

LANES = (3, 16)
PAIRS = [
    *((a, b) for a, b in itertools.product(INTEGERS, repeat=2) if a.bits == b.bits),
    *((a, a) for a in FLOATS),
]


def operands(a: Scalar, b: Scalar, lanes: int) -> tuple[Elements, Elements]:
    """Every telling edge with every other and random bits, as whole vectors."""
    x, y = few_edges(a), few_edges(b)
    first, second = np.repeat(x, len(y)), np.tile(y, len(x))
    more = -len(first) % lanes + 2 * lanes
    return np.concatenate([first, random_bits(a, more, 1)]), np.concatenate([second, random_bits(b, more, 2)])


# ---- vector with vector, vector with scalar


def kernel_of(name: str, a: Scalar, b: Scalar, lanes: int, form: str) -> str:
    """`form` is vv, vs or sv: which operand is a vector. A scalar is the first of the lanes that stand in its place."""
    wide = Scalar("u", a.bits) if "u" in (a.kind, b.kind) else a
    x, y = (f"{array}.vload<{lanes}>(at)" if kind == "v" else f"{array}[at]" for array, kind in zip("ab", form, strict=True))
    lines = [f"o.vstore({k} * n + at, x {op} y);" for k, op in enumerate(operators_of(wide))]
    lines += [f"s.vstore({k} * n + at, x {op} y);" for k, op in enumerate(SHIFTS if a.is_integer else ())]
    lines += [f"c.vstore({k} * n + at, (x {op} y).select(one, zero));" for k, op in enumerate(COMPARISONS)]
    first = f"Vector<{a},{lanes}>" if form[0] == "v" else str(a)
    second = f"Vector<{b},{lanes}>" if form[1] == "v" else str(b)
    shifted = a if a.is_integer else INT8
    return (
        f"@Kernel static void {name}({wide}[] o, {shifted}[] s, int8[] c, {a}[] a, {b}[] b, uint32 n) "
        f"{{ uint32 at = KernelThread.x() * {lanes}; {first} x = {x}; {second} y = {y}; "
        f"Vector<int8,{lanes}> one = Vector<int8,{lanes}>(1); Vector<int8,{lanes}> zero = one ^ one; {' '.join(lines)} }}"
    )


CASES = {
    **{f"vv{n}_{lanes}": (a, b, lanes, "vv") for n, (a, b) in enumerate(PAIRS) for lanes in LANES},
    **{f"{form}{n}": (a, a, 4, form) for n, a in enumerate(NUMBERS) for form in ("vs", "sv")},
}
TEXT = "\n".join(kernel_of(name, *case) for name, case in CASES.items())


@cache
def expected(name: str) -> tuple[Elements, Elements, Elements]:
    a, b, lanes, form = CASES[name]
    arrays = operands(a, b, lanes)
    x, y = (
        to_python(array if kind == "v" else np.repeat(array[::lanes], lanes)) for array, kind in zip(arrays, form, strict=True)
    )
    pairs = list(zip(x, y, strict=True))
    wide = Scalar("u", a.bits) if "u" in (a.kind, b.kind) else a
    compared = make_rounder(Scalar("s", a.bits) if a.is_integer and "s" in (a.kind, b.kind) else a)
    fit = make_rounder(wide)
    computed = [compute(op, fit(p), fit(q), wide) for op in operators_of(wide) for p, q in pairs]
    shifts = [shift(op, p, q, a) for op in (SHIFTS if a.is_integer else ()) for p, q in pairs]
    answers = [int(compare(compared(p), compared(q))) for compare in COMPARISONS.values() for p, q in pairs]
    return from_python(computed, wide), from_python(shifts, a if a.is_integer else INT8), from_python(answers, INT8)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", TARGETS)
def test_lane_operators(target: str, name: str) -> None:
    a, b, lanes, _ = CASES[name]
    x, y = operands(a, b, lanes)
    outputs = [np.zeros(len(array), array.dtype) for array in expected(name)]
    load(target, TEXT)(name, [*outputs, x, y, len(x)], len(x) // lanes)
    wide = Scalar("u", a.bits) if "u" in (a.kind, b.kind) else a
    for ops, output, wanted in zip((operators_of(wide), SHIFTS, list(COMPARISONS)), outputs, expected(name), strict=True):
        wrong = differing(output, wanted)
        assert not wrong, (
            str(a),
            str(b),
            [(ops[w // len(x)], x[w % len(x)], y[w % len(x)], output[w], wanted[w]) for w in wrong[:3]],
        )


# ---- one operand

UNARY = {"-v": operator.neg, "+v": operator.pos, "~v": operator.invert}


def forms_of(type: Scalar) -> list[str]:
    return [form for form in UNARY if type.is_integer or form != "~v"]


def unary_of(n: int, a: Scalar, lanes: int) -> str:
    lines = [f"o.vstore({k} * n + at, {form});" for k, form in enumerate(forms_of(a))]
    lines += [f"c{k}.vstore(at, (Vector<{t},{lanes}>) v);" for k, t in enumerate(NUMBERS)]
    outputs = "".join(f"{t}[] c{k}, " for k, t in enumerate(NUMBERS))
    return (
        f"@Kernel static void u{n}_{lanes}({a}[] o, {outputs}{a}[] a, uint32 n) "
        f"{{ uint32 at = KernelThread.x() * {lanes}; Vector<{a},{lanes}> v = a.vload<{lanes}>(at); {' '.join(lines)} }}"
    )


UNARY_TEXT = "\n".join(unary_of(n, a, lanes) for n, a in enumerate(NUMBERS) for lanes in LANES)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("a", NUMBERS, ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_unary_operators_and_casts(target: str, a: Scalar, lanes: int) -> None:
    x, _ = operands(a, a, lanes)
    forms = forms_of(a)
    output = np.zeros(len(x) * len(forms), x.dtype)
    casts = [np.zeros(len(x), dtype_of(t)) for t in NUMBERS]
    load(target, UNARY_TEXT)(f"u{NUMBERS.index(a)}_{lanes}", [output, *casts, x, len(x)], len(x) // lanes)
    fit = make_rounder(a)
    wanted = from_python([fit(UNARY[form](number)) for form in forms for number in to_python(x)], a)
    assert not differing(output, wanted)
    for new, made in zip(NUMBERS, casts, strict=True):
        wanted = from_python(cast_all(to_python(x), a, new), new)
        wrong = differing(made, wanted)
        assert not wrong, [(str(new), x[w], made[w], wanted[w]) for w in wrong[:3]]


# ---- single lanes

INDEXES = (INT8, UINT8, UINT16, INT32, UINT32, INT64, UINT64)
LANE_COUNTS = (1, 3, 4, 7, 16)


def lane_kernel(n: int, index: Scalar, lanes: int) -> str:
    return (
        f"@Kernel static void l{n}_{lanes}(int16[] read, int16[] written, int16[] a, {index}[] at) "
        f"{{ uint32 i = KernelThread.x(); Vector<int16,{lanes}> v = a.vload<{lanes}>(0); read[i] = v[at[i]]; "
        f"v[at[i]] = 99; v[at[i]] += 1; written.vstore(i * {lanes}, v); }}"
    )


LANE_TEXT = "\n".join(lane_kernel(n, index, lanes) for n, index in enumerate(INDEXES) for lanes in LANE_COUNTS)


@pytest.mark.parametrize("lanes", LANE_COUNTS)
@pytest.mark.parametrize("index", INDEXES, ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_a_run_time_lane_index_counts_modulo_the_lanes(target: str, index: Scalar, lanes: int) -> None:
    """With checks off; the index is read as an unsigned number of its own width."""
    at = np.concatenate([np.arange(lanes).astype(dtype_of(index)), few_edges(index), random_bits(index, 8, 5)])
    a = np.arange(100, 100 + lanes, dtype=np.int16)
    read, written = np.zeros(len(at), np.int16), np.zeros(len(at) * lanes, np.int16)
    load(target, LANE_TEXT)(f"l{INDEXES.index(index)}_{lanes}", [read, written, a, at], len(at))
    places = [int(number) % (1 << index.bits) % lanes for number in at]
    assert read.tolist() == [100 + place for place in places]
    for place, vector in zip(places, written.reshape(-1, lanes).tolist(), strict=True):
        assert vector == [*range(100, 100 + place), 100, *range(101 + place, 100 + lanes)]


SWIZZLES = ("xy", "wzyx", "xxxx", "yw", "bgr", "abgr", "rr")
SWIZZLE_TEXT = "@Kernel static void s(int32[] out, int32[] a) {{ Vector<int32,4> v = a.vload<4>(0); {} }}".format(
    " ".join(f"out.vstore({4 * k}, v.{swizzle});" for k, swizzle in enumerate(SWIZZLES))
    + " ".join(f"out[{4 * len(SWIZZLES) + k}] = v.{letter};" for k, letter in enumerate("xyzwrgba"))
    + " v.y = 50; v.a += 7; out.vstore(40, v);"
)


@pytest.mark.parametrize("target", TARGETS)
def test_components(target: str) -> None:
    out, a = np.full(44, -1, np.int32), np.array([10, 20, 30, 40], np.int32)
    load(target, SWIZZLE_TEXT)("s", [out, a], 1)
    wanted: list[int] = []
    for swizzle in SWIZZLES:
        lanes = [int(a["xyzw".find(letter) if letter in "xyzw" else "rgba".find(letter)]) for letter in swizzle]
        wanted += [*lanes, *[-1] * (4 - len(lanes))]
    assert out.tolist() == [*wanted, 10, 20, 30, 40, 10, 20, 30, 40, -1, -1, -1, -1, 10, 50, 30, 47]


@pytest.mark.parametrize("target", TARGETS)
def test_constructors(target: str) -> None:
    text = """@Kernel static void c(int32[] out, int32[] a) {
        out.vstore(0, Vector<int32,3>(a[0], 7, a[1] * 2)); out.vstore(3, stack Vector<int32,4>(a[1]));
        out.vstore(7, heap Vector<int32,2>(1, 2)); out.vstore(9, Vector<int32,1>(5));
        Vector<int32,4> v = Vector<int32,4>(a[0], a[0] + 1, a[0] + 2, a[0] + 3); v = v + 1; out.vstore(10, v);
    }"""
    out = np.zeros(14, np.int32)
    load(target, text)("c", [out, np.array([3, 4], np.int32)], 1)
    assert out.tolist() == [3, 7, 8, 4, 4, 4, 4, 1, 2, 5, 4, 5, 6, 7]


def test_the_cases_have_every_pair_of_equal_width() -> None:
    assert len(PAIRS) == 4 * 4 + 3
    assert BOOLEAN not in {type for pair in PAIRS for type in pair}
