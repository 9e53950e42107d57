"""The machine instructions: one declaration each.

A declaration says how the operands are read, what a result lane is in exact integers, and how LLVM names the instruction.
Adding one is one row here; emitting, executing, proving and choosing by feature all follow from it.

Sources: Intel's instruction set reference (PMADDUBSW, PMADDWD, VPDPBUSD, VPDPB[SU,UU,SS]D); the PTX ISA (dp4a); Arm's A64
instruction set (SDOT, UDOT, USDOT, SMULL, UMULL, SADDLP, UADDLP, ADDP); AMD's RDNA 3 ISA (V_DOT4_I32_IU8) and those before
it; the RISC-V Zvqdotq extension (vqdot, vqdotu, vqdotsu); WebAssembly 3.0 (i32x4.dot_i16x8_s, relaxed_dot). The names, types
and features of the intrinsics are LLVM 22's. The tests compare what the machine at hand has with silicon, AArch64 with qemu
and WebAssembly with node, where these are installed.
"""

from __future__ import annotations

from cajeta_dot.backends.forms.algebra import Encoding, Instruction, Lanes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.forms.algebra import Meaning, N, Passing

U8, S8, U16, S16 = Lanes(False, 8), Lanes(True, 8), Lanes(False, 16), Lanes(True, 16)
I16, I32 = Lanes(None, 16), Lanes(None, 32)  # what wraps, such as an accumulator


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


def add_lanes(operands: Sequence[Sequence[N]], /) -> N:
    ((a, b),) = operands
    return a + b


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


# ---- AArch64: the dot products have 64 and 128 bits, what is used without them 128


def _declare_neon_dot(name: str, w: Lanes, x: Lanes, needs: str) -> Instruction:
    encodings = {
        64: Encoding(needs, f"llvm.aarch64.neon.{name}.v2i32.v8i8"),
        128: Encoding(needs, f"llvm.aarch64.neon.{name}.v4i32.v16i8"),
    }
    return Instruction(name, "aarch64", (I32, 4 * w, 4 * x), 32, dot_accumulate, encodings)


def _declare_neon(
    name: str, operands: tuple[Lanes, ...], result: int, meaning: Meaning, types: str, passing: Passing = "fixed"
) -> Instruction:
    encoding = Encoding("neon", f"llvm.aarch64.neon.{name}.{types}", passing=passing)
    return Instruction(name, "aarch64", operands, result, meaning, {128: encoding})


sdot = _declare_neon_dot("sdot", S8, S8, "dotprod")
udot = _declare_neon_dot("udot", U8, U8, "dotprod")
usdot = _declare_neon_dot("usdot", U8, S8, "i8mm")
smull = _declare_neon("smull", (S8, S8), 16, dot, "v8i16")
umull = _declare_neon("umull", (U8, U8), 16, dot, "v8i16")
saddlp = _declare_neon("saddlp", (2 * S16,), 32, add_lanes, "v4i32.v8i16")
uaddlp = _declare_neon("uaddlp", (2 * U16,), 32, add_lanes, "v4i32.v8i16")
addp = _declare_neon("addp", (2 * I32,), 32, add_lanes, "v4i32", "halves")
addp_narrow = _declare_neon("addp", (2 * I16,), 16, add_lanes, "v8i16", "halves")


# ---- GPUs: four bytes travel as one word


def _declare_dp4a(w: Lanes, x: Lanes) -> Instruction:
    first, second = ("su"[not lanes.signed] for lanes in (w, x))
    encoding = Encoding("sm_61", f"llvm.nvvm.idp4a.{first}.{second}", order=(1, 2, 0), passing="words")
    return Instruction(f"dp4a.{first}32.{second}32", "nvptx", (I32, 4 * w, 4 * x), 32, dot_accumulate, {32: encoding})


dp4a_us, dp4a_ss, dp4a_uu, dp4a_su = (_declare_dp4a(w, x) for w, x in ((U8, S8), (S8, S8), (U8, U8), (S8, U8)))

# AMD's two groups of dot products, named here for the architecture that brought them: `gfx906` those that read both operands
# alike (LLVM's dot1-insts and dot7-insts), `gfx11` the one that is told how to read each (dot8-insts). The last argument would
# clamp the result.
_CLAMP = "i1 false"


def _declare_dot4(name: str, intrinsic: str, w: Lanes, x: Lanes, needs: str) -> Instruction:
    encoding = Encoding(needs, f"llvm.amdgcn.{intrinsic}", order=(1, 2, 0, _CLAMP), passing="words")
    return Instruction(name, "amdgcn", (I32, 4 * w, 4 * x), 32, dot_accumulate, {32: encoding})


def _declare_sudot4(w: Lanes, x: Lanes) -> Instruction:
    how = [f"i1 {str(lanes.signed).lower()}" for lanes in (w, x)]
    encoding = Encoding("gfx11", "llvm.amdgcn.sudot4", order=(how[0], 1, how[1], 2, 0, _CLAMP), passing="words")
    return Instruction("v_dot4_i32_iu8", "amdgcn", (I32, 4 * w, 4 * x), 32, dot_accumulate, {32: encoding})


sdot4 = _declare_dot4("v_dot4_i32_i8", "sdot4", S8, S8, "gfx906")
udot4 = _declare_dot4("v_dot4_u32_u8", "udot4", U8, U8, "gfx906 | gfx11")
sudot4_us, sudot4_ss = _declare_sudot4(U8, S8), _declare_sudot4(S8, S8)


# ---- RISC-V: one, two or four registers at once, however long they are. The last two arguments are the result's lanes, and
# that what lies behind them may be anything.


def _declare_vqdot(name: str, w: Lanes, x: Lanes) -> Instruction:
    encodings: dict[int, Encoding] = {}
    for lanes in (4, 8, 16):
        intrinsic = f"llvm.riscv.{name}.nxv{lanes // 2}i32.nxv{2 * lanes}i8"
        order = (0, 1, 2, f"i64 {lanes}", "i64 3")
        encodings[32 * lanes] = Encoding("experimental-zvqdotq", intrinsic, order, "scalable")
    return Instruction(name, "riscv64", (I32, 4 * w, 4 * x), 32, dot_accumulate, encodings)


vqdot = _declare_vqdot("vqdot", S8, S8)
vqdotu = _declare_vqdot("vqdotu", U8, U8)
vqdotsu = _declare_vqdot("vqdotsu", S8, U8)


# ---- WebAssembly. An engine may read the relaxed dot's second operand by either sign and may add pairs with or without
# clamping to 16 bits; where its bytes are at most 127 all of that is the same.

I7 = Lanes(True, 8, at_most=127)
wasm_dot = Instruction("i32x4.dot_i16x8_s", "wasm32", (2 * S16, 2 * S16), 32, dot, {128: Encoding("simd128", "llvm.wasm.dot")})
wasm_relaxed_dot = Instruction("i32x4.relaxed_dot_i8x16_i7x16_add_s", "wasm32", (I32, 4 * S8, 4 * I7), 32, dot_accumulate, {
    128: Encoding("relaxed-simd", "llvm.wasm.relaxed.dot.i8x16.i7x16.add.signed", order=(1, 2, 0)),
})  # fmt: skip
