"""The target `amdgcn`: kernels for AMD GPUs, as LLVM IR, assembly and code objects of the HSA ABI; dot products as `v_dot4_*`.

Host methods are compiled where kernels call them. There are no run-time checks: what is outside an array is undefined.
Sources: LLVM's User Guide for AMDGPU Backend (processors, address spaces, kernel attributes); which processor has which dot
product is what LLVM 22 selects.
"""

from __future__ import annotations

from functools import cache

from cajeta_dot.backends import TargetInfo
from cajeta_dot.backends.llvm.gpu import Gpu, accept_scalar, is_known
from cajeta_dot.backends.llvm.machine import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends import Artifact, Backend, Loaded, Options
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

    Extent = tuple[int, int, int]

TRIPLE = "amdgcn-amd-amdhsa"
LAYOUT = (
    "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32"
    "-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
)
DEFAULT_ARCHITECTURE = "gfx1100"
_NEEDS = "`gfx906` or another that has it, such as `gfx1030` or `gfx1100`"
# Those that LLVM knows, from the third generation of GCN on, by the dot products they have (see `forms/instructions.py`).
_WITHOUT = (
    "gfx801", "gfx802", "gfx803", "gfx805", "gfx810", "gfx900", "gfx902", "gfx904", "gfx909", "gfx90c", "gfx1010", "gfx1013",
)  # fmt: skip
_LIKE_906 = (
    "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1011", "gfx1012", "gfx1030", "gfx1031", "gfx1032", "gfx1033",
    "gfx1034", "gfx1035", "gfx1036",
)  # fmt: skip
_LIKE_11 = (
    "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201", "gfx1250",
    "gfx1251",
)  # fmt: skip
ARCHITECTURES = {
    **dict.fromkeys(_WITHOUT, frozenset[str]()),
    **dict.fromkeys(_LIKE_906, frozenset({"gfx906"})),
    **dict.fromkeys(_LIKE_11, frozenset({"gfx11"})),
}
AMDGCN = TargetInfo(
    "amdgcn",
    "AMD GPUs, with --gpu-arch gfx906 to gfx1201",
    ("llvm-ir", "asm", "obj"),
    dot="v_dot4_i32_iu8",
    architectures=tuple(ARCHITECTURES),
)
MAX_ITEMS = 1024  # of a workgroup
_CODE_OBJECT = '!{i32 1, !"amdhsa_code_object_version", i32 500}'  # what every ROCm from 5.5 on loads


class AmdgcnBackend:
    """One target, many architectures."""

    name = "amdgcn"

    def targets(self) -> Sequence[TargetInfo]:
        return (AMDGCN,)

    def missing(self, target: str) -> str:
        """Its code is to run elsewhere."""
        return "a ROCm driver, which cajetac does not use"

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """Its code is to run elsewhere: `targets` says so. Raises RuntimeError."""
        raise RuntimeError("amdgcn makes code to run elsewhere")

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """As the protocol says; `kind` is one of the target's."""
        from cajeta_dot.backends.llvm.compile import write_artifact, write_program

        architecture = options.gpu_arch or DEFAULT_ARCHITECTURE
        if not is_known(architecture, tuple(ARCHITECTURES), reporter) or not _accept_block(options.block, reporter):
            return None
        machine = _make_machine(architecture, options.block)
        written = write_program(program, machine, False, reporter, options.debug_lines)
        if not written or not accept_scalar(written.choices, machine, "v_dot4", _NEEDS, options, reporter):
            return None
        return write_artifact(written, machine, kind, options.optimize)


def _accept_block(block: Extent, reporter: Reporter) -> bool:
    items = block[0] * block[1] * block[2]
    if items <= MAX_ITEMS:
        return True
    from cajeta_dot.diagnostics import Help
    from cajeta_dot.diagnostics.rules import NOT_ON_TARGET

    message = f"a workgroup of {items} work items is not supported on `amdgcn`"
    reporter.report(NOT_ON_TARGET, message, None, helps=[Help(f"`--block` of {MAX_ITEMS} items at most")])
    return False


@cache
def _make_machine(architecture: str, block: Extent) -> Machine:
    return Machine(
        target="amdgcn",
        triple=TRIPLE,
        layout=LAYOUT,
        cpu=architecture,
        features=(),
        family="amdgcn",
        forms=ARCHITECTURES[architecture],
        halves="lanes",
        gpu=_make_gpu(block),
        bytes_in_words=True,
        flags=(_CODE_OBJECT,),
    )


def _make_gpu(block: Extent) -> Gpu:
    """The size of a workgroup is part of the code: registers are shared out for it."""
    sizes = dict(zip("xyz", map(str, block), strict=True))
    items = block[0] * block[1] * block[2]
    axes = {f"local.{axis}": f"llvm.amdgcn.workitem.id.{axis}" for axis in "xyz"}
    axes |= {f"group.{axis}": f"llvm.amdgcn.workgroup.id.{axis}" for axis in "xyz"}
    axes |= {f"size.{axis}": size for axis, size in sizes.items()}
    return Gpu(
        convention="amdgpu_kernel",
        axes=axes,
        barrier=("llvm.amdgcn.s.barrier", ""),
        fence="workgroup",
        stack=5,
        attributes=(f'"amdgpu-flat-work-group-size"="{items},{items}"', '"uniform-work-group-size"="true"'),
        kernel_metadata={"reqd_work_group_size": f"!{{{', '.join(f'i32 {size}' for size in block)}}}"},
    )


backend: Backend = AmdgcnBackend()
