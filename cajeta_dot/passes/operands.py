"""What each opcode asks of its operands and its result: for each rule name in `ir.OPS` one function, in `RULES`.

A rule gets an operation whose operands are defined and as many as `OPS` says. It returns what is wrong, in words, or
nothing. It does not know the statements around; `verify.py` walks them and calls the rules.
"""

from __future__ import annotations

import struct

from cajeta_dot.ir import COMPARISONS, COORDINATES, Function, size_of
from cajeta_dot.types import BOOLEAN, INT32, INT64, UINT32, VOID, Array, Scalar, Vector, with_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cajeta_dot.ir import Slot, Value
    from cajeta_dot.types import Type

    Rule = Callable[[Value, "Surroundings"], str]


class Surroundings:
    """What the rules know beside the operation.

    `known` are the functions met so far, `function` the one at hand. `launched` are those that need a launch because they,
    or what they call, ask for coordinates or wait at a barrier; `allocating` are those that make arrays.
    """

    def __init__(self) -> None:
        self.known: set[Function] = set()
        self.launched: set[Function] = set()
        self.allocating: set[Function] = set()
        self.function: Function | None = None
        self.slots: set[Slot] = set()

    def enter(self, function: Function) -> None:
        self.known.add(function)
        self.function, self.slots = function, set(function.slots)


def _anything(_value: Value, _: Surroundings) -> str:
    return ""


def _constant(value: Value, _: Surroundings) -> str:
    type = value.type
    if isinstance(type, Scalar) and value.attr.__class__ is int and type.is_integer and type.holds(value.attr):
        return ""  # nearly all are such
    if not isinstance(type, (Scalar, Vector)):
        return "is neither a scalar nor a vector"
    lanes = _tuple_of(value.attr)
    if lanes is not None and (not isinstance(type, Vector) or len(lanes) != type.lanes):
        return f"has {len(lanes)} lanes"
    element = type.element if isinstance(type, Vector) else type
    wrong = [lane for lane in ((value.attr,) if lanes is None else lanes) if not _is_content(lane, element)]
    return f"{wrong[0]!r} is no {element}" if wrong else ""


def _tuple_of(attr: Any) -> tuple[object, ...] | None:
    return attr if attr.__class__ is tuple else None


def _is_content(content: object, element: Scalar) -> bool:
    if element == BOOLEAN:
        return isinstance(content, bool)
    if element.is_integer:
        return isinstance(content, int) and not isinstance(content, bool) and element.low <= content <= element.high
    return isinstance(content, float) and _is_exact(content, element)


def _is_exact(number: float, element: Scalar) -> bool:
    """Is it one of the numbers of the float type, or no number?"""
    layout = {16: "<e", 32: "<f", 64: "<d"}[element.bits]
    try:
        return number != number or struct.unpack(layout, struct.pack(layout, number))[0] == number
    except OverflowError:
        return False


def _alike(value: Value, fits: Callable[[Scalar], bool]) -> str:
    """All operands and the result have one type, whose elements fit."""
    type = value.type
    for arg in value.args:
        if arg.type is not type and arg.type != type:  # the first is quick, and mostly enough
            return "operands and result differ in type"
    if not isinstance(type, (Scalar, Vector)):
        return "is for scalars and vectors"
    element = type.element if isinstance(type, Vector) else type
    return "" if fits(element) else f"is not for {element}"


def _numbers(value: Value, _: Surroundings) -> str:
    return _alike(value, lambda element: element.is_number)


def _integers(value: Value, _: Surroundings) -> str:
    return _alike(value, lambda element: element.is_integer)


def _floats(value: Value, _: Surroundings) -> str:
    return _alike(value, lambda element: element.is_float)


def _bits(value: Value, _: Surroundings) -> str:
    return _alike(value, lambda element: not element.is_float)


def _comparison(value: Value, _: Surroundings) -> str:
    a, b = (arg.type for arg in value.args)
    if a != b or not isinstance(a, (Scalar, Vector)):
        return "operands differ in type"
    if a == BOOLEAN:
        ordered = value.op in COMPARISONS[2:]
        return "is not for booleans" if ordered else _gives(value, BOOLEAN)
    return "is not for masks" if is_mask(a) else _gives(value, with_element(a, BOOLEAN))


def _gives(value: Value, type: Type) -> str:
    return "" if value.type == type else f"the result must be {type}"


