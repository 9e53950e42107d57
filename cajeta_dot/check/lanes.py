"""Elements of arrays and lanes of vectors: `a[i]`, `v[i]`, `v.x`, `v.wzyx`."""

from __future__ import annotations

from cajeta_dot.diagnostics import Edit, Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.types import Array, Vector

from . import expressions, memory
from .operand import Operand, poison
from .rows import span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Value
    from cajeta_dot.syntax import tree

    from .method import MethodChecker

LETTERS = ("xyzw", "rgba")


def check_index(m: MethodChecker, node: tree.Index) -> Operand:
    """An element or a lane that is read."""
    whole = expressions.check_value(m, node.object)
    index = memory.check_subscript(m, node.index)
    if whole.is_poison or index is None:
        return poison(node)
    m.at(node.start, node.end)
    if isinstance(whole.type, Array):
        return memory.load_element(m, node, whole, index)
    if isinstance(whole.type, Vector):
        return read_lane(m, node, whole, index)
    return refuse_subscript(m, whole)


def refuse_subscript(m: MethodChecker, whole: Operand) -> Operand:
    """`x[i]` where x is neither an array nor a vector."""
    message = f"`{whole.type}` has no elements"
    m.reporter.report(r.TYPE_MISMATCH, message, span(whole, f"`{whole.type}`"))
    return poison(whole)


def read_lane(m: MethodChecker, node: tree.Index, whole: Operand, index: Value) -> Operand:
    """One lane, its number known or not."""
    assert isinstance(whole.type, Vector)
    assert whole.value
    element = whole.type.element
    if index.op != "const":
        return Operand(node, element, m.emitter.emit("extract_at", element, whole.value, index))
    if not lane_exists(m, whole.type, index, node.index):
        return poison(node)
    return Operand(node, element, m.emitter.extract(whole.value, index.attr))


def lane_exists(m: MethodChecker, vector: Vector, index: Value, node: tree.Node) -> bool:
    """Is a constant lane number one of the vector's? Reports if not, at the node."""
    if 0 <= index.attr < vector.lanes:
        return True
    message = f"lane {index.attr} does not exist in `{vector}` (0..{vector.lanes - 1})"
    m.reporter.report(r.NO_SUCH_LANE, message, Label(node.start, node.end))
    return False


def check_component(m: MethodChecker, node: tree.Member) -> Operand:
    """`v.x`, or a few letters for a vector of those lanes."""
    whole = expressions.check_value(m, node.object)
    if whole.is_poison:
        return poison(node)
    picks = find_components(m, node, whole)
    if picks is None:
        return poison(node)
    assert isinstance(whole.type, Vector)
    assert whole.value
    m.at(node.end - len(node.name), node.end)
    if len(picks) == 1:
        return Operand(node, whole.type.element, m.emitter.extract(whole.value, picks[0]))
    value = m.emitter.shuffle(whole.value, whole.value, picks)
    return Operand(node, value.type, value)


def find_components(m: MethodChecker, node: tree.Member, whole: Operand) -> list[int] | None:
    """The lanes that the letters after the dot name. None after a report."""
    start = node.end - len(node.name)
    letters = next((known for known in LETTERS if set(node.name) <= set(known)), None)
    if not isinstance(whole.type, Vector) or letters is None or len(node.name) > 4:
        is_length = isinstance(whole.type, Array) and node.name in ("length", "count", "size")
        helps = [Help("call `count()`", (Edit(start, node.end, "count()"),), "machine")] if is_length else []
        m.reporter.report(r.UNKNOWN_METHOD, f"no member `{node.name}` on `{whole.type}`", Label(start, node.end), helps=helps)
        return None
    picks = [letters.index(letter) for letter in node.name]
    for letter, lane in zip(node.name, picks, strict=True):
        if lane >= whole.type.lanes:
            message = f"component `{letter}` is lane {lane}, which does not exist in `{whole.type}` (0..{whole.type.lanes - 1})"
            m.reporter.report(r.NO_SUCH_LANE, message, Label(start, node.end))
            return None
    return picks
