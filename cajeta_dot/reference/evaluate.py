"""What every core opcode means on Python numbers: `EVALUATE` gives for an operation the function of its operands.

A vector is a tuple of lanes, an array a `Memory`, a mask a tuple of booleans. Results are brought into their type here.
Operations that can be a run-time error raise it with the place in the source. With checks off divisions are total and
lane indexes count modulo the lanes, as LANGUAGE.md says; an access outside an array is then undefined, and the reference
refuses it all the same, for it has no memory to read there.
"""

from __future__ import annotations

from operator import attrgetter, itemgetter

from cajeta_dot.ir import COORDINATES
from cajeta_dot.record import record
from cajeta_dot.reference.arithmetic import divide, find_lane_operation, remainder
from cajeta_dot.reference.memory import allocate
from cajeta_dot.reference.numbers import from_bits, make_rounder, to_bits, wrap
from cajeta_dot.run.errors import bounds_error, division_error, lane_index_error, length_error
from cajeta_dot.source import Source
from cajeta_dot.types import INT32, Scalar, Vector, element_of, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cajeta_dot.ir import Value
    from cajeta_dot.reference.memory import Memory
    from cajeta_dot.reference.numbers import Number

    Lanes = tuple[Number, ...]
    Evaluation = Callable[..., Any]
    Recipe = Callable[[Value, "Setting"], Evaluation]


@record
class Setting:
    """What all operations of a program share: the text for messages, and whether what can be checked is."""

    source: Source
    checks: bool


# ---- lane by lane


def _lanewise(value: Value, _: Setting) -> Evaluation:
    """The operation of each lane, rounded or wrapped once."""
    operate = find_lane_operation(value.op, element_of(value.args[0].type))
    return _over_lanes(operate, value)


def _over_lanes(operate: Evaluation, value: Value) -> Evaluation:
    fit = make_rounder(element_of(value.type))

    def evaluate(*operands: Any) -> Number:
        return fit(operate(*operands))

    def evaluate_lanes(*operands: Any) -> Lanes:
        return tuple(map(fit, map(operate, *operands)))

    return evaluate_lanes if isinstance(value.type, Vector) else evaluate


def _division(value: Value, setting: Setting) -> Evaluation:
    """`div` and `rem`: of scalar integers with checks on they are an error where the result is not the true one."""
    element = value.type
    if not setting.checks or not isinstance(element, Scalar) or not element.is_integer:
        return _lanewise(value, setting)
    operate = divide if value.op == "div" else remainder
    least, source, start = element.low, setting.source, value.start

    def evaluate(dividend: int, divisor: int) -> int:
        if divisor == 0 or (divisor == -1 and dividend == least):
            raise division_error(source, start, dividend, divisor)
        return operate(dividend, divisor)

    return evaluate


def _convert(value: Value, _: Setting) -> Evaluation:
    return _over_lanes(_same, value)


def _select(value: Value, _: Setting) -> Evaluation:
    return _choose_lanes if isinstance(value.args[0].type, Vector) else _choose


def _choose(condition: bool, a: Any, b: Any) -> Any:
    return a if condition else b


def _choose_lanes(mask: tuple[bool, ...], a: Lanes, b: Lanes) -> Lanes:
    return tuple(map(_choose, mask, a, b))


# ---- shapes


def _reinterpret(value: Value, _: Setting) -> Evaluation:
    """All lanes end to end, lane 0 lowest, and cut anew."""
    old, new = element_of(value.args[0].type), element_of(value.type)
    from_vector, lanes = isinstance(value.args[0].type, Vector), lanes_of(value.type)
    mask = (1 << new.bits) - 1

    def evaluate(content: Any) -> Any:
        joined = 0
        for place, number in enumerate(content if from_vector else (content,)):
            joined |= to_bits(number, old) << (place * old.bits)
        cut = tuple(from_bits(joined >> (lane * new.bits) & mask, new) for lane in range(lanes))
        return cut if isinstance(value.type, Vector) else cut[0]

    return evaluate


def _splat(value: Value, _: Setting) -> Evaluation:
    lanes = lanes_of(value.type)

    def evaluate(number: Number) -> Lanes:
        return (number,) * lanes

    return evaluate


def _build(_value: Value, _: Setting) -> Evaluation:
    def evaluate(*numbers: Number) -> Lanes:
        return numbers

    return evaluate


def _extract(value: Value, _: Setting) -> Evaluation:
    return itemgetter(value.attr)


def _insert(value: Value, _: Setting) -> Evaluation:
    lane: int = value.attr

    def evaluate(vector: Lanes, number: Number) -> Lanes:
        return _replace(vector, lane, number)

    return evaluate


def _replace(vector: Lanes, lane: int, number: Number) -> Lanes:
    return (*vector[:lane], number, *vector[lane + 1 :])


def _find_lane(value: Value, setting: Setting) -> Callable[[int], int]:
    """From a run-time index to the lane."""
    lanes, source, start = lanes_of(value.args[0].type), setting.source, value.start
    index_type = value.args[1].type
    assert isinstance(index_type, Scalar)
    mask = (1 << index_type.bits) - 1

    def find(index: int) -> int:
        if 0 <= index < lanes:
            return index
        if setting.checks:
            raise lane_index_error(source, start, index, lanes)
        return (index & mask) % lanes  # as unsigned: -1 of 32 bits is 4294967295

    return find


