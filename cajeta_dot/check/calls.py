"""Calls: methods of values, functions of classes, built-ins, constructors and memory."""

from __future__ import annotations

from cajeta_dot.diagnostics import Edit, Help, Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Barrier
from cajeta_dot.syntax import tree
from cajeta_dot.syntax.elsewhere import TYPES
from cajeta_dot.syntax.tree import simple_name
from cajeta_dot.types import UINT32, VOID, Array, Vector

from . import builtins, expressions, masks, memory, methods, upstream
from .assign import unmasked_shift
from .dots import DOT_NAMES
from .operand import Operand, poison
from .reach import refuse_skipped
from .rows import Call, Row
from .unknown import is_barrier, translate_function, translate_method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.ir import Value

    from .method import MethodChecker
    from .program import Method


def check_call(m: MethodChecker, node: tree.Call) -> Operand:
    """Any `f(…)`, `x.f(…)` and `x.f<…>(…)`."""
    match node.callee:
        case tree.Name(text=text) if node.type_arguments and text == "Vector":
            return _construct(m, node, node.type_arguments, node.arguments)
        case tree.Name(text=text) if node.start < node.callee.start:  # `(Name) (x)`
            if text in TYPES:
                m.resolver.resolve(tree.NamedType(node.callee.start, node.callee.end, node.callee))
                return poison(node)
            operand = m.outside(node, "a cast to a class")
            expressions.search_names(m, node.arguments)
            return operand
        case tree.Name(text=text):
            return _call_function(m, node, m.method.owner, text)
        case tree.Member(object=object, name=name):
            owner = expressions.class_name(m, object)
            if owner:
                return _call_function(m, node, owner, name)
            return _call_method(m, node, object, name)
        case _:
            operand = m.outside(node.callee, "a call of a value")
            inner = node.callee.arguments if isinstance(node.callee, tree.Call) else ()
            expressions.search_names(m, (*inner, *node.arguments))
            return operand


def _name_start(node: tree.Call) -> int:
    """Where the name of what is called stands."""
    callee = node.callee
    return callee.end - len(callee.name) if isinstance(callee, tree.Member) else callee.start


def _check_arguments(m: MethodChecker, node: tree.Call) -> list[Operand] | None:
    """All arguments, left to right; None if one of them was reported."""
    operands = [expressions.check_value(m, argument) for argument in node.arguments]
    return None if any(o.is_poison for o in operands) else operands


# ---- functions of classes


def _call_function(m: MethodChecker, node: tree.Call, owner: str, name: str) -> Operand:
    full = f"{owner}.{name}"
    if m.program.has_class(owner):
        return _call_user(m, node, owner, name)
    if full in builtins.COORDINATES:
        return _read_coordinate(m, node, builtins.COORDINATES[full])
    if full == builtins.WAIT:
        return _wait(m, node)
    row = builtins.FUNCTIONS.get(full)
    if row is None and full != "Cajeta.vload16":
        return _unknown_function(m, node, owner, name)
    arguments = _check_arguments(m, node)
    if arguments is None:
        return poison(node)
    if row is None:
        return memory.load_sixteen(m, node, arguments, _name_start(node))
    call = Call(full, None, arguments, node.callee.start, node.end, m.converter)
    m.at(_name_start(node), node.end)
    return _apply(m, node, row, call)


def _unknown_function(m: MethodChecker, node: tree.Call, owner: str, name: str) -> Operand:
    assert isinstance(node.callee, tree.Member)
    if owner not in builtins.CLASSES:
        operand = m.program.unknown_class(m, node.callee.object, owner)
        expressions.search_names(m, node.arguments)
        return operand
    if m.is_host_method and name in upstream.FUNCTIONS:
        _check_arguments(m, node)
        return m.outside(node, f"`{owner}.{name}`")
    known = (full.partition(".")[2] for full in builtins.list_names(owner))
    start, full = _name_start(node), f"{owner}.{name}"
    if full not in m.said:
        m.said.add(full)
        message = f"no function `{name}` in `{owner}`"
        m.report_unknown(r.UNKNOWN_FUNCTION, message, start, start + len(name), name, known)
    return poison(node)


def _read_coordinate(m: MethodChecker, node: tree.Call, what: str) -> Operand:
    if node.arguments:
        _refuse_arguments(m, node)
        return poison(node)
    if m.method.kind == "host":
        return m.outside(node, "a work item's coordinate")
    m.at(_name_start(node), node.end)
    return Operand(node, UINT32, m.emitter.emit("coordinate", UINT32, attr=what))


def _refuse_arguments(m: MethodChecker, node: tree.Call) -> None:
    """Of a function that has no parameters."""
    assert m.reporter.source
    name = m.reporter.source.text[node.callee.start : node.callee.end]
    message = f"`{name}` takes no arguments, found {len(node.arguments)}"
    m.reporter.report(r.WRONG_ARGUMENTS, message, Label(node.callee.start, node.callee.end))


