"""Control flow, memory and calls in PTX written by hand, and everything that the machine objects to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot import compile as compile_text
from cajeta_dot.backends.ptx.execute import FaultAt
from cajeta_dot.backends.ptx.instructions import OPERATIONS
from cajeta_dot.backends.ptx.memory import Fault
from cajeta_dot.backends.ptx.parse import Module, PtxError

from .machine import HEAD, launch, write_entry, write_operation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def run(body: str, size: int = 64, threads: int = 4, declarations: str = "", **more: Any) -> list[int]:
    """What a kernel leaves in an array of bytes, all zero before; thread number in `%r0`."""
    out = np.zeros(size, np.uint8)
    launch(write_entry("mov.u32 %r0, %tid.x;\n" + body, declarations=declarations), [out], threads, **more)
    return out.tolist()


def words(body: str, count: int = 4, **more: Any) -> list[int]:
    return np.array(run(body, 4 * count, **more), np.uint8).view(np.int32).tolist()


STORE_R1 = "mad.wide.u32 %a0, %r0, 4, %a0; st.global.b32 [%a0], %r1;"


def test_ptxas_knows_every_row(assemble_ptx: Callable[..., Path]) -> None:
    """One text with all instructions of the table, for a GPU that has them all."""
    kernels = (write_operation(opcode, row, f"k{n}") for n, (opcode, row) in enumerate(OPERATIONS.items()))
    assemble_ptx(HEAD + "".join(kernels), "sm_100", "-O0")


# ---- control flow


def test_threads_go_different_ways_and_meet_again() -> None:
    body = """
        and.b32 %r2, %r0, 1;
        setp.eq.b32 %p1, %r2, 0;
        mov.b32 %r1, 100;
        @%p1 bra EVEN;
        add.s32 %r1, %r1, %r0;
        bra.uni JOIN;
    EVEN:
        sub.s32 %r1, %r1, %r0;
    JOIN:
        mul.lo.s32 %r1, %r1, 2;
    """
    assert words(body + STORE_R1) == [200, 202, 196, 206]


def test_loops_of_different_length() -> None:
    body = """
        mov.b32 %r1, 0; mov.b32 %r2, %r0;
    HEAD:
        setp.eq.b32 %p1, %r2, 0;
        @%p1 bra DONE;
        add.s32 %r1, %r1, %r2; sub.s32 %r2, %r2, 1;
        bra HEAD;
    DONE:
    """
    assert words(body + STORE_R1, count=8, threads=8) == [0, 1, 3, 6, 10, 15, 21, 28]


def test_predicates_guard_single_instructions_and_returns() -> None:
    body = "setp.gt.u32 %p1, %r0, 1; mov.b32 %r1, 7; @%p1 mov.b32 %r1, 9; setp.eq.b32 %p2, %r0, 3; @%p2 ret;" + STORE_R1
    assert words(body) == [7, 7, 9, 0]
    assert words(body.replace("@%p1", "@!%p1")) == [9, 9, 7, 0]


def test_a_branch_by_index() -> None:
    body = """
        ways: .branchtargets A, B, C;
        mov.b32 %r1, 0;
        brx.idx %r0, ways;
    A:  add.s32 %r1, %r1, 1;
    B:  add.s32 %r1, %r1, 10;
    C:  add.s32 %r1, %r1, 100;
    """
    assert words(body + STORE_R1, count=3, threads=3) == [111, 110, 100]
    with pytest.raises(FaultAt, match="index 3 of 3"):
        run(body + STORE_R1, threads=4)


def test_scopes_have_registers_of_their_own() -> None:
    body = """
        mov.b32 %r2, 0x00050006;
        { .reg .b16 t; mov.b32 {_, t}, %r2; cvt.u32.u16 %r1, t; }
        { .reg .b32 t; mov.b32 t, 1; add.s32 %r1, %r1, t; }
    """
    assert words(body + STORE_R1) == [6] * 4


def test_the_carry() -> None:
    body = """
        mov.b32 %r1, -1; mov.b32 %r2, 5;
        add.cc.u32 %r3, %r1, 2; addc.u32 %r4, %r2, 0;
        sub.cc.u32 %r5, %r3, 2; subc.u32 %r6, %r4, 0;
        st.global.v4.b32 [%a0], {%r3, %r4, %r5, %r6};
    """
    assert words(body, threads=1) == [1, 6, -1, 5]
    with pytest.raises(FaultAt, match="the carry is read before"):
        run("addc.u32 %r1, 1, 2;")


# ---- calls

TWICE = """
.func (.param .b32 result) twice(.param .b32 x)
{
    .reg .b32 %r<4>;
    .reg .b64 %l<3>;
    .local .align 4 .b8 depot[8];
    mov.b64 %l0, depot;
    cvta.local.u64 %l1, %l0;
    ld.param.b32 %r0, [x];
    st.b32 [%l1+4], %r0;
    ld.local.b32 %r1, [%l0+4];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
"""
CALL = """
    { .param .b32 x; .param .b32 result; st.param.b32 [x], %r0; call.uni (result), twice, (x); ld.param.b32 %r1, [result]; }
"""


def test_functions_have_registers_and_memory_of_each_thread() -> None:
    out = np.zeros(4, np.int32)
    launch(TWICE + write_entry("mov.u32 %r0, %tid.x;" + CALL + CALL.replace("%r0", "%r1") + STORE_R1), [out], 4)
    assert out.tolist() == [0, 4, 8, 12]
    out[:] = 0
    some = "mov.u32 %r0, %tid.x; mov.b32 %r1, 77; setp.ne.b32 %p1, %r0, 2; @%p1 bra OUT;" + CALL + "OUT: " + STORE_R1
    launch(TWICE + write_entry(some), [out], 4)
    assert out.tolist() == [77, 77, 4, 77]


# ---- memory


def test_shared_memory_is_the_workgroups() -> None:
    body = """
        mov.b64 %a1, tile; shl.b32 %r2, %r0, 2; cvt.u64.u32 %d1, %r2; add.s64 %a2, %a1, %d1;
        mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, 10, %r0; st.shared.b32 [%a2], %r4;
        bar.sync 0;
        xor.b32 %r2, %r2, 4; cvt.u64.u32 %d1, %r2; add.s64 %a2, %a1, %d1; ld.shared.b32 %r1, [%a2];
        mov.u32 %r5, %ntid.x; mad.lo.s32 %r0, %r3, %r5, %r0;
    """
    shared = ".shared .align 4 .b8 tile[16];\n"
    assert words(body + STORE_R1, count=8, declarations=shared, groups=2) == [1, 0, 3, 2, 11, 10, 13, 12]


def test_tables_outside_of_functions() -> None:
    out = np.zeros(4, np.int32)
    table = ".global .align 4 .b32 table[4] = {3, -1, 4};\n"
    body = "mov.u32 %r0, %tid.x; mov.b64 %a1, table; mad.wide.u32 %a1, %r0, 4, %a1; ld.global.nc.b32 %r1, [%a1];" + STORE_R1
    launch(table + write_entry(body), [out], 4)
    assert out.tolist() == [3, -1, 4, 0]
    launch(table + write_entry(body.replace("table;", "table+4;").replace("[%a1]", "[%a1+-4]")), [out], 4)
    assert out.tolist() == [3, -1, 4, 0]


def test_small_loads_are_extended_by_their_type() -> None:
    out = np.array([0x80, 0x7F, 0, 0] * 3, np.uint8)
    body = "ld.global.s8 %r1, [%a0]; ld.global.u8 %r2, [%a0]; st.global.b32 [%a0+4], %r1; st.global.b32 [%a0+8], %r2;"
    launch(write_entry(body), [out])
    assert out.view(np.int32).tolist() == [0x7F80, -128, 128]


FAULTS = {
    "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%a0+8];": "at byte 8 of `p0`: not at a multiple of 16",
    "ld.global.v2.b64 {%d1, %d2}, [%a0+8];": "not at a multiple of 16",
    "ld.global.b32 %r1, [%a0+2];": "at byte 2 of `p0`: not at a multiple of 4",
    "st.global.v2.b16 [%a0+2], {%h1, %h2};": "is read before it is written",
    "ld.global.b16 %h1, [%a0+1];": "not at a multiple of 2",
    "ld.global.b32 %r1, [%a0+64];": "4 bytes at byte 64 of `p0`, which has 64",
    "ld.global.b32 %r1, [%a0+-4];": "at byte -4 of `p0`",
    "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%a0+1099511627776];": "at byte 1099511627776 of `p0`",
    "st.global.b8 [%a0+64], 1;": "1 bytes at byte 64 of `p0`",
    "mov.b64 %a1, 0; ld.global.b8 %r1, [%a1];": "is in no array",
    "ld.b32 %r1, [16];": "is in no array",
    "ld.shared.b32 %r1, [%a0];": "an address of space .global, of `p0`, where one of space .shared is wanted",
    "mov.b64 %a1, tile; ld.b32 %r1, [%a1];": "an address of space .shared, of `tile`, where one generic is wanted",
    "mov.b64 %a1, tile; cvta.shared.u64 %a1, %a1; ld.shared.b32 %r1, [%a1];": "a generic address of `tile`",
    "mov.b64 %a1, tile; st.shared.b32 [%a1+16], 1;": "4 bytes at byte 16 of `tile`, which has 16",
    "mov.b64 %a1, fixed; st.b32 [%a1], 1;": "a store to `fixed`, which is constant",
    "add.s32 %r2, %r1, 1;": "`%r1` is read before it is written",
    "setp.eq.b32 %p1, %r0, 2; @%p1 mov.b32 %r1, 5; add.s32 %r2, %r1, 1;": "`%r1` is read before it is written",
    "setp.eq.b32 %p1, %r0, 2; @%p1 bra OUT; bar.sync 0; OUT:": "a barrier that 3 of the 4 threads of a workgroup come to",
    "setp.eq.b32 %p1, %r0, 2; @%p1 bra X; bar.sync 0; bra OUT; X: bar.sync 0; OUT:": "at different barriers",
    "setp.gt.u32 %p1, %r0, 1; @%p1 ret; bar.sync 0;": "a barrier that 2 of the 4",
}


@pytest.mark.parametrize("body", FAULTS)
def test_what_is_undefined_is_a_fault(body: str) -> None:
    out = np.zeros(64, np.uint8)
    text = ".const .align 4 .b32 fixed = 1;\n" + write_entry(
        "mov.u32 %r0, %tid.x;\n" + body, declarations=".shared .b32 tile[4];\n"
    )
    with pytest.raises(FaultAt) as caught:
        launch(text, [out], 4)
    assert FAULTS[body] in str(caught.value)
    assert "in line" in str(caught.value)


def test_reads_may_go_on_to_the_next_16_bytes_and_find_nothing_there() -> None:
    out = np.zeros(6, np.uint8)
    launch(
        write_entry("ld.global.b32 %r1, [%a0+4]; st.global.b8 [%a0], %r1; shr.u32 %r1, %r1, 24; st.global.b8 [%a0+1], %r1;"),
        [out],
    )
    assert out.tolist() == [0, 0xA5, 0, 0, 0, 0]
    with pytest.raises(FaultAt, match="which has 6"):
        launch(write_entry("st.global.b32 [%a0+4], 0;"), [out])
    with pytest.raises(FaultAt, match="which has 6"):
        launch(write_entry("ld.global.b32 %r1, [%a0+16];"), [out])


def test_what_is_kept_on_the_stack_may_have_parts_that_nobody_writes() -> None:
    """LLVM stores whole vectors there, also the lanes that it added to them."""
    stack = ".reg .b64 %SP; .local .align 8 .b8 depot[16]; mov.b64 %SP, depot; cvta.local.u64 %SP, %SP;\n"
    keep = "st.v2.b32 [%SP], {%r0, %r2}; st.b32 [%SP+8], %r3; "
    assert words(stack + keep + "ld.b32 %r1, [%SP];" + STORE_R1) == [0, 1, 2, 3]
    for place in (4, 8):
        filler = int.from_bytes(bytes([0xA5] * 4), "little", signed=True)
        assert words(stack + keep + f"ld.b32 %r1, [%SP+{place}];" + STORE_R1) == [filler] * 4
    with pytest.raises(FaultAt, match="`%r3` is read before it is written"):
        words(stack + "setp.eq.b32 %p1, %r0, 2; @%p1 mov.b32 %r3, 5;" + keep)


UNKNOWN = {
    "frobnicate.u32 %r1, %r0;": "unknown instruction `frobnicate.u32`",
    "add.ftz.f32 %r1, %r0, %r0;": "unknown instruction `add.ftz.f32`",
    "add.u8 %h1, %h1, %h1;": "unknown instruction `add.u8`",
    "add.s32 %r1, %r0;": "3 operands are wanted",
    "add.s32 %r1, %r0, %d1;": "`%d1` has 64 bits, type .s32 32",
    "add.s64 %r1, %d1, %d1;": "`%r1` has 32 bits",
    "add.rn.f32 %r1, %r0, 1;": "no constant of type .f32",
    "add.rn.f32 %r1, %r0, 1.5;": "no number: `1.5`",
    "mov.b64 %d1, nowhere+4;": "no operand of type .b64",
    "ld.global.v4.b32 {%r1, %r2}, [%a0];": "4 operands are wanted",
    "ld.volatile.global.b32 %r1, [%a0];": "unknown instruction",
    "bar.sync 1;": "only barrier 0",
    "bar.sync 0, 64;": "only barrier 0",
    "bra NOWHERE;": "no such label",
    "mov.u32 %r1, %laneid;": "unknown register `%laneid`",
    "call.uni nowhere, ();": "no function `nowhere`",
    "ld.param.b32 %r1, [p0+8];": "outside of `p0`",
    "atom.global.add.u32 %r1, [%a0], 1;": "unknown instruction `atom.global.add.u32`",
}


@pytest.mark.parametrize("body", UNKNOWN)
def test_what_is_not_known_is_never_guessed(body: str) -> None:
    with pytest.raises(PtxError) as caught:
        run(body)
    assert UNKNOWN[body] in str(caught.value)


@pytest.mark.parametrize(
    "text", [".visible .entry k( .param .u64 p0 ) {", ".texref t;", ".global .b32 x = y;", ".entry k() .reqntid 8 {}"]
)
def test_text_that_is_not_understood(text: str) -> None:
    with pytest.raises(PtxError):
        Module(HEAD + text)


def test_a_launch_may_be_bounded() -> None:
    text = write_entry("mov.u32 %r0, %tid.x;").replace("\n)\n", "\n)\n.maxntid 8\n")
    launch(text, [np.zeros(1, np.uint8)], 8)
    with pytest.raises(Fault, match="8"):
        launch(text, [np.zeros(1, np.uint8)], 9)


def test_code_that_may_be_contracted_runs() -> None:
    """`@FastMath` writes operations without a word about rounding."""
    text = "class K { @Kernel @FastMath static void k(KernelBuffer<float32> o) { o[0] = o[1] * o[2]; o[1] = o[0] - o[2]; } }"
    numbers = np.array([0, 1.5, 2.25], "float32")
    compile_text(text, target="ptx-emulator")["k"](numbers, grid=1, block=1)
    assert numbers.tolist() == [3.375, 1.125, 2.25]


@pytest.mark.parametrize("lanes", [5, 7, 12])
def test_a_lane_chosen_at_run_time_where_llvm_adds_lanes(lanes: int) -> None:
    text = f"""@Kernel public static void k(KernelBuffer<int16> a, int32 i) {{
        a[0] = (a.vload<{lanes}>(1) / a.vload<{lanes}>(2))[i];
    }}"""
    a = np.array([0, *(2**k for k in range(13, -1, -1))], np.int16)
    compile_text(text, "t.cj", target="ptx-emulator", cache=False)["k"](a, 2, grid=1, block=1)
    assert a[0] == 2
