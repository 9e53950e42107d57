"""Every operator and cast of scalars, on every pair of types and their edges, on every target (LANGUAGE.md section 4)."""

from __future__ import annotations

import itertools
import operator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.reference.numbers import make_rounder
from cajeta_dot.types import BOOLEAN, INT8, Scalar

from .arithmetic import COMPARISONS, INTEGERS, NUMBERS, SHIFTS, cast_all, compute, operators_of, shift
from .numbers import differing, dtype_of, edges, from_python, random_bits, to_python
from .running import TARGETS, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from .numbers import Elements

PAIRS = [
    *itertools.product(INTEGERS, repeat=2),
    *((a, b) for a, b in itertools.product(NUMBERS, repeat=2) if a.is_float or b.is_float),
]


def common(a: Scalar, b: Scalar) -> Scalar:
    """The type that arithmetic works at: the widest float, else the wider width, unsigned if either is."""
    floats = [t for t in (a, b) if t.is_float]
    if floats:
        return max(floats, key=lambda t: t.bits)
    return Scalar("u" if "u" in (a.kind, b.kind) else "s", max(a.bits, b.bits))


# ---- binary operators: a kernel for each pair of types, whose outputs lie one after another


def kernel_of(n: int, a: Scalar, b: Scalar) -> str:
    """`o` has the results of arithmetic, `s` those of shifts, `c` those of comparisons."""
    both = a.is_integer and b.is_integer
    wide, shifted = common(a, b), Scalar(a.kind, max(a.bits, b.bits)) if both else INT8
    lines = [f"o[{k} * n + i] = x {op} y;" for k, op in enumerate(operators_of(wide))]
    lines += [f"s[{k} * n + i] = x {op} y;" for k, op in enumerate(SHIFTS if both else ())]
    lines += [f"c[{k} * n + i] = x {op} y;" for k, op in enumerate(COMPARISONS)]
    return (
        f"@Kernel static void k{n}({wide}[] o, {shifted}[] s, boolean[] c, {a}[] a, {b}[] b, uint32 n) "
        f"{{ uint32 i = KernelThread.x(); {a} x = a[i]; {b} y = b[i]; {' '.join(lines)} }}"
    )


TEXT = "\n".join(kernel_of(n, a, b) for n, (a, b) in enumerate(PAIRS))


def operands(a: Scalar, b: Scalar) -> tuple[Elements, Elements]:
    """Every edge with every edge, thinned out for floats, and random bits."""
    x, y = edges(a), edges(b)
    x, y = (x[::2] if a.is_float else x), (y[::2] if b.is_float else y)
    return (
        np.concatenate([np.repeat(x, len(y)), random_bits(a, 16, a.bits)]),
        np.concatenate([np.tile(y, len(x)), random_bits(b, 16, b.bits + 1)]),
    )


@cache
def expected(a: Scalar, b: Scalar) -> tuple[Elements, Elements, Elements]:
    """The three outputs of a kernel, on exact numbers."""
    pairs = list(zip(*(to_python(array) for array in operands(a, b)), strict=True))
    wide, width = common(a, b), Scalar(a.kind, max(a.bits, b.bits))
    fit = make_rounder(wide)
    meet = make_rounder(wide if wide.is_float else Scalar("s" if "s" in (a.kind, b.kind) else "u", wide.bits))
    computed = [compute(op, fit(p), fit(q), wide) for op in operators_of(wide) for p, q in pairs]
    both = a.is_integer and b.is_integer
    shifts = [shift(op, p, q, width) for op in (SHIFTS if both else ()) for p, q in pairs]
    answers = [compare(meet(p), meet(q)) for compare in COMPARISONS.values() for p, q in pairs]
    return from_python(computed, wide), from_python(shifts, width if both else INT8), from_python(answers, BOOLEAN)


@pytest.mark.parametrize("first", NUMBERS, ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_binary_operators(target: str, first: Scalar) -> None:
    launch = load(target, TEXT)
    for n, (a, b) in enumerate(PAIRS):
        if a == first:
            x, y = operands(a, b)
            outputs = [np.zeros(len(array), array.dtype) for array in expected(a, b)]
            launch(f"k{n}", [*outputs, x, y, len(x)], len(x))
            names = (operators_of(common(a, b)), SHIFTS, list(COMPARISONS))
            for ops, output, wanted in zip(names, outputs, expected(a, b), strict=True):
                wrong = differing(output, wanted)
                assert not wrong, [(ops[w // len(x)], x[w % len(x)], y[w % len(x)], output[w], wanted[w]) for w in wrong[:3]]


# ---- unary operators and casts

UNARY: dict[str, Callable[[Any], Any]] = {"-x": operator.neg, "+x": operator.pos, "~x": operator.invert}


def forms_of(type: Scalar) -> list[str]:
    return [form for form in UNARY if type.is_integer or form != "~x"]


def unary_of(n: int, a: Scalar) -> str:
    lines = [f"o[{k} * n + i] = {form};" for k, form in enumerate(forms_of(a))]
    lines += [f"c{k}[i] = ({t}) x;" for k, t in enumerate(NUMBERS)]
    outputs = "".join(f"{t}[] c{k}, " for k, t in enumerate(NUMBERS))
    return (
        f"@Kernel static void u{n}({a}[] o, {outputs}{a}[] a, uint32 n) "
        f"{{ uint32 i = KernelThread.x(); {a} x = a[i]; {' '.join(lines)} }}"
    )


UNARY_TEXT = "\n".join(unary_of(n, a) for n, a in enumerate(NUMBERS))


@pytest.mark.parametrize("a", NUMBERS, ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_unary_operators_and_casts(target: str, a: Scalar) -> None:
    x = np.concatenate([edges(a), random_bits(a, 64, 3)])
    forms = forms_of(a)
    output = np.zeros(len(x) * len(forms), x.dtype)
    casts = [np.zeros(len(x), dtype_of(t)) for t in NUMBERS]
    load(target, UNARY_TEXT)(f"u{NUMBERS.index(a)}", [output, *casts, x, len(x)], len(x))
    fit = make_rounder(a)
    wanted = from_python([fit(UNARY[form](number)) for form in forms for number in to_python(x)], a)
    wrong = differing(output, wanted)
    assert not wrong, [(forms[w // len(x)], x[w % len(x)], output[w], wanted[w]) for w in wrong[:3]]
    for new, made in zip(NUMBERS, casts, strict=True):
        wanted = from_python(cast_all(to_python(x), a, new), new)
        wrong = differing(made, wanted)
        assert not wrong, [(str(new), x[w], made[w], wanted[w]) for w in wrong[:3]]


# ---- booleans

BOOLEAN_TEXT = """@Kernel static void b(boolean[] o, boolean[] a, boolean[] b, uint32 n) {
    uint32 i = KernelThread.x(); boolean x = a[i]; boolean y = b[i];
    o[i] = x & y; o[n + i] = x | y; o[2 * n + i] = x ^ y; o[3 * n + i] = !x; o[4 * n + i] = x == y; o[5 * n + i] = x != y;
    o[6 * n + i] = x && y; o[7 * n + i] = x || y; o[8 * n + i] = x ? y : !y;
}"""


@pytest.mark.parametrize("target", TARGETS)
def test_booleans(target: str) -> None:
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    output = np.zeros(36, bool)
    load(target, BOOLEAN_TEXT)("b", [output, a, b, 4], 4)
    assert output.tolist() == [*(a & b), *(a | b), *(a ^ b), *~a, *(a == b), *(a != b), *(a & b), *(a | b), *np.where(a, b, ~b)]