def _wait(m: MethodChecker, node: tree.Call) -> Operand:
    """`Barrier.workgroup()`; whether all items reach it is asked when the method is complete."""
    if node.arguments:
        _refuse_arguments(m, node)
        return poison(node)
    if m.method.kind == "host":
        return m.outside(node, "a barrier")
    m.add(Barrier(node.start, node.end))
    return Operand(node, VOID)


def _call_user(m: MethodChecker, node: tree.Call, owner: str, name: str) -> Operand:
    start = _name_start(node)
    full, overloads = f"{owner}.{name}", m.program.overloads(owner, name)
    if not overloads:
        help = translate_function(m, node, name) if isinstance(node.callee, tree.Name) else None
        for argument in node.arguments if help is None or not is_barrier(name) else ():  # a fence is a name of theirs too
            expressions.check_expression(m, argument)
        if m.is_host_method and m.program.may_lie_elsewhere(owner, name):
            return m.outside(node, f"`{name}`, which is not in this file")
        if full not in m.said:
            m.said.add(full)
            message = f"no function `{name}` in `{owner}`"
            known = m.program.method_names(owner)
            m.report_unknown(r.UNKNOWN_FUNCTION, message, start, start + len(name), name, known, help=help)
        return poison(node)
    operands = [expressions.check_value(m, argument) for argument in node.arguments]
    callee = overloads.get(len(operands))
    if callee is None and m.is_host_method and any(upstream.takes_fewer(one.node) for one in overloads.values()):
        return m.outside(node, f"`{name}`, whose parameters have defaults")
    if callee is None:
        takes = " or ".join(str(count) for count in sorted(overloads))
        plural = "" if takes == "1" else "s"
        message = f"`{name}` takes {takes} argument{plural}, found {len(operands)}"
        heads = [one.node.name for one in overloads.values()]
        labels = [Label(head.start, head.end, "defined here") for head in heads]
        m.reporter.report(r.WRONG_ARGUMENTS, message, Label(start, start + len(name)), labels)
        return poison(node)
    return _call_checked(m, node, callee, operands)


def _call_checked(m: MethodChecker, node: tree.Call, callee: Method, operands: Sequence[Operand]) -> Operand:
    start = _name_start(node)
    place = Label(start, start + len(callee.name))
    if callee.kind == "kernel":
        return m.outside(node, f"a call of kernel `{callee.name}`")
    if callee.outside and m.method.kind == "host":
        return m.outside(node, f"`{callee.name}`, which is skipped")
    if callee.outside:
        refuse_skipped(callee, place, m.reporter)
        return poison(node)
    if callee.function is None:  # constants are computed before there are functions
        m.reporter.report(r.NOT_CONSTANT, f"a constant can't be computed by `{callee.name}`", place)
        return poison(node)
    if m.method.kind != "host" and callee.kind == "host" and any(isinstance(p.type, Array) for p in callee.function.params):
        if callee.full_name not in m.said:
            m.said.add(callee.full_name)
            m.reporter.report(
                r.HOST_METHOD_IN_KERNEL,
                f"kernels can't call `{callee.name}`: it is a host method and touches an array",
                place,
                [Label(callee.node.name.start, callee.node.name.end, "not marked `@Device`")],
                helps=[Help("mark it `@Device`", (Edit(callee.node.start, callee.node.start, "@Device "),), "unsafe")],
            )
        return poison(node)
    values: list[Value] = []
    for operand, parameter in zip(operands, callee.function.params, strict=True):
        label = Label(parameter.start, parameter.end, f"`{parameter.attr}` is `{parameter.type}`")
        m.at(operand.start, operand.end)
        value = m.converter.convert(operand, parameter.type, label, r.WRONG_ARGUMENTS)
        if value:
            values.append(value)
    if len(values) < len(operands):
        return poison(node)
    m.at(start, node.end)
    m.method.calls.append((callee, place))
    result = m.emitter.emit("call", callee.function.result, *values, attr=callee.function)
    return Operand(node, callee.function.result, result)


# ---- methods of values


