"""The AArch64 targets. Their code runs where the processor is one, like that of the x86 targets on x86."""

from __future__ import annotations

from cajeta_dot.backends import TargetInfo
from cajeta_dot.backends.aarch64_features import AARCH64
from cajeta_dot.backends.llvm.host import find_architecture
from cajeta_dot.backends.llvm.machine import Machine
from cajeta_dot.backends.llvm.processors import KINDS, Processors, Tier

TRIPLE = "aarch64-unknown-linux-gnu"
LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32"
_RUNS = find_architecture() == "aarch64"


def _row(name: str, summary: str, dot: str, *features: str) -> Tier:
    """Every AArch64 processor for programs has NEON, and converts float16 from and to all other floats."""
    machine = Machine(name, TRIPLE, LAYOUT, "generic", features, "aarch64", frozenset(features), halves="all")
    cpus, known = tuple(AARCH64.cpus), tuple(AARCH64.features)
    return Tier(TargetInfo(name, summary, KINDS, _RUNS, dot=dot, cpus=cpus, features=known, keeps=_RUNS), machine)


TIERS = (  # the best first
    _row("aarch64-i8mm", "AArch64 with I8MM, from Armv8.6", "usdot, sdot, udot", "i8mm", "dotprod", "neon"),
    _row("aarch64-dotprod", "AArch64 with DotProd, from Armv8.4", "sdot, udot", "dotprod", "neon"),
    _row("aarch64-neon", "any AArch64", "smull, saddlp", "neon"),
)
backend = Processors("aarch64", TIERS, catalogue=AARCH64)
