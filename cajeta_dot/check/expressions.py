"""Expressions: one function for each kind of node, found in a table."""

from __future__ import annotations

from cajeta_dot.diagnostics import Edit, Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import If
from cajeta_dot.syntax import tree
from cajeta_dot.syntax.tree import simple_name
from cajeta_dot.types import BOOLEAN, FLOAT32, FLOAT64, POISON, VOID, Array, Scalar, Type, Vector, element_of

from . import MAX_NESTING, assign, builtins, calls, lanes, memory, unknown
from .literals import LiteralError, decode_float, decode_integer, round_exact
from .method import is_speculable
from .operand import Operand, literal, poison
from .operators import Operation, check_unary, join
from .rows import span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from cajeta_dot.ir import Block, Value

    from .method import MethodChecker


def check_expression(m: MethodChecker, node: tree.Node) -> Operand:
    """The operand that an expression is; its code goes where the method's emitter stands."""
    program = m.program
    program.depth += 1
    operand = EXPRESSIONS[node.__class__](m, node) if program.depth <= MAX_NESTING else m.refuse_depth(node)
    program.depth -= 1
    return operand


def check_value(m: MethodChecker, node: tree.Node) -> Operand:
    """An expression that must have a value: a call of a void method has none."""
    program = m.program  # as in `check_expression`, without another call
    program.depth += 1
    operand = EXPRESSIONS[node.__class__](m, node) if program.depth <= MAX_NESTING else m.refuse_depth(node)
    program.depth -= 1
    if operand.type is VOID:
        m.reporter.report(r.TYPE_MISMATCH, "this call has no value", Label(node.start, node.end, "`void`"))
        return poison(node)
    return operand


def check_condition(m: MethodChecker, node: tree.Node) -> Value | None:
    """A boolean; None after a report."""
    operand = check_value(m, node)
    if operand.is_poison:
        return None
    if operand.type == BOOLEAN and operand.value:
        return operand.value
    is_mask = isinstance(operand.type, Vector) and operand.type.element == BOOLEAN
    helps = [Help("`.any()` or `.all()` makes a boolean of it")] if is_mask else []
    if isinstance(operand.type, Scalar) and operand.type.is_integer:
        helps = [Help("compare it", m.converter.put_around(operand, "", " != 0"), "machine")]
    m.reporter.report(
        r.CONDITION_TYPE,
        f"condition must be `boolean`, found `{operand.type}`",
        span(operand, f"`{operand.type}`"),
        helps=helps,
    )
    return None


# ---- names and literals


def _check_name(m: MethodChecker, node: tree.Name) -> Operand:
    local = m.find(node.text)
    if local is None:
        constant = m.program.constant(m, m.method.owner, node.text, node)
        if constant is None and m.program.overloads(m.method.owner, node.text):
            return m.outside(node, f"method `{node.text}` as a value")
        return constant or m.unknown_name(node, node.text)
    slot = local.slot
    if slot is None:
        return Operand(node, local.type, local.array) if local.array else poison(node)
    if slot in m.awaited and m.lacks_value(slot) and local not in m.unassigned:
        m.unassigned.add(local)  # said once
        m.reporter.report(
            r.NOT_ASSIGNED,
            f"`{node.text}` is used before it has a value",
            Label(node.start, node.end),
            [Label(local.start, local.end, "declared here without a value")],
            helps=[Help("give it a value", (Edit(local.end, local.end, f" = {_zero_of(local.type)}"),), "machine")],
        )
    m.at(node.start, node.end)
    return Operand(node, slot.type, m.emitter.get(slot))


def _zero_of(type: Type) -> str:
    """How a program writes the zero of a type."""
    if isinstance(type, Vector):
        return f"{type}({_zero_of(type.element)})"
    return "false" if type == BOOLEAN else "0"


