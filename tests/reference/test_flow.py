"""Statements, calls, work items and barriers of hand-made programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.ir import COORDINATES, Barrier, Break, Builder, Continue, Function, If, Loop, Program, Return, Slot, Value
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference.execute import MAX_CALLS, call, launch
from cajeta_dot.reference.flow import translate
from cajeta_dot.run.errors import BoundsError, DivisionError, KernelError
from cajeta_dot.source import Source
from cajeta_dot.types import BOOLEAN, INT8, INT32, INT64, UINT32, VOID, Array, Type, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.ir import Block
    from cajeta_dot.reference.flow import Code

INTS, WORDS = Array(INT32, "array"), Array(UINT32, "KernelBuffer")
TEXT = "first\nsecond\nthird\nfourth\n"  # offsets 0, 6, 13, 19
ONE = (1, 1, 1)


def make_function(kind: str, result: Type, *types: Type, name: str = "T.f") -> tuple[Function, Builder]:
    params = [Value("param", type, attr=f"p{place}") for place, type in enumerate(types)]
    function = Function(name, name, kind, params, result)
    return function, Builder(function.body)


def translate_last(*functions: Function, checks: bool = True) -> Code:
    """The code of the last function."""
    program = Program(Source("t.cj", TEXT), functions, {})
    verify(program)
    return translate(program, checks)[functions[-1]]


def inside(block: Block) -> Builder:
    return Builder(block)


# ---- loops


def make_counting(skipped: int, last: int, stop_after_update: bool) -> Function:
    """Adds i for i = 0, 1, … below n, without `skipped`, not beyond `last`; the update counts i up."""
    function, b = make_function("host", INT32, INT32)
    (n,) = function.params
    i, total = Slot("i", INT32), Slot("total", INT32)
    function.slots = [i, total]
    b.set(i, b.const(INT32, 0))
    b.set(total, b.const(INT32, 0))
    test: Block = []
    below = inside(test).compare("lt", inside(test).get(i), n)
    body: Block = []
    t = inside(body)
    now = t.get(i)
    body.append(If(t.compare("gt", now, t.const(INT32, last)), [Break()], []))
    body.append(If(t.compare("eq", now, t.const(INT32, skipped)), [Continue()], []))
    t.set(total, t.binary("add", t.get(total), now))
    update: Block = []
    u = inside(update)
    following = u.binary("add", u.get(i), u.const(INT32, 1))
    u.set(i, following)
    again = u.compare("lt", following, u.const(INT32, 5)) if stop_after_update else None
    b.block.append(Loop(test, below, body, update, again))
    b.block.append(Return(b.get(total)))
    return function


@pytest.mark.parametrize(
    ("n", "skipped", "last", "stop"), [(0, 9, 99, False), (6, 3, 99, False), (9, 2, 4, False), (9, 1, 99, True)]
)
def test_loops(n: int, skipped: int, last: int, stop: bool) -> None:
    limit = min(n, last + 1, 5 if stop else n)
    expected = sum(i for i in range(limit) if i != skipped)
    assert call(translate_last(make_counting(skipped, last, stop)), [n]) == expected


def test_a_loop_without_conditions_ends_by_its_return() -> None:
    function, b = make_function("host", INT32, INT32)
    slot = Slot("i", INT32)
    function.slots = [slot]
    b.set(slot, function.params[0])
    body: Block = []
    t = inside(body)
    halved = t.binary("div", t.get(slot), t.const(INT32, 2))
    body.append(If(t.compare("lt", halved, t.const(INT32, 10)), [Return(halved)], []))
    t.set(slot, halved)
    b.block.append(Loop([], None, body, []))
    assert call(translate_last(function), [1000]) == 7


def test_break_leaves_the_inner_loop_only() -> None:
    function, b = make_function("host", INT32, INT32)
    count = Slot("count", INT32)
    function.slots = [count]
    b.set(count, b.const(INT32, 0))
    body: Block = [Loop([], None, [Break()], [])]
    t = inside(body)
    t.set(count, t.binary("add", t.get(count), t.const(INT32, 1)))
    update: Block = []
    u = inside(update)
    again = u.compare("lt", u.get(count), function.params[0])
    b.block.append(Loop([], None, body, update, again))
    b.block.append(Return(b.get(count)))
    assert call(translate_last(function), [4]) == 4


@pytest.mark.parametrize(("condition", "expected"), [(True, 1), (False, 2)])
def test_branches(condition: bool, expected: int) -> None:
    function, b = make_function("host", INT32, BOOLEAN)
    slot = Slot("x", INT32)
    function.slots = [slot]
    then: Block = []
    inside(then).set(slot, inside(then).const(INT32, 1))
    otherwise: Block = []
    inside(otherwise).set(slot, inside(otherwise).const(INT32, 2))
    b.block.append(If(function.params[0], then, otherwise))
    b.block.append(Return(b.get(slot)))
    assert call(translate_last(function), [condition]) == expected


def test_deep_nesting() -> None:
    function, b = make_function("host", INT32, INT32)
    block: Block = [Return(function.params[0])]
    for _ in range(300):
        block = [If(b.const(BOOLEAN, True), block, [])]
    b.block.extend([*block, Return(b.const(INT32, 0))])
    assert call(translate_last(function), [5]) == 5


def test_constants_of_vectors() -> None:
    function, b = make_function("host", INT32)
    spread, listed = b.const(Vector(INT32, 4), -3), b.const(Vector(INT32, 4), (1, 2, 3, 4))
    b.block.append(Return(b.emit("sum", INT32, b.binary("mul", spread, listed))))
    assert call(translate_last(function), []) == -30


# ---- calls


def make_factorial() -> Function:
    function, b = make_function("host", INT64, INT64, name="T.factorial")
    (n,) = function.params
    one = b.const(INT64, 1)
    b.block.append(If(b.compare("le", n, one), [Return(one)], []))
    smaller = b.emit("call", INT64, b.binary("sub", n, one), attr=function)
    b.block.append(Return(b.binary("mul", n, smaller)))
    return function


def test_recursion_has_frames_of_its_own() -> None:
    assert call(translate_last(make_factorial()), [20]) == 2432902008176640000


def test_endless_recursion_ends() -> None:
    function, b = make_function("host", INT32, INT32)
    b.start = 13
    b.block.append(Return(b.emit("call", INT32, *function.params, attr=function)))
    with pytest.raises(KernelError, match=rf"t\.cj:3: more than {MAX_CALLS} calls within calls"):
        call(translate_last(function), [1])


def test_arrays_are_passed_on_and_made() -> None:
    fill, b = make_function("host", VOID, INTS, INT32, name="T.fill")
    b.store(fill.params[0], b.const(INT32, 1), fill.params[1])
    function, b = make_function("host", INT32, INTS, INT32)
    made = b.emit("allocate", INTS, function.params[1])
    b.emit("call", VOID, made, b.const(INT32, 30), attr=fill)
    b.emit("call", VOID, function.params[0], b.const(INT32, 40), attr=fill)
    zero, one = b.const(INT32, 0), b.const(INT32, 1)
    b.block.append(Return(b.binary("add", b.load(made, one, INT32), b.load(made, zero, INT32))))
    array = np.array([7, 7, 7], "int32")
    assert call(translate_last(fill, function), [array, 2]) == 30
    assert array.tolist() == [7, 40, 7]


@pytest.mark.parametrize("length", [-1, 2**62])
def test_impossible_lengths(length: int) -> None:
    function, b = make_function("host", VOID, INT64)
    b.start = 6
    b.emit("allocate", INTS, *function.params)
    with pytest.raises(BoundsError, match=rf"t\.cj:2: an array can't have length {length}"):
        call(translate_last(function), [length])


# ---- launches


def make_recorder(what: Sequence[str]) -> Function:
    """Work item writes its coordinates, four times its place in the launch further on."""
    function, b = make_function("kernel", VOID, WORDS, UINT32)
    extents = [b.emit("coordinate", UINT32, attr=f"size.{axis}") for axis in "xyz"]
    x, y, z = (b.emit("coordinate", UINT32, attr=f"global.{axis}") for axis in "xyz")
    width = b.binary("mul", extents[0], function.params[1])
    row = b.binary("add", b.binary("mul", z, b.const(UINT32, 4)), y)
    place = b.binary("add", b.binary("mul", row, width), x)
    start = b.binary("mul", place, b.const(UINT32, len(what)))
    for offset, word in enumerate(what):
        b.store(function.params[0], b.binary("add", start, b.const(UINT32, offset)), b.emit("coordinate", UINT32, attr=word))
    return function


def test_coordinates() -> None:
    """Two by two by one workgroups of three by two by two work items."""
    grid, block = (2, 2, 1), (3, 2, 2)
    code = translate_last(make_recorder(COORDINATES))
    out = np.zeros(6 * 4 * 2 * 12, "uint32")
    launch(code, [out, 2], grid, block)
    for x in range(6):
        for y in range(4):
            for z in range(2):
                place = ((z * 4 + y) * 6 + x) * 12
                expected = [x, y, z, x % 3, y % 2, z, x // 3, y // 2, 0, 3, 2, 2]
                assert out[place : place + 12].tolist() == expected


def test_no_workgroups_do_nothing() -> None:
    out = np.full(12, 5, "uint32")
    for grid in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        launch(translate_last(make_recorder(COORDINATES)), [out, 1], grid, ONE)
    assert out.tolist() == [5] * 12


def make_divider() -> Function:
    """out[i] = 12 / in[i]; the division stands in line 2, the store in line 3."""
    function, b = make_function("kernel", VOID, INTS, INTS)
    i = b.emit("coordinate", UINT32, attr="global.x")
    divisor = b.load(function.params[1], i, INT32)
    b.start = 6
    quotient = b.binary("div", b.const(INT32, 12), divisor)
    b.start = 13
    b.store(function.params[0], i, quotient)
    return function


def test_a_fault_stops_its_item_and_the_first_is_raised() -> None:
    """Item 1 divides by zero, 4 writes outside; all others are done, whatever the workgroups are."""
    divisors = np.array([1, 0, 3, 4, 6, 0], "int32")
    for grid, block in (((6, 1, 1), ONE), (ONE, (6, 1, 1)), ((2, 1, 1), (3, 1, 1))):
        out = np.full(4, -1, "int32")
        with pytest.raises(DivisionError, match=r"t\.cj:2: division by zero"):
            launch(translate_last(make_divider()), [out, divisors], grid, block)
        assert out.tolist() == [12, -1, 4, 3]
    out = np.full(4, -1, "int32")
    divisors[1] = 2
    with pytest.raises(BoundsError, match=r"t\.cj:3: element 4 of an array of length 4"):
        launch(translate_last(make_divider()), [out, divisors], (6, 1, 1), ONE)
    assert out.tolist() == [12, 6, 4, 3]


# ---- barriers


def make_rotation(steps: int, in_callee: bool) -> list[Function]:
    """Each item writes its number, waits, reads its right neighbour's, waits; so many times over."""
    wait, b = make_function("device", VOID, name="T.wait")
    b.block.append(Barrier(0, 1))
    function, b = make_function("kernel", VOID, INTS, INTS)
    shared, out = function.params
    value, i = Slot("value", INT32), Slot("i", INT32)
    function.slots = [value, i]
    lane = b.convert(b.emit("coordinate", UINT32, attr="local.x"), INT32)
    size = b.convert(b.emit("coordinate", UINT32, attr="size.x"), INT32)
    right = b.binary("rem", b.binary("add", lane, b.const(INT32, 1)), size)
    b.set(value, b.binary("mul", lane, b.const(INT32, 10)))
    b.set(i, b.const(INT32, 0))
    body: Block = []
    t = inside(body)

    def meet() -> None:
        if in_callee:
            t.emit("call", VOID, attr=wait)
        else:
            body.append(Barrier(0, 1))

    t.store(shared, lane, t.get(value))
    meet()
    t.set(value, t.load(shared, right, INT32))
    meet()
    update: Block = []
    u = inside(update)
    following = u.binary("add", u.get(i), u.const(INT32, 1))
    u.set(i, following)
    b.block.append(Loop([], None, body, update, u.compare("lt", following, u.const(INT32, steps))))
    group = b.convert(b.emit("coordinate", UINT32, attr="group.x"), INT32)
    b.store(out, b.binary("add", b.binary("mul", group, size), lane), b.get(value))
    return [wait, function]


