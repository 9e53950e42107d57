"""Code for AMD GPUs: what it looks like, and which architectures are refused."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.backends import Options
from cajeta_dot.backends.amdgcn import backend
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import NOT_ON_TARGET, SCALARIZED, TARGET_TOO_OLD, UNKNOWN_TARGET
from cajeta_dot.types import FLOAT32, INT8, INT32, UINT8, UINT32, Vector

from .programs import SOURCE, apply, array, make_kernel, make_program, param
from .test_dots import SIGNS, dot_kernel
from .test_nvptx import compile_text

if TYPE_CHECKING:
    from cajeta_dot.diagnostics import Diagnostic
    from cajeta_dot.ir import Builder, Function, Program, Value

LANES = (4, 8, 12, 16, 20, 32, 48, 64, 128, 256)
DOT = re.compile(r"^\s+(v_dot4c?_\w+?)(?:_e32|_e64)?\s", re.MULTILINE)
MULTIPLY = re.compile(r"^\s+v_(?:mul|mad)\S*[iu](?:24|16|8)", re.MULTILINE)


def emit(program: Program, kind: str = "asm", **options: object) -> tuple[str | bytes, list[Diagnostic]]:
    reporter = Reporter(program.source)
    artifact = backend.emit(program, "amdgcn", kind, Options(**options), reporter)  # type: ignore[arg-type]
    return (artifact.content if artifact else ""), reporter.found


def emit_text(program: Program, kind: str = "asm", **options: object) -> str:
    content, found = emit(program, kind, **options)
    assert isinstance(content, str)
    assert content, [d.message for d in found]
    return content


# ---- dot products


@pytest.mark.parametrize(("architecture", "signs", "name", "each"), [
    ("gfx906", "us", "v_dot4_i32_i8", 3), ("gfx906", "su", "v_dot4_i32_i8", 3), ("gfx906", "ss", "v_dot4_i32_i8", 1),
    ("gfx906", "uu", "v_dot4_u32_u8", 1), ("gfx90a", "us", "v_dot4c_i32_i8", 3), ("gfx1030", "ss", "v_dot4c_i32_i8", 1),
    ("gfx1100", "us", "v_dot4_i32_iu8", 1), ("gfx1100", "su", "v_dot4_i32_iu8", 1), ("gfx1100", "ss", "v_dot4_i32_iu8", 1),
    ("gfx1100", "uu", "v_dot4_u32_u8", 1), ("gfx1201", "us", "v_dot4_i32_iu8", 1),
])  # fmt: skip
def test_each_word_takes_as_many_dots_as_it_needs(architecture: str, signs: str, name: str, each: int) -> None:
    """Whatever the lanes, and whether the accumulator is as wide or one lane; nothing is multiplied beside."""
    shapes = [(lanes, into) for lanes in LANES for into in sorted({1, lanes // 4})]
    text = emit_text(make_program(*(dot_kernel(signs, *shape) for shape in shapes)), gpu_arch=architecture)
    kernels = re.findall(rf"^{signs}_(\d+)_(\d+):$(.*?)^\s+s_endpgm$", text, re.MULTILINE | re.DOTALL)
    assert [(int(lanes), int(into)) for lanes, into, _ in kernels] == shapes
    for lanes, _, body in kernels:
        assert DOT.findall(body) == [name] * (each * int(lanes) // 4), lanes
        assert not MULTIPLY.search(body)


def test_operands_are_read_by_their_own_signs() -> None:
    texts = {signs: emit_text(make_program(dot_kernel(signs, 64, 16))) for signs in SIGNS}
    found = {signs: set(re.findall(r"neg_lo:\[\d,\d,\d\]", text)) for signs, text in texts.items()}
    assert found == {"us": {"neg_lo:[0,1,0]"}, "su": {"neg_lo:[0,1,0]"}, "ss": {"neg_lo:[1,1,0]"}, "uu": set()}


def test_memory_is_read_at_once_and_nibbles_are_unpacked_as_words() -> None:
    """Vectors of bytes are only aligned like bytes; the GPU takes them all the same."""

    def build(b: Builder, v: list[Value]) -> Value:
        packed, x, y, acc = v
        low = b.binary("and", packed, b.const(packed.type, 15))  # type: ignore[arg-type]
        high = b.binary("shr", packed, b.const(packed.type, 4))  # type: ignore[arg-type]
        return b.dot(high, y, b.dot(low, x, acc))

    types = [Vector(UINT8, 16), Vector(INT8, 16), Vector(INT8, 16), Vector(INT32, 4)]
    text = emit_text(make_program(apply("k", types, types[3], build)))
    names = [line.split()[0] for line in text.splitlines() if line.startswith("\tv_") or line.startswith("\tglobal_")]
    assert names.count("global_load_b128") == 4
    assert names.count("global_store_b128") == 1
    assert names.count("v_dot4_i32_iu8") == 8
    assert not [name for name in names if "perm" in name or "bfe" in name or name.startswith("v_cvt") or "_u8" in name]


# ---- shape


def test_a_kernel_is_what_the_hsa_abi_asks_for() -> None:
    out, numbers, scale = param("out", array(INT32)), param("numbers", array(INT8)), param("s", FLOAT32)

    def write(b: Builder, _: Function) -> None:
        at = b.emit("coordinate", UINT32, attr="global.y")
        size = b.convert(b.emit("coordinate", UINT32, attr="size.y"), INT32)
        number = b.binary("add", b.convert(b.load(numbers, at, INT8), INT32), b.convert(scale, INT32))
        b.store(out, at, b.binary("mul", number, size))

    program = make_program(make_kernel("k", [out, numbers, scale], write))
    text = emit_text(program, block=(8, 16, 2))
    assert ".amdhsa_code_object_version 5" in text
    assert re.search(r"\.amdhsa_kernel k\b", text)
    kinds = re.findall(r"\.value_kind: +(\w+)", text)
    assert kinds == ["global_buffer", "by_value", "global_buffer", "by_value", "by_value"], "and nothing hidden"
    assert re.search(r"\.max_flat_workgroup_size: 256\b", text)
    assert re.search(r"\.reqd_workgroup_size:\s+- 8\s+- 16\s+- 2\b", text)
    assert "s_load" in text
    assert ".private_segment_fixed_size: 0" in text, "locals are in registers"
    ir = emit_text(program, "llvm-ir", block=(8, 16, 2))
    assert "mul i32 %v" in ir
    assert re.search(r"mul i32 %\w+, 16\b", ir), "the size of a workgroup is known"


def test_an_object_is_an_elf_for_the_machine() -> None:
    content, _ = emit(make_program(dot_kernel("us", 64, 16)), "obj", gpu_arch="gfx90a")
    assert isinstance(content, bytes)
    assert content[:7] == b"\x7fELF\x02\x01\x01"
    assert (content[7], content[8]) == (64, 3), "HSA, code object version 5"
    machine, flags = struct.unpack_from("<H", content, 18)[0], struct.unpack_from("<I", content, 48)[0]
    assert (machine, flags & 0xFF) == (224, 0x3F), "AMDGPU, gfx90a"
    assert b"T.us_64_16.kd\0" in content or b"us_64_16.kd\0" in content


def test_shared_arrays_and_barriers() -> None:
    text = emit_text(
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
"""),
        block=(128, 1, 1),
    )
    assert len(re.findall(r"\bs_barrier\b", text)) == 1
    assert ".group_segment_fixed_size: 80" in text
    assert "ds_store_b8" in text
    assert "ds_load" in text
    # What was written before the barrier has arrived when it is passed.
    written, met = text.index("ds_store_b8"), text.index("s_barrier")
    assert written < text.rindex("lgkmcnt(0)", 0, met) < met < text.index("ds_load")


