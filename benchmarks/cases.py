"""The kernels that are timed, by name. A case is made when its turn comes, so that its arrays are alone in the caches."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import cajeta_dot as cj
from benchmarks.peers import add_optional_peers
from benchmarks.sides import REPEATS, SAMPLES, Case, Peers, align, make_runs
from tests.samples import quantized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.sides import Array

DOTS = """
@Kernel public static void us(KernelBuffer<int32> y, KernelBuffer<uint8> w, KernelBuffer<int8> x, int64 n) {
    Vector<int32,16> acc = Vector<int32,16>(0);
    for (int64 k = 0; k + 64 <= n; k += 64) { acc = w.vload<64>(k).dotAccum(x.vload<64>(k), acc); }
    y[KernelThread.globalIdX()] = acc.sum();
}
@Kernel public static void ss(KernelBuffer<int32> y, KernelBuffer<int8> w, KernelBuffer<int8> x, int64 n) {
    Vector<int32,16> acc = Vector<int32,16>(0);
    for (int64 k = 0; k + 64 <= n; k += 64) { acc = w.vload<64>(k).dotAccum(x.vload<64>(k), acc); }
    y[KernelThread.globalIdX()] = acc.sum();
}
@Kernel public static void four(KernelBuffer<int32> y, KernelBuffer<int8> w, KernelBuffer<int8> x, int64 n) {
    int32 acc = 0;
    for (int64 k = 0; k + 4 <= n; k += 4) { acc = w.vload<4>(k).dot(x.vload<4>(k), acc); }
    y[KernelThread.globalIdX()] = acc;
}
"""
ELSEWHERE = 2.92  # what one sum a block instead of eight was once said to be worth, without machine and size
SAXPY = """
@Kernel public static void saxpy(KernelBuffer<float32> y, KernelBuffer<float32> x, float32 a, uint32 n) {
    uint32 i = KernelThread.globalIdX();
    if (i < n) { y[i] = a * x[i] + y[i]; }
}
"""


def list_cases(c: Peers) -> Iterator[tuple[str, Callable[[], Case]]]:
    """All cases: what the row is called, and what makes it."""
    for size, times, label in ((4096, 128, "4 KiB"), (256 << 10, 64, "256 KiB")):
        for kind in ("us", "ss", "four"):
            yield f"dot {kind} {label}", partial(dot, c, kind, size, times)
    yield "dot_accum, 128 x 4096", partial(dot_rows, c)
    yield "saxpy 512 KiB", partial(saxpy, c)
    for rows, label in ((128, "288 KiB"), (2048, "5 MiB"), (4096, "9 MiB")):
        yield f"Q4_K {label}", partial(q4k, c, rows)
        yield f"Q4_K 16 rows {label}", partial(q4k_rows16, c, rows)
    yield "Q4_K once a block", partial(reduce, c, "perBlock")
    yield "Q4_K once a sub-block", partial(reduce, c, "perSubBlock")
    for name in ("perBlock", "matvec"):
        yield f"avx2 on nibbles, {name}", partial(avx2_on_nibbles, name)
    yield "Q8_0", partial(plain_format, c, "q8_0")
    yield "Q6_K", partial(plain_format, c, "q6k")
    for m, n, k in ((264, 256, 256), (1032, 1024, 1024)):
        yield f"GEMM {m}x{n}x{k}", partial(gemm, c, m, n, k)
    for k in (256, 4096):
        yield f"gemm_int8 264x256x{k}", partial(gemm_by_dots, c, k)
    yield "dp4a", dp4a
    yield "signedness", signedness
    for launches in (4, 40):
        yield f"Q4_K 5 MiB x {launches}, 2 threads", partial(two_threads, c, launches)


# ---- dot products and one output an item


def dot(c: Peers, kind: str, size: int, times: int) -> Case:
    random = np.random.default_rng(1)
    w, x = (align(random.integers(0, 256, size, dtype=np.uint8)) for _ in range(2))
    weights, v, signs = (w, x.view(np.int8), "us") if kind == "us" else (w.view(np.int8), x.view(np.int8), "ss")
    y, z = cj.empty(times, np.int32), cj.empty(times, np.int32)
    peers = c.bind(
        C8=(f"repeat_dot_{signs}_vnni", z, weights, v, size, times),
        plain=(f"repeat_dot_{signs}_plain", z, weights, v, size, times),
    )
    if kind == "us":
        add_optional_peers("dot", peers, REPEATS * times, z, weights, v)
    runs = make_runs(DOTS, kind, y, weights, v, size, grid=(times // 64, 1), block=64)
    return Case(*runs, peers, 2 * size * times, y, z)


def dot_rows(c: Peers) -> Case:
    rows, columns = 128, 4096
    random = np.random.default_rng(8)
    w, x = (align(random.integers(0, 256, count, dtype=np.uint8)) for count in (rows * columns, columns))
    y, z = cj.empty(rows, np.int32), cj.empty(rows, np.int32)
    peers = c.bind(C8=("dot_rows_vnni", z, w, x, rows, columns))
    arguments = y, w, x.view(np.int8), rows, columns
    runs = make_runs(SAMPLES / "dot_accum.cj", "rows", *arguments, grid=(rows // 64, 1), block=64)
    return Case(*runs, peers, 2 * rows * columns, y, z)


def saxpy(c: Peers) -> Case:
    count = 65536
    random = np.random.default_rng(2)
    x, y = (align(random.standard_normal(count).astype(np.float32)) for _ in range(2))
    peers = c.bind(gcc=("saxpy", y, x, 0.5, count))  # on the same arrays: where they lie to each other matters
    runs = make_runs(SAXPY, "saxpy", y, x, 0.5, count, grid=(count // 1024, 1), block=1024)
    return Case(*runs, peers, 2 * count, y, y)


# ---- quantized formats


class Q4K(NamedTuple):
    """A Q4_K matrix of `rows` by 4096 and what it is multiplied by."""

    w: Array
    x: Array
    scales: Array
    sums: Array
    rows: int
    blocks: int


def make_q4k(rows: int) -> Q4K:
    random = np.random.default_rng(3)
    w = align(quantized.make_q4k(rows, 16, random))
    a = quantized.make_activations(4096, 256, random)
    return Q4K(w, align(a.x), align(a.scales), align(a.sums(32)), rows, 16)


def q4k_peers(c: Peers, z: Array, operands: Q4K) -> dict[str, Any]:
    names = {"lanes": "q4k_vnni", "pairs": "q4k_pairs_vnni", "per_sub": "q4k_sub_vnni", "rows16": "q4k_rows16_vnni"}
    w, *others = operands
    woven = align(quantized.interleave_rows(w))
    return c.bind(**{label: (name, z, woven if label == "rows16" else w, *others) for label, name in names.items()})


def q4k(c: Peers, rows: int) -> Case:
    operands = make_q4k(rows)
    y, z = cj.empty(rows, np.float32), cj.empty(rows, np.float32)
    runs = make_runs(SAMPLES / "q4k_matvec.cj", "matvec", y, *operands, grid=(rows // 64, 1), block=64)
    return Case(*runs, q4k_peers(c, z, operands), 2 * rows * 4096, y, z)


def q4k_rows16(c: Peers, rows: int) -> Case:
    operands = make_q4k(rows)
    y, z = cj.empty(rows, np.float32), cj.empty(rows, np.float32)
    woven = align(quantized.interleave_rows(operands.w))
    arguments = y, woven, woven.view(np.float16), operands.x.view(np.int32), *operands[2:4], rows // 16, operands.blocks
    runs = make_runs(SAMPLES / "q4k_rows16.cj", "matvec", *arguments, grid=(1, 1), block=rows // 16)
    return Case(*runs, q4k_peers(c, z, operands), 2 * rows * 4096, y, z)


def make_nibbles(rows: int) -> tuple[Any, ...]:
    """What `q4k_reduce.cj` takes behind the result."""
    random = np.random.default_rng(4)
    nibbles = align(random.integers(0, 256, (rows, 16, 128), dtype=np.uint8))
    scales = align(random.integers(0, 64, (rows, 16, 8), dtype=np.uint8))
    return nibbles, scales, align(random.integers(-128, 128, 4096).astype(np.int8)), rows, 16


def reduce(c: Peers, kernel: str) -> Case:
    """One of the two kernels beside both of them in C, and beside the other."""
    rows = 128
    arguments = make_nibbles(rows)
    y, z = cj.empty(rows, np.int32), cj.empty(rows, np.int32)
    peers = c.bind(C_block=("reduce_block_vnni", z, *arguments), C_sub=("reduce_sub_vnni", z, *arguments))
    path = SAMPLES / "q4k_reduce.cj"
    launch: dict[str, Any] = {"grid": (rows // 64, 1), "block": 64}
    other = "perSubBlock" if kernel == "perBlock" else "perBlock"
    label = f"perSubBlock(elsewhere_{ELSEWHERE})" if kernel == "perBlock" else other
    peers[label], _ = make_runs(path, other, z, *arguments, **launch)
    return Case(*make_runs(path, kernel, y, *arguments, **launch), peers, 2 * rows * 4096, y, z)


def avx2_on_nibbles(kernel: str) -> Case:
    """The target that is exact for all bytes beside the one that is only for small weights, which nibbles are."""
    rows = 128
    operands: tuple[Any, ...] = make_q4k(rows) if kernel == "matvec" else make_nibbles(rows)
    path = SAMPLES / ("q4k_matvec.cj" if kernel == "matvec" else "q4k_reduce.cj")
    y, z = (cj.empty(rows, np.float32 if kernel == "matvec" else np.int32) for _ in range(2))
    launch: dict[str, Any] = {"grid": (rows // 64, 1), "block": 64}
    other, _ = make_runs(path, kernel, z, *operands, **launch, target="x86-maddubs")
    runs = make_runs(path, kernel, y, *operands, **launch, target="x86-avx2")
    return Case(*runs, {"maddubs": other}, 2 * rows * 4096, y, z)


def plain_format(c: Peers, name: str) -> Case:
    make, group, start, blocks = {
        "q8_0": (quantized.make_q8_0, 32, -128, 128),
        "q6k": (quantized.make_q6k, 256, -32, 16),
    }[name]
    rows = 128
    random = np.random.default_rng(5)
    w = align(make(rows, blocks, random))
    a = quantized.make_activations(group * blocks, group, random)
    x, scales, starts = align(a.x), align(a.scales), align(start * a.sums(4))
    y, z = cj.empty(rows, np.float32), cj.empty(rows, np.float32)
    peers = c.bind(plain=(f"{name}_plain", z, w, x, scales, rows, blocks))
    arguments = y, w, w.view(np.float16), x, scales, starts, rows, blocks
    runs = make_runs(SAMPLES / f"{name}_matvec.cj", "matvec", *arguments, grid=(rows // 64, 1), block=64)
    return Case(*runs, peers, 2 * rows * group * blocks, y, z)


# ---- matrix products; m is the next multiple of the tiles of all sides, 8 and 12 rows


def make_matrices(m: int, n: int, k: int) -> tuple[Array, Array]:
    random = np.random.default_rng(6)
    return random.integers(0, 256, (m, k), dtype=np.uint8), random.integers(-128, 128, (k, n)).astype(np.int8)


def gemm(c: Peers, m: int, n: int, k: int) -> Case:
    repeats = max(1, 2**30 // (m * n * k))
    a, b = make_matrices(m, n, k)
    words, panels = align(quantized.pack_rows(a)), align(quantized.pack_panels(b))
    y, z = cj.empty((m, n), np.int32), cj.empty((m, n), np.int32)
    arguments = words, panels, m, n, k // 4
    peers = c.bind(repeats, C12x32=("gemm_vnni", z, *arguments))
    add_optional_peers("gemm", peers, repeats, z, align(a), align(b), panels)
    launch: dict[str, Any] = {"grid": (1, m // 12), "block": (n // 32, 1), "repeats": repeats}
    runs = make_runs(SAMPLES / "gemm_tiles.cj", "multiply", y, *arguments, **launch)
    return Case(*runs, peers, 2 * m * n * k, y, z, repeats)


def gemm_by_dots(c: Peers, k: int) -> Case:
    m, n, repeats = 264, 256, max(1, 2**14 // k)
    a, b = make_matrices(m, n, k)
    y, z = cj.empty((m, n), np.int32), cj.empty((m, n), np.int32)
    words, panels = align(quantized.pack_rows(a)), align(quantized.pack_panels(b))
    peers = c.bind(repeats, C12x32=("gemm_vnni", z, words, panels, m, n, k // 4))
    launch: dict[str, Any] = {"grid": (1, m), "block": (n // 4, 1), "repeats": repeats}
    runs = make_runs(SAMPLES / "gemm_int8.cj", "multiply", y, align(a), align(b.T), m, n, k, **launch)
    return Case(*runs, peers, 2 * m * n * k, y, z, repeats)


# ---- the small samples, for what checks cost


def dp4a() -> Case:
    out = cj.empty(4, np.int32)
    runs = make_runs(SAMPLES / "dp4a.cj", "registers", out, grid=(1, 1), block=1)
    return Case(*runs, {}, 32, out, out)


def signedness() -> Case:
    out = cj.empty(2, np.int32)
    w, x = np.array([0, 5, 10, 15], np.uint8), np.array([-127, -90, -53, -16], np.int8)
    runs = make_runs(SAMPLES / "signedness.cj", "both", out, w, x, grid=(1, 1), block=1)
    return Case(*runs, {}, 16, out, out)


# ---- threads


def two_threads(c: Peers, launches: int) -> Case:
    """The same launch by one thread and by two; by the wall's clock, so the machine should have nothing else to do."""
    operands = make_q4k(2048)
    y, z = cj.empty(operands.rows, np.float32), cj.empty(operands.rows, np.float32)
    launch: dict[str, Any] = {"grid": (operands.rows // 64, 1, launches), "block": 64}
    two, unchecked, one = (
        cj.compile_file(SAMPLES / "q4k_matvec.cj", num_threads=threads, checks=checks)["matvec"]
        for threads, checks in ((2, True), (2, False), (1, True))
    )
    peers = c.bind(1, C_2_threads=("q4k_two_vnni", z, *operands, launches))
    peers |= c.bind(launches, C_1_thread=("q4k_vnni", z, *operands))
    return Case(
        lambda: two(y, *operands, **launch),
        lambda: unchecked(y, *operands, **launch),
        {"1_thread": lambda: one(z, *operands, **launch), **peers},
        2 * operands.rows * 4096,
        y,
        z,
        launches,
        time.perf_counter,
    )
