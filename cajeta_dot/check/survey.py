"""One look at all that a method does, for whoever asks about it later."""

from __future__ import annotations

from cajeta_dot.ir import Barrier, Loop, Value, nested_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Block, Slot


_NOTED = frozenset({"set", "store", "allocate"})


class Survey:
    """`sets` has all stores in each variable. `writes` means to an array that outlives the launch."""

    def __init__(self, body: Block):
        self.sets: dict[Slot, list[Value]] = {}
        self.allocations: list[Value] = []
        self.waits = self.writes = False
        self._around: dict[Value | Loop, Loop | None] = {}  # stores and loops, and the innermost loop around each
        work: list[tuple[Block, Loop | None]] = [(body, None)]
        while work:
            block, loop = work.pop()
            for item in block:
                if type(item) is Value and item.op not in _NOTED:  # as most are
                    continue
                if isinstance(item, Value):
                    if item.op == "set":
                        self.sets.setdefault(item.attr, []).append(item)
                        self._around[item] = loop
                    elif item.op == "store":
                        self.writes = self.writes or item.args[0].op != "shared"
                    elif item.op == "allocate":
                        self.allocations.append(item)
                elif isinstance(item, Loop):
                    self._around[item] = loop
                    work += ((inside, item) for inside in nested_blocks(item))
                elif isinstance(item, Barrier):
                    self.waits = True
                else:
                    work += ((inside, loop) for inside in nested_blocks(item))
        self.has_loop = any(isinstance(item, Loop) for item in self._around)

    def is_inside(self, store: Value, loop: Loop) -> bool:
        """Is it somewhere in the loop?"""
        around = self._around[store]
        while around is not None and around is not loop:
            around = self._around[around]
        return around is loop
