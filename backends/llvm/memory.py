"""Arrays: elements and runs of elements in memory, lengths, heap arrays. With checks on, the access comes after its check.

A vector in memory is aligned like one element. An index counts elements and is widened to 64 bits by its own sign.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.addresses import load_vector, store_vector
from cajeta_dot.backends.llvm.checks import BOUNDS, LANE, LENGTH, MAX_BYTES, is_outside, widen_index
from cajeta_dot.backends.llvm.types import size_in_memory, spell, spell_in_memory
from cajeta_dot.types import BOOLEAN, Array, Scalar, Vector, element_of, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.llvm.functions import FunctionWriter
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.writer import Writer
    from cajeta_dot.ir import Value


def load(function: FunctionWriter, value: Value, args: Sequence[str]) -> str:
    """An element, or a vector of neighbours. A boolean is true unless its byte is 0."""
    type = value.type
    assert isinstance(type, (Scalar, Vector))
    pointer, writer = _locate(function, value, args[1], lanes_of(type)), function.writer
    word, element = spell_in_memory(type), element_of(type)
    if function.module.machine.needs_alignment and isinstance(type, Vector):
        loaded = load_vector(writer, type, pointer)
    else:
        loaded = writer.value(f"load {word}, {pointer}, align {size_in_memory(element)}")
    return writer.value(f"icmp ne {word} {loaded}, {_zero_byte(type)}") if element == BOOLEAN else loaded


def store(function: FunctionWriter, value: Value, args: Sequence[str]) -> str:
    type = value.args[2].type
    assert isinstance(type, (Scalar, Vector))
    pointer, writer = _locate(function, value, args[1], lanes_of(type)), function.writer
    term, word, element = args[2], spell_in_memory(type), element_of(type)
    if element == BOOLEAN:
        term = writer.value(f"zext {spell(type)} {term} to {word}")
    if function.module.machine.needs_alignment and isinstance(type, Vector):
        store_vector(writer, type, pointer, term)
    else:
        writer.do(f"store {word} {term}, {pointer}, align {size_in_memory(element)}")
    return ""


def _zero_byte(type: Scalar | Vector) -> str:
    return "zeroinitializer" if isinstance(type, Vector) else "0"


def _locate(function: FunctionWriter, value: Value, index: str, lanes: int) -> str:
    """The address of element `index` of the array, with its type, once it is known that `lanes` elements are there."""
    array, place = value.args[0], value.args[1].type
    assert isinstance(place, Scalar)
    assert isinstance(array.type, Array)
    writer, module = function.writer, function.module
    wide = widen_index(writer, place, index)
    if module.can_fault(value):
        bad = is_outside(writer, wide, _first_outside(function, array, lanes))
        site = module.site(BOUNDS, value, place, lanes)
        function.check(bad, site, index, function.lengths[array])
    element, pointer = spell_in_memory(array.type.element), module.pointer_to(array.type)
    return f"{pointer} {writer.value(f'getelementptr {element}, {pointer} {function.terms[array]}, i64 {wide}')}"


def _first_outside(function: FunctionWriter, array: Value, lanes: int) -> str:
    """The first index from which `lanes` elements don't fit into the array: its length if one is wanted, else not below 0."""
    length = function.lengths[array]
    if lanes == 1:
        return length
    if (array, lanes) not in function.starts:
        # A parameter's length is known from the start. A heap array belongs to one place in the program.
        in_entry = array.op == "param"
        compute = function.writer.value_in_entry if in_entry else function.writer.value
        less = compute(f"sub i64 {length}, {lanes - 1}")
        negative = compute(f"icmp slt i64 {less}, 0")
        limit = compute(f"select i1 {negative}, i64 0, i64 {less}")
        if not in_entry:
            return limit
        function.starts[array, lanes] = limit
    return function.starts[array, lanes]


def length(function: FunctionWriter, value: Value, args: Sequence[str]) -> str:
    return function.lengths[value.args[0]]


# ---- lanes by an index that only run time knows


def extract_at(function: FunctionWriter, value: Value, args: Sequence[str]) -> str:
    lane = _bring_into_range(function, value, args[1])
    return function.writer.value(f"extractelement {spell(value.args[0].type)} {args[0]}, i64 {lane}")


def insert_at(function: FunctionWriter, value: Value, args: Sequence[str]) -> str:
    lane = _bring_into_range(function, value, args[1])
    element = spell(element_of(value.type))
    return function.writer.value(f"insertelement {spell(value.type)} {args[0]}, {element} {args[2]}, i64 {lane}")


def _bring_into_range(function: FunctionWriter, value: Value, index: str) -> str:
    """Checked, or taken modulo the lanes as an unsigned number of its own width.

    It is frozen, which changes nothing: LLVM would freeze it itself where it takes a lane from memory instead, and where it
    takes several by one index it fails an assertion in that and ends the process.
    """
    type, lanes = value.args[1].type, lanes_of(value.args[0].type)
    assert isinstance(type, Scalar)
    writer, module = function.writer, function.module
    index = writer.value(f"freeze {spell(type)} {index}")
    if module.can_fault(value):
        wide = widen_index(writer, type, index)
        bad = is_outside(writer, wide, str(lanes))
        function.check(bad, module.site(LANE, value, type, lanes), index, "0")
        return wide
    wide = index if type.bits == 64 else writer.value(f"zext {spell(type)} {index} to i64")
    return writer.value(f"urem i64 {wide}, {lanes}")


# ---- heap arrays


def allocate(function: FunctionWriter, value: Value, args: Sequence[str]) -> str:
    """Zeroed by calloc; freed where the block ends that made it, for nothing else can refer to it."""
    type = value.args[0].type
    assert isinstance(type, Scalar)
    assert isinstance(value.type, Array)
    writer, module = function.writer, function.module
    count = widen_index(writer, type, args[0])
    size = size_in_memory(value.type.element)
    site = module.site(LENGTH, value, type) if module.can_fault(value) else None
    if site:
        bad = is_outside(writer, count, str(min(MAX_BYTES, 1 << (module.machine.size_bits - 1)) // size + 1))
        function.check(bad, site, args[0], "0")
    # calloc may answer null for no bytes: ask for one element at least.
    at_least_one = writer.call("i64", "llvm.umax.i64", ("i64", count), ("i64", "1"))
    pointer = call_calloc(writer, module.machine, at_least_one, size)
    if site:
        bad = writer.value(f"icmp eq ptr {pointer}, null")
        function.check(bad, site, args[0], "0")
    function.held.append(pointer)
    function.lengths[value] = count
    return pointer


def call_calloc(writer: Writer, machine: Machine, count: str, size: int) -> str:
    """Zeroed memory for so many elements, an i64. More than size_t can say is the most that it can, which no machine has."""
    word = machine.size_type
    if machine.size_bits < 64:
        most = writer.call("i64", "llvm.umin.i64", ("i64", count), ("i64", str((1 << machine.size_bits) - 1)))
        count = writer.value(f"trunc i64 {most} to {word}")
    return writer.call("ptr", "calloc", (word, count), (word, str(size)))


def free(writer: Writer, pointers: Sequence[str]) -> None:
    """Give heap arrays back, the latest first."""
    for pointer in reversed(pointers):
        writer.declarations["free"] = "declare void @free(ptr)"
        writer.do(f"call void @free(ptr {pointer})")
