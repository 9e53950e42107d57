"""Kernels whose items along x are done at once: the bits, the errors and their order are those of items done one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cajeta_dot import BoundsError, Module, compile, driver
from cajeta_dot.backends import Options
from cajeta_dot.run.errors import KernelError
from tests.llvm.programs import EXACT

SAXPY = "@Kernel void k(KernelBuffer<float32> y, KernelBuffer<float32> x, float32 a, {n} n) {{ {body} }}"
ITEM = "uint32 i = KernelThread.globalIdX(); "
# Each with a condition or without, with indexes that grow, shrink, stay, wrap, or depend on what is read.
BODIES = {
    "saxpy": ITEM + "if (i < n) { y[i] = a * x[i] + y[i]; }",
    "no condition": ITEM + "y[i] = a * x[i] + y[i];",
    "less or equal": ITEM + "if (i <= n) { y[i] = x[i] - a; }",
    "turned round": ITEM + "if (n > i) { y[i] = x[i] / a; }",
    "offset": ITEM + "if (i + 1 < n) { y[i] = x[i + 1] * y[i + 1]; }",
    "back to front": ITEM + "if (i < n) { y[(n - 1) - i] = x[i]; }",
    "step": ITEM + "if (i < n) { y[2 * i] = x[3 * i] + a; }",
    "two stores": ITEM + "if (i < n) { y[i] = x[i]; y[i + 3] = a; }",
    "branch": ITEM + "if (i < n) { if (x[i] > a) { y[i] = x[i]; } else { y[i] = 0.0f - a; } }",
    "odd places": ITEM + "if (i < n) { y[i] = x[i & 7]; }",
    "same place": ITEM + "if (i < n) { y[i] = y[i] + a; y[0] = y[0] + x[i]; }",
    "local": "uint32 i = KernelThread.x(); y[i] = y[i] + x[Workgroup.x()] * a;",
    "wide": "int64 i = (int64) KernelThread.globalIdX(); if (i < (int64) n) { y[i] = x[i] + a; }",
    "signed": "int32 i = (int32) KernelThread.globalIdX(); if (i < (int32) n) { y[i] = x[i] + a; }",
    "wrapping": "uint32 i = KernelThread.globalIdX() - 3; if (i < n) { y[i] = x[i] + a; }",
    "vectors": ITEM + "if (i * 4 + 4 <= n) { y.vstore(i * 4, x.vload<4>(i * 4) * a); }",
    "rows": "uint32 i = KernelThread.globalIdX(); uint32 j = KernelThread.y(); if (i < n) { y[j * 16 + i] = x[i] + a; }",
    "square root": ITEM + "if (i < n) { y[i] = Math.sqrt(x[i]) + Math.fma(a, x[i], y[i]); }",
    "fall through": ITEM + "if (i < n) { y[i] = a; } y[i + 1] = x[i];",
    "integer": ITEM + "if (i < n) { y[i] = (float32) ((int32) x[i] / 3); }",
    "division": ITEM + "if (i < n) { y[i] = (float32) (7 / (int32) x[i]); }",
}


def outcome(module: Module, y: Any, x: Any, n: int, launch: dict[str, Any]) -> tuple[object, bytes]:
    """The error in words, if any, and the bits of what was written."""
    y = y.copy()
    try:
        module["k"](y, x, 1.7, n, **launch)
        said = None
    except KernelError as error:
        said = str(error)
    return said, np.where(np.isnan(y), np.float32(np.nan), y).tobytes()  # the sign of a NaN is nobody's


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("kind", ["uint32", "int32"])
def test_bits_and_errors(name: str, kind: str) -> None:
    text = SAXPY.format(n=kind, body=BODIES[name])
    reference = compile(text, target="reference")
    targets = [
        compile(text, target=target, num_threads=1) for target in (EXACT[0], "x86-avx2", "x86-scalar") if target in EXACT
    ]
    random = np.random.default_rng(1)
    for size, n, grid, block in (
        (64, 64, 1, 64), (64, 63, 4, 16), (64, 20, 4, 16), (64, 0, 2, 16), (40, 64, 4, 16), (64, 64, 1, (16, 3)),
        (9, 9, 9, 1), (200, 100, 3, 33), (0, 5, 1, 8), (1, 1, 2, (5, 2)), (130, 65, (2, 2), (17, 2, 2)),
    ):  # fmt: skip
        y, x = (random.standard_normal(size).astype(np.float32) * 4 for _ in range(2))
        x[::7] = np.resize(np.array([0, np.inf, np.nan, 1e-40], np.float32), x[::7].shape)
        for length in (size, size // 2 + 1):
            launch = {"grid": grid, "block": block}
            expected = outcome(reference, y[:length], x, n, launch)
            for module in targets:
                assert outcome(module, y[:length], x, n, launch) == expected, (module.target, size, n, grid, block)


def test_unchecked_code_has_the_same_bits() -> None:
    text = SAXPY.format(n="uint32", body=BODIES["saxpy"])
    x = np.random.default_rng(2).standard_normal(1000).astype(np.float32)
    made = [outcome(compile(text, checks=checks), x, x + 1, 999, {"threads": 1000}) for checks in (True, False)]
    assert made[0] == made[1]


def test_several_items_at_once() -> None:
    """Eight float32 in a register, without fused multiplication."""
    if "x86-avx2" not in EXACT:
        pytest.skip("no AVX2")
    asm = compile(SAXPY.format(n="uint32", body=BODIES["saxpy"]), target="x86-avx2").emit("asm", checks=True)
    assert isinstance(asm, str)
    assert "vmulps" in asm
    assert "vfmadd" not in asm


def test_first_item_that_faults_is_named() -> None:
    text = SAXPY.format(n="uint32", body=BODIES["no condition"])
    y, x = np.zeros(100, np.float32), np.ones(70, np.float32)
    with pytest.raises(BoundsError) as caught:
        compile(text)["k"](y, x, 2.0, 0, grid=2, block=64)
    assert (caught.value.index, caught.value.length) == (70, 70)
    assert y.tolist() == [2.0] * 70 + [0.0] * 30


SIMPLE = """class K {
    @Kernel static void dots(KernelBuffer<int32> o, KernelBuffer<uint8> w, KernelBuffer<int8> x) {
        uint32 i = KernelThread.globalIdX();
        o[i] = w.vload<4>(4 * i).dotSum(x.vload<4>(4 * i), 0);
    }
    @Kernel static void carried(KernelBuffer<float32> y, KernelBuffer<float32> x, uint32 n) {
        uint32 i = KernelThread.globalIdX();
        if (i < n) { y[i] = y[i] + 1.0f; y[0] = y[0] + x[i]; }
    }
}
"""


@pytest.mark.parametrize("target", ["x86-sse2", "x86-avx2", "x86-vnni"])
@pytest.mark.parametrize("checks", [False, True])
def test_llvm_has_nothing_to_say(target: str, checks: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """It complains, on the descriptor itself, of a loop that it must make vectors of and can't; and a dot is told of once."""
    source, reporter = driver.decode("k.cj", SIMPLE.encode())
    program = driver.check_source(source, reporter)
    assert program
    found = driver.find_target(target)
    assert found
    for lines in (False, True):
        options = Options(checks=checks, debug_lines=lines)
        artifact = found[0].emit(program, target, "asm", options, reporter)
        assert artifact
        assert [choice.operation for choice in artifact.choices] == ["dot"]
    assert capfd.readouterr().err == ""