def _check_member(m: MethodChecker, node: tree.Member) -> Operand:
    owner = class_name(m, node.object)
    if owner is None:
        return lanes.check_component(m, node)
    constant = m.program.constant(m, owner, node.name, node)
    if constant:
        return constant
    if m.program.has_class(owner):
        if m.program.overloads(owner, node.name):
            return m.outside(node, f"method `{node.name}` as a value")
        if m.is_host_method and m.program.may_lie_elsewhere(owner, node.name):
            return m.outside(node, f"`{node.name}`, which is not in this file")
        m.report_unknown(
            r.UNKNOWN_VARIABLE,
            f"no constant `{node.name}` in `{owner}`",
            node.end - len(node.name),
            node.end,
            node.name,
            m.program.constants_of(owner),
        )
        return poison(node)
    if owner in builtins.CLASSES and owner != "Vector":
        return unknown.refuse_part(m, node, owner)
    return m.program.unknown_class(m, node.object, owner)


def class_name(m: MethodChecker, node: tree.Node) -> str | None:
    """The class that a name in front of a dot stands for; None if it is a value."""
    root = node
    while isinstance(root, tree.Member):
        root = root.object
    if not isinstance(root, tree.Name) or m.find(root.text):
        return None
    name = simple_name(node)
    if isinstance(node, tree.Name) and m.program.is_constant(m.method.owner, name):
        return None
    return name if name[:1].isupper() or m.program.has_class(name) else None


def _check_literal(m: MethodChecker, node: tree.Literal) -> Operand:
    m.at(node.start, node.end)
    try:
        match node.kind:
            case "integer":
                number, is_long = decode_integer(node.text)
                return literal(node, number, is_long)
            case "float":
                digits, suffix = decode_float(node.text)
                if not suffix:
                    return literal(node, digits)
                type = FLOAT32 if suffix == "f" else FLOAT64
                return Operand(node, type, m.emitter.const(type, round_exact(digits, type.bits)))
            case "boolean":
                return Operand(node, BOOLEAN, m.emitter.const(BOOLEAN, node.text == "true"))
            case _:
                words = {"string": "a string", "character": "a character literal"}
                return m.outside(node, words.get(node.kind, f"`{node.text}`"))
    except LiteralError as error:
        at = node.start + error.offset
        helps = [Help("leave it out", (Edit(node.start, node.end, error.fix),), "machine")] if error.fix else []
        m.reporter.report(
            r.BAD_LITERAL, error.message, Label(at, max(at + 1, node.end if not error.offset else at + 1)), helps=helps
        )
        return poison(node)


# ---- operators


def _check_binary(m: MethodChecker, node: tree.Binary) -> Operand:
    """`a + b + c + …` is one tree, as deep as it is long: its left side is walked, not followed by recursion."""
    if node.operator in ("&&", "||"):
        return _check_logical(m, node)
    chain, first = [node], node.left
    while isinstance(first, tree.Binary) and first.operator not in ("&&", "||"):
        chain.append(first)
        first = first.left
    left = check_value(m, first)
    for link in reversed(chain):
        right = check_value(m, link.right)
        left = Operation(m.converter, link, link.operator, link.operator_start, left, right).check()
    return left


def _check_logical(m: MethodChecker, node: tree.Binary) -> Operand:
    """The right side runs only if the left one does not decide; code without effects is run always instead."""
    chain: list[tree.Binary] = [node]
    while isinstance(chain[-1].left, tree.Binary) and chain[-1].left.operator == node.operator:
        chain.append(chain[-1].left)
    first = check_value(m, chain[-1].left)
    left = _boolean_of(first)
    for link in reversed(chain):
        block: Block = []
        before, assigned = m.emit_into(block), m.assigned
        second = check_value(m, link.right)
        m.emit_into(before)
        m.assigned = assigned
        sides = (first, second) if link is chain[-1] else (second,)
        _refuse_sides(m, link, [side for side in sides if not side.is_poison and side.type != BOOLEAN])
        left = _join_logical(m, link, left, _boolean_of(second), block)
    return Operand(node, BOOLEAN, left) if left else poison(node)


def _join_logical(m: MethodChecker, node: tree.Binary, left: Value | None, right: Value | None, block: Block) -> Value | None:
    if left is None or right is None:
        return None
    m.at(node.operator_start, node.operator_start + 2)
    is_and = node.operator == "&&"
    if is_speculable(block):
        m.emitter.block.extend(block)
        return m.emitter.binary("and" if is_and else "or", left, right)
    slot = m.temporary(BOOLEAN)
    m.emitter.set(slot, left)
    before = m.emit_into(block)
    m.emitter.set(slot, right)
    m.emit_into(before)
    m.add(If(left, block, []) if is_and else If(left, [], block))
    return m.emitter.get(slot)


