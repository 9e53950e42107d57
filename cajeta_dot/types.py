"""The types of the dialect. Signedness lives here and nowhere else: no value, opcode or name carries a sign of its own.

`str()` of a type is the user's spelling, for messages.
"""

from __future__ import annotations

from .record import value

SIGNED, UNSIGNED, FLOAT, BOOL = "s", "u", "f", "b"
MAX_LANES = 256


@value
class Scalar:
    """A number or a boolean. `kind` is s, u, f or b; a boolean has one bit."""

    kind: str
    bits: int

    def __str__(self) -> str:
        return "boolean" if self.kind == BOOL else _WORDS[self.kind] + str(self.bits)

    @property
    def element(self) -> Scalar:
        """Itself, as if it were a vector of one lane."""
        return self

    @property
    def is_integer(self) -> bool:
        return self.kind in "su"

    @property
    def is_float(self) -> bool:
        return self.kind == FLOAT

    @property
    def is_number(self) -> bool:
        return self.kind != BOOL

    @property
    def is_signed(self) -> bool:
        """True for signed integers only."""
        return self.kind == SIGNED

    @property
    def low(self) -> int:
        """The least integer of an integer type."""
        return -(1 << self.bits - 1) if self.kind == SIGNED else 0

    @property
    def high(self) -> int:
        """The greatest integer of an integer type."""
        return (1 << self.bits - (self.kind == SIGNED)) - 1

    def holds(self, number: int) -> bool:
        """Is it one of the numbers of an integer type? All of them have those of seven bits."""
        return 0 <= number < 128 or self.low <= number <= self.high

    def wrap(self, number: int) -> int:
        """The integer of this type with the same low bits."""
        if 0 <= number < 128:
            return number
        return (number - self.low) % (1 << self.bits) + self.low


_WORDS = {SIGNED: "int", UNSIGNED: "uint", FLOAT: "float"}


@value
class Vector:
    """`lanes` lanes of one scalar type. Lanes of booleans make a mask, which no variable can hold."""

    element: Scalar
    lanes: int

    def __str__(self) -> str:
        return f"Vector<{self.element},{self.lanes}>"


@value
class Array:
    """Elements in memory. `space` is how the user spells it; `length` is known for Shared arrays only.

    `padding` is (P, Q) of a `BlockPadded<T,P,Q>`: its logical element i lives at i + (i / P) * Q.
    """

    element: Scalar
    space: str
    length: int | None = None
    padding: tuple[int, int] | None = None

    @property
    def is_shared(self) -> bool:
        """Does it belong to a workgroup?"""
        return self.space in ("Shared", "BlockPadded")

    def holds_as(self, other: Array) -> bool:
        """May it be used where the other is wanted? `T[]` and `KernelBuffer<T>` are one thing to a callee."""
        return self.element == other.element and self.is_shared == other.is_shared

    def __str__(self) -> str:
        if self.padding:
            return f"BlockPadded<{self.element},{self.padding[0]},{self.padding[1]}>"
        return f"{self.element}[]" if self.space == "array" else f"{self.space}<{self.element}>"


@value
class Void:
    """What a kernel returns."""

    def __str__(self) -> str:
        return "void"


@value
class Poison:
    """The type of an expression already complained about: every check lets it pass."""

    def __str__(self) -> str:
        return "?"


Type = Scalar | Vector | Array | Void | Poison
VOID, POISON = Void(), Poison()
BOOLEAN = Scalar(BOOL, 1)
INT8, INT16, INT32, INT64 = (Scalar(SIGNED, bits) for bits in (8, 16, 32, 64))
UINT8, UINT16, UINT32, UINT64 = (Scalar(UNSIGNED, bits) for bits in (8, 16, 32, 64))
FLOAT16, FLOAT32, FLOAT64 = (Scalar(FLOAT, bits) for bits in (16, 32, 64))
SCALARS: dict[str, Scalar] = {
    str(scalar): scalar
    for scalar in (BOOLEAN, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT16, FLOAT32, FLOAT64)
}


def element_of(type: Type) -> Scalar:
    """The scalar itself, or what its lanes or elements are. Raises TypeError for void and poison."""
    if type.__class__ is Scalar:  # asked more often than anything else
        return type  # pyright: ignore[reportReturnType] - it is one
    if isinstance(type, (Vector, Array)):
        return type.element
    raise TypeError(f"{type} has no elements")


def lanes_of(type: Type) -> int:
    """How many lanes a value has; a scalar has one."""
    return type.lanes if isinstance(type, Vector) else 1


def with_element(type: Scalar | Vector, element: Scalar) -> Scalar | Vector:
    """The same shape with other elements."""
    return Vector(element, type.lanes) if isinstance(type, Vector) else element


def other_sign(scalar: Scalar, kind: str) -> Scalar:
    """The integer type of the same width that is read as `kind`."""
    return scalar if scalar.kind == kind else Scalar(kind, scalar.bits)
