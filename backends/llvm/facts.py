"""What must be known of a program before its text is written: which functions are needed, and what each must be given."""

from __future__ import annotations

from cajeta_dot.ir import Value, values_in
from cajeta_dot.passes.effects import faulting_functions
from cajeta_dot.passes.regions import has_barrier
from cajeta_dot.types import VOID, Scalar, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.ir import Function, Program

AXES = tuple(f"{what}.{axis}" for what in ("group", "size", "local") for axis in "xyz")
_PARTS = {"global": ("group", "size", "local"), "group": ("group",), "size": ("size",), "local": ("local",)}


def is_exported(function: Function, machine: Machine) -> bool:
    """Kernels, and on a CPU the host methods that C could call: no vectors, no arrays as results."""
    if function.kind != "host":
        return function.kind == "kernel"
    types = [function.result, *(param.type for param in function.params)]
    in_registers = not any(isinstance(type, Vector) for type in types)
    return in_registers and not machine.is_gpu and (function.result == VOID or isinstance(function.result, Scalar))


def find_reachable(program: Program, machine: Machine) -> list[Function]:
    """What is exported and what that calls, callees before their callers."""
    found: set[Function] = set()
    for function in reversed(program.functions):
        if is_exported(function, machine) or function in found:
            found.add(function)
            found |= _find_callees(function)
    return [function for function in program.functions if function in found]


def find_coordinates(program: Program, workgroups: Container[Function], machine: Machine) -> dict[Function, tuple[str, ...]]:
    """Which of `AXES` each function is given: those that it reads, or what it calls; on a GPU they are in registers.

    The function of a workgroup counts the items itself, so it needs all sizes and no item's place.
    """
    found: dict[Function, tuple[str, ...]] = {}
    for function in program.functions:
        needed: set[str] = set()
        for value in values_in(function.body):
            if value.op == "coordinate":
                what, _, axis = value.attr.partition(".")
                needed.update(f"{part}.{axis}" for part in _PARTS[what])
            elif value.op == "call":
                needed.update(found.get(value.attr, ()))
        if function in workgroups:
            needed = {axis for axis in AXES if axis.startswith("size") or (axis.startswith("group") and axis in needed)}
        found[function] = () if machine.is_gpu else tuple(axis for axis in AXES if axis in needed)
    return found


def is_known_lane(value: Value) -> bool:
    """Is this a lane taken from a vector by an index that `and` with a constant keeps within it, as table lookups do?"""
    if value.op not in ("extract_at", "insert_at"):
        return False
    index, vector = value.args[1], value.args[0].type
    if index.op == "extract":
        index = index.args[0]
    mask = index.args[1] if index.op == "and" else None
    known = mask.attr if mask is not None and mask.op == "const" else None
    return isinstance(vector, Vector) and isinstance(known, int) and 0 <= known < vector.lanes


def find_workgroups(program: Program) -> frozenset[Function]:
    """The kernels whose work items are not independent: they meet at barriers, or have arrays in common."""
    return frozenset(
        function
        for function in program.functions
        if function.kind == "kernel" and (has_barrier(function) or any(v.op == "shared" for v in values_in(function.body)))
    )


def find_recursive(program: Program) -> frozenset[Function]:
    """The methods that call themselves; no others are ever called before they have returned."""
    return frozenset(function for function in program.functions if function in _find_callees(function))


def find_faulting(program: Program) -> frozenset[Function]:
    """The functions that can be a run-time error where checks are on: also by calling themselves without end."""
    found = faulting_functions(program) | find_recursive(program)
    for function in program.functions:
        if found.intersection(_find_callees(function)):
            found |= {function}
    return found


def _find_callees(function: Function) -> set[Function]:
    return {value.attr for value in values_in(function.body) if value.op == "call"}