def _boolean_of(operand: Operand) -> Value | None:
    return operand.value if operand.type == BOOLEAN else None


def _refuse_sides(m: MethodChecker, node: tree.Binary, wrong: list[Operand]) -> None:
    """One report for an operator, also if both of its sides are no booleans."""
    if not wrong:
        return
    types = [wrong[0].type, *(side.type for side in wrong[1:] if side.type != wrong[0].type)]
    is_mask = all(isinstance(type, Vector) and type.element == BOOLEAN for type in types)
    helps = [Help(f"masks are joined by `{node.operator[0]}`")] if is_mask else []
    if all(isinstance(type, Scalar) and type.is_number for type in types):
        edits = [edit for side in wrong for edit in m.converter.put_around(side, "", " != 0")]
        helps = [Help("compare with 0", tuple(edits), "machine")]
    m.reporter.report(
        r.TYPE_MISMATCH,
        f"`{node.operator}` joins booleans, found {' and '.join(f'`{type}`' for type in types)}",
        Label(node.operator_start, node.operator_start + 2),
        [span(side, f"`{side.type}`") for side in wrong],
        helps=helps,
    )


def _check_unary(m: MethodChecker, node: tree.Unary) -> Operand:
    if node.operator in ("++", "--"):
        return assign.check_step(m, node, is_statement=False)
    return check_unary(m.converter, node, node.operator, check_value(m, node.operand))


def _check_cast(m: MethodChecker, node: tree.Cast) -> Operand:
    type = _cast_type(m, node)
    operand = check_value(m, node.operand)
    if type == POISON or operand.is_poison:
        return poison(node)
    m.at(node.start, node.end)
    if isinstance(type, Scalar) and isinstance(operand.type, Scalar):
        value = m.converter.cast(operand, type)
    elif isinstance(type, Vector) and isinstance(operand.type, Vector) and type.lanes == operand.type.lanes:
        value = m.converter.cast(operand, type.element)
    else:
        value = m.converter.convert(operand, type)
    return Operand(node, type, value) if value else poison(node)


def _cast_type(m: MethodChecker, node: tree.Cast) -> Type:
    outside = m.resolver.outside(node.type)
    if outside:
        return m.outside(node.type, outside).type
    return m.resolver.resolve(node.type)


def _check_conditional(m: MethodChecker, node: tree.Conditional) -> Operand:
    condition = check_condition(m, node.condition)
    sides: list[tuple[Operand, Block]] = []
    start = m.assigned
    ends: list[int | None] = []
    for side in (node.then, node.otherwise):
        block: Block = []
        before, m.assigned = m.emit_into(block), start
        sides.append((check_value(m, side), block))
        m.emit_into(before)
        ends.append(m.assigned)
    m.assigned = m.merge_assigned(*ends)
    (a, a_block), (b, b_block) = sides
    if condition is None or a.is_poison or b.is_poison:
        return poison(node)
    m.at(node.start, node.end)
    if a.is_bare and b.is_bare and is_speculable(a_block) and is_speculable(b_block):
        m.emitter.block.extend([*a_block, *b_block])  # conditions of choices inside
        return _delay_choice(node, condition, a, b)
    return _join_sides(m, node, condition, (a, a_block), (b, b_block))


def _delay_choice(node: tree.Conditional, condition: Value, a: Operand, b: Operand) -> Operand:
    """Two literals are no more typed than one: the choice takes the type it meets."""
    floats = [o.type for o in (a, b) if isinstance(o.type, Scalar) and o.type.is_float]
    widest = max((o.type for o in (a, b) if isinstance(o.type, Scalar)), key=lambda t: t.bits)
    operand = Operand(node, floats[0] if floats else widest)
    operand.choose(condition, a, b)
    operand.is_long = a.is_long or b.is_long
    return operand