def is_mask(type: Type) -> bool:
    return isinstance(type, Vector) and type.element == BOOLEAN


def _is_index(type: Type) -> bool:
    return isinstance(type, Scalar) and type.is_integer


def _is_number(type: Type) -> bool:
    return isinstance(type, (Scalar, Vector)) and (type.element if isinstance(type, Vector) else type).is_number


def _conversion(value: Value, _: Surroundings) -> str:
    old, new = value.args[0].type, value.type
    if not _is_number(old) or not _is_number(new):
        return "is for numbers"
    lanes = [type.lanes if isinstance(type, Vector) else None for type in (old, new)]
    return "" if lanes[0] == lanes[1] else "operand and result differ in shape"


def _same_size(value: Value, _: Surroundings) -> str:
    old, new = value.args[0].type, value.type
    if not _is_number(old) or not _is_number(new):
        return "is for numbers"
    return "" if size_of(old) == size_of(new) else "operand and result differ in size"


def _selection(value: Value, _: Surroundings) -> str:
    condition, yes, no = (arg.type for arg in value.args)
    if yes != no or not isinstance(yes, (Scalar, Vector)):
        return "the two choices differ in type"
    if condition != BOOLEAN and not (isinstance(yes, Vector) and condition == Vector(BOOLEAN, yes.lanes)):
        return "the condition is neither a boolean nor a mask of the same lanes"
    return _gives(value, yes)


def _splat(value: Value, _: Surroundings) -> str:
    element = value.args[0].type
    if not isinstance(element, Scalar):
        return "is for scalars"
    return "" if isinstance(value.type, Vector) and value.type.element == element else f"the result must be lanes of {element}"


def _build(value: Value, _: Surroundings) -> str:
    type = value.type
    if not isinstance(type, Vector) or len(value.args) != type.lanes:
        return "operands and lanes differ in number"
    return "" if all(arg.type == type.element for arg in value.args) else f"the lanes are not all {type.element}"


def _lane(value: Value, _: Surroundings) -> str:
    """`extract` and `insert`: the lane is the attribute."""
    vector = value.args[0].type
    if not isinstance(vector, Vector):
        return "is for vectors"
    lane: Any = value.attr
    if type(lane) is not int or not 0 <= lane < vector.lanes:
        return f"there is no lane {lane!r}"
    return _lane_content(value, vector)


def _lane_at(value: Value, _: Surroundings) -> str:
    """`extract_at` and `insert_at`: the lane is the second operand."""
    vector, index = value.args[0].type, value.args[1].type
    if not isinstance(vector, Vector):
        return "is for vectors"
    return _lane_content(value, vector) if _is_index(index) else "the lane is no integer"


def _lane_content(value: Value, vector: Vector) -> str:
    if value.op.startswith("extract"):
        return _gives(value, vector.element)
    return _gives(value, vector) if value.args[-1].type == vector.element else f"the new lane is no {vector.element}"


def _shuffle(value: Value, _: Surroundings) -> str:
    a, b = (arg.type for arg in value.args)
    if a != b or not isinstance(a, Vector):
        return "the vectors differ in type"
    picks = _tuple_of(value.attr)
    if picks is None or not all(isinstance(pick, int) and 0 <= pick < 2 * a.lanes for pick in picks):
        return f"the lanes {value.attr!r} do not all exist"
    return _gives(value, Vector(a.element, len(picks)))


