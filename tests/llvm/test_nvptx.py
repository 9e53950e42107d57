"""PTX: what it looks like, what ptxas says to it, and which architectures are refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from cajeta_dot import compile
from cajeta_dot.backends import Options
from cajeta_dot.backends.llvm.assembler import write_assembly
from cajeta_dot.backends.llvm.compile import write_program
from cajeta_dot.backends.nvptx import ARCHITECTURES, _make_machine, backend  # pyright: ignore[reportPrivateUsage]
from cajeta_dot.backends.ptx_versions import LOWEST_VERSIONS, VERSIONS
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import SCALARIZED, TARGET_TOO_OLD, UNKNOWN_TARGET
from cajeta_dot.driver import check_source
from cajeta_dot.ir import Builder, Function, Program, Return, Value
from cajeta_dot.record import replace
from cajeta_dot.source import Source
from cajeta_dot.types import BOOLEAN, FLOAT16, FLOAT32, FLOAT64, INT8, INT32, SCALARS, UINT8, UINT32, Scalar, Vector

from .programs import SOURCE, apply, array, make_function, make_kernel, make_program, param

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cajeta_dot.backends import Artifact
    from cajeta_dot.diagnostics import Diagnostic

    Assemble = Callable[..., Path]

SIGNS: dict[str, tuple[Scalar, Scalar]] = {"us": (UINT8, INT8), "ss": (INT8, INT8), "uu": (UINT8, UINT8), "su": (INT8, UINT8)}


def emit(program: Program, kind: str = "ptx", **options: object) -> tuple[str, list[Diagnostic]]:
    reporter = Reporter(program.source)
    artifact: Artifact | None = backend.emit(program, "nvptx", kind, Options(**options), reporter)  # type: ignore[arg-type]
    assert artifact is None or isinstance(artifact.content, str)
    return (str(artifact.content) if artifact else ""), reporter.found


def compile_text(text: str) -> Program:
    source = Source("t.cj", text)
    reporter = Reporter(source)
    program = check_source(source, reporter)
    assert program, [d.message for d in reporter.found]
    return program


def dot_kernel(signs: str, lanes: int, into: int) -> Function:
    w, x = SIGNS[signs]
    types = [Vector(w, lanes), Vector(x, lanes), Vector(INT32, into)]
    return apply(f"{signs}_{lanes}_{into}", types, types[2], lambda b, v: b.dot(*v))


# ---- dot products


@pytest.mark.parametrize(("signs", "instruction"), [
    ("us", "dp4a.u32.s32"), ("ss", "dp4a.s32.s32"), ("uu", "dp4a.u32.u32"), ("su", "dp4a.s32.u32"),
])  # fmt: skip
def test_64_lanes_are_16_instructions_and_no_multiply(signs: str, instruction: str, assemble_ptx: Assemble) -> None:
    text, found = emit(make_program(dot_kernel(signs, 64, 16)))
    assert len(re.findall(re.escape(instruction), text)) == 16
    assert not re.search(r"\bmul\.(?!wide)", text)
    assert len(re.findall(r"ld\.global\.nc\.v4", text)) == 12
    assert len(re.findall(r"st\.global\.v4", text)) == 4
    assert text.count("dp4a") == 16
    assert not found
    assemble_ptx(text)


@pytest.mark.parametrize("lanes", [4, 12, 64, 256])
@pytest.mark.parametrize("signs", SIGNS)
def test_one_accumulator_takes_a_chain(signs: str, lanes: int, assemble_ptx: Assemble) -> None:
    text, _ = emit(make_program(dot_kernel(signs, lanes, 1)))
    assert text.count("dp4a") == lanes // 4
    assemble_ptx(text)


def test_nibbles_are_unpacked_as_words() -> None:
    """Two vectors of 16 out of 16 bytes: a mask, and a shift and a mask, for each of four words."""

    def build(b: Builder, v: list[Value]) -> Value:
        packed, x, y, acc = v
        low = b.binary("and", packed, b.const(packed.type, 15))  # type: ignore[arg-type]
        high = b.binary("shr", packed, b.const(packed.type, 4))  # type: ignore[arg-type]
        return b.dot(high, y, b.dot(low, x, acc))

    types = [Vector(UINT8, 16), Vector(INT8, 16), Vector(INT8, 16), Vector(INT32, 4)]
    text, _ = emit(make_program(apply("k", types, types[3], build)))
    assert (text.count("dp4a"), text.count("and.b32"), text.count("shr.u32")) == (8, 8, 4)
    assert "prmt" not in text


UNPACKED = """
class Unpacked {
    @Kernel
    static void k(KernelBuffer<int32> out, KernelBuffer<uint8> w, KernelBuffer<int8> x) {
        uint32 i = KernelThread.globalIdX();
        Vector<uint8,64> p = w.vload<64>(64 * i);
        Vector<int32,16> acc = (p & 15).dotAccum(x.vload<64>(0), Vector<int32,16>(0));
        acc = (p >> 4).dotAccum(x.vload<64>(64), acc);
        acc = ((p >> 2) & 3).dotAccum(x.vload<64>(128), acc);
        acc = ((p & 15) | ((p >> 1) & 48)).asSigned().dotAccum(x.vload<64>(192), acc);
        acc = ((p & 15).asSigned() - 8).dotAccum(x.vload<64>(256), acc);
        out.vstore(16 * i, acc);
    }
}
"""


def test_no_byte_of_a_program_is_unpacked_by_itself(assemble_ptx: Assemble) -> None:
    """Nibbles, pairs of bits, six bits of two parts, and nibbles around 0: masks and shifts of words, then dp4a."""
    text, found = emit(compile_text(UNPACKED))
    assert text.count("dp4a.u32.s32") == 48
    assert text.count("dp4a.s32.s32") == 32
    assert not re.search(r"prmt|bfe|bfi|\.[usb]8\b|(?:cvt|shr|shl|and|or)\.[usb]16", text)
    assert text.count("shr.u32") == 3 * 16
    assert not [d for d in found if d.rule is SCALARIZED]
    assemble_ptx(text)


@pytest.mark.parametrize("fast", [False, True])
def test_products_are_joined_with_sums_only_where_that_is_allowed(fast: bool) -> None:
    kernel = apply("k", [FLOAT32] * 3, FLOAT32, lambda b, v: b.binary("add", b.binary("mul", v[0], v[1]), v[2]))
    kernel.fast_math = fast
    text, _ = emit(make_program(kernel))
    assert ("fma.rn.f32" in text) is fast
    assert ("mul.rn.f32" in text and "add.rn.f32" in text) is not fast  # without .rn ptxas would join them


# ---- shape


def test_a_kernel_is_an_entry_whose_arrays_are_pointers_and_lengths(assemble_ptx: Assemble) -> None:
    out, numbers, flag, scale = (
        param("out", array(INT32)),
        param("numbers", array(INT8)),
        param("flag", BOOLEAN),
        param("s", FLOAT64),
    )

    def write(b: Builder, _: Function) -> None:
        at = b.emit("coordinate", UINT32, attr="group.z")
        number = b.convert(b.load(numbers, at, INT8), INT32)
        b.store(out, at, b.select(flag, number, b.convert(scale, INT32)))

    text, _ = emit(make_program(make_kernel("k", [out, numbers, flag, scale], write)))
    head = re.search(r"\.visible \.entry k\((.*?)\)", text, re.DOTALL)
    assert head
    assert re.findall(r"\.param (.*?) k_param_\d", head[1]) == [
        ".u64 .ptr .global .align 16", ".u64", ".u64 .ptr .global .align 16", ".u64", ".u8", ".f64",
    ]  # fmt: skip
    assert "ld.global.nc.s8" in text  # what is only read, and by its sign
    assert "%ctaid.z" in text
    assert text.count(".entry") == 1
    assert ".func" not in text
    assemble_ptx(text)


def test_helpers_and_host_methods_are_compiled_where_kernels_call_them(assemble_ptx: Assemble) -> None:
    a = param("a", INT32)
    twice = make_function("twice", "host", [a], INT32, lambda b, f: f.body.append(Return(b.binary("add", a, a))))
    lonely_a = param("a", INT32)
    lonely = make_function("lonely", "host", [lonely_a], INT32, lambda b, f: f.body.append(Return(lonely_a)))
    kernel = apply("k", [INT32], INT32, lambda b, v: b.emit("call", INT32, *v, attr=twice))
    text, _ = emit(make_program(twice, lonely, kernel), "llvm-ir")
    assert "@twice..body" in text
    assert "lonely" not in text
    text, _ = emit(make_program(twice, lonely, kernel))
    assert text.count(".entry") == 1
    assemble_ptx(text)


@pytest.mark.parametrize("kind", ["ptx", "llvm-ir"])
def test_checks_are_for_other_machines(kind: str) -> None:
    program = make_program(apply("k", [INT32, INT32], INT32, lambda b, v: b.binary("div", *v)))
    assert emit(program, kind, checks=True) == emit(program, kind, checks=False)


def test_names_that_ptx_does_not_know_are_changed(assemble_ptx: Assemble) -> None:
    def kernel(name: str) -> Function:
        return apply(name, [INT32], INT32, lambda b, v: v[0])

    text, _ = emit(make_program(kernel("Größe.k"), kernel("W.k"), kernel("W$k")))
    assert re.findall(r"\.entry (\S+)\(", text) == ["Gr$f6$dfe$k", "W$k", "W$k$"]
    assemble_ptx(text)


def test_shared_arrays_and_barriers(assemble_ptx: Assemble) -> None:
    text, _ = emit(
        compile_text("""
