"""Machines for the forms: what each has, assembly text for it, and functions for this one.

LLVM ends the process when an intrinsic's feature is missing: what comes here must have been checked against `Form.registers`.
"""

from __future__ import annotations

import ctypes
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
import numpy as np

from cajeta_dot.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@record
class Machine:
    """What LLVM compiles for. has: the features that our tables may use there. features: what the CPU's name doesn't say."""

    triple: str
    cpu: str
    has: frozenset[str]
    features: str = ""

    def assembly(self, ir: str, *, optimized: bool = False) -> str:
        """What LLVM makes of a module; its IR goes through LLVM's passes only if asked for."""
        _initialize()
        target = llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, opt=3, reloc="static"
        )
        module = _parse(ir, target)
        if optimized:
            builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(2))
            builder.getModulePassManager().run(module, builder)
        return target.emit_assembly(module)


def _declare(triple: str, cpu: str, has: str, features: str = "") -> Machine:
    return Machine(triple, cpu, frozenset(has.split()), features)


_X86, _ARM, _AMD = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "amdgcn-amd-amdhsa"
_WASM = "wasm32-unknown-unknown"
MACHINES = {
    "scalar": _declare(_X86, "x86-64", ""),
    "sse2": _declare(_X86, "x86-64", "sse2"),
    "ssse3": _declare(_X86, "core2", "sse2 ssse3"),
    "sse4.1": _declare(_X86, "penryn", "sse2 ssse3 sse4.1"),
    "avx2": _declare(_X86, "haswell", "sse2 ssse3 avx2"),
    "avx512bw": _declare(_X86, "skylake-avx512", "sse2 ssse3 avx2 avx512bw"),
    "avxvnni": _declare(_X86, "alderlake", "sse2 ssse3 avx2 avxvnni"),
    "avx512vnni": _declare(_X86, "znver4", "sse2 ssse3 avx2 avx512bw avx512vl avx512vnni"),
    "avxvnniint8": _declare(_X86, "arrowlake", "sse2 ssse3 avx2 avxvnni avxvnniint8"),
    "avx10.2": _declare(_X86, "diamondrapids", "sse2 ssse3 avx2 avx512bw avx512vl avx512vnni avxvnni avxvnniint8 avx10.2"),
    "sm_60": _declare("nvptx64-nvidia-cuda", "sm_60", ""),
    "sm_61": _declare("nvptx64-nvidia-cuda", "sm_61", "sm_61"),
    "neon": _declare(_ARM, "generic", "neon"),
    "dotprod": _declare(_ARM, "cortex-a76", "neon dotprod"),
    "i8mm": _declare(_ARM, "neoverse-v1", "neon dotprod i8mm"),
    "gfx900": _declare(_AMD, "gfx900", ""),
    "gfx906": _declare(_AMD, "gfx906", "gfx906"),
    "gfx1030": _declare(_AMD, "gfx1030", "gfx906"),
    "gfx1100": _declare(_AMD, "gfx1100", "gfx11"),
    "zvqdotq": _declare("riscv64-unknown-linux-gnu", "generic-rv64", "experimental-zvqdotq", "+m,+v,+experimental-zvqdotq"),
    "simd128": _declare(_WASM, "generic", "simd128", "+simd128"),
    "relaxed-simd": _declare(_WASM, "generic", "simd128 relaxed-simd", "+simd128,+relaxed-simd"),
}


def _parse(ir: str, target: llvm.TargetMachine) -> llvm.ModuleRef:
    module = llvm.parse_assembly(ir)
    module.triple = target.triple
    module.data_layout = str(target.target_data)
    module.verify()
    return module


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@cache
def host_features() -> frozenset[str]:
    """LLVM's names for what this machine has."""
    return frozenset(name for name, present in llvm.get_host_cpu_features().items() if present)


@cache
def _host(features: str) -> tuple[llvm.TargetMachine, llvm.LLJIT]:
    """This machine; if features are named, as a processor that has just those beyond the oldest x86-64."""
    _initialize()
    has = dict.fromkeys(features.split(), True) or llvm.get_host_cpu_features()
    target = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu="x86-64" if features else llvm.get_host_cpu_name(),
        features=",".join(f"{'+' if present else '-'}{name}" for name, present in has.items()),
        opt=3,
        reloc="pic",
        codemodel="small",
        jit=True,
    )
    return target, llvm.create_lljit_compiler(target)


_library_numbers = count()


def run_blocks(
    ir: str, arrays: Sequence[NDArray[Any]], lanes: int, dtype: type[np.signedinteger[Any]], features: str = ""
) -> NDArray[Any]:
    """Run the function of `block_function` on this machine: rows in, rows out, one block of each array is one row."""
    rows = len(arrays[0])
    inputs = [np.ascontiguousarray(array) for array in arrays]
    out = np.empty((rows, lanes), dtype)
    target, jit = _host(features)
    library = llvm.JITLibraryBuilder().add_object_img(target.emit_object(_parse(ir, target))).export_symbol("blocks")
    tracker = library.link(jit, f"library{next(_library_numbers)}")  # the code lives as long as this
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(inputs) + 1), ctypes.c_int64)(tracker["blocks"])
    function(*(array.ctypes.data for array in (*inputs, out)), rows)
    return out
