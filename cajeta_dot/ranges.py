"""Between which integers the lanes of a value lie. What is not understood is taken to be anything its type holds.

The bounds choose instructions: bytes proven 0..127 may be read with either signedness. They are sound for every run:
operations that could leave their type give the whole type, and a variable is bounded by all that is ever stored in it.
"""

from __future__ import annotations

from cajeta_dot.ir import Value, lanes_of_constant, walk
from cajeta_dot.types import Scalar, Vector, element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Function, Slot

    Bounds = tuple[int, int]

MAX_DEPTH = 100  # operations followed backwards from a value; beyond that its type must do


class Ranges:
    """The bounds of the integer values of one function, found when asked for."""

    def __init__(self, function: Function):
        self.known: dict[Value, Bounds] = {}
        self.stored: dict[Slot, list[Value]] = {}
        for item in walk(function.body):
            if isinstance(item, Value) and item.op == "set":
                self.stored.setdefault(item.attr, []).append(item.args[0])
        self.open: set[Slot] = set()
        self.depth = 0

    def of(self, value: Value) -> Bounds:
        """The least and the greatest that any lane can be. Only for integers."""
        if value in self.known:
            return self.known[value]
        element = element_of(value.type)
        whole = (element.low, element.high)
        if self.depth >= MAX_DEPTH:
            return whole
        self.depth += 1
        rule = _RULES.get(value.op)
        bounds = rule(self, value) if rule else None
        self.depth -= 1
        if bounds is None or bounds[0] < whole[0] or bounds[1] > whole[1]:
            bounds = whole
        self.known[value] = bounds  # found while a variable was open it may be too wide, never wrong
        return bounds

    def unsigned_byte_limit(self, value: Value) -> int:
        """The greatest that a byte lane can be, read as unsigned."""
        low, high = self.of(value)
        return high if low >= 0 else 255

    def of_slot(self, slot: Slot) -> Bounds | None:
        """Everything ever stored in a variable. One that depends on itself is not followed."""
        if slot in self.open:
            return None
        self.open.add(slot)
        bounds = [self.of(value) for value in self.stored.get(slot, ())]
        self.open.discard(slot)
        return _union(*bounds) if bounds else None


def _is_integer(value: Value) -> bool:
    return isinstance(value.type, (Scalar, Vector)) and element_of(value.type).is_integer


def _union(*bounds: Bounds) -> Bounds:
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _constant(_: Ranges, value: Value) -> Bounds:
    lanes = lanes_of_constant(value.attr)
    return min(lanes), max(lanes)


def _and(ranges: Ranges, value: Value) -> Bounds | None:
    """Not more than the least operand that can't be negative."""
    limits = [high for low, high in map(ranges.of, value.args) if low >= 0]
    return (0, min(limits)) if limits else None


def _or_xor(ranges: Ranges, value: Value) -> Bounds | None:
    bounds = [ranges.of(a) for a in value.args]
    if any(low < 0 for low, _ in bounds):
        return None
    return 0, (1 << max(high for _, high in bounds).bit_length()) - 1


def _corners(function: Callable[[int, int], int]) -> Callable[[Ranges, Value], Bounds]:
    """Operations whose extremes lie at extremes of the operands."""

    def rule(ranges: Ranges, value: Value) -> Bounds:
        a, b = (ranges.of(operand) for operand in value.args)
        corners = [function(x, y) for x in a for y in b]
        return min(corners), max(corners)

    return rule


def _shift(function: Callable[[int, int], int]) -> Callable[[Ranges, Value], Bounds]:
    """Every count is in 0..width-1, whatever else its bounds would allow."""

    def rule(ranges: Ranges, value: Value) -> Bounds:
        numbers, (least, most) = ranges.of(value.args[0]), ranges.of(value.args[1])
        width = element_of(value.type).bits
        corners = [function(x, count) for x in numbers for count in (max(least, 0), min(most, width - 1))]
        return min(corners), max(corners)

    return rule


def _remainder(ranges: Ranges, value: Value) -> Bounds | None:
    (low, high), (least, most) = (ranges.of(operand) for operand in value.args)
    if least <= 0:
        return None
    return (0 if low >= 0 else -(most - 1)), min(max(high, 0), most - 1)


def _convert(ranges: Ranges, value: Value) -> Bounds | None:
    """The number itself where the new type holds it; all of the type where it may be cut down."""
    return ranges.of(value.args[0]) if _is_integer(value.args[0]) else None


def _reinterpret(ranges: Ranges, value: Value) -> Bounds | None:
    source = value.args[0]
    same_lanes = _is_integer(source) and element_of(source.type).bits == element_of(value.type).bits
    return ranges.of(source) if same_lanes else None


def _all_of(ranges: Ranges, value: Value) -> Bounds:
    return _union(*(ranges.of(a) for a in value.args))


def _first(ranges: Ranges, value: Value) -> Bounds:
    return ranges.of(value.args[0])


def _select(ranges: Ranges, value: Value) -> Bounds:
    return _union(ranges.of(value.args[1]), ranges.of(value.args[2]))


def _insert(ranges: Ranges, value: Value) -> Bounds:
    return _union(ranges.of(value.args[0]), ranges.of(value.args[-1]))


def _get(ranges: Ranges, value: Value) -> Bounds | None:
    return ranges.of_slot(value.attr)


def _length(_: Ranges, value: Value) -> Bounds:
    return 0, element_of(value.type).high


_RULES: dict[str, Callable[[Ranges, Value], Bounds | None]] = {
    "const": _constant,
    "and": _and,
    "or": _or_xor,
    "xor": _or_xor,
    "add": _corners(int.__add__),
    "sub": _corners(int.__sub__),
    "mul": _corners(int.__mul__),
    "min": _corners(min),
    "max": _corners(max),
    "shl": _shift(int.__lshift__),
    "shr": _shift(int.__rshift__),
    "rem": _remainder,
    "convert": _convert,
    "reinterpret": _reinterpret,
    "select": _select,
    "splat": _all_of,
    "build": _all_of,
    "shuffle": _all_of,
    "extract": _first,
    "extract_at": _first,
    "insert": _insert,
    "insert_at": _insert,
    "get": _get,
    "length": _length,
}