def _call_method(m: MethodChecker, node: tree.Call, object: tree.Node, name: str) -> Operand:
    receiver = expressions.check_expression(m, object)
    if name in memory.METHODS and isinstance(receiver.type, Array):
        return memory.METHODS[name](m, node, receiver, _name_start(node))
    if (
        receiver.is_poison
        and not m.is_host_method
        and isinstance(object, tree.Member)
        and expressions.class_name(m, object.object)
    ):
        return poison(node)  # as in `System.out.println("…")`: what kernels can't hold may be just what the class is for
    arguments = _check_arguments(m, node)
    if receiver.is_poison or arguments is None:
        return poison(node)
    start = _name_start(node)
    row = methods.METHODS.get(name)
    if row is None or not isinstance(receiver.type, Vector) or not methods.receives(row, receiver.type):
        if m.is_host_method and name in upstream.METHODS:
            return m.outside(node, f"method `{name}`")
        message = f"no method `{name}` on `{receiver.type}`"
        help = translate_method(m, node, receiver, name, start)
        if row is None:
            m.report_unknown(
                r.UNKNOWN_METHOD,
                message,
                start,
                start + len(name),
                name,
                methods.names_on(receiver.type),
                methods.ELSEWHERE.get(name),
                help,
            )
        elif help:
            m.reporter.report(r.UNKNOWN_METHOD, message, Label(start, start + len(name)), helps=[help])
        else:
            whose = "masks, which comparisons of vectors make" if name in masks.NAMES else "vectors"
            helps = [Help(f"`{name}` is a method of {whose}")]
            m.reporter.report(r.UNKNOWN_METHOD, message, Label(start, start + len(name)), helps=helps)
        return poison(node)
    m.at(start, node.end)
    if node.type_arguments:
        m.reporter.report(r.WRONG_ARGUMENTS, f"`{name}` takes no type arguments", Label(start, start + len(name)))
        return poison(node)
    call = Call(name, receiver, arguments, start, node.end, m.converter)
    result = _apply(m, node, row, call)
    if name in DOT_NAMES and not result.is_poison:
        _warn_nibbles(m, call)
    return result


def _apply(m: MethodChecker, node: tree.Call, row: Row, call: Call) -> Operand:
    checked = row.check(call)
    if checked is None:
        return poison(node)
    type, values = checked
    m.at(call.start if call.receiver else _name_start(node), node.end)
    if row.meaning is None:
        return Operand(node, type, row.expand(m.emitter, *values))
    return Operand(node, type, m.emitter.emit("method", type, *values, attr=row))


def _shift_unsigned(m: MethodChecker, shift: Value) -> Help:
    """`raw.asUnsigned() >> 4`, where the text in front of the operator is known to be the operand."""
    at, source = shift.start, m.reporter.source
    text = source.text[:at].rstrip() if source else ""
    stands_alone = shift.args[0].op in ("get", "load", "param") or text.endswith(")")
    edits = (Edit(len(text), len(text), ".asUnsigned()"),) if stands_alone else ()
    return Help("shift unsigned bytes: `.asUnsigned() >> 4`", edits, "unsafe" if edits else "text")


def _warn_nibbles(m: MethodChecker, call: Call) -> None:
    """A high nibble of 15 that became -1 on its way into a dot product."""
    for operand in (call.receiver, call.arguments[0]):
        shift = unmasked_shift(m, operand.value) if operand and operand.value else None
        if shift is None or shift in m.warned:
            continue
        m.warned.add(shift)
        m.reporter.report(
            r.UNMASKED_NIBBLE,
            "`>>` on `int8` copies the sign, so a high nibble of 15 becomes -1",
            Label(shift.start, shift.end, "copies the sign"),
            [Label(shift.args[0].start, shift.args[0].end, "signed")],
            helps=[_shift_unsigned(m, shift)],
        )


# ---- constructors


def check_construct(m: MethodChecker, node: tree.Construct) -> Operand:
    """`heap Vector<T,N>(…)` and `stack Vector<T,N>(…)`: the word means nothing for a vector."""
    if isinstance(node.type, tree.GenericType) and simple_name(node.type.name) == "Vector":
        return _construct(m, node, node.type.arguments, node.arguments)
    operand = m.outside(node, "an object on the heap")
    expressions.search_names(m, node.arguments)
    return operand


def _construct(m: MethodChecker, node: tree.Node, types: Sequence[tree.Node], values: Sequence[tree.Node]) -> Operand:
    if len(types) != 2:
        message = f"`Vector` takes 2 type arguments, an element type and a lane count, found {len(types)}"
        m.reporter.report(r.WRONG_ARGUMENTS, message, Label(node.start, node.end))
        return poison(node)
    element, lanes = m.resolver.lane_type(types[0]), m.resolver.lane_count(types[1])
    operands = [expressions.check_value(m, value) for value in values]
    if element is None or lanes is None or any(o.is_poison for o in operands):
        return poison(node)
    if len(operands) not in (1, lanes):
        wanted = f"{lanes} values, or one for all lanes" if lanes > 1 else "1 value"
        message = f"`Vector<{element},{lanes}>` takes {wanted}, found {len(operands)}"
        zero = (Edit(node.end - 1, node.end - 1, "0"),)
        helps = [] if operands else [Help("write the value of all lanes", zero, "machine")]
        m.reporter.report(r.WRONG_ARGUMENTS, message, Label(node.end - 1, node.end), helps=helps)
        return poison(node)
    m.at(node.start, node.end)
    converted = [m.converter.convert(o, element, mismatch=r.WRONG_ARGUMENTS) for o in operands]
    ready = [v for v in converted if v]
    if len(ready) < len(operands):
        return poison(node)
    type = Vector(element, lanes)
    if len(ready) == 1:
        return Operand(node, type, m.emitter.splat(ready[0], lanes))
    if all(v.op == "const" for v in ready):
        return Operand(node, type, m.emitter.const(type, tuple(v.attr for v in ready)))
    return Operand(node, type, m.emitter.emit("build", type, *ready))
