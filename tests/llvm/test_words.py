"""What is written for GPUs only, run on this machine: bytes in words, and vectors at any address."""

from __future__ import annotations

import ctypes
import mmap
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.backends.llvm.addresses import load_vector, store_vector
from cajeta_dot.backends.llvm.jit import compile_module, link, write_object_here
from cajeta_dot.backends.llvm.modules import write_module
from cajeta_dot.backends.llvm.writer import Writer
from cajeta_dot.backends.x86 import LAYOUT, SCALAR, TRIPLE
from cajeta_dot.ir import Function
from cajeta_dot.record import replace
from cajeta_dot.types import FLOAT16, FLOAT32, FLOAT64, INT8, UINT8, UINT16, Scalar, Vector

from . import oracle
from .programs import SOURCE, Shape, apply_all, dtype_of, make_program, run_all
from .values import fill, pairs

if TYPE_CHECKING:
    from cajeta_dot.backends import Entry
    from cajeta_dot.ir import Builder, Value

    from .programs import Build

WORDS = replace(SCALAR.machine, bytes_in_words=True)


def load(*functions: Function) -> dict[str, Entry]:
    """For a machine without byte lanes, which this one is not."""
    module = write_module(make_program(*functions), WORDS, checks=False)
    made = compile_module(module, functions, WORDS, 2).load(SOURCE, functions, WORDS)
    return {function.symbol: entry for function, entry in made.items()}


# ---- bytes in words


def apply_opcode(op: str, operands: int) -> Build:
    return lambda b, v: b.emit(op, v[0].type, *v[:operands])


def shift(op: str, count: int, lanes: int) -> Build:
    """By a constant that stands for all lanes, by one with a lane for each, by a splat."""

    def build(b: Builder, v: list[Value]) -> Value:
        type = v[0].type
        assert isinstance(type, Vector)
        if count % 3 == 0:
            counts = b.const(type, count)
        elif count % 3 == 1:
            counts = b.const(type, (count,) * lanes)
        else:
            counts = b.splat(b.const(type.element, count), lanes)
        return b.binary(op, v[0], counts)

    return build


@pytest.mark.parametrize("element", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("lanes", [4, 12, 64])
def test_operations_on_words_let_no_bit_cross(lanes: int, element: Scalar) -> None:
    type: Shape = Vector(element, lanes)
    made: dict[str, tuple[Shape, Build]] = {}
    for op in ("and", "or", "xor", "add", "sub"):
        made[op] = type, apply_opcode(op, 2)
    for op in ("not", "neg"):
        made[op] = type, apply_opcode(op, 1)
    for op in ("shl", "shr"):
        for count in range(8):
            made[f"{op}_{count}"] = type, shift(op, count, lanes)
    every = np.array([(a, b) for a in range(256) for b in (*range(0, 256, 7), 127, 128, 255)], np.uint8)
    items = -(-len(every) // (8 * lanes)) * 8
    a, b = (np.resize(column, items * lanes).view(dtype_of(element)) for column in every.T)
    entry = load(apply_all("k", [type, type], made))["k"]
    for name, got in zip(made, run_all(entry, [type] * len(made), [a, b], items), strict=True):
        op, _, count = name.partition("_")
        operands = zip(a.tolist(), [int(count)] * len(a) if count else b.tolist(), strict=True)
        wanted = [
            oracle.evaluate(op, element, x) if op in ("not", "neg") else oracle.evaluate(op, element, x, y) for x, y in operands
        ]
        assert got.tolist() == wanted, name


def test_a_shift_by_different_counts_is_not_for_words() -> None:
    type: Shape = Vector(UINT8, 4)
    kernel = apply_all("k", [type, type], {
        "known": (type, lambda b, v: b.binary("shr", v[0], b.const(type, (0, 1, 2, 7)))),
        "unknown": (type, lambda b, v: b.binary("shl", v[0], b.binary("and", v[1], b.const(type, 7)))),
    })  # fmt: skip
    first, second = (np.array(fill(column, 8 * 4 * 12), np.uint8) for column in pairs(UINT8))
    known, unknown = run_all(load(kernel)["k"], [type] * 2, [first, second], 96)
    assert (known == first >> np.tile([0, 1, 2, 7], 96)).all()
    assert (unknown == first << (second & 7)).all()


# ---- vectors at any address

COPIED = [
    Vector(UINT8, 4), Vector(UINT8, 12), Vector(UINT8, 16), Vector(UINT8, 64), Vector(UINT8, 7), Vector(UINT16, 2),
    Vector(UINT16, 8), Vector(UINT16, 3), Vector(FLOAT16, 6), Vector(FLOAT32, 4), Vector(FLOAT32, 3), Vector(FLOAT64, 2),
]  # fmt: skip


class Copier:
    """`void copy(ptr from, ptr to)` for each type."""

    def __init__(self) -> None:
        declarations: dict[str, str] = {}
        lines: list[str] = []
        for place, type in enumerate(COPIED):
            writer = Writer(declarations)
            store_vector(writer, type, "ptr %to", load_vector(writer, type, "ptr %from"))
            writer.close("ret void")
            lines += [f"define void @copy{place}(ptr %from, ptr %to) {{", *writer.text(), "}"]
        text = "\n".join([f'target datalayout = "{LAYOUT}"', f'target triple = "{TRIPLE}"', *declarations.values(), *lines])
        code = write_object_here(text, SCALAR.machine, 2)
        self.linked = link(code, [f"copy{place}" for place in range(len(COPIED))], SCALAR.machine)

    def copy(self, type: Vector, source: int, target: int) -> None:
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        prototype(self.linked[f"copy{COPIED.index(type)}"])(source, target)


_PROT_NONE = 0


def size_of(type: Vector) -> int:
    return type.lanes * type.element.bits // 8


def test_a_vector_is_copied_from_any_address_to_any_other() -> None:
    """Aligned like an element; what lies around stays."""
    copier = Copier()
    buffer = np.zeros(512, np.uint8)
    base = -buffer.ctypes.data % 64
    view, start = buffer[base : base + 256], buffer.ctypes.data + base
    pattern = np.arange(256).astype(np.uint8)
    for type in COPIED:
        step, size = type.element.bits // 8, size_of(type)
        for source in range(0, 32, step):
            for target in range(96, 128, step):
                view[:] = pattern
                copier.copy(type, start + source, start + target)
                wanted = pattern.copy()
                wanted[target : target + size] = pattern[source : source + size]
                assert (view == wanted).all(), (type, source, target)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mprotect"), reason="no way to forbid reading a page")
def test_no_page_is_read_that_holds_no_byte_of_the_vector() -> None:
    """The page behind and the one in front may not be touched: the process would die."""
    page = mmap.PAGESIZE
    pages = mmap.mmap(-1, 3 * page)
    start = ctypes.addressof(ctypes.c_uint8.from_buffer(pages))
    protect = ctypes.CDLL(None).mprotect
    for forbidden in (start, start + 2 * page):
        assert protect(ctypes.c_void_p(forbidden), page, _PROT_NONE) == 0
    copier, target = Copier(), np.zeros(256, np.uint8)
    there = target.ctypes.data + -target.ctypes.data % 64
    for type in COPIED:
        for away in range(0, 32, type.element.bits // 8):
            copier.copy(type, start + page + away, there)
            copier.copy(type, start + 2 * page - size_of(type) - away, there)
