"""Helpers that wait at a barrier, put in place of their calls: for machines that cut a kernel at its barriers.

A helper may return from anywhere. Put in place, a `return` becomes a flag that is set, a way out of the loops around it, and
a condition around what would have followed.
"""

from __future__ import annotations

from cajeta_dot.ir import Barrier, Break, Builder, If, Loop, Return, Slot, Value, nested_blocks, walk
from cajeta_dot.types import BOOLEAN, Scalar, Vector

from .rewrite import rewrite
from .simplify import simplify_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.ir import Block, Function, Item, Program


MAX_HELPER = 300  # operations of a helper that is put in place
MAX_VALUES = 5000  # operations of a function that helpers are put into


def inline_barriers(program: Program) -> Program:
    """A copy of the program in which no kernel calls a function that waits. The program itself, if that is so already."""
    waiting = find_waiting(program)
    if not any(function.kind != "kernel" for function in waiting):
        return program
    copy = rewrite(program, lambda builder, value, args: None)
    waiting = find_waiting(copy)
    for function in copy.functions:  # callees come first, so what is put in place holds no such call any more
        if function in waiting:
            function.body = _Inliner(function, waiting).block(function.body)
    return copy


def inline_helpers(program: Program) -> Program:
    """A copy of the program in which small helpers stand in place of their calls, where they only return at their end.

    A loop that calls is then a loop of operations, which passes can look into.
    """
    small = {f for f in program.functions if f.kind == "device" and _is_small(f)}
    if not small:
        return program
    copy = rewrite(program, lambda builder, value, args: None)
    small = {new for old, new in zip(program.functions, copy.functions, strict=True) if old in small}
    sizes: dict[Function, int] = {}
    for function in copy.functions:
        sizes[function] = _size_with_calls(function, small, sizes)
        if sizes[function] > MAX_HELPER:  # with those that it calls: so a chain of them does not grow with each
            small.discard(function)
        if sizes[function] > MAX_VALUES:
            continue
        if any(isinstance(item, Value) and item.op == "call" and item.attr in small for item in walk(function.body)):
            function.body = _Inliner(function, small).block(function.body)
            simplify_function(function)
    return copy


def _is_small(function: Function) -> bool:
    """Does it return at its end only, and have no more than a few operations?"""
    body = function.body
    if not body or _returns(body[:-1]) or _returns(nested_blocks(body[-1])):
        return False
    return sum(1 for _ in walk(body)) <= MAX_HELPER


def _size_with_calls(function: Function, small: set[Function], sizes: dict[Function, int]) -> int:
    """How many operations it has when its helpers are in place."""
    return sum(
        sizes[item.attr] if isinstance(item, Value) and item.op == "call" and item.attr in small else 1
        for item in walk(function.body)
    )


def find_waiting(program: Program) -> set[Function]:
    """The functions that wait at a barrier, or call one that does."""
    waiting: set[Function] = set()
    for function in program.functions:
        for item in walk(function.body):
            if isinstance(item, Barrier) or (isinstance(item, Value) and item.op == "call" and item.attr in waiting):
                waiting.add(function)
                break
    return waiting


class _Inliner:
    """Rebuilds the body of one function. `now` leads from calls to the values that stand for their results."""

    def __init__(self, function: Function, waiting: set[Function]):
        self.function, self.waiting = function, waiting
        self.now: dict[Value, Value] = {}

    def block(self, old: Block) -> Block:
        new: Block = []
        for item in old:
            match item:
                case Value():
                    item.args = tuple([self.now.get(a, a) for a in item.args])
                    if item.op == "call" and item.attr in self.waiting:
                        self.place(new, item)
                    else:
                        new.append(item)
                    continue
                case If():
                    item.condition = self.now.get(item.condition, item.condition)
                    item.then, item.otherwise = self.block(item.then), self.block(item.otherwise)
                case Loop():
                    item.test, item.body, item.update = (self.block(b) for b in (item.test, item.body, item.update))
                    item.condition = item.condition and self.now.get(item.condition, item.condition)
                    item.again = item.again and self.now.get(item.again, item.again)
                case Return():
                    item.value = item.value and self.now.get(item.value, item.value)
                case _:
                    pass
            new.append(item)
        return new

    def place(self, block: Block, call: Value) -> None:
        """The callee's body instead of its call."""
        callee: Function = call.attr
        copier = _Body(self.function, callee, call)
        block.extend(copier.copy())
        if copier.result:
            self.now[call] = Builder(block, call.start, call.end).get(copier.result)


