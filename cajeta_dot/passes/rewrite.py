"""A copy of a program in which some values are made otherwise. The original stays as it was."""

from __future__ import annotations

from cajeta_dot.ir import Builder, Function, If, Loop, Program, Return, Slot, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Block

    # Gets a builder, the old value and its new operands; the value to use instead, or None to copy it.
    Rule = Callable[[Builder, Value, tuple[Value, ...]], Value | None]


def rewrite(program: Program, rule: Rule) -> Program:
    """Every function copied through the rule; calls and names lead to the copies."""
    copies: dict[Function, Function] = {}
    for function in program.functions:
        copies[function] = _Copy(function, rule, copies).copy()
    names = {name: copies[function] for name, function in program.names.items()}
    return Program(program.source, list(copies.values()), names)


class _Copy:
    """One function being copied. `now` leads from old values to new ones, `slots` from old locals to new ones."""

    def __init__(self, function: Function, rule: Rule, copies: dict[Function, Function]):
        self.old, self.rule, self.copies = function, rule, copies
        self.slots = {slot: Slot(slot.name, slot.type) for slot in function.slots}
        self.now: dict[Value, Value] = {}

    def copy(self) -> Function:
        old = self.old
        params = [self.plain(p, ()) for p in old.params]
        self.now.update(zip(old.params, params, strict=True))
        new = Function(old.name, old.symbol, old.kind, params, old.result, old.start, old.end)
        new.fast_math = old.fast_math
        new.slots = list(self.slots.values())
        self.copies[old] = new  # before the body: a host method may call itself
        new.body = self.block(old.body)
        return new

    def plain(self, value: Value, args: tuple[Value, ...]) -> Value:
        attr = value.attr
        if isinstance(attr, Slot):
            attr = self.slots[attr]
        elif isinstance(attr, Function):
            attr = self.copies[attr]
        return Value(value.op, value.type, args, attr, value.start, value.end)

    def value(self, value: Value | None) -> Value | None:
        return None if value is None else self.now[value]

    def block(self, old: Block) -> Block:
        new: Block = []
        for item in old:
            match item:
                case Value():
                    args = tuple(self.now[a] for a in item.args)
                    made = self.rule(Builder(new, item.start, item.end), item, args)
                    if made is None:
                        made = self.plain(item, args)
                        new.append(made)
                    self.now[item] = made
                case If():
                    new.append(If(self.now[item.condition], self.block(item.then), self.block(item.otherwise)))
                case Loop():
                    test, condition = self.block(item.test), self.value(item.condition)
                    body, update = self.block(item.body), self.block(item.update)
                    new.append(Loop(test, condition, body, update, self.value(item.again), item.rare))
                case Return():
                    new.append(Return(self.value(item.value)))
                case _:  # break, continue, barrier: nothing in them is copied
                    new.append(item)
        return new
