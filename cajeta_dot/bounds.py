"""Between which integers the result of an operation lies, given between which its operands lie: a rule for each opcode.

Bounds are of all lanes of a value alike, and inclusive. A rule computes on exact integers, as if nothing wrapped; `bound`
brings what it says into the type. A rule may say too much, never too little: bounds choose instructions.
"""

from __future__ import annotations

from cajeta_dot.ir import lanes_of_constant
from cajeta_dot.types import Scalar, Vector, element_of, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.ir import Value
    from cajeta_dot.types import Type

    Bounds = tuple[int, int]
    Rule = Callable[[Value, Sequence[Bounds]], Bounds | None]

NOTHING = (0, 0)  # stands for an operand that is no integer


def is_integer(type: Type) -> bool:
    """Has a value of this type bounds?"""
    return isinstance(type, (Scalar, Vector)) and element_of(type).is_integer


def whole(type: Type) -> Bounds:
    """All that an integer type, or a lane of it, can be."""
    element = element_of(type)
    return element.low, element.high


def bound(value: Value, operands: Sequence[Bounds]) -> Bounds:
    """The least and the greatest that any lane of an integer value can be."""
    rule = RULES.get(value.op)
    found = rule(value, operands) if rule else None
    return whole(value.type) if found is None else wrap(found, element_of(value.type))


def wrap(bounds: Bounds, element: Scalar) -> Bounds:
    """What is left when only the low bits are kept: all the type has, if the bounds lie on both sides of one of its ends."""
    low, high = bounds
    if element.low <= low and high <= element.high:
        return bounds
    size = element.high - element.low + 1
    turns = (low - element.low) // size
    if (high - element.low) // size == turns:
        return low - turns * size, high - turns * size
    return element.low, element.high


def join(first: Bounds, *others: Bounds) -> Bounds:
    """The least bounds around all of these."""
    low, high = first
    for least, most in others:
        low, high = min(low, least), max(high, most)
    return low, high


# ---- bits: integers have as many as one likes, those of a negative one are 1 from some place on


def _invert(bounds: Bounds) -> Bounds:
    return ~bounds[1], ~bounds[0]


def _length(bounds: Bounds) -> int:
    """After how many low bits all others are equal."""
    return max(n.bit_length() if n >= 0 else (~n).bit_length() for n in bounds)


def _meet(a: Bounds, b: Bounds) -> Bounds:
    """`and`: not above an operand that can't be negative; with two that can, not below their lengths."""
    limits = [high for low, high in (a, b) if low >= 0]
    if limits:
        return 0, min(limits)
    highs = a[1], b[1]
    return -(1 << max(_length((a[0], a[0])), _length((b[0], b[0])))), min(highs) if max(highs) < 0 else max(highs)


def _and(_: Value, operands: Sequence[Bounds]) -> Bounds:
    a, b = operands
    return _meet(a, b)


def _or(_: Value, operands: Sequence[Bounds]) -> Bounds:
    a, b = operands
    return _invert(_meet(_invert(a), _invert(b)))


def _xor(_: Value, operands: Sequence[Bounds]) -> Bounds:
    """Its sign is known where those of the operands are; its length is not above theirs."""
    a, b = operands
    least, most = -1 << max(_length(a), _length(b)), (1 << max(_length(a), _length(b))) - 1
    signs = {(x < 0) != (y < 0) for x in a for y in b}
    return least if True in signs else 0, most if False in signs else -1


def _not(_: Value, operands: Sequence[Bounds]) -> Bounds:
    return _invert(operands[0])


# ---- arithmetic


def _corners(function: Callable[[int, int], int]) -> Rule:
    """Operations whose extremes lie at extremes of the operands."""

    def rule(_: Value, operands: Sequence[Bounds]) -> Bounds:
        a, b = operands
        results = [function(x, y) for x in a for y in b]
        return min(results), max(results)

    return rule


def _shift(function: Callable[[int, int], int]) -> Rule:
    """Every count is in 0..width-1, whatever else its bounds would allow."""

    def rule(value: Value, operands: Sequence[Bounds]) -> Bounds:
        numbers, (least, most) = operands
        counts = max(least, 0), min(most, element_of(value.type).bits - 1)
        results = [function(x, count) for x in numbers for count in counts]
        return min(results), max(results)

    return rule


