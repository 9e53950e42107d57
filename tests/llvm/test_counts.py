"""How many instructions a dot product costs on each x86 target, counted in the assembly that the compiler writes.

The bar is what the sequences take in a loop, with constants hoisted and loads not counted, the accumulation counted: so many
for each register, for every sign, every length of vector and every target.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from cajeta_dot import compile
from cajeta_dot.backends.forms.algebra import cut
from cajeta_dot.backends.x86 import CLAMPING, TIERS, backend
from cajeta_dot.ir import Builder
from cajeta_dot.types import INT32, Vector

from .programs import apply
from .test_dots import SIGNS, dot_kernel, emit

if TYPE_CHECKING:
    from cajeta_dot.ir import Function, Value

LANES = (8, 12, 16, 20, 32, 48, 64, 128, 256)
XMM, YMM, ZMM = (16,), (16, 32), (16, 32, 64)
SHORT = 4  # lanes that are one word
# Target -> its registers; instructions for each register, by signs; the same where the weights are known to be below 16, not
# counting the mask that says so; all instructions for one word, with its two loads and the sum in a plain register.
BARS: dict[str, tuple[tuple[int, ...], dict[str, int], dict[str, int], dict[str, int]]] = {
    "x86-avx10.2": (ZMM, {"us": 1, "ss": 1, "uu": 1}, {"us": 1, "ss": 1, "uu": 1}, {"us": 6, "ss": 6, "uu": 6}),
    "x86-vnni": (ZMM, {"us": 1, "ss": 5, "uu": 5}, {"us": 1, "ss": 1, "uu": 1}, {"us": 6, "ss": 9, "uu": 9}),
    "x86-avxvnniint8": (YMM, {"us": 1, "ss": 1, "uu": 1}, {"us": 1, "ss": 1, "uu": 1}, {"us": 6, "ss": 6, "uu": 6}),
    "x86-avxvnni": (YMM, {"us": 1, "ss": 5, "uu": 5}, {"us": 1, "ss": 1, "uu": 1}, {"us": 6, "ss": 9, "uu": 9}),
    "x86-avx512bw": (ZMM, {"us": 8, "ss": 8, "uu": 8}, {"us": 3, "ss": 3, "uu": 8}, {"us": 9, "ss": 9, "uu": 9}),
    "x86-avx2": (YMM, {"us": 8, "ss": 8, "uu": 8}, {"us": 3, "ss": 3, "uu": 8}, {"us": 9, "ss": 9, "uu": 9}),
    "x86-ssse3": (XMM, {"us": 8, "ss": 8, "uu": 8}, {"us": 3, "ss": 3, "uu": 8}, {"us": 11, "ss": 11, "uu": 10}),
    "x86-sse2": (XMM, {"us": 9, "ss": 10, "uu": 8}, {"us": 9, "ss": 10, "uu": 8}, {"us": 11, "ss": 11, "uu": 10}),
    "x86-maddubs": (YMM, {"us": 3, "ss": 8, "uu": 8}, {"us": 3, "ss": 3, "uu": 8}, {"us": 9, "ss": 9, "uu": 9}),
}
SEQUENCES = ("us", "ss", "uu", "su")


def test_every_target_with_vectors_has_a_bar() -> None:
    assert {*BARS, "x86-scalar"} == {tier.info.name for tier in (*TIERS, CLAMPING)}


def inner_loop(assembly: str) -> list[str]:
    """The instructions of the innermost loop, which does the work of one item."""
    lines = [re.sub(r"\s+", " ", line.split("#")[0]).strip() for line in assembly.splitlines()]
    starts = {line[:-1]: at for at, line in enumerate(lines) if line.endswith(":")}
    for at, line in enumerate(lines):
        jump = re.match(r"j\w+ (\S+)$", line)
        start = starts.get(jump[1], at) if jump else at
        body = lines[start + 1 : at]
        if start < at and not any(inside.endswith(":") for inside in body):
            return body
    raise AssertionError("no loop")


def arithmetic(lines: list[str]) -> list[str]:
    """Vector instructions that compute: no moves, no shuffles."""
    operation = r"(\{vex\} )?v?(p(dpb|madd|add|sub|and|xor|or|s[rl][la]|tern|mull|abs|sign)|(and|andn|or|xor)p[sd])"
    return [line for line in lines if re.match(operation, line)]


def count(target: str, *kernels: Function) -> list[int]:
    """How many each of the kernels has in its loop."""
    artifact, _ = emit(target, "asm", *kernels)
    parts = re.split(r"^([A-Za-z]\w*):", str(artifact.content), flags=re.MULTILINE)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    return [len(arithmetic(inner_loop(bodies[kernel.symbol]))) for kernel in kernels]


def bar(target: str, signs: str, lanes: int, *, known: bool = False) -> int:
    registers, each, each_known, _ = BARS[target]
    alike = "us" if signs == "su" and target != CLAMPING.info.name else "ss" if signs == "su" else signs
    return len(cut(lanes, registers)) * (each_known if known else each)[alike]


@pytest.mark.parametrize("signs", SEQUENCES)
@pytest.mark.parametrize("target", BARS)
def test_every_length_takes_its_registers_times_the_sequence(target: str, signs: str) -> None:
    """Short vectors are padded; of 12 lanes LLVM may do less."""
    found = dict(zip(LANES, count(target, *(dot_kernel(signs, lanes, lanes // 4) for lanes in LANES)), strict=True))
    wanted = {lanes: bar(target, signs, lanes) for lanes in LANES}
    assert found.pop(12) <= wanted.pop(12)
    assert found == wanted


def masked_kernel(signs: str, lanes: int) -> Function:
    """Weights that are known to be 0..15."""
    w, x = SIGNS[signs]
    types = [Vector(w, lanes), Vector(x, lanes), Vector(INT32, lanes // 4)]

    def build(b: Builder, v: list[Value]) -> Value:
        return b.dot(b.binary("and", v[0], b.const(types[0], 15)), v[1], v[2])

    return apply(f"k{lanes}", types, types[2], build)


@pytest.mark.parametrize("signs", ["us", "ss", "uu"])
@pytest.mark.parametrize("target", BARS)
def test_known_weights_take_the_short_sequence(target: str, signs: str) -> None:
    for lanes, found in zip((32, 128), count(target, masked_kernel(signs, 32), masked_kernel(signs, 128)), strict=True):
        wanted = bar(target, signs, lanes, known=True) + len(cut(lanes, BARS[target][0]))
        assert found == wanted or (target == "x86-sse2" and found < wanted), (lanes, found)  # LLVM knows the signs too


@pytest.mark.parametrize("signs", ["us", "ss", "uu"])
@pytest.mark.parametrize("target", BARS)
def test_one_word_takes_its_few(target: str, signs: str) -> None:
    """All of them: two loads, the sum with the accumulator; the store, the counters and addresses of the loop left out."""
    artifact, _ = emit(target, "asm", dot_kernel(signs, SHORT, 1))
    work = [
        line
        for line in inner_loop(str(artifact.content))
        if re.match(r"(\{vex\} )?v?p|v?mov[dq] \(|v?movd %xmm|addl [(%]", line)
    ]
    assert len(work) <= BARS[target][3][signs], work


INVARIANT = """
class Rows {
    @Kernel
    static void sum(KernelBuffer<int32> out, KernelBuffer<int8> w, KernelBuffer<int8> x, int32 n) {
        Vector<int8,LANES> v = x.vload<LANES>(0);
        Vector<int32,SUMS> acc = Vector<int32,SUMS>(0);
        for (int32 i = 0; i < n; i++) { acc = w.vload<LANES>(LANES * i).dotAccum(v, acc); }
        out.vstore(0, acc);
    }
}
"""


@pytest.mark.parametrize(("target", "lanes"), [("x86-vnni", 64), ("x86-vnni", 32), ("x86-avxvnni", 32), ("x86-avxvnni", 16)])
def test_a_bias_that_does_not_change_leaves_the_loop(target: str, lanes: int) -> None:
    if backend.missing(target):
        pytest.skip(f"this machine has no {backend.missing(target)}")
    text = INVARIANT.replace("LANES", str(lanes)).replace("SUMS", str(lanes // 4))
    assembly = compile(text, target=target, split_accumulators=False).emit("asm", checks=False)
    assert len(arithmetic(inner_loop(str(assembly)))) == 3


def test_scalar_code_is_one_product_and_one_sum_for_each_byte() -> None:
    for signs in SEQUENCES:
        artifact, _ = emit("x86-scalar", "asm", dot_kernel(signs, SHORT, 1))
        body = inner_loop(str(artifact.content))
        assert len([line for line in body if line.startswith("imull %") and ", %" in line]) >= 4
        assert not arithmetic(body)
