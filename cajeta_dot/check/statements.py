"""Statements: one function for each kind of node, found in a table. They build blocks, loops and branches."""

from __future__ import annotations

from cajeta_dot.diagnostics import Edit, Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Break, Continue, If, Loop, Return
from cajeta_dot.record import replace
from cajeta_dot.syntax import tree
from cajeta_dot.types import BOOLEAN, POISON, VOID, Array, Type

from . import MAX_NESTING, assign, expressions
from .dots import DOT_NAMES
from .method import LoopState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from cajeta_dot.ir import Block, Slot, Value

    from .method import Local, MethodChecker


MAX_LINKS = 16  # of `else if` that become branches inside one another


def check_statement(m: MethodChecker, node: tree.Node) -> None:
    """Check one statement; what cannot be reached is checked too, but leaves no code."""
    program = m.program
    program.depth += 1
    if program.depth <= MAX_NESTING:
        before = m.emit_into([]) if m.assigned is None else m.emitter.block
        STATEMENTS[node.__class__](m, node)
        m.emit_into(before)
    else:
        m.refuse_depth(node)
    program.depth -= 1


def check_body(m: MethodChecker, block: tree.Block) -> None:
    """The body of a method, and whether it can end without the result that it owes."""
    for item in block.items:
        check_statement(m, item)
    method = m.method
    if m.assigned is None or method.result == VOID or method.result == POISON:
        return
    name = method.node.name
    m.reporter.report(
        r.MISSING_RETURN,
        f"`{method.name}` can end without a value of type `{method.result}`",
        Label(name.start, name.end, "not every path returns"),
        [Label(method.node.type.start, method.node.type.end, "this is what it owes")],
    )


def _check_block(m: MethodChecker, node: tree.Block) -> None:
    m.enter_scope()
    for item in node.items:
        check_statement(m, item)
    m.leave_scope()


def _check_nested(m: MethodChecker, node: tree.Node) -> Block:
    """A statement that is the body of another one: its own scope, its own block."""
    block: Block = []
    before = m.emit_into(block)
    m.enter_scope()
    check_statement(m, node)
    m.leave_scope()
    m.emit_into(before)
    return block


# ---- declarations


def _check_declaration(m: MethodChecker, node: tree.Declaration) -> None:
    outside = m.resolver.outside(node.type)
    type = m.outside(node.type, outside).type if outside else m.resolver.resolve(node.type)
    for declarator in node.declarators:
        if declarator.brackets:
            local = m.outside(declarator, "brackets behind a name").type
            m.declare(declarator.name, local, declarator.start, declarator.start + len(declarator.name))
            expressions.search_names(m, (declarator.value,) if declarator.value else ())
        elif outside and m.method.kind != "host":  # one report is enough
            m.declare(declarator.name, type, declarator.start, declarator.start + len(declarator.name))
        else:
            _declare(m, node, declarator, type)


def _declare(m: MethodChecker, node: tree.Declaration, declarator: tree.Declarator, type: Type) -> None:
    start, end = declarator.start, declarator.start + len(declarator.name)
    if type == VOID:
        m.reporter.report(r.TYPE_MISMATCH, "a variable can't be `void`", Label(node.type.start, node.type.end))
        type = POISON
    value = expressions.check_value(m, declarator.value) if declarator.value else None
    local = m.declare(declarator.name, type, start, end)
    if value is None:
        if isinstance(type, Array):
            m.unsupported(declarator, "an array variable without a value")
            local.type = POISON
        elif local.slot:
            m.await_value(local.slot)
        return
    m.at(value.start, value.end)
    label = Label(node.type.start, node.type.end, "expected by this")
    converted = m.converter.convert(value, type, label)
    if isinstance(type, Array):
        local.array = converted
        known = converted.type if converted else None
        local.type = replace(type, length=known.length) if isinstance(known, Array) else POISON
        return
    if local.slot is None:
        return
    if converted:
        m.at(start, end)
        m.emitter.set(local.slot, converted)
        assign.remember_nibble(m, local.slot, converted)


# ---- expressions as statements


def _check_expression_statement(m: MethodChecker, node: tree.ExpressionStatement) -> None:
    expression = node.expression
    if isinstance(expression, tree.Unary) and expression.operator in ("++", "--"):
        assign.check_step(m, expression, is_statement=True)
        return
    operand = expressions.check_expression(m, expression)
    if isinstance(expression, tree.Call) and operand.value and operand.value.op == "method":
        _warn_unused(m, expression)
    elif isinstance(expression, tree.Binary) and expression.operator == "==" and not operand.is_poison:
        _warn_compared(m, expression)


