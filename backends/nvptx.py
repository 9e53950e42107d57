"""The target `nvptx`: kernels as PTX for NVIDIA GPUs, dot products as `dp4a`.

Host methods are compiled where kernels call them. There are no run-time checks: what is outside an array is undefined.
"""

from __future__ import annotations

from functools import cache

from cajeta_dot.backends import Loaded, TargetInfo
from cajeta_dot.backends.llvm.gpu import Gpu, accept_scalar, is_known
from cajeta_dot.backends.llvm.machine import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends import Artifact, DeviceBackend, DeviceInfo, Options
    from cajeta_dot.backends.llvm.modules import ModuleText
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
DEFAULT_ARCHITECTURE = FIRST_WITH_DP4A = "sm_61"
_NEEDS = f"`{FIRST_WITH_DP4A}` or later"
# What LLVM knows, in the order of their making. Letters: a for one chip's own instructions, f for those of a family.
ARCHITECTURES = (
    "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_88",
    "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_101", "sm_101a", "sm_101f", "sm_103", "sm_103a",
    "sm_103f", "sm_110", "sm_110a", "sm_110f", "sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f",
)  # fmt: skip
NVPTX = TargetInfo(
    "nvptx",
    "NVIDIA GPUs, from sm_61 with --gpu-arch",
    ("ptx", "llvm-ir"),
    dot="dp4a",
    devices=("cuda",),
    architectures=ARCHITECTURES,
)
_REGISTERS = {"local": "tid", "size": "ntid", "group": "ctaid"}
GPU = Gpu(
    convention="ptx_kernel",
    axes={f"{what}.{axis}": f"llvm.nvvm.read.ptx.sreg.{name}.{axis}" for what, name in _REGISTERS.items() for axis in "xyz"},
    barrier=("llvm.nvvm.barrier.cta.sync.aligned.all", "i32 0"),
    aligned=True,
    plain_names=True,
)


class NvptxBackend:
    """One target, many architectures."""

    name = "nvptx"

    def targets(self) -> Sequence[TargetInfo]:
        return (NVPTX,)

    def missing(self, target: str) -> str:
        """Only a device runs its code, and what that lacks is known when it is opened."""
        return "a device"

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """On a CUDA device. Reports that there is none, and that none was named."""
        if not options.device:
            from cajeta_dot.diagnostics.rules import FEATURE_MISSING

            reporter.report(FEATURE_MISSING, f"target `{target}` runs on a device only, and none is named", None)
            return None
        made = self._write(program, options, reporter)
        if made is None:
            return None
        from cajeta_dot.backends.cuda import load
        from cajeta_dot.backends.llvm.assembler import write_assembly

        machine, written = made
        ptx = write_assembly(written.text, machine, options.optimize)
        loaded = load(program, ptx, written.exports, options.device, reporter)
        return loaded and Loaded(loaded.entries, written.choices)

    def list_devices(self, kind: str) -> Sequence[DeviceInfo]:
        from cajeta_dot.backends.cuda import list_devices

        return list_devices()

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """As the protocol says; `kind` is one of the target's."""
        made = self._write(program, options, reporter)
        if made is None:
            return None
        from cajeta_dot.backends.llvm.compile import write_artifact

        machine, written = made
        return write_artifact(written, machine, kind, options.optimize)

    def _write(self, program: Program, options: Options, reporter: Reporter) -> tuple[Machine, ModuleText] | None:
        """The architecture, and the module for it."""
        from cajeta_dot.backends.llvm.compile import write_program

        architecture = options.gpu_arch or DEFAULT_ARCHITECTURE
        if not is_known(architecture, ARCHITECTURES, reporter):
            return None
        machine = _make_machine(architecture)
        written = write_program(program, machine, False, reporter, options.debug_lines)
        if not written or not accept_scalar(written.choices, machine, "dp4a", _NEEDS, options, reporter):
            return None
        return machine, written


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
        gpu=GPU,
        bytes_in_words=True,
    )


backend: DeviceBackend = NvptxBackend()
