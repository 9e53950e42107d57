"""The WebAssembly target: modules to be linked, for engines with the SIMD instructions of WebAssembly 3.0.

The relaxed dot product is used where the bytes of one operand are known to be at most 127, for there it is exact.
"""

from __future__ import annotations

from cajeta_dot.backends import TargetInfo
from cajeta_dot.backends.llvm.machine import Machine
from cajeta_dot.backends.llvm.processors import KINDS, Processors, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends import Backend

NAME = "wasm32-simd128"
TRIPLE = "wasm32-unknown-unknown"
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = ("simd128", "relaxed-simd")

MACHINE = Machine(
    NAME, TRIPLE, LAYOUT, "generic", FEATURES, "wasm32", frozenset(FEATURES), halves="none", size_bits=32, mask_lanes=16
)
INFO = TargetInfo(NAME, "WebAssembly with SIMD and relaxed SIMD", KINDS, dot="i32x4.dot_i16x8_s")
TIERS = (Tier(INFO, MACHINE),)
backend: Backend = Processors("wasm32", TIERS)