class W {
    @Kernel
    static void reverse(KernelBuffer<int8> out, KernelBuffer<int8> in) {
        Shared<int8> tile = shared int8[67];
        uint32 i = KernelThread.x();
        tile[63 - i] = in[KernelThread.globalIdX()];
        Barrier.workgroup();
        out.vstore(4 * KernelThread.globalIdX(), tile.vload<4>(i));
    }
}
""")
    )
    assert text.count("bar.sync") == 1
    assert re.search(r"\.shared \.align 16 \.b8 \S+\[80\];", text)
    assert "st.shared" in text
    assert "ld.shared.b32" in text
    assemble_ptx(text)


@pytest.mark.parametrize("lanes", [1, 3, 16])
@pytest.mark.parametrize("element", [s for s in SCALARS.values() if s.is_number], ids=str)
def test_every_opcode_is_something_that_ptxas_takes(element: Scalar, lanes: int, assemble_ptx: Assemble) -> None:
    from .test_operations import TABLES, apply_all, build, opcodes, result_of, shape

    type = shape(element, None if lanes == 1 else lanes)
    functions: list[Function] = []
    for operands in TABLES:
        made = {op: (result_of(op, type), build(op, type)) for op in opcodes(element, operands)}
        functions.append(apply_all(f"k{operands}", [type] * operands, made))
    text, _ = emit(make_program(*functions))
    assert "llvm." not in text
    assemble_ptx(text)


def test_float16_needs_no_library(assemble_ptx: Assemble) -> None:
    functions = [
        apply(f"from_{e}", [Vector(e, 3)], Vector(FLOAT16, 3), lambda b, v: b.convert(v[0], FLOAT16))
        for e in (FLOAT32, FLOAT64, INT32)
    ] + [
        apply(f"to_{e}", [Vector(FLOAT16, 3)], Vector(e, 3), lambda b, v, e=e: b.convert(v[0], e))
        for e in (FLOAT32, FLOAT64, INT32)
    ]
    text, _ = emit(make_program(*functions))
    assert "cvt.rn.f16.f32" in text
    assert "cvt.rn.f16.f64" in text
    assert ".extern" not in text
    assemble_ptx(text)


def test_workgroups_of_a_size_are_promised_where_one_is_asked_for(assemble_ptx: Assemble) -> None:
    program = make_program(apply("k", [INT32], INT32, lambda b, v: v[0]))
    assert ".maxntid" not in emit(program)[0]
    text, _ = emit(program, block=(32, 4, 1))
    assert re.search(r"^\.maxntid 32, 4(, 1)?$", text, re.M)
    assemble_ptx(text)


def test_a_vector_known_to_be_aligned_is_loaded_at_once(assemble_ptx: Assemble) -> None:
    """Rows of 144 bytes, a loop by 48 and an offset of 16: every address is a multiple of 16, and nobody asks."""
    text, _ = emit(
        compile_text("""
