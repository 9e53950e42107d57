"""Assignments: the place first, then the value, then the store (LANGUAGE.md section 4)."""

from __future__ import annotations

from cajeta_dot.diagnostics import Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Slot, Value
from cajeta_dot.syntax import tree
from cajeta_dot.types import INT8, POISON, Array, Scalar, Vector, element_of

from . import expressions, lanes, memory
from .operand import Operand, literal, poison
from .operators import Operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .method import MethodChecker


class Place:
    """What can be assigned to: a variable, a lane of one, or an element of an array. Its index is evaluated once."""

    def __init__(self, node: tree.Node, type: Scalar | Vector, label: Label):
        self.node, self.type, self.label = node, type, label
        self.slot: Slot | None = None
        self.array: Value | None = None
        self.index: Value | None = None

    def read(self, m: MethodChecker) -> Operand:
        m.at(self.node.start, self.node.end)
        if self.array:
            assert self.index
            return Operand(self.node, self.type, m.emitter.load(self.array, self.index, self.type))
        assert self.slot
        whole = m.emitter.get(self.slot)
        if self.index is None:
            return Operand(self.node, self.type, whole)
        if self.index.op == "const":
            return Operand(self.node, self.type, m.emitter.extract(whole, self.index.attr))
        return Operand(self.node, self.type, m.emitter.emit("extract_at", self.type, whole, self.index))

    def write(self, m: MethodChecker, value: Value) -> None:
        m.at(self.node.start, self.node.end)
        if self.array:
            assert self.index
            m.emitter.store(self.array, self.index, value)
            return
        assert self.slot
        if self.index is None:
            m.emitter.set(self.slot, value)
            remember_nibble(m, self.slot, value)
            m.give_value(self.slot)
            return
        whole = m.emitter.get(self.slot)
        if self.index.op == "const":
            changed = m.emitter.emit("insert", whole.type, whole, value, attr=self.index.attr)
        else:
            changed = m.emitter.emit("insert_at", whole.type, whole, self.index, value)
        m.emitter.set(self.slot, changed)


def remember_nibble(m: MethodChecker, slot: Slot, value: Value) -> None:
    """Follow an unmasked shift of signed bytes through the variable that it is stored in."""
    shift = unmasked_shift(m, value)
    if shift:
        m.nibbles[slot] = shift
    else:
        m.nibbles.pop(slot, None)


def unmasked_shift(m: MethodChecker, value: Value) -> Value | None:
    """The `>>` that copied the sign into these byte lanes, if that is how they were made."""
    if value.op == "get":
        return m.nibbles.get(value.attr)
    if value.op != "shr":
        return None
    return value if isinstance(value.type, Vector) and value.type.element == INT8 else None


def check_assignment(m: MethodChecker, node: tree.Assignment) -> Operand:
    """`place = value`, `place #= value` and `place op= value`; the result is what was stored."""
    if node.operator in ("=", "#=") and isinstance(node.target, tree.Name) and not m.is_declared(node.target.text):
        operand = expressions.check_value(m, node.value)
        return m.unknown_name(node.target, node.target.text, operand.type)
    place = find_place(m, node.target)
    if node.operator in ("=", "#="):
        operand = expressions.check_value(m, node.value)
        if place is None or operand.is_poison:
            return _give_up(m, place, node)
        m.at(node.operator_start, node.operator_start + len(node.operator))
        value = m.converter.convert(operand, place.type, place.label)
    else:
        left = read_place(m, place)
        operand = expressions.check_value(m, node.value)
        if place is None or left is None or operand.is_poison:
            return _give_up(m, place, node)
        value = _compute(m, node, place, left, operand)
    if value is None:
        return _give_up(m, place, node)
    place.write(m, value)
    return Operand(node, place.type, value)


def _compute(m: MethodChecker, node: tree.Assignment, place: Place, left: Operand, right: Operand) -> Value | None:
    """`a op= b` is `a = (type of a)(a op b)`: the cast is silent."""
    operation = Operation(m.converter, node, node.operator[:-1], node.operator_start, left, right)
    result = operation.check()
    if result.is_poison:
        return None
    if isinstance(place.type, Vector) != isinstance(result.type, Vector):
        return m.converter.convert(result, place.type, place.label)
    if isinstance(result.type, Vector) and element_of(result.type).kind == "b":
        return m.converter.convert(result, place.type, place.label)
    return m.converter.cast(result, element_of(place.type))


