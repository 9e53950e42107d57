"""What instructions do to integers and bits, on numpy arrays with one element for each thread.

Sections named are those of the PTX ISA manual, whose words each function follows, also where a shift count is too large.
Operands have the width of the instruction's type; numpy wraps as the manual says.
"""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    Lanes = NDArray[Any]


class Unspecified(Exception):
    """An operation whose result the manual leaves open."""


def bits_of(lanes: Lanes) -> int:
    return lanes.dtype.itemsize * 8


def unsigned(lanes: Lanes) -> Lanes:
    """The same bits, read as unsigned."""
    return lanes.view(f"u{lanes.dtype.itemsize}")


# ---- products and quotients ("Integer Arithmetic Instructions")


def multiply_wide(a: Lanes, b: Lanes) -> Lanes:
    wide = np.dtype(f"{a.dtype.kind}{a.dtype.itemsize * 2}")
    return a.astype(wide) * b.astype(wide)


def multiply_high(a: Lanes, b: Lanes) -> Lanes:
    if bits_of(a) < 64:
        return (multiply_wide(a, b) >> bits_of(a)).astype(a.dtype)
    x, y = unsigned(a), unsigned(b)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    cross = (x >> half) * (y & low) + ((x & low) * (y & low) >> half)
    other = (x & low) * (y >> half) + (cross & low)
    high = (x >> half) * (y >> half) + (cross >> half) + (other >> half)
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.view(a.dtype)


