"""Run-time checks: what is a fault and what just isn't, what a faulty work item still does, and whose fault is reported."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends.llvm.checks import FAULT_BYTES, MAX_CALLS
from cajeta_dot.backends.llvm.jit import link, write_object_here
from cajeta_dot.backends.llvm.kernels import FAULT_OFFSET, LAUNCH_BYTES
from cajeta_dot.backends.llvm.modules import write_module
from cajeta_dot.backends.x86 import SCALAR
from cajeta_dot.ir import Break, Builder, Continue, Function, If, Loop, Return, Value
from cajeta_dot.run.errors import BoundsError, DivisionError, KernelError, LaneIndexError
from cajeta_dot.types import BOOLEAN, INT8, INT32, INT64, SCALARS, UINT8, UINT32, VOID, Scalar, Vector

from .programs import RUNNABLE, add_slot, array, load, make_function, make_kernel, make_program, param
from .values import edges

if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Block

TARGETS = [*RUNNABLE, "reference"]
INTEGERS = [scalar for scalar in SCALARS.values() if scalar.is_integer]
LINE = 9  # an offset in the second line of the source


def host(name: str, params: list[Value], result: Any, build: Callable[[Builder], Value | None]) -> Function:
    """A host method whose operations stand in line 2."""

    def write(b: Builder, function: Function) -> None:
        b.start, b.end = LINE, LINE + 3
        function.body.append(Return(build(b)))

    return make_function(name, "host", params, result, write)


# ---- bounds


def interesting(element: Scalar, length: int, lanes: int) -> list[int]:
    near = [-1, 0, 1, length - lanes - 1, length - lanes, length - lanes + 1, length - 1, length, length + 1]
    near += [
        2**31 - lanes,
        2**32 - lanes,
        2**32 - 1,
        2**63 - 1,
        2**63,
        2**64 - lanes,
        2**64 - 1,
        -(2**63),
        -(2**31),
        -(2**63) + 1,
    ]
    return sorted({n for n in [*near, *edges(element)] if element.low <= n <= element.high})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lanes", [1, 4, 64])
def test_an_access_is_a_fault_unless_all_of_it_lies_within(lanes: int, target: str) -> None:
    functions: list[Function] = []
    type = Vector(UINT8, lanes) if lanes > 1 else UINT8
    for element in INTEGERS:
        source, at, to = param("source", array(UINT8)), param("at", element), param("to", array(UINT8))
        functions.append(host(f"load_{element}", [source, at], UINT8, lambda b, s=source, i=at: first(b, b.load(s, i, type))))
        functions.append(
            host(f"store_{element}", [to, at], VOID, lambda b, t=to, i=at: nothing(b.store(t, i, b.const(type, 7))))
        )
    made = load(make_program(*functions), target)
    for element in INTEGERS:
        for length in {0, 1, lanes - 1, lanes, lanes + 1, 100}:
            content = np.arange(length).astype(np.uint8)
            for at in interesting(element, length, lanes):
                inside = 0 <= at <= length - lanes
                written = content.copy()
                if inside:
                    assert made[f"load_{element}"].call([content, at]) == content[at]
                    made[f"store_{element}"].call([written, at])
                    assert (written == np.where((np.arange(length) >= at) & (np.arange(length) < at + lanes), 7, content)).all()
                    continue
                for name, content_or_copy in (("load", content), ("store", written)):
                    with pytest.raises(BoundsError) as caught:
                        made[f"{name}_{element}"].call([content_or_copy, at])
                    error = caught.value
                    assert (error.file, error.line, error.index, error.lanes, error.length) == ("test.cj", 2, at, lanes, length)
                assert (written == content).all()


def first(b: Builder, value: Value) -> Value:
    return b.extract(value, 0) if isinstance(value.type, Vector) else value


def nothing(_: Value) -> None:
    return None


# ---- division and lanes


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", ["div", "rem"])
def test_a_scalar_division_by_zero_or_of_the_least_by_minus_one_is_a_fault(op: str, target: str) -> None:
    functions: list[Function] = []
    for element in INTEGERS:
        a, b = param("a", element), param("b", element)
        functions.append(host(f"{element}", [a, b], element, lambda builder, a=a, b=b: builder.binary(op, a, b)))
    made = load(make_program(*functions), target)
    for element in INTEGERS:
        for a in edges(element):
            for b in edges(element):
                if b == 0 or (element.is_signed and a == element.low and b == -1):
                    with pytest.raises(DivisionError, match="zero" if b == 0 else f"{a} / -1") as caught:
                        made[str(element)].call([a, b])
                    assert caught.value.line == 2
                else:
                    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
                    assert made[str(element)].call([a, b]) == (quotient if op == "div" else a - b * quotient)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("divisor", [0, -1, 3])
def test_a_known_divisor_is_checked_where_it_must_be(divisor: int, target: str) -> None:
    a = param("a", INT32)
    entry = load(make_program(host("f", [a], INT32, lambda b: b.binary("div", a, b.const(INT32, divisor)))), target)["f"]
    for number, faults in ((7, divisor == 0), (-(2**31), divisor in (0, -1))):
        if faults:
            with pytest.raises(DivisionError):
                entry.call([number])
        else:
            assert entry.call([number]) == int(number / divisor)


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_never_trap(target: str) -> None:
    type = Vector(INT8, 4)
    v, w = param("v", array(INT8)), param("w", array(INT8))

    def write(b: Builder) -> None:
        zero = b.const(INT32, 0)
        b.store(v, zero, b.binary("div", b.load(v, zero, type), b.load(w, zero, type)))

    entry = load(make_program(host("f", [v, w], VOID, write)), target)["f"]
    numbers = np.array([-128, 5, -128, 100], np.int8)
    entry.call([numbers, np.array([-1, 0, 0, 7], np.int8)])
    assert numbers.tolist() == [-128, 0, 0, 14]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lanes", [1, 3, 4, 256])
def test_a_lane_index_is_a_fault_unless_there_is_such_a_lane(lanes: int, target: str) -> None:
    vector = Vector(UINT8, lanes)
    functions: list[Function] = []
    for element in INTEGERS:
        at = param("at", element)

        def take(b: Builder, at: Value = at) -> Value:
            return b.emit("extract_at", UINT8, b.const(vector, tuple(range(lanes))), at)

        def put(b: Builder, at: Value = at) -> Value:
            changed = b.emit("insert_at", vector, b.const(vector, 0), at, b.const(UINT8, 200))
            return b.emit("extract_at", UINT8, changed, at)

        functions += [host(f"take_{element}", [at], UINT8, take), host(f"put_{element}", [at], UINT8, put)]
    made = load(make_program(*functions), target)
    for element in INTEGERS:
        for at in interesting(element, lanes, 1):
            for name, wanted in (("take", at), ("put", 200)):
                if 0 <= at < lanes:
                    assert made[f"{name}_{element}"].call([at]) == wanted
                    continue
                with pytest.raises(LaneIndexError) as caught:
                    made[f"{name}_{element}"].call([at])
                assert (caught.value.line, caught.value.index, caught.value.lanes) == (2, at, lanes)


# ---- heap arrays


def heap_sum(element: Scalar) -> Function:
    """An array of n elements: element 0 set to 5, then its sum with the last, which must be zero."""
    n = param("n", element)

    def build(b: Builder) -> Value:
        made = b.emit("allocate", array(INT64), n)
        b.store(made, b.const(INT32, 0), b.const(INT64, 5))
        length = b.length(made)
        last = b.load(made, b.binary("sub", length, b.const(INT64, 1)), INT64)
        return b.binary("add", b.load(made, b.const(INT32, 0), INT64), b.binary("mul", last, length))

    return host(f"sum_{element}", [n], INT64, build)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_heap_arrays_are_zeroed_and_have_a_possible_length(element: Scalar, target: str) -> None:
    entry = load(make_program(heap_sum(element)), target)[f"sum_{element}"]
    assert entry.call([2]) == 5
    assert entry.call([100]) == 5
    assert entry.call([1]) == 10
    with pytest.raises(BoundsError, match="element 0 of an array of length 0"):
        entry.call([0])
    for n in (-1, element.low, 2**62, 2**63, 2**64 - 1, 2**43 + 1):
        if element.low <= n <= element.high and (n < 0 or n > 2**43):
            with pytest.raises(BoundsError, match=f"an array can't have length {n}") as caught:
                entry.call([n])
            assert (caught.value.index, caught.value.line) == (n, 2)


class Heap(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    ))  # fmt: skip


def heap_in_use() -> int:
    """Bytes that calloc has given and free has not taken back."""
    report = ctypes.CDLL(None).mallinfo2
    report.restype = Heap
    heap = report()
    return heap.uordblks + heap.hblkhd


WAYS = ["to the end", "break", "continue", "return", "fault"]


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library can't tell how much memory is in use")
@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
def test_heap_arrays_are_freed_on_every_way_out_of_their_block(way: int, target: str) -> None:
    """{ int32[] outer = heap int32[25000]; do { int32[] inner = heap int32[25000]; leave in some way } while (false); }"""
    n = param("way", INT32)

    def write(b: Builder, function: Function) -> None:
        length = b.const(INT32, 25_000)
        outer = b.emit("allocate", array(INT32), length)
        body: Block = []
        inside = Builder(body)
        inner = inside.emit("allocate", array(INT32), length)
        inside.store(inner, n, n)
        for number, leave in enumerate((None, Break(), Continue(), Return(n), None)):
            block: Block = [leave] if leave else []
            if WAYS[number] == "fault":
                b_inside = Builder(block)
                b_inside.store(outer, b_inside.const(INT32, -1), n)
            body.append(If(inside.compare("eq", n, inside.const(INT32, number)), block, []))
        update: Block = []
        again = Builder(update).const(BOOLEAN, False)
        function.body.append(Loop([], None, body, update, again))
        function.body.append(Return(b.load(outer, n, INT32)))

    entry = load(make_program(make_function("f", "host", [n], INT32, write)), target, optimize=0)["f"]
    before = 0
    for turn in range(60):
        if WAYS[way] == "fault":
            with pytest.raises(BoundsError):
                entry.call([way])
        else:
            assert entry.call([way]) == (way if WAYS[way] == "return" else 0)
        before = before or (turn == 9 and heap_in_use())
    assert heap_in_use() - before < 100_000  # one array that stays each time would be 5 MB


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library can't tell how much memory is in use")
@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("way", range(3), ids=["break", "test", "again"])
def test_heap_arrays_of_a_loop_s_own_conditions_are_freed(way: int, target: str) -> None:
    """An array in the test, which the body may use, and one in the update; the loop is left in its 4th turn in some way."""
    n = param("way", INT32)

    def write(b: Builder, function: Function) -> None:
        turn = add_slot(function, "turn", INT32)
        b.set(turn, b.const(INT32, 0))
        test: Block = []
        body: Block = []
        update: Block = []
        ask, inside, step = Builder(test), Builder(body), Builder(update)
        tested = ask.emit("allocate", array(INT32), ask.const(INT32, 25_000))

        def is_over(b: Builder, number: int) -> Value:
            return b.binary("and", b.compare("eq", n, b.const(INT32, number)), b.compare("eq", b.get(turn), b.const(INT32, 3)))

        condition = ask.unary("not", is_over(ask, 1))
        inside.store(tested, inside.get(turn), n)
        body.append(If(is_over(inside, 0), [Break()], []))
        updated = step.emit("allocate", array(INT32), step.const(INT32, 25_000))
        step.store(updated, step.get(turn), step.load(tested, step.get(turn), INT32))
        again = step.unary("not", is_over(step, 2))
        step.set(turn, step.binary("add", step.get(turn), step.const(INT32, 1)))
        function.body.append(Loop(test, condition, body, update, again))
        function.body.append(Return(b.get(turn)))

    entry = load(make_program(make_function("f", "host", [n], INT32, write)), target, optimize=0)["f"]
    before = 0
    for call in range(30):
        assert entry.call([way]) == (4 if way == 2 else 3)
        before = before or (call == 9 and heap_in_use())
    assert heap_in_use() - before < 100_000


# ---- calls, launches


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_that_calls_itself_without_end_is_a_fault(target: str) -> None:
    n = param("n", INT32)
    function = Function("T.f", "f", "host", [n], INT32)
    b = Builder(function.body, LINE, LINE + 3)
    end: Block = [Return(n)]
    function.body.append(If(b.compare("eq", n, b.const(INT32, 0)), end, []))
    deeper = b.emit("call", INT32, b.binary("sub", n, b.const(INT32, 1)), attr=function)
    function.body.append(Return(b.binary("rem", b.binary("add", deeper, b.const(INT32, 3)), b.const(INT32, 1000))))
    start = param("start", INT32)
    outer = make_function(
        "outer", "host", [start], INT32, lambda b, f: f.body.append(Return(b.emit("call", INT32, start, attr=function)))
    )
    made = load(make_program(function, outer), target)
    assert made["f"].call([MAX_CALLS]) == 3 * MAX_CALLS % 1000
    for name in ("f", "outer"):
        for deep in (MAX_CALLS + 10, -1):
            with pytest.raises(KernelError, match="calls within calls") as caught:
                made[name].call([deep])
            assert caught.value.line == 2


def failing_kernel() -> tuple[Function, Function]:
    """A helper that reads `source[at]` and adds one; a kernel that writes out[i] = i + 1, calls it, and writes the result.

    at is bad[i]: so item i faults where bad[i] lies outside, after its first write and before its second.
    """
    source, at = param("source", array(INT32)), param("at", INT32)

    def read(b: Builder, function: Function) -> None:
        function.body.append(Return(b.binary("add", b.load(source, at, INT32), b.const(INT32, 1))))

    helper = make_function("helper", "device", [source, at], INT32, read)
    out, bad, numbers = param("out", array(INT32)), param("bad", array(INT32)), param("numbers", array(INT32))

    def write(b: Builder, _: Function) -> None:
        item = b.emit("coordinate", UINT32, attr="global.x")
        two = b.binary("mul", item, b.const(UINT32, 2))
        b.store(out, two, b.convert(b.binary("add", item, b.const(UINT32, 1)), INT32))
        got = b.emit("call", INT32, numbers, b.load(bad, item, INT32), attr=helper)
        b.store(out, b.binary("add", two, b.const(UINT32, 1)), got)

    return helper, make_kernel("k", [out, bad, numbers], write)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("faulty", [[0], [17], [63], [5, 6, 40], [62, 63], [33, 2, 48, 47]])
def test_the_first_faulty_item_is_reported_and_all_others_run(faulty: list[int], threads: int, target: str) -> None:
    entry = load(make_program(*failing_kernel()), target)["k"]
    bad = np.arange(64, dtype=np.int32) % 10
    bad[faulty] = [-number - 1 for number in faulty]
    numbers = np.arange(100, 110, dtype=np.int32)
    out = np.zeros(128, np.int32)
    with pytest.raises(BoundsError) as caught:
        entry.launch([out, bad, numbers], (8, 1, 1), (8, 1, 1), threads)
    assert caught.value.index == -min(faulty) - 1
    assert caught.value.length == 10
    rows = out.reshape(64, 2)
    assert (rows[:, 0] == np.arange(1, 65)).all()
    fine = [item for item in range(64) if item not in faulty]
    assert (rows[fine, 1] == numbers[bad[fine]] + 1).all()
    assert (rows[faulty, 1] == 0).all()


@pytest.mark.parametrize("target", TARGETS)
def test_items_are_ordered_x_fastest_in_three_dimensions(target: str) -> None:
    """Two items fault; the one in the earlier workgroup is later within its own."""
    source, group, local = param("source", array(INT32)), param("group", array(UINT32)), param("local", array(UINT32))

    def write(b: Builder, function: Function) -> None:
        for k in (0, 1):
            same = b.const(BOOLEAN, True)
            for place, name in enumerate(("group.x", "group.y", "group.z", "local.x", "local.y", "local.z")):
                wanted = b.load(group if place < 3 else local, b.const(INT32, 3 * k + place % 3), UINT32)
                same = b.binary("and", same, b.compare("eq", b.emit("coordinate", UINT32, attr=name), wanted))
            block: Block = []
            inside = Builder(block)
            inside.store(source, inside.const(INT32, 1000 + k), inside.const(INT32, 1))
            function.body.append(If(same, block, []))

    entry = load(make_program(make_kernel("k", [source, group, local], write)), target)["k"]
    cases = [
        (((1, 0, 0), (0, 0, 0)), ((0, 1, 0), (0, 0, 0)), 0),
        (((0, 0, 1), (0, 0, 0)), ((1, 1, 0), (1, 1, 1)), 1),
        (((1, 1, 1), (0, 0, 1)), ((1, 1, 1), (1, 1, 0)), 1),
        (((1, 1, 1), (1, 0, 1)), ((1, 1, 1), (0, 1, 1)), 0),
    ]
    for (first_group, first_local), (second_group, second_local), winner in cases:
        for threads in (1, 2):
            groups = np.array([*first_group, *second_group], np.uint32)
            locals_ = np.array([*first_local, *second_local], np.uint32)
            with pytest.raises(BoundsError) as caught:
                entry.launch([np.zeros(1, np.int32), groups, locals_], (2, 2, 2), (2, 2, 2), threads)
            assert caught.value.index == 1000 + winner


@pytest.mark.parametrize("target", TARGETS)
def test_the_first_fault_of_a_host_method_is_its_only_one(target: str) -> None:
    """What stands behind it does not happen, in its callers neither."""
    a = param("a", array(INT32))
    inner = host("inner", [a], INT32, lambda b: b.load(a, b.const(INT32, 5), INT32))
    outer_a = param("a", array(INT32))

    def build(b: Builder) -> Value:
        got = b.emit("call", INT32, outer_a, attr=inner)
        b.store(outer_a, b.const(INT32, 0), got)
        return b.load(outer_a, b.const(INT32, 99), INT32)

    outer = host("outer", [outer_a], INT32, build)
    entry = load(make_program(inner, outer), target)["outer"]
    numbers = np.array([1, 2], np.int32)
    with pytest.raises(BoundsError) as caught:
        entry.call([numbers])
    assert caught.value.index == 5
    assert numbers.tolist() == [1, 2]
    assert entry.call([np.arange(100, dtype=np.int32)]) == 99


@pytest.mark.parametrize("target", RUNNABLE)
def test_without_checks_nothing_is_checked(target: str) -> None:
    a, b_ = param("a", INT32), param("b", INT32)
    entry = load(make_program(host("f", [a, b_], INT32, lambda b: b.binary("div", a, b_))), target, checks=False)["f"]
    assert entry.call([7, 0]) == 0
    assert entry.call([-(2**31), -1]) == -(2**31)


# ---- as C sees it


class Fault(ctypes.Structure):
    """`struct cajeta_fault`."""

    _fields_ = tuple((name, ctypes.c_int64) for name in ("site", "group", "item", "value", "other"))


class Launch(ctypes.Structure):
    """`struct cajeta_launch`."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("first_group", ctypes.c_int64),
        ("end_group", ctypes.c_int64),
        ("fault", Fault),
    )


