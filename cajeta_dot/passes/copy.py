"""Copies of blocks within one function: of a loop's body, and of expressions that are wanted elsewhere."""

from __future__ import annotations

from cajeta_dot.ir import Builder, If, Loop, Return, Slot, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Block, Item

MAX_DEPTH = 100  # operations in a row that `copy_expression` follows


class Copier:
    """Copies code. What is made outside of it is used as it is; `slots` leads from variables to those used instead.

    Subclasses make a value otherwise in `make`.
    """

    def __init__(self, slots: dict[Slot, Slot] | None = None):
        self.slots = slots or {}
        self.now: dict[Value, Value] = {}

    def block(self, old: Block) -> Block:
        new: Block = []
        for item in old:
            self.item(new, item)
        return new

    def item(self, new: Block, item: Item) -> None:
        match item:
            case Value():
                builder = Builder(new, item.start, item.end)
                self.now[item] = self.make(builder, item, tuple([self.now.get(arg, arg) for arg in item.args]))
            case If():
                new.append(If(self.find(item.condition), self.block(item.then), self.block(item.otherwise)))
            case Loop():
                test = self.block(item.test)
                condition = item.condition and self.find(item.condition)
                body, update = self.block(item.body), self.block(item.update)
                new.append(Loop(test, condition, body, update, item.again and self.find(item.again), item.rare))
            case Return():
                new.append(Return(item.value and self.find(item.value)))
            case _:  # nothing in them is copied
                new.append(item)

    def find(self, value: Value) -> Value:
        return self.now.get(value, value)

    def make(self, builder: Builder, value: Value, args: tuple[Value, ...]) -> Value:
        """The copy of a value, appended to the builder's block."""
        attr = self.slots.get(value.attr, value.attr) if isinstance(value.attr, Slot) else value.attr
        return builder.emit(value.op, value.type, *args, attr=attr)


def copy_expression(builder: Builder, value: Value, now: dict[Value, Value], own: set[Value]) -> Value:
    """The value computed anew where the builder stands; only what `own` holds is copied, the rest is visible there.

    `now` says what is there already, and learns what is made. The caller knows that all of it may be computed there.
    """
    work = [value]
    while work:
        at = work[-1]
        if at in now or at not in own:
            work.pop()
            continue
        missing = [arg for arg in at.args if arg in own and arg not in now]
        if missing:
            work += missing
            continue
        work.pop()
        now[at] = builder.emit(at.op, at.type, *[now.get(arg, arg) for arg in at.args], attr=at.attr)
    return now.get(value, value)
