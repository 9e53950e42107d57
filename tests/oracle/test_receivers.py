"""Which vectors have which methods: every row asked about every shape, against the table of LANGUAGE.md section 6."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cajeta_dot.check import geometry
from cajeta_dot.check.methods import METHODS, receives
from cajeta_dot.types import BOOLEAN, FLOAT16, FLOAT32, INT8, INT32, SCALARS, Scalar, Vector, element_of

from .asking import ask

if TYPE_CHECKING:
    from collections.abc import Callable

    Shape = Scalar | Vector

ELEMENTS = list(SCALARS.values())
LANES = (1, 2, 3, 4, 5, 6, 8, 12, 16, 30, 64, 65, 128, 129, 255, 256)


def is_byte(element: Scalar) -> bool:
    return element.is_integer and element.bits == 8


def is_wide_float(element: Scalar) -> bool:
    return element.is_float and element != FLOAT16


# Method -> has a vector of that element and lane count it, and the arguments to ask with.
RECEIVERS: dict[str, tuple[Callable[[Scalar, int], bool], Callable[[Vector], tuple[Shape, ...]]]] = {
    "dot": (lambda e, n: is_wide_float(e) or (is_byte(e) and n == 4), lambda v: (v,)),
    "dotAccum": (lambda e, n: is_byte(e) and n % 4 == 0, lambda v: (v, Vector(INT32, max(1, v.lanes // 4)))),
    "dotSum": (lambda e, n: is_byte(e) and n % 4 == 0, lambda v: (v, INT32)),
    "asUnsigned": (lambda e, n: e.is_integer, lambda v: ()),
    "asSigned": (lambda e, n: e.is_integer, lambda v: ()),
    "asWords": (lambda e, n: is_byte(e) and n % 4 == 0, lambda v: ()),
    "asBytes": (lambda e, n: e.is_integer and e.bits == 32 and 4 * n <= 256, lambda v: ()),
    "widenLo": (lambda e, n: e.is_integer and e.bits < 64 and n % 2 == 0, lambda v: ()),
    "widenHi": (lambda e, n: e.is_integer and e.bits < 64 and n % 2 == 0, lambda v: ()),
    "narrow": (lambda e, n: e.is_integer and e.bits > 8 and 2 * n <= 256, lambda v: (v,)),
    "toF32": (lambda e, n: e.is_number and e != FLOAT32, lambda v: ()),
    "toI32": (lambda e, n: e.is_float, lambda v: ()),
    "toF16": (lambda e, n: is_wide_float(e), lambda v: ()),
    "bitcastF32": (lambda e, n: e.bits == 32, lambda v: ()),
    "bitcastI32": (lambda e, n: e.bits == 32, lambda v: ()),
    "tableLookup": (lambda e, n: e == INT8 and n == 16, lambda v: (Vector(INT8, 16),)),
    "lut4": (lambda e, n: is_byte(e), lambda v: (Vector(INT8, 16),)),
    "sum": (lambda e, n: e.is_number and e != FLOAT16, lambda v: ()),
    "min": (lambda e, n: e.is_number, lambda v: (v,)),
    "max": (lambda e, n: e.is_number, lambda v: (v,)),
    "abs": (lambda e, n: e.is_number, lambda v: ()),
    "clamp": (lambda e, n: e.is_number, lambda v: (v, v)),
    "select": (lambda e, n: e == BOOLEAN, lambda v: (Vector(INT8, v.lanes), Vector(INT8, v.lanes))),
    "any": (lambda e, n: e == BOOLEAN, lambda v: ()),
    "all": (lambda e, n: e == BOOLEAN, lambda v: ()),
    "length": (lambda e, n: is_wide_float(e), lambda v: ()),
    "normalize": (lambda e, n: is_wide_float(e), lambda v: ()),
    "distance": (lambda e, n: is_wide_float(e), lambda v: (v,)),
    "reflect": (lambda e, n: is_wide_float(e), lambda v: (v,)),
    "cross": (lambda e, n: is_wide_float(e) and n == 3, lambda v: (v,)),
    "lerp": (lambda e, n: is_wide_float(e), lambda v: (v, element_of(v))),
    "refract": (lambda e, n: is_wide_float(e), lambda v: (v, element_of(v))),
}


def test_the_table_has_every_row() -> None:
    assert set(RECEIVERS) == set(METHODS)
    assert {row.name for row in geometry.ROWS} <= set(RECEIVERS)


@pytest.mark.parametrize("name", RECEIVERS)
def test_receivers(name: str) -> None:
    row, (has, arguments) = METHODS[name], RECEIVERS[name]
    for element in ELEMENTS:
        for lanes in LANES:
            vector = Vector(element, lanes)
            accepted = receives(row, vector) and ask(row, (vector, *arguments(vector))) is not None
            assert accepted == has(element, lanes), vector


@pytest.mark.parametrize("name", RECEIVERS)
def test_one_argument_too_many_or_too_few(name: str) -> None:
    """But `dot` of bytes, whose accumulator may be left out."""
    row, (has, arguments) = METHODS[name], RECEIVERS[name]
    vector = next(Vector(e, n) for e in ELEMENTS for n in LANES if has(e, n))
    given = arguments(vector)
    extra = (INT32, INT32) if name == "dot" else (given or (vector,))[-1:]
    assert ask(row, (vector, *given, *extra)) is None
    if given:
        assert ask(row, (vector, *given[:-1])) is None
