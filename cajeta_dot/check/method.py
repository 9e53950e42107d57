"""What is known while one method is checked: names, where code goes, which variables have a value."""

from __future__ import annotations

import re
from itertools import islice

from cajeta_dot.diagnostics import Edit, Help, Label, nearest
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import EFFECTS, Slot, Value, can_fault
from cajeta_dot.record import record
from cajeta_dot.syntax.tree import Literal
from cajeta_dot.types import POISON, Scalar, Type, Vector

from . import MAX_NESTING
from .convert import Converter
from .fold import Emitter
from .operand import Operand, poison
from .resolve import Resolver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cajeta_dot.diagnostics import Reporter, Rule
    from cajeta_dot.ir import Block, Item
    from cajeta_dot.syntax.tree import Node

    from .program import Method, ProgramChecker

MAX_GUESSES, MAX_COMPARED = 20, 20_000
# What a kernel has in place of parts of the wider language.
_INSTEAD = {
    "`new`": "a vector is made without it, `Vector<int32,4>(0)`; an array for all work items is `shared int32[64]`",
    "a lambda": "if a member was meant, it stands behind a `.`",
    "a for-each loop": "count instead: `for (int32 i = 0; i < n; i++)`",
    "`switch`": "compare instead: `if (n == 1) { … } else if (n == 2) { … }`",
    "type `var`": "write the type",
    "a declaration without a block around it": "put it between braces; nothing else could use what it declares",
    "an array literal": "store the elements one by one, or pass the array",
    "brackets behind a name": "an array for all work items is `Shared<int32> s = shared int32[64];`",
    "an array type with a length": "an array for all work items is `Shared<int32> s = shared int32[64];`",
}
_WORD = re.compile(r"[\w$]+")


@record
class Outside:
    """What a host method uses that the dialect does not have: it is skipped, not refused (LANGUAGE.md section 2)."""

    start: int
    end: int
    what: str


class Local:
    """A variable or an array parameter. Exactly one of `slot` and `array` is set, unless its type is POISON."""

    __slots__ = ("array", "end", "name", "slot", "start", "type")

    def __init__(self, name: str, type: Type, start: int, end: int, slot: Slot | None = None, array: Value | None = None):
        self.name, self.type, self.start, self.end, self.slot, self.array = name, type, start, end, slot, array


class LoopState:
    """A loop around the statement being checked: which variables had a value at each `break` and `continue`."""

    __slots__ = ("at_break", "at_continue")

    def __init__(self) -> None:
        self.at_break: list[int] = []
        self.at_continue: list[int] = []


