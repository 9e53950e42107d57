"""Every sample compiles for every target without a word, and runs right on each that this machine can run."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray

from cajeta_dot import CompileError, Module, compile, compile_file, driver

from . import programs, quantized

TARGETS = [info for _, info in driver.all_targets() if info.name != "null"]
KINDS = {info.name: info.kinds for info in TARGETS}
ELSEWHERE = [info.name for info in TARGETS if not info.runs]
RUNNABLE = [info.name for info in TARGETS if info.runs and info.name != "x86-maddubs"]  # which is not exact


def compile_sample(name: str, target: str) -> Module:
    """The sample for a target, or a skip where this machine lacks what the target needs."""
    try:
        return compile_file(programs.SAMPLES / f"{name}.cj", target=target)
    except CompileError as error:
        skip_if_lacking(error)
        raise


def skip_if_lacking(error: CompileError) -> None:
    """Skip, if the error is that this machine lacks what the target needs."""
    lacking = [d.message for d in error.diagnostics if d.code == "E0601"]
    if lacking:
        pytest.skip(lacking[0])


def test_every_sample_has_a_run() -> None:
    assert sorted(programs.RUNS) == programs.NAMES


@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("name", programs.NAMES)
def test_sample_runs(name: str, target: str) -> None:
    programs.RUNS[name](compile_sample(name, target))


@pytest.mark.parametrize("name", programs.NAMES)
def test_sample_is_silent(name: str) -> None:
    module = compile_sample(name, "reference")
    assert [d.code for d in module.diagnostics if d.severity != "remark"] == []


@pytest.mark.parametrize("name", programs.NAMES)
def test_sample_begins_with_a_comment_that_teaches(name: str) -> None:
    text = (programs.SAMPLES / f"{name}.cj").read_text(encoding="utf-8")
    comment = re.match(r"/\*.*?\*/", text, re.S)
    assert comment
    assert len(comment[0].splitlines()) >= 10


@pytest.mark.parametrize("target", ELSEWHERE)
@pytest.mark.parametrize("name", programs.NAMES)
def test_sample_is_written_for_other_machines(name: str, target: str) -> None:
    module = compile_sample(name, target)
    assert [d.code for d in module.diagnostics if d.severity != "remark"] == []
    for kind in KINDS[target]:
        assert module.emit(kind)


@pytest.mark.parametrize("target", [target for target in RUNNABLE if target != "reference"])
def test_q4k_bits_are_the_same_on_every_target(target: str) -> None:
    """Float sums too: every operation is rounded once, in the same order."""
    y, _ = programs.multiply_q4k(compile_sample("q4k_matvec", target), rows=3, blocks=4)
    reference, _ = programs.multiply_q4k(compile_sample("q4k_matvec", "reference"), rows=3, blocks=4)
    assert y.tobytes() == reference.tobytes()


def test_q4k_format_is_ggufs() -> None:
    """The demo's dequantization, against which all is measured, agrees with the format's own library."""
    demo = programs.load_demo()
    w = demo.make_weights(4, 3, np.random.default_rng(5))
    theirs = dequantize(w.reshape(-1), GGMLQuantizationType.Q4_K).reshape(4, -1)
    assert np.allclose(demo.dequantize(w), theirs, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("kind", "make", "ours"),
    [
        (GGMLQuantizationType.Q8_0, quantized.make_q8_0, quantized.dequantize_q8_0),
        (GGMLQuantizationType.Q6_K, quantized.make_q6k, quantized.dequantize_q6k),
        (GGMLQuantizationType.Q4_K, quantized.make_q4k, quantized.dequantize_q4k),
    ],
)
def test_formats_are_ggufs(kind: GGMLQuantizationType, make: Any, ours: Any) -> None:
    """What the quantized samples are compared with agrees with the formats' own library."""
    w = make(4, 3, np.random.default_rng(5))
    theirs = dequantize(w.reshape(-1), kind).reshape(4, -1)
    assert np.allclose(ours(w), theirs, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("target", RUNNABLE[1:])
@pytest.mark.parametrize("name", ["q8_0_matvec", "q6k_matvec", "q4k_rows16"])
def test_float_bits_are_the_same_on_every_target(name: str, target: str) -> None:
    results = [run_floats(name, compile_sample(name, each)) for each in (target, "reference")]
    assert results[0] == results[1]


def run_floats(name: str, module: Module) -> bytes:
    """What a sample whose result is float32 writes, whatever its arguments are."""
    kept: list[bytes] = []
    original = programs.assert_close
    programs.assert_close = lambda y, weights, x: kept.append(y.tobytes())
    try:
        programs.RUNS[name](module)
    finally:
        programs.assert_close = original
    return b"".join(kept)


def test_q4k_main_job() -> None:
    """A 4096 x 4096 matrix: a few rows bit for bit as the reference, all rows as numpy within float rounding."""
    demo = programs.load_demo()
    random = np.random.default_rng(7)
    rows, blocks = 4096, 16
    w = demo.make_weights(rows, blocks, random)
    x, scales, sums = demo.quantize(random.standard_normal(256 * blocks).astype(np.float32))
    results: dict[str, NDArray[np.float32]] = {}
    for target in RUNNABLE:
        try:
            module = compile_file(programs.SAMPLES / "q4k_matvec.cj", target=target)
        except CompileError:
            continue  # not on this machine: the tests of the samples say so
        count = 8 if target == "reference" else rows
        results[target] = np.zeros(count, np.float32)
        module["matvec"](results[target], w[:count], x, scales, sums, count, blocks, threads=count)
    reference = results.pop("reference")
    assert results
    for target, y in results.items():
        assert y[:8].tobytes() == reference.tobytes(), target
        assert y.tobytes() == results["native"].tobytes(), target
    theirs = dequantize(w.reshape(-1), GGMLQuantizationType.Q4_K).reshape(rows, -1).astype(np.float64)
    expected = theirs @ (x.astype(np.float64) * np.repeat(scales, 256))
    assert np.abs(results["native"] - expected).max() <= 1e-5 * np.abs(expected).max()


SIXTY_FOUR = """
class Wide {
    @Kernel
    static void step(KernelBuffer<int32> acc, KernelBuffer<uint8> w, KernelBuffer<int8> x) {
        acc.vstore(0, w.vload<64>(0).dotAccum(x.vload<64>(0), acc.vload<16>(0)));
    }
}
"""


@pytest.mark.parametrize(
    ("target", "kind", "instruction", "count", "never"),
    [
        ("x86-vnni", "asm", r"vpdpbusd", 1, r"vpmaddwd|vpmull"),
        ("x86-avx2", "asm", r"vpmaddubsw", 4, r"vpdpbusd|zmm|\{%k"),
        ("nvptx", "ptx", r"dp4a\.u32\.s32", 16, r"\bmul\.|\bmad\."),
        ("aarch64-i8mm", "asm", r"\busdot\b", 4, r"\bs?mul"),
        ("aarch64-dotprod", "asm", r"\bsdot\b", 12, r"\bs?mul"),
        ("aarch64-neon", "asm", r"\bmul\b", 8, r"\busdot|\bsdot"),
        ("amdgcn", "asm", r"v_dot4_i32_iu8", 16, r"v_(mul|mad|perm)"),
        ("riscv64-zvqdotq", "asm", r"vqdotsu\.vv", 1, r"vmul|vwmul|vmacc"),
        ("wasm32-simd128", "asm", r"i32x4\.dot_i16x8_s", 8, r"i\d+x\d+\.(ext)?mul|relaxed_"),
        ("spirv", "spirv-asm", r"OpSUDot .*PackedVectorFormat4x8Bit", 16, r"OpIMul|AccSat"),
    ],
)
def test_64_lanes_take_the_fewest_instructions(target: str, kind: str, instruction: str, count: int, never: str) -> None:
    try:
        text = compile(SIXTY_FOUR, target=target).emit(kind)
    except CompileError as error:
        skip_if_lacking(error)
        raise
    assert isinstance(text, str)
    assert len(re.findall(instruction, text)) == count
    assert not re.search(never, text)