def check_step(m: MethodChecker, node: tree.Unary, is_statement: bool) -> Operand:
    """`++` and `--`, before or behind a place."""
    place = find_place(m, node.operand)
    before = read_place(m, place)
    if place is None or before is None:
        return poison(node)
    if not element_of(place.type).is_number:
        message = f"`{node.operator}` is not defined for `{place.type}`"
        m.reporter.report(r.TYPE_MISMATCH, message, Label(node.start, node.end))
        return poison(node)
    one = literal(node, 1)
    after = Operation(m.converter, node, node.operator[0], node.start, before, one).check()
    value = m.converter.cast(after, element_of(place.type))
    assert value
    place.write(m, value)
    return Operand(node, place.type, before.value if node.postfix and not is_statement else value)


def read_place(m: MethodChecker, place: Place | None) -> Operand | None:
    """The value of a place before it changes; a variable must have one."""
    if place is None:
        return None
    if isinstance(place.node, tree.Name):
        operand = expressions.check_value(m, place.node)
        return None if operand.is_poison else operand
    return place.read(m)


def _give_up(m: MethodChecker, place: Place | None, node: tree.Node) -> Operand:
    """After a mistake the variable counts as assigned: no second error because of the first."""
    if place and place.slot:
        m.give_value(place.slot)
    return poison(node)


def find_place(m: MethodChecker, node: tree.Node) -> Place | None:
    """What the left side of an assignment names. None after a report."""
    match node:
        case tree.Name():
            return _find_variable(m, node)
        case tree.Index():
            return _find_element(m, node)
        case tree.Member() if expressions.class_name(m, node.object) is None:
            return _find_component(m, node)
        case tree.Member():
            operand = expressions.check_expression(m, node)
            if not operand.is_poison:
                m.reporter.report(
                    r.TYPE_MISMATCH, f"`{node.name}` is a constant and can't be assigned to", Label(node.start, node.end)
                )
            return None
        case _:
            m.reporter.report(r.TYPE_MISMATCH, "this can't be assigned to", Label(node.start, node.end))
            return None


def _find_variable(m: MethodChecker, node: tree.Name) -> Place | None:
    local = m.find(node.text)
    if local is None:
        constant = m.program.constant(m, m.method.owner, node.text, node)
        if constant is None:
            m.unknown_name(node, node.text)
        elif not constant.is_poison:
            m.reporter.report(
                r.TYPE_MISMATCH, f"`{node.text}` is a constant and can't be assigned to", Label(node.start, node.end)
            )
        return None
    if local.type == POISON:
        return None
    if local.slot is None:
        m.unsupported(node, "assigning to an array variable")
        return None
    assert isinstance(local.type, (Scalar, Vector))
    place = Place(node, local.type, Label(local.start, local.end, f"declared as `{local.type}`"))
    place.slot = local.slot
    return place


def _find_element(m: MethodChecker, node: tree.Index) -> Place | None:
    whole = expressions.check_value(m, node.object)
    index = memory.check_subscript(m, node.index)
    if whole.is_poison or index is None:
        return None
    if isinstance(whole.type, Array):
        m.at(node.start, node.end)
        if not memory.is_inside(m, node, whole.type, index, 1, "index"):
            return None
        place = Place(node, whole.type.element, Label(whole.start, whole.end, f"`{whole.type}`"))
        place.array, place.index = whole.value, memory.place_of(m, whole.type, index)
        return place
    if not isinstance(whole.type, Vector):
        lanes.refuse_subscript(m, whole)
        return None
    if index.op == "const" and not lanes.lane_exists(m, whole.type, index, node.index):
        return None
    return _lane_of(m, node, node.object, whole, index)


def _find_component(m: MethodChecker, node: tree.Member) -> Place | None:
    whole = expressions.check_value(m, node.object)
    if whole.is_poison:
        return None
    picks = lanes.find_components(m, node, whole)
    if picks is None:
        return None
    if len(picks) > 1:
        m.reporter.report(r.TYPE_MISMATCH, "several components can be read at once, not written", Label(node.start, node.end))
        return None
    m.at(node.start, node.end)
    return _lane_of(m, node, node.object, whole, Value("const", Scalar("s", 32), (), picks[0], node.start, node.end))


def _lane_of(m: MethodChecker, node: tree.Node, object: tree.Node, whole: Operand, index: Value) -> Place | None:
    local = m.find(object.text) if isinstance(object, tree.Name) else None
    if local is None or local.slot is None:
        m.reporter.report(
            r.TYPE_MISMATCH,
            "a lane can be written only in a variable",
            Label(object.start, object.end, "this is a value"),
            helps=[Help("store the vector in a variable first")],
        )
        return None
    assert isinstance(whole.type, Vector)
    place = Place(node, whole.type.element, Label(local.start, local.end, f"declared as `{local.type}`"))
    place.slot, place.index = local.slot, index
    return place
