"""Statements: loops of every kind, jumps out of them, returns, calls. Each against the same program in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.backends.llvm.modules import Module
from cajeta_dot.backends.x86 import TIERS
from cajeta_dot.ir import COORDINATES, Break, Builder, Continue, Function, If, Loop, Program, Return, Slot, Value
from cajeta_dot.types import BOOLEAN, INT8, INT32, INT64, UINT32, VOID, Vector

from .programs import RUNNABLE, RUNNABLE_KERNELS, SOURCE, add_slot, array, load, make_function, make_kernel, make_program, param

if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Block

TARGETS = [*RUNNABLE, "reference"]
KERNEL_TARGETS = [*RUNNABLE_KERNELS, "reference"]


class Code:
    """A builder with a few shorthands: int32 locals and constants, arithmetic, blocks inside."""

    def __init__(self, function: Function, block: Block):
        self.function, self.block, self.b = function, block, Builder(block)

    def const(self, number: int) -> Value:
        return self.b.const(INT32, number)

    def local(self, name: str, start: int | Value = 0) -> Slot:
        slot = add_slot(self.function, name, INT32)
        self.b.set(slot, self.const(start) if isinstance(start, int) else start)
        return slot

    def add(self, slot: Slot, number: int | Value) -> None:
        term = self.const(number) if isinstance(number, int) else number
        self.b.set(slot, self.b.binary("add", self.b.get(slot), term))

    def compare(self, op: str, slot: Slot, number: int | Value) -> Value:
        term = self.const(number) if isinstance(number, int) else number
        return self.b.compare(op, self.b.get(slot), term)

    def inside(self, write: Callable[[Code], None]) -> Block:
        block: Block = []
        write(Code(self.function, block))
        return block

    def when(self, condition: Value, then: Callable[[Code], None], otherwise: Callable[[Code], None] | None = None) -> None:
        self.block.append(If(condition, self.inside(then), self.inside(otherwise) if otherwise else []))

    def leave(self, item: Break | Continue | Return) -> None:
        self.block.append(item)


def method(write: Callable[[Code, Value], None]) -> Function:
    """`int32 f(int32 n)`."""
    n = param("n", INT32)
    return make_function("f", "host", [n], INT32, lambda _, function: write(Code(function, function.body), n))


def check(function: Function, target: str, expected: Callable[[int], int], numbers: range = range(-2, 12)) -> None:
    entry = load(make_program(function), target)["f"]
    for n in numbers:
        assert entry.call([n]) == expected(n), n


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_with_its_test_first(target: str) -> None:
    """while (i < n) { i++; if (i == 3) continue; if (i == 8) break; total += i; }"""

    def write(c: Code, n: Value) -> None:
        i, total = c.local("i"), c.local("total")

        def body(c: Code) -> None:
            c.add(i, 1)
            c.when(c.compare("eq", i, 3), lambda c: c.leave(Continue()))
            c.when(c.compare("eq", i, 8), lambda c: c.leave(Break()))
            c.add(total, c.b.get(i))

        test: Block = []
        condition = Code(c.function, test).compare("lt", i, n)
        c.block.append(Loop(test, condition, c.inside(body), []))
        c.leave(Return(c.b.get(total)))

    def expected(n: int) -> int:
        return sum(i for i in range(1, n + 1) if i != 3 and i < 8)

    check(method(write), target, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_with_its_test_last_where_continue_goes_to_the_test(target: str) -> None:
    """do { i++; if (i == 2) continue; total += 10; } while (i < n);"""

    def write(c: Code, n: Value) -> None:
        i, total = c.local("i"), c.local("total")

        def body(c: Code) -> None:
            c.add(i, 1)
            c.when(c.compare("eq", i, 2), lambda c: c.leave(Continue()))
            c.add(total, 10)

        update: Block = []
        again = Code(c.function, update).compare("lt", i, n)
        c.block.append(Loop([], None, c.inside(body), update, again))
        c.leave(Return(c.b.get(total)))

    check(method(write), target, lambda n: 10 * sum(i != 2 for i in range(1, max(n, 1) + 1)))


@pytest.mark.parametrize("target", TARGETS)
def test_a_jump_leaves_the_innermost_loop_only(target: str) -> None:
    """for (i = 0; i < n; i++) for (j = 0; ; j++) { if (j > i) break; if (j == 1) continue; if (i == 9) return -1; total++; }"""

    def write(c: Code, n: Value) -> None:
        i, total = c.local("i"), c.local("total")

        def inner(c: Code, j: Slot) -> None:
            c.when(c.b.compare("gt", c.b.get(j), c.b.get(i)), lambda c: c.leave(Break()))
            c.when(c.compare("eq", j, 1), lambda c: c.leave(Continue()))
            c.when(c.compare("eq", i, 9), lambda c: c.leave(Return(c.const(-1))))
            c.add(total, 1)

        def outer(c: Code) -> None:
            j = c.local("j")
            c.block.append(Loop([], None, c.inside(lambda c: inner(c, j)), c.inside(lambda c: c.add(j, 1))))

        test: Block = []
        condition = Code(c.function, test).compare("lt", i, n)
        c.block.append(Loop(test, condition, c.inside(outer), c.inside(lambda c: c.add(i, 1))))
        c.leave(Return(c.b.get(total)))

    def expected(n: int) -> int:
        return -1 if n > 9 else sum(j != 1 for i in range(n) for j in range(i + 1))

    check(method(write), target, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_both_ways_of_a_condition_may_return(target: str) -> None:
    def write(c: Code, n: Value) -> None:
        negative = c.b.compare("lt", n, c.const(0))
        c.when(negative, lambda c: c.leave(Return(c.const(-7))), lambda c: c.leave(Return(c.b.binary("mul", n, n))))

    check(method(write), target, lambda n: -7 if n < 0 else n * n)


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_may_have_no_end_but_a_return(target: str) -> None:
    def write(c: Code, n: Value) -> None:
        i = c.local("i")

        def body(c: Code) -> None:
            c.add(i, 3)
            c.when(c.b.compare("ge", c.b.get(i), n), lambda c: c.leave(Return(c.b.get(i))))

        c.block.append(Loop([], None, c.inside(body), []))

    check(method(write), target, lambda n: max(3, -(-n // 3) * 3))


def test_conditions_may_be_nested_deeper_than_python_can_call() -> None:
    depth = 2000

    def write(c: Code, n: Value) -> None:
        total = c.local("total")
        for _ in range(depth):
            c.add(total, 1)
            then: Block = []
            c.block.append(If(c.compare("ne", total, n), then, []))
            c = Code(c.function, then)
        c.add(total, 1)
        end = Code(c.function, c.function.body)
        end.leave(Return(end.b.get(total)))

    function = method(write)
    text = Module(Program(SOURCE, [function], {"f": function}), TIERS[0].machine, checks=True).write()
    assert text.count("br i1") == depth


# ---- calls


@pytest.mark.parametrize("target", KERNEL_TARGETS)
def test_helpers_get_and_return_vectors_arrays_and_booleans(target: str) -> None:
    vector = Vector(INT8, 12)
    v, on = param("v", vector), param("on", BOOLEAN)
    turned = make_function(
        "turned", "device", [v, on], vector,
        lambda b, f: f.body.append(Return(b.select(on, b.unary("neg", v), v))),
    )  # fmt: skip
    source, at = param("source", array(INT8)), param("at", INT64)
    read = make_function("read", "device", [source, at], vector, lambda b, f: f.body.append(Return(b.load(source, at, vector))))
    first, second = param("a", INT32), param("b", INT32)
    less = make_function(
        "less", "host", [first, second], BOOLEAN,
        lambda b, f: f.body.append(Return(b.compare("lt", first, second))),
    )  # fmt: skip

    def write_back(b: Builder, f: Function) -> None:
        b.store(f.params[0], b.const(INT32, 0), f.params[1])

    store = make_function("store", "device", [param("out", array(INT8)), param("v", vector)], VOID, write_back)
    into, from_, bound = param("into", array(INT8)), param("from", array(INT8)), param("bound", INT32)

    def write(b: Builder, _: Function) -> None:
        item = b.convert(b.emit("coordinate", UINT32, attr="local.x"), INT32)
        loaded = b.emit("call", vector, from_, b.const(INT64, 0), attr=read)
        is_less = b.emit("call", BOOLEAN, item, bound, attr=less)
        b.emit("call", VOID, into, b.emit("call", vector, loaded, is_less, attr=turned), attr=store)

    kernel = make_kernel("k", [into, from_, bound], write)
    made = load(make_program(turned, read, less, store, kernel), target)
    numbers = np.arange(-6, 6).astype(np.int8)
    for bound_is, wanted in ((1, -numbers), (0, numbers)):
        out = np.zeros(12, np.int8)
        made["k"].launch([out, numbers, bound_is], (1, 1, 1), (1, 1, 1), 1)
        assert (out == wanted).all()
    if target in TARGETS:
        assert made["less"].call([2, 3]) is True
        assert made["less"].call([3, 3]) is False


@pytest.mark.parametrize("target", KERNEL_TARGETS)
def test_a_helper_knows_the_coordinates_of_its_caller(target: str) -> None:
    def read(b: Builder, function: Function) -> None:
        function.body.append(Return(b.emit("coordinate", UINT32, attr="global.x")))

    inner = make_function("inner", "device", [], UINT32, read)
    outer = make_function("outer", "device", [], UINT32, lambda b, f: f.body.append(Return(b.emit("call", UINT32, attr=inner))))
    out = param("out", array(UINT32))

    def write(b: Builder, _: Function) -> None:
        item = b.emit("call", UINT32, attr=outer)
        b.store(out, item, b.binary("add", item, b.const(UINT32, 100)))

    seen = np.zeros(12, np.uint32)
    load(make_program(inner, outer, make_kernel("k", [out], write)), target)["k"].launch([seen], (3, 1, 1), (4, 1, 1), 1)
    assert seen.tolist() == list(range(100, 112))


@pytest.mark.parametrize("target", KERNEL_TARGETS)
@pytest.mark.parametrize(
    ("grid", "block"), [((3, 2, 2), (4, 3, 2)), ((1, 1, 5), (1, 6, 1)), ((7, 1, 1), (1, 1, 1)), ((2, 0, 3), (2, 2, 2))]
)
@pytest.mark.parametrize("threads", [1, 3])
def test_every_work_item_runs_once_with_its_own_coordinates(
    grid: tuple[int, int, int], block: tuple[int, int, int], threads: int, target: str
) -> None:
    """Each writes its twelve coordinates where its linear number says."""
    out, counts, gx, gy = param("out", array(UINT32)), param("counts", array(UINT32)), param("gx", UINT32), param("gy", UINT32)

    def write(b: Builder, _: Function) -> None:
        at = {name: b.emit("coordinate", UINT32, attr=name) for name in COORDINATES}

        def line(axes: list[tuple[Value, Value]]) -> Value:
            """The linear number, x fastest: each axis with its extent, the slowest first."""
            number = axes[0][0]
            for place, extent in axes[1:]:
                number = b.binary("add", b.binary("mul", number, extent), place)
            return number

        group = line([(at["group.z"], gy), (at["group.y"], gy), (at["group.x"], gx)])
        number = line([(group, group), *((at[f"local.{axis}"], at[f"size.{axis}"]) for axis in "zyx")])
        for place, name in enumerate(COORDINATES):
            index = b.binary("add", b.binary("mul", number, b.const(UINT32, 12)), b.const(UINT32, place))
            b.store(out, index, at[name])
        b.store(counts, number, b.binary("add", b.load(counts, number, UINT32), b.const(UINT32, 1)))

    entry = load(make_program(make_kernel("k", [out, counts, gx, gy], write)), target)["k"]
    items = int(np.prod(grid) * np.prod(block))
    seen, times = np.full(items * 12, 99, np.uint32), np.zeros(items, np.uint32)
    entry.launch([seen, times, grid[0], grid[1]], grid, block, threads)
    wanted = [
        [*(g * s + k for g, s, k in zip(group, block, local, strict=True)), *local, *group, *block]
        for gz in range(grid[2]) for gy_ in range(grid[1]) for group in ((gx_, gy_, gz) for gx_ in range(grid[0]))
        for lz in range(block[2]) for ly in range(block[1]) for local in ((lx, ly, lz) for lx in range(block[0]))
    ]  # fmt: skip
    assert (times == 1).all()
    assert seen.reshape(-1, 12).tolist() == wanted
