"""Instructions on integers and bits against Python's integers, at the ends of their types. Source: the PTX ISA manual."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends.ptx.execute import FaultAt
from cajeta_dot.backends.ptx.instructions import OPERATIONS, dtype, width

from .machine import apply

if TYPE_CHECKING:
    from collections.abc import Callable

    Numbers = list[int]
    Meaning = (
        Callable[[int], int] | Callable[[int, int], int] | Callable[[int, int, int], int] | Callable[[int, int, int, int], int]
    )

ARITHMETIC = ("s16", "s32", "s64", "u16", "u32", "u64")
BITS = ("b16", "b32", "b64")


def ends(type: str) -> tuple[int, int]:
    info = np.iinfo(dtype(type))
    return int(info.min), int(info.max)


def edges(type: str) -> Numbers:
    low, high = ends(type)
    near = {low, low + 1, -2, -1, 0, 1, 2, 3, 7, 127, 128, 255, high // 3, high // 2, high // 2 + 1, high - 1, high}
    return sorted(number for number in near if low <= number <= high)


def wrap(number: int, type: str) -> int:
    low, _ = ends(type)
    return (number - low) % (1 << width(type)) + low


def array(numbers: Numbers, type: str) -> Any:
    return np.array(numbers, dtype(type))


def check(opcode: str, operands: list[Numbers], meaning: Meaning) -> None:
    """The instruction on every combination that the lists, which are of one length, give place by place."""
    compute: Any = meaning
    operation = OPERATIONS[opcode]
    made = apply(opcode, *(array(o, type) for o, type in zip(operands, operation.operands, strict=True)))
    wanted = [wrap(compute(*row), operation.result) for row in zip(*operands, strict=True)]
    wrong = [
        (row, got, want)
        for row, got, want in zip(zip(*operands, strict=True), made.tolist(), wanted, strict=True)
        if got != want
    ]
    assert not wrong, (opcode, wrong[:3])


def products(*lists: Numbers, most: int = 1024) -> list[Numbers]:
    """Every combination, thinned out to what a workgroup has room for."""
    rows = list(itertools.product(*lists))
    rows = rows[:: -(-len(rows) // most)]
    return [list(column) for column in zip(*rows, strict=True)]


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


TWO: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul.lo": lambda a, b: a * b, "min": min, "max": max,
}  # fmt: skip


@pytest.mark.parametrize("type", ARITHMETIC)
def test_arithmetic(type: str) -> None:
    two, three = products(edges(type), edges(type)), products(edges(type), edges(type), edges(type)[::3])
    for name, meaning in TWO.items():
        check(f"{name}.{type}", two, meaning)
    check(f"mul.hi.{type}", two, lambda a, b: a * b >> width(type))
    check(f"mad.lo.{type}", three, lambda a, b, c: a * b + c)
    check(f"mad.hi.{type}", three, lambda a, b, c: (a * b >> width(type)) + c)
    if width(type) < 64:
        check(f"mul.wide.{type}", two, lambda a, b: a * b)
        wide = f"{type[0]}{2 * width(type)}"
        check(f"mad.wide.{type}", products(edges(type), edges(type), edges(wide)[::3]), lambda a, b, c: a * b + c)
    if type[0] == "s":
        check(f"neg.{type}", [edges(type)], lambda a: -a)
        check(f"abs.{type}", [edges(type)], abs)


@pytest.mark.parametrize("type", ARITHMETIC)
def test_division(type: str) -> None:
    low, _ = ends(type)
    rows = [(a, b) for a, b in itertools.product(edges(type), edges(type)) if b and (a, b) != (low, -1)]
    operands = [list(column) for column in zip(*rows, strict=True)]
    check(f"div.{type}", operands, quotient)
    check(f"rem.{type}", operands, lambda a, b: a - quotient(a, b) * b)


@pytest.mark.parametrize(("opcode", "a", "b"), [("div.s32", 1, 0), ("rem.u64", 0, 0), ("div.s16", -(2**15), -1)])
def test_a_division_that_the_manual_leaves_open_is_a_fault(opcode: str, a: int, b: int) -> None:
    type = opcode.split(".")[1]
    with pytest.raises(FaultAt, match="division"):
        apply(opcode, array([a], type), array([b], type))


def test_saturation() -> None:
    two = products(edges("s32"), edges("s32"))
    check("add.sat.s32", two, lambda a, b: min(max(a + b, -(2**31)), 2**31 - 1))
    check("sub.sat.s32", two, lambda a, b: min(max(a - b, -(2**31)), 2**31 - 1))


@pytest.mark.parametrize("type", BITS)
def test_logic(type: str) -> None:
    two = products(edges(type), edges(type))
    check(f"and.{type}", two, lambda a, b: a & b)
    check(f"or.{type}", two, lambda a, b: a | b)
    check(f"xor.{type}", two, lambda a, b: a ^ b)
    check(f"not.{type}", [edges(type)], lambda a: ~a)


def test_logic_of_predicates() -> None:
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    assert apply("and.pred", a, b).tolist() == (a & b).tolist()
    assert apply("or.pred", a, b).tolist() == (a | b).tolist()
    assert apply("xor.pred", a, b).tolist() == (a ^ b).tolist()
    assert apply("not.pred", a).tolist() == (~a).tolist()


@pytest.mark.parametrize("type", [*BITS, *ARITHMETIC])
def test_shifts_by_any_count(type: str) -> None:
    counts = [0, 1, 7, width(type) - 1, width(type), width(type) + 1, 2**31, 2**32 - 1]
    two = products(edges(type), counts)
    check(f"shr.{type}", two, lambda a, n: a >> min(n, width(type)))
    if type in BITS:
        check(f"shl.{type}", two, lambda a, n: a << min(n, width(type)))


def test_funnel_shifts() -> None:
    three = products(edges("b32"), edges("b32")[::2], [0, 1, 8, 31, 32, 33, 64, 2**32 - 1])
    check("shf.l.wrap.b32", three, lambda a, b, n: (b << 32 | a) << (n & 31) >> 32)
    check("shf.r.wrap.b32", three, lambda a, b, n: (b << 32 | a) >> (n & 31))
    check("shf.l.clamp.b32", three, lambda a, b, n: (b << 32 | a) << min(n, 32) >> 32)
    check("shf.r.clamp.b32", three, lambda a, b, n: (b << 32 | a) >> min(n, 32))


@pytest.mark.parametrize("type", ["b32", "b64"])
def test_counts(type: str) -> None:
    numbers = [*edges(type), *(1 << place for place in range(width(type))), *(3 << place for place in range(width(type) - 1))]
    check(f"popc.{type}", [numbers], lambda a: bin(a).count("1"))
    check(f"clz.{type}", [numbers], lambda a: width(type) - a.bit_length())
    check(f"brev.{type}", [numbers], lambda a: int(f"{a:0{width(type)}b}"[::-1], 2))


@pytest.mark.parametrize("type", ["s32", "u32", "s64", "u64"])
def test_bit_field_extract(type: str) -> None:
    last = width(type) - 1

    def meaning(a: int, position: int, length: int) -> int:
        """As the manual writes it down, bit by bit."""
        position, length = position & 255, length & 255
        sign = 0 if type[0] == "u" or length == 0 else a >> min(position + length - 1, last) & 1
        return sum((a >> position + i & 1 if i < length and position + i <= last else sign) << i for i in range(last + 1))

    places = [0, 1, 7, last, last + 1, 255, 256, 2**32 - 1]
    check(f"bfe.{type}", products(edges(type)[::2], places, places), meaning)


@pytest.mark.parametrize("type", ["b32", "b64"])
def test_bit_field_insert(type: str) -> None:
    last = width(type) - 1

    def meaning(a: int, b: int, position: int, length: int) -> int:
        position, length = position & 255, length & 255
        for i in range(length):
            if position + i <= last:
                b = b & ~(1 << position + i) | (a >> i & 1) << position + i
        return b

    places = [0, 1, 9, last, last + 1, 255, 257]
    check(f"bfi.{type}", products(edges(type)[::4], edges(type)[::4], places, places), meaning)


def test_permutation_of_bytes() -> None:
    a, b = 0x80FF7F01, 0x44C32201
    source = [*a.to_bytes(4, "little"), *b.to_bytes(4, "little")]

    def generic(a: int, b: int, c: int) -> int:
        made = 0
        for k in range(4):
            selector = c >> 4 * k & 15
            byte = source[selector & 7]
            made |= (byte if selector < 8 else 255 * (byte >> 7)) << 8 * k
        return made

    selectors = [0x3210, 0x7654, 0x4440, 0x7771, 0x8888, 0xFEDC, 0xBA98, 0x0F1E, 0xFFFF3210]
    check("prmt.b32", [[a] * len(selectors), [b] * len(selectors), selectors], generic)


# The manual's table: for each of the two low bits of c, the bytes that go to d from the uppermost to the lowest.
MODES = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


@pytest.mark.parametrize("mode", MODES)
def test_permutations_by_mode(mode: str) -> None:
    table = [int(row, 16) for row in MODES[mode]]
    a, b = [0x03020100] * 8, [0x07060504] * 8
    counts = [0, 1, 2, 3, 4, 7, 2**31, 2**32 - 1]
    check(
        f"prmt.b32.{mode}", [a, b, counts], lambda a, b, c: int("".join(f"0{digit:x}" for digit in _digits(table[c & 3])), 16)
    )


def _digits(word: int) -> list[int]:
    return [word >> 4 * k & 15 for k in (3, 2, 1, 0)]


def test_every_table_of_three_bits() -> None:
    a, b, c = 0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA  # bit k of each makes up the number k
    from .machine import launch, write_entry

    body = "mov.b32 %r1, 0xF0F0F0F0; mov.b32 %r2, 0xCCCCCCCC; mov.b32 %r3, 0xAAAAAAAA;\n"
    body += "".join(f"lop3.b32 %r0, %r1, %r2, %r3, {k}; st.global.b32 [%a0+{4 * k}], %r0;\n" for k in range(256))
    out = np.zeros(256, np.uint32)
    launch(write_entry(body), [out])
    assert (a & 0xFF, b & 0xFF, c & 0xFF) == (0xF0, 0xCC, 0xAA)
    assert out.tolist() == [k * 0x01010101 for k in range(256)]


BYTES = [0, 1, 127, 128, 255, 2, 100, 200]


@pytest.mark.parametrize("a_type", ["s32", "u32"])
@pytest.mark.parametrize("b_type", ["s32", "u32"])
def test_dot_of_four_bytes(a_type: str, b_type: str) -> None:
    random = np.random.default_rng(5)
    words = [int.from_bytes(bytes(random.choice(BYTES, 4).tolist()), "little") for _ in range(900)]
    words[:5] = [byte * 0x01010101 for byte in BYTES[:5]]
    others = words[::-1]
    others[:5] = [0x80808080] * 5
    opcode = f"dp4a.{a_type}.{b_type}"
    sums = edges(OPERATIONS[opcode].result)

    def meaning(a: int, b: int, c: int) -> int:
        pairs = zip(a.to_bytes(4, "little"), b.to_bytes(4, "little"), strict=True)
        return c + sum(_read(x, a_type) * _read(y, b_type) for x, y in pairs)

    check(opcode, [words, others, [sums[k % len(sums)] for k in range(900)]], meaning)


def _read(byte: int, type: str) -> int:
    return byte - 256 if type[0] == "s" and byte > 127 else byte


def test_comparisons_and_choice() -> None:
    meanings: dict[str, Callable[[int, int], bool]] = {
        "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    }  # fmt: skip
    for type in (*ARITHMETIC, *BITS):
        a, b = products(edges(type), edges(type))
        x, y = array(a, type), array(b, type)
        third = np.arange(len(a)) % 3 == 0
        for name, meaning in meanings.items():
            if type in BITS and name not in ("eq", "ne"):
                assert f"setp.{name}.{type}" not in OPERATIONS
                continue
            plain = np.array([meaning(p, q) for p, q in zip(a, b, strict=True)])
            assert (apply(f"setp.{name}.{type}", x, y) == plain).all()
            assert (apply(f"setp.{name}.and.{type}", x, y, third) == (plain & third)).all()
            assert (apply(f"setp.{name}.xor.{type}", x, y, third) == (plain ^ third)).all()
        chosen = [p if first else q for p, q, first in zip(a, b, third.tolist(), strict=True)]
        assert apply(f"selp.{type}", x, y, third).tolist() == chosen


INTEGERS = ("s8", "u8", *ARITHMETIC)


@pytest.mark.parametrize("source", INTEGERS)
def test_conversions_between_integers(source: str) -> None:
    for target in INTEGERS:
        low, high = ends(target)
        check(f"cvt.{target}.{source}", [edges(source)], lambda a: a)
        if ends(source)[0] < low or ends(source)[1] > high:
            check(f"cvt.sat.{target}.{source}", [edges(source)], partial(_clamp, low, high))


def _clamp(low: int, high: int, number: int) -> int:
    return min(max(number, low), high)
