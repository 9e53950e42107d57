"""The main job on real input: a Q4_K matrix times int8 activations on this machine's CPU, checked against numpy.

python samples/q4k_demo.py [rows] [columns]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import cajeta_dot as cj

SOURCE = Path(__file__).with_name("q4k_matvec.cj")
WEIGHTS, BYTES = 256, 144  # of one block


def make_weights(rows: int, blocks: int, random: np.random.Generator) -> NDArray[np.uint8]:
    """Blocks of random bits with sane float16 scales: (rows, blocks, 144)."""
    w = random.integers(0, 256, (rows, blocks, BYTES), dtype=np.uint8)
    scales = random.uniform(0.5, 1.5, (rows, blocks, 2)) * (0.01, 0.02)
    w[:, :, :4] = scales.astype("<f2").view(np.uint8).reshape(rows, blocks, 4)
    return w


def quantize(x: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int32]]:
    """Activations as the kernel takes them: int8 values, a scale for each 256, the sum of each 32."""
    whole = x.reshape(-1, WEIGHTS)
    scales = (np.abs(whole).max(axis=1) / 127).astype(np.float32)
    q = np.rint(whole / scales[:, None]).astype(np.int8)
    return q.reshape(-1), scales, q.reshape(-1, 32).sum(axis=1, dtype=np.int32)


def dequantize(w: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The weights as float32, by the format's definition: (rows, columns)."""
    d, dmin = (w[:, :, at : at + 2].copy().view("<f2").astype(np.float32) for at in (0, 2))
    p, q, r = w[:, :, 4:8], w[:, :, 8:12], w[:, :, 12:16]
    scales = np.concatenate([p & 63, (r & 15) | (p >> 6 << 4)], axis=2).astype(np.float32)
    minimums = np.concatenate([q & 63, (r >> 4) | (q >> 6 << 4)], axis=2).astype(np.float32)
    nibbles = w[:, :, 16:].reshape(*w.shape[:2], 4, 1, 32)
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=3).reshape(*w.shape[:2], 8, 32).astype(np.float32)
    whole = (d * scales)[..., None] * values - (dmin * minimums)[..., None]
    return whole.reshape(w.shape[0], -1)


def main(rows: int = 4096, columns: int = 4096) -> int:
    random = np.random.default_rng(1)
    blocks = columns // WEIGHTS
    w = make_weights(rows, blocks, random)
    x, scales, sums = quantize(random.standard_normal(columns).astype(np.float32))
    module = cj.compile_file(SOURCE)
    matvec = module["matvec"]
    y = np.zeros(rows, np.float32)
    matvec(y, w, x, scales, sums, rows, blocks, threads=rows)

    start = time.perf_counter()
    matvec(y, w, x, scales, sums, rows, blocks, threads=rows)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    expected = dequantize(w).astype(np.float64) @ (x.astype(np.float64) * np.repeat(scales, WEIGHTS))
    numpys = time.perf_counter() - start

    error = float(np.abs(y - expected).max() / np.abs(expected).max())
    print(f"Q4_K matrix of {rows} x {columns} times int8 activations")
    became = (f"  line {c.line}: {c.lanes} lanes {c.signs} became {c.instruction} ({c.form})" for c in module.choices)
    print("\n".join(dict.fromkeys(became)))  # those of a method that is called twice are there twice
    print(f"  cajeta-dot {1e3 * ours:.2f} ms, numpy (dequantize, then multiply) {1e3 * numpys:.2f} ms")
    print(f"  largest difference from numpy in float64: {error:.1e} of the largest value")
    print("  ok" if error < 1e-5 else "  WRONG")
    return int(error >= 1e-5)


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:3])))
