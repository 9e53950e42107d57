"""What x86 processors can do. Source: LLVM 22, X86.td and X86TargetParser.def; a test asks the LLVM at hand.

Listed is what our code or LLVM's can gain from.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.catalogue import Catalogue, by_processor

# Feature -> those that it brings along.
FEATURES: dict[str, str] = {
    "sse2": "",
    "sse3": "sse2",
    "ssse3": "sse3",
    "sse4.1": "ssse3",
    "sse4.2": "sse4.1",
    "popcnt": "",
    "lzcnt": "",
    "bmi": "",
    "bmi2": "",
    "movbe": "",
    "gfni": "sse2",
    "avx": "sse4.2",
    "f16c": "avx",
    "fma": "avx",
    "avx2": "avx",
    "avxvnni": "avx2",
    "avxvnniint8": "avx2",
    "avxvnniint16": "avx2",
    "avxifma": "avx2",
    "avxneconvert": "avx2",
    "avx512f": "avx2 f16c fma",
    "avx512cd": "avx512f",
    "avx512dq": "avx512f",
    "avx512bw": "avx512f",
    "avx512vl": "avx512f",
    "avx512vnni": "avx512f",
    "avx512ifma": "avx512f",
    "avx512vpopcntdq": "avx512f",
    "avx512vbmi": "avx512bw",
    "avx512vbmi2": "avx512bw",
    "avx512bitalg": "avx512bw",
    "avx512bf16": "avx512bw",
    "avx512fp16": "avx512bw",
    "avx10.1": (
        "avx512cd avx512dq avx512bw avx512vl avx512vnni avx512ifma avx512vpopcntdq avx512vbmi avx512vbmi2 avx512bitalg"
        " avx512bf16 avx512fp16"
    ),
    "avx10.2": "avx10.1",
}

_V2 = "sse4.2 popcnt"
_AVX = f"{_V2} avx"
_V3 = f"{_AVX} avx2 bmi bmi2 f16c fma lzcnt movbe"
_V4 = f"{_V3} avx512bw avx512cd avx512dq avx512vl"
_ICE = f"{_V4} avx512vnni avx512ifma avx512vpopcntdq avx512vbmi avx512vbmi2 avx512bitalg gfni"
_SAPPHIRE = f"{_ICE} avxvnni avx512bf16 avx512fp16"
_ALDER = f"{_V3} avxvnni gfni"
_ARROW = f"{_ALDER} avxvnniint8 avxifma avxneconvert"
_LUNAR = f"{_ARROW} avxvnniint16"

# Features -> the processors that have them.
_PROCESSORS = {
    "sse2": "x86-64 k8 opteron athlon64",
    "sse3": "nocona k8-sse3 opteron-sse3 athlon64-sse3",
    "ssse3": "core2",
    "ssse3 movbe": "bonnell atom",
    "sse4.1": "penryn",
    _V2: "x86-64-v2 nehalem corei7 westmere",
    f"{_V2} movbe": "silvermont slm goldmont",
    f"{_V2} movbe gfni": "tremont",
    _AVX: "sandybridge corei7-avx",
    f"{_AVX} f16c": "ivybridge core-avx-i",
    f"{_AVX} f16c bmi lzcnt movbe": "btver2",
    f"{_AVX} f16c bmi lzcnt fma": "bdver2 bdver3",
    _V3: "x86-64-v3 haswell core-avx2 broadwell skylake bdver4 znver1 znver2 znver3",
    f"{_V3} avx512f avx512cd": "knl",
    f"{_V3} avx512f avx512cd avx512vpopcntdq": "knm",
    _V4: "x86-64-v4 skylake-avx512 skx",
    f"{_V4} avx512vnni": "cascadelake",
    f"{_V4} avx512vnni avx512bf16": "cooperlake",
    f"{_V4} avx512ifma avx512vbmi": "cannonlake",
    _ICE: "icelake-client icelake-server rocketlake tigerlake",
    f"{_ICE} avx512bf16": "znver4",
    f"{_ICE} avx512bf16 avxvnni": "znver5",
    _SAPPHIRE: "sapphirerapids emeraldrapids graniterapids graniterapids-d",
    f"{_SAPPHIRE} avx10.2 {_LUNAR}": "diamondrapids",
    _ALDER: "alderlake raptorlake meteorlake gracemont",
    _ARROW: "arrowlake sierraforest grandridge",
    _LUNAR: "arrowlake-s lunarlake pantherlake wildcatlake clearwaterforest",
}


FORMS = frozenset(["sse2", "ssse3", "avx2", "avx512bw", "avx512vl", "avx512vnni", "avxvnni", "avxvnniint8", "avx10.2"])

X86 = Catalogue("x86", FEATURES, by_processor(_PROCESSORS), FORMS, halves="f16c")
