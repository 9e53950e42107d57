"""Assignments where a comparison is meant: `if (a = b)`. The grammar allows them, since an assignment is an expression."""

from __future__ import annotations

from .tree import Assignment, Block, Catch, Class, Constructor, DoWhile, For, If, Labeled, Method, Try, While

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .problems import Problem
    from .tree import Node, Unit

# Where statements are inside of what. What is not named here holds none.
CHILDREN: dict[type, Callable[[Any], Iterable[Node | None]]] = {
    Class: lambda node: node.members,
    Method: lambda node: (node.body,),
    Constructor: lambda node: (node.body,),
    Block: lambda node: node.items,
    If: lambda node: (node.then, node.otherwise),
    While: lambda node: (node.body,),
    DoWhile: lambda node: (node.body,),
    For: lambda node: (node.body,),
    Labeled: lambda node: (node.statement,),
    Try: lambda node: (node.body, *node.catches, node.finally_body),
    Catch: lambda node: (node.body,),
}


def find_assigned_conditions(unit: Unit, text: str) -> list[Problem]:
    """A problem for each condition that is an assignment; one in parentheses of its own is meant to be one."""
    found: list[Problem] = []
    work: list[Node | None] = list(unit.members)
    while work:
        node = work.pop()
        children = CHILDREN.get(type(node))
        if children is None:
            continue
        work += children(node)
        if isinstance(node, If | While | DoWhile | For):
            condition = node.condition
            if type(condition) is Assignment and condition.operator in ("=", "#=") and not _is_parenthesized(node, text):
                found.append(_describe(condition))
    return found


def _is_parenthesized(node: If | While | DoWhile | For, text: str) -> bool:
    """Is there a `(` in front of the condition besides that of the statement? Comments have to be looked through."""
    from .comments import blank_comments

    assert node.condition is not None
    before = blank_comments(text[node.start : node.condition.start])[0].rstrip()
    return before.endswith("(") and (isinstance(node, For) or before[:-1].rstrip().endswith("("))


def _describe(condition: Assignment) -> Problem:
    from ..diagnostics import Edit
    from ..diagnostics.rules import ASSIGNMENT_IN_CONDITION
    from .problems import Problem

    start = condition.operator_start
    end = start + len(condition.operator)
    return Problem(ASSIGNMENT_IN_CONDITION, start, end, condition.operator, start, edits=(Edit(start, end, "=="),))
