"""`%` of floats as integer arithmetic, in the interpreter: against exact numbers, at every kind of float."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot import driver
from cajeta_dot.ir import Program, Value, walk
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.remainders import expand_remainders
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference import execute
from cajeta_dot.reference.flow import translate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TYPES = ("float16", "float32", "float64")


def check(type: str) -> Program:
    """A host method that computes the remainder of every pair of elements; the opcode is gone from it."""
    text = (
        f"static void f({type}[] o, {type}[] x, {type}[] y, int32 n) "
        "{ for (int32 i = 0; i < n; i++) { o[i] = x[i] % y[i]; } }"
    )
    source, reporter = driver.decode("t.cj", text.encode())
    program = driver.check_source(source, reporter)
    assert program
    made = expand_remainders(expand(program))
    verify(made)
    values = [item for function in made.functions for item in walk(function.body) if isinstance(item, Value)]
    assert not any(value.op == "rem" and str(value.type).startswith("float") for value in values)
    return made


def run(program: Program, type: str, operands: Sequence[NDArray[Any]]) -> NDArray[Any]:
    out = np.zeros(len(operands[0]), type)
    execute.call(translate(program, False)[program.names["f"]], [out, *operands, len(out)])
    return out


def numbers(type: str, count: int) -> NDArray[Any]:
    """Zeros, ends, ties and neighbours, what is no number, and random bits."""
    info, width = np.finfo(type), np.dtype(type).itemsize
    one = 1 + float(info.eps)
    plain = [0.0, 1.0, one, 1.5, 3.0, 0.1, 1 - float(info.eps) / 2, float(info.max), float(info.tiny), math.inf, math.nan]
    plain += [float(info.smallest_subnormal), float(info.tiny) - float(info.smallest_subnormal), 2.0**12 + 1, 5.5, 2.0**-12]
    random = np.random.default_rng(2).integers(0, 256, count * width, np.uint8).view(type)
    with np.errstate(all="ignore"):
        known = np.array([*plain, *(-number for number in plain)], type)
    return np.concatenate([known, random])


def alike(made: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
    bits = f"u{made.dtype.itemsize}"
    return (made.view(bits) == wanted.view(bits)) | (np.isnan(made) & np.isnan(wanted))


@pytest.mark.parametrize("type", TYPES)
def test_remainders(type: str) -> None:
    pairs = list(itertools.product(numbers(type, 8), repeat=2))
    x, y = (np.array(column, type) for column in zip(*pairs, strict=True))
    with np.errstate(all="ignore"):
        wanted = np.fmod(x.astype(np.float64), y.astype(np.float64)).astype(type)
    made = run(check(type), type, [x, y])
    wrong = np.flatnonzero(~alike(made, wanted))
    assert not wrong.size, [(x[k], y[k], made[k], wanted[k]) for k in wrong[:3]]


def test_a_program_without_them_stays_as_it_is() -> None:
    source, reporter = driver.decode("t.cj", b"static int32 f(int32 x) { return x % 5 + x; }")
    program = driver.check_source(source, reporter)
    assert program
    core = expand(program)
    assert len(expand_remainders(core).functions) == 1