@pytest.mark.parametrize("in_callee", [False, True])
def test_work_items_meet_at_barriers(in_callee: bool) -> None:
    shared, out = np.zeros(5, "int32"), np.zeros(10, "int32")
    launch(translate_last(*make_rotation(3, in_callee)), [shared, out], (2, 1, 1), (5, 1, 1))
    assert out.tolist() == [30, 40, 0, 10, 20] * 2


def test_every_workgroup_has_shared_arrays_of_its_own() -> None:
    """Each item adds its group's number to the shared element of its right neighbour; nothing is left of other groups."""
    function, b = make_function("kernel", VOID, INTS)
    tile = b.emit("shared", Array(INT32, "Shared", 3), attr="tile")
    lane, group, size = (b.emit("coordinate", UINT32, attr=word) for word in ("local.x", "group.x", "size.x"))
    right = b.binary("rem", b.binary("add", lane, b.const(UINT32, 1)), size)
    number = b.binary("add", b.convert(group, INT32), b.const(INT32, 1))
    b.store(tile, right, b.binary("add", b.load(tile, right, INT32), number))
    b.block.append(Barrier(0, 1))
    place = b.binary("add", b.binary("mul", group, size), lane)
    b.store(function.params[0], place, b.load(tile, lane, INT32))
    out = np.zeros(6, "int32")
    launch(translate_last(function), [out], (2, 1, 1), (3, 1, 1))
    assert out.tolist() == [1, 1, 1, 2, 2, 2]
    with pytest.raises(BoundsError, match="element 3 of an array of length 3"):
        launch(translate_last(function), [out], ONE, (4, 1, 1))


def test_faults_around_barriers_are_raised_in_the_order_of_items() -> None:
    """Item 2 faults before the barrier, item 0 behind it: item 0 is first. Item 1 ends whole."""
    function, b = make_function("kernel", VOID, INTS, INTS, INT8)
    early, late, one = function.params
    i = b.emit("coordinate", UINT32, attr="local.x")
    numerator = b.convert(one, INT32)
    b.start = 6
    b.binary("div", numerator, b.load(early, i, INT32))
    b.block.append(Barrier(0, 1))
    b.start = 13
    b.store(late, i, b.binary("div", numerator, b.load(late, i, INT32)))
    arrays: list[Any] = [np.array([1, 1, 0], "int32"), np.array([0, -1, 7], "int32")]
    with pytest.raises(DivisionError, match=r"t\.cj:3: division by zero"):
        launch(translate_last(function), [*arrays, 5], ONE, (3, 1, 1))
    assert arrays[1].tolist() == [0, -5, 7]
