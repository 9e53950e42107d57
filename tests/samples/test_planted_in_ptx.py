"""Faults put into the PTX of the samples: each is seen, by the machine or in the result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from cajeta_dot import BoundsError, KernelError, compile_file
from cajeta_dot.backends.nvptx import NvptxBackend
from cajeta_dot.backends.ptx.parse import PtxError
from cajeta_dot.record import replace

from . import programs

if TYPE_CHECKING:
    from cajeta_dot.backends import Artifact

# What is planted: the sample, what is replaced in its PTX by what, how it is seen, and by which words.
WRONG_RESULT = AssertionError
PLANTED: dict[str, tuple[str, str, str, type[Exception], str]] = {
    "weights read as signed": ("dot_accum", r"dp4a\.u32\.s32", "dp4a.s32.s32", WRONG_RESULT, ""),
    "activations read as unsigned": ("dot_accum", r"dp4a\.u32\.s32", "dp4a.u32.u32", WRONG_RESULT, ""),
    "operands exchanged": ("q4k_matvec", r"dp4a\.u32\.s32", "dp4a.s32.u32", WRONG_RESULT, ""),
    "one row too many": ("dot_accum", r"setp\.ge\.u32", "setp.gt.u32", BoundsError, "of `"),
    "four words at once where only one is aligned": (
        "dot_accum", r"ld\.global\.nc\.b32 (\s*)(%r\d+), \[(%rd\d+)\+4\]", r"ld.global.nc.v4.b32 \1{\2, _, _, _}, [\3+4]",
        KernelError, "not at a multiple of 16",
    ),
    "far behind the end": ("q4k_matvec", r"\[(%rd11)\+128\]", r"[\1+9999344]", BoundsError, "which has"),
    "an array of the other kind": ("q4k_matvec", r"ld\.global\.nc\.v4", "ld.shared.v4", KernelError, "space .global"),
    "a lane never set": ("q4k_matvec", r"mov\.b32 \s*%r61, 0;", "", KernelError, "`%r61` is read before it is written"),
    "a nibble taken from the wrong end": ("q4k_matvec", r"(shr\.u32 \s*%r45, %r25), 4", r"\1, 0", WRONG_RESULT, ""),
    "a sum without an addend": ("q4k_matvec", r"add\.s32 \s*(%r377), (%r376), %r373", r"mov.b32 \1, \2", WRONG_RESULT, ""),
    "rounded otherwise": ("q4k_matvec", r"cvt\.rn\.f32\.s32", "cvt.rz.f32.s32", PtxError, "unknown instruction"),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_faults_are_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, pattern, substitute, error, words = PLANTED[fault]
    emit = NvptxBackend.emit

    def plant(*arguments: object) -> Artifact:
        artifact = emit(*arguments)  # type: ignore[arg-type] - handed on as they are
        assert artifact
        changed, count = re.subn(pattern, substitute, str(artifact.content))
        assert count, "the PTX of the sample has changed: nothing is planted"
        return replace(artifact, content=changed)

    monkeypatch.setattr(NvptxBackend, "emit", plant)
    module = compile_file(programs.SAMPLES / f"{name}.cj", target="ptx-emulator")
    with pytest.raises(error) as caught:
        programs.RUNS[name](module)
    assert words in str(caught.value)
    assert words or caught.type is AssertionError
