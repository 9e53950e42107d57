"""SPIR-V text to the binary form: what spirv-as would make of the text that this backend writes, and of no other.

An instruction is one word with its length and number, then its operands, a word each; strings and wide numbers take more.
Ids are counted as they appear. Numbers are those of the unified specification, sections 2.3 and 3, and of GLSL.std.450.
"""

from __future__ import annotations

import re
import struct

from cajeta_dot.backends.spirv.listing import Listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cajeta_dot.backends.spirv.listing import Instruction

MAGIC = 0x07230203
_GENERATOR = 0  # no registered tool
_MOST_WORDS = 0xFFFF  # of one instruction

# fmt: off
OPCODES = {
    "OpName": 5, "OpMemberName": 6, "OpString": 7, "OpLine": 8, "OpExtension": 10, "OpExtInstImport": 11, "OpExtInst": 12,
    "OpMemoryModel": 14, "OpEntryPoint": 15, "OpExecutionMode": 16, "OpCapability": 17,
    "OpTypeVoid": 19, "OpTypeBool": 20, "OpTypeInt": 21, "OpTypeFloat": 22, "OpTypeVector": 23, "OpTypeArray": 28,
    "OpTypeRuntimeArray": 29, "OpTypeStruct": 30, "OpTypePointer": 32, "OpTypeFunction": 33,
    "OpConstantTrue": 41, "OpConstantFalse": 42, "OpConstant": 43,
    "OpFunction": 54, "OpFunctionParameter": 55, "OpFunctionEnd": 56, "OpFunctionCall": 57,
    "OpVariable": 59, "OpLoad": 61, "OpStore": 62, "OpAccessChain": 65, "OpDecorate": 71, "OpMemberDecorate": 72,
    "OpCompositeConstruct": 80, "OpCompositeExtract": 81,
    "OpConvertFToU": 109, "OpConvertFToS": 110, "OpConvertSToF": 111, "OpConvertUToF": 112, "OpUConvert": 113,
    "OpSConvert": 114, "OpFConvert": 115, "OpBitcast": 124,
    "OpSNegate": 126, "OpFNegate": 127, "OpIAdd": 128, "OpFAdd": 129, "OpISub": 130, "OpFSub": 131, "OpIMul": 132,
    "OpFMul": 133, "OpUDiv": 134, "OpSDiv": 135, "OpFDiv": 136, "OpUMod": 137,
    "OpLogicalEqual": 164, "OpLogicalNotEqual": 165, "OpLogicalOr": 166, "OpLogicalAnd": 167, "OpLogicalNot": 168,
    "OpSelect": 169, "OpIEqual": 170, "OpINotEqual": 171, "OpUGreaterThan": 172, "OpSGreaterThan": 173,
    "OpUGreaterThanEqual": 174, "OpSGreaterThanEqual": 175, "OpULessThan": 176, "OpSLessThan": 177,
    "OpULessThanEqual": 178, "OpSLessThanEqual": 179, "OpFOrdEqual": 180, "OpFUnordNotEqual": 183, "OpFOrdNotEqual": 182,
    "OpFOrdLessThan": 184, "OpFOrdGreaterThan": 186, "OpFOrdLessThanEqual": 188, "OpFOrdGreaterThanEqual": 190,
    "OpShiftRightLogical": 194, "OpShiftRightArithmetic": 195, "OpShiftLeftLogical": 196, "OpBitwiseOr": 197,
    "OpBitwiseXor": 198, "OpBitwiseAnd": 199, "OpNot": 200, "OpBitFieldInsert": 201, "OpBitFieldSExtract": 202,
    "OpBitFieldUExtract": 203, "OpBitReverse": 204, "OpBitCount": 205, "OpControlBarrier": 224,
    "OpAtomicIAdd": 234, "OpAtomicAnd": 240, "OpAtomicOr": 241,
    "OpLoopMerge": 246, "OpSelectionMerge": 247, "OpLabel": 248, "OpBranch": 249, "OpBranchConditional": 250,
    "OpReturn": 253, "OpReturnValue": 254, "OpUnreachable": 255,
    "OpSDot": 4450, "OpUDot": 4451, "OpSUDot": 4452,
}
# Every word that stands for a number. What means two things in what is written here is a mode beside a capability.
WORDS = {
    "Shader": 1, "Float64": 10, "Int64": 11, "StorageBuffer16BitAccess": 4433, "StorageBuffer8BitAccess": 4448,
    "DotProductInput4x8BitPacked": 6018, "DotProduct": 6019, "SignedZeroInfNanPreserve": 4466,
    "Logical": 0, "GLSL450": 1, "GLCompute": 5, "LocalSize": 17,
    "Block": 2, "ArrayStride": 6, "BuiltIn": 11, "Coherent": 23, "NonWritable": 24, "Binding": 33, "DescriptorSet": 34,
    "Offset": 35, "NoContraction": 42,
    "WorkgroupId": 26, "LocalInvocationId": 27, "GlobalInvocationId": 28,
    "Input": 1, "Workgroup": 4, "Function": 7, "PushConstant": 9, "StorageBuffer": 12,
    "None": 0, "PackedVectorFormat4x8Bit": 0,
    "Trunc": 3, "FAbs": 4, "Floor": 8, "Ceil": 9, "Sqrt": 31,
}
MODES = {"SignedZeroInfNanPreserve": 4461}
# fmt: on
# Float literals beyond all finite numbers, as the writer spells infinity and NaN: (bits of the type, literal) -> its bits.
_SPECIAL = {
    (32, "0x1p+128"): 0x7F800000,
    (32, "0x1.8p+128"): 0x7FC00000,
    (64, "0x1p+1024"): 0x7FF0000000000000,
    (64, "0x1.8p+1024"): 0x7FF8000000000000,
}


