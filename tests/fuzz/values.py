"""Numbers for random programs: literals as the text spells them, and what arrays and scalars hold before a launch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.types import FLOAT32, FLOAT64, INT64, Scalar

if TYPE_CHECKING:
    from random import Random

    from numpy.typing import NDArray

    Elements = NDArray[Any]

_NEAR_ZERO = (0, 1, 2, 3, 7, 15, 16, 100, 127, 128, 200, 240, 255, -1, -2, -7, -100, -127, -128)
_DECIMALS = ("0.0", "1.0", "0.5", "2.5", "1.5", ".1", "3.", "127.5", "255.0", "1e-3", "65504.0", "6e-8", "16777217.0", "1e20")
_REALS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 3.0, 127.5, -128.5, 255.5, 65504.0, 2147483648.0, -2147483904.0)
_STRANGE = (math.nan, math.inf, -math.inf, 1e-45, -1e-40, 3.4028234663852886e38, 6e-8, 1e300, -5e-324, 9.3e18)


def dtype_of(type: Scalar) -> np.dtype[Any]:
    return np.dtype(str(type) if type.is_number else "bool")


# ---- literals


def pick_integer(random: Random, low: int, high: int) -> int:
    """A number in low..high: near an end of the range, near zero, or any."""
    if random.random() < 0.25:
        return random.randint(low, high)
    edges = (low, low + 1, high, high - 1, high // 2 + 1, high // 3, *_NEAR_ZERO)
    return random.choice([number for number in edges if low <= number <= high])


def spell_integer(random: Random, number: int) -> str:
    """The literal in one of its forms; only decimal ones are negative."""
    form = random.choice("dddxbo_") if number >= 0 else "d"
    return {
        "d": f"{number}",
        "x": f"0x{number:X}",
        "b": f"0b{number:b}",
        "o": f"0{number:o}",
        "_": f"{number:_}",
    }[form]


def spell_bare(random: Random, type: Scalar) -> str:
    """A literal that takes the type of what stands beside it."""
    if type.is_float:
        sign = random.choice(("", "", "-"))
        return sign + random.choice((*_DECIMALS, "2", "7"))
    number = pick_integer(random, -(1 << type.bits - 1), (1 << type.bits) - 1)
    return spell_integer(random, number)


def spell_typed(random: Random, type: Scalar) -> str:
    """A literal with a type of its own."""
    if type.is_float:
        digits = random.choice(_DECIMALS)
        suffix = {FLOAT32: random.choice("fF"), FLOAT64: random.choice("dD")}.get(type)
        return digits + suffix if suffix and random.random() < 0.7 else f"(({type}) {digits})"
    number = pick_integer(random, type.low, type.high)
    return f"(({type}) {spell_integer(random, number)})"


def spell_long(random: Random) -> str:
    """A literal that makes what stands beside it an int64."""
    return spell_integer(random, pick_integer(random, 0, INT64.high)) + random.choice("Ll")


def spell_landing(random: Random, type: Scalar) -> str:
    """A literal that fits where a value of the type is wanted."""
    if type.is_float:
        return spell_bare(random, type)
    return spell_integer(random, pick_integer(random, type.low, type.high))


# ---- arguments


def make_number(random: Random, type: Scalar) -> Any:
    """One number of the type, as Python passes it."""
    if not type.is_number:
        return random.random() < 0.5
    if type.is_float:
        return _round(random.choice(_REALS) if random.random() < 0.8 else random.choice(_STRANGE), type)
    return pick_integer(random, type.low, type.high)


def _round(number: float, type: Scalar) -> float:
    with np.errstate(over="ignore"):
        return float(dtype_of(type).type(number))


def make_array(random: Random, type: Scalar, length: int) -> Elements:
    """Edges, plain numbers and random bits, mixed."""
    dtype = dtype_of(type)
    if not type.is_number:
        return np.array([random.random() < 0.5 for _ in range(length)], dtype)
    edgy = random.choice((0.1, 0.5, 0.9))
    array = np.frombuffer(bytearray(random.randbytes(length * dtype.itemsize)), dtype)
    plain = type.is_float and random.random() < 0.8  # random bits of a float are mostly enormous or tiny
    for place in range(length):
        if random.random() < edgy:
            array[place] = make_number(random, type)
        elif plain:
            array[place] = random.randint(-64, 64) / random.choice((1, 2, 8))
    return array
