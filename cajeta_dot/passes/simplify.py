"""Variables that are set once become values, and what nobody uses goes. Works in place on a program fresh from the checker.

Most locals of a program are never assigned again: without a slot they are easier to read, and every analysis sees through
them. Nothing that could be a run-time error is dropped, so that an unused load out of bounds is still found.
"""

from __future__ import annotations

from cajeta_dot.ir import EFFECTS, If, Loop, Return, Value, can_fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Block, Function, Program, Slot


def simplify(program: Program) -> None:
    """Simplify every function."""
    for function in program.functions:
        simplify_function(function)


def simplify_function(function: Function) -> None:
    """Three passes: what each read of a variable reads, that put in its place, and from the end what is left over."""
    reads = _Reads()
    reads.block(function.body)
    replacing = _Replacing(*reads.result())
    replacing.block(function.body)
    dropping = _Dropping(replacing.read)
    dropping.block(function.body)
    function.slots = [slot for slot in function.slots if slot in dropping.slots]


class _Reads:
    """For each get the value that was stored before it. `hidden` are slots that are read where no store is in sight."""

    def __init__(self) -> None:
        self.sets: dict[Slot, int] = {}
        self.known: dict[Slot, Value] = {}
        self.found: dict[Value, Value] = {}
        self.hidden: set[Slot] = set()

    def result(self) -> tuple[dict[Value, Value], set[Slot]]:
        """The gets of slots that are set once, before all gets, with what they stand for; and those slots."""
        once = {slot for slot, count in self.sets.items() if count == 1} - self.hidden
        now: dict[Value, Value] = {}
        for get, value in self.found.items():
            if get.attr in once:
                now[get] = now.get(value, value)  # an earlier get of another such slot has been followed already
        return now, once

    def block(self, block: Block) -> list[Slot]:
        """Returns what is stored in the block itself, which is still in sight."""
        stored: list[Slot] = []
        for item in block:
            if isinstance(item, Value):
                if item.op == "set":
                    slot: Slot = item.attr
                    self.sets[slot] = self.sets.get(slot, 0) + 1
                    self.known[slot] = item.args[0]
                    stored.append(slot)
                elif item.op == "get":
                    value = self.known.get(item.attr)
                    if value is None:
                        self.hidden.add(item.attr)
                    else:
                        self.found[item] = value
            elif isinstance(item, If):
                self.forget(self.block(item.then))
                self.forget(self.block(item.otherwise))
            elif isinstance(item, Loop):
                tested = self.block(item.test)
                self.forget(self.block(item.body))
                self.forget(self.block(item.update))
                self.forget(tested)
        return stored

    def forget(self, stored: list[Slot]) -> None:
        for slot in stored:
            self.known.pop(slot, None)


class _Replacing:
    """Puts values in place of gets. `read` are the slots that are still read then."""

    def __init__(self, now: dict[Value, Value], promoted: set[Slot]):
        self.now, self.promoted = now, promoted
        self.read: set[Slot] = set()

    def block(self, block: Block) -> None:
        now = self.now
        kept: Block = []
        for item in block:
            if isinstance(item, Value):
                op = item.op
                if op == "get":
                    if item in now:
                        continue
                    self.read.add(item.attr)
                elif op == "set" and item.attr in self.promoted:
                    continue
                for arg in item.args:
                    if arg in now:
                        item.args = tuple([now.get(a, a) for a in item.args])
                        break
            elif isinstance(item, If):
                item.condition = now.get(item.condition, item.condition)
                self.block(item.then)
                self.block(item.otherwise)
            elif isinstance(item, Loop):
                item.condition = item.condition and now.get(item.condition, item.condition)
                item.again = item.again and now.get(item.again, item.again)
                for inside in (item.test, item.body, item.update):
                    self.block(inside)
            elif isinstance(item, Return):
                item.value = item.value and now.get(item.value, item.value)
            kept.append(item)
        block[:] = kept


class _Dropping:
    """Stores that nobody reads, and values that nobody uses. `slots` are those that are left."""

    def __init__(self, read: set[Slot]):
        self.read = read
        self.used: set[Value] = set()
        self.slots: set[Slot] = set()

    def block(self, block: Block) -> None:
        """From the end, so that what only unused values used goes with them."""
        used = self.used
        kept: Block = []
        for item in reversed(block):
            if isinstance(item, Value):
                op = item.op
                if op == "set":
                    if item.attr not in self.read:
                        continue
                    self.slots.add(item.attr)
                elif item not in used and op not in EFFECTS and not can_fault(item):
                    continue
                elif op == "get":
                    self.slots.add(item.attr)
                used.update(item.args)
            elif isinstance(item, If):
                self.block(item.otherwise)
                self.block(item.then)
                used.add(item.condition)
            elif isinstance(item, Loop):
                used.update(value for value in (item.condition, item.again) if value)
                self.block(item.update)
                self.block(item.body)
                self.block(item.test)
            elif isinstance(item, Return) and item.value:
                used.add(item.value)
            kept.append(item)
        kept.reverse()
        block[:] = kept
