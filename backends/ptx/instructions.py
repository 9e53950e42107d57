"""The instructions that compute: each spelling that is known, the types of what goes in and comes out, and what it does.

A spelling that has no row is not known, whatever it may resemble. Memory, branches, calls, barriers and `mov` are the business
of `program`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from cajeta_dot.backends.ptx import floats, integers
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from numpy.typing import NDArray

    Lanes = NDArray[Any]


@record
class Operation:
    """`result` and `operands` are PTX's names of types; `compute` takes and gives arrays of these, or of as many bits."""

    result: str
    operands: tuple[str, ...]
    compute: Callable[..., Lanes]


SIGNED = ("s16", "s32", "s64")
UNSIGNED = ("u16", "u32", "u64")
BITS = ("b16", "b32", "b64")
NARROW = ("s8", "u8")
FLOATS = ("f16", "f32", "f64")
_KINDS = {"s": "i", "u": "u", "b": "u", "f": "f"}


def width(type: str) -> int:
    """Bits of a type; a predicate has one."""
    return 1 if type == "pred" else int(type[1:])


@cache
def dtype(type: str) -> np.dtype[Any]:
    """What numpy calls a type."""
    return np.dtype(bool) if type == "pred" else np.dtype(f"{_KINDS[type[0]]}{width(type) // 8}")


def _integers() -> Iterator[tuple[str, Operation]]:
    for type in SIGNED + UNSIGNED:
        two, wide = (type, type), f"{type[0]}{2 * width(type)}"
        yield f"add.{type}", Operation(type, two, np.add)
        yield f"sub.{type}", Operation(type, two, np.subtract)
        yield f"mul.lo.{type}", Operation(type, two, np.multiply)
        yield f"mul.hi.{type}", Operation(type, two, integers.multiply_high)
        yield f"mad.lo.{type}", Operation(type, (*two, type), integers.multiply_add)
        yield f"mad.hi.{type}", Operation(type, (*two, type), integers.multiply_high_add)
        yield f"div.{type}", Operation(type, two, integers.divide)
        yield f"rem.{type}", Operation(type, two, integers.remainder)
        yield f"min.{type}", Operation(type, two, np.minimum)
        yield f"max.{type}", Operation(type, two, np.maximum)
        if width(type) < 64:
            yield f"mul.wide.{type}", Operation(wide, two, integers.multiply_wide)
            yield f"mad.wide.{type}", Operation(wide, (*two, wide), integers.multiply_wide_add)
    for type in SIGNED:
        yield f"neg.{type}", Operation(type, (type,), np.negative)
        yield f"abs.{type}", Operation(type, (type,), np.abs)  # the least number stays
    yield "add.sat.s32", Operation("s32", ("s32", "s32"), integers.add_saturating)
    yield "sub.sat.s32", Operation("s32", ("s32", "s32"), integers.subtract_saturating)
    for a in ("s32", "u32"):
        for b in ("s32", "u32"):
            sum = "u32" if (a, b) == ("u32", "u32") else "s32"
            yield f"dp4a.{a}.{b}", Operation(sum, ("b32", "b32", sum), integers.dot_bytes(a, b))


def _bits() -> Iterator[tuple[str, Operation]]:
    for type in (*BITS, "pred"):
        yield f"and.{type}", Operation(type, (type, type), np.bitwise_and)
        yield f"or.{type}", Operation(type, (type, type), np.bitwise_or)
        yield f"xor.{type}", Operation(type, (type, type), np.bitwise_xor)
        yield f"not.{type}", Operation(type, (type,), np.invert)
    for type in BITS:
        yield f"shl.{type}", Operation(type, (type, "u32"), integers.shift_left)
    for type in BITS + SIGNED + UNSIGNED:
        yield f"shr.{type}", Operation(type, (type, "u32"), integers.shift_right)
    for type in ("b32", "b64"):
        yield f"popc.{type}", Operation("u32", (type,), integers.count_ones)
        yield f"clz.{type}", Operation("u32", (type,), integers.count_leading_zeros)
        yield f"brev.{type}", Operation(type, (type,), integers.reverse_bits)
        yield f"bfi.{type}", Operation(type, (type, type, "u32", "u32"), integers.insert_field)
    for type in ("s32", "u32", "s64", "u64"):
        yield f"bfe.{type}", Operation(type, (type, "u32", "u32"), integers.extract_field)
    yield "lop3.b32", Operation("b32", ("b32", "b32", "b32", "u32"), integers.logic)
    for mode in ("wrap", "clamp"):
        three = ("b32", "b32", "u32")
        yield f"shf.l.{mode}.b32", Operation("b32", three, integers.funnel_left(mode == "wrap"))
        yield f"shf.r.{mode}.b32", Operation("b32", three, integers.funnel_right(mode == "wrap"))
    yield "prmt.b32", Operation("b32", ("b32", "b32", "b32"), integers.permute)
    for mode in integers.PERMUTATIONS:
        yield f"prmt.b32.{mode}", Operation("b32", ("b32", "b32", "b32"), integers.permute_in(mode))