def test_a_launch_from_c() -> None:
    """The layout, a part of the workgroups, and the linear numbers of the item that faulted."""
    assert (ctypes.sizeof(Launch), Launch.fault.offset, ctypes.sizeof(Fault)) == (LAUNCH_BYTES, FAULT_OFFSET, FAULT_BYTES)
    out = param("out", array(INT32))

    def write(b: Builder, function: Function) -> None:
        at = {name: b.emit("coordinate", UINT32, attr=name) for name in ("group.x", "group.y", "local.x", "local.y", "local.z")}
        bad: Value | None = None
        for name, number in (("group.y", 1), ("local.x", 2), ("local.y", 1), ("local.z", 1)):
            is_there = b.compare("eq", at[name], b.const(UINT32, number))
            bad = is_there if bad is None else b.binary("and", bad, is_there)
        assert bad
        index = b.select(bad, b.const(INT32, 99), b.const(INT32, 0))
        b.store(out, index, b.const(INT32, 1))

    module = write_module(make_program(make_kernel("k", [out], write)), SCALAR.machine, checks=True)
    linked = link(write_object_here(module.text, SCALAR.machine, 2), ["k"], SCALAR.machine)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(linked["k"])
    numbers = np.zeros(5, np.int32)
    for first, end, group in ((0, 6, 3), (4, 6, 4), (0, 3, -1), (5, 5, -1)):
        launch = Launch((3, 2, 1), (4, 3, 2), first, end, Fault(0, -1, -1, 0, 0))
        call(numbers.ctypes.data, 5, ctypes.addressof(launch))
        fault = launch.fault
        if group < 0:
            assert (fault.site, fault.group) == (0, -1)
        else:
            assert (fault.site, fault.group, fault.item, fault.value, fault.other) == (1, group, 2 + 4 * (1 + 3 * 1), 99, 5)
    assert module.sites[0].kind == "bounds"
