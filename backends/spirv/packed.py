"""Operations on four bytes at once, where a packed word needs no unpacking.

Bits are bits in any width. Sums and differences are computed without the high bits of the bytes, so that nothing carries
from lane to lane, and the high bits are put in by exclusive or. A shift by one count for all lanes moves bits into the
neighbour lane, which a mask removes; the copies of a sign come from one multiplication, which can't carry because 0 or 1
times a byte fits a byte.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.lanes import spread
from cajeta_dot.types import Scalar, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.spirv.code import Code
    from cajeta_dot.backends.spirv.lanes import Registers
    from cajeta_dot.ir import Value

_BITWISE = {"and": "OpBitwiseAnd", "or": "OpBitwiseOr", "xor": "OpBitwiseXor", "not": "OpNot"}
_EACH = 0x01010101  # times a byte: that byte in every lane
_HIGH, _LOW = 0x80 * _EACH, 0x7F * _EACH


def calculate_packed(code: Code, value: Value, operands: Sequence[Registers]) -> Registers | None:
    """The packed result of an operation on packed operands, or None where it has to go lane by lane."""
    assert isinstance(value.type, Vector)
    if value.op in _BITWISE:
        return tuple(code.op(_BITWISE[value.op], "uint", *words) for words in zip(*operands, strict=True))
    if value.op in _SUMS:
        return tuple(_SUMS[value.op](code, *words) for words in zip(*operands, strict=True))
    count = _uniform_count(value.args[1]) if value.op in ("shl", "shr") else None
    if count is None:
        return None
    shift = _shift_left if value.op == "shl" else _shift_right
    return tuple(shift(code, value.type.element, word, count) for word in operands[0])


def splat_byte(code: Code, register: str, words: int) -> Registers:
    """A scalar of 8 bits in every lane."""
    return (code.op("OpIMul", "uint", code.mask(register, 0xFF), code.uint(_EACH)),) * words


def _uniform_count(value: Value) -> int | None:
    """The one number that all lanes hold, where it is known."""
    if value.op == "splat":
        value = value.args[0]
    if value.op != "const":
        return None
    counts = set(spread(value.type, value.attr))
    return counts.pop() if len(counts) == 1 else None


def _add(code: Code, a: str, b: str) -> str:
    total = code.op("OpIAdd", "uint", code.mask(a, _LOW), code.mask(b, _LOW))
    high = code.mask(code.op("OpBitwiseXor", "uint", a, b), _HIGH)
    return code.op("OpBitwiseXor", "uint", total, high)


def _subtract(code: Code, a: str, b: str) -> str:
    """The high bit of `a` is set first: no byte borrows. It is right if those of both operands are equal."""
    total = code.op("OpISub", "uint", code.op("OpBitwiseOr", "uint", a, code.uint(_HIGH)), code.mask(b, _LOW))
    high = code.mask(code.op("OpNot", "uint", code.op("OpBitwiseXor", "uint", a, b)), _HIGH)
    return code.op("OpBitwiseXor", "uint", total, high)


_SUMS = {"add": _add, "sub": _subtract}


def _shift_left(code: Code, element: Scalar, word: str, count: int) -> str:
    return code.mask(code.shift_left(word, count), _EACH * (0xFF << count & 0xFF)) if count else word


def _shift_right(code: Code, element: Scalar, word: str, count: int) -> str:
    if not count:
        return word
    moved = code.mask(code.shift_right(word, count), _EACH * (0xFF >> count))
    if not element.is_signed:
        return moved
    signs = code.mask(code.shift_right(word, 7), _EACH)
    copies = code.op("OpIMul", "uint", signs, code.uint(0xFF << 8 - count & 0xFF))
    return code.op("OpBitwiseOr", "uint", moved, copies)
