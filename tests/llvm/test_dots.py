"""The opcode `dot` on every target that runs here: all signs, many widths, both shapes of the accumulator; and its cost."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends import Options
from cajeta_dot.backends.x86 import CLAMPING, backend
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import SCALARIZED
from cajeta_dot.types import INT8, INT32, UINT8, Scalar, Vector

from .programs import CPU_TARGETS, EXACT, SOURCE, Lanes, apply, load, make_program, run_lanes

if TYPE_CHECKING:
    from cajeta_dot.backends import Artifact
    from cajeta_dot.ir import Builder, Function, Value

SIGNS: dict[str, tuple[Scalar, Scalar]] = {"us": (UINT8, INT8), "ss": (INT8, INT8), "uu": (UINT8, UINT8), "su": (INT8, UINT8)}
WIDTHS = (4, 8, 12, 16, 20, 32, 36, 48, 64, 100, 128, 252, 256)
EDGES = (0, 1, 127, 128, 255)


def dot(b: Builder, values: list[Value]) -> Value:
    return b.dot(*values)


def dot_kernel(signs: str, lanes: int, into: int) -> Function:
    w, x = SIGNS[signs]
    return apply(f"{signs}_{lanes}_{into}", [Vector(w, lanes), Vector(x, lanes), Vector(INT32, into)], Vector(INT32, into), dot)


def draw(lanes: int, items: int) -> tuple[Lanes, Lanes]:
    """Bytes of all kinds: random ones, edges mixed, every edge in all lanes against every other."""
    random = np.random.default_rng(lanes)
    w, x = (random.integers(0, 256, (items, lanes)).astype(np.uint8) for _ in "wx")
    third = items // 3
    w[:third], x[:third] = (random.choice(EDGES, (third, lanes)) for _ in "wx")
    for row, (a, b) in enumerate(itertools.product(EDGES, repeat=2)):
        w[third + row], x[third + row] = a, b
    return w, x


def define(signs: str, w: Lanes, x: Lanes, acc: Lanes) -> Lanes:
    """The definition, in 64 bits; lanes 4j..4j+3 into lane j, or all into one."""
    a, b = (v.view(np.int8 if sign == "s" else np.uint8).astype(np.int64) for v, sign in zip((w, x), signs, strict=True))
    return ((a * b).reshape(len(acc), acc.shape[1], -1).sum(axis=2) + acc).astype(np.int32)


def accumulators(items: int, into: int) -> Lanes:
    random = np.random.default_rng(into).integers(-(2**31), 2**31, (items, into))
    random[::3] = 2**31 - 1
    random[1::3] = -(2**31)
    return random.astype(np.int32)


@pytest.mark.parametrize("target", EXACT)
@pytest.mark.parametrize("signs", SIGNS)
def test_a_dot_is_exact_and_wraps(signs: str, target: str) -> None:
    items = 96
    shapes = [(lanes, into) for lanes in WIDTHS for into in sorted({1, lanes // 4})]
    made = load(make_program(*(dot_kernel(signs, lanes, into) for lanes, into in shapes)), target)
    for lanes, into in shapes:
        w, x = draw(lanes, items)
        acc = accumulators(items, into)
        arrays = [
            w.view(np.int8 if signs[0] == "s" else np.uint8).reshape(-1),
            x.view(np.int8 if signs[1] == "s" else np.uint8).reshape(-1),
        ]
        got = run_lanes(made[f"{signs}_{lanes}_{into}"], Vector(INT32, into), [*arrays, acc.reshape(-1)], items)
        wrong = np.argwhere(got.reshape(items, into) != define(signs, w, x, acc))
        assert not len(wrong), (lanes, into, wrong[0], w[wrong[0][0]], x[wrong[0][0]])


@pytest.mark.parametrize("target", EXACT)
@pytest.mark.parametrize("signs", SIGNS)
def test_every_pair_of_bytes_at_every_place_of_a_group(signs: str, target: str) -> None:
    """All 65,536 pairs, beside neighbours that are as large as they can be."""
    lanes, items = 64, 65536 // 16
    made = load(make_program(dot_kernel(signs, lanes, lanes // 4)), target)
    pairs = np.array(list(itertools.product(range(256), repeat=2)), np.uint8)
    acc = np.zeros((items, 16), np.int32)
    for place in range(4):
        for neighbours in ((0, 0), (255, 127), (255, 128), (128, 128), (127, 127)):
            w, x = (np.full((65536, 4), number, np.uint8) for number in neighbours)
            w[:, place], x[:, place] = pairs[:, 0], pairs[:, 1]
            w, x = w.reshape(items, lanes), x.reshape(items, lanes)
            views = [v.reshape(-1).view(np.int8 if s == "s" else np.uint8) for v, s in zip((w, x), signs, strict=True)]
            got = run_lanes(made[f"{signs}_64_16"], Vector(INT32, 16), [*views, acc.reshape(-1)], items)
            assert (got.reshape(items, 16) == define(signs, w, x, acc)).all(), (place, neighbours)


def define_clamped(w: Lanes, x: Lanes, acc: Lanes) -> Lanes:
    """What `x86-maddubs` documents: unsigned by signed, each pair of products clamped to 16 bits."""
    products = w.astype(np.int64) * x.view(np.int8).astype(np.int64)
    pairs = products.reshape(len(acc), -1, 2).sum(axis=2).clip(-32768, 32767)
    return (pairs.reshape(len(acc), acc.shape[1], -1).sum(axis=2) + acc).astype(np.int32)


@pytest.mark.skipif(bool(backend.missing(CLAMPING.info.name)), reason="this machine has no AVX2")
@pytest.mark.parametrize("lanes", [4, 12, 64, 256])
@pytest.mark.parametrize("signs", SIGNS)
def test_the_clamping_target_clamps_as_it_says_and_is_exact_elsewhere(signs: str, lanes: int) -> None:
    items = 96
    made = load(make_program(*(dot_kernel(signs, lanes, into) for into in {1, lanes // 4})), CLAMPING.info.name)
    w, x = draw(lanes, items)
    for into in {1, lanes // 4}:
        acc = accumulators(items, into)
        views = [v.reshape(-1).view(np.int8 if s == "s" else np.uint8) for v, s in zip((w, x), signs, strict=True)]
        got = run_lanes(made[f"{signs}_{lanes}_{into}"], Vector(INT32, into), [*views, acc.reshape(-1)], items)
        wanted = define_clamped(w, x, acc) if signs == "us" else define(signs, w, x, acc)
        assert (got.reshape(items, into) == wanted).all(), into


# ---- what it costs


def emit(target: str, kind: str, *functions: Function, **options: Any) -> tuple[Artifact, Reporter]:
    reporter = Reporter(SOURCE)
    artifact = backend.emit(make_program(*functions), target, kind, Options(**options), reporter)
    assert artifact is not None
    return artifact, reporter


def count(artifact: Artifact, pattern: str) -> int:
    assert isinstance(artifact.content, str)
    return len(re.findall(pattern, artifact.content))


@pytest.mark.parametrize(
    ("target", "signs", "instructions"),
    [
        ("x86-vnni", "us", {"vpdpbusd": 1}),
        ("x86-vnni", "su", {"vpdpbusd": 1}),
        ("x86-vnni", "ss", {"vpdpbusd": 2}),
        ("x86-vnni", "uu", {"vpdpbusd": 2}),
        ("x86-avx2", "us", {"vpmaddubsw": 4, "vpmaddwd": 4}),
        ("x86-avx2", "ss", {"vpmaddubsw": 4, "vpmaddwd": 4}),
        ("x86-avx2", "uu", {"vpmaddubsw": 0, "vpmaddwd": 4}),
    ],
)
def test_64_lanes_take_as_many_instructions_as_they_need(target: str, signs: str, instructions: dict[str, int]) -> None:
    artifact, _ = emit(target, "asm", dot_kernel(signs, 64, 16))
    assert {name: count(artifact, rf"\b{name}\b") for name in instructions} == instructions


def test_scalar_code_multiplies_each_pair_of_bytes_by_itself() -> None:
    more, less = (count(emit("x86-scalar", "asm", dot_kernel("us", lanes, 1))[0], r"\bimull\b") for lanes in (64, 4))
    assert more - less == 60


FORBIDDEN = {"x86-avx2": r"zmm|\{%k|vpdpbusd", "x86-scalar": r"[yz]mm|\{%k|vpdpbusd|pmaddubsw|pmaddwd"}


@pytest.mark.parametrize("target", FORBIDDEN)
def test_no_instruction_is_one_that_the_target_lacks(target: str) -> None:
    kernels = [dot_kernel(signs, lanes, into) for signs in SIGNS for lanes in (4, 64, 256) for into in {1, lanes // 4}]
    artifact, _ = emit(target, "asm", *kernels)
    assert count(artifact, FORBIDDEN[target]) == 0
    assert count(artifact, r"llvm\.") == 0  # an intrinsic that LLVM doesn't know stays a call


@pytest.mark.parametrize("target", CPU_TARGETS)
def test_every_choice_is_told(target: str) -> None:
    artifact, reporter = emit(target, "llvm-ir", *(dot_kernel(signs, 64, 16) for signs in SIGNS))
    assert [(c.function, c.operation, c.lanes, c.signs, c.exact) for c in artifact.choices] == [
        (f"T.{signs}_64_16", "dot", 64, signs, (target, signs) != (CLAMPING.info.name, "us")) for signs in SIGNS
    ]
    assert all(choice.form and choice.instruction for choice in artifact.choices)
    scalar = [diagnostic.message for diagnostic in reporter.found if diagnostic.rule is SCALARIZED]
    expected = "`dot` is expanded to 64 multiplies on `x86-scalar`; `x86-avx2` would pack it"
    assert scalar == ([expected] * 4 if target == "x86-scalar" else [])
