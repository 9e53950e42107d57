"""Statements, scopes and calls: a program that uses everything passes, and one fault in it is caught by its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cajeta_dot.ir import Barrier, Break, Builder, Continue, Function, If, Loop, Program, Return, Slot, Value
from cajeta_dot.passes.verify import InvalidIR, verify
from cajeta_dot.source import Source
from cajeta_dot.types import BOOLEAN, INT8, INT32, INT64, UINT32, VOID, Array, Type, Vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Block

INTS = Array(INT32, "array")


def make_function(kind: str, fill: Callable[[Function, Builder], None], result: Type = VOID, name: str = "T.f") -> Function:
    """A function with parameters a, n and condition; `fill` makes its body."""
    params = [Value("param", type, attr=word) for word, type in (("a", INTS), ("n", INT32), ("condition", BOOLEAN))]
    function = Function(name, name.replace(".", "_"), kind, params, result)
    fill(function, Builder(function.body))
    return function


def make_program(*functions: Function) -> Program:
    return Program(Source("t.cj", ""), functions, {f.name: f for f in functions if f.kind != "device"})


def test_a_program_with_every_statement_passes() -> None:
    def fill(function: Function, b: Builder) -> None:
        array, n, condition = function.params
        slot = Slot("i", INT32)
        function.slots.append(slot)
        b.set(slot, n)
        test: Block = []
        inside = Builder(test)
        tested = inside.compare("lt", inside.get(slot), n)
        body: Block = [If(condition, [Continue()], [If(tested, [Break()], [])])]
        Builder(body).store(array, n, n)
        update: Block = []
        stepped = Builder(update)
        again = stepped.binary("and", stepped.compare("gt", n, n), tested)
        b.block.append(Loop(test, tested, body, update, again))
        b.block.append(Barrier(0, 1))
        b.block.append(Return())

    verify(make_program(make_function("kernel", fill)))


def _later_use(function: Function, b: Builder) -> None:
    later = Value("neg", INT32, (function.params[1],))
    b.unary("neg", later)
    b.block.append(later)


def _use_of_branch(function: Function, b: Builder) -> None:
    then: Block = []
    inside = Builder(then).unary("neg", function.params[1])
    b.block.append(If(function.params[2], then, []))
    b.unary("neg", inside)


def _use_of_other_branch(function: Function, b: Builder) -> None:
    then: Block = []
    inside = Builder(then).unary("neg", function.params[1])
    b.block.append(If(function.params[2], then, [Value("neg", INT32, (inside,))]))


def _use_of_body_in_update(function: Function, b: Builder) -> None:
    body: Block = []
    inside = Builder(body).unary("neg", function.params[1])
    b.block.append(Loop([], function.params[2], body, [Value("neg", INT32, (inside,))]))


def _use_of_test_after_loop(function: Function, b: Builder) -> None:
    test: Block = []
    inside = Builder(test).unary("neg", function.params[1])
    b.block.append(Loop(test, function.params[2], [], []))
    b.unary("neg", inside)


def _body_value_as_condition(function: Function, b: Builder) -> None:
    body: Block = []
    inside = Builder(body).unary("not", function.params[2])
    b.block.append(Loop([], inside, body, []))


def _update_value_as_condition(function: Function, b: Builder) -> None:
    update: Block = []
    inside = Builder(update).unary("not", function.params[2])
    b.block.append(Loop([], inside, [], update))


def _body_value_as_again(function: Function, b: Builder) -> None:
    body: Block = []
    inside = Builder(body).unary("not", function.params[2])
    b.block.append(Loop([], None, body, [], inside))


def _value_twice(function: Function, b: Builder) -> None:
    b.block.append(b.unary("neg", function.params[1]))


def _statement(*items: object) -> Callable[[Function, Builder], None]:
    def fill(_: Function, b: Builder) -> None:
        b.block.extend(items)  # pyright: ignore[reportArgumentType]

    return fill


def _in_if(*items: object) -> Callable[[Function, Builder], None]:
    def fill(function: Function, b: Builder) -> None:
        b.block.append(If(function.params[2], list(items), []))  # pyright: ignore[reportArgumentType]

    return fill


def _in_loop(test: list[object], body: list[object], update: list[object]) -> Callable[[Function, Builder], None]:
    def fill(function: Function, b: Builder) -> None:
        b.block.append(Loop(test, function.params[2], body, update))  # pyright: ignore[reportArgumentType]

    return fill


def _condition(type: Type) -> Callable[[Function, Builder], None]:
    def fill(_: Function, b: Builder) -> None:
        condition = b.const(type, False) if type != INT32 else b.const(INT32, 0)  # pyright: ignore[reportArgumentType]
        b.block.append(If(condition, [], []))

    return fill


def _return(place: int | None) -> Callable[[Function, Builder], None]:
    return lambda function, b: b.block.append(Return(None if place is None else function.params[place]))


def _slot_of(type: Vector) -> Callable[[Function, Builder], None]:
    return lambda function, _: function.slots.append(Slot("mask", type))


def _coordinate(_: Function, b: Builder) -> None:
    b.emit("coordinate", UINT32, attr="global.x")


def _share(_: Function, b: Builder) -> None:
    b.emit("shared", Array(INT32, "Shared", 4), attr="tile")


def _allocate(function: Function, b: Builder) -> None:
    b.emit("allocate", INTS, function.params[1])


# What is wrong, the kind of function, its result, what it holds, what is said.
FAULTS: list[tuple[str, str, Type, Callable[[Function, Builder], None], str]] = [
    ("used before it is made", "host", VOID, _later_use, "neg: uses a neg that is not defined before it"),
    ("made in a branch, used behind it", "host", VOID, _use_of_branch, "neg: uses a neg that is not visible here"),
    ("made in one branch, used in the other", "host", VOID, _use_of_other_branch, "not visible here"),
    ("made in a body, used in the update", "host", VOID, _use_of_body_in_update, "not visible here"),
    ("made in a test, used behind the loop", "host", VOID, _use_of_test_after_loop, "not visible here"),
    ("a body's value decides before it", "host", VOID, _body_value_as_condition, "loop: uses a not that is not defined"),
    ("an update's value decides before it", "host", VOID, _update_value_as_condition, "loop: uses a not that is not defined"),
    ("a body's value decides behind the update", "host", VOID, _body_value_as_again, "loop: uses a not that is not visible"),
    ("one value in two places", "host", VOID, _value_twice, "neg: stands in the function twice"),
    ("condition of a number", "host", VOID, _condition(INT32), "if: has a condition of type int32"),
    ("condition of a mask", "host", VOID, _condition(Vector(BOOLEAN, 4)), "if: has a condition of type Vector<boolean,4>"),
    ("break outside", "host", VOID, _statement(Break()), "break: is not in the body of a loop"),
    ("continue outside", "host", VOID, _in_if(Continue()), "continue: is not in the body of a loop"),
    ("break in a test", "host", VOID, _in_loop([Break()], [], []), "break: is not in the body of a loop"),
    ("continue in an update", "host", VOID, _in_loop([], [], [Continue()]), "continue: is not in the body of a loop"),
    ("something behind a break", "host", VOID, _in_loop([], [Break(), Return()], []), "break: something stands behind it"),
    ("something behind a continue", "host", VOID, _in_loop([], [Continue(), Return()], []), "continue: something stands"),
    ("something behind a return", "host", VOID, _statement(Return(), Return()), "return: something stands behind it"),
    ("value out of void", "host", VOID, _return(1), "return: gives int32 where void is due"),
    ("no value where one is due", "host", INT32, _return(None), "return: gives void where int32 is due"),
    ("value of another type", "host", INT64, _return(1), "return: gives int32 where int64 is due"),
    ("end without a result", "host", INT32, _in_if(), "function: can end without its int32"),
    ("kernel with a result", "kernel", INT32, _return(1), "function: is a kernel and returns int32"),
    ("barrier on the host", "host", VOID, _statement(Barrier(0, 0)), "barrier: is in a host method"),
    ("coordinate on the host", "host", VOID, _coordinate, "coordinate: is not for host methods"),
    ("array made in a kernel", "kernel", VOID, _allocate, "allocate: is for host methods"),
    ("array made in a device method", "device", VOID, _allocate, "allocate: is for host methods"),
    ("array shared in a device method", "device", VOID, _share, "shared: is for kernels"),
    ("slot of a mask", "host", VOID, _slot_of(Vector(BOOLEAN, 4)), "slot: mask has type Vector<boolean,4>"),
    ("no statement", "host", VOID, _statement("text"), "str: is no statement"),
    ("no kind", "worker", VOID, _return(None), "function: is of no kind called worker"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "result", "fill", "said"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS]
)
def test_a_fault_is_named(kind: str, result: Type, fill: Callable[[Function, Builder], None], said: str) -> None:
    with pytest.raises(InvalidIR, match=rf"^T\.f: .*{said}"):
        verify(make_program(make_function(kind, fill, result)))


# ---- ways to end


def _endless(*inside: object) -> Callable[[Function, Builder], None]:
    return lambda _function, b: b.block.append(Loop([], None, list(inside), []))  # pyright: ignore[reportArgumentType]


def _both_return(function: Function, b: Builder) -> None:
    returns: list[Block] = [[Return(function.params[1])], [Return(function.params[1])]]
    b.block.append(If(function.params[2], *returns))


def _true_loop(_: Function, b: Builder) -> None:
    b.block.append(Loop([], b.const(BOOLEAN, True), [], []))


def _inner_break(_: Function, b: Builder) -> None:
    b.block.append(Loop([], None, [Loop([], None, [Break()], [])], []))


@pytest.mark.parametrize("fill", [_both_return, _endless(), _true_loop, _inner_break])
def test_a_result_is_due_only_where_the_end_can_be_reached(fill: Callable[[Function, Builder], None]) -> None:
    verify(make_program(make_function("host", fill, INT32)))


def _one_returns(function: Function, b: Builder) -> None:
    b.block.append(If(function.params[2], [], [Return(function.params[1])]))


def _break_in_branch(function: Function, b: Builder) -> None:
    b.block.append(Loop([], None, [If(function.params[2], [], [Break()])], []))


def _do_loop(function: Function, b: Builder) -> None:
    b.block.append(Loop([], None, [], [], function.params[2]))


@pytest.mark.parametrize("fill", [_one_returns, _endless(Break()), _break_in_branch, _do_loop])
def test_an_end_that_can_be_reached_needs_a_result(fill: Callable[[Function, Builder], None]) -> None:
    with pytest.raises(InvalidIR, match="can end without its int32"):
        verify(make_program(make_function("host", fill, INT32)))


# ---- calls and names


def _calls(callee: Function) -> Callable[[Function, Builder], None]:
    def fill(function: Function, b: Builder) -> None:
        b.emit("call", callee.result, *function.params, attr=callee)

    return fill


def _calls_itself(function: Function, b: Builder) -> None:
    b.emit("call", function.result, *function.params, attr=function)


def _nothing(_: Function, _b: Builder) -> None:
    pass


def test_a_host_method_may_call_itself() -> None:
    verify(make_program(make_function("host", _calls_itself)))


def test_a_device_method_may_not() -> None:
    with pytest.raises(InvalidIR, match=r"call: <device T\.f> can't be called here"):
        verify(make_program(make_function("device", _calls_itself)))


@pytest.mark.parametrize(
    ("callee", "inside", "caller", "said"),
    [
        ("device", _nothing, "kernel", ""),
        ("device", _coordinate, "kernel", ""),
        ("device", _coordinate, "host", "<device T.inner> needs a launch"),
        ("device", _statement(Barrier(0, 0)), "host", "<device T.inner> needs a launch"),
        ("host", _allocate, "host", ""),
        ("host", _nothing, "kernel", ""),
        ("host", _allocate, "kernel", "<host T.inner> makes arrays"),
        ("kernel", _nothing, "host", "<kernel T.inner> can't be called here"),
    ],
)
def test_who_may_call_whom(callee: str, inside: Callable[[Function, Builder], None], caller: str, said: str) -> None:
    inner = make_function(callee, inside, name="T.inner")
    middle = make_function(caller, _calls(inner), name="T.middle")
    program = make_program(inner, middle)
    if not said:
        verify(program)
        return
    with pytest.raises(InvalidIR, match=f"^T.middle: call: {said}"):
        verify(program)


def test_what_a_callee_needs_is_passed_on() -> None:
    inner = make_function("device", _coordinate, name="T.inner")
    middle = make_function("device", _calls(inner), name="T.middle")
    with pytest.raises(InvalidIR, match=r"^T\.outer: call: <device T\.middle> needs a launch"):
        verify(make_program(inner, middle, make_function("host", _calls(middle), name="T.outer")))


def test_callees_come_first() -> None:
    inner = make_function("device", _nothing, name="T.inner")
    outer = make_function("kernel", _calls(inner), name="T.outer")
    with pytest.raises(InvalidIR, match="does not come before its caller"):
        verify(make_program(outer, inner))


def test_a_function_is_once_in_the_program() -> None:
    function = make_function("host", _nothing)
    with pytest.raises(InvalidIR, match=r"T\.f: is twice in the program"):
        verify(make_program(function, function))


def test_names_lead_to_entries() -> None:
    inner = make_function("device", _nothing)
    with pytest.raises(InvalidIR, match=r"the name f leads to <device T\.f>"):
        verify(Program(Source("t.cj", ""), [inner], {"f": inner}))


def test_parameters_are_parameters() -> None:
    wrong = Value("const", INT8, attr=1)
    with pytest.raises(InvalidIR, match="const: is in the list of parameters"):
        verify(make_program(Function("T.f", "f", "host", [wrong], VOID)))
    with pytest.raises(InvalidIR, match="param: has type void"):
        verify(make_program(Function("T.f", "f", "host", [Value("param", VOID, attr="x")], VOID)))
    with pytest.raises(InvalidIR, match="param: of a kernel is a vector"):
        verify(make_program(Function("T.f", "f", "kernel", [Value("param", Vector(INT8, 4), attr="x")], VOID)))


def test_long_blocks_are_no_matter() -> None:
    def fill(function: Function, b: Builder) -> None:
        value = function.params[1]
        for _ in range(50_000):
            value = b.binary("add", value, function.params[1])

    verify(make_program(make_function("host", fill)))
