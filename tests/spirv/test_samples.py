"""The samples: each is a valid module for every environment, and gives on a device what it says it gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends.spirv.module import ENVIRONMENTS

from .kernels import Compiled, check_text, untouched

if TYPE_CHECKING:
    from cajeta_dot.backends.vulkan.device import Device

FOLDER = Path(__file__).parent.parent.parent / "samples"
NAMES = sorted(path.name for path in FOLDER.glob("*.cj"))


def compile_sample(name: str, environment: str = "vulkan1.1", **options: Any) -> Compiled:
    return Compiled(check_text((FOLDER / name).read_text(encoding="utf-8"), name), environment, **options)


def draw_bytes(kind: Any, *shape: int) -> np.ndarray[Any, Any]:
    """Bytes of which every eighth is an edge."""
    rng = np.random.default_rng(shape)
    drawn = rng.integers(0, 256, shape, dtype=np.uint8)
    drawn.ravel()[::8] = rng.choice([0, 1, 127, 128, 255], drawn.size)[::8]
    return drawn.view(kind)


@pytest.mark.parametrize("int_dot", [True, False], ids=["opcode", "bit fields"])
@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("name", NAMES)
def test_sample_is_valid(name: str, environment: str, int_dot: bool) -> None:
    assert compile_sample(name, environment, int_dot=int_dot, debug_lines=True).spirv


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("dp4a.cj", [], [70, 170, 1025, -1240]),
        (
            "signedness.cj",
            [np.array([0, 5, 10, 15], np.uint8), np.array([-127, -90, -53, -16], np.int8)],
            [-1220, 6460],
        ),
    ],
)
def test_known_answers(name: str, arguments: list[Any], wanted: list[int], engine: Device | None) -> None:
    compiled = compile_sample(name)
    found = untouched(len(wanted), np.int32)
    compiled.execute(engine, compiled.program.entries[0], [found, *arguments])
    assert found.tolist() == wanted


@pytest.mark.parametrize("int_dot", [True, False], ids=["opcode", "bit fields"])
def test_dot_accum(int_dot: bool, engine: Device | None) -> None:
    rows, columns = 5, 203
    compiled = compile_sample("dot_accum.cj", int_dot=int_dot, block=(8, 1, 1))
    w, x, y = draw_bytes(np.uint8, rows, columns), draw_bytes(np.int8, columns), untouched(rows + 1, np.int32)
    compiled.execute(engine, compiled.program.entries[0], [y, w.ravel(), x, rows, columns])
    assert y[:rows].tolist() == (w.astype(np.int64) @ x.astype(np.int64)).tolist()
    assert y[rows:].tobytes() == b"\x5a" * 4


@pytest.mark.parametrize("int_dot", [True, False], ids=["opcode", "bit fields"])
def test_gemm(int_dot: bool, engine: Device | None) -> None:
    m, n, k = 3, 10, 69
    compiled = compile_sample("gemm_int8.cj", int_dot=int_dot, block=(4, 4, 1))
    a, b, c = draw_bytes(np.uint8, m, k), draw_bytes(np.int8, n, k), untouched(m * n, np.int32)
    compiled.execute(engine, compiled.program.entries[0], [c, a.ravel(), b.ravel(), m, n, k])
    assert c.reshape(m, n).tolist() == (a.astype(np.int64) @ b.T.astype(np.int64)).tolist()


def test_q4k(engine: Device | None) -> None:
    """Floats too: products and sums are rounded one by one, as the reference does."""
    rows, blocks = 3, 2
    compiled = compile_sample("q4k_matvec.cj", block=(4, 1, 1))
    w = draw_bytes(np.uint8, rows, blocks, 144)
    w[:, :, :4] = np.array([0.01, 0.002], np.float16).view(np.uint8)
    x = draw_bytes(np.int8, blocks, 256)
    scales = np.array([0.37, 1.1], np.float32)
    sums = x.reshape(-1, 32).sum(1, dtype=np.int32)
    found, wanted = untouched(rows, np.float32), untouched(rows, np.float32)
    rest = [w.ravel(), x.ravel(), scales, sums, rows, blocks]
    compiled.expect(compiled.program.entries[0], [wanted, *rest])
    compiled.execute(engine, compiled.program.entries[0], [found, *rest])
    assert np.isfinite(wanted).all()
    assert found.tobytes() == wanted.tobytes()