def _extract_at(value: Value, setting: Setting) -> Evaluation:
    find = _find_lane(value, setting)

    def evaluate(vector: Lanes, index: int) -> Number:
        return vector[find(index)]

    return evaluate


def _insert_at(value: Value, setting: Setting) -> Evaluation:
    find = _find_lane(value, setting)

    def evaluate(vector: Lanes, index: int, number: Number) -> Lanes:
        return _replace(vector, find(index), number)

    return evaluate


def _shuffle(value: Value, _: Setting) -> Evaluation:
    picks: tuple[int, ...] = value.attr

    def evaluate(a: Lanes, b: Lanes) -> Lanes:
        both = a + b
        return tuple(both[pick] for pick in picks)

    return evaluate


# ---- across lanes


def _dot(value: Value, _: Setting) -> Evaluation:
    """Four products to a lane of the accumulator, or all to its only one."""
    groups, lanes = lanes_of(value.args[0].type) // 4, lanes_of(value.type)
    step = 4 * groups // lanes

    def evaluate(w: tuple[int, ...], x: tuple[int, ...], accumulator: tuple[int, ...]) -> tuple[int, ...]:
        products = [a * b for a, b in zip(w, x, strict=True)]
        return tuple(wrap(total + sum(products[step * j : step * (j + 1)]), INT32) for j, total in enumerate(accumulator))

    return evaluate


def _sum(value: Value, _: Setting) -> Evaluation:
    """From lane 0 in order; floats are rounded at every step."""
    fit = make_rounder(element_of(value.type))

    def evaluate(vector: Lanes) -> Number:
        total = vector[0]
        for number in vector[1:]:
            total = fit(total + number)
        return total

    return evaluate


def _any(_value: Value, _: Setting) -> Evaluation:
    return any


def _all(_value: Value, _: Setting) -> Evaluation:
    return all


# ---- memory


def _load(value: Value, setting: Setting) -> Evaluation:
    lanes, source, start = lanes_of(value.type), setting.source, value.start
    one = isinstance(value.type, Scalar)

    def evaluate(array: Memory, index: int) -> Number | Lanes:
        if not array.holds(index, lanes):
            raise bounds_error(source, start, index, lanes, array.length)
        return array.read(index) if one else array.read_lanes(index, lanes)

    return evaluate


def _store(value: Value, setting: Setting) -> Evaluation:
    type, source, start = value.args[2].type, setting.source, value.start
    lanes, one = lanes_of(type), isinstance(type, Scalar)

    def evaluate(array: Memory, index: int, content: Any) -> None:
        if not array.holds(index, lanes):
            raise bounds_error(source, start, index, lanes, array.length)
        for place, number in enumerate((content,) if one else content):
            array.write(index + place, number)

    return evaluate


def _length(_value: Value, _: Setting) -> Evaluation:
    return attrgetter("length")


def _allocate(value: Value, setting: Setting) -> Evaluation:
    element, source, start = element_of(value.type), setting.source, value.start

    def evaluate(length: int) -> Memory:
        made = allocate(length, element)
        if made is None:
            raise length_error(source, start, length)
        return made

    return evaluate


# ---- what stands outside


def _coordinate(value: Value, _: Setting) -> Evaluation:
    """Of the twelve coordinates of the work item, in the order of `ir.COORDINATES`."""
    return itemgetter(COORDINATES.index(value.attr))


def _method(value: Value, _: Setting) -> Evaluation:
    """The meaning of the row, each lane brought into the result's type once more."""
    fit = make_rounder(element_of(value.type))
    meaning, name, lanes = value.attr.meaning, value.attr.name, lanes_of(value.type)

    def evaluate(*operands: Any) -> Number:
        return fit(meaning(fit, *operands))

    def evaluate_lanes(*operands: Any) -> Lanes:
        result = tuple(map(fit, meaning(fit, *operands)))
        if len(result) != lanes:
            raise ValueError(f"the meaning of {name} gives {len(result)} lanes, its type has {lanes}")
        return result

    return evaluate_lanes if isinstance(value.type, Vector) else evaluate


def _copy(_value: Value, _: Setting) -> Evaluation:
    return _same


def _same(content: Any) -> Any:
    return content


_LANEWISE = (
    "add sub mul min max and or xor shl shr rotate_left rotate_right count_ones reverse_bits neg not abs "
    "floor ceil trunc sqrt round fma eq ne lt le gt ge"
)
# All of `ir.OPS` but `const`, `param`, `shared` and `call`, which are the business of `flow.py`.
EVALUATE: dict[str, Recipe] = {
    **dict.fromkeys(_LANEWISE.split(), _lanewise),
    "div": _division,
    "rem": _division,
    "convert": _convert,
    "reinterpret": _reinterpret,
    "select": _select,
    "splat": _splat,
    "build": _build,
    "extract": _extract,
    "extract_at": _extract_at,
    "insert": _insert,
    "insert_at": _insert_at,
    "shuffle": _shuffle,
    "dot": _dot,
    "sum": _sum,
    "any": _any,
    "all": _all,
    "load": _load,
    "store": _store,
    "length": _length,
    "allocate": _allocate,
    "get": _copy,
    "set": _copy,
    "coordinate": _coordinate,
    "method": _method,
}