_ROUNDED = (("add", np.add), ("sub", np.subtract), ("mul", np.multiply))
_ON_FLOATS: dict[str, tuple[int, Callable[..., Lanes]]] = {  # operands, and what is done
    # Without a word about rounding they may be contracted, too; rounded each time is one of the results.
    **{f"{name}{mode}": (2, floats.rounded(do)) for name, do in _ROUNDED for mode in ("", ".rn")},
    "fma.rn": (3, floats.fuse),
    "min": (2, floats.least),
    "max": (2, floats.greatest),
    "neg": (1, np.negative),
    "abs": (1, np.abs),
}
_ON_LARGE_FLOATS: dict[str, tuple[int, Callable[..., Lanes]]] = {
    "div.rn": (2, floats.rounded(np.divide)),
    "rcp.rn": (1, floats.rounded(np.reciprocal)),
    "sqrt.rn": (1, floats.rounded(np.sqrt)),
    "copysign": (2, floats.copy_sign),
}


def _floats() -> Iterator[tuple[str, Operation]]:
    for name, (count, compute) in _ON_FLOATS.items():
        for type in FLOATS:
            yield f"{name}.{type}", Operation(type, (type,) * count, compute)
        yield f"{name}.f16x2", Operation("b32", ("b32",) * count, floats.in_pairs(compute, "f16x2"))
        if name.endswith(".rn"):
            yield f"{name}.f32x2", Operation("b64", ("b64",) * count, floats.in_pairs(compute, "f32x2"))
    for name, (count, compute) in _ON_LARGE_FLOATS.items():
        for type in FLOATS[1:]:
            yield f"{name}.{type}", Operation(type, (type,) * count, compute)


def _comparisons() -> Iterator[tuple[str, Operation]]:
    join = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
    for type in BITS + SIGNED + UNSIGNED + FLOATS:
        known = list(floats.COMPARISONS) if type in FLOATS else ["eq", "ne", "lt", "le", "gt", "ge"]
        for name in known[:2] if type in BITS else known:
            compare = _COMPARE[name] if type not in FLOATS else floats.COMPARISONS[name]
            yield f"setp.{name}.{type}", Operation("pred", (type, type), compare)
            for word, with_third in join.items():
                compute = _compare_and_join(compare, with_third)
                yield f"setp.{name}.{word}.{type}", Operation("pred", (type, type, "pred"), compute)
        if type != "f16":
            yield f"selp.{type}", Operation(type, (type, type, "pred"), integers.choose)


_COMPARE: dict[str, Callable[[Lanes, Lanes], Lanes]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _compare_and_join(compare: Callable[..., Lanes], join: Callable[..., Lanes]) -> Callable[..., Lanes]:
    def compute(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        return join(compare(a, b), c)

    return compute


def _conversions() -> Iterator[tuple[str, Operation]]:
    """cvt. Names say the result first."""
    whole = NARROW + SIGNED + UNSIGNED
    for source in whole:
        for target in whole:
            yield f"cvt.{target}.{source}", Operation(target, (source,), _resize(target))
            if _can_overflow(source, target):
                yield f"cvt.sat.{target}.{source}", Operation(target, (source,), _clamp(target))
        for target in FLOATS:
            yield f"cvt.rn.{target}.{source}", Operation(target, (source,), floats.from_integer(target))
    for source in FLOATS:
        for rounding in floats.ROUNDINGS:
            for target in whole:
                compute = floats.to_integer(rounding, source, target)
                yield f"cvt.{rounding}.{target}.{source}", Operation(target, (source,), compute)
            yield f"cvt.{rounding}.{source}.{source}", Operation(source, (source,), floats.to_whole(rounding))
        for target in FLOATS:
            if width(target) != width(source):
                name = f"cvt.{target}.{source}" if width(target) > width(source) else f"cvt.rn.{target}.{source}"
                yield name, Operation(target, (source,), floats.to_float(target))


def _can_overflow(source: str, target: str) -> bool:
    """Has the source a number that the target has not?"""
    given, wanted = np.iinfo(dtype(source)), np.iinfo(dtype(target))
    return bool(given.min < wanted.min or given.max > wanted.max)


def _resize(target: str) -> Callable[[Lanes], Lanes]:
    return lambda a: a.astype(dtype(target))


def _clamp(target: str) -> Callable[[Lanes], Lanes]:
    low, high = (int(getattr(np.iinfo(dtype(target)), end)) for end in ("min", "max"))

    def compute(a: Lanes) -> Lanes:
        ends = np.iinfo(a.dtype)
        return np.clip(a, max(low, int(ends.min)), min(high, int(ends.max))).astype(dtype(target))

    return compute


def _make_table() -> dict[str, Operation]:
    groups = (_integers(), _bits(), _floats(), _comparisons(), _conversions())
    return {name: operation for group in groups for name, operation in group}


OPERATIONS = _make_table()
