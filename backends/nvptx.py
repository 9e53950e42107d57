"""The target `nvptx`: kernels as PTX for NVIDIA GPUs, dot products as `dp4a`.

Host methods are compiled where kernels call them. There are no run-time checks: what is outside an array is undefined.
"""

from __future__ import annotations

from functools import cache

from cajeta_dot.backends import Artifact, TargetInfo
from cajeta_dot.backends.llvm.machine import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends import Backend, Choice, Loaded, Options
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
DEFAULT_ARCHITECTURE = FIRST_WITH_DP4A = "sm_61"
# What LLVM knows, in the order of their making. Letters: a for one chip's own instructions, f for those of a family.
ARCHITECTURES = (
    "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_88",
    "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_101", "sm_101a", "sm_101f", "sm_103", "sm_103a",
    "sm_103f", "sm_110", "sm_110a", "sm_110f", "sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f",
)  # fmt: skip
NVPTX = TargetInfo(
    "nvptx", "NVIDIA GPUs, from sm_61 with --gpu-arch", ("ptx", "llvm-ir"), dot="dp4a", architectures=ARCHITECTURES
)
_LACKS = {("rem", "f"): "`%` of floats"}  # LLVM would round on the way


class NvptxBackend:
    """One target, many architectures."""

    name = "nvptx"

    def targets(self) -> Sequence[TargetInfo]:
        return (NVPTX,)

    def missing(self, target: str) -> str:
        """Its code is to run elsewhere."""
        return "a CUDA driver, which cajetac does not use"

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """Its code is to run elsewhere: `targets` says so. Raises RuntimeError."""
        raise RuntimeError("nvptx makes code to run elsewhere")

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """As the protocol says; `kind` is one of the target's."""
        from cajeta_dot.backends.llvm.compile import remark_scalar, write_program

        machine = _find_machine(options.gpu_arch or DEFAULT_ARCHITECTURE, reporter)
        written = machine and write_program(program, machine, False, reporter)
        if not machine or not written or _refuse_scalar(written.choices, machine, options, reporter):
            return None
        remark_scalar(written.choices, machine, f"`{FIRST_WITH_DP4A}` has `dp4a`", reporter)
        if kind == "llvm-ir":
            return Artifact(kind, written.text, written.choices)
        from cajeta_dot.backends.llvm.assembler import write_assembly

        return Artifact(kind, write_assembly(written.text, machine, options.optimize), written.choices)


def _find_machine(architecture: str, reporter: Reporter) -> Machine | None:
    """The architecture as its row; None after an error."""
    if architecture not in ARCHITECTURES:
        from cajeta_dot.diagnostics import Help, nearest
        from cajeta_dot.diagnostics.rules import UNKNOWN_TARGET

        near = nearest(architecture, ARCHITECTURES)
        known = f"there are {', '.join(ARCHITECTURES)}"
        helps = [Help(f"did you mean `{near}`?" if near else known)]
        reporter.report(UNKNOWN_TARGET, f"no GPU architecture `{architecture}`", None, helps=helps)
        return None
    return _make_machine(architecture)


@cache
def _make_machine(architecture: str) -> Machine:
    has_dp4a = ARCHITECTURES.index(architecture) >= ARCHITECTURES.index(FIRST_WITH_DP4A)
    return Machine(
        target="nvptx",
        triple="nvptx64-nvidia-cuda",
        layout=LAYOUT,
        cpu=architecture,
        features=(),
        family="nvptx",
        forms=frozenset({FIRST_WITH_DP4A} if has_dp4a else ()),
        halves="all",
        is_gpu=True,
        bytes_in_words=True,
        lacks=_LACKS,
    )


def _refuse_scalar(choices: Sequence[Choice], machine: Machine, options: Options, reporter: Reporter) -> bool:
    """Reports an architecture that has no `dp4a` where a program needs it, unless the user accepts what takes its place."""
    if options.fallback or not any(choice.form == "scalar" for choice in choices):
        return False
    from cajeta_dot.diagnostics import Help
    from cajeta_dot.diagnostics.rules import TARGET_TOO_OLD

    message = f"dp4a needs `{FIRST_WITH_DP4A}` or later, found `{machine.cpu}`"
    reporter.report(TARGET_TOO_OLD, message, None, helps=[Help(f"`--gpu-arch {FIRST_WITH_DP4A}` or `--fallback`")])
    return True


backend: Backend = NvptxBackend()
