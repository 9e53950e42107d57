"""The parts that modules are made of: ids, declarations, constants, and operations on constants."""

from __future__ import annotations

import pytest

from cajeta_dot.backends.spirv.code import Code
from cajeta_dot.backends.spirv.module import ENVIRONMENTS, Module

from .kernels import run_tool


@pytest.fixture
def code() -> Code:
    return Code(Module(ENVIRONMENTS["vulkan1.1"]))


def test_ids_are_words_and_never_twice() -> None:
    module = Module(ENVIRONMENTS["vulkan1.1"])
    names = [module.identify(word) for word in ("acc", "acc", "größe", "a.b", "a b", "", "acc_2", "acc")]
    assert names == ["%acc", "%acc_2", "%gr__e", "%a_b", "%a_b_2", "%_", "%acc_2_2", "%acc_3"]
    assert module.scalar("uint") == "%uint"
    assert [module.number(), module.number()] == ["%1", "%2"]


def test_types_and_constants_are_declared_once() -> None:
    module = Module(ENVIRONMENTS["vulkan1.1"])
    assert module.integer("int", -5) == module.integer("int", -5) == "%int_n5"
    assert module.pointer("Function", module.scalar("int")) == module.pointer("Function", "%int")
    assert module.declarations == [
        "%int = OpTypeInt 32 1",
        "%int_n5 = OpConstant %int -5",
        "%ptr_Function_int = OpTypePointer Function %int",
    ]


def test_capabilities_follow_types() -> None:
    module = Module(ENVIRONMENTS["vulkan1.1"])
    module.scalar("ulong")
    module.buffer_block("uchar")
    assert module.render().splitlines()[2:6] == [
        "OpCapability Shader",
        "OpCapability Int64",
        "OpCapability StorageBuffer8BitAccess",
        'OpExtension "SPV_KHR_8bit_storage"',
    ]


@pytest.mark.parametrize(
    ("number", "float_bits", "double_bits"),
    [
        (0.0, "00000000", "0000000000000000"),
        (-0.0, "80000000", "8000000000000000"),
        (1.5, "3fc00000", "3ff8000000000000"),
        (-(2.0**-149), "80000001", "b6a0000000000000"),
        (float("inf"), "7f800000", "7ff0000000000000"),
        (float("-inf"), "ff800000", "fff0000000000000"),
    ],
)
def test_float_constants_are_exact(number: float, float_bits: str, double_bits: str) -> None:
    """What the assembler makes of the literal, in the last words of the module."""
    for word, bits in (("float", float_bits), ("double", double_bits)):
        module = Module(ENVIRONMENTS["vulkan1.1"])
        module.floating(word, number)
        binary = run_tool("spirv-as", "spv1.3", module.render().encode(), "-", "-o", "-")
        assert binary[-len(bits) // 2 :][::-1].hex() == bits


def test_nan_stays_nan() -> None:
    module = Module(ENVIRONMENTS["vulkan1.1"])
    module.floating("float", float("nan"))
    binary = run_tool("spirv-as", "spv1.3", module.render().encode(), "-", "-o", "-")
    assert int.from_bytes(binary[-4:], "little") & 0x7FC00000 == 0x7FC00000


def test_operations_on_constants_are_constants(code: Code) -> None:
    minus_eight = code.module.integer("int", -8)
    made = [
        code.shift_right(minus_eight, 1),
        code.shift_left(minus_eight, 30),
        code.add(minus_eight, 9),
        code.add(minus_eight, 0),
        code.mask(minus_eight, 0xFF),
        code.cast(code.uint(2**32 - 1), "int"),
        code.field(minus_eight, 0, 32, signed=False),
    ]
    assert made == ["%uint_2147483644", "%uint_0", "%uint_1", "%uint_4294967288", "%uint_248", "%int_n1", "%uint_4294967288"]
    assert code.lines == []


def test_operations_on_others_are_instructions(code: Code) -> None:
    a = code.op("OpIAdd", "int", code.module.integer("int", 1), code.module.integer("int", 2))
    assert code.add(a, 0) == "%2"
    assert code.lines[1:] == ["%2 = OpBitcast %uint %1"]
    code.shift_right(a, 3)
    assert code.lines[2:] == ["%3 = OpShiftRightLogical %uint %1 %uint_3"]


def test_only_rounding_operations_are_decorated(code: Code) -> None:
    one = code.module.floating("float", 1.0)
    code.op("OpFAdd", "float", one, one)
    code.op("OpFNegate", "float", one)
    assert code.module.decorations == ["OpDecorate %1 NoContraction"]
