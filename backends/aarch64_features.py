"""What AArch64 processors can do. Source: LLVM 22, AArch64Features.td and AArch64Processors.td; a test asks the LLVM at hand.

Listed is what our code or LLVM's can gain from. Every processor for programs has `neon`.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.catalogue import Catalogue, by_processor

FEATURES = {
    "neon": "",
    "fullfp16": "neon",
    "bf16": "neon",
    "dotprod": "neon",
    "i8mm": "neon",
    "sve": "fullfp16",
    "sve2": "sve",
}
_DOT = "dotprod fullfp16"
_MATRIX = f"{_DOT} i8mm bf16"
_PROCESSORS = {
    "neon": (
        "generic cortex-a34 cortex-a35 cortex-a53 cortex-a57 cortex-a72 cortex-a73 thunderx thunderxt81 thunderxt83 thunderxt88"
        " thunderx2t99 thunderx3t110 kryo falkor exynos-m3 cyclone apple-a7 apple-a8 apple-a9 apple-a10"
    ),
    "fullfp16": "carmel apple-a11 apple-a12 apple-s4 apple-s5",
    "dotprod": "saphira",
    _DOT: (
        "cortex-a55 cortex-a65 cortex-a65ae cortex-a75 cortex-a76 cortex-a76ae cortex-a77 cortex-a78 cortex-a78ae cortex-a78c"
        " cortex-x1 cortex-x1c neoverse-e1 neoverse-n1 tsv110 exynos-m4 exynos-m5 apple-a13 apple-a14 apple-s6 apple-m1"
    ),
    "sve": "a64fx",
    _MATRIX: (
        "oryon-1 ampere1 ampere1a ampere1b apple-a15 apple-a16 apple-a17 apple-a18 apple-a19 apple-s9 apple-s10 apple-m2"
        " apple-m3 apple-m4 apple-m5"
    ),
    f"{_MATRIX} sve": "neoverse-v1 neoverse-512tvb",
    f"{_MATRIX} sve2": (
        "cortex-a320 cortex-a510 cortex-a520 cortex-a520ae cortex-a710 cortex-a715 cortex-a720 cortex-a720ae cortex-a725"
        " cortex-x2 cortex-x3 cortex-x4 cortex-x925 neoverse-n2 neoverse-n3 neoverse-v2 neoverse-v3 neoverse-v3ae grace gb10"
        " c1-nano c1-premium c1-pro c1-ultra fujitsu-monaka olympus ampere1c"
    ),
}

# LLVM's tables of how long instructions take have holes for some of them (oryon-1, ampere1b), and it ends the process there.
AARCH64 = Catalogue("AArch64", FEATURES, by_processor(_PROCESSORS), frozenset(["neon", "dotprod", "i8mm"]), tunes=False)
