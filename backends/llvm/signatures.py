"""What functions are given and give back inside a module.

For each array a pointer and an i64 length; scalars and vectors by value, booleans as i1. Then, on a CPU, what the user does
not see: the coordinates that the function needs (i32), the fault record if it can fault, its depth if it calls itself (i64).
One that can fault returns its result together with an i1 that is true if it did. What others see is `kernels`.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.names import clean
from cajeta_dot.backends.llvm.types import spell
from cajeta_dot.types import VOID, Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.llvm.modules import Module
    from cajeta_dot.backends.llvm.writer import Operand
    from cajeta_dot.ir import Function


def returned_type(module: Module, function: Function) -> str:
    """What the internal function of a method returns. That of a workgroup has no caller to tell of a fault."""
    if function not in module.faulting or function in module.workgroups:
        return spell(function.result)
    return "i1" if function.result == VOID else f"{{ {spell(function.result)}, i1 }}"


def parameters(module: Module, function: Function) -> list[Operand]:
    """Those of the method itself, each with a name that shows the user's."""
    made: list[Operand] = []
    for place, param in enumerate(function.params):
        name = f"%{clean(param.attr)}.{place}"
        if isinstance(param.type, Array):
            made += [(module.pointer_to(param.type), name), ("i64", f"{name}.length")]
        else:
            made.append((spell(param.type), name))
    return made


def hidden_parameters(module: Module, function: Function) -> list[Operand]:
    """What follows them: coordinates, the fault record, how often the function is already called within itself; for the
    function of a workgroup its memory, its number of items and its own number."""
    made: list[Operand] = [("i32", f"%{word}") for word in module.coordinates[function]]
    if function in module.faulting:
        made.append(("ptr", "%record"))
    if function in module.recursive:
        made.append(("i64", "%depth"))
    if function in module.workgroups:
        made += [("ptr", "%memory"), ("i64", "%items"), ("i64", "%group.number")]
    return made
