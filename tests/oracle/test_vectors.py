"""Products of bytes known to tell right instructions from wrong ones, on every target: `vectors.txt`, and whole vectors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from .running import EVERY_TARGET, load

targets = pytest.mark.parametrize("target", EVERY_TARGET)


class Row(NamedTuple):
    weights: list[int]
    activations: list[int]
    accumulator: int
    unsigned_signed: int
    signed_signed: int
    unsigned_unsigned: int


def read_vectors() -> list[Row]:
    """The rows of the table; columns lie two or more spaces apart."""
    lines = (Path(__file__).parent / "vectors.txt").read_text(encoding="ascii").splitlines()
    table = [re.split(r" {2,}", line) for line in lines if line and not line.startswith("#")]
    assert table.pop(0) == ["weights", "activations", "acc", "u*s", "s*s", "u*u"]
    return [Row([int(byte) for byte in w.split()], [int(byte) for byte in x.split()], *map(int, sums)) for w, x, *sums in table]


VECTORS = read_vectors()


def test_the_table_agrees_with_the_definition() -> None:
    for row in VECTORS:
        w, x = row.weights, row.activations
        signed_w, signed_x = ([byte - 256 * (byte > 127) for byte in operand] for operand in (w, x))

        def wrapped(a: list[int], b: list[int], start: int = row.accumulator) -> int:
            return (start + sum(p * q for p, q in zip(a, b, strict=True)) + 2**31) % 2**32 - 2**31

        assert row.unsigned_signed == wrapped(w, signed_x)
        assert row.signed_signed == wrapped(signed_w, signed_x)
        assert row.unsigned_unsigned == wrapped(w, x)


# Every way to ask for a column: an expression over four-lane vectors w (int8), v (the same as uint8), x, y and an int32 acc.
WAYS = {
    "unsigned_signed": (
        "v.dotAccum(x, Vector<int32,1>(acc))[0]",
        "v.dotSum(x, acc)",
        "v.dotAccum(y, Vector<int32,1>(acc))[0]",
        "w.asUnsigned().dotSum(y.asSigned(), acc)",
    ),
    "signed_signed": (
        "w.dot(x, acc)",
        "w.dot(y, acc)",
        "w.dot(x) + acc",
        "acc + w.dot(x)",
        "w.dotAccum(x, Vector<int32,1>(acc))[0]",
        "w.dotAccum(y, Vector<int32,1>(acc))[0]",
        "w.dotSum(x, acc)",
        "v.asSigned().dotSum(x, acc)",
    ),
    "unsigned_unsigned": ("v.dot(y, acc)", "v.dot(x, acc)", "v.dot(y) + acc", "w.asUnsigned().dot(x.asUnsigned(), acc)"),
}
WAYS_TEXT = "\n".join(
    f"@Kernel static void {column}_{n}(int32[] out, int8[] w0, uint8[] v0, int8[] x0, uint8[] y0, int32[] a0) {{ "
    "uint32 i = KernelThread.x(); Vector<int8,4> w = w0.vload<4>(i * 4); Vector<uint8,4> v = v0.vload<4>(i * 4); "
    "Vector<int8,4> x = x0.vload<4>(i * 4); Vector<uint8,4> y = y0.vload<4>(i * 4); int32 acc = a0[i]; "
    f"out[i] = {way} + 0 * (w.sum() + v.sum() + x.sum() + y.sum() + acc); }}"
    for column, ways in WAYS.items()
    for n, way in enumerate(ways)
)


@pytest.mark.parametrize(("column", "n"), [(column, n) for column, ways in WAYS.items() for n in range(len(ways))])
@targets
def test_four_bytes(target: str, column: str, n: int) -> None:
    weights = np.array([row.weights for row in VECTORS], np.uint8).ravel()
    activations = np.array([row.activations for row in VECTORS], np.uint8).ravel()
    accumulators = np.array([row.accumulator for row in VECTORS], np.int32)
    out = np.zeros(len(VECTORS), np.int32)
    arguments = [out, weights.view(np.int8), weights, activations.view(np.int8), activations, accumulators]
    load(target, WAYS_TEXT)(f"{column}_{n}", arguments, len(VECTORS))
    assert out.tolist() == [getattr(row, column) for row in VECTORS], WAYS[column][n]


# ---- whole vectors

LANES = (4, 8, 16, 20, 32, 64, 128, 256)
LANES_TEXT = "\n".join(
    f"@Kernel static void {name}{lanes}(int32[] out, {type}[] w, int8[] x, int32[] acc) {{ "
    f"out.vstore(0, w.vload<{lanes}>(0).dotAccum(x.vload<{lanes}>(0), acc.vload<{lanes // 4}>(0))); "
    f"out[{lanes // 4}] = w.vload<{lanes}>(0).dotSum(x.vload<{lanes}>(0), acc[0]); }}"
    for name, type in (("u", "uint8"), ("s", "int8"))
    for lanes in LANES
)


def run_lanes(target: str, weights: list[int], activations: list[int], kind: str = "u") -> list[int]:
    lanes = len(weights)
    out = np.zeros(lanes // 4 + 1, np.int32)
    w = np.array(weights, np.int16).astype(np.uint8 if kind == "u" else np.int8)
    arguments = [out, w, np.array(activations, np.int8), np.zeros(lanes // 4, np.int32)]
    load(target, LANES_TEXT)(f"{kind}{lanes}", arguments, 1)
    return out.tolist()


@pytest.mark.parametrize("kind", ["u", "s"])
@targets
def test_groups_are_neighbours(target: str, kind: str) -> None:
    """Lanes 4j..4j+3 go into lane j; taking every fourth one would give [828, 938, 1048, 1158]."""
    activations = [1] * 4 + [10] * 4 + [100] * 4 + [-1] * 4
    assert run_lanes(target, [*range(16)], activations, kind) == [6, 220, 3800, -54, 3972]


@pytest.mark.parametrize("lanes", [lanes for lanes in LANES if lanes % 16 == 0])
@targets
def test_groups_are_neighbours_in_every_width(target: str, lanes: int) -> None:
    repeats = lanes // 16
    out = run_lanes(target, [*range(16)] * repeats, ([1] * 4 + [10] * 4 + [100] * 4 + [-1] * 4) * repeats)
    assert out == [*[6, 220, 3800, -54] * repeats, 3972 * repeats]


@pytest.mark.parametrize("kind", ["u", "s"])
@targets
def test_sixty_four_lanes(target: str, kind: str) -> None:
    out = run_lanes(target, [*range(64)], [i % 7 - 3 for i in range(64)], kind)
    assert out == [-4, 11, -14, -9, 40, -70, 158, -172, 95, -70, -9, 96, -154, 326, -340, 179, 63]


@pytest.mark.parametrize("lanes", LANES)
@targets
def test_each_lane_counts_once_and_in_its_place(target: str, lanes: int) -> None:
    for place in range(0, lanes, max(1, lanes // 8)):
        weights, activations = [0] * lanes, [7] * lanes
        weights[place], activations[place] = 255, -128
        wanted = [0] * (lanes // 4)
        wanted[place // 4] = 255 * -128
        assert run_lanes(target, weights, activations) == [*wanted, 255 * -128]


@targets
def test_random_blocks(target: str) -> None:
    """Weights up to 128, and all of them, against activations that hold -128: blocks of 64 lanes, a work item each."""
    blocks = 200
    random = np.random.default_rng(7)
    text = """@Kernel static void blocks(int32[] out, uint8[] w, int8[] x) {
        uint32 i = KernelThread.x();
        out.vstore(i * 16, w.vload<64>(i * 64).dotAccum(x.vload<64>(i * 64), Vector<int32,16>(0)));
    }"""
    for most in (128, 255):
        w = random.integers(0, most + 1, blocks * 64).astype(np.uint8)
        x = random.integers(-128, 128, blocks * 64).astype(np.int8)
        w[::5], x[::7] = most, -128
        out = np.zeros(blocks * 16, np.int32)
        load(target, text)("blocks", [out, w, x], blocks)
        assert (out == (w.astype(np.int32) * x).reshape(-1, 4).sum(1)).all()


@targets
def test_long_chains_stay_exact(target: str) -> None:
    """128 steps of two-bit weights: 508 a step would not stay in 16 bits."""
    text = """@Kernel static void chain(int32[] out, uint8[] w, int8[] x) {
        Vector<int32,16> acc = Vector<int32,16>(0);
        for (int32 k = 0; k < 128; k++) { acc = w.vload<64>(0).dotAccum(x.vload<64>(0), acc); }
        out.vstore(0, acc);
    }"""
    out = np.zeros(16, np.int32)
    load(target, text)("chain", [out, np.full(64, 2, np.uint8), np.full(64, 127, np.int8)], 1)
    assert out.tolist() == [128 * 4 * 2 * 127] * 16


@targets
def test_sums_around_a_dot_wrap(target: str) -> None:
    """Adding, subtracting and negating a product is no place for saturation either."""
    text = """@Kernel static void around(int32[] out, int8[] w, int8[] x, int32[] acc) {
        uint32 i = KernelThread.x(); Vector<int8,4> p = w.vload<4>(0); Vector<int8,4> q = x.vload<4>(0); int32 a = acc[i];
        out[i * 5] = a - p.dot(q); out[i * 5 + 1] = -p.dot(q) + a; out[i * 5 + 2] = p.dot(q, a) - a;
        out[i * 5 + 3] = p.dot(q, -a); out[i * 5 + 4] = p.dot(q, p.dot(q, a));
    }"""
    dot = 4 * 16384
    ends = [2147483647, -2147483648, 0, -1, 5]
    out = np.zeros(25, np.int32)
    load(target, text)("around", [out, np.full(4, -128, np.int8), np.full(4, -128, np.int8), np.array(ends, np.int32)], 5)

    def wrap(number: int) -> int:
        return (number + 2**31) % 2**32 - 2**31

    assert out.tolist() == [wrap(n) for a in ends for n in (a - dot, a - dot, dot, dot - a, a + 2 * dot)]


@targets
def test_tail_lanes_padded_with_zeros_count_nothing(target: str) -> None:
    """68 elements of -1 times 1: a step of 64 lanes and one of 4."""
    text = """@Kernel static void tail(int32[] out, int8[] w, int8[] x) {
        out[0] = w.vload<4>(64).dot(x.vload<4>(64), w.vload<64>(0).dotSum(x.vload<64>(0), 0));
    }"""
    out = np.zeros(1, np.int32)
    load(target, text)("tail", [out, np.full(68, -1, np.int8), np.ones(68, np.int8)], 1)
    assert out[0] == -68


@targets
def test_nibbles(target: str) -> None:
    """All 256 bytes, both nibbles, read every way: a shift of signed bytes copies the sign, one of unsigned bytes does not."""
    text = """@Kernel static void nibbles(int8[] s, uint8[] u, int8[] m, int8[] l, int8[] raw) {
        s.vstore(0, raw.vload<256>(0) >> 4); u.vstore(0, raw.vload<256>(0).asUnsigned() >> 4);
        m.vstore(0, (raw.vload<256>(0) >> 4) & 15); l.vstore(0, raw.vload<256>(0) & 15);
    }"""
    raw = np.arange(256, dtype=np.uint8)
    s, u, m, low = (np.zeros(256, kind) for kind in (np.int8, np.uint8, np.int8, np.int8))
    load(target, text)("nibbles", [s, u, m, low, raw.view(np.int8)], 1)
    assert (s == raw.view(np.int8) >> 4).all()
    assert (u == raw >> 4).all()
    assert (m == raw >> 4).all()
    assert (low == raw & 15).all()
    assert (s[0xF0], u[0xF0], m[0xF0], s[0x8F], u[0x8F], m[0x8F], low[0x8F]) == (-1, 15, 15, -8, 8, 8, 15)


@targets
def test_products_of_bytes_as_wide_as_bytes(target: str) -> None:
    """`a * b` keeps 8 bits; differences and sums of unsigned bytes need widening first."""
    text = """@Kernel static void wide(int8[] p, int32[] d, int8[] a, uint8[] u, uint8[] v) {
        p.vstore(0, a.vload<4>(0) * a.vload<4>(4));
        Vector<int16,4> x = u.vload<8>(0).widenLo().asSigned(); Vector<int16,4> y = v.vload<8>(0).widenLo().asSigned();
        d[0] = (x - y).abs().sum(); d[1] = (int32) (u.vload<4>(0) - v.vload<4>(0)).sum();
    }"""
    p, d = np.zeros(4, np.int8), np.zeros(2, np.int32)
    a = np.array([100, -128, 127, 16, 100, -128, 127, 17], np.int8)
    u, v = (np.array([*bytes_, 0, 0, 0, 0], np.uint8) for bytes_ in ([0, 255, 10, 200], [200, 0, 20, 190]))
    load(target, text)("wide", [p, d, a, u, v], 1)
    assert p.tolist() == [16, 0, 1, 16]
    assert d.tolist() == [475, 56 + 255 + 246 + 10]
