"""What the processor of this machine can do, by LLVM's names.

`CAJETA_HOST_FEATURES=avx2,fma` (or empty) takes the place of detection; `CAJETA_SIMD_SCALAR_FALLBACK=1` is for who chooses by
what is found here.
"""

from __future__ import annotations

import os
from functools import cache

from cajeta_dot.backends.x86_features import X86
from cajeta_dot.record import record

FEATURES_VARIABLE, SCALAR_VARIABLE = "CAJETA_HOST_FEATURES", "CAJETA_SIMD_SCALAR_FALLBACK"
GENERIC = "generic"  # what LLVM calls a processor that it knows by its features only


@record
class Host:
    """`features` this machine has; `doubt` is why they are not to be relied on, in words, and empty if they are. `name` is what
    LLVM calls the processor, empty where it was not asked."""

    architecture: str
    features: frozenset[str]
    doubt: str = ""
    name: str = ""


# What other programs call these processors.
_SPELLINGS = {"arm64": "aarch64", "AMD64": "x86_64"}
_V3 = "sse2 sse3 ssse3 sse4.1 sse4.2 popcnt avx avx2 bmi bmi2 f16c fma lzcnt movbe"
_V4 = f"{_V3} avx512f avx512bw avx512cd avx512dq avx512vl"
# Every processor that has the first has the rest: so a list in the environment may name what matters only.
_IMPLIED = {"avx2": _V3, "avxvnni": _V3, "avx512vl": _V4, "avx512vnni": _V4}


def find_architecture() -> str:
    """What LLVM calls the kind of this processor, by the system's word."""
    named = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    return _SPELLINGS.get(named, named)


def detect_host() -> Host:
    """The environment's word, or LLVM's."""
    named = os.environ.get(FEATURES_VARIABLE)
    if named is None:
        return _ask_llvm()
    features = {word.strip() for word in named.split(",") if word.strip()}
    doubt = "" if features else f"{FEATURES_VARIABLE} is empty"
    for feature in list(features):
        features.update(_IMPLIED.get(feature, "").split())
    architecture = find_architecture()
    return Host(architecture, frozenset(features | ({"neon"} if architecture == "aarch64" else set())), doubt)


def is_scalar_wanted() -> bool:
    """Has the user asked for no vector instructions?"""
    return os.environ.get(SCALAR_VARIABLE, "") not in ("", "0")


@cache
def _ask_llvm() -> Host:
    import llvmlite.binding as llvm

    named = llvm.get_process_triple().partition("-")[0]
    architecture = _SPELLINGS.get(named, named)
    if architecture == "aarch64":
        return Host(architecture, _ask_aarch64())
    if architecture != "x86_64":
        return Host(architecture, frozenset())
    try:
        found = llvm.get_host_cpu_features()
        name = llvm.get_host_cpu_name()
    except Exception as error:  # whatever it is, code for any x86-64 runs here
        return Host(architecture, frozenset(), f"LLVM can't tell its features ({type(error).__name__}: {error})")
    features = frozenset(feature for feature, present in found.items() if present and "avx10" not in feature)
    if not features:
        return Host(architecture, frozenset(), "LLVM finds no features at all")
    if "avx2" in features and name not in (*X86.cpus, GENERIC):
        return Host(architecture, features, f"its name, `{name}`, is not one that LLVM is known to give", name)
    return Host(architecture, features, name=name)


# Bits of the words that Linux hands to every process (its arch/arm64/include/uapi/asm/hwcap.h): AT_HWCAP and AT_HWCAP2.
_HWCAP, _HWCAP2 = 16, 26
_AARCH64_BITS = {"dotprod": (_HWCAP, 1 << 20), "i8mm": (_HWCAP2, 1 << 13)}
_DARWIN_NAMES = {"dotprod": b"hw.optional.arm.FEAT_DotProd", "i8mm": b"hw.optional.arm.FEAT_I8MM"}


def _ask_aarch64() -> frozenset[str]:
    """The system's word, for LLVM gives some features only by the name of the processor. What it can't tell is not there."""
    import ctypes
    import sys

    found = {"neon"}
    c = ctypes.CDLL(None)
    if sys.platform == "linux":
        c.getauxval.restype, c.getauxval.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
        found |= {feature for feature, (word, bit) in _AARCH64_BITS.items() if c.getauxval(word) & bit}
    elif sys.platform == "darwin":
        for feature, name in _DARWIN_NAMES.items():
            present, size = ctypes.c_int64(0), ctypes.c_size_t(8)
            if c.sysctlbyname(name, ctypes.byref(present), ctypes.byref(size), None, 0) == 0 and present.value:
                found.add(feature)
    return frozenset(found)
