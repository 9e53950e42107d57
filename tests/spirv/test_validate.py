"""The checker: it has nothing against what the backend makes, and it finds each of these faults planted in good modules."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.backends.spirv.validate import InvalidModule, find_faults, validate

from .kernels import Compiled, check_text

SOURCE = """
class Good {
    @Device static float32 scale(KernelBuffer<float32> s, float32 x, float32 y) { return x * s[0] + y; }

    @Kernel static void run(KernelBuffer<int32> out, KernelBuffer<uint8> w, KernelBuffer<int8> x, KernelBuffer<int16> h,
                            KernelBuffer<float32> s, int32 n, int64 m) {
        int32 i = (int32) KernelThread.globalIdX();
        if (i >= n) { return; }
        Vector<uint8,4> u = w.vload<4>(4 * i);
        Vector<int8,4> v = x.vload<4>(4 * i);
        int32 total = v.dotSum(v, u.dotSum(v, u.dot(u, i)));
        for (int32 k = 0; k < n; k++) {
            if (k == total) { break; }
            total = total / (k + 1);
        }
        h[i] = (int16) total;
        s[i] = scale(s, (float32) total, 1.0f);
        out[i] = (int32) (m + 3) + Bits.count((uint32) total);
    }
    @Kernel static void other(KernelBuffer<int32> out, KernelBuffer<float64> d) { out[0] = (int32) Math.floor(d[0]); }
}
"""


class Mutant(NamedTuple):
    """What is exchanged in a good module, by regular expression, and what the checker says of it."""

    old: str
    new: str
    complaint: str
    environment: str = "vulkan1.1"
    every: bool = False


MUTANTS = {
    # dot products
    "packed format missing": Mutant(r"(OpSDot .*) PackedVectorFormat4x8Bit", r"\1", "packed operands need"),
    "packed format missing, unsigned": Mutant(r"(OpUDot .*) PackedVectorFormat4x8Bit", r"\1", "packed operands need"),
    "signed result of OpUDot": Mutant("OpUDot %uint", "OpUDot %int", "result must be unsigned"),
    "OpUDot on signed operands": Mutant("OpSDot %int", "OpUDot %uint", "is read as unsigned"),
    "OpSDot on unsigned operands": Mutant("OpUDot %uint", "OpSDot %int", "is read as signed"),
    "operands of OpSUDot exchanged": Mutant(r"(OpSUDot %int) (%\d+) (%\d+)", r"\1 \3 \2", "is read as"),
    "float result": Mutant("OpSUDot %int", "OpSUDot %float", "no 32-bit integer"),
    "operands of 64 bits": Mutant(r"OpUDot %uint %\d+", "OpUDot %uint %long_3", "not 32-bit integers"),
    "saturating accumulation": Mutant(r"OpSDot (.*) Packed", r"OpSDotAccSat \1 %int_0 Packed", "saturates"),
    "OpDot on integers": Mutant(r"OpSDot (.*) Packed\S+", r"OpDot \1", "never made"),
    "no capability for dot products": Mutant("OpCapability DotProduct\n", "", "needs the capability DotProduct"),
    "no capability for packed words": Mutant("OpCapability DotProductInput.*\n", "", "DotProductInput4x8BitPacked"),
    "no extension for dot products": Mutant('OpExtension .*dot_product"\n', "", "needs SPV_KHR_integer_dot_product"),
    "a capability too many": Mutant(r"Op\w+Dot (\S+) (\S+) .*", r"OpIAdd \1 \2 \2", "nothing needs the capability", every=True),
    # capabilities and types
    "no capability for 64 bits": Mutant("OpCapability Int64\n", "", "needs the capability Int64"),
    "no capability for doubles": Mutant("OpCapability Float64\n", "", "needs the capability Float64"),
    "no capability for 16 bits": Mutant("OpCapability StorageBuffer16BitAccess\n", "", "StorageBuffer16BitAccess"),
    "a type that nothing uses": Mutant("OpTypeInt 16 0", "OpTypeInt 16 1", "never used"),
    "a type twice": Mutant("(%uint = OpTypeInt 32 0)", r"\1\n%again = OpTypeInt 32 0", "declares a type again"),
    "arithmetic on 16 bits": Mutant("OpUConvert %ushort", "OpNot %ushort", "8 or 16 bits"),
    # memory
    "store to a read-only buffer": Mutant("(OpDecorate %h) .*", r"\g<0>\n\1 NonWritable", "declared NonWritable"),
    "load from a write-only buffer": Mutant("(OpDecorate %w) .*", r"\g<0>\n\1 NonReadable", "declared NonReadable"),
    "store to push constants": Mutant(r"(OpAccessChain \S+) %h ", r"\1 %run_parameters ", "can't be written"),
    "one binding twice": Mutant("OpDecorate %w Binding 1", "OpDecorate %w Binding 0", "have one binding"),
    "no binding": Mutant("OpDecorate %w Binding 1\n", "", "has no binding"),
    "no descriptor set": Mutant("OpDecorate %x DescriptorSet 0\n", "", "has no binding"),
    "a buffer in an old interface": Mutant('"run" .*', r"\g<0> %out", "instead of"),
    "a buffer not in the interface": Mutant('("run" .*) %w', r"\1", "instead of", "vulkan1.2"),
    "a built-in not in the interface": Mutant('"run" .*', '"run"', "lists nothing instead of"),
    "two blocks of push constants": Mutant(
        "%run_parameters %uint_", "%other_parameters %uint_", "two blocks of push constants"
    ),
    "no stride": Mutant("OpDecorate %runtime_uint .*\n", "", "ArrayStride"),
    "another stride": Mutant("%runtime_ushort ArrayStride 2", "%runtime_ushort ArrayStride 4", "ArrayStride"),
    "no block": Mutant("OpDecorate %buffer_int Block\n", "", "not decorated as Block"),
    "no offset": Mutant("OpMemberDecorate %run_parameters_block 3 .*\n", "", "has no Offset"),
    # order
    "decorations behind types": Mutant(r"(OpDecorate %out .*\n)([\s\S]*%void = .*\n)", r"\2\1", "behind its section"),
    "a constant in a function": Mutant(r"(%int_1 = .*\n)([\s\S]*OpLabel\n)", r"\2\1", "behind its section"),
    "capabilities behind extensions": Mutant(r"(OpCapability Int64\n)([\s\S]*OpExtension .*\n)", r"\2\1", "behind its section"),
    "a variable behind code": Mutant(r"(%k = .*\n)([\s\S]*?OpSelectionMerge .*\n)", r"\2\1", "beginning of its function"),
    "an id twice": Mutant("%int_1 = ", "%int_0 = ", "is defined twice"),
    "an id from nowhere": Mutant(r"OpIAdd %int (%\d+) ", "OpIAdd %int %nowhere ", "%nowhere is not defined"),
    "an id before its definition": Mutant(
        r"(%\d+ = OpSConvert.*\n|%\d+ = OpBitcast.*\n)(.*\n)", r"\2\1", "before it is defined"
    ),
    "a block without an end": Mutant("OpBranch %loop\n", "", "the block before has no end"),
    "code behind the end of a block": Mutant("(OpReturn\n)(%merge)", r"\1OpStore %k %int_0\n\2", "stands in no block"),
    "a merge without its branch": Mutant("OpSelectionMerge .*\n", r"\g<0>OpStore %k %int_0\n", "follows OpSelectionMerge"),
    "a function without an end": Mutant("OpFunctionEnd\n$", "", "the function has no end"),
    # opcodes
    "signed remainder": Mutant("OpSDiv", "OpSRem", "not defined for negative operands"),
    "Fma": Mutant("Floor", "Fma", "may round twice"),
    "Round": Mutant("Floor", "Round", "round ties either way"),
    "bit count of 64 bits": Mutant(r"OpBitCount %uint %\d+", "OpBitCount %uint %long_3", "32 bits only"),
    "signed OpUConvert": Mutant("OpUConvert %uint", "OpUConvert %int", "must be unsigned"),
    "contraction": Mutant("OpDecorate .* NoContraction\n", "", "may be contracted"),
}


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """A good module for each environment, with a bit of everything."""
    return {environment: Compiled(check_text(SOURCE), environment).text for environment in ENVIRONMENTS}


def test_nothing_against_good_modules(modules: dict[str, str]) -> None:
    for text in modules.values():
        assert find_faults(text) == []


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name: str, modules: dict[str, str]) -> None:
    mutant = MUTANTS[name]
    good = modules[mutant.environment]
    bad, count = re.subn(mutant.old, mutant.new, good, count=0 if mutant.every else 1)
    assert count, "the pattern is not in the module"
    found = find_faults(bad)
    assert any(mutant.complaint in fault for fault in found), found
    with pytest.raises(InvalidModule, match=re.escape(mutant.complaint)):
        validate(bad)


def test_faults_come_with_their_lines(modules: dict[str, str]) -> None:
    bad = modules["vulkan1.1"].replace("OpUDot %uint", "OpUDot %int")
    line = next(number for number, text in enumerate(bad.splitlines(), 1) if "OpUDot" in text)
    assert find_faults(bad) == [f"line {line}: OpUDot: the result must be unsigned"]


def test_text_without_a_version_is_no_module() -> None:
    with pytest.raises(ValueError, match="version"):
        find_faults("OpCapability Shader\n")
