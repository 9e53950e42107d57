"""Operands of the quantized samples as the formats lay them out, and what must come out, from dequantized weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[Any]  # of uint8
Floats = NDArray[np.float32]
Wide = NDArray[np.float64]


class Activations(NamedTuple):
    """int8 values, and a float32 scale for each `group` of them."""

    x: NDArray[np.int8]
    scales: Floats
    group: int

    def sums(self, count: int) -> NDArray[np.int32]:
        """The sum of every `count` values."""
        return self.x.reshape(-1, count).sum(axis=1, dtype=np.int32)

    def values(self) -> Wide:
        return self.x.astype(np.float64) * np.repeat(self.scales, self.group)


def make_activations(columns: int, group: int, random: np.random.Generator) -> Activations:
    x = random.integers(-128, 128, columns).astype(np.int8)
    x[: columns // 4] = random.choice(np.array([-128, -127, -1, 0, 1, 127], np.int8), columns // 4)
    return Activations(x, random.uniform(0.001, 0.1, columns // group).astype(np.float32), group)


def _set_halves(w: Bytes, at: int, random: np.random.Generator, scale: float) -> None:
    """A random float16 in every block, some of them negative, zero and subnormal."""
    numbers = (random.uniform(-1, 1, w.shape[:2]) * scale).astype("<f2")
    numbers.reshape(-1)[::5] = np.resize(np.array([0, 6e-8, -3e-5, 0.25], "<f2"), numbers.reshape(-1)[::5].shape)
    w[:, :, at : at + 2] = numbers[..., None].view(np.uint8).reshape(*w.shape[:2], 2)


def _read_halves(w: Bytes, at: int) -> Wide:
    return np.ascontiguousarray(w[:, :, at : at + 2]).view("<f2")[..., 0].astype(np.float64)


# ---- Q8_0: 34 bytes for 32 weights


def make_q8_0(rows: int, blocks: int, random: np.random.Generator) -> Bytes:
    w = random.integers(0, 256, (rows, blocks, 34), dtype=np.uint8)
    _set_halves(w, 0, random, 0.02)
    return w


def dequantize_q8_0(w: Bytes) -> Wide:
    values = _read_halves(w, 0)[..., None] * w[:, :, 2:].view(np.int8).astype(np.float64)
    return values.reshape(w.shape[0], -1)


# ---- Q6_K: 210 bytes for 256 weights


def make_q6k(rows: int, blocks: int, random: np.random.Generator) -> Bytes:
    w = random.integers(0, 256, (rows, blocks, 210), dtype=np.uint8)
    _set_halves(w, 208, random, 0.002)
    return w


def dequantize_q6k(w: Bytes) -> Wide:
    low = w[:, :, :128].reshape(*w.shape[:2], 2, 2, 32)
    high = w[:, :, 128:192].reshape(*w.shape[:2], 2, 1, 32)
    quarters = [
        (low[..., k % 2, :] & 15 if k < 2 else low[..., k % 2, :] >> 4) | (high[..., 0, :] >> (2 * k) & 3) << 4
        for k in range(4)
    ]
    q = np.stack(quarters, axis=3).astype(np.float64) - 32  # (rows, blocks, half, quarter, 32)
    scales = w[:, :, 192:208].view(np.int8).astype(np.float64).reshape(*w.shape[:2], 2, 4, 2)
    values = q.reshape(*w.shape[:2], 2, 4, 2, 16) * scales[..., None] * _read_halves(w, 208)[..., None, None, None, None]
    return values.reshape(w.shape[0], -1)


# ---- Q4_K: 144 bytes for 256 weights, and sixteen rows of it interleaved


def make_q4k(rows: int, blocks: int, random: np.random.Generator) -> Bytes:
    w = random.integers(0, 256, (rows, blocks, 144), dtype=np.uint8)
    _set_halves(w, 0, random, 0.02)
    _set_halves(w, 2, random, 0.02)
    return w


def decode_scales(w: Bytes) -> tuple[Bytes, Bytes]:
    """The eight scales and the eight minimums of every block, six bits each."""
    p, q, r = w[:, :, 4:8], w[:, :, 8:12], w[:, :, 12:16]
    scales = np.concatenate([p & 63, (r & 15) | (p >> 6 << 4)], axis=2)
    return scales, np.concatenate([q & 63, (r >> 4) | (q >> 6 << 4)], axis=2)


def dequantize_q4k(w: Bytes) -> Wide:
    scales, minimums = (part.astype(np.float64) for part in decode_scales(w))
    nibbles = w[:, :, 16:].reshape(*w.shape[:2], 4, 1, 32)
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=3).reshape(*w.shape[:2], 8, 32).astype(np.float64)
    d, dmin = _read_halves(w, 0)[..., None], _read_halves(w, 2)[..., None]
    return ((d * scales)[..., None] * values - (dmin * minimums)[..., None]).reshape(w.shape[0], -1)


def interleave_rows(w: Bytes) -> Bytes:
    """Q4_K blocks of 16 n rows as blocks of sixteen rows each: (n, blocks, 2368), as `q4k_rows16.cj` says."""
    groups, blocks = w.shape[0] // 16, w.shape[1]
    scales, minimums = decode_scales(w)

    def weave(part: Bytes, unit: int) -> Bytes:
        """`unit` bytes of each row, then the next."""
        split = part.reshape(groups, 16, blocks, -1, unit).transpose(0, 2, 3, 1, 4)
        return split.reshape(groups, blocks, -1)

    parts = [weave(w[:, :, 16:], 4), weave(scales, 1), weave(minimums, 1), weave(w[:, :, :2], 2), weave(w[:, :, 2:4], 2)]
    return np.ascontiguousarray(np.concatenate(parts, axis=2))


# ---- packed matrices


def pack_rows(a: Bytes) -> NDArray[np.int32]:
    """Rows of A filled up to whole words: (m, ceil(k / 4))."""
    padded = np.zeros((a.shape[0], -(-a.shape[1] // 4) * 4), np.uint8)
    padded[:, : a.shape[1]] = a
    return padded.view(np.int32)


def pack_panels(b: NDArray[np.int8]) -> NDArray[np.int8]:
    """B (k x n) in panels of 32 columns, four k side by side: (panels, steps, 32, 4)."""
    k, n = b.shape
    padded = np.zeros((-(-k // 4) * 4, -(-n // 32) * 32), np.int8)
    padded[:k, :n] = b
    return np.ascontiguousarray(padded.reshape(-1, 4, padded.shape[1] // 32, 32).transpose(2, 0, 3, 1))
