"""Holds a program to the rules of `ir`: operands, types, scopes, jumps and calls.

It runs after checking and, in tests, after every pass. What it refuses is a mistake of the compiler, never of the user.
Here are functions and their statements; what each opcode asks of its operands is `operands.py`.
"""

from __future__ import annotations

from cajeta_dot.ir import OPS, Barrier, Break, Continue, If, Loop, Return, Value, nested_blocks
from cajeta_dot.passes.operands import RULES, Surroundings, is_mask
from cajeta_dot.types import BOOLEAN, MAX_LANES, VOID, Array, Scalar, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Block, Function, Item, Program


# For each operation of a body the number of its operands, and what they must be.
_CHECKS = {op: (count, RULES[rule]) for op, (count, rule) in OPS.items() if op != "param"}


class InvalidIR(Exception):
    """The compiler has made something that is not a program: the function, the operation, what is wrong."""


def verify(program: Program) -> None:
    """Raises InvalidIR for the first fault; a program that passes can be given to every pass and backend."""
    surroundings = Surroundings()
    for function in program.functions:
        if function in surroundings.known:
            raise InvalidIR(f"{function.name}: is twice in the program")
        surroundings.enter(function)
        _Walk(function, surroundings).check()
    for name, function in program.names.items():
        if function not in surroundings.known or function.kind == "device":
            raise InvalidIR(f"the name {name} leads to {function!r}, which is no entry of the program")


class _Walk:
    """One function. `visible` holds the values that may be used here, `made` all that were met so far."""

    def __init__(self, function: Function, surroundings: Surroundings):
        self.function, self.surroundings = function, surroundings
        self.visible: set[Value] = set(function.params)
        self.made: set[Value] = set(function.params)

    def check(self) -> None:
        function = self.function
        if function.kind not in ("kernel", "device", "host"):
            self.refuse("function", f"is of no kind called {function.kind}")
        if function.kind == "kernel" and function.result != VOID:
            self.refuse("function", f"is a kernel and returns {function.result}")
        if len(self.visible) != len(function.params):
            self.refuse("param", "stands in the list twice")
        for param in function.params:
            if param.op != "param" or not isinstance(param.attr, str):
                self.refuse(param.op, "is in the list of parameters")
            if not isinstance(param.type, (Scalar, Vector, Array)):
                self.refuse("param", f"has type {param.type}")
            if function.kind == "kernel" and isinstance(param.type, Vector):
                self.refuse("param", "of a kernel is a vector")
        for slot in function.slots:
            if is_mask(slot.type):
                self.refuse("slot", f"{slot.name} has type {slot.type}")
        self.block(function.body, loops=0)
        if function.result != VOID and _falls_through(function.body):
            self.refuse("function", f"can end without its {function.result}")

    def refuse(self, op: str, what: str) -> None:
        raise InvalidIR(f"{self.function.name}: {op}: {what}")

    def block(self, block: Block, loops: int) -> list[Value]:
        """Checks a block; returns what it defines, which is still visible."""
        defined: list[Value] = []
        last = len(block) - 1
        visible = self.visible
        for place, item in enumerate(block):
            if isinstance(item, Value):
                self.value(item)
                visible.add(item)
                defined.append(item)
            elif isinstance(item, If):
                self.condition("if", item.condition)
                self.visible.difference_update(self.block(item.then, loops))
                self.visible.difference_update(self.block(item.otherwise, loops))
            elif isinstance(item, Loop):
                tested = self.block(item.test, loops=0)
                self.condition("loop", item.condition)
                self.visible.difference_update(self.block(item.body, loops + 1))
                updated = self.block(item.update, loops=0)
                self.condition("loop", item.again)
                self.visible.difference_update(tested)
                self.visible.difference_update(updated)
            else:
                self.leaf(item, loops)
                if place != last and not isinstance(item, Barrier):
                    self.refuse(_word(item), "something stands behind it")
        return defined

    def value(self, value: Value) -> None:
        if value.op not in _CHECKS:
            self.refuse(value.op, "is no operation of a body")
        if value in self.made:
            self.refuse(value.op, "stands in the function twice")
        self.made.add(value)
        if isinstance(value.type, Vector) and not 1 <= value.type.lanes <= MAX_LANES:
            self.refuse(value.op, f"makes a vector of {value.type.lanes} lanes")
        count, rule = _CHECKS[value.op]
        args = value.args
        if count is not None and len(args) != count:
            self.refuse(value.op, f"has {len(args)} operands instead of {count}")
        for arg in args:
            if arg not in self.visible:
                self.use(value.op, arg)
        complaint = rule(value, self.surroundings)
        if complaint:
            operands = ", ".join(str(arg.type) for arg in args)
            self.refuse(value.op, f"{complaint}: ({operands}) -> {value.type}")

    def use(self, op: str, value: Value) -> None:
        if value not in self.visible:
            known = value in self.made
            self.refuse(op, f"uses a {value.op} that " + ("is not visible here" if known else "is not defined before it"))

    def condition(self, word: str, value: Value | None) -> None:
        if value is not None:
            self.use(word, value)
            if value.type != BOOLEAN:
                self.refuse(word, f"has a condition of type {value.type}")

    def leaf(self, item: Item, loops: int) -> None:
        """A statement without blocks. `loops` are those that a jump from here may leave or continue."""
        if isinstance(item, (Break, Continue)):
            if not loops:
                self.refuse(_word(item), "is not in the body of a loop")
        elif isinstance(item, Barrier):
            if self.function.kind == "host":
                self.refuse("barrier", "is in a host method")
            self.surroundings.launched.add(self.function)
        elif isinstance(item, Return):
            if item.value is not None:
                self.use("return", item.value)
            type = VOID if item.value is None else item.value.type
            if type != self.function.result:
                self.refuse("return", f"gives {type} where {self.function.result} is due")
        else:
            self.refuse(_word(item), "is no statement")


def _word(item: Item) -> str:
    return type(item).__name__.lower()


def _falls_through(block: Block) -> bool:
    """Can control reach the end of a block? Every loop with a condition is taken to end at some time."""
    while block:
        last = block[-1]
        if isinstance(last, If):
            if _falls_through(last.then):
                return True
            block = last.otherwise
            continue
        if isinstance(last, Loop):
            return not (_is_true(last.condition) and _is_true(last.again)) or _leaves(last)
        return not isinstance(last, (Return, Break, Continue))
    return True


def _is_true(condition: Value | None) -> bool:
    return condition is None or (condition.op == "const" and condition.attr is True)


def _leaves(loop: Loop) -> bool:
    """Is there a break in the loop that is its own and not of a loop inside?"""
    work = [loop.body]
    while work:
        for item in work.pop():
            if isinstance(item, Break):
                return True
            if not isinstance(item, Loop):
                work.extend(nested_blocks(item))
    return False
