"""How many low bits of an integer are zero: what proves that a byte offset is a multiple of four.

A fact belongs to a value, wherever it stands. A local counts as the worst of all that is ever set in it, so the order of
statements does not matter; a loop that steps by four keeps its fact through a fixpoint. All arithmetic wraps, and wrapping
keeps low bits. Lanes, loads and what a call gives are not followed: nothing is known of them.
"""

from __future__ import annotations

from cajeta_dot.ir import Value, values_in
from cajeta_dot.types import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cajeta_dot.ir import Function, Slot

    Facts = Mapping[Value, int]


def find_trailing_zeros(function: Function, given: Facts) -> dict[Value, int]:
    """Known trailing zero bits of the scalar integers of a function; the width of its type means that a value is 0.

    `given` says what is known of parameters. A value that is missing from the answer may have any low bits.
    """
    values = list(values_in(function.body))
    slots = {slot: slot.type.bits for slot in function.slots if isinstance(slot.type, Scalar) and slot.type.is_integer}
    while True:
        facts = _follow(values, given, slots)
        lowest = dict(slots)
        for value in values:
            if value.op == "set" and value.attr in lowest:
                lowest[value.attr] = min(lowest[value.attr], facts.get(value.args[0], 0))
        if lowest == slots:
            return facts
        slots = lowest  # every round lowers a local, so there are at most as many rounds as bits


def count_trailing_zeros(number: int, bits: int) -> int:
    """Of one integer; zero has `bits`."""
    return (number & -number).bit_length() - 1 if number else bits


def _follow(values: list[Value], given: Facts, slots: Mapping[Slot, int]) -> dict[Value, int]:
    facts = dict(given)
    for value in values:
        if isinstance(value.type, Scalar) and value.type.is_integer:
            if value.op == "get":
                known = slots[value.attr]
            elif value.op in _RULES:
                known = _RULES[value.op](value, [facts.get(arg, 0) for arg in value.args])
            else:
                continue
            facts[value] = min(known, value.type.bits)
    return facts


def _width(value: Value) -> int:
    assert isinstance(value.type, Scalar)
    return value.type.bits


def _constant_operand(value: Value) -> int | None:
    """The second operand where it is known."""
    operand = value.args[1]
    return operand.attr if operand.op == "const" else None


def _shift_left(value: Value, known: list[int]) -> int:
    return known[0] + (_constant_operand(value) or 0)


def _shift_right(value: Value, known: list[int]) -> int:
    count = _constant_operand(value)
    if known[0] == _width(value):
        return known[0]
    return 0 if count is None else max(known[0] - count, 0)


def _divide(value: Value, known: list[int]) -> int:
    """Exact where a power of two divides a multiple of it."""
    divisor = _constant_operand(value)
    if known[0] == _width(value):
        return known[0]
    if divisor is None or divisor <= 0 or divisor & divisor - 1:
        return 0
    return max(known[0] - count_trailing_zeros(divisor, 0), 0)


def _convert(value: Value, known: list[int]) -> int:
    old = value.args[0].type
    if not isinstance(old, Scalar) or not old.is_integer:
        return 0
    return _width(value) if known[0] == old.bits else known[0]


_RULES: dict[str, Callable[[Value, list[int]], int]] = {
    "const": lambda value, known: count_trailing_zeros(value.attr, _width(value)),
    "add": lambda value, known: min(known),
    "sub": lambda value, known: min(known),
    "or": lambda value, known: min(known),
    "xor": lambda value, known: min(known),
    "min": lambda value, known: min(known),
    "max": lambda value, known: min(known),
    "rem": lambda value, known: min(known),  # x - n * divisor, and 0 where the divisor is 0
    "and": lambda value, known: max(known),
    "mul": lambda value, known: sum(known),
    "neg": lambda value, known: known[0],
    "abs": lambda value, known: known[0],
    "select": lambda value, known: min(known[1:]),
    "shl": _shift_left,
    "shr": _shift_right,
    "div": _divide,
    "convert": _convert,
    "reinterpret": _convert,
}