def test_a_workgroup_of_one_wave_needs_no_barrier() -> None:
    """All its items are at the same place anyway; LLVM knows the size and leaves a barrier out."""
    program = compile_text("""
class W {
    @Kernel
    static void turn(KernelBuffer<int32> out) {
        Shared<int32> tile = shared int32[32];
        uint32 i = KernelThread.x();
        tile[31 - i] = 5;
        Barrier.workgroup();
        out[i] = tile[i];
    }
}
""")
    assert "s_barrier" not in emit_text(program, block=(32, 1, 1))
    assert "s_barrier" in emit_text(program, block=(64, 1, 1))


def test_checks_are_for_other_machines() -> None:
    program = make_program(apply("k", [INT32, INT32], INT32, lambda b, v: b.binary("div", *v)))
    assert emit(program, "llvm-ir", checks=True) == emit(program, "llvm-ir", checks=False)


def test_names_are_those_that_c_can_call() -> None:
    text = emit_text(make_program(apply("Größe.k", [INT32], INT32, lambda b, v: v[0])), "llvm-ir")
    (name,) = re.findall(r"define amdgpu_kernel void @([^(]+)\(", text)
    assert name.isascii()
    assert name.isidentifier()


# ---- architectures


def test_every_architecture_of_the_table_is_known_to_llvm() -> None:
    """In a process of its own: LLVM ends it where the table is wrong, and knows a name less only on stderr."""
    root = Path(__file__).parent.parent.parent
    script = f"""
import sys; sys.path.insert(0, {str(root)!r})
from cajeta_dot.backends.amdgcn import ARCHITECTURES
from tests.llvm.test_amdgcn import DOT, SIGNS, dot_kernel, emit_text, make_program
for architecture in ARCHITECTURES:
    print(architecture, flush=True)
    text = emit_text(make_program(*(dot_kernel(signs, 4, 1) for signs in SIGNS)), gpu_arch=architecture, fallback=True)
    assert f"amdhsa--{{architecture}}" in text
    assert bool(DOT.search(text)) is bool(ARCHITECTURES[architecture]), text
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-100:] + done.stderr[-2000:]


@pytest.mark.parametrize("architecture", ["gfx803", "gfx900", "gfx1010"])
def test_an_architecture_without_dots_is_refused_where_they_are_needed(architecture: str) -> None:
    program = make_program(dot_kernel("us", 4, 1))
    content, found = emit(program, gpu_arch=architecture)
    assert not content
    (error,) = found
    assert (error.rule, error.primary) == (TARGET_TOO_OLD, None)
    assert error.message == (
        f"v_dot4 needs `gfx906` or another that has it, such as `gfx1030` or `gfx1100`, found `{architecture}`"
    )
    assert error.helps[0].message == "`--gpu-arch gfx906` or `--fallback`"
    content, found = emit(program, gpu_arch=architecture, fallback=True)
    assert content
    assert [(d.rule, d.message) for d in found] == [
        (SCALARIZED, "`dot` is expanded to 4 multiplies on `amdgcn`; `gfx906` has `v_dot4`")
    ]
    content, found = emit(make_program(apply("k", [INT32], INT32, lambda b, v: v[0])), gpu_arch=architecture)
    assert content
    assert not found


@pytest.mark.parametrize(("name", "near"), [("gfx90", "gfx900"), ("gfx1O30", "gfx1030"), ("GFX1100", "gfx1100"), ("sm_61", "")])
def test_an_unknown_architecture_is_refused(name: str, near: str) -> None:
    content, found = emit(make_program(dot_kernel("us", 4, 1)), gpu_arch=name)
    assert not content
    assert [(d.rule, d.message) for d in found] == [(UNKNOWN_TARGET, f"no GPU architecture `{name}`")]
    help = found[0].helps[0].message
    assert help == f"did you mean `{near}`?" if near else help.startswith("there are gfx")


def test_a_workgroup_that_no_gpu_can_run_is_refused() -> None:
    program = make_program(dot_kernel("us", 4, 1))
    content, found = emit(program, block=(64, 4, 5))
    assert not content
    assert [(d.rule, d.message) for d in found] == [
        (NOT_ON_TARGET, "a workgroup of 1280 work items is not supported on `amdgcn`")
    ]
    assert emit(program, block=(64, 4, 4))[0]


def test_a_remainder_of_floats_is_integer_arithmetic() -> None:
    """LLVM's own, which rounds on the way, is never asked for."""
    program = make_program(apply("k", [FLOAT32] * 2, FLOAT32, lambda b, v: b.binary("rem", *v)))
    assert "frem" not in emit_text(program, "llvm-ir")
    assert "s_endpgm" in emit_text(program, "asm")


def test_its_code_is_for_elsewhere() -> None:
    (info,) = backend.targets()
    assert not info.runs
    with pytest.raises(RuntimeError):
        backend.load(make_program(dot_kernel("us", 4, 1)), "amdgcn", Options(), Reporter(SOURCE))
