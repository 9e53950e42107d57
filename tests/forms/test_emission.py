"""The forms as LLVM IR: executed where this machine can, counted and read where it can't."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.backends.forms import instructions
from cajeta_dot.backends.forms.algebra import Instruction
from cajeta_dot.backends.forms.forms import FORMS, choose
from cajeta_dot.backends.forms.formulas import even_odd, maddubs, one, split7_ss, split7_us, vnni_ss, vnni_uu
from cajeta_dot.backends.forms.instructions import (
    DOT,
    dp4a_ss,
    dp4a_su,
    dp4a_us,
    dp4a_uu,
    pmaddwd,
    vpdpbssd,
    vpdpbsud,
    vpdpbusd,
    vpdpbuud,
)

from .emission import dot_function, loop, register_function, vector_operations
from .machines import MACHINES, host_features, run_blocks
from .operands import define, draw, name

if TYPE_CHECKING:
    from cajeta_dot.backends.forms.algebra import Lowering, T, Vector
    from cajeta_dot.backends.forms.forms import Form

WIDTHS = (4, 8, 12, 16, 20, 32, 48, 64, 128, 256)
HERE = [form for form in FORMS if form.family in ("x86", "any") and form.registers(host_features())]


@pytest.mark.parametrize("one_lane", [False, True], ids=["lanes", "one-lane"])
@pytest.mark.parametrize("form", HERE, ids=name)
def test_this_machine_agrees(form: Form, one_lane: bool) -> None:
    registers = form.registers(host_features())
    for width in WIDTHS:
        lanes = 1 if one_lane else width // 4
        w, x, acc = draw(form, width, lanes, rows=24)
        made = run_blocks(dot_function(form.lower, width, registers, lanes), [w, x, acc], lanes, np.int32)
        assert (made == define(form, w, x, acc)).all(), width


# ---- instruction counts, x86


def know_low(lower: Lowering) -> Lowering:
    def lower_masked(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        return lower(w & 15, x, acc)

    return lower_masked


BEFORE_VNNI = (("ssse3", 16), ("avx2", 32), ("avx512bw", 64))
VNNI = (("avxvnni", 16), ("avxvnni", 32), ("avx512vnni", 16), ("avx512vnni", 32), ("avx512vnni", 64))
VNNI_INT8 = (("avxvnniint8", 16), ("avxvnniint8", 32), ("avx10.2", 64))
SPLITS: tuple[Lowering, ...] = (split7_us, split7_ss)
BIASES: tuple[Lowering, ...] = (vnni_ss, vnni_uu)
COUNTS: list[tuple[str, int, Lowering, int]] = [
    ("sse2", 16, even_odd(pmaddwd, False, True), 9),
    ("sse2", 16, even_odd(pmaddwd, True, True), 10),
    ("sse2", 16, even_odd(pmaddwd, False, False), 8),
    *((m, n, even_odd(pmaddwd, False, False), 8) for m, n in BEFORE_VNNI),
    *((m, n, f, 8) for m, n in BEFORE_VNNI for f in SPLITS),
    *((m, n, know_low(f), 1 + 3) for m, n in BEFORE_VNNI for f in SPLITS),  # LLVM sees that bit 7 is 0
    *((m, n, maddubs, 3) for m, n in BEFORE_VNNI),
    *((m, n, one(vpdpbusd), 1) for m, n in VNNI + VNNI_INT8),
    *((m, n, f, 5) for m, n in VNNI for f in BIASES),
    *((m, n, one(i), 1) for m, n in VNNI_INT8 for i in (vpdpbssd, vpdpbuud, vpdpbsud)),
]


@pytest.mark.parametrize(("machine", "size", "lower", "expected"), COUNTS)
def test_x86_loops_have_the_known_length(machine: str, size: int, lower: Lowering, expected: int) -> None:
    operations = vector_operations(loop(MACHINES[machine].assembly(dot_function(lower, size, [size]))))
    assert len(operations) == expected, operations


@pytest.mark.parametrize(("machine", "size"), VNNI)
@pytest.mark.parametrize(("lower", "invariant"), [(vnni_ss, 1), (vnni_uu, 0)], ids=["ss", "uu"])
def test_the_bias_of_a_loop_invariant_operand_leaves_the_loop(machine: str, size: int, lower: Lowering, invariant: int) -> None:
    ir = dot_function(lower, size, [size], invariant=[invariant])
    assert len(vector_operations(loop(MACHINES[machine].assembly(ir, optimized=True)))) == 3


@pytest.mark.parametrize("machine", ["sse2", "ssse3", "sse4.1", "avx2", "avx512bw"])
@pytest.mark.parametrize("signs", DOT)
def test_a_word_is_shorter_widened(machine: str, signs: str) -> None:
    has = MACHINES[machine].has
    one_word, any_width = choose(signs, has, width=4), choose(signs, has)
    lengths = [
        len(loop(MACHINES[machine].assembly(dot_function(form.lower, 4, form.registers(has), 1))))
        for form in (one_word, any_width)
    ]
    assert (one_word.idea, lengths[0] < lengths[1]) == ("widen", True), lengths


@pytest.mark.parametrize("signs", DOT)
def test_scalar_code_computes_without_vectors(signs: str) -> None:
    scalar, machine = choose(signs, frozenset()), MACHINES["scalar"]
    word = loop(machine.assembly(dot_function(scalar.lower, 4, (4,))))
    assert not [line for line in word if "mm" in line.replace("imul", "")]
    assert Counter(line.split()[0] for line in word)["imull"] == 4
    for lanes in (1, 8):  # longer vectors come and go in vector registers, but nothing is computed there
        operations = vector_operations(loop(machine.assembly(dot_function(scalar.lower, 32, (4,), lanes))))
        assert not [line for line in operations if not line.startswith("punpck")]


# ---- other machines, read


INSTRUCTIONS = [i for i in vars(instructions).values() if isinstance(i, Instruction)]


def assemble_all(machine: str) -> list[tuple[str, str, str]]:
    """Everything that the tables allow a machine: name, IR, assembly."""
    target = MACHINES[machine]
    written = [
        (form.full_name, dot_function(form.lower, width, registers, lanes))
        for form in FORMS
        if (registers := form.registers(target.has))
        for width, lanes in ((4, 1), (16, 4), (20, 5), (36, 1))
    ] + [
        (instruction.name, register_function(instruction, bits))
        for instruction in INSTRUCTIONS
        for bits, encoding in instruction.encodings.items()
        if encoding.available(target.has)
    ]
    return [(what, ir, target.assembly(ir)) for what, ir in written]


@pytest.mark.parametrize("machine", MACHINES)
def test_all_that_the_tables_allow_assembles(machine: str) -> None:
    """In a process of its own: LLVM ends the process when our feature tables are wrong."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assembled = pool.submit(assemble_all, machine).result()
    assert assembled
    for what, ir, assembly in assembled:
        assert "llvm." not in assembly, f"{what}: an intrinsic LLVM doesn't know"
        assert "<1 x" not in ir, f"{what}: one lane is a scalar"