class W {
    @Kernel
    static void k(KernelBuffer<int32> out, KernelBuffer<int8> w, int32 n) {
        uint32 row = KernelThread.globalIdX();
        int32 acc = 0;
        for (int32 at = 0; at < n; at += 48) {
            acc = w.vload<16>(row * 144 + at + 16).dotSum(w.vload<16>(at), acc);
        }
        out[row] = acc;
    }
}
""")
    )
    assert len(re.findall(r"ld\.global\.nc\.v4\.b32", text)) == 2
    assert not re.search(r"ld\.global\.nc\.b(8|16|32)|shf\.|prmt", text)
    assemble_ptx(text)


# ---- architectures


def test_the_default_runs_from_pascal_on(assemble_ptx: Assemble) -> None:
    text, _ = emit(make_program(dot_kernel("us", 4, 1)))
    assert ".version 5.0" in text
    assert ".target sm_61" in text


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_of_the_table_is_known_to_llvm(architecture: str) -> None:
    number = int(re.sub(r"\D", "", architecture))
    text, found = emit(make_program(dot_kernel("us", 64, 16)), gpu_arch=architecture, fallback=True)
    assert f".target {architecture}" in text
    assert text.count("dp4a.u32.s32") == (16 if number >= 61 else 0)
    scalar = [d.message for d in found if d.rule is SCALARIZED]
    assert scalar == ([] if number >= 61 else ["`dot` is expanded to 64 multiplies on `nvptx`; `sm_61` has `dp4a`"])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_text_has_the_lowest_version_that_has_the_architecture(architecture: str) -> None:
    """The table's, which is also what LLVM would take by itself."""
    program = make_program(apply("k", [INT32], INT32, lambda b, v: v[0]))
    lowest = LOWEST_VERSIONS[architecture]
    machine = replace(_make_machine(architecture, lowest, None), features=())
    assert f".version {lowest}\n" in emit(program, gpu_arch=architecture)[0]
    written = write_program(program, machine, False, Reporter(SOURCE))
    assert written
    assert f".version {lowest}\n" in write_assembly(written.text, machine, 2)


