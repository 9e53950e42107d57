"""A tree whose text is no longer the only one: its offsets are moved to where the text begins among others."""

from __future__ import annotations

from ..record import fields_of
from .tree import Node

OFFSETS = frozenset({"start", "end", "operator_start", "what_start", "what_end"})


def shift(root: Node, by: int) -> None:
    """In place, since nobody has seen the tree yet. Without recursion: a sum of many terms is a deep tree."""
    work: list[object] = [root]
    seen: set[int] = set()
    while work:
        item = work.pop()
        if isinstance(item, tuple):
            work.extend(item)  # pyright: ignore[reportUnknownArgumentType] - of nodes
        elif isinstance(item, Node) and id(item) not in seen:
            seen.add(id(item))
            for name in fields_of(type(item)):
                content = getattr(item, name)
                if name in OFFSETS:
                    object.__setattr__(item, name, content + by)
                elif isinstance(content, (tuple, Node)):
                    work.append(content)  # pyright: ignore[reportUnknownArgumentType] - as above
