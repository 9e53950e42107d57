"""The RISC-V target: vectors of the RVA23 profile, with the Zvqdotq extension for dot products.

LLVM 22 calls that experimental, and nothing tells a program if the processor has it; so the code is to run elsewhere.
"""

from __future__ import annotations

from cajeta_dot.backends import TargetInfo
from cajeta_dot.backends.llvm.machine import Machine
from cajeta_dot.backends.llvm.processors import KINDS, Processors, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends import Backend

NAME = "riscv64-zvqdotq"
TRIPLE = "riscv64-unknown-linux-gnu"
LAYOUT = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"
DOT = "experimental-zvqdotq"
# What RVA23 demands and our code can use. Not Zvfhmin: LLVM fails on float16 in vectors of more than 32 lanes.
FEATURES = ("m", "a", "f", "d", "c", "v", "zba", "zbb", "zbs", "zfhmin", DOT)

MACHINE = Machine(NAME, TRIPLE, LAYOUT, "generic-rv64", FEATURES, "riscv64", frozenset({DOT}), halves="lanes")
INFO = TargetInfo(NAME, "RISC-V of the RVA23 profile with Zvqdotq", KINDS, dot="vqdot, vqdotu, vqdotsu")
TIERS = (Tier(INFO, MACHINE),)
backend: Backend = Processors("riscv64", TIERS)