PLACES = [  # operands arrive in the order of the declaration, as %0, %1, %2; the instructions' manuals give the places
    ("avx512vnni", vpdpbusd, 512, "vpdpbusd %zmm2, %zmm1, %zmm0"),
    ("avxvnni", vpdpbusd, 256, "{vex} vpdpbusd %ymm2, %ymm1, %ymm0"),
    ("avxvnniint8", vpdpbssd, 256, "vpdpbssd %ymm2, %ymm1, %ymm0"),
    ("avxvnniint8", vpdpbuud, 256, "vpdpbuud %ymm2, %ymm1, %ymm0"),
    ("avxvnniint8", vpdpbsud, 256, "vpdpbsud %ymm2, %ymm1, %ymm0"),
    ("avx10.2", vpdpbsud, 512, "vpdpbsud %zmm2, %zmm1, %zmm0"),
    ("sm_61", dp4a_us, 32, "dp4a.u32.s32 %r4, %r2, %r3, %r1;"),
    ("sm_61", dp4a_su, 32, "dp4a.s32.u32 %r4, %r2, %r3, %r1;"),
    ("sm_61", dp4a_ss, 32, "dp4a.s32.s32 %r4, %r2, %r3, %r1;"),
    ("sm_61", dp4a_uu, 32, "dp4a.u32.u32 %r4, %r2, %r3, %r1;"),
    ("i8mm", instructions.usdot, 128, "usdot v0.4s, v1.16b, v2.16b"),
    ("i8mm", instructions.usdot, 64, "usdot v0.2s, v1.8b, v2.8b"),
    ("gfx906", instructions.sdot4, 32, "v_dot4_i32_i8 v0, v1, v2, v0"),
    ("gfx1100", instructions.sudot4_us, 32, "v_dot4_i32_iu8 v0, v1, v2, v0 neg_lo:[0,1,0]"),
    ("gfx1100", instructions.sudot4_ss, 32, "v_dot4_i32_iu8 v0, v1, v2, v0 neg_lo:[1,1,0]"),
    ("zvqdotq", instructions.vqdotsu, 128, "vqdotsu.vv v8, v9, v10"),
    ("zvqdotq", instructions.vqdotsu, 512, "vqdotsu.vv v8, v12, v16"),
    (
        "relaxed-simd",
        instructions.wasm_relaxed_dot,
        128,
        "local.get 1 local.get 2 local.get 0 i32x4.relaxed_dot_i8x16_i7x16_add_s",
    ),
]


