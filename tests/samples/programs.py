"""How each sample is called, and what must come out, computed by numpy on exact integers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cajeta_dot import Module
from tests.samples import quantized

SAMPLES = Path(__file__).parents[2] / "samples"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.cj"))
EDGES = (0, 1, 127, 128, 255)


def load_demo() -> ModuleType:
    """`samples/q4k_demo.py`, which is a script and no package."""
    spec = importlib.util.spec_from_file_location("q4k_demo", SAMPLES / "q4k_demo.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_bytes(random: np.random.Generator, *shape: int) -> NDArray[np.uint8]:
    """Random bytes, about a third of them at the ends of the ranges."""
    plain = random.integers(0, 256, shape, dtype=np.uint8)
    edges = random.choice(np.array(EDGES, np.uint8), shape)
    return np.where(random.random(shape) < 0.3, edges, plain).astype(np.uint8)


def run_dp4a(module: Module) -> None:
    out = np.full(6, 99, np.int32)
    module["registers"](out, grid=2, block=3)
    assert out.tolist() == [70, 170, 1025, -1240, 99, 99]


def run_signedness(module: Module) -> None:
    out = np.zeros(3, np.int32)
    weights = np.array([0, 5, 10, 15], np.uint8)
    activations = np.array([-127, -90, -53, -16], np.int8)
    module["both"](out, weights, activations, grid=1, block=1)
    assert out.tolist() == [-1220, 6460, 0]


def run_dot_accum(module: Module) -> None:
    random = np.random.default_rng(1)
    for rows, columns in ((1, 64), (3, 128), (5, 200), (2, 63), (4, 0)):
        w, x = make_bytes(random, rows, columns), make_bytes(random, columns).view(np.int8)
        y = np.full(rows + 1, 7, np.int32)
        module["rows"](y, w, x, rows, columns, threads=rows)
        expected = w.astype(np.int64) @ x.astype(np.int64)
        assert y.tolist() == [*expected.tolist(), 7]


def run_gemm_int8(module: Module) -> None:
    random = np.random.default_rng(2)
    for m, n, k in ((1, 1, 1), (3, 5, 70), (2, 4, 64), (4, 7, 31)):
        a, b = make_bytes(random, m, k), make_bytes(random, n, k).view(np.int8)
        c = np.full(m * n + 3, -1, np.int32)
        module["multiply"](c, a, b, m, n, k, grid=(2, m), block=(2, 1))
        expected = a.astype(np.int64) @ b.astype(np.int64).T
        assert c.tolist() == [*expected.ravel().tolist(), -1, -1, -1]


def run_q4k_matvec(module: Module) -> None:
    y, expected = multiply_q4k(module, rows=5, blocks=3)
    assert np.abs(y - expected).max() <= 1e-6 * np.abs(expected).max()


def multiply_q4k(module: Module, rows: int, blocks: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The kernel's result and what the dequantized weights give in float64."""
    demo = load_demo()
    random = np.random.default_rng(3)
    w = demo.make_weights(rows, blocks, random)
    x, scales, sums = demo.quantize(random.standard_normal(256 * blocks).astype(np.float32))
    y = np.zeros(rows, np.float32)
    module["matvec"](y, w, x, scales, sums, rows, blocks, threads=rows)
    wide: NDArray[Any] = demo.dequantize(w).astype(np.float64)
    return y, wide @ (x.astype(np.float64) * np.repeat(scales, 256))


def run_q8_0_matvec(module: Module) -> None:
    random = np.random.default_rng(4)
    for rows, blocks in ((3, 4), (2, 5), (4, 1)):
        w, a = quantized.make_q8_0(rows, blocks, random), quantized.make_activations(32 * blocks, 32, random)
        y = np.zeros(rows, np.float32)
        module["matvec"](y, w, w.view(np.float16), a.x, a.scales, -128 * a.sums(4), rows, blocks, threads=rows)
        assert_close(y, quantized.dequantize_q8_0(w), a.values())


def run_q6k_matvec(module: Module) -> None:
    random = np.random.default_rng(5)
    rows, blocks = 3, 2
    w, a = quantized.make_q6k(rows, blocks, random), quantized.make_activations(256 * blocks, 256, random)
    y = np.zeros(rows, np.float32)
    module["matvec"](y, w, w.view(np.float16), a.x, a.scales, -32 * a.sums(4), rows, blocks, threads=rows)
    assert_close(y, quantized.dequantize_q6k(w), a.values())


def run_q4k_rows16(module: Module) -> None:
    random = np.random.default_rng(6)
    rows, blocks = 32, 2
    w, a = quantized.make_q4k(rows, blocks, random), quantized.make_activations(256 * blocks, 256, random)
    woven = quantized.interleave_rows(w)
    y = np.zeros(rows, np.float32)
    words, sums, groups = a.x.view(np.int32), a.sums(32), rows // 16
    module["matvec"](y, woven, woven.view(np.float16), words, a.scales, sums, groups, blocks, grid=groups, block=1)
    assert_close(y, quantized.dequantize_q4k(w), a.values())


def run_q4k_reduce(module: Module) -> None:
    random = np.random.default_rng(7)
    rows, blocks = 3, 2
    nibbles, scales = make_bytes(random, rows, blocks, 128), make_bytes(random, rows, blocks, 8) & 63
    x = make_bytes(random, 256 * blocks).view(np.int8)
    chunks = nibbles.reshape(rows, blocks, 4, 1, 32)
    values = np.concatenate([chunks & 15, chunks >> 4], axis=3).reshape(rows, blocks, 8, 32).astype(np.int64)
    expected = np.einsum("rbsi,bsi,rbs->r", values, x.reshape(blocks, 8, 32).astype(np.int64), scales.astype(np.int64))
    for name in ("perSubBlock", "perBlock"):
        y = np.zeros(rows, np.int32)
        module[name](y, nibbles, scales, x, rows, blocks, threads=rows)
        assert y.tolist() == expected.tolist()


def run_gemm_tiles(module: Module) -> None:
    random = np.random.default_rng(8)
    for m, n, k in ((1, 1, 1), (12, 32, 8), (13, 33, 5), (11, 64, 12)):
        a, b = make_bytes(random, m, k), make_bytes(random, k, n).view(np.int8)
        words, panels = quantized.pack_rows(a), quantized.pack_panels(b)
        c = np.full(m * n + 3, -1, np.int32)
        tiles = (panels.shape[0] + 1, -(-m // 12))  # one tile beside the matrix
        module["multiply"](c, words, panels, m, n, words.shape[1], grid=tiles, block=1)
        expected = a.astype(np.int64) @ b.astype(np.int64)
        assert c.tolist() == [*expected.ravel().tolist(), -1, -1, -1]


def assert_close(y: NDArray[np.float32], weights: NDArray[np.float64], x: NDArray[np.float64]) -> None:
    """Within float32 rounding of what the dequantized weights give, measured on the size of the products."""
    assert (np.abs(y - weights @ x) <= 1e-6 * (np.abs(weights) @ np.abs(x))).all()


RUNS = {
    "dp4a": run_dp4a,
    "signedness": run_signedness,
    "dot_accum": run_dot_accum,
    "gemm_int8": run_gemm_int8,
    "q4k_matvec": run_q4k_matvec,
    "q4k_reduce": run_q4k_reduce,
    "q4k_rows16": run_q4k_rows16,
    "q6k_matvec": run_q6k_matvec,
    "q8_0_matvec": run_q8_0_matvec,
    "gemm_tiles": run_gemm_tiles,
}
