"""Any tree of records as indented text, for `--emit ast`. It knows nothing of the language."""

from __future__ import annotations

from ..record import fields_of

INDENT = "  "
DEEPEST = 60  # levels that are indented; below, the depth is written as a number


def print_tree(root: object) -> str:
    """One line for a record with its plain fields, one block below for each field that holds records.

    Without recursion: a sum of many terms is a deep tree.
    """
    lines: list[str] = []
    work: list[tuple[int, str, object]] = [(0, "", root)]
    while work:
        depth, name, node = work.pop()
        head = INDENT * min(depth, DEEPEST) + (f"({depth}) " if depth > DEEPEST else "") + (f"{name}: " if name else "")
        if isinstance(node, (tuple, list)):
            items: list[object] = [*node]
            lines.append(f"{head}{len(items)}")
            work += [(depth + 1, "", item) for item in reversed(items)]
            continue
        plain: list[str] = []
        below: list[tuple[int, str, object]] = []
        for field in fields_of(type(node)):
            content = getattr(node, field)
            if _holds_records(content):
                below.append((depth + 1, field, content))
            else:
                plain.append(f" {field}={content!r}")
        lines.append(head + (type(node).__name__ if fields_of(type(node)) else repr(node)) + "".join(plain))
        work += reversed(below)
    return "\n".join(lines) + "\n"


def _holds_records(content: object) -> bool:
    if isinstance(content, (tuple, list)):
        items: list[object] = [*content]
        return any(_holds_records(item) for item in items)
    return bool(fields_of(type(content)))
