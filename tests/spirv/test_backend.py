"""The backend as the driver sees it: targets, kinds, environments, names and lines in the output, choices, determinism."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from cajeta_dot.backends import Options
from cajeta_dot.backends.spirv import backend
from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.backends.vulkan.device import Device
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import SCALARIZED

from .kernels import Compiled, assemble, check_text, run_tool

TWO = """
class Pair {
    @Device static int32 take(KernelBuffer<int32> x, uint32 at) { return x[at]; }
    @Kernel static void first(KernelBuffer<int32> größe, KernelBuffer<int32> b, uint32 n) {
        größe[Workgroup.x()] = take(b, n);
    }
    @Kernel static void second(KernelBuffer<uint8> w, KernelBuffer<int8> x, KernelBuffer<int32> out) {
        uint32 i = KernelThread.globalIdX();
        out[i] = w.vload<4>(4 * i).dotSum(x.vload<4>(4 * i), take(out, i));
    }
}
"""


def emit(text: str, kind: str, **options: Any) -> tuple[Any, Reporter]:
    program = check_text(text)
    reporter = Reporter(program.source)
    return backend.emit(program, "spirv", kind, Options(**options), reporter), reporter


def test_the_target_is_listed() -> None:
    (target,) = backend.targets()
    assert (target.name, target.kinds, target.runs) == ("spirv", ("spirv-asm", "spirv", "reflect"), False)
    assert target.devices == ("vulkan",)
    assert backend.missing("spirv")


def test_it_can_not_be_loaded_without_a_device() -> None:
    program = check_text(TWO)
    reporter = Reporter(program.source)
    assert backend.load(program, "spirv", Options(), reporter) is None
    assert [diagnostic.code for diagnostic in reporter.found] == ["E0601"]


def test_unknown_environment() -> None:
    artifact, reporter = emit(TWO, "spirv-asm", target_env="vulkan1.4")
    assert artifact is None
    (found,) = reporter.found
    assert (found.code, found.primary) == ("E0603", None)
    assert found.helps


@pytest.mark.parametrize(("environment", "version"), [("vulkan1.1", 3), ("vulkan1.2", 5), ("vulkan1.3", 6)])
def test_version_in_the_binary(environment: str, version: int) -> None:
    binary, _ = emit(TWO, "spirv", target_env=environment)
    magic, number = np.frombuffer(binary.content, "<u4", 2)
    assert (magic, number) == (0x07230203, 0x10000 + 0x100 * version)


def test_each_kernel_has_its_own_interface(device: Device) -> None:
    """Both are in one module, under their own names, with bindings from 0."""
    program = check_text(TWO)
    for environment in ENVIRONMENTS:
        compiled = Compiled(program, environment, block=(2, 1, 1))
        kernels = {function.symbol: function for function in program.entries}
        out = np.array([5, 6], np.int32)
        w, x = np.arange(8, dtype=np.uint8), np.full(8, -1, np.int8)
        compiled.run(device, kernels["second"], [w, x, out])
        assert out.tolist() == [5 - 6, 6 - 22]
        out = np.zeros(3, np.int32)
        compiled.run(device, kernels["first"], [out, np.array([7, 8, 9], np.int32), 2], groups=3)
        assert out.tolist() == [9, 9, 9]


def test_names_come_from_the_source() -> None:
    text = emit(TWO, "spirv-asm")[0].content
    names = {line.split(maxsplit=2)[2] for line in text.splitlines() if line.startswith("OpName")}
    assert {'"größe"', '"b"', '"w"', '"x"', '"out"', '"Pair.first"', '"Pair.second"', '"at"', '"i"'} <= names
    entries = [line.split()[3] for line in text.splitlines() if line.startswith("OpEntryPoint")]
    assert entries == ['"first"', '"second"']


def test_names_that_look_like_ours() -> None:
    """A user's names can't collide with types, constants and labels of the module."""
    text = """
        @Kernel static void main(KernelBuffer<int32> uint, KernelBuffer<int8> buffer_int, int32 entry, float32 glsl) {
            int32 uint_0 = entry; int32 merge = 3; float32 ptr_Function_int = Math.floor(glsl);
            if (uint_0 > 1) { merge = 2; }
            uint[0] = uint_0 + merge + (int32) ptr_Function_int + buffer_int[0];
        }
    """
    assert Compiled(check_text(text)).spirv


def test_lines_are_those_of_the_source() -> None:
    text = emit(TWO, "spirv-asm", debug_lines=True)[0].content
    file = next(line.split()[0] for line in text.splitlines() if "OpString" in line)
    lines = text.splitlines()
    dot = next(place for place, line in enumerate(lines) if "OpSUDot" in line)
    nearest = next(line for line in reversed(lines[:dot]) if line.startswith("OpLine"))
    place = TWO.splitlines().index("        out[i] = w.vload<4>(4 * i).dotSum(x.vload<4>(4 * i), take(out, i));")
    assert nearest.split()[:3] == ["OpLine", file, str(place + 1)]
    assert assemble(text)
    assert "OpLine" not in emit(TWO, "spirv-asm")[0].content


@pytest.mark.parametrize(("name", "named"), [("samples/k.cj", "samples/k.cj"), ("/home/somebody/k.cj", "k.cj")])
def test_the_file_has_no_folder_of_this_machine(name: str, named: str) -> None:
    program = check_text(TWO)
    program.source.name = name
    artifact = backend.emit(program, "spirv", "spirv-asm", Options(debug_lines=True), Reporter(program.source))
    assert artifact
    assert f'OpString "{named}"' in str(artifact.content)


def test_workgroup_size_is_an_option() -> None:
    text = emit(TWO, "spirv-asm", block=(8, 4, 2))[0].content
    assert text.count("LocalSize 8 4 2") == 2
    assert emit(TWO, "spirv-asm")[0].content.count("LocalSize 64 1 1") == 2


def test_choices_say_what_a_dot_became() -> None:
    (choice,) = emit(TWO, "spirv-asm")[0].choices
    assert "dotSum(x.vload" in TWO[choice.start : choice.end]
    assert (choice.function, choice.lanes, choice.signs, choice.exact) == ("Pair.second", 4, "us", True)
    assert (choice.form, choice.instruction, choice.why) == ("packed words", "OpSUDot + OpIAdd", "")
    artifact, reporter = emit(TWO, "spirv-asm", int_dot=False)
    (choice,) = artifact.choices
    assert choice.form == "bit fields"
    assert "--no-int-dot" in choice.why
    (remark,) = [found for found in reporter.found if found.rule is SCALARIZED]
    assert remark.message == "`dot` is expanded to 4 multiplies on `spirv`; OpSUDot is not used with --no-int-dot"
    assert remark.primary
    assert (remark.primary.start, remark.primary.end) == (choice.start, choice.end)


def test_reflection_says_how_to_call() -> None:
    content = json.loads(emit(TWO, "reflect", target_env="vulkan1.2", block=(4, 1, 1))[0].content)
    assert (content["target_env"], content["spirv"]) == ("vulkan1.2", "1.5")
    assert "DotProduct" in content["capabilities"]
    assert content["extensions"] == ["SPV_KHR_integer_dot_product"]
    assert content["features"] == ["shaderIntegerDotProduct"]
    first, second = content["entry_points"]
    assert (first["name"], first["symbol"], first["local_size"]) == ("Pair.first", "first", [4, 1, 1])
    assert first["push_constant_bytes"] == 12
    out, b, n = first["parameters"]
    assert (out["binding"], out["access"], out["memory"], out["length_offset"]) == (0, "read_write", "int", 0)
    assert (b["binding"], b["access"], b["length_offset"]) == (1, "read", 4)
    assert n == {"name": "n", "type": "uint32", "offset": 8, "bytes": 4}
    assert [parameter["memory"] for parameter in second["parameters"]] == ["uint", "uint", "int"]


MEMORY = "@Kernel static void k(KernelBuffer<{0}> a, KernelBuffer<{0}> b) {{ a[0] = b[1]; a[1] = (int8) b[2] + b[0]; }}"


@pytest.mark.parametrize("element", ["int8", "uint16", "float16", "int32", "float32", "uint64", "float64"])
def test_reflection_names_the_features_of_the_device(element: str) -> None:
    """Whether a device is opened with them decides whether it takes the module: see tests/vulkan."""
    wanted = {
        "int8": ["storageBuffer8BitAccess"],
        "uint16": ["storageBuffer16BitAccess"],
        "float16": ["storageBuffer16BitAccess"],
        "uint64": ["shaderInt64"],
        "float64": ["shaderFloat64"],
    }
    text = MEMORY.format(element)
    assert json.loads(emit(text, "reflect")[0].content)["features"] == wanted.get(element, [])
    packed = json.loads(emit(text, "reflect", narrow_memory=False)[0].content)
    assert packed["features"] == [name for name in wanted.get(element, []) if not name.startswith("storage")]


def test_fast_math_allows_contraction() -> None:
    text = "{} @Kernel static void k(KernelBuffer<float32> a) {{ a[0] = a[1] * a[2] + a[3]; }}"
    assert emit(text.format(""), "spirv-asm")[0].content.count("NoContraction") == 2
    assert "NoContraction" not in emit(text.format("@FastMath"), "spirv-asm")[0].content


def test_output_does_not_depend_on_hashes() -> None:
    script = (
        "import sys; from tests.spirv.test_backend import emit, TWO; "
        "sys.stdout.write(emit(TWO, 'spirv-asm')[0].content + emit(TWO, 'reflect')[0].content)"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "99")
    }
    assert len(texts) == 1
    assert b"OpSUDot" in texts.pop()


def test_disassembly_keeps_everything() -> None:
    """Assembled and read back, the module has as many instructions as its text has lines."""
    text = emit(TWO, "spirv-asm")[0].content
    listing = run_tool("spirv-dis", "", assemble(text), "-", "--no-header", "--raw-id").decode()
    assert len(listing.splitlines()) == len([line for line in text.splitlines() if not line.startswith(";")])


FLOATS = """
class Floats {
    @Kernel static void one(KernelBuffer<float32> a) { a[0] = a[1] + 0.0; }
    @Kernel static void two(KernelBuffer<float64> d, KernelBuffer<float32> a) { d[0] = d[1] + a[0]; }
}
"""


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_sign_of_zeros_is_kept_where_that_is_asked_for(environment: str) -> None:
    """Of the types that the module has; the assemblers agree on what the words mean."""
    plain, _ = emit(FLOATS, "spirv-asm", target_env=environment)
    assert "Preserve" not in plain.content
    asked, _ = emit(FLOATS, "spirv-asm", target_env=environment, exact_zeros=True)
    assert asked.content.count("SignedZeroInfNanPreserve 32\n") == asked.content.count("SignedZeroInfNanPreserve 64\n") == 2
    assert ("SPV_KHR_float_controls" in asked.content) == (environment == "vulkan1.1")
    binary, _ = emit(FLOATS, "spirv", target_env=environment, exact_zeros=True)
    assert binary.content[12:] == assemble(asked.content, environment)[12:]
    no_floats, _ = emit(TWO, "spirv-asm", target_env=environment, exact_zeros=True)
    assert "Preserve" not in no_floats.content
