"""LLVM IR text to assembly and object code, by llvmlite, which is imported when it is first needed.

LLVM ends the process when it meets an intrinsic without its feature or a CPU name that it doesn't know. So only text that our
writers made for one of our machines may come here.
"""

from __future__ import annotations

import re
from functools import cache
from threading import Lock

from cajeta_dot.backends.llvm.metadata import TURNS_AT_ONCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from llvmlite.binding import ModuleRef, TargetMachine

    from cajeta_dot.backends.llvm.machine import Machine

_CALL = "// callseq "
_lock = Lock()  # a target machine is shared by all threads that compile for it


def write_assembly(text: str, machine: Machine, optimize: int) -> str:
    """Assembly, or PTX. `optimize` is 0..3."""
    with _lock:
        target = make_target_machine(machine, optimize)
        return _number_calls(target.emit_assembly(_optimize(text, machine, optimize)))


def _number_calls(assembly: str) -> str:
    """LLVM numbers the calls in PTX, in comments, through all that a process compiles; here they are those of one text."""
    if _CALL not in assembly:
        return assembly
    numbers: dict[str, int] = {}
    return re.sub(rf"(?<={_CALL})\d+", lambda found: str(numbers.setdefault(found[0], len(numbers))), assembly)


def write_object(text: str, machine: Machine, optimize: int, triple: str = "") -> bytes:
    """An object file, position independent. `triple`: for another system than the machine's own."""
    with _lock:
        target = make_target_machine(machine, optimize, triple)
        return target.emit_object(_optimize(text, machine, optimize, triple))


def write_joined_object(
    parts: Sequence[tuple[str, Machine, Mapping[str, str]]], rest: str, machine: Machine, optimize: int
) -> bytes:
    """One object of several modules, each compiled for its own machine, whose functions get other names: old -> new.

    `rest` is the text of one more module, for `machine`, whose code all others can run; it is not optimized.
    """
    import llvmlite.binding as llvm

    with _lock:
        target = make_target_machine(machine, optimize)
        joined = llvm.parse_assembly(rest)
        joined.verify()
        for text, own, names in parts:
            module = _optimize(text, own, optimize)
            for old, new in names.items():
                module.get_function(old).name = new
            joined.link_in(module)
        joined.verify()
        return target.emit_object(joined)


@cache
def make_target_machine(machine: Machine, optimize: int, triple: str = "") -> TargetMachine:
    """LLVM's view of a machine; small code model, because the large one loads every constant's address."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(triple or machine.triple).create_target_machine(
        cpu=machine.cpu, features=machine.feature_string, opt=optimize, reloc="pic", codemodel="small"
    )


def _optimize(text: str, machine: Machine, optimize: int, triple: str = "") -> ModuleRef:
    """LLVM's passes, except those that make vectors and unroll loops: the program says where it wants vectors, and unrolling
    spills the registers of an inner loop (four times the instructions, no gain). Where some loops of the text may be made
    vectors, all others of the program say that they may not."""
    import llvmlite.binding as llvm

    target = make_target_machine(machine, optimize, triple)
    module = llvm.parse_assembly(text)
    if triple:
        module.triple, module.data_layout = triple, str(target.target_data)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=optimize)
    tuning.loop_vectorization = TURNS_AT_ONCE in text
    tuning.slp_vectorization = tuning.loop_unrolling = tuning.loop_interleaving = False
    builder = llvm.create_pass_builder(target, tuning)
    builder.getModulePassManager().run(module, builder)
    return module
