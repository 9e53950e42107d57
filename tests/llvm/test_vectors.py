"""Operands on which other programs were wrong, and what must come out: by hand, from public reports, on every target here.

The fifth column is what plain `vpmaddubsw` gives; it is what `x86-maddubs` documents, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from cajeta_dot import compile
from cajeta_dot.backends.x86 import CLAMPING, backend

from .programs import EXACT

if TYPE_CHECKING:
    from cajeta_dot import Module

# name | w bytes | x bytes | accumulator | dotAccum of uint8 by int8 | the same, clamped | dot of int8 | dot of uint8
VECTORS = """
seed | 0 5 10 15 | 129 166 203 240 | 0 | -1220 | -1220 | -1220 | 6460
sign4 | 255 2 0 0 | 1 255 0 0 | 0 | 253 | 253 | -3 | 765
alt | 1 255 1 255 | 1 1 1 1 | 0 | 512 | 512 | 0 | 512
sat-pair | 255 255 0 0 | 127 127 0 0 | 0 | 64770 | 32767 | -254 | 64770
sat-quad | 255 255 255 255 | 127 127 127 127 | 0 | 129540 | 65534 | -508 | 129540
sat-neg | 255 255 255 255 | 128 128 128 128 | 0 | -130560 | -65536 | 512 | 130560
sat-asym | 255 255 255 255 | 127 127 129 129 | 0 | 0 | -1 | 0 | 130560
pytorch44939 | 211 171 0 0 | 71 107 0 0 | 0 | 33278 | 32767 | -12290 | 33278
split-pair | 255 0 255 0 | 127 0 127 0 | 0 | 64770 | 64770 | -254 | 64770
edge128+ | 128 128 128 128 | 127 127 127 127 | 0 | 65024 | 65024 | -65024 | 65024
edge128- | 128 128 128 128 | 128 128 128 128 | 0 | -65536 | -65536 | 65536 | 65536
min-min | 128 128 128 128 | 128 128 128 128 | 0 | -65536 | -65536 | 65536 | 65536
min-pair | 128 128 0 0 | 128 128 0 0 | 0 | -32768 | -32768 | 32768 | 32768
neg1-min | 255 255 255 255 | 128 128 128 128 | 0 | -130560 | -65536 | 512 | 130560
min-neg1 | 128 128 128 128 | 255 255 255 255 | 0 | -512 | -512 | 512 | 130560
onednn3435 | 50 50 50 50 | 128 128 128 128 | 0 | -25600 | -25600 | -25600 | 25600
cross939 | 167 241 217 42 | 1 1 1 1 | 0 | 667 | 667 | -101 | 667
order | 1 2 3 4 | 1 10 100 128 | 0 | -191 | -191 | -191 | 833
pack | 4 3 2 1 | 8 6 4 2 | 1 | 61 | 61 | 61 | 61
small | 10 20 0 0 | 10 20 0 0 | 0 | 500 | 500 | 500 | 500
pad | 255 0 0 0 | 1 7 7 7 | 0 | 255 | 255 | -1 | 255
two-bit | 2 2 2 2 | 127 127 127 127 | 0 | 1016 | 1016 | 1016 | 1016
nibble-max | 15 15 15 15 | 128 128 128 128 | 0 | -7680 | -7680 | -7680 | 7680
max-max | 127 127 127 127 | 127 127 127 127 | 0 | 64516 | 64516 | 64516 | 64516
acc | 1 1 1 1 | 1 2 128 170 | 0 | -211 | -211 | -211 | 301
acc2 | 2 4 8 255 | 2 2 2 1 | -211 | 72 | 72 | -184 | 72
"""


class Row(NamedTuple):
    """One line of the table. Bytes as they are stored."""

    name: str
    w: list[int]
    x: list[int]
    acc: int
    mixed: int
    clamped: int
    signed: int
    unsigned: int


def read_row(line: str) -> Row:
    name, w, x, *numbers = (cell.strip() for cell in line.split("|"))
    acc, mixed, clamped, signed, unsigned = map(int, numbers)
    return Row(name, [*map(int, w.split())], [*map(int, x.split())], acc, mixed, clamped, signed, unsigned)


ROWS = [read_row(line) for line in VECTORS.strip().splitlines()]
TEXT = """
class Vectors {
    static int32 mixed(uint8[] w, int8[] x, int32 acc) {
        return w.vload<4>(0).dotAccum(x.vload<4>(0), Vector<int32,1>(acc))[0];
    }
    static int32 summed(uint8[] w, int8[] x, int32 acc) { return w.vload<4>(0).dotSum(x.vload<4>(0), acc); }
    static int32 signed(int8[] w, int8[] x, int32 acc) { return w.vload<4>(0).dot(x.vload<4>(0), acc); }
    static int32 accumulated(int8[] w, int8[] x, int32 acc) {
        return w.vload<4>(0).dotAccum(x.vload<4>(0), Vector<int32,1>(acc))[0];
    }
    static int32 unsigned(uint8[] w, uint8[] x, int32 acc) { return w.vload<4>(0).dot(x.vload<4>(0), acc); }
    static void wide16(int32[] out, uint8[] w, int8[] x) {
        out.vstore(0, w.vload<16>(0).dotAccum(x.vload<16>(0), out.vload<4>(0)));
    }
    static void wide64(int32[] out, uint8[] w, int8[] x) {
        out.vstore(0, w.vload<64>(0).dotAccum(x.vload<64>(0), out.vload<16>(0)));
    }
}
"""


def run_all(module: Module, row: Row) -> list[int]:
    w, x = np.array(row.w, np.uint8), np.array(row.x, np.uint8)
    signed_w, signed_x = w.view(np.int8), x.view(np.int8)
    return [
        module["mixed"](w, signed_x, row.acc),
        module["summed"](w, signed_x, row.acc),
        module["signed"](signed_w, signed_x, row.acc),
        module["accumulated"](signed_w, signed_x, row.acc),
        module["unsigned"](w, x, row.acc),
    ]


def run_wide(module: Module, lanes: int, mixed: list[int]) -> None:
    """All vectors side by side, as many as there is room for, each in every place."""
    for first in range(0, len(ROWS)):
        chosen = [ROWS[(first + k) % len(ROWS)] for k in range(lanes // 4)]
        w = np.array([row.w for row in chosen], np.uint8).ravel()
        x = np.array([row.x for row in chosen], np.uint8).ravel().view(np.int8)
        out = np.array([row.acc for row in chosen], np.int32)
        module[f"wide{lanes}"](out, w, x)
        assert out.tolist() == [mixed[(first + k) % len(ROWS)] for k in range(lanes // 4)]


@pytest.mark.parametrize("target", [*EXACT, "reference"])
def test_every_exact_target_gives_the_sum_of_products(target: str) -> None:
    module = compile(TEXT, target=target)
    assert [d.code for d in module.diagnostics if d.severity != "remark"] == []
    for row in ROWS:
        assert run_all(module, row) == [row.mixed, row.mixed, row.signed, row.signed, row.unsigned], row.name
    for lanes in (16, 64):
        run_wide(module, lanes, [row.mixed for row in ROWS])


@pytest.mark.skipif(bool(backend.missing(CLAMPING.info.name)), reason="this machine has no AVX2")
def test_the_clamping_target_gives_what_it_documents() -> None:
    module = compile(TEXT, target=CLAMPING.info.name)
    for row in ROWS:
        assert run_all(module, row) == [row.clamped, row.clamped, row.signed, row.signed, row.unsigned], row.name
    for lanes in (16, 64):
        run_wide(module, lanes, [row.clamped for row in ROWS])
    warned = [(d.line, d.message) for d in module.diagnostics if d.code == "W0401"]
    expected = "weights can reach 255; on `x86-maddubs` each pair of products is clamped to 16 bits"
    assert warned == [(line, expected) for line in (4, 6, 13, 16)]


BOUNDED = "static int32 f(uint8[] w, int8[] x, int32 n) {{ {} return v.dotSum(x.vload<16>(0), 0); }}"


@pytest.mark.parametrize(
    ("weights", "reach"),
    [
        ("Vector<uint8,16> v = w.vload<16>(0);", 255),
        ("Vector<uint8,16> v = w.vload<16>(0) & 127;", 0),
        ("Vector<uint8,16> v = w.vload<16>(0) >> 1;", 0),
        ("Vector<uint8,16> v = (w.vload<16>(0) & 127) + 1;", 0),  # 128 is the greatest that can't clamp
        ("Vector<uint8,16> v = (w.vload<16>(0) & 127) + 2;", 129),
        ("Vector<uint8,16> v = w.vload<16>(0).min(Vector<uint8,16>(128));", 0),
        ("Vector<uint8,16> v = w.vload<16>(0).min(Vector<uint8,16>(129));", 129),
        ("Vector<uint8,16> v = w.vload<16>(0); if (n > 0) { v = v & 15; } else { v = v >> 4; }", 0),
        ("Vector<uint8,16> v = w.vload<16>(0) & 15; if (n > 0) { v = w.vload<16>(16); }", 255),
        ("Vector<uint8,16> v = w.vload<16>(0) & 15; for (int32 i = 0; i < n; i++) { v = v ^ 3; }", 0),
        ("Vector<uint8,16> v = w.vload<16>(0) & 15; for (int32 i = 0; i < n; i++) { v = v + 1; }", 255),
    ],
)
def test_the_warning_speaks_unless_the_weights_are_proven(weights: str, reach: int) -> None:
    if backend.missing(CLAMPING.info.name):
        pytest.skip("this machine has no AVX2")
    module = compile(BOUNDED.format(weights), target=CLAMPING.info.name)
    warned = [d.message.split(";")[0] for d in module.diagnostics if d.code == "W0401"]
    assert warned == ([f"weights can reach {reach}"] if reach else [])
    assert [choice.exact for choice in module.choices] == [not reach]


@pytest.mark.parametrize("target", EXACT)
def test_arrays_may_begin_at_any_byte(target: str) -> None:
    """numpy aligns its arrays to 16 bytes, and what is cut out of them to one element."""
    module = compile(TEXT, target=target)
    random = np.random.default_rng(1)
    weights, activations = random.integers(0, 256, 128).astype(np.uint8), random.integers(-128, 128, 128).astype(np.int8)
    for offset in range(64):
        w, x = weights[offset : offset + 64], activations[63 - offset : 127 - offset]
        sums = np.zeros(32, np.int32)[offset % 16 :][:16]
        module["wide64"](sums, w, x)
        assert sums.tolist() == (w.astype(np.int32) * x).reshape(16, 4).sum(axis=1).tolist(), offset