@pytest.mark.parametrize("version", VERSIONS)
def test_any_later_version_may_be_asked_for(version: str) -> None:
    program = make_program(apply("k", [INT32], INT32, lambda b, v: v[0]))
    text, found = emit(program, gpu_arch="sm_75", ptx_version=version)
    if VERSIONS.index(version) < VERSIONS.index("6.3"):
        assert not text
        assert [(d.rule, d.message) for d in found] == [(TARGET_TOO_OLD, f"`sm_75` needs PTX 6.3 or later, found `{version}`")]
    else:
        assert f".version {version}\n" in text
        assert not found


def test_a_version_that_there_is_not() -> None:
    program = make_program(apply("k", [INT32], INT32, lambda b, v: v[0]))
    for version, help in (("8.9", "did you mean `8.8`?"), ("eight", "there are 4.0")):
        text, found = emit(program, ptx_version=version)
        assert not text
        assert [(d.rule, d.message) for d in found] == [(UNKNOWN_TARGET, f"no PTX version `{version}`")]
        assert help[:8] in found[0].helps[0].message


@pytest.mark.parametrize("architecture", ["sm_50", "sm_53", "sm_60"])
def test_an_architecture_without_dp4a_is_refused_where_it_is_needed(architecture: str) -> None:
    text, found = emit(make_program(dot_kernel("us", 4, 1)), gpu_arch=architecture)
    assert not text
    assert [(d.rule, d.message, d.primary) for d in found] == [
        (TARGET_TOO_OLD, f"dp4a needs `sm_61` or later, found `{architecture}`", None)
    ]
    assert found[0].helps[0].message == "`--gpu-arch sm_61` or `--fallback`"
    text, found = emit(make_program(apply("k", [INT32], INT32, lambda b, v: v[0])), gpu_arch=architecture)
    assert text
    assert not found


@pytest.mark.parametrize(("name", "near"), [("sm_16", "sm_61"), ("sm61", "sm_61"), ("gfx1100", ""), ("sm_900", "sm_90")])
def test_an_unknown_architecture_is_refused(name: str, near: str) -> None:
    text, found = emit(make_program(dot_kernel("us", 4, 1)), gpu_arch=name)
    assert not text
    assert [d.rule for d in found] == [UNKNOWN_TARGET]
    assert found[0].message == f"no GPU architecture `{name}`"
    assert ("did you mean" in found[0].helps[0].message) is bool(near)


def test_a_remainder_of_floats_is_integer_arithmetic(assemble_ptx: Assemble) -> None:
    """LLVM's own would divide, round and multiply back."""
    text, found = emit(make_program(apply("k", [FLOAT32] * 2, FLOAT32, lambda b, v: b.binary("rem", *v))))
    assert not found
    assert "rem.u32" in text
    assert not re.search(r"\b(div|fma|mul)\.rn", text)
    assemble_ptx(text)


def test_its_code_is_for_devices() -> None:
    (info,) = backend.targets()
    assert not info.runs
    assert info.devices == ("cuda",)
    reporter = Reporter(SOURCE)
    assert backend.load(make_program(dot_kernel("us", 4, 1)), "nvptx", Options(), reporter) is None
    assert [found.code for found in reporter.found] == ["E0601"]


def test_text_does_not_depend_on_what_was_compiled_before() -> None:
    """LLVM counts calls up for the whole process."""
    helper = "@Device static int32 f(KernelBuffer<int32> a, int32 i) { return a[i]; }"
    kernel = "@Kernel static void k(KernelBuffer<int32> y) { y[0] = f(y, 1) + f(y, 2); }"
    texts = [str(compile(f"class K {{ {helper} {kernel} }}", target="nvptx", optimize=0).emit("ptx")) for _ in range(2)]
    assert re.findall("// callseq (.*)", texts[0]) == ["0, 0", "0", "1, 0", "1"]
    assert texts[0] == texts[1]
