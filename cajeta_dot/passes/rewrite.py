"""A copy of a program in which some values are made otherwise. The original stays as it was."""

from __future__ import annotations

from cajeta_dot.ir import Function, Program, Slot, Value
from cajeta_dot.passes.copy import Copier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Builder

    # Gets a builder, the old value and its new operands; the value to use instead, or None to copy it.
    Rule = Callable[[Builder, Value, tuple[Value, ...]], Value | None]


def rewrite(program: Program, rule: Rule) -> Program:
    """Every function copied through the rule; calls and names lead to the copies."""
    copies: dict[Function, Function] = {}
    for function in program.functions:
        copies[function] = _Copy(function, rule, copies).copy()
    names = {name: copies[function] for name, function in program.names.items()}
    return Program(program.source, list(copies.values()), names)


class _Copy(Copier):
    """One function being copied through the rule, with variables of its own."""

    def __init__(self, function: Function, rule: Rule, copies: dict[Function, Function]):
        super().__init__({slot: Slot(slot.name, slot.type) for slot in function.slots})
        self.old, self.rule, self.copies = function, rule, copies

    def copy(self) -> Function:
        old = self.old
        params = [Value(p.op, p.type, (), p.attr, p.start, p.end) for p in old.params]
        self.now.update(zip(old.params, params, strict=True))
        new = Function(old.name, old.symbol, old.kind, params, old.result, old.start, old.end)
        new.fast_math = old.fast_math
        new.slots = list(self.slots.values())
        self.copies[old] = new  # before the body: a host method may call itself
        new.body = self.block(old.body)
        return new

    def make(self, builder: Builder, value: Value, args: tuple[Value, ...]) -> Value:
        made = self.rule(builder, value, args)
        if made is not None:
            return made
        if isinstance(value.attr, Function):
            return builder.emit(value.op, value.type, *args, attr=self.copies[value.attr])
        return super().make(builder, value, args)
