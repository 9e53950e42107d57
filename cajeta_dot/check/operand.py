"""What checking an expression gives: a typed value, or a literal that has not met a type yet."""

from __future__ import annotations

from cajeta_dot.types import FLOAT64, INT32, INT64, POISON, UINT64, Scalar, Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Value
    from cajeta_dot.syntax.tree import Node

    from .literals import Exact


class Operand:
    """An expression after checking. Exactly one of these holds:

    * `literal` is the exact number of a bare literal (or of operators on literals only) and `value` is None;
    * `choice` is `condition ? literal : literal`, of which nothing but the condition is emitted yet;
    * `value` is the IR value, and `type` its type;
    * `type` is POISON or VOID: a mistake already reported, or a call without a result.

    `is_long` marks an integer literal with an `L`. `mixed` marks an integer that is unsigned only because an unsigned
    operand no wider than the signed one was mixed in, or in a way that was warned of; `no_op_mask` is the `&` whose literal
    kept every bit.
    """

    __slots__ = ("choice", "end", "is_bare", "is_long", "literal", "mixed", "no_op_mask", "start", "type", "value")

    def __init__(self, node: Node | Operand, type: Type, value: Value | None = None, literal: Exact | None = None):
        self.start, self.end = node.start, node.end
        self.type, self.value = type, value
        self.literal = literal
        self.choice: tuple[Value, Operand, Operand] | None = None
        self.is_bare = literal is not None  # or a choice: does it take the type it meets?
        self.is_long = self.mixed = False
        self.no_op_mask: tuple[int, int] | None = None

    def choose(self, condition: Value, first: Operand, second: Operand) -> None:
        """Make it one of two literals."""
        self.choice, self.is_bare = (condition, first, second), True

    @property
    def is_poison(self) -> bool:
        return self.type is POISON

    @property
    def constant(self) -> float | None:
        """The number, if it is known while compiling: a literal, or a value that was folded."""
        if isinstance(self.literal, int):
            return self.literal
        if self.value is not None and self.value.op == "const" and isinstance(self.value.attr, (int, float)):
            return self.value.attr
        return None

    @property
    def integer(self) -> int | None:
        """The constant, if it is an integer."""
        constant = self.constant
        return constant if isinstance(constant, int) and not isinstance(constant, bool) else None


def literal(node: Node, number: Exact, is_long: bool = False) -> Operand:
    """A bare literal, typed as it would be without anything beside it."""
    operand = Operand(node, default_type(number, is_long), None, number)
    operand.is_long = is_long
    return operand


def poison(node: Node | Operand) -> Operand:
    """An expression already complained about."""
    return Operand(node, POISON)


def default_type(number: Exact, is_long: bool) -> Scalar:
    """int32, or int64 if it needs it or has an L (uint64 for the last bit of it); float64."""
    if not isinstance(number, int):
        return FLOAT64
    if not is_long and -(1 << 31) <= number < 1 << 31:
        return INT32
    return INT64 if number <= INT64.high else UINT64
