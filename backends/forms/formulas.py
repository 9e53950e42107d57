"""The formulas of the int8 dot product, over the algebra. Which of them fits when is the table's business (`forms`).

Each takes 4n bytes of weights, as many activations and n accumulators. Names end in the signs they are right for.
"""

from __future__ import annotations

from cajeta_dot.backends.forms.algebra import Vector, add_up, halve, join
from cajeta_dot.backends.forms.instructions import addp, addp_narrow, pmaddubsw, pmaddwd, saddlp, sdot, sdot4, vpdpbusd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.forms.algebra import Instruction, Lowering, T

# ---- one instruction, or the same formula on exchanged operands


def one(instruction: Instruction) -> Lowering:
    def lower(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        return instruction(acc, w, x)

    return lower


def exchange(lower: Lowering) -> Lowering:
    def lower_exchanged(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        return lower(x, w, acc)

    return lower_exchanged


# ---- bias: flipping bit 7 adds or subtracts 128, and the dot product with a constant 128 takes it back


def vnni_ss(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return vpdpbusd(acc - vpdpbusd(0, 128, x), w ^ 128, x)


def vnni_uu(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return vpdpbusd(acc - vpdpbusd(0, w, -128), w, x ^ 128)


def sdot_us(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return sdot(sdot(sdot(acc, w ^ 128, x), 64, x), 64, x)


def sdot4_us(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return sdot4(sdot4(sdot4(acc, w.as_lanes(32) ^ 0x80808080, x), 64, x), 64, x)


# ---- split on bit 7: w = (w & 127) ± (w & 128), and neither half can make pmaddubsw clamp


def split7_us(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    low, top = pmaddubsw(w & 127, x), pmaddubsw(w & 128, x)
    return acc + (pmaddwd(low, 1) + pmaddwd(top, 1))


def split7_ss(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    low, top = pmaddubsw(w & 127, x), pmaddubsw(w & 128, x)
    return acc + (pmaddwd(low, 1) + pmaddwd(top, -1))


def maddubs(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return acc + pmaddwd(pmaddubsw(w, x), 1)


# ---- even and odd bytes, each as 16-bit lanes in place


def even_odd(multiply_add: Instruction, w_signed: bool, x_signed: bool) -> Lowering:
    """`multiply_add` adds the products of neighbouring 16-bit lanes: bytes 0 and 2 of four, and 1 and 3."""

    def lower(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        (w_even, w_odd), (x_even, x_odd) = _split(w, w_signed), _split(x, x_signed)
        return acc + (multiply_add(w_even, x_even) + multiply_add(w_odd, x_odd))

    return lower


def neon_us(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    """A product of an unsigned and a signed byte fits into 16 bits."""
    (w_even, w_odd), (x_even, x_odd) = _split(w, signed=False), _split(x, signed=True)
    return acc + saddlp(w_even * x_even) + saddlp(w_odd * x_odd)


def _split(v: Vector[T], signed: bool) -> tuple[Vector[T], Vector[T]]:
    pairs = v.as_lanes(16)
    return (pairs.shl(8).ashr(8), pairs.ashr(8)) if signed else (pairs & 255, pairs.lshr(8))


# ---- one word: its bytes as 16-bit lanes


def widen(w_signed: bool, x_signed: bool) -> Lowering:
    def lower(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        wide = (v.extend(16, signed=signed).window(0, 8) for v, signed in ((w, w_signed), (x, x_signed)))
        return add_up(pmaddwd(*wide).window(0, 2), acc)

    return lower


# ---- NEON without dot products: 16-bit products of bytes, neighbours added twice


def neon(multiply: Instruction, add_pairs: Instruction) -> Lowering:
    """Products first become 32-bit sums of two, then sums of four."""

    def lower(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        low, high = (add_pairs(multiply(*halves)) for halves in zip(halve(w), halve(x), strict=True))
        return acc + addp(join(low, high))

    return lower


def neon_narrow(multiply: Instruction, add_pairs: Instruction) -> Lowering:
    """For operands so small that a sum of two products still fits into 16 bits."""

    def lower(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        low, high = (multiply(*halves) for halves in zip(halve(w), halve(x), strict=True))
        return acc + add_pairs(addp_narrow(join(low, high)))

    return lower


# ---- any machine: byte after byte, each a number of its own


def scalar(w_signed: bool, x_signed: bool) -> Lowering:
    def lower(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
        for k in range(4):
            acc = acc + w.window(k, 1).extend(32, signed=w_signed) * x.window(k, 1).extend(32, signed=x_signed)
        return acc

    return lower
