"""Integer division and remainder, which are total: x/0 and x%0 are 0, MIN/-1 is MIN, MIN%-1 is 0.

LLVM's are undefined there, and the processor traps; so the divisor is exchanged for 1 in just these cases, lane by lane. A
known divisor needs less. What a run-time error is instead, for scalars with checks on, is `checks.py`.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.types import spell, spell_constant
from cajeta_dot.ir import lanes_of_constant
from cajeta_dot.types import BOOLEAN, SIGNED, Scalar, Vector, element_of, with_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.llvm.writer import Writer
    from cajeta_dot.ir import Value


def emit_division(writer: Writer, value: Value, args: Sequence[str]) -> str:
    """`div` or `rem` of integers, for any operands."""
    a, b = args
    type = value.type
    known = _known_divisors(value)
    if known == {-1} and element_of(type).kind == SIGNED:
        return writer.value(f"sub {spell(type)} {_zero(type)}, {a}") if value.op == "div" else _zero(type)
    if known and not known & {0, -1}:
        return divide(writer, value, a, b)
    by_zero, special = find_special(writer, type, a, b)
    quotient = divide(writer, value, a, _choose(writer, type, special, spell_constant(type, 1), b))
    if value.op == "rem":
        return quotient  # anything modulo 1 is 0
    return _choose(writer, type, by_zero, _zero(type), quotient)  # MIN/1 is MIN already


def divide(writer: Writer, value: Value, a: str, b: str) -> str:
    """The instruction alone, for operands that are known to be harmless."""
    sign = "s" if element_of(value.type).kind == SIGNED else "u"
    return writer.value(f"{sign}{value.op} {spell(value.type)} {a}, {b}")


def find_special(writer: Writer, type: object, a: str, b: str) -> tuple[str, str]:
    """Where is the divisor 0; and where is it that, or -1 below MIN?"""
    assert isinstance(type, (Scalar, Vector))
    word, mask = spell(type), spell(with_element(type, BOOLEAN))
    by_zero = writer.value(f"icmp eq {word} {b}, {_zero(type)}")
    element = element_of(type)
    if element.kind != SIGNED:
        return by_zero, by_zero
    least = writer.value(f"icmp eq {word} {a}, {spell_constant(type, element.low)}")
    minus_one = writer.value(f"icmp eq {word} {b}, {spell_constant(type, -1)}")
    overflows = writer.value(f"and {mask} {least}, {minus_one}")
    return by_zero, writer.value(f"or {mask} {by_zero}, {overflows}")


def _known_divisors(value: Value) -> set[int]:
    """The lanes of a constant divisor, in its own reading; empty if it isn't one."""
    divisor = value.args[1]
    return set(lanes_of_constant(divisor.attr)) if divisor.op == "const" else set()


def _zero(type: object) -> str:
    assert isinstance(type, (Scalar, Vector))
    return spell_constant(type, 0)


def _choose(writer: Writer, type: object, condition: str, a: str, b: str) -> str:
    assert isinstance(type, (Scalar, Vector))
    word = spell(type)
    return writer.value(f"select {spell(with_element(type, BOOLEAN))} {condition}, {word} {a}, {word} {b}")
