"""Arrays: elements and vectors loaded and stored, their length, arrays that are made.

A `BlockPadded` array is a Shared array whose logical element i lives at i + (i / P) * Q; that is index arithmetic here, and
nothing behind the checker knows of it.
"""

from __future__ import annotations

from cajeta_dot.diagnostics import Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.types import INT8, INT64, POISON, VOID, Array, Scalar, Vector, Void, element_of

from . import expressions
from .operand import Operand, poison
from .rows import Call, span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Value
    from cajeta_dot.syntax import tree

    from .method import MethodChecker


# Of a padded array, whose places are computed: whatever is beyond lies outside, and must not wrap around into it again.
MAX_INDEX, MAX_PADDING = 1 << 40, 1 << 20
MAX_SHARED_BYTES = 49152  # what a CUDA kernel may declare; many Vulkan devices give less (maxComputeSharedMemorySize)


# ---- single elements


def check_subscript(m: MethodChecker, node: tree.Node) -> Value | None:
    """An index: an integer of any type. None after a report."""
    operand = expressions.check_value(m, node)
    return None if operand.is_poison else read_index(m, operand)


def read_index(m: MethodChecker, operand: Operand) -> Value | None:
    """The value of an operand that must be an integer. None after a report."""
    if isinstance(operand.type, Scalar) and operand.type.is_integer:
        return m.converter.settle(operand)
    message = f"an index is an integer, found `{operand.type}`"
    m.reporter.report(r.TYPE_MISMATCH, message, span(operand, f"`{operand.type}`"))
    return None


def load_element(m: MethodChecker, node: tree.Node, array: Operand, index: Value) -> Operand:
    """`array[index]`."""
    assert isinstance(array.type, Array)
    if array.value is None or not is_inside(m, node, array.type, index, 1, "index"):
        return poison(node)
    element = array.type.element
    return Operand(node, element, m.emitter.load(array.value, place_of(m, array.type, index), element))


def is_inside(m: MethodChecker, node: tree.Node, array: Array, index: Value, lanes: int, what: str) -> bool:
    """Is an access at a known index inside an array of known length? Reports if not."""
    if array.length is None or index.op != "const":
        return True
    first = index.attr
    last = max(_padded(array, i) for i in range(first, first + lanes)) if first >= 0 else first
    if first >= 0 and last < array.length:
        return True
    reach = f"element {first}" if lanes == 1 else f"elements {first}..{first + lanes - 1}"
    verb = {"vload": f"`vload<{lanes}>` at {first} reads", "vstore": f"`vstore` of {lanes} lanes at {first} writes"}
    message = f"{verb.get(what, 'this is')} {reach}, but the array has {array.length}"
    m.reporter.report(r.KNOWN_OUT_OF_BOUNDS, message, Label(m.emitter.start, node.end, f"`{array}` of length {array.length}"))
    return False


def _padded(array: Array, index: int) -> int:
    return index if array.padding is None else index + index // array.padding[0] * array.padding[1]


def place_of(m: MethodChecker, array: Array, index: Value) -> Value:
    """Where a logical element lives."""
    if array.padding is None:
        return index
    every, by = min(array.padding[0], MAX_INDEX), min(array.padding[1], MAX_PADDING)
    wide = m.emitter.convert(index, INT64)
    if element_of(index.type).bits == INT64.bits:
        wide = m.emitter.binary("max", wide, m.emitter.const(INT64, -MAX_INDEX))
        wide = m.emitter.binary("min", wide, m.emitter.const(INT64, MAX_INDEX))
    blocks = m.emitter.binary("div", wide, m.emitter.const(INT64, every))
    return m.emitter.binary("add", wide, m.emitter.binary("mul", blocks, m.emitter.const(INT64, by)))


# ---- vectors of neighbours


def _check_load(m: MethodChecker, node: tree.Call, array: Operand, start: int) -> Operand:
    if len(node.type_arguments) != 1:
        message = f"`vload` takes 1 type argument, its lane count, found {len(node.type_arguments)}"
        helps = [Help("the lane count stands in angle brackets: `vload<16>(i)`")]
        m.reporter.report(r.WRONG_ARGUMENTS, message, Label(start, start + len("vload")), helps=helps)
        return poison(node)
    lanes = m.resolver.lane_count(node.type_arguments[0])
    arguments = [expressions.check_value(m, argument) for argument in node.arguments]
    if lanes is None or any(a.is_poison for a in arguments):
        return poison(node)
    return _load(m, node, array, arguments, lanes, start)


def _load(m: MethodChecker, node: tree.Call, array: Operand, arguments: list[Operand], lanes: int, start: int) -> Operand:
    assert isinstance(array.type, Array)
    if array.type.element.kind == "b":
        return m.unsupported(node, "a vector of booleans in memory")
    call = Call("vload", array, arguments, start, node.end, m.converter)
    index = read_index(m, arguments[0]) if call.takes(1) else None
    m.at(start, node.end)
    if index is None or array.value is None or not is_inside(m, node, array.type, index, lanes, "vload"):
        return poison(node)
    type = Vector(array.type.element, lanes)
    if array.type.padding is None:
        return Operand(node, type, m.emitter.load(array.value, index, type))
    places = [place_of(m, array.type, _step(m, index, lane)) for lane in range(lanes)]
    parts = [m.emitter.load(array.value, place, type.element) for place in places]
    return Operand(node, type, m.emitter.emit("build", type, *parts))


def _step(m: MethodChecker, index: Value, lane: int) -> Value:
    wide = m.emitter.convert(index, INT64)
    return m.emitter.binary("add", wide, m.emitter.const(INT64, lane))


