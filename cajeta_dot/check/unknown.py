"""Names of functions and coordinates that do not exist here, and what other languages mean by them."""

from __future__ import annotations

import re

from cajeta_dot.diagnostics import Edit, Help, Label, nearest
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.syntax import tree
from cajeta_dot.types import Array, Scalar, Type, Vector

from . import builtins, methods
from .operand import Operand, poison

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .method import MethodChecker

# A work item's coordinates in CUDA and GLSL, where they are variables with components, and in OpenCL, where they are
# functions of a number. `{}` is for the axis, `{!}` for the same in capitals.
_VARIABLES = {
    "threadIdx": "KernelThread.{}()",
    "blockIdx": "Workgroup.{}()",
    "blockDim": "Workgroup.dim{!}()",
    "gl_LocalInvocationID": "KernelThread.{}()",
    "gl_GlobalInvocationID": "KernelThread.globalId{!}()",
    "gl_WorkGroupID": "Workgroup.{}()",
    "gl_WorkGroupSize": "Workgroup.dim{!}()",
}
_NUMBERED = {
    "get_local_id": "KernelThread.{}()",
    "get_global_id": "KernelThread.globalId{!}()",
    "get_group_id": "Workgroup.{}()",
    "get_local_size": "Workgroup.dim{!}()",
}
_BARRIERS = ("__syncthreads", "barrier", "workgroupBarrier", "GroupMemoryBarrierWithGroupSync", "threadgroup_barrier")
_COUNTS = ("popcount", "__popc", "__popcll", "bitCount", "__builtin_popcount")
_OF_MATH = {full.partition(".")[2]: full for full in builtins.FUNCTIONS if full.startswith("Math.")}
FUNCTIONS = {
    **{f"{before}{name}{behind}": full for name, full in _OF_MATH.items() for before in ("", "f") for behind in ("", "f")},
    **dict.fromkeys(_COUNTS, "Bits.count"),
}
_SIZES = ("length", "size", "len", "lanes")
_OPERATORS = {
    **{"add": "+", "plus": "+", "sub": "-", "subtract": "-", "minus": "-", "mul": "*", "multiply": "*", "times": "*"},
    **{"div": "/", "divide": "/", "rem": "%", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"},
    **{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}
_COMPONENT = re.compile(r"\s*\.\s*([xyz])(?![\w$])")
_FOR = re.compile(r"(?<![\w$])for\s*\(\Z")
_AXES = "xyz"


def _write(form: str, axis: str) -> str:
    return form.replace("{}", axis).replace("{!}", axis.upper())


def is_barrier(name: str) -> bool:
    """Does another language call the barrier so?"""
    return name in _BARRIERS


def translate_variable(m: MethodChecker, node: tree.Node, name: str) -> Help | None:
    """`threadIdx.x`, the name of a built-in class in small letters, or a keyword that is misspelt or has capitals."""
    text = m.reporter.source.text if m.reporter.source else ""
    component = _COMPONENT.match(text, node.end)
    if name in _VARIABLES and component:
        ours = _write(_VARIABLES[name], component[1])
        return Help(f"it is called `{ours}` here", (Edit(node.start, component.end(), ours),), "machine")
    ours = next((known for known in builtins.CLASSES if known.lower() == name.lower()), None)
    if text[node.end : node.end + 1] != ".":
        ours = name.lower() if name.lower() in ("true", "false") else None
        if ours is None and _is_whole_statement(text, node):
            ours = nearest(name, ("break", "continue", "return"))
    return Help(f"did you mean `{ours}`?", (Edit(node.start, node.end, ours),), "machine") if ours else None


def declare_variable(m: MethodChecker, node: tree.Node, name: str, type: Type | None) -> Help | None:
    """`i = 0;` and `for (i = 0; …)`, where there is no `i` yet."""
    text = m.reporter.source.text if m.reporter.source else ""
    place = _skip_back(text, node.start)
    is_first = text.endswith(("{", "}", ";"), 0, place) or _FOR.search(text, max(place - 20, 0), place)
    if not isinstance(type, (Scalar, Vector)) or not is_first:
        return None
    return Help(f"declare it: `{type} {name}`", (Edit(node.start, node.start, f"{type} "),), "unsafe")


def _skip_back(text: str, place: int) -> int:
    """The place behind the last character before another one. Where a comment ends there, that is it."""
    while place and text[place - 1].isspace():
        place -= 1
    return place


def _is_whole_statement(text: str, node: tree.Node) -> bool:
    return text[node.end : node.end + 1] == ";" and text.endswith(("{", "}", ";", ")"), 0, _skip_back(text, node.start))


def translate_function(m: MethodChecker, node: tree.Call, name: str) -> Help | None:
    """A function that is one of a class here, a coordinate, or a method of what is its first argument."""
    text = m.reporter.source.text if m.reporter.source else ""
    first = node.arguments[0] if node.arguments else None
    if name in _NUMBERED and isinstance(first, tree.Literal) and first.text in ("0", "1", "2") and len(node.arguments) == 1:
        ours = _write(_NUMBERED[name], _AXES[int(first.text)])
    elif name in _BARRIERS:
        ours = "Barrier.workgroup()"
    elif name in FUNCTIONS:
        ours = FUNCTIONS[name]
        return Help(f"it is called `{ours}` here", (Edit(node.callee.start, node.callee.end, ours),), "machine")
    elif first and (name in methods.METHODS or name in methods.ELSEWHERE):
        method = methods.ELSEWHERE.get(name, name)
        rest = text[node.arguments[1].start : node.end - 1] if len(node.arguments) > 1 else ""
        ours = f"{text[first.start : first.end]}.{method}({rest})"
        if not isinstance(first, (tree.Name, tree.Member, tree.Call, tree.Index)):
            return Help(f"`{method}` is a method of vectors: `v.{method}({rest})`")
    else:
        return None
    return Help(f"it is called `{ours}` here", (Edit(node.start, node.end, ours),), "machine")


def translate_method(m: MethodChecker, node: tree.Call, receiver: Operand, name: str, start: int) -> Help | None:
    """What counts elements, and operators that other languages write as methods of vectors."""
    type = receiver.type
    if name in _SIZES and isinstance(type, Array) and not node.arguments:
        return Help("it is called `count` here", (Edit(start, start + len(name), "count"),), "machine")
    if name in (*_SIZES, "count") and isinstance(type, Vector) and not node.arguments:
        return Help(f"it is known: write `{type.lanes}`", (Edit(node.start, node.end, str(type.lanes)),), "machine")
    if name in _OPERATORS and isinstance(type, Vector) and len(node.arguments) == 1 and m.reporter.source:
        text = m.reporter.source.text
        argument = text[node.arguments[0].start : node.arguments[0].end]
        if not isinstance(node.arguments[0], (tree.Name, tree.Call, tree.Literal, tree.Index, tree.Member)):
            argument = f"({argument})"
        ours = f"({text[receiver.start : receiver.end]} {_OPERATORS[name]} {argument})"
        return Help(f"lanes are joined by operators: `{ours}`", (Edit(node.start, node.end, ours),), "machine")
    return None


def refuse_part(m: MethodChecker, node: tree.Member, owner: str) -> Operand:
    """What a built-in class has not: they have functions only, and a name alone calls none."""
    if m.is_host_method:
        return m.outside(node, f"`{owner}.{node.name}`")
    names = {full.partition(".")[2]: full in (*builtins.COORDINATES, builtins.WAIT) for full in builtins.list_names(owner)}
    start = node.end - len(node.name)
    if node.name not in names:
        m.report_unknown(r.UNKNOWN_FUNCTION, f"no function `{node.name}` in `{owner}`", start, node.end, node.name, names)
        return poison(node)
    message = f"`{node.name}` is a function of `{owner}`, found its name without a call"
    helps = [Help(f"call it: `{owner}.{node.name}(…)`")]
    if names[node.name]:
        helps = [Help("call it", (Edit(node.end, node.end, "()"),), "machine")]
    m.reporter.report(r.UNKNOWN_FUNCTION, message, Label(start, node.end, "not called"), helps=helps)
    return poison(node)
