"""Lowerings that are wrong on purpose: each was somebody's idea, and the prover has to say no to each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cajeta_dot.backends.forms.algebra import Instruction, Lanes, join
from cajeta_dot.backends.forms.forms import exact
from cajeta_dot.backends.forms.formulas import even_odd, exchange, maddubs, neon_narrow, one, split7_us
from cajeta_dot.backends.forms.instructions import (
    S8,
    U8,
    dot_accumulate,
    encode_vnni,
    pmaddubsw,
    pmaddwd,
    saddlp,
    sdot,
    smull,
    uaddlp,
    umull,
    usdot,
    vpdpbusd,
    vqdotsu,
    wasm_dot,
    wasm_relaxed_dot,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.forms.algebra import N, T, Vector
    from cajeta_dot.backends.forms.forms import Form


def dot_accumulate_clamped(operands: Sequence[Sequence[N]], /) -> N:
    return dot_accumulate(operands).clamp(32)


vpdpbusds = Instruction(
    "vpdpbusds", "x86", (Lanes(True, 32), 4 * U8, 4 * S8), 32, dot_accumulate_clamped, encode_vnni("vpdpbusds")
)


def trust_sign_trick(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    sign = w.ashr(7)
    return maddubs((w ^ sign) - sign, (x ^ sign) - sign, acc)


def group_strided(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    n = acc.lanes
    picks = [n * k + j for j in range(n) for k in range(4)]
    return vpdpbusd(acc, w.shuffle(w, picks), x.shuffle(x, picks))


def assume_no_overflow(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return (acc.shl(1) + vpdpbusd(0, w, x).shl(1)).ashr(1)


def add_halves_early(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return acc + pmaddwd(pmaddubsw(w & 127, x) + pmaddubsw(w & 128, x), 1)


def forget_bias(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return vpdpbusd(acc, w ^ 128, x)


def complement(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return vpdpbusd(vpdpbusd(acc, 128, x ^ 255), w ^ 128, x)


def read_padding(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    half = w.lanes // 2
    low = vpdpbusd(acc, w, x).window(0, acc.lanes // 2)
    padded = w.window(0, half).window(0, w.lanes)
    return join(low, vpdpbusd(acc, padded, x).window(acc.lanes // 2, acc.lanes // 2))


def forget_half_the_bias(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
    return sdot(sdot(acc, w ^ 128, x), 64, x)


WRONG: tuple[Form, ...] = (
    exact("sign trick", "ss", trust_sign_trick),
    exact("maddubs claimed exact", "us", maddubs),
    exact("maddubs on one more weight", "us", maddubs, w_max=129),
    exact("maddubs on what is never negative", "us", maddubs, w_max=130, x_max=127),
    exact("split7 added in 16 bits", "us", add_halves_early),
    exact("operands exchanged", "us", exchange(one(vpdpbusd))),
    exact("signedness forgotten", "ss", one(vpdpbusd)),
    exact("signedness of s by u forgotten", "su", one(vpdpbusd)),
    exact("vnni on one more weight", "ss", one(vpdpbusd), w_max=128),
    exact("strided grouping", "us", group_strided),
    exact("overflow assumed away", "us", assume_no_overflow),
    exact("clamping accumulate", "us", one(vpdpbusds)),
    exact("bias forgotten", "ss", forget_bias),
    exact("split7 with the wrong sign", "ss", split7_us),
    exact("complement for negation", "ss", complement),
    exact("padding looked at", "us", read_padding),
    exact("half the bias forgotten", "us", forget_half_the_bias),
    exact("usdot exchanged", "us", exchange(one(usdot))),
    exact("sdot on one more weight", "us", one(sdot), w_max=128),
    exact("vqdotsu not exchanged", "us", one(vqdotsu)),
    exact("narrow on one more weight", "ss", neon_narrow(smull, saddlp), w_max=128),
    exact("narrow on one more unsigned weight", "uu", neon_narrow(umull, uaddlp), w_max=129),
    exact("relaxed on any weight", "us", exchange(one(wasm_relaxed_dot))),
    exact("relaxed on one more weight", "ss", exchange(one(wasm_relaxed_dot)), w_max=128),
    exact("relaxed with the wrong operand known", "us", one(wasm_relaxed_dot), w_max=127),
    exact("odd bytes read as unsigned", "us", even_odd(wasm_dot, False, False)),
)
