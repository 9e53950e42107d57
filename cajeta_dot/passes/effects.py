"""Which of their arrays functions write, and which functions can end in a run-time error.

Facts for callers, of programs that passed `verify`. An array is only ever a parameter or made by `allocate`, so it is
enough to follow parameters through calls. Not known here: whether an access lies within its array.
"""

from __future__ import annotations

from cajeta_dot.ir import can_fault, values_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cajeta_dot.ir import Function, Program, Value


def written_arrays(program: Program) -> dict[Function, frozenset[int]]:
    """For each function the positions of the parameters whose array it, or what it calls, may write."""
    found: dict[Function, frozenset[int]] = {}
    for function in program.functions:
        positions = {param: place for place, param in enumerate(function.params)}
        before: frozenset[int] | None = None
        found[function] = frozenset()
        while found[function] != before:  # again while it grows: a host method may pass its own arrays on to itself
            before = found[function]
            written = {array for value in values_in(function.body) for array in _written_by(value, found)}
            found[function] = frozenset(positions[array] for array in written if array in positions)
    return found


def faulting_functions(program: Program) -> frozenset[Function]:
    """The functions that have, or reach by a call, an operation that can be a run-time error where checks are on."""
    found: set[Function] = set()
    for function in program.functions:
        if any(can_fault(value) or (value.op == "call" and value.attr in found) for value in values_in(function.body)):
            found.add(function)
    return frozenset(found)


def _written_by(value: Value, found: Mapping[Function, frozenset[int]]) -> Iterator[Value]:
    """The arrays that one operation writes."""
    if value.op == "store":
        yield value.args[0]
    elif value.op == "call":
        for place in found[value.attr]:
            yield value.args[place]