def _dot(value: Value, _: Surroundings) -> str:
    w, x, accumulator = (arg.type for arg in value.args)
    for side in (w, x):
        if not isinstance(side, Vector) or not side.element.is_integer or side.element.bits != 8 or side.lanes % 4:
            return "is for bytes by the four"
    if not isinstance(w, Vector) or not isinstance(x, Vector) or w.lanes != x.lanes:
        return "the operands differ in lanes"
    if accumulator not in (Vector(INT32, w.lanes // 4), Vector(INT32, 1)):
        return "the accumulator fits neither all groups nor one"
    return _gives(value, accumulator)


def _sum(value: Value, _: Surroundings) -> str:
    vector = value.args[0].type
    if (
        not isinstance(vector, Vector)
        or not vector.element.is_number
        or vector.element.bits < (16 + 16 * vector.element.is_integer)
    ):
        return "is for floats and for integers of 32 and 64 bits"
    return _gives(value, vector.element)


def _mask(value: Value, _: Surroundings) -> str:
    return _gives(value, BOOLEAN) if is_mask(value.args[0].type) else "is for masks"


def _load(value: Value, _: Surroundings) -> str:
    return _access(value, value.type)


def _store(value: Value, _: Surroundings) -> str:
    return _access(value, value.args[2].type) or _gives(value, VOID)


def _access(value: Value, content: Type) -> str:
    array, index = value.args[0].type, value.args[1].type
    if not isinstance(array, Array):
        return "is for arrays"
    if not _is_index(index):
        return "the index is no integer"
    fits = content == array.element or (isinstance(content, Vector) and content.element == array.element)
    return "" if fits else f"the array holds {array.element}"


def _length(value: Value, _: Surroundings) -> str:
    return _gives(value, INT64) if isinstance(value.args[0].type, Array) else "is for arrays"


def _allocate(value: Value, surroundings: Surroundings) -> str:
    function = surroundings.function
    if function is None or function.kind != "host":
        return "is for host methods"
    surroundings.allocating.add(function)
    if not _is_index(value.args[0].type):
        return "the length is no integer"
    return "" if isinstance(value.type, Array) else "the result is no array"


def _shared(value: Value, surroundings: Surroundings) -> str:
    function = surroundings.function
    if function is None or function.kind != "kernel":
        return "is for kernels"
    return "" if isinstance(value.type, Array) and value.type.length else "the result is no array of known length"


def _get(value: Value, surroundings: Surroundings) -> str:
    slot = value.attr
    return _gives(value, slot.type) if slot in surroundings.slots else "the slot is not one of the function"


def _set(value: Value, surroundings: Surroundings) -> str:
    slot = value.attr
    if slot not in surroundings.slots:
        return "the slot is not one of the function"
    return _gives(value, VOID) if value.args[0].type == slot.type else f"the slot {slot.name} holds {slot.type}"


def _call(value: Value, surroundings: Surroundings) -> str:
    callee, caller = value.attr, surroundings.function
    if not isinstance(callee, Function) or caller is None or callee not in surroundings.known:
        return f"{callee!r} does not come before its caller"
    if callee.kind == "kernel" or (callee is caller and caller.kind != "host"):
        return f"{callee!r} can't be called here"
    if callee in surroundings.launched:
        if caller.kind == "host":
            return f"{callee!r} needs a launch"
        surroundings.launched.add(caller)
    if callee in surroundings.allocating:
        if caller.kind != "host":
            return f"{callee!r} makes arrays"
        surroundings.allocating.add(caller)
    if len(callee.params) != len(value.args):
        return f"{callee!r} has {len(callee.params)} parameters"
    if not all(_passes(arg.type, param.type) for arg, param in zip(value.args, callee.params, strict=True)):
        return f"{callee!r} takes ({', '.join(str(param.type) for param in callee.params)})"
    return _gives(value, callee.result)


def _passes(given: Type, wanted: Type) -> bool:
    """Arrays fit by their elements, however the user spells them."""
    if isinstance(given, Array) and isinstance(wanted, Array):
        return given.holds_as(wanted)
    return given == wanted


def _coordinate(value: Value, surroundings: Surroundings) -> str:
    function = surroundings.function
    if function is None or function.kind == "host":
        return "is not for host methods"
    surroundings.launched.add(function)
    return _gives(value, UINT32) if value.attr in COORDINATES else f"there is no {value.attr!r}"


def _method(value: Value, _: Surroundings) -> str:
    if not callable(getattr(value.attr, "meaning", None)):
        return f"{value.attr!r} is no row with a meaning"
    types = [arg.type for arg in value.args] + [value.type]
    return "" if all(isinstance(type, (Scalar, Vector)) for type in types) else "is for scalars and vectors"


RULES: dict[str, Rule] = {
    "anything": _anything,
    "constant": _constant,
    "numbers": _numbers,
    "integers": _integers,
    "floats": _floats,
    "bits": _bits,
    "comparison": _comparison,
    "conversion": _conversion,
    "same_size": _same_size,
    "selection": _selection,
    "splat": _splat,
    "build": _build,
    "lane": _lane,
    "lane_at": _lane_at,
    "shuffle": _shuffle,
    "dot": _dot,
    "sum": _sum,
    "mask": _mask,
    "load": _load,
    "store": _store,
    "length": _length,
    "allocate": _allocate,
    "shared": _shared,
    "get": _get,
    "set": _set,
    "call": _call,
    "coordinate": _coordinate,
    "method": _method,
}
