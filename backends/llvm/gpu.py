"""How a GPU is written for: what its kernels, coordinates, barriers and memory are called in LLVM IR.

The pages of the families make a `Gpu` each; the writers ask it where GPUs differ. Then, what these pages report alike.
"""

from __future__ import annotations

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cajeta_dot.backends import Choice, Options
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.diagnostics import Reporter


@record
class Gpu:
    """convention: of kernels. axes: one of `facts.AXES` -> the intrinsic that knows it, or the number it always is.

    barrier: the intrinsic at which all items of a workgroup meet, and its operands. fence: the scope within which memory has to
    agree there, where the barrier doesn't see to that. stack: address space of locals.
    attributes: of every function. kernel_metadata: name -> node, for every kernel.
    aligned: vectors in memory must be aligned like their size, and arrays are aligned to 16 bytes.
    plain_names: exported names have neither dots nor letters beyond ASCII.
    """

    convention: str
    axes: Mapping[str, str]
    barrier: tuple[str, str]
    fence: str = ""
    stack: int = 0
    attributes: tuple[str, ...] = ()
    kernel_metadata: Mapping[str, str] = {}
    aligned: bool = False
    plain_names: bool = False


def is_known(architecture: str, known: Sequence[str], reporter: Reporter) -> bool:
    """Is there an architecture of that name? Else E0603 is reported, with the nearest."""
    if architecture in known:
        return True
    from cajeta_dot.diagnostics import Help, nearest
    from cajeta_dot.diagnostics.rules import UNKNOWN_TARGET

    near = nearest(architecture, known)
    helps = [Help(f"did you mean `{near}`?" if near else f"there are {', '.join(known)}")]
    reporter.report(UNKNOWN_TARGET, f"no GPU architecture `{architecture}`", None, helps=helps)
    return False


def accept_scalar(
    choices: Sequence[Choice], machine: Machine, instruction: str, needs: str, options: Options, reporter: Reporter
) -> bool:
    """What a program has instead of the `instruction` that its architecture lacks is said in remarks. Unless the user wants
    that, E0602 is reported, and the answer is no. `needs`: what has it, in words that begin with an architecture's name."""
    from cajeta_dot.backends.llvm.compile import remark_scalar

    first = needs.split()[0]
    if options.fallback or not any(choice.form == "scalar" for choice in choices):
        remark_scalar(choices, machine, f"{first} has `{instruction}`", reporter)
        return True
    from cajeta_dot.diagnostics import Help
    from cajeta_dot.diagnostics.rules import TARGET_TOO_OLD

    message = f"{instruction} needs {needs}, found `{machine.cpu}`"
    reporter.report(TARGET_TOO_OLD, message, None, helps=[Help(f"`--gpu-arch {first.strip('`')}` or `--fallback`")])
    return False
