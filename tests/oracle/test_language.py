"""Sentences of LANGUAGE.md on every target: the methods of `language-*.cj`, whose comments say what they store."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from cajeta_dot.run.compile import compile as compile_text
from cajeta_dot.run.errors import BoundsError

from .running import EXPANSION, GPU_TARGETS, TARGETS, as_kernel, load

TEXTS = {
    "Scalars": (Path(__file__).parent / "language-scalars.cj").read_text(encoding="ascii"),
    "Vectors": (Path(__file__).parent / "language-vectors.cj").read_text(encoding="ascii"),
}
RAW = np.array([0, 1, 127, 128, 200, 255, 0xD1, 0x90], np.uint8)
SLOTS = 12
_METHOD = re.compile(r"static void (\w+)\(int64\[\] out")
_STORED = re.compile(r"(out|real)\[(\d+)\] (?:#?=.*// )?is (\S+)$")
_LOG = re.compile(r"// log is (.+)$")


class Expected(NamedTuple):
    """What a method leaves behind; places that it does not mention are 0."""

    out: list[int]
    real: list[float]
    log: list[int]


def to_float(text: str) -> float:
    return float(Fraction(text)) if "/" in text else float(text)


def read_expectations(text: str) -> dict[str, Expected]:
    found: dict[str, Expected] = {}
    for line in text.splitlines():
        if method := _METHOD.search(line):
            found[method[1]] = Expected([0] * SLOTS, [0.0] * SLOTS, [0] * SLOTS)
        elif stored := _STORED.search(line):
            array, place, content = stored.groups()
            last = list(found.values())[-1]
            if array == "out":
                last.out[int(place)] = int(content)
            else:
                last.real[int(place)] = to_float(content)
        elif notes := _LOG.search(line):
            words = [int(word) for word in notes[1].split()]
            list(found.values())[-1].log[: len(words)] = words
        else:
            assert not re.search(r"// .*\bis \S+$", line) or line.startswith("//"), line
    return found


METHODS = {(owner, name): wanted for owner, text in TEXTS.items() for name, wanted in read_expectations(text).items()}


HOST_ONLY = ("ownership", "heapArrays", "results")


@pytest.mark.parametrize(("owner", "method"), METHODS)
@pytest.mark.parametrize("target", TARGETS)
def test_sentences(target: str, owner: str, method: str) -> None:
    out, real, log = np.zeros(SLOTS, np.int64), np.zeros(SLOTS), np.zeros(SLOTS, np.int64)
    text = TEXTS[owner]
    if target in GPU_TARGETS:
        if method in HOST_ONLY:
            pytest.skip("not for kernels: it allocates arrays, or calls itself")
        text = as_kernel(text, method).replace("static int32 note(", "@Device static int32 note(")
    load(target, text)(f"{owner}.{method}", [out, real, log, RAW.copy()], 1)
    wanted = METHODS[owner, method]
    assert out.tolist() == wanted.out
    np.testing.assert_array_equal(real, wanted.real)
    assert log.tolist() == wanted.log


# ---- kernels

WHERE = """
@Kernel static void where(int32[] out, uint32 width, uint32 height) {
    uint32 x = KernelThread.globalIdX(); uint32 y = Thread.globalIdY(); uint32 z = KernelThread.globalIdZ();
    uint32 at = ((z * height + y) * width + x) * 9;
    out[at] = (int32) Workgroup.x(); out[at + 1] = (int32) Workgroup.y(); out[at + 2] = (int32) Workgroup.z();
    out[at + 3] = (int32) KernelThread.x(); out[at + 4] = (int32) Thread.y(); out[at + 5] = (int32) KernelThread.z();
    out[at + 6] = (int32) Workgroup.dimX(); out[at + 7] = (int32) Workgroup.dimY(); out[at + 8] = (int32) Workgroup.dimZ();
}
"""


@pytest.mark.parametrize("target", [target for target in TARGETS if target != EXPANSION])
def test_coordinates_of_a_launch(target: str) -> None:
    grid, block = (2, 3, 2), (4, 1, 3)
    extent = [g * b for g, b in zip(grid, block, strict=True)]
    out = np.full(extent[0] * extent[1] * extent[2] * 9, -1, np.int32)
    compile_text(WHERE, target=target)["where"](out, extent[0], extent[1], grid=grid, block=block)
    z, y, x = np.meshgrid(*(np.arange(size) for size in reversed(extent)), indexing="ij")
    found = out.reshape(*reversed(extent), 9)
    for axis, place in enumerate((x, y, z)):
        assert (found[..., axis] == place // block[axis]).all()
        assert (found[..., 3 + axis] == place % block[axis]).all()
        assert (found[..., 6 + axis] == block[axis]).all()


UNALIGNED = """
@Kernel static void copy(int32[] out, int8[] in, int64 from, int64 to) {
    in.vstore(to, in.vload<32>(from) + 1);
    out[0] = in.vload<32>(from).dotSum(in.vload<32>(to), 0);
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_vectors_lie_at_any_element(target: str) -> None:
    for offset in (0, 1, 3, 17, 31):
        memory = np.arange(128, dtype=np.int8)
        part, out = memory[offset : offset + 96], np.zeros(1, np.int32)
        load(target, UNALIGNED)("copy", [out, part, 1, 37], 1)
        first = np.arange(offset + 1, offset + 33)
        assert memory[offset + 37 : offset + 69].tolist() == (first + 1).astype(np.int8).tolist()
        assert out[0] == (first * (first + 1).astype(np.int8).astype(int)).sum()
        assert memory[: offset + 37].tolist() == list(range(offset + 37))


BLOCKS = """
@Kernel static void sums(int32[] out, int8[] w, int8[] x) {
    uint32 row = KernelThread.globalIdX();
    int32 acc = 0;
    for (uint32 at = 0; at < 208; at += 16) { acc = w.vload<16>(row * 210 + at).dotSum(x.vload<16>(at), acc); }
    out[row] = acc;
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_blocks_need_not_be_a_multiple_of_anything(target: str) -> None:
    """210 bytes, as Q6_K has them; the last row ends where the array ends."""
    random = np.random.default_rng(9)
    w, x = (random.integers(-128, 128, count, np.int64).astype(np.int8) for count in (7 * 210 - 2, 208))
    out = np.zeros(7, np.int32)
    load(target, BLOCKS)("sums", [out, w, x], 7)
    rows = [w[210 * row : 210 * row + 208].astype(np.int64) for row in range(7)]
    assert out.tolist() == [int((row * x).sum()) for row in rows]


PADDED = """
@Kernel static void padded(int32[] out, INDEX[] at) {
    BlockPadded<int32,BLOCK,BY> s = shared int32[40];
    s[at[0]] = 7;
    s.vstore(at[0] - 3, s.vload<4>(at[0] - 3) + 1);
    out[0] = s[at[0]];
}
"""


@pytest.mark.parametrize("target", [t for t in TARGETS if t not in (EXPANSION, *GPU_TARGETS)])
@pytest.mark.parametrize(("block", "by"), [(1, 1), (1, 3), (2, 1 << 62), (64, 2**63 - 1), (2**64 - 1, 1), (1, 2**64 - 1)])
def test_places_of_a_padded_array_do_not_come_around(target: str, block: int, by: int) -> None:
    """1 + 2**63 blocks of one element and a padding of one would end where they began."""
    out = np.zeros(1, np.int32)
    for dtype, places in ((np.int64, (-(2**63), -(2**62), 2**62, 2**63 - 1)), (np.uint64, (2**63, 2**64 - 1))):
        text = PADDED.replace("INDEX", np.dtype(dtype).name).replace("BLOCK", str(block)).replace("BY", str(by))
        padded = compile_text(text, target=target)["padded"]
        for place in places:
            with pytest.raises(BoundsError, match="of an array of length 40"):
                padded(out, np.array([place], dtype), grid=1, block=1)
        if block > 4:
            padded(out, np.array([4], dtype), grid=1, block=1)
            assert out[0] == 8
