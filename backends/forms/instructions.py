"""The machine instructions: one declaration each.

A declaration says how the operands are read, what a result lane is in exact integers, and how LLVM names the instruction.
Adding one is one row here; emitting, executing, proving and choosing by feature all follow from it.

Sources: Intel's instruction set reference (PMADDUBSW, PMADDWD, VPDPBUSD, VPDPB[SU,UU,SS]D), the PTX ISA (dp4a); the names,
types and features of the intrinsics are LLVM 22's. Every x86 model that a machine at hand has is also compared with silicon
by the tests.
"""

from __future__ import annotations

from cajeta_dot.backends.forms.algebra import Encoding, Instruction, Lanes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.forms.algebra import N

U8, S8, S16 = Lanes(False, 8), Lanes(True, 8), Lanes(True, 16)
I32 = Lanes(None, 32)  # an accumulator that wraps


def add_products(a: Sequence[N], b: Sequence[N]) -> N:
    first, *rest = [p * q for p, q in zip(a, b, strict=True)]
    return sum(rest, start=first)


def dot(operands: Sequence[Sequence[N]], /) -> N:
    a, b = operands
    return add_products(a, b)


def dot_clamped(operands: Sequence[Sequence[N]], /) -> N:
    return dot(operands).clamp(16)


def dot_accumulate(operands: Sequence[Sequence[N]], /) -> N:
    (acc,), a, b = operands
    return acc + add_products(a, b)


def dot_of_clamped_pairs(operands: Sequence[Sequence[N]], /) -> N:
    (acc,), a, b = operands
    return acc + add_products(a[:2], b[:2]).clamp(16) + add_products(a[2:], b[2:]).clamp(16)


# ---- what lowerings are held to, declared as instructions nobody has

# Weights and activations by their own signedness, lanes 4j..4j+3 into lane j.
DOT = {
    f"{'su'[not w.signed]}{'su'[not x.signed]}": Instruction("dot", "", (I32, 4 * w, 4 * x), 32, dot_accumulate, {})
    for w in (U8, S8)
    for x in (U8, S8)
}
# What the plain `pmaddubsw` lowering documents instead: each pair of products is clamped to 16 bits.
DOT_CLAMPED = Instruction("dot, pairs clamped to 16 bits", "", (I32, 4 * U8, 4 * S8), 32, dot_of_clamped_pairs, {})


# ---- x86

pmaddubsw = Instruction("pmaddubsw", "x86", (2 * U8, 2 * S8), 16, dot_clamped, {
    128: Encoding("ssse3", "llvm.x86.ssse3.pmadd.ub.sw.128"),
    256: Encoding("avx2", "llvm.x86.avx2.pmadd.ub.sw"),
    512: Encoding("avx512bw", "llvm.x86.avx512.pmaddubs.w.512"),
})  # fmt: skip
pmaddwd = Instruction("pmaddwd", "x86", (2 * S16, 2 * S16), 32, dot, {
    128: Encoding("sse2", "llvm.x86.sse2.pmadd.wd"),
    256: Encoding("avx2", "llvm.x86.avx2.pmadd.wd"),
    512: Encoding("avx512bw", "llvm.x86.avx512.pmaddw.d.512"),
})  # fmt: skip


def encode_vnni(name: str) -> dict[int, Encoding]:
    """Encodings of a member of the AVX512-VNNI group, whose two small sizes AVX-VNNI has too."""
    small = "avxvnni | avx512vnni avx512vl"
    needs = {128: small, 256: small, 512: "avx512vnni"}
    return {bits: Encoding(needs[bits], f"llvm.x86.avx512.{name}.{bits}") for bits in needs}


def _declare_vnni_int8(name: str, w: Lanes, x: Lanes) -> Instruction:
    encodings = {bits: Encoding("avxvnniint8 | avx10.2", f"llvm.x86.avx2.{name}.{bits}") for bits in (128, 256)}
    encodings[512] = Encoding("avx10.2", f"llvm.x86.avx10.{name}.512")
    return Instruction(name, "x86", (I32, 4 * w, 4 * x), 32, dot_accumulate, encodings)


vpdpbusd = Instruction("vpdpbusd", "x86", (I32, 4 * U8, 4 * S8), 32, dot_accumulate, encode_vnni("vpdpbusd"))
vpdpbssd = _declare_vnni_int8("vpdpbssd", S8, S8)
vpdpbsud = _declare_vnni_int8("vpdpbsud", S8, U8)
vpdpbuud = _declare_vnni_int8("vpdpbuud", U8, U8)


# ---- NVPTX: four bytes travel as one word


def _declare_dp4a(w: Lanes, x: Lanes) -> Instruction:
    first, second = ("su"[not lanes.signed] for lanes in (w, x))
    encoding = Encoding("sm_61", f"llvm.nvvm.idp4a.{first}.{second}", order=(1, 2, 0), words=True)
    return Instruction(f"dp4a.{first}32.{second}32", "nvptx", (I32, 4 * w, 4 * x), 32, dot_accumulate, {32: encoding})


dp4a_us, dp4a_ss, dp4a_uu, dp4a_su = (_declare_dp4a(w, x) for w, x in ((U8, S8), (S8, S8), (U8, U8), (S8, U8)))
