"""Operands for the forms, and the dot product once more, in Python's integers: it shares nothing with the algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.backends.forms.instructions import DOT_CLAMPED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cajeta_dot.backends.forms.forms import Form

    Rows = NDArray[Any]

EDGES = (0, 1, 127, 128, 129, 255)
ACCUMULATORS = (0, -1, 2**31 - 1, -(2**31), 123456789)


def name(value: object) -> str:
    """An id of a test."""
    return str(getattr(value, "full_name", getattr(value, "name", value))).replace(" ", "-")


def draw(form: Form, width: int, lanes: int, rows: int) -> tuple[Rows, Rows, Rows]:
    """Weights and activations within the form's limits, and extreme accumulators: a row of the largest bytes, then in turn
    rows of any and of edge bytes."""
    random = np.random.default_rng(width)

    def draw_bytes(most: int) -> Rows:
        edges = np.array([v for v in EDGES if v <= most], np.uint8)
        anything = random.integers(most + 1, size=(rows, width), dtype=np.uint8)
        drawn = np.where(np.arange(rows)[:, None] % 2 == 0, random.choice(edges, (rows, width)), anything)
        drawn[0] = most
        return drawn

    acc = random.choice(np.array(ACCUMULATORS, np.int32), (rows, lanes))
    return draw_bytes(form.w_max), draw_bytes(form.x_max), acc


def define(form: Form, w: Rows, x: Rows, acc: Rows) -> Rows:
    """What the form has to make of these rows: one result lane for each accumulator lane, or one in all."""
    groups = w.shape[1] // 4 // acc.shape[1]  # of four bytes, for each result lane
    rows = zip(w.tolist(), x.tolist(), acc.tolist(), strict=True)
    return np.array([_define_row(form, *row, groups) for row in rows], np.int32)


def _define_row(form: Form, w: list[int], x: list[int], acc: list[int], groups: int) -> list[int]:
    made = list(acc)
    for at in range(0, len(w), 2):
        pair = sum(_read(w[i], form.signs[0]) * _read(x[i], form.signs[1]) for i in (at, at + 1))
        if form.means is DOT_CLAMPED:
            pair = min(max(pair, -(2**15)), 2**15 - 1)
        made[at // 4 // groups] += pair
    return [(total + 2**31) % 2**32 - 2**31 for total in made]


def _read(byte: int, sign: str) -> int:
    return byte - 256 if sign == "s" and byte > 127 else byte
