"""What a method or built-in is to the compiler: one row, and the call that it is asked about.

A row is all that is known of a method. `check` reads a call and says its result and its operands, converted as the
method reads them, or reports and gives None. `meaning` is the definition, on Python numbers, to which every target is
held. `expand` says the same in core IR. `doc` is one sentence for people.
"""

from __future__ import annotations

from cajeta_dot.diagnostics import Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.record import record
from cajeta_dot.types import FLOAT64, Array, Poison, Scalar, Type, Vector, Void, element_of

from .convert import common_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from cajeta_dot.diagnostics import Rule
    from cajeta_dot.ir import Builder, Value

    from .convert import Converter
    from .operand import Operand

    Checked = tuple[Type, tuple[Value, ...]]
    Numbers = Sequence[Any]


@record
class Row:
    """A method of vectors, arrays or masks, or a function of a built-in class.

    meaning(round, *operands): lanes are tuples; `round` makes a number one of the result's element type. None: the row only
    spells core opcodes, which have a meaning of their own, and is written as them at once.
    """

    name: str
    check: Callable[[Call], Checked | None]
    meaning: Callable[..., Any] | None
    expand: Callable[..., Value]
    doc: str


@record
class Call:
    """A call as a row sees it. `receiver` is None for functions; `start` is where the name stands, `end` the closing `)`."""

    name: str
    receiver: Operand | None
    arguments: Sequence[Operand]
    start: int
    end: int
    converter: Converter

    @property
    def vector(self) -> Vector:
        """The receiver's type, where only vectors have the method."""
        assert self.receiver
        assert isinstance(self.receiver.type, Vector)
        return self.receiver.type

    @property
    def received(self) -> Value:
        """The receiver's value."""
        assert self.receiver
        assert self.receiver.value
        return self.receiver.value

    def report(
        self, rule: Rule, message: str, primary: Label, secondary: Sequence[Label] = (), helps: Sequence[Help] = ()
    ) -> None:
        self.converter.reporter.report(rule, message, primary, secondary, helps=helps)

    def name_label(self, text: str = "") -> Label:
        return Label(self.start, self.start + len(self.name), text)

    def refuse_receiver(self, rule: Rule, message: str, helps: Sequence[Help] = ()) -> None:
        """Report at the receiver, whose type is the label."""
        assert self.receiver
        self.report(rule, message, Label(self.receiver.start, self.receiver.end, f"`{self.receiver.type}`"), helps=helps)

    def refuse(self, wants: str) -> None:
        """Report a receiver of another shape than the method is for."""
        self.refuse_receiver(r.WRONG_ARGUMENTS, f"`{self.name}` is defined for {wants}, found {type_name(self.vector)}")

    def demand_integers(self, at_most: int = 64, at_least: int = 8) -> bool:
        """Are the receiver's lanes integers of so many bits? Reports if not."""
        element = self.vector.element
        if not element.is_integer:
            message = f"`{self.name}` is defined for integer vectors, found {type_name(self.vector)}"
            self.refuse_receiver(r.NOT_FOR_FLOATS, message)
            return False
        if not at_least <= element.bits <= at_most:
            bounds = f"lanes of at most {at_most} bits" if element.bits > at_most else f"lanes of at least {at_least} bits"
            bounds = f"{at_most}-bit lanes" if at_most in (8, at_least) else bounds
            message = f"`{self.name}` is defined for {bounds}, found {type_name(self.vector)}"
            self.refuse_receiver(r.WRONG_ARGUMENTS, message)
            return False
        return True

    def takes(self, count: int, what: str = "", rule: Rule = r.WRONG_ARGUMENTS) -> bool:
        """Are there so many arguments? If not, the place behind the last one is pointed at."""
        found = len(self.arguments)
        if found == count:
            return True
        place = Label(self.end - 1, self.end - 1) if found < count else span(self.arguments[count])
        plural = "" if count == 1 else "s"
        self.report(rule, f"`{self.name}` takes {count} argument{plural}{what}, found {found}", place)
        return False

    def read(self, index: int, type: Type) -> Value | None:
        """An argument as a value of `type`, converted as any argument is."""
        return self.converter.convert(self.arguments[index], type, mismatch=r.WRONG_ARGUMENTS)

    def read_lanes(self, index: int, type: Vector) -> Value | None:
        """An argument as lanes of `type`; a scalar is splatted, as beside an operator."""
        argument = self.arguments[index]
        if not isinstance(argument.type, Scalar):
            return self.read(index, type)
        value = self.read(index, type.element)
        return self.converter.emitter.splat(value, type.lanes) if value else None

    def share_type(self) -> Scalar | Vector | None:
        """The type that all arguments are converted to: as a chain of binary operators would. Reports what is no number."""
        elements: list[Scalar] = []
        vector: Vector | None = None
        for argument in self.arguments:
            type = argument.type
            if isinstance(type, (Array, Void, Poison)) or not element_of(type).is_number:
                message = f"`{self.name}` takes numbers, found {type_name(type)}"
                return self.report(r.WRONG_ARGUMENTS, message, span(argument, type_name(type)))
            if isinstance(type, Vector):
                vector = vector or type
            elif not argument.is_bare or argument.is_long:
                elements.append(type)
        return vector or self._share_element(elements)

    def _share_element(self, typed: Sequence[Scalar]) -> Scalar:
        """Of scalars: `typed` are those that are not bare literals."""
        bare = [element_of(a.type) for a in self.arguments if a.is_bare]
        if not typed:
            return next((e for e in bare if e.is_float), None) or max(bare, key=lambda e: e.bits)
        element = typed[0]
        for other in typed[1:]:
            element, _ = common_element(element, other)
        return FLOAT64 if element.is_integer and any(e.is_float for e in bare) else element


def span(operand: Operand, text: str = "") -> Label:
    """A label under an operand."""
    return Label(operand.start, operand.end, text)


def type_name(type: Type) -> str:
    """How a message says what something is."""
    return f"`{type}`"


def plain(result: Callable[[Vector], Type]) -> Callable[[Call], Checked | None]:
    """The check of a method without arguments; the result's type follows from the receiver's."""

    def check(call: Call) -> Checked | None:
        return (result(call.vector), (call.received,)) if call.takes(0) else None

    return check


def same_op(op: str) -> Callable[..., Value]:
    """The expansion into one opcode whose result has the operands' type."""

    def expand(b: Builder, *operands: Value) -> Value:
        return b.emit(op, operands[0].type, *operands)

    return expand