def multiply_add(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return a * b + c


def multiply_wide_add(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return multiply_wide(a, b) + c


def multiply_high_add(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return multiply_high(a, b) + c


def choose(a: Lanes, b: Lanes, condition: Lanes) -> Lanes:
    """selp."""
    return np.where(condition, a, b)


def divide(a: Lanes, b: Lanes) -> Lanes:
    """Toward zero."""
    _refuse_division(a, b)
    quotient = a // b
    return quotient + ((a - quotient * b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def remainder(a: Lanes, b: Lanes) -> Lanes:
    """With the sign of the dividend."""
    return a - divide(a, b) * b


def _refuse_division(a: Lanes, b: Lanes) -> None:
    if (b == 0).any():
        raise Unspecified("division by zero")
    if a.dtype.kind == "i" and ((b == -1) & (a == np.iinfo(a.dtype).min)).any():
        raise Unspecified("division of the least number by -1")


def add_saturating(a: Lanes, b: Lanes) -> Lanes:
    return np.clip(a.astype(np.int64) + b, -(2**31), 2**31 - 1).astype(np.int32)


def subtract_saturating(a: Lanes, b: Lanes) -> Lanes:
    return np.clip(a.astype(np.int64) - b, -(2**31), 2**31 - 1).astype(np.int32)


# ---- the carry ("Extended-Precision Integer Arithmetic Instructions")


def add_with_carry(a: Lanes, b: Lanes, carry: Lanes) -> tuple[Lanes, Lanes]:
    """The sum of unsigned numbers and a carry, and the carry out."""
    partial = a + b
    total = partial + carry.astype(a.dtype)
    return total, (partial < a) | (total < partial)


def subtract_with_borrow(a: Lanes, b: Lanes, borrow: Lanes) -> tuple[Lanes, Lanes]:
    partial = a - b
    return partial - borrow.astype(a.dtype), (a < b) | (borrow & (partial == 0))


# ---- bits ("Logic and Shift Instructions")


def shift_left(a: Lanes, count: Lanes) -> Lanes:
    """Counts beyond the width are the width."""
    inside = np.minimum(count, bits_of(a) - 1).astype(a.dtype)
    return np.where(count < bits_of(a), a << inside, a.dtype.type(0))


def shift_right(a: Lanes, count: Lanes) -> Lanes:
    """Signed numbers are filled with their sign."""
    inside = np.minimum(count, bits_of(a) - 1).astype(a.dtype)
    if a.dtype.kind == "i":
        return a >> inside
    return np.where(count < bits_of(a), a >> inside, a.dtype.type(0))


def funnel_left(wraps: bool) -> Callable[[Lanes, Lanes, Lanes], Lanes]:
    """The upper half of {b, a} << c."""

    def compute(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        return (shift_left(_join(a, b), _count(c, wraps)) >> np.uint64(32)).astype(np.uint32)

    return compute


def funnel_right(wraps: bool) -> Callable[[Lanes, Lanes, Lanes], Lanes]:
    """The lower half of {b, a} >> c."""

    def compute(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        return shift_right(_join(a, b), _count(c, wraps)).astype(np.uint32)

    return compute


def _join(low: Lanes, high: Lanes) -> Lanes:
    return high.astype(np.uint64) << np.uint64(32) | low


def _count(c: Lanes, wraps: bool) -> Lanes:
    return c & np.uint32(31) if wraps else np.minimum(c, np.uint32(32))


def logic(a: Lanes, b: Lanes, c: Lanes, table: Lanes) -> Lanes:
    """lop3: bit k of the table is the answer for a, b, c being the bits of k."""
    made = np.zeros_like(a | b | c)
    for k in range(8):
        if int(table[0]) >> k & 1:
            made |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
    return made


def count_ones(a: Lanes) -> Lanes:
    return np.bitwise_count(a).astype(np.uint32)


def count_leading_zeros(a: Lanes) -> Lanes:
    width = bits_of(a)
    for step in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:  # every bit below the first one becomes one
        a = a | a >> a.dtype.type(step)
    return (width - np.bitwise_count(a)).astype(np.uint32)


def reverse_bits(a: Lanes) -> Lanes:
    """Neighbours of 32, 16, 8, 4, 2 and 1 bits change places."""
    step = bits_of(a) // 2
    while step:
        mask = a.dtype.type(np.iinfo(a.dtype).max // ((1 << step) + 1))
        a = a >> a.dtype.type(step) & mask | (a & mask) << a.dtype.type(step)
        step //= 2
    return a


def _ones(count: Lanes, like: Lanes) -> Lanes:
    """As many low bits, at most all."""
    return ~shift_left(np.full_like(unsigned(like), np.iinfo(unsigned(like).dtype).max), count)


def extract_field(a: Lanes, position: Lanes, length: Lanes) -> Lanes:
    """bfe: what lies beyond the number or the field is the field's last bit where the type is signed, else 0."""
    width, x = bits_of(a), unsigned(a)
    position, length = position & np.uint32(255), length & np.uint32(255)
    x, position, length = np.broadcast_arrays(x, position, length)
    kept = np.where(position < width, np.minimum(length, width - np.minimum(position, width)), 0).astype(np.uint32)
    field = shift_right(x, position) & _ones(kept, x)
    if a.dtype.kind == "i":
        last = np.where(length > 0, np.minimum(position + np.maximum(length, 1) - 1, width - 1), 0).astype(np.uint32)
        sign = (length > 0) & (shift_right(x, last) & x.dtype.type(1) != 0)
        field = np.where(sign, field | ~_ones(kept, x), field)
    return field.view(a.dtype)


def insert_field(a: Lanes, b: Lanes, position: Lanes, length: Lanes) -> Lanes:
    """bfi: the low bits of a into b."""
    a, b, position, length = np.broadcast_arrays(a, b, position & np.uint32(255), length & np.uint32(255))
    mask = shift_left(_ones(length, b), position)
    return b & ~mask | shift_left(a, position) & mask


# ---- bytes ("Data Movement": prmt; "Integer Arithmetic": dp4a, dp2a)

# For each mode the byte that place k takes, where the two low bits of c are i. 0..3 are those of a, 4..7 of b.
PERMUTATIONS: dict[str, Callable[[int, int], int]] = {
    "f4e": lambda i, k: i + k,
    "b4e": lambda i, k: (i - k) % 8,
    "rc8": lambda i, k: i,
    "ecl": lambda i, k: max(i, k),
    "ecr": lambda i, k: min(i, k),
    "rc16": lambda i, k: (i & 1) * 2 + (k & 1),
}


def permute(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """Each byte is chosen by four bits of c; the uppermost of these asks for copies of the byte's sign."""
    source = _join(a, b).view(np.uint8).reshape(-1, 8)
    selectors = c[:, None] >> _SELECTOR_SHIFTS
    bytes_ = np.take_along_axis(source, (selectors & np.uint32(7)).astype(np.intp), axis=1)
    signs = (selectors & np.uint32(8)).astype(bool)
    if signs.any():
        bytes_ = np.where(signs, (bytes_ >> 7) * np.uint8(255), bytes_)
    return bytes_.view(np.uint32).reshape(-1)


_SELECTOR_SHIFTS = np.array([0, 4, 8, 12], np.uint32)


def permute_in(mode: str) -> Callable[[Lanes, Lanes, Lanes], Lanes]:
    pick = PERMUTATIONS[mode]
    selectors = np.array([sum(pick(i, k) << 4 * k for k in range(4)) for i in range(4)], np.uint32)

    def compute(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        return permute(a, b, selectors[c & np.uint32(3)])

    return compute


def dot_bytes(a_type: str, b_type: str) -> Callable[[Lanes, Lanes, Lanes], Lanes]:
    """dp4a: four products of bytes, each read by its own type, added to c; wraps."""
    a_byte, b_byte = (np.dtype("i1" if type == "s32" else "u1") for type in (a_type, b_type))

    def compute(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        x = a.view(a_byte).reshape(-1, 4).astype(np.int32)
        y = b.view(b_byte).reshape(-1, 4).astype(np.int32)
        return (x * y).sum(axis=1, dtype=np.int32).view(c.dtype) + c

    return compute
