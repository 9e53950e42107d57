"""Kernels whose work items meet: arrays shared by a workgroup, written in parts and read as a whole behind a barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cajeta_dot.types import UINT32, Scalar, Vector

from .writer import Memory, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .writer import Writer

_PADDINGS = ((4, 1), (8, 2), (3, 0), (5, 3))
_LOCAL = "((KernelThread.z() * Workgroup.dimY() + KernelThread.y()) * Workgroup.dimX() + KernelThread.x())"


def write_phases(w: Writer, block: tuple[int, int, int], scalars: Sequence[str]) -> None:
    """Every item fills its part; all meet; everybody reads everything, and so on. `scalars` are parameters, for conditions
    that are the same for all items: from here on nobody writes them."""
    w.note("barrier")
    items = block[0] * block[1] * block[2]
    w.variables = [v._replace(writable=False) if v.name in scalars else v for v in w.variables]
    w.line(f"uint32 part = {_LOCAL};")
    w.variables.append(Variable("part", UINT32, writable=False))
    own: list[Memory] = []
    whole: list[Memory] = []
    for number in range(w.pick((1, 1, 2))):
        mine, all = _declare(w, f"shared{number}", items)
        own.append(mine)
        whole.append(all)
    for memory in own:
        _fill(w, memory)
    _meet(w)
    _with_memories(w, whole, w.pick((2, 3)))
    form = w.random.randrange(1, 5)
    if form == 1:
        _meet(w)
        _with_memories(w, own, 2)
        _meet(w)
        _with_memories(w, whole, 1)
    elif form == 2:
        turns = w.pick(("2", "3", "(uint32) n % 3"))
        w.note("barrier in a loop")
        before, w.breakable = w.breakable, False
        w.loops += 1
        with w.block(f"for (uint32 turn = 0; turn < {turns}; turn++) {{"):
            w.variables.append(Variable("turn", UINT32, writable=False))
            _meet(w)
            _with_memories(w, own, 2)
            _meet(w)
            _with_memories(w, whole, 2)
        w.loops -= 1
        w.breakable = before
    elif form == 3:
        w.note("barrier under a condition")
        with w.block(f"if ({w.pick(('n > 3', 'Workgroup.x() == 0', '(n & 1) == 0'))}) {{"):
            _meet(w)
            _with_memories(w, own, 2)
            _meet(w)
            _with_memories(w, whole, 1)


def _meet(w: Writer) -> None:
    w.line("Barrier.workgroup();")


def _declare(w: Writer, name: str, items: int) -> tuple[Memory, Memory]:
    """A shared array: the item's own part of it, writable, and all of it, readable."""
    element = w.any_number()
    each = w.pick((1, 2, 5, 8, 17))
    total = items * each
    is_padded = w.chance(0.3) and w.style.limits.wide  # whose places are computed in 64 bits
    if is_padded:
        w.note("BlockPadded")
        every, by = w.pick(_PADDINGS)
        w.line(f"BlockPadded<{element},{every},{by}> {name} = shared {element}[{total + total // every * by + 1}];")
    else:
        w.note("Shared")
        w.line(f"Shared<{element}> {name} = shared {element}[{total}];")
    whole = Memory(name, element, total, is_shared=True, is_padded=is_padded)
    return whole._replace(span=each, base=f"part * {each}", writable=True), whole


def _fill(w: Writer, memory: Memory) -> None:
    """Nobody may read what was not written; a vector's store reads the ends of its place in a padded array."""
    element = memory.element
    assert isinstance(element, Scalar)
    w.budget = 10
    if not memory.is_padded and memory.span <= 8 and w.chance(0.4):
        w.line(f"{memory.name}.vstore({memory.base}, {w.vector(Vector(element, memory.span), 2).text});")
        return
    with w.block(f"for (uint32 k = 0; k < {memory.span}; k++) {{"):
        w.variables.append(Variable("k", UINT32, writable=False))
        w.line(f"{memory.name}[{memory.base} + k] = {w.assignable(element, 2).text};")


def _with_memories(w: Writer, memories: Sequence[Memory], count: int) -> None:
    """Statements that use these arrays too. Block ends take away what is declared in them, so this is one."""
    with w.block("{"):
        w.memories += memories
        w.statements(count)
        for memory in memories:
            if not memory.writable and w.chance(0.5) and any(m.writable for m in w.memories):
                target = w.pick([m for m in w.memories if m.writable and m.name.startswith("out")])
                place = w.place(memory, 1, 1)
                w.line(f"{target.name}[{w.place(target, 1, 0)}] = ({target.element}) {memory.name}[{place}];")
