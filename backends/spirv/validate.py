"""Our own checker of what this backend emits, for what drivers trust and spirv-val does not look at.

The rules of the dot opcodes (operands, packed format, capabilities, no saturation), bindings, stores to what is declared
read-only, entry-point interfaces, and opcodes whose result Vulkan does not define for all operands. Beside them it holds
the text to the shape that the writer means to give it. It is no substitute for spirv-val, which the tests also run.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.dots import CAPABILITIES, PACKED_FORMAT
from cajeta_dot.backends.spirv.listing import Listing
from cajeta_dot.backends.spirv.module import EXTENSIONS, FULL_INTERFACE, SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cajeta_dot.backends.spirv.listing import Instruction

    Faults = Iterator[tuple[Instruction, str]]


class InvalidModule(Exception):
    """The backend has written a module that breaks a rule: an error of the compiler."""


def validate(text: str) -> None:
    """Raises InvalidModule with everything that is wrong."""
    faults = find_faults(text)
    if faults:
        raise InvalidModule("\n".join(faults))


def find_faults(text: str) -> list[str]:
    """What is wrong with a module, one line each; empty if nothing is found."""
    listing = Listing(text)
    found = [(item.line, f"line {item.line}: {item.opcode}: {what}") for rule in RULES for item, what in rule(listing)]
    return [message for _, message in sorted(found)]


# ---- order and ids

_SECTIONS = {
    "OpCapability": 0,
    "OpExtension": 1,
    "OpExtInstImport": 2,
    "OpMemoryModel": 3,
    "OpEntryPoint": 4,
    "OpExecutionMode": 5,
    "OpString": 6,
    "OpName": 7,
    "OpMemberName": 7,
    "OpDecorate": 8,
    "OpMemberDecorate": 8,
}
_DECLARATIONS, _FUNCTIONS = 9, 10


def check_sections(listing: Listing) -> Faults:
    """Sections follow each other (specification 2.4)."""
    reached = 0
    for item in listing.instructions:
        declares = item.opcode.startswith(("OpType", "OpConstant")) or item.result in listing.variables
        section = _SECTIONS.get(item.opcode, _DECLARATIONS if declares else _FUNCTIONS)
        if section < reached:
            yield item, "stands behind its section"
        reached = max(reached, section)


def check_ids(listing: Listing) -> Faults:
    """Every id is defined once and, labels and functions apart, before it is used."""
    seen: set[str] = set()
    for item in listing.instructions:
        early = _SECTIONS.get(item.opcode, _FUNCTIONS) < _DECLARATIONS
        for id in item.ids:
            target = listing.defined.get(id)
            if target is None:
                yield item, f"{id} is not defined"
            elif id not in seen and not early and target.opcode not in ("OpLabel", "OpFunction"):
                yield item, f"{id} is used before it is defined"
        if item.result:
            if item.result in seen:
                yield item, f"{item.result} is defined twice"
            seen.add(item.result)


def check_types(listing: Listing) -> Faults:
    """Types that are no aggregates are declared once; narrow integers are for memory only."""
    known: set[tuple[str, ...]] = set()
    for item in listing.head:
        if item.opcode.startswith("OpType") and item.opcode not in ("OpTypeStruct", "OpTypeArray", "OpTypeRuntimeArray"):
            content = (item.opcode, *item.operands)
            if content in known:
                yield item, f"{item.result} declares a type again"
            known.add(content)
    for item in listing.instructions:
        if _is_narrow(listing.look_up(item.type)) and item.opcode not in ("OpLoad", "OpUConvert"):
            yield item, "computes with 8 or 16 bits"


def _is_narrow(type: tuple[str, ...]) -> bool:
    return type[:1] == ("OpTypeInt",) and type[1] in ("8", "16")


# ---- blocks

_TERMINATORS = ("OpBranch", "OpBranchConditional", "OpReturn", "OpReturnValue", "OpUnreachable")
_MERGES = {"OpSelectionMerge": ("OpBranchConditional",), "OpLoopMerge": ("OpBranch", "OpBranchConditional")}


def check_blocks(listing: Listing) -> Faults:
    """Blocks begin with a label and end in one terminator; variables come first, merges last but one."""
    for function in listing.functions.values():
        inside = False
        labels = 0
        previous = function[0]
        for item in function[1:]:
            if item.opcode == "OpLabel":
                labels += 1
                if inside:
                    yield item, "the block before has no end"
                inside = True
            elif item.opcode not in ("OpFunctionParameter", "OpFunctionEnd") and not inside:
                yield item, "stands in no block"
            if item.opcode == "OpVariable" and (labels != 1 or previous.opcode not in ("OpLabel", "OpVariable")):
                yield item, "is not at the beginning of its function"
            if previous.opcode in _MERGES and item.opcode not in _MERGES[previous.opcode]:
                yield item, f"follows {previous.opcode}"
            if item.opcode in _TERMINATORS:
                inside = False
            previous = item
        if inside or previous.opcode != "OpFunctionEnd":
            yield previous, "the function has no end"


# ---- dot products

_DOTS = {"OpSDot": ("1", "1"), "OpSUDot": ("1", "0"), "OpUDot": ("0", "0")}  # signedness of the operands


def check_dots(listing: Listing) -> Faults:
    """Operands, result and format of each dot product (SPV_KHR_integer_dot_product)."""
    for item in listing.instructions:
        if "Dot" in item.opcode and item.opcode.endswith(("AccSat", "AccSatKHR")):
            yield item, "saturates"
        if item.opcode in _DOTS:
            yield from _check_dot(listing, item)
    yield from _check_dot_capabilities(listing)


def _check_dot(listing: Listing, item: Instruction) -> Faults:
    a, b = item.arguments[:2]
    scalars = [listing.type_of(side)[:2] == ("OpTypeInt", "32") for side in (a, b)]
    has_format = item.arguments[2:] == (PACKED_FORMAT,)
    if all(scalars) and not has_format:
        yield item, f"packed operands need {PACKED_FORMAT}"
    if not all(scalars):
        yield item, "the operands are not 32-bit integers" + (f", but there is a {PACKED_FORMAT}" if has_format else "")
        return
    for side, wanted in zip((a, b), _DOTS[item.opcode], strict=True):
        if listing.type_of(side)[2] != wanted:
            yield item, f"{side} is read as {'signed' if wanted == '1' else 'unsigned'}, but is not"
    result = listing.look_up(item.type)
    if result[:2] != ("OpTypeInt", "32"):
        yield item, "the result is no 32-bit integer"
    elif item.opcode == "OpUDot" and result[2] != "0":
        yield item, "the result must be unsigned"


def _check_dot_capabilities(listing: Listing) -> Faults:
    first = next((item for item in listing.instructions if item.opcode in _DOTS), None)
    for name in CAPABILITIES:
        if first and name not in listing.capabilities:
            yield first, f"needs the capability {name}"
        if not first and name in listing.capabilities:
            yield listing.head[0], f"nothing needs the capability {name}"


# ---- capabilities


def check_capabilities(listing: Listing) -> Faults:
    """Types come with their capabilities, capabilities with their extensions."""
    known = {tuple(text.split()): capability for text, capability in SCALAR_TYPES.values()}
    for item in listing.head:
        if item.opcode in ("OpTypeInt", "OpTypeFloat"):
            capability = known.get((item.opcode, *item.operands))
            if capability is None:
                yield item, "is a type that is never used"
            elif capability and capability not in listing.capabilities:
                yield item, f"needs the capability {capability}"
        if item.opcode == "OpCapability" and item.operands[0] in EXTENSIONS:
            extension, core = EXTENSIONS[item.operands[0]]
            if listing.version < core and extension not in listing.extensions:
                yield item, f"{item.operands[0]} needs {extension}"


# ---- memory


def check_interfaces(listing: Listing) -> Faults:
    """Each entry point lists what its version wants, and its buffers have bindings of their own."""
    for entry in listing.entry_points:
        function, listed = entry.operands[1], entry.operands[3:]
        used = dict.fromkeys(id for item in listing.reach(function) for id in item.ids if id in listing.variables)
        full = listing.version >= FULL_INTERFACE
        wanted = [id for id in used if full or listing.variables[id] in ("Input", "Output")]
        if sorted(wanted) != sorted(listed):
            yield entry, f"lists {', '.join(listed) or 'nothing'} instead of {', '.join(wanted) or 'nothing'}"
        if [listing.variables[id] for id in used].count("PushConstant") > 1:
            yield entry, "uses two blocks of push constants"
        yield from _check_bindings(listing, entry, [id for id in used if listing.variables[id] == "StorageBuffer"])


def _check_bindings(listing: Listing, entry: Instruction, buffers: list[str]) -> Faults:
    taken: dict[tuple[object, ...], str] = {}
    for buffer in buffers:
        place = tuple(listing.decoration(buffer, name) for name in ("DescriptorSet", "Binding"))
        if None in place:
            yield entry, f"{buffer} has no binding"
        elif place in taken:
            yield entry, f"{buffer} and {taken[place]} have one binding"
        taken[place] = buffer


_ACCESSES = {"OpLoad": "NonReadable"} | dict.fromkeys(("OpStore", "OpAtomicIAdd", "OpAtomicAnd", "OpAtomicOr"), "NonWritable")


def check_stores(listing: Listing) -> Faults:
    """Nothing is stored to a buffer declared as not written, or to what is no memory of the shader."""
    for item in listing.instructions:
        if item.opcode not in _ACCESSES:
            continue
        variable = listing.variable_behind(item.arguments[0])
        forbidden = _ACCESSES[item.opcode]
        if listing.decoration(variable, forbidden) is not None:
            yield item, f"{variable} is declared {forbidden}"
        if item.opcode != "OpLoad" and listing.variables.get(variable) in ("Input", "PushConstant"):
            yield item, f"{variable} can't be written"


def check_layouts(listing: Listing) -> Faults:
    """Blocks are decorated, their arrays have the stride of their elements and their members an offset."""
    offsets = {item.operands[:2] for item in listing.head if item.opcode == "OpMemberDecorate" and item.operands[2] == "Offset"}
    for item in listing.head:
        if item.opcode == "OpTypeRuntimeArray":
            stride = listing.decoration(item.result, "ArrayStride")
            bits = listing.look_up(item.operands[0])[1]
            if stride is None or 8 * int(stride[0]) != int(bits):
                yield item, f"elements of {bits} bits need their size as ArrayStride"
        if item.opcode == "OpTypeStruct":
            if listing.decoration(item.result, "Block") is None:
                yield item, f"{item.result} is not decorated as Block"
            for place in range(len(item.operands)):
                if (item.result, str(place)) not in offsets:
                    yield item, f"member {place} of {item.result} has no Offset"


# ---- opcodes that Vulkan does not define for all operands, or not in all widths

_FORBIDDEN = {
    "OpSRem": "is not defined for negative operands",
    "OpSMod": "is not defined for negative operands",
    "OpFRem": "is not exact",
    "OpFMod": "is not exact",
    "OpDot": "is for vectors of floats, which are never made",
}
_FORBIDDEN_FUNCTIONS = {
    "Fma": "may round twice",
    "Round": "may round ties either way",
    "RoundEven": "is not the source's rounding",
    "FMin": "may return a NaN",
    "FMax": "may return a NaN",
    "FClamp": "may return a NaN",
    "PackHalf2x16": "has no promised rounding",
    "UnpackHalf2x16": "may flush denormals",
}
_ONLY_32_BITS = ("OpBitFieldInsert", "OpBitFieldSExtract", "OpBitFieldUExtract", "OpBitCount", "OpBitReverse")


def check_opcodes(listing: Listing) -> Faults:
    """Nothing is left to the driver's choice."""
    for item in listing.instructions:
        if item.opcode in _FORBIDDEN:
            yield item, _FORBIDDEN[item.opcode]
        if item.opcode == "OpExtInst" and item.arguments[1] in _FORBIDDEN_FUNCTIONS:
            yield item, f"{item.arguments[1]} {_FORBIDDEN_FUNCTIONS[item.arguments[1]]}"
        if item.opcode in _ONLY_32_BITS and listing.type_of(item.arguments[0])[:2] != ("OpTypeInt", "32"):
            yield item, "exists for 32 bits only"
        if item.opcode == "OpUConvert" and listing.look_up(item.type)[2:] != ("0",):
            yield item, "the result must be unsigned"


def check_contraction(listing: Listing) -> Faults:
    """In a function either no float operation may be contracted or every one."""
    for function in listing.functions.values():
        rounding = [item for item in function if item.opcode in ("OpFAdd", "OpFSub", "OpFMul", "OpFDiv")]
        bare = [item for item in rounding if listing.decoration(item.result, "NoContraction") is None]
        if len(bare) < len(rounding):
            for item in bare:
                yield item, f"{item.result} may be contracted"


RULES: tuple[Callable[[Listing], Faults], ...] = (
    check_sections,
    check_ids,
    check_types,
    check_blocks,
    check_dots,
    check_capabilities,
    check_interfaces,
    check_stores,
    check_layouts,
    check_opcodes,
    check_contraction,
)
