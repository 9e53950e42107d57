"""What the processor of this machine can do, by LLVM's names.

`CAJETA_HOST_FEATURES=avx2,fma` (or empty) takes the place of detection; `CAJETA_SIMD_SCALAR_FALLBACK=1` is for who chooses by
what is found here.
"""

from __future__ import annotations

import os
from functools import cache

from cajeta_dot.backends.x86_features import CPUS
from cajeta_dot.record import record

GENERIC = "generic"  # what LLVM calls a processor that it knows by its features only


@record
class Host:
    """`features` this machine has; `doubt` is why they are not to be relied on, in words, and empty if they are."""

    architecture: str
    features: frozenset[str]
    doubt: str = ""


_V3 = "sse2 sse3 ssse3 sse4.1 sse4.2 popcnt avx avx2 bmi bmi2 f16c fma lzcnt movbe"
_V4 = f"{_V3} avx512f avx512bw avx512cd avx512dq avx512vl"
# Every processor that has the first has the rest: so a list in the environment may name what matters only.
_IMPLIED = {"avx2": _V3, "avxvnni": _V3, "avx512vl": _V4, "avx512vnni": _V4}


def detect_host() -> Host:
    """The environment's word, or LLVM's."""
    named = os.environ.get("CAJETA_HOST_FEATURES")
    if named is None:
        return _ask_llvm()
    features = {word.strip() for word in named.split(",") if word.strip()}
    if not features:
        return Host("x86_64", frozenset(), "CAJETA_HOST_FEATURES is empty")
    for feature in list(features):
        features.update(_IMPLIED.get(feature, "").split())
    return Host("x86_64", frozenset(features))


def is_scalar_wanted() -> bool:
    """Has the user asked for no vector instructions?"""
    return os.environ.get("CAJETA_SIMD_SCALAR_FALLBACK", "") not in ("", "0")


@cache
def _ask_llvm() -> Host:
    import llvmlite.binding as llvm

    architecture = llvm.get_process_triple().partition("-")[0]
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
    if "avx2" in features and name not in (*CPUS, GENERIC):
        return Host(architecture, features, f"its name, `{name}`, is not one that LLVM is known to give")
    return Host(architecture, features)
