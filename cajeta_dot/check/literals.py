"""Numbers as the program writes them, decoded exactly.

An integer literal is an int. A float literal without a suffix stays text (or becomes a `Fraction` if it is hexadecimal, or once
an operator is applied to it), so that it is rounded once, to the type it meets.
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fractions import Fraction

    Exact = int | str | Fraction  # str: a decimal float literal

_BASES = {"x": (16, "hexadecimal"), "b": (2, "binary")}
_FORMATS = {16: "<e", 32: "<f", 64: "<d"}
MAX_INTEGER = (1 << 64) - 1
# Of a float literal: no float needs more, and exact numbers of any size would take any time.
MAX_DIGITS = 1000
MAX_EXPONENT = 400
MAX_EXACT_BITS = 1 << 15  # of what is computed from float literals
_DECIMAL = re.compile(r"[^eE]*[eE]([+-]?)0*(\d*)\Z")
_DIGITS = r"((?:[\da-fA-F](?:[\da-fA-F_]*[\da-fA-F])?)?)"
_HEXADECIMAL = re.compile(rf"0[xX]{_DIGITS}\.?{_DIGITS}[pP]([+-]?)0*(\d*)\Z")


class LiteralError(ValueError):
    """`offset` counts from the start of the literal; `fix` is a text to write instead, if one is sure."""

    def __init__(self, message: str, offset: int, fix: str | None = None):
        super().__init__(message)
        self.message, self.offset, self.fix = message, offset, fix


@lru_cache(4096)
def decode_integer(text: str) -> tuple[int, bool]:
    """The value, and whether an `L` makes it int64. Raises LiteralError."""
    digits, is_long = (text[:-1], True) if text[-1] in "lL" else (text, False)
    base, word, start = 10, "decimal", 0
    if len(digits) > 1 and digits[0] == "0":
        base, word, start = 8, "octal", 1
        if digits[1].lower() in _BASES:
            base, word = _BASES[digits[1].lower()]
            start = 2
    if digits[-1] in "uU" and digits[:-1].isdecimal():
        raise LiteralError("there is no unsigned suffix: a literal takes the type it meets", len(digits) - 1, digits[:-1])
    if start == len(digits):
        raise LiteralError(f"a {word} literal needs a digit", start)
    for offset in range(start, len(digits)):
        digit = digits[offset]
        if digit == "_":
            if offset + 1 == len(digits) or (offset == start and word != "octal"):
                raise LiteralError("`_` stands between digits only", offset)
        elif not (digit.isascii() and digit.isalnum() and int(digit, 36) < base):
            article = "an" if word == "octal" else "a"
            raise LiteralError(f"digit `{digit}` is not valid in {article} {word} literal", offset)
    plain = digits[start:].replace("_", "").lstrip("0") or "0"
    value = int(plain, base) if len(plain) <= 64 else MAX_INTEGER + 1
    if value > MAX_INTEGER:
        raise LiteralError("this literal needs more than 64 bits", 0)
    return value, is_long


@lru_cache(1024)
def decode_float(text: str) -> tuple[str | Fraction, str]:
    """The decimal text, or the number if it is hexadecimal; and the suffix, in lower case. Raises LiteralError."""
    suffix = text[-1].lower() if text[-1] in "fFdD" else ""
    digits = text[: len(text) - len(suffix)]
    plain = digits.replace("_", "")
    if len(plain) > MAX_DIGITS:
        raise LiteralError(f"this literal has more than {MAX_DIGITS} digits", 0)
    if plain[:2] in ("0x", "0X"):
        return _decode_hexadecimal(digits), suffix
    for offset, character in enumerate(digits):
        around = digits[max(offset - 1, 0) : offset + 2]
        if character == "_" and not (len(around) == 3 and around[0].isdigit() and around[2].isdigit()):
            raise LiteralError("`_` stands between digits only", offset)
        if not (character.isascii() and (character.isdigit() or character in "._eE+-")):
            raise LiteralError(f"`{character}` is not valid in a float literal", offset)
    try:
        float(plain)
    except ValueError:
        raise LiteralError("this is not a number", 0) from None
    exponent = _DECIMAL.match(plain)
    if exponent:
        _check_exponent(exponent[2], MAX_EXPONENT)
    return plain, suffix


def _decode_hexadecimal(text: str) -> Fraction:
    """`0x1.8p-3`: hexadecimal digits, times a power of two."""
    from fractions import Fraction

    parts = _HEXADECIMAL.match(text)
    if parts is None or not (parts[1] or parts[2]) or not text[-1].isdigit():
        raise LiteralError("this is not a number", 0)
    whole, places, sign, exponent = (part.replace("_", "") for part in parts.groups())
    power = _check_exponent(exponent, MAX_EXPONENT * 4) * (-1 if sign == "-" else 1) - 4 * len(places)
    return Fraction(int(whole + places, 16)) * Fraction(2) ** power


def _check_exponent(digits: str, most: int) -> int:
    if len(digits) > len(str(most)) or int(digits or "0") > most:
        raise LiteralError(f"the exponent of this literal is more than {most}", 0)
    return int(digits or "0")


def round_float(number: float, bits: int) -> float:
    """The nearest float of so many bits, ties to even; beyond the greatest one, infinity."""
    if bits == 64 or number != number:
        return number
    form = _FORMATS[bits]
    try:
        return struct.unpack(form, struct.pack(form, number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


@lru_cache(1024)
def round_exact(number: Exact, bits: int) -> float:
    """A literal rounded once. Going through float64 first is wrong only halfway between two floats: then compare exactly."""
    if isinstance(number, int) and abs(number) < 1 << 53:
        return round_float(float(number), bits)
    double = _to_double(number)
    if bits == 64 or double in (float("inf"), float("-inf")):
        return double
    rounded = round_float(double, bits)
    from fractions import Fraction

    exact = Fraction(number)
    if exact == Fraction(double):
        return rounded
    # The double lies beside the exact number: if it lies on the middle between two floats, the exact side decides.
    other = round_float(_next_double(double, exact > Fraction(double)), bits)
    beyond = Fraction(2 ** {16: 16, 32: 128}[bits])  # where the float after the greatest one would be

    def distance(candidate: float) -> Fraction:
        is_finite = abs(candidate) != float("inf")
        return abs((Fraction(candidate) if is_finite else beyond if candidate > 0 else -beyond) - exact)

    return min(rounded, other, key=distance)


def _to_double(number: Exact) -> float:
    try:
        return float(number)
    except OverflowError:  # integers and fractions; text gives infinity by itself
        return float("-inf" if str(number).startswith("-") else "inf")


def _next_double(number: float, up: bool) -> float:
    bits = struct.unpack("<q", struct.pack("<d", number))[0]
    if number == 0:
        return 5e-324 if up else -5e-324
    return struct.unpack("<d", struct.pack("<q", bits + (1 if up == (number > 0) else -1)))[0]


def is_too_exact(number: Fraction) -> bool:
    """Does a number need more bits than are computed with?"""
    return max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_EXACT_BITS


def combine_floats(operator: str, a: Exact, b: Exact) -> Fraction | None:
    """`a operator b` for + - * / on literals of which one is a float; None where only float arithmetic has an answer."""
    from fractions import Fraction

    x, y = Fraction(a), Fraction(b)
    match operator:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case "/" if y:
            return x / y
        case _:
            return None
