"""The target `nvptx`: kernels as PTX for NVIDIA GPUs, dot products as `dp4a`.

Host methods are compiled where kernels call them. There are no run-time checks: what is outside an array is undefined.
"""

from __future__ import annotations

from functools import cache

from cajeta_dot.backends import DEFAULT_BLOCK, Loaded, TargetInfo
from cajeta_dot.backends.llvm.gpu import Gpu, accept_scalar, is_known
from cajeta_dot.backends.llvm.machine import Machine
from cajeta_dot.backends.ptx_versions import LOWEST_VERSIONS, choose_version

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
ARCHITECTURES = tuple(LOWEST_VERSIONS)
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

        machine = _find_machine(options, reporter)
        written = machine and write_program(program, machine, False, reporter, options.debug_lines)
        if not machine or not written or not accept_scalar(written.choices, machine, "dp4a", _NEEDS, options, reporter):
            return None
        return machine, written


def _find_machine(options: Options, reporter: Reporter) -> Machine | None:
    """The architecture as its row; None after an error. Workgroups of the usual size are not promised to LLVM: a launch may
    then have others."""
    architecture = options.gpu_arch or DEFAULT_ARCHITECTURE
    if not is_known(architecture, ARCHITECTURES, reporter):
        return None
    version = choose_version(architecture, options.ptx_version, reporter)
    block = options.block if options.block != DEFAULT_BLOCK else None
    return _make_machine(architecture, version, block) if version else None


@cache
def _make_machine(architecture: str, version: str, block: tuple[int, int, int] | None) -> Machine:
    has_dp4a = ARCHITECTURES.index(architecture) >= ARCHITECTURES.index(FIRST_WITH_DP4A)
    return Machine(
        target="nvptx",
        triple="nvptx64-nvidia-cuda",
        layout=LAYOUT,
        cpu=architecture,
        features=(f"ptx{version.replace('.', '')}",),
        family="nvptx",
        forms=frozenset({FIRST_WITH_DP4A} if has_dp4a else ()),
        halves="all",
        gpu=GPU,
        bytes_in_words=True,
        kernel_attributes=f' "nvvm.maxntid"="{",".join(map(str, block))}"' if block else "",
    )


backend: DeviceBackend = NvptxBackend()
