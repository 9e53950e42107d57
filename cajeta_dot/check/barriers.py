"""Which barriers not all work items of a workgroup are sure to reach (LANGUAGE.md section 7).

A value is uniform if it is built from constants, scalar parameters, the coordinates of the workgroup, and variables that
are assigned only such values where control flow is uniform. Control flow diverges under a condition that is not uniform,
and behind a `return`, `break` or `continue` that only some items take: until the end of the method, of the loop, of the
turn. Everything else is taken to differ from item to item, so that what is not reported is certain.
"""

from __future__ import annotations

from cajeta_dot.ir import Barrier, Break, Continue, Function, If, Loop, Return, Value, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Block, Item, Slot

    Found = dict["Barrier | Value", Value]
    Context = tuple[Function, frozenset[int]]

_DIFFER = frozenset({"load", "call"})
_SHARED_COORDINATES = ("group", "size")


MAX_IN_PLACE = 200_000  # operations; some targets put helpers in place of their calls
# Beyond these, variables and parameters are taken to differ: no program that is meant to be read comes near.
MAX_PASSES = 50
MAX_CONTEXTS = 64


def divergent_barriers(kernel: Function, waiting: set[Function]) -> list[tuple[Barrier | Value, Value]]:
    """The barriers that some items may not reach, each with the condition by which they part.

    Helpers count as if they stood in place of their calls. A call under such a condition stands for the barriers in it.
    `waiting` are the functions that come by a barrier, themselves or in what they call.
    """
    return list(_Analysis(waiting).run(kernel).items())


def count_in_place(kernel: Function, waiting: set[Function]) -> int:
    """The operations and statements that come into a kernel if the helpers that wait are put in place of their calls."""
    sizes: dict[Function, int] = {}
    added: dict[Function, int] = {}
    work = [kernel]
    while work:
        function = work.pop()
        items = list(walk(function.body))
        calls = [item.attr for item in items if isinstance(item, Value) and item.op == "call" and item.attr in waiting]
        missing = {callee for callee in calls if callee not in sizes}
        if missing:
            work += (function, *missing)
        else:
            added[function] = sum(sizes[callee] for callee in calls)
            sizes[function] = added[function] + len(items)
    return added[kernel]


class _Analysis:
    """Functions by which of their parameters differ between items: contexts. Recursion among helpers has been refused."""

    def __init__(self, waiting: set[Function]):
        self.waiting = waiting
        self.known: dict[Context, Found] = {}
        self.contexts: dict[Function, set[frozenset[int]]] = {}

    def run(self, kernel: Function) -> Found:
        """What parts the items before a barrier, callees first; as deep as calls are, so without recursion."""
        work: list[Context] = [(kernel, frozenset())]
        while work:
            missing: set[Context] = set()
            found = self._solve(*work[-1], missing)
            if missing:
                work += missing
            else:
                self.known[work.pop()] = found
        return self.known[kernel, frozenset()]

    def _solve(self, function: Function, differing_params: frozenset[int], missing: set[Context]) -> Found:
        """Passes over a function, until they find nothing new. What it needs to know of others first is put into `missing`."""
        differing: set[Slot] = set()
        left: dict[Loop, Value] = {}
        passes = 0
        while True:
            turn = _Walk(self, differing, left, {function.params[i] for i in differing_params}, missing)
            turn.block(function.body, None)
            if len(turn.differing) == len(differing) and len(turn.left) == len(left):
                return turn.found
            passes += 1
            differing, left = turn.differing, turn.left
            if passes > MAX_PASSES:
                differing |= set(function.slots)

    def look_up(self, function: Function, differing_params: frozenset[int], missing: set[Context]) -> Found:
        """What is known of a callee, nothing yet if that is missing."""
        contexts = self.contexts.setdefault(function, set())
        if differing_params not in contexts and len(contexts) >= MAX_CONTEXTS:
            differing_params = frozenset(range(len(function.params)))
        contexts.add(differing_params)
        context = function, differing_params
        if context not in self.known:
            missing.add(context)
        return self.known.get(context, {})


class _LoopState:
    """By which condition some items have left the loop for good, or the rest of this turn."""

    def __init__(self, left: Value | None) -> None:
        self.left = left
        self.skipped: Value | None = None


class _Walk:
    """One pass over a function.

    As known so far, `differing` are the variables that may differ between items, and `left` says by which condition some
    items leave a loop: what parts the items at the end of a turn parts them at its beginning the next time.
    """

    def __init__(
        self,
        analysis: _Analysis,
        differing: set[Slot],
        left: dict[Loop, Value],
        values: set[Value],
        missing: set[Context],
    ):
        self.analysis, self.missing = analysis, missing
        self.differing = set(differing)
        self.left = dict(left)
        self.values = set(values)
        self.found: Found = {}
        self.returned: Value | None = None
        self.loops: list[_LoopState] = []

    def block(self, block: Block, cause: Value | None) -> None:
        """`cause` is the condition under which only some items are here."""
        for item in block:
            here = cause or self.returned
            if self.loops:
                here = here or self.loops[-1].left or self.loops[-1].skipped
            self.item(item, here)

    def item(self, item: Item, here: Value | None) -> None:
        match item:
            case Value():
                self.value(item, here)
            case If():
                inside = here or self.cause_of(item.condition)
                self.block(item.then, inside)
                self.block(item.otherwise, inside)
            case Loop():
                self.loop(item, here)
            case Break():
                self.loops[-1].left = self.loops[-1].left or here
            case Continue():
                self.loops[-1].skipped = self.loops[-1].skipped or here
            case Return():
                self.returned = self.returned or here
                for loop in self.loops:
                    loop.left = loop.left or here
            case Barrier() if here:
                self.found.setdefault(item, here)
            case _:
                pass

    def loop(self, loop: Loop, here: Value | None) -> None:
        self.loops.append(_LoopState(self.left.get(loop)))
        state = self.loops[-1]
        self.block(loop.test, here)
        state.left = state.left or self.cause_of(loop.condition)
        self.block(loop.body, here)
        state.skipped = None
        self.block(loop.update, here)
        state.left = state.left or self.cause_of(loop.again)
        if state.left:
            self.left.setdefault(loop, state.left)
        self.loops.pop()

    def cause_of(self, condition: Value | None) -> Value | None:
        return condition if condition in self.values else None

    def value(self, value: Value, here: Value | None) -> None:
        if value.op == "call" and value.attr in self.analysis.waiting:
            if here:
                self.found.setdefault(value, here)
            differing = frozenset(i for i, a in enumerate(value.args) if a in self.values)
            self.found.update(self.analysis.look_up(value.attr, differing, self.missing))
        if value.op == "coordinate":
            differs = not value.attr.startswith(_SHARED_COORDINATES)
        elif value.op == "get":
            differs = value.attr in self.differing
        else:
            differs = value.op in _DIFFER or any(a in self.values for a in value.args)
        if value.op == "set" and (differs or here):
            self.differing.add(value.attr)
        elif differs:
            self.values.add(value)