class NotAssembled(Exception):
    """The text has something that is not in the tables: an error of the compiler."""


def assemble(text: str) -> bytes:
    """The binary module, its words in little-endian order. Raises NotAssembled."""
    listing = Listing(text)
    ids: dict[str, int] = {}
    body = [word for item in listing.instructions for word in _encode(item, listing, ids)]
    major, minor = listing.version
    head = [MAGIC, major << 16 | minor << 8, _GENERATOR, len(ids) + 1, 0]
    return struct.pack(f"<{len(head) + len(body)}I", *head, *body)


def _encode(item: Instruction, listing: Listing, ids: dict[str, int]) -> list[int]:
    if item.opcode not in OPCODES:
        raise NotAssembled(f"line {item.line}: no opcode {item.opcode}")
    head = [_identify(item.result, ids)] if item.result else []
    if item.type:
        head.insert(0, _identify(item.type, ids))
    rest: list[int] = []
    for argument in item.arguments:
        if item.opcode == "OpConstant":
            rest += _encode_number(argument, listing.look_up(item.type), item)
        else:
            rest += _encode_operand(argument, item, ids)
    length = 1 + len(head) + len(rest)
    if length > _MOST_WORDS:
        raise NotAssembled(f"line {item.line}: {item.opcode} of {length} words")
    return [length << 16 | OPCODES[item.opcode], *head, *rest]


def _identify(id: str, ids: dict[str, int]) -> int:
    return ids.setdefault(id, len(ids) + 1)


def _encode_operand(operand: str, item: Instruction, ids: dict[str, int]) -> Iterator[int]:
    if operand.startswith("%"):
        yield _identify(operand, ids)
    elif operand.startswith('"'):
        content = re.sub(r"\\(.)", r"\1", operand[1:-1]).encode() + b"\0"
        content += bytes(-len(content) % 4)
        yield from struct.unpack(f"<{len(content) // 4}I", content)
    elif operand.isdecimal():
        yield int(operand)
    elif item.opcode == "OpExecutionMode" and operand in MODES:
        yield MODES[operand]
    elif operand in WORDS:
        yield WORDS[operand]
    else:
        raise NotAssembled(f"line {item.line}: {item.opcode}: no word {operand}")


def _encode_number(literal: str, type: tuple[str, ...], item: Instruction) -> Iterator[int]:
    """The bits of a constant, its low word first. `type` is OpTypeInt or OpTypeFloat with its operands."""
    opcode, bits = type[0], int(type[1])
    if opcode == "OpTypeInt":
        number = int(literal)
    elif (bits, literal.removeprefix("-")) in _SPECIAL:
        number = _SPECIAL[bits, literal.removeprefix("-")] | literal.startswith("-") << (bits - 1)
    elif opcode == "OpTypeFloat" and bits in (32, 64):
        packed = struct.pack("<f" if bits == 32 else "<d", float.fromhex(literal))
        number = int.from_bytes(packed, "little")
    else:
        raise NotAssembled(f"line {item.line}: a constant of {opcode} {bits}")
    yield number & 0xFFFFFFFF
    if bits == 64:
        yield number >> 32 & 0xFFFFFFFF