def _divide(_: Value, operands: Sequence[Bounds]) -> Bounds:
    """Toward zero; x / 0 is 0. On either side of 0 the extremes lie at the extremes of the divisor."""
    numbers, (least, most) = operands
    divisors = [d for d in (least, most, min(most, -1), max(least, 1)) if d and least <= d <= most]
    results = [abs(x) // abs(d) * (1 if (x < 0) == (d < 0) else -1) for x in numbers for d in divisors]
    if least <= 0 <= most:
        results.append(0)
    return min(results), max(results)


def _remainder(_: Value, operands: Sequence[Bounds]) -> Bounds:
    """The sign of the dividend, nearer to 0 than the divisor and not farther than the dividend; x % 0 is 0."""
    (low, high), divisor = operands
    most = max(*map(abs, divisor), 1) - 1
    return max(min(low, 0), -most), min(max(high, 0), most)


def _negate(_: Value, operands: Sequence[Bounds]) -> Bounds:
    ((low, high),) = operands
    return -high, -low


def _absolute(_: Value, operands: Sequence[Bounds]) -> Bounds:
    ((low, high),) = operands
    return max(low, -high, 0), max(-low, high)


def _count_ones(value: Value, _: Sequence[Bounds]) -> Bounds:
    return 0, element_of(value.args[0].type).bits


def _sum(value: Value, operands: Sequence[Bounds]) -> Bounds:
    ((low, high),) = operands
    lanes = lanes_of(value.args[0].type)
    return lanes * low, lanes * high


def _dot(value: Value, operands: Sequence[Bounds]) -> Bounds:
    """The products that go into a lane, and what was there."""
    w, x, (least, most) = operands
    products = [a * b for a in w for b in x]
    count = lanes_of(value.args[0].type) // lanes_of(value.type)
    return least + count * min(products), most + count * max(products)


# ---- values that only move


def _constant(value: Value, _: Sequence[Bounds]) -> Bounds:
    lanes = lanes_of_constant(value.attr)
    return min(lanes), max(lanes)


def _same_number(value: Value, operands: Sequence[Bounds]) -> Bounds | None:
    """`convert`: the number itself, of which the type keeps the low bits. Floats are not followed."""
    return operands[0] if is_integer(value.args[0].type) else None


def _same_bits(value: Value, operands: Sequence[Bounds]) -> Bounds | None:
    """`reinterpret`: the number itself, in lanes of equal width."""
    old = value.args[0].type
    return operands[0] if is_integer(old) and element_of(old).bits == element_of(value.type).bits else None


def _all_of(_: Value, operands: Sequence[Bounds]) -> Bounds:
    return join(*operands)


def _first(_: Value, operands: Sequence[Bounds]) -> Bounds:
    return operands[0]


def _extract(value: Value, operands: Sequence[Bounds]) -> Bounds:
    vector = value.args[0]
    if vector.op == "const" and vector.attr.__class__ is tuple:
        return vector.attr[value.attr], vector.attr[value.attr]
    return operands[0]


def _shuffle(value: Value, operands: Sequence[Bounds]) -> Bounds:
    """Of the two vectors those whose lanes are taken."""
    lanes = lanes_of(value.args[0].type)
    picks: tuple[int, ...] = value.attr
    return join(*[operands[pick >= lanes] for pick in picks])


def _insert(_: Value, operands: Sequence[Bounds]) -> Bounds:
    return join(operands[0], operands[-1])


def _select(_: Value, operands: Sequence[Bounds]) -> Bounds:
    return join(operands[1], operands[2])


def _array_length(value: Value, _: Sequence[Bounds]) -> Bounds:
    return 0, element_of(value.type).high


# What is missing here can be anything that its type holds: what is loaded, coordinates, rotations. Calls are for `ranges.py`.
RULES: dict[str, Rule] = {
    "const": _constant,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "not": _not,
    "add": _corners(int.__add__),
    "sub": _corners(int.__sub__),
    "mul": _corners(int.__mul__),
    "min": _corners(min),
    "max": _corners(max),
    "shl": _shift(int.__lshift__),
    "shr": _shift(int.__rshift__),
    "div": _divide,
    "rem": _remainder,
    "neg": _negate,
    "abs": _absolute,
    "count_ones": _count_ones,
    "sum": _sum,
    "dot": _dot,
    "convert": _same_number,
    "reinterpret": _same_bits,
    "select": _select,
    "splat": _all_of,
    "build": _all_of,
    "shuffle": _shuffle,
    "extract": _extract,
    "extract_at": _first,
    "insert": _insert,
    "insert_at": _insert,
    "length": _array_length,
}