@pytest.mark.parametrize(("machine", "instruction", "bits", "expected"), PLACES, ids=name)
def test_operands_reach_their_place(machine: str, instruction: Instruction, bits: int, expected: str) -> None:
    """Proofs can't see an encoding with its operands exchanged; where nothing executes it, this can."""
    assembly = MACHINES[machine].assembly(register_function(instruction, bits))
    assert expected in re.sub(r"\s+", " ", assembly)


COMPUTES = {  # the names of what computes vectors, not of what loads, stores or counts
    "aarch64": r"(?:us?|s)dot|eor|bic|mul|addp|add(?=\s+v)|shl|[us]shr|[us]mull2?|[us]addlp|[us]adalp",
    "amdgcn": r"v_dot4\S+|v_xor\S+",
    "riscv64": r"v(?!set|le|se)\S+",
    "wasm32": r"v128\.(?:and|or|xor)|i\d+x\d+\.\S+",
}
BIAS_906 = "v_dot4_i32_i8 v_dot4_i32_i8 v_dot4_i32_i8 v_xor_b32_e32"
EVEN_ODD = "i32x4.add i32x4.add i32x4.dot_i16x8_s i32x4.dot_i16x8_s"
ELSEWHERE = [  # machine, signs, what w is known to be at most, and what one register takes
    ("i8mm", "us", 255, "usdot"),
    ("i8mm", "su", 255, "usdot"),
    ("i8mm", "ss", 255, "sdot"),
    ("i8mm", "uu", 255, "udot"),
    ("dotprod", "us", 255, "eor sdot sdot sdot"),
    ("dotprod", "us", 127, "sdot"),
    ("neon", "us", 255, "bic mul mul sadalp sadalp shl sshr sshr ushr"),
    ("neon", "ss", 255, "add addp saddlp saddlp smull smull2"),
    ("neon", "uu", 255, "add addp uaddlp uaddlp umull umull2"),
    ("neon", "us", 127, "addp sadalp smull smull2"),
    ("neon", "uu", 128, "addp uadalp umull umull2"),
    ("gfx906", "us", 255, BIAS_906),
    ("gfx906", "su", 255, BIAS_906),
    ("gfx906", "ss", 255, "v_dot4_i32_i8"),
    ("gfx906", "uu", 255, "v_dot4_u32_u8"),
    ("gfx1030", "ss", 255, "v_dot4c_i32_i8"),
    ("gfx1100", "us", 255, "v_dot4_i32_iu8"),
    ("gfx1100", "ss", 255, "v_dot4_i32_iu8"),
    ("gfx1100", "uu", 255, "v_dot4_u32_u8"),
    ("zvqdotq", "us", 255, "vqdotsu.vv"),
    ("zvqdotq", "su", 255, "vqdotsu.vv"),
    ("zvqdotq", "ss", 255, "vqdot.vv"),
    ("zvqdotq", "uu", 255, "vqdotu.vv"),
    ("relaxed-simd", "us", 255, f"{EVEN_ODD} i16x8.shl i16x8.shr_s i16x8.shr_s i16x8.shr_u v128.and"),
    ("relaxed-simd", "ss", 255, f"{EVEN_ODD} i16x8.shl i16x8.shl" + " i16x8.shr_s" * 4),
    ("relaxed-simd", "uu", 255, f"{EVEN_ODD} i16x8.shr_u i16x8.shr_u v128.and v128.and"),
    ("relaxed-simd", "us", 127, "i32x4.relaxed_dot_i8x16_i7x16_add_s"),
    ("relaxed-simd", "ss", 127, "i32x4.relaxed_dot_i8x16_i7x16_add_s"),
]


@pytest.mark.parametrize(("machine", "signs", "w_max", "expected"), ELSEWHERE)
def test_a_register_takes_the_known_instructions(machine: str, signs: str, w_max: int, expected: str) -> None:
    target = MACHINES[machine]
    form = choose(signs, target.has, w_max)
    registers = form.registers(target.has)
    assembly = target.assembly(dot_function(form.lower, registers[-1], registers))
    found = re.findall(rf"^\s*({COMPUTES[form.family]})(?=\s)", assembly, re.MULTILINE)
    assert sorted(found) == sorted(expected.split())


@pytest.mark.parametrize(("lanes", "words"), [(4, 4), (1, 4), (16, 16), (1, 16)])
def test_a_gpu_does_one_dp4a_for_each_word(lanes: int, words: int) -> None:
    ir = dot_function(one(dp4a_us), 4 * words, (4,), lanes).replace("align 1", "align 16")
    operations = Counter(re.findall(r"^\s+([a-z]\w*)\.", MACHINES["sm_61"].assembly(ir), re.MULTILINE))
    assert operations["dp4a"] == words
    assert not operations.keys() & {"prmt", "bfe", "cvt", "shl", "shr", "and", "or"}