def _check_store(m: MethodChecker, node: tree.Call, array: Operand, start: int) -> Operand:
    assert isinstance(array.type, Array)
    arguments = [expressions.check_value(m, argument) for argument in node.arguments]
    if array.value is None or any(a.is_poison for a in arguments):
        return poison(node)
    if not Call("vstore", array, arguments, start, node.end, m.converter).takes(2):
        return poison(node)
    index, stored = read_index(m, arguments[0]), arguments[1]
    if index is None:
        return poison(node)
    if not isinstance(stored.type, Vector):
        message = f"`vstore` stores a vector, found `{stored.type}`"
        m.reporter.report(r.TYPE_MISMATCH, message, span(stored, f"`{stored.type}`"))
        return poison(node)
    lanes = stored.type.lanes
    value = m.converter.convert(stored, Vector(array.type.element, lanes), span(array, f"`{array.type}`"))
    m.at(start, node.end)
    if value is None or not is_inside(m, node, array.type, index, lanes, "vstore"):
        return poison(node)
    if array.type.padding is None:
        m.emitter.store(array.value, index, value)
    else:
        _store_padded(m, array.value, array.type, index, value)
    return Operand(node, VOID)


def _store_padded(m: MethodChecker, array: Value, type: Array, index: Value, value: Value) -> None:
    """Lane by lane. A faulty access writes nothing, so both ends are read before the first store."""
    assert isinstance(value.type, Vector)
    places = [place_of(m, type, _step(m, index, lane)) for lane in range(value.type.lanes)]
    for place in (places[0], places[-1]):
        m.emitter.load(array, place, type.element)
    for lane, place in enumerate(places):
        m.emitter.store(array, place, m.emitter.extract(value, lane))


def load_sixteen(m: MethodChecker, node: tree.Call, arguments: list[Operand], start: int) -> Operand:
    """`Cajeta.vload16(array, i)`: the older spelling of `array.vload<16>(i)` for int8."""
    if not Call("Cajeta.vload16", None, arguments, node.callee.start, node.end, m.converter).takes(2):
        return poison(node)
    array = arguments[0]
    if not isinstance(array.type, Array) or array.type.element != INT8:
        message = f"`vload16` loads from `int8[]`, found `{array.type}`"
        m.reporter.report(r.WRONG_ARGUMENTS, message, span(array, f"`{array.type}`"))
        return poison(node)
    return _load(m, node, array, arguments[1:], 16, start)


def _check_count(m: MethodChecker, node: tree.Call, array: Operand, start: int) -> Operand:
    if node.arguments:
        message = f"`count` takes no arguments, found {len(node.arguments)}"
        m.reporter.report(r.WRONG_ARGUMENTS, message, Label(start, start + len("count")))
        return poison(node)
    if array.value is None:
        return poison(node)
    m.at(start, node.end)
    return Operand(node, INT64, m.emitter.length(array.value))


# The methods of arrays: (checker, node, the array, where the name stands).
METHODS: dict[str, Callable[[MethodChecker, tree.Call, Operand, int], Operand]] = {
    "vload": _check_load,
    "vstore": _check_store,
    "count": _check_count,
}


# ---- arrays that are made


def check_allocate(m: MethodChecker, node: tree.Allocate) -> Operand:
    """`heap T[n]`, zeroed, in host methods; `shared T[n]`, one for each workgroup, in kernels."""
    if m.resolver.outside(node.type):
        return m.outside(node, "an array of objects")
    if node.word == "shared":
        return _share(m, node)
    if m.method.kind != "host":
        m.reporter.report(r.NOT_IN_KERNELS, "a kernel can't hold a heap array", Label(node.start, node.end))
        return poison(node)
    element = _resolve_element(m, node)
    length = check_subscript(m, node.length)
    if length is None or element is None:
        return poison(node)
    m.at(node.start, node.end)
    type = Array(element, "array")
    return Operand(node, type, m.emitter.emit("allocate", type, length))


def _resolve_element(m: MethodChecker, node: tree.Allocate) -> Scalar | None:
    """What the elements are; None after a report."""
    type = m.resolver.resolve(node.type)
    if isinstance(type, Scalar):
        return type
    if isinstance(type, Void):
        m.reporter.report(r.TYPE_MISMATCH, "an array has elements, not `void`", Label(node.type.start, node.type.end))
    elif type != POISON:
        m.unsupported(node.type, f"an array of `{type}`")
    return None


def _share(m: MethodChecker, node: tree.Allocate) -> Operand:
    if m.method.kind != "kernel":
        message = "shared memory belongs to a kernel; pass what a helper needs as values"
        m.reporter.report(r.NOT_IN_KERNELS, message, Label(node.start, node.end))
        return poison(node)
    element = _resolve_element(m, node)
    before = len(m.reporter.found)
    length = m.constant(node.length)
    if element is None:
        return poison(node)
    if length is None or length < 1 or length * element.bits > 8 * MAX_SHARED_BYTES:
        if len(m.reporter.found) == before:
            bound = f"must be a constant of at least 1 element and at most {MAX_SHARED_BYTES} bytes"
            m.reporter.report(
                r.NOT_CONSTANT, f"the length of a shared array {bound}", Label(node.length.start, node.length.end)
            )
        return poison(node)
    m.at(node.start, node.end)
    type = Array(element, "Shared", length)
    return Operand(node, type, m.emitter.emit("shared", type, attr=f"shared{node.start}"))