def _join_sides(
    m: MethodChecker, node: tree.Conditional, condition: Value, first: tuple[Operand, Block], second: tuple[Operand, Block]
) -> Operand:
    (a, a_block), (b, b_block) = first, second
    values = _convert_sides(m, node, a, a_block, b, b_block)
    if values is None:
        return poison(node)
    x, y, mixed = values
    if isinstance(x.type, Array):
        return m.unsupported(node, "a choice between arrays")
    assert isinstance(x.type, (Scalar, Vector))
    if is_speculable(a_block) and is_speculable(b_block):
        m.emitter.block.extend([*a_block, *b_block])
        chosen = m.emitter.select(condition, x, y)
    else:
        chosen = _branch(m, condition, (x, a_block), (y, b_block))
    result = Operand(node, x.type, chosen)
    result.mixed = mixed
    return result


def _branch(m: MethodChecker, condition: Value, first: tuple[Value, Block], second: tuple[Value, Block]) -> Value:
    """One of two values, of which only one may be computed."""
    x = first[0]
    assert isinstance(x.type, (Scalar, Vector))
    slot = m.temporary(x.type)
    for value, block in (first, second):
        before = m.emit_into(block)
        m.emitter.set(slot, value)
        m.emit_into(before)
    m.add(If(condition, first[1], second[1]))
    return m.emitter.get(slot)


def _convert_sides(
    m: MethodChecker, node: tree.Conditional, a: Operand, a_block: Block, b: Operand, b_block: Block
) -> tuple[Value, Value, bool] | None:
    """Both sides at the type that a binary operation of them would have, each converted in its own block; and whether that
    is unsigned only by mixing."""
    if a.type == b.type and a.value and b.value:
        return a.value, b.value, a.mixed or b.mixed
    if not _is_joined(a) or not _is_joined(b):
        m.converter.report_mismatch(b, a.type, span(a, f"`{a.type}`"))
        return None
    trial: Block = []
    before = m.emit_into(trial)
    operation = Operation(m.converter, node, "?:", node.start, a, b)
    operation.end = node.end
    joined = join(m.converter, a, b, operation)
    m.emit_into(before)
    if joined is None:
        return None
    shape = joined[0].type
    values: list[Value | None] = []
    for side, block in ((a, a_block), (b, b_block)):
        before = m.emit_into(block)
        value = m.converter.cast(side, element_of(shape))
        if value and isinstance(shape, Vector) and not isinstance(side.type, Vector):
            value = m.emitter.splat(value, shape.lanes)
        values.append(value)
        m.emit_into(before)
    x, y = values
    return (x, y, joined[2]) if x and y else None


def _is_joined(side: Operand) -> bool:
    """Numbers and lanes of them meet as they do at an operator."""
    return isinstance(side.type, (Scalar, Vector)) and element_of(side.type) != BOOLEAN


# ---- what stands in other modules


def _check_assignment(m: MethodChecker, node: tree.Assignment) -> Operand:
    return assign.check_assignment(m, node)


def _check_array_literal(m: MethodChecker, node: tree.ArrayLiteral) -> Operand:
    operand = m.outside(node, "an array literal")
    search_names(m, node.elements)
    return operand


def _check_keyword_argument(m: MethodChecker, node: tree.KeywordArgument) -> Operand:
    operand = m.outside(node, "a named argument")
    search_names(m, (node.value,))
    return operand


def search_names(m: MethodChecker, nodes: Sequence[tree.Node]) -> None:
    """The parts of what is outside the dialect: in a host method, the names in them must exist all the same."""
    for node in nodes if m.method.kind == "host" else ():
        check_expression(m, node)


EXPRESSIONS: dict[type, Callable[[MethodChecker, Any], Operand]] = {
    tree.Name: _check_name,
    tree.Member: _check_member,
    tree.Literal: _check_literal,
    tree.Binary: _check_binary,
    tree.Unary: _check_unary,
    tree.Assignment: _check_assignment,
    tree.Conditional: _check_conditional,
    tree.Cast: _check_cast,
    tree.Index: lanes.check_index,
    tree.Call: calls.check_call,
    tree.KeywordArgument: _check_keyword_argument,
    tree.Construct: calls.check_construct,
    tree.Allocate: memory.check_allocate,
    tree.ArrayLiteral: _check_array_literal,
}
