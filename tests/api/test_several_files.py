"""Files that use each other's classes: one module, one program, each place in its own file."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from cajeta_dot import BoundsError, CompileError, DivisionError, Module, compile_file

HALVES = """// The first lines make offsets differ.
package codec;

class Halves {
    static final int32 BITS = 10;
    static final int32 SPAN = 1 << BITS;

    static int32 mantissa(int32 bits) { return bits & SPAN - 1; }

    static float32 widen(int32 bits) { return (float32) (mantissa(bits) + 3 * (bits >> BITS)) / 2.0f; }

    static int32 pick(int8[] from, int32 at) { return from[at] / from[at + 1]; }

    @Device
    static int32 read(KernelBuffer<int8> from, int64 at) { return (int32) from[at] & 255; }
}
"""
DECODE = """package model;

import codec.Halves;

class Decode {
    static final int32 COUNT = Halves.SPAN / 512;

    @Kernel
    static void decode(KernelBuffer<float32> out, KernelBuffer<int8> packed, uint32 n) {
        uint32 i = KernelThread.globalIdX();
        if (i < n) {
            Vector<int32,COUNT> wide = Vector<int32,Halves.SPAN / 512>(0, Halves.read(packed, i * 2 + 1) << 8);
            out[i] = Halves.widen(Halves.read(packed, i * 2) | wide[1]);
        }
    }

    static int32 forward(int8[] from, int32 at) { return Halves.pick(from, at); }
}
"""


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    for name, text in (("Decode.cj", DECODE), ("Halves.cj", HALVES)):
        (tmp_path / name).write_text(text)
    return [tmp_path / "Decode.cj", tmp_path / "Halves.cj"]


@pytest.mark.parametrize("target", ["reference", "x86-scalar"])
@pytest.mark.parametrize("turned", [False, True])
def test_classes_are_seen_from_all_files(paths: list[Path], target: str, turned: bool) -> None:
    module = compile_file(paths[::-1] if turned else paths, target=target)
    assert isinstance(module, Module)
    assert module.filename == str(paths[turned])
    packed = np.array([0, 60, -1, -1, 1, 0], np.int8)
    out = np.zeros(3, np.float32)
    module["decode"](out, packed, 3, threads=3)
    wanted = [(bits & 1023) + 3 * (bits >> 10) for bits in packed.view(np.uint16).tolist()]
    assert out.tolist() == [bits / 2 for bits in wanted]
    assert module["Halves.widen"](0x3C01) == (1 + 3 * 15) / 2
    assert {"Decode.decode", "Decode.forward", "Halves.widen", "Halves.mantissa", "Halves.pick"} <= set(module.functions)
    again = pickle.loads(pickle.dumps(module))
    assert set(again.functions) == set(module.functions)


@pytest.mark.parametrize("target", ["reference", "x86-scalar"])
def test_errors_at_run_time_name_the_file(paths: list[Path], target: str) -> None:
    module = compile_file(paths, target=target)
    line = HALVES.split("\n").index(next(line for line in HALVES.split("\n") if "pick" in line)) + 1
    with pytest.raises(DivisionError) as division:
        module["forward"](np.array([1, 0], np.int8), 0)
    with pytest.raises(BoundsError) as bounds:
        module["forward"](np.array([1, 0], np.int8), 1)
    for caught in (division.value, bounds.value):
        assert (caught.file, caught.line) == (str(paths[1]), line)
    with pytest.raises(BoundsError) as read:
        module["decode"](np.zeros(2, np.float32), np.zeros(2, np.int8), 2, threads=2)
    assert (read.value.file, HALVES.split("\n")[read.value.line - 1].strip()[:16]) == (str(paths[1]), "static int32 rea")


def test_one_file_alone_lacks_the_other(paths: list[Path]) -> None:
    with pytest.raises(CompileError) as caught:
        compile_file(paths[0], target="reference")
    assert {d.code for d in caught.value.diagnostics if d.severity == "error"} >= {"E0207"}
    assert "if `Halves` is in another file, name that file on the command line too" in str(caught.value)


def test_a_list_of_one_and_an_empty_one(paths: list[Path]) -> None:
    assert "Halves.widen" in compile_file([str(paths[1])], target="reference").functions
    with pytest.raises(ValueError, match="no file"):
        compile_file([], target="reference")