def _warn_compared(m: MethodChecker, node: tree.Binary) -> None:
    """`x == 1;` stores nothing."""
    start, end = node.operator_start, node.operator_start + len(node.operator)
    text = m.reporter.source.text[node.left.start : node.left.end] if m.reporter.source else ""
    is_place = isinstance(node.left, (tree.Name, tree.Index, tree.Member))
    effect = f"; it does not change `{text}`" if is_place else ""
    m.reporter.report(
        r.UNUSED_RESULT,
        f"result of `{node.operator}` is not used{effect}",
        Label(start, end, "compares"),
        helps=[Help("assign with `=`", (Edit(start, end, "="),), "unsafe")] if is_place else [],
    )


def _warn_unused(m: MethodChecker, node: tree.Call) -> None:
    """A dot operation changes nothing by itself."""
    callee = node.callee
    if not isinstance(callee, tree.Member) or callee.name not in DOT_NAMES:
        return
    accumulator = node.arguments[1] if len(node.arguments) > 1 else None
    text = m.reporter.source.text[accumulator.start : accumulator.end] if accumulator and m.reporter.source else ""
    is_variable = isinstance(accumulator, tree.Name)
    effect = f"; it does not change `{text}`" if is_variable else ""
    fix = (Edit(node.start, node.start, f"{text} = "),)
    m.reporter.report(
        r.UNUSED_RESULT,
        f"result of `{callee.name}` is not used{effect}",
        Label(callee.end - len(callee.name), node.end),
        helps=[Help("assign it", fix, "machine")] if is_variable else [],
    )


# ---- branches and loops


def _check_if(m: MethodChecker, node: tree.If) -> None:
    if _is_long(node):
        _check_chain(m, node)
        return
    condition = expressions.check_condition(m, node.condition)
    start = m.assigned
    then = _check_nested(m, node.then)
    after_then, m.assigned = m.assigned, start
    otherwise = _check_nested(m, node.otherwise) if node.otherwise else []
    m.assigned = m.merge_assigned(after_then, m.assigned)
    if condition:
        m.add(If(condition, then, otherwise))


def _is_long(node: tree.Node | None) -> bool:
    """Is it a chain of `else if` that would be nested too deeply?"""
    for _ in range(MAX_LINKS):
        if not isinstance(node, tree.If):
            return False
        node = node.otherwise
    return isinstance(node, tree.If)


def _check_chain(m: MethodChecker, node: tree.If) -> None:
    """The links one behind the other. A variable says whether none was taken so far, once one was that is not left."""
    pending: Slot | None = None
    ends: list[int | None] = []
    link: tree.Node | None = node
    while link:
        m.at(link.start, link.start + 1)
        inside: Block = []
        open_ = m.emitter.get(pending) if pending else None
        around = m.emit_into(inside) if open_ else m.emitter.block
        if isinstance(link, tree.If):
            condition = expressions.check_condition(m, link.condition)
            start = m.assigned
            then = _check_nested(m, link.then)
            m.at(link.start, link.start + 1)
            if m.assigned is not None:
                if pending is None:
                    pending = m.temporary(BOOLEAN)
                    m.emitter.set(pending, m.emitter.const(BOOLEAN, True))
                before = m.emit_into(then)
                m.emitter.set(pending, m.emitter.const(BOOLEAN, False))
                m.emit_into(before)
            ends.append(m.assigned)
            m.assigned = start
            if condition:
                m.add(If(condition, then, []))
            link = link.otherwise
        else:
            m.emitter.block.extend(_check_nested(m, link))
            link = None
        m.emit_into(around)
        if open_:
            m.add(If(open_, inside, []))
    m.assigned = m.merge_assigned(*ends, m.assigned)


def _check_while(m: MethodChecker, node: tree.While) -> None:
    _build_loop(m, node.condition, node.body, ())


def _check_for(m: MethodChecker, node: tree.For) -> None:
    m.enter_scope()
    for first in node.start_with:
        if isinstance(first, tree.Declaration):
            _check_declaration(m, first)
        else:
            _check_step_expression(m, first)
    _build_loop(m, node.condition, node.body, node.updates)
    m.leave_scope()


def _check_step_expression(m: MethodChecker, node: tree.Node) -> None:
    if isinstance(node, tree.Unary) and node.operator in ("++", "--"):
        assign.check_step(m, node, is_statement=True)
    else:
        expressions.check_expression(m, node)


def _build_loop(m: MethodChecker, condition: tree.Node | None, body: tree.Node, updates: Sequence[tree.Node]) -> None:
    """`while` and `for`: the test comes first. A loop on `true` ends only through its breaks."""
    test: Block = []
    before = m.emit_into(test)
    value = expressions.check_condition(m, condition) if condition else None
    m.emit_into(before)
    forever = condition is None or _is_true(value)
    state = LoopState()
    m.loops.append(state)
    after_test = m.assigned
    body_block = _check_nested(m, body)
    m.assigned = m.merge_assigned(m.assigned, *state.at_continue)
    update: Block = []
    m.emit_into(update)
    for step in updates:
        _check_step_expression(m, step)
    m.emit_into(before)
    m.loops.pop()
    m.assigned = m.merge_assigned(None if forever else after_test, *state.at_break)
    if forever:
        m.add(Loop([], None, body_block, update))
    elif value:
        m.add(Loop(test, value, body_block, update))


