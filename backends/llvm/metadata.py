"""The metadata of one module: numbered nodes, each written once."""

from __future__ import annotations

# What loops say of themselves in a module in which LLVM may do several turns of some at once; without the wish it is not asked.
TURNS_AT_ONCE = '!{!"llvm.loop.interleave.count", i32 4}'
ONE_BY_ONE = '!{!"llvm.loop.vectorize.enable", i1 false}'
RARE = '!{!"branch_weights", i32 1, i32 1048575}'  # of a branch whose first way is hardly ever taken: the first node


class Metadata:
    """Collects nodes while a module is written. `flags` are names of those about the module, `named` other lists of names."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self.flags: list[str] = []
        self.named: dict[str, str] = {}
        self.add(RARE)

    def add(self, node: str) -> str:
        """A node as LLVM spells it, and the name that stands for it: `!3`. Equal ones are one."""
        return self._names.setdefault(node, f"!{len(self._names)}")

    def add_distinct(self, *others: str) -> str:
        """A node that is like no other, because it refers to itself, and then to others."""
        name = f"!{len(self._names)}"
        return self.add(f"distinct !{{{', '.join((name, *others))}}}")

    def write(self) -> list[str]:
        """The end of the module."""
        named = {**self.named, **({"llvm.module.flags": ", ".join(self.flags)} if self.flags else {})}
        return [
            *(f"!{list} = !{{{names}}}" for list, names in named.items()),
            *(f"{name} = {node}" for node, name in self._names.items()),
        ]
