"""Arrays as the interpreter sees them: elements read and written exactly, never outside.

Beneath lies a flat numpy array whose dtype is the element type, so what is written is at once in the caller's array.
"""

from __future__ import annotations

from cajeta_dot.reference.numbers import from_bits, to_bits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cajeta_dot.reference.numbers import Number
    from cajeta_dot.types import Scalar

MAX_BYTES = 1 << 46  # no machine has more; a length that needs more is refused before the system is asked


class Memory:
    """One array. Floats have a second view, of their bits, so that a NaN stays the NaN it is."""

    __slots__ = ("bits", "element", "length", "numbers")

    def __init__(self, array: Any, element: Scalar):
        self.numbers, self.element = array, element
        self.bits = array.view(f"u{element.bits // 8}") if element.is_float else None
        self.length = len(array)

    def holds(self, index: int, lanes: int) -> bool:
        """Do so many elements from there lie in the array?"""
        return 0 <= index <= self.length - lanes

    def read(self, index: int) -> Number:
        """One element; `index` must lie in the array."""
        number = self.numbers.item(index)
        return number if number == number else self._read_bits(index)

    def read_lanes(self, index: int, lanes: int) -> tuple[Number, ...]:
        """Neighbours; all must lie in the array."""
        numbers = self.numbers[index : index + lanes].tolist()
        if any(number != number for number in numbers):
            return tuple(self._read_bits(place) for place in range(index, index + lanes))
        return tuple(numbers)

    def _read_bits(self, index: int) -> Number:
        assert self.bits is not None
        return from_bits(self.bits.item(index), self.element)

    def write(self, index: int, number: Number) -> None:
        """One element; `index` must lie in the array and the number be of the element type."""
        if number == number:
            self.numbers[index] = number
        else:
            assert self.bits is not None
            self.bits[index] = to_bits(number, self.element)


def allocate(length: int, element: Scalar) -> Memory | None:
    """A zeroed array, or None where there can't be one of that length."""
    import numpy

    if not 0 <= length * max(1, element.bits // 8) <= MAX_BYTES:
        return None
    try:
        return Memory(numpy.zeros(length, name_dtype(element)), element)
    except MemoryError:
        return None


def name_dtype(element: Scalar) -> str:
    """What numpy calls the element type."""
    return str(element) if element.is_number else "bool"