class MethodChecker:
    """The state of one method being checked.

    `awaited` gives each variable that was declared without a value a bit; `assigned` has the bits of those that have got one
    on every path that leads here, and is None where no path does.

    `foreign` is the first construct outside the dialect in a host method. The rest is still searched for misspelt names,
    but not for those in `foreign_words`, which stand in text that was not read.
    """

    def __init__(self, program: ProgramChecker, method: Method, reporter: Reporter):
        self.program, self.method, self.reporter = program, method, reporter
        self.emitter = Emitter(method.function.body if method.function else [])
        self.converter = Converter(reporter, self.emitter)
        self.resolver = Resolver(reporter, self.constant, program.other_types, method.kind == "host")
        self.visible: dict[str, Local] = {}  # all scopes, since none may redeclare a name of those around it
        self.scopes: list[list[str]] = [[]]  # the names that each of them declares
        self.awaited: dict[Slot, int] = {}
        self.assigned: int | None = 0
        self.loops: list[LoopState] = []
        self.foreign: Outside | None = None
        self.foreign_words: set[str] = set()
        self.is_too_deep = False
        self.said: set[str] = set()  # names already reported as unknown
        self.nibbles: dict[Slot, Value] = {}  # variables that hold an unmasked signed shift
        self.warned: set[Value] = set()
        self.unassigned: set[Local] = set()  # variables already reported as read without a value

    @property
    def is_host_method(self) -> bool:
        """May it be skipped? A constant, which is evaluated as if it stood in a method of the host, may not."""
        return self.method.kind == "host" and self.method.node.body is not None

    # ---- names

    def declare(self, name: str, type: Type, start: int, end: int) -> Local:
        """A new variable in the innermost scope. A second one of that name is reported and replaces nothing.

        If its type is mistaken, that was reported, and it may be no declaration: `retrun sum;`.
        """
        known = self.find(name)
        local = Local(name, type, start, end)
        if known and type == POISON:
            return local
        if known:
            known_as = "" if known.type == POISON else f" as `{known.type}`"
            self.reporter.report(
                r.ALREADY_DECLARED,
                f"`{name}` is already declared here{known_as}",
                Label(start, end, "declared again"),
                [Label(known.start, known.end, "first declared here")],
                helps=[Help("rename it, or leave out the type to assign")],
            )
        else:
            self.visible[name] = local
            self.scopes[-1].append(name)
        if isinstance(type, (Scalar, Vector)):
            local.slot = Slot(name, type)
            assert self.method.function
            self.method.function.slots.append(local.slot)
        return local

    def find(self, name: str) -> Local | None:
        return self.visible.get(name)

    def enter_scope(self) -> None:
        self.scopes.append([])

    def leave_scope(self) -> None:
        """What the innermost scope declares is out of sight."""
        for name in self.scopes.pop():
            del self.visible[name]

    def visible_names(self) -> Iterator[str]:
        """Everything that a bare name could mean here."""
        yield from self.visible
        yield from self.program.constants_of(self.method.owner)

    def constant(self, node: Node) -> int | None:
        """The value of a constant integer expression, or None; also for a type, which can stand in the same places."""
        if isinstance(node, Literal) and node.text.isdecimal() and node.text[0] != "0" and len(node.text) < 10:
            return int(node.text)  # which nearly all are
        from .expressions import EXPRESSIONS, check_expression

        if type(node) not in EXPRESSIONS:
            return None
        before = self.emit_into([])
        operand = check_expression(self, node)
        if operand.choice and isinstance(settled := self.converter.settle(operand), Value):
            operand.value = settled
        self.emit_into(before)
        return operand.integer

    # ---- code

    def temporary(self, type: Scalar | Vector) -> Slot:
        """A slot of the compiler's own."""
        slots = self.method.function.slots if self.method.function else []  # a constant's value is in no function
        slots.append(Slot(f"${len(slots)}", type))
        return slots[-1]

    def at(self, start: int, end: int) -> None:
        """What is emitted from now on stands for this part of the source."""
        self.emitter.start, self.emitter.end = start, end

    def emit_into(self, block: Block) -> Block:
        """Send code to another block. Returns the one it went to before."""
        before, self.emitter.block = self.emitter.block, block
        return before

    def add(self, item: Item) -> None:
        self.emitter.block.append(item)

    # ---- which variables have a value

    def await_value(self, slot: Slot) -> None:
        """The variable is declared without one."""
        self.awaited[slot] = 1 << len(self.awaited)

    def give_value(self, slot: Slot) -> None:
        if self.assigned is not None:
            self.assigned |= self.awaited.get(slot, 0)

    def lacks_value(self, slot: Slot) -> bool:
        """May it be without one here?"""
        bit = self.awaited.get(slot, 0)
        return self.assigned is not None and self.assigned & bit != bit

    def merge_assigned(self, *states: int | None) -> int | None:
        """What has a value where several paths meet; paths that never arrive do not count."""
        merged: int | None = None
        for state in states:
            if state is not None:
                merged = state if merged is None else merged & state
        return merged

    # ---- how deep it is

    def refuse_depth(self, node: Node) -> Operand:
        """A statement or an expression inside more others than are followed, which is said once."""
        if not self.is_too_deep:
            self.is_too_deep = True
            message = f"nested more than {MAX_NESTING} levels deep"
            self.reporter.report(r.TOO_DEEP, message, Label(node.start, node.start + 1))
        return poison(node)

    # ---- reports

    def is_declared(self, name: str) -> bool:
        """Is it a variable here, or a field?"""
        return name in self.visible or self.program.is_constant(self.method.owner, name)

    def unknown_name(self, node: Node, name: str, type: Type | None = None) -> Operand:
        """A variable that does not exist: said once in a method. One of `type` is assigned to it."""
        if self.is_host_method and self.program.may_lie_elsewhere(self.method.owner, name):
            return self.outside(node, f"`{name}`, which is not in this file")
        if name not in self.said and name not in self.foreign_words:
            self.said.add(name)
            from .unknown import declare_variable, translate_variable

            message, help = f"no variable `{name}` in this scope", translate_variable(self, node, name)
            last = declare_variable(self, node, name, type)
            self.report_unknown(r.UNKNOWN_VARIABLE, message, node.start, node.end, name, help=help, last=last)
        return poison(node)

    def report_unknown(
        self,
        rule: Rule,
        message: str,
        start: int,
        end: int,
        name: str,
        known: Iterable[str] | None = None,
        near: str | None = None,
        help: Help | None = None,
        last: Help | None = None,
    ) -> None:
        """Report a name, and the one that it may be a misspelling of; `near` is what it is called here, if that is known.

        `help` says more than a name can, `last` what to do where no name is near.
        """
        near = near or (None if help else self._guess(name, self.visible_names() if known is None else known))
        if near:
            help = Help(f"did you mean `{near}`?", (Edit(start, end, near),), "machine")
        if last and self.program.guesses <= MAX_GUESSES:  # else no near name was looked for
            help = help or last
        self.reporter.report(rule, message, Label(start, end), helps=[help] if help else [])

    def _guess(self, name: str, known: Iterable[str]) -> str | None:
        """The near name, for as many mistakes as are shown: to compare all names with all others takes too long."""
        self.program.guesses += 1
        return nearest(name, islice(known, MAX_COMPARED)) if self.program.guesses <= MAX_GUESSES else None

    def outside(self, node: Node, what: str) -> Operand:
        """Something that is not of the dialect: a host method is skipped for it, in a kernel it is an error."""
        if self.method.kind != "host":
            helps = [Help(_INSTEAD[what])] if what in _INSTEAD else []
            self.reporter.report(
                r.NOT_IN_KERNELS, f"{what} can't be used in a kernel", Label(node.start, node.end), helps=helps
            )
        elif self.foreign is None:
            self.foreign = Outside(node.start, node.end, what)
        return poison(node)

    def skip_text(self, node: Node) -> None:
        """A statement that is not read: any name in it may be declared by it."""
        assert self.reporter.source
        self.foreign_words.update(_WORD.findall(self.reporter.source.text, node.start, node.end))

    def unsupported(self, node: Node, what: str) -> Operand:
        """Part of the dialect that is not compiled yet: a host method is skipped for it too."""
        if self.method.kind == "host":
            return self.outside(node, what)
        self.reporter.report(r.NOT_SUPPORTED, f"{what} is not supported yet", Label(node.start, node.end))
        return poison(node)


def is_speculable(block: Block) -> bool:
    """May this code run although the program would not have run it?"""
    return all(isinstance(item, Value) and item.op not in EFFECTS and not can_fault(item) for item in block)