def _is_true(condition: Value | None) -> bool:
    return condition is not None and condition.op == "const" and condition.attr is True


def _check_do(m: MethodChecker, node: tree.DoWhile) -> None:
    state = LoopState()
    m.loops.append(state)
    body = _check_nested(m, node.body)
    m.assigned = m.merge_assigned(m.assigned, *state.at_continue)
    update: Block = []
    before = m.emit_into(update)
    repeats = m.assigned is not None  # else every path through the body leaves the loop
    again = expressions.check_condition(m, node.condition)
    m.emit_into(before)
    m.loops.pop()
    m.assigned = m.merge_assigned(None if _is_true(again) else m.assigned, *state.at_break)
    if not repeats or _is_true(again):
        m.add(Loop([], None, body, update if repeats else []))
    elif again:
        m.add(Loop([], None, body, update, again))


def _check_jump(m: MethodChecker, node: tree.Jump) -> None:
    if node.label:
        m.unsupported(node, f"`{node.word}` with a label")
        return
    if not m.loops:
        m.reporter.report(r.SYNTAX, f"`{node.word}` stands outside a loop", Label(node.start, node.end))
        return
    states = m.loops[-1].at_break if node.word == "break" else m.loops[-1].at_continue
    if m.assigned is not None:
        states.append(m.assigned)
    m.add(Break() if node.word == "break" else Continue())
    m.assigned = None


# ---- leaving


def _check_return(m: MethodChecker, node: tree.Return) -> None:
    value = _check_returned(m, node)
    if m.method.result == VOID or value:
        m.add(Return(value))
    m.assigned = None


def _check_returned(m: MethodChecker, node: tree.Return) -> Value | None:
    method = m.method
    if node.value is None:
        if method.result not in (VOID, POISON):
            m.reporter.report(
                r.MISSING_RETURN,
                f"`{method.name}` returns `{method.result}`, found no value",
                Label(node.start, node.end, "a value is missing"),
                [Label(method.node.type.start, method.node.type.end, "this is what it owes")],
            )
        return None
    operand = expressions.check_expression(m, node.value)
    if method.result == VOID:
        _refuse_value(m, node.value)
        return None
    m.at(node.start, node.end)
    label = Label(method.node.type.start, method.node.type.end, f"`{method.name}` returns this")
    return m.converter.convert(operand, method.result, label)


def _refuse_value(m: MethodChecker, value: tree.Node) -> None:
    method = m.method
    header = Label(method.node.name.start, method.node.name.end, f"{'kernel' if method.kind == 'kernel' else 'method'} header")
    place = Label(value.start, value.end, "this value goes nowhere")
    if method.kind == "kernel":
        message = "a kernel returns nothing; write the result to an array argument"
        m.reporter.report(r.KERNEL_RETURNS, message, place, [header], helps=[Help("store it: `out[i] = …`")])
    else:
        m.reporter.report(r.RETURN_FROM_VOID, f"`{method.name}` is `void` and returns a value", place, [header])


# ---- the rest


def _check_empty(m: MethodChecker, node: tree.Node) -> None:
    pass


def _check_throw(m: MethodChecker, node: tree.Throw) -> None:
    m.outside(node, "`throw`")
    expressions.search_names(m, (node.value,))
    m.assigned = None


def _check_try(m: MethodChecker, node: tree.Try) -> None:
    m.outside(node, "`try`")
    m.skip_text(node)


def _check_foreign(m: MethodChecker, node: tree.Foreign) -> None:
    m.outside(tree.Empty(node.what_start, node.what_end), node.what)
    m.skip_text(node)


def _check_labeled(m: MethodChecker, node: tree.Labeled) -> None:
    check_statement(m, node.statement)


def declare_parameters(m: MethodChecker) -> list[Local]:
    """Parameters are variables: scalars and vectors are copied into slots, arrays are used as they are."""
    function = m.method.function
    assert function
    locals_: list[Local] = []
    for value in function.params:
        local = m.declare(value.attr, value.type, value.start, value.end)
        if isinstance(value.type, Array):
            local.array = value
        elif local.slot:
            m.at(value.start, value.end)
            m.emitter.set(local.slot, value)
        locals_.append(local)
    return locals_


STATEMENTS: dict[type, Callable[[MethodChecker, Any], None]] = {
    tree.Block: _check_block,
    tree.Declaration: _check_declaration,
    tree.ExpressionStatement: _check_expression_statement,
    tree.If: _check_if,
    tree.While: _check_while,
    tree.For: _check_for,
    tree.DoWhile: _check_do,
    tree.Jump: _check_jump,
    tree.Return: _check_return,
    tree.Throw: _check_throw,
    tree.Try: _check_try,
    tree.Labeled: _check_labeled,
    tree.Foreign: _check_foreign,
    tree.Empty: _check_empty,
    tree.Bad: _check_empty,
}