class _Body:
    """One body on its way into another function. `result` is the variable that its value is stored in."""

    def __init__(self, into: Function, callee: Function, call: Value):
        self.into, self.callee = into, callee
        self.values: dict[Value, Value] = dict(zip(callee.params, call.args, strict=True))
        self.slots: dict[Slot, Slot] = {slot: self.add_slot(slot.type, slot.name) for slot in callee.slots}
        self.result = self.add_slot(callee.result, "$result") if isinstance(callee.result, (Scalar, Vector)) else None
        self.returned: Slot | None = None
        self.start, self.end = call.start, call.end

    def add_slot(self, type: Scalar | Vector, name: str) -> Slot:
        slot = Slot(name, type)
        self.into.slots.append(slot)
        return slot

    def copy(self) -> Block:
        if _returns(self.callee.body[:-1]) or (self.callee.body and _returns(nested_blocks(self.callee.body[-1]))):
            self.returned = self.add_slot(BOOLEAN, "$returned")
        made: Block = []
        if self.returned:
            builder = Builder(made, self.start, self.end)
            builder.set(self.returned, builder.const(BOOLEAN, False))
        made.extend(self.block(self.callee.body, in_loop=False))
        return made

    def block(self, old: Sequence[Item], in_loop: bool) -> Block:
        new: Block = []
        for place, item in enumerate(old):
            new.extend(self.item(item, in_loop))
            if self.returned is None or not _returns(nested_blocks(item)):
                continue
            builder = Builder(new, self.start, self.end)
            if not in_loop:
                going = builder.unary("not", builder.get(self.returned))
                new.append(If(going, self.block(old[place + 1 :], in_loop), []))
                break
            if isinstance(item, Loop):
                new.append(If(builder.get(self.returned), [Break()], []))
        return new

    def item(self, item: Item, in_loop: bool) -> Block:
        match item:
            case Value():
                return [self.value(item)]
            case If():
                then, otherwise = self.block(item.then, in_loop), self.block(item.otherwise, in_loop)
                return [If(self.values[item.condition], then, otherwise)]
            case Loop():
                test = self.block(item.test, in_loop=True)
                condition = item.condition and self.values[item.condition]
                body, update = self.block(item.body, in_loop=True), self.block(item.update, in_loop=True)
                return [Loop(test, condition, body, update, item.again and self.values[item.again], item.rare)]
            case Return():
                return self.leave(item, in_loop)
            case _:
                return [item]

    def leave(self, item: Return, in_loop: bool) -> Block:
        made: Block = []
        builder = Builder(made, self.start, self.end)
        if item.value and self.result:
            builder.set(self.result, self.values[item.value])
        if self.returned:
            builder.set(self.returned, builder.const(BOOLEAN, True))
        if in_loop:
            made.append(Break())
        return made

    def value(self, value: Value) -> Value:
        attr = self.slots[value.attr] if isinstance(value.attr, Slot) else value.attr
        made = Value(value.op, value.type, tuple([self.values[a] for a in value.args]), attr, value.start, value.end)
        self.values[value] = made
        return made


def _returns(inside: Sequence[Item] | tuple[Block, ...]) -> bool:
    """Is there a return in these statements, or in these blocks?"""
    for part in inside:
        block: Block = part if isinstance(part, list) else [part]
        if any(isinstance(item, Return) for item in walk(block)):
            return True
    return False
