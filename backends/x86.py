"""The x86-64 targets: which features each may use.

The table here decides what reaches LLVM: code is always written for a row of `TIERS`, never for whatever the host is.
"""

from __future__ import annotations

from cajeta_dot.backends import TargetInfo
from cajeta_dot.backends.llvm.host import find_architecture
from cajeta_dot.backends.llvm.machine import Machine
from cajeta_dot.backends.llvm.processors import KINDS, Processors, Tier
from cajeta_dot.backends.x86_features import X86

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.llvm.processors import Variants
    from cajeta_dot.source import Source

TRIPLE = "x86_64-unknown-linux-gnu"
LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

# What LLVM may use beyond plain x86-64, and the machine must have. The telling one first: it is what a message names.
_SSE2 = ("sse2",)
_SSSE3 = ("ssse3", "sse3", *_SSE2)
_AVX2 = ("avx2", "fma", "f16c", "avx", "sse4.1", "sse4.2", "popcnt", "bmi", "bmi2", "lzcnt", "movbe", *_SSSE3)
_AVX512 = ("avx512bw", "avx512f", "avx512cd", "avx512dq", "avx512vl", *_AVX2)
JOINED = ("obj", "header")  # kinds of which one output can hold several targets
_RUNS = find_architecture() == "x86_64"


def _row(
    name: str,
    summary: str,
    dot: str,
    features: tuple[str, ...] = (),
    forms: str = "",
    aliases: tuple[str, ...] = (),
    clamps: bool = False,
) -> Tier:
    """`features`: what LLVM may use. `forms`: those that dot products may be written with."""
    halves = "f16c" if "f16c" in features else "none"
    machine = Machine(name, TRIPLE, LAYOUT, "x86-64", features, "x86", frozenset(forms.split()), halves, clamps=clamps)
    cpus, known = tuple(X86.cpus), tuple(X86.features)
    joins = () if clamps else JOINED
    info = TargetInfo(name, summary, KINDS, _RUNS, aliases, dot, cpus=cpus, features=known, joins=joins, keeps=_RUNS)
    return Tier(info, machine)


TIERS = (  # the best first
    _row(
        "x86-avx10.2",
        "AVX10.2, 512 bits",
        "vpdpbusd, vpdpbssd, vpdpbuud",
        ("avx10.2", "avxvnniint8", "avxvnni", "avx512vnni", *_AVX512),
        "sse2 ssse3 avx2 avx512bw avx512vl avx512vnni avxvnni avxvnniint8 avx10.2",
    ),
    _row(
        "x86-vnni",
        "AVX-512 with VNNI, 128 to 512 bits",
        "vpdpbusd",
        ("avx512vnni", *_AVX512),
        "sse2 ssse3 avx2 avx512bw avx512vl avx512vnni",
        ("x86-avx512vnni",),
    ),
    _row(
        "x86-avxvnniint8",
        "AVX-VNNI-INT8, 256 bits",
        "vpdpbusd, vpdpbssd, vpdpbuud",
        ("avxvnniint8", "avxvnni", *_AVX2),
        "sse2 ssse3 avx2 avxvnni avxvnniint8",
    ),
    _row("x86-avxvnni", "AVX2 with AVX-VNNI, 256 bits", "{vex} vpdpbusd", ("avxvnni", *_AVX2), "sse2 ssse3 avx2 avxvnni"),
    _row("x86-avx512bw", "AVX-512 before VNNI", "vpmaddubsw, split on bit 7", _AVX512, "sse2 ssse3 avx2 avx512bw"),
    _row("x86-avx2", "AVX2, exact for all bytes", "vpmaddubsw, split on bit 7", _AVX2, "sse2 ssse3 avx2"),
    _row("x86-ssse3", "SSSE3, exact for all bytes", "pmaddubsw, split on bit 7", _SSSE3, "sse2 ssse3"),
    _row("x86-sse2", "any x86-64, bytes in vectors", "pmaddwd on even and odd bytes", _SSE2, "sse2"),
    _row("x86-scalar", "any x86-64, bytes multiplied one by one", "imul, add", aliases=("scalar",)),
)
# The one target that is not exact, for who must have what other software computes there; never chosen by itself.
CLAMPING = _row(
    "x86-maddubs",
    "AVX2, clamps each pair of products to 16 bits: not exact",
    "vpmaddubsw",
    _AVX2,
    "sse2 ssse3 avx2",
    clamps=True,
)
SCALAR = TIERS[-1]


def _join(source: Source, variants: Variants, optimize: int) -> bytes:
    from cajeta_dot.backends.x86_dispatch import write_joined

    return write_joined(source, variants, SCALAR.machine, optimize)


backend = Processors("x86", (*TIERS, CLAMPING), better="x86-avx2", catalogue=X86, join=_join)
