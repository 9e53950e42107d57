"""The x86-64 targets: which features each may use, and which of them this machine can run.

The table here decides what reaches LLVM: code is always written for a row of `TIERS`, never for whatever the host is.
"""

from __future__ import annotations

from cajeta_dot.backends import Artifact, Loaded, TargetInfo
from cajeta_dot.backends.llvm.machine import Machine
from cajeta_dot.backends.x86_features import CPUS, FEATURES, features_of
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends import Backend, Options
    from cajeta_dot.backends.llvm.modules import ModuleText
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

TRIPLE = "x86_64-unknown-linux-gnu"
LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
KINDS = ("llvm-ir", "asm", "obj")

# What LLVM may use beyond plain x86-64, and the machine must have. The telling one first: it is what a message names.
_SSE2 = ("sse2",)
_SSSE3 = ("ssse3", "sse3", *_SSE2)
_AVX2 = ("avx2", "fma", "f16c", "avx", "sse4.1", "sse4.2", "popcnt", "bmi", "bmi2", "lzcnt", "movbe", *_SSSE3)
_AVX512 = ("avx512bw", "avx512f", "avx512cd", "avx512dq", "avx512vl", *_AVX2)


@record
class Tier:
    """One target."""

    info: TargetInfo
    machine: Machine


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
    halves = "float32" if "f16c" in features else "none"
    machine = Machine(name, TRIPLE, LAYOUT, "x86-64", features, "x86", frozenset(forms.split()), halves, clamps=clamps)
    return Tier(_inform(name, summary, dot, aliases), machine)


def _inform(name: str, summary: str, dot: str, aliases: tuple[str, ...] = ()) -> TargetInfo:
    return TargetInfo(name, summary, KINDS, True, aliases, dot, cpus=tuple(CPUS), features=tuple(FEATURES))


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
NATIVE = _inform("native", "the best of the x86 targets that this machine has", "as that target's")


class X86Backend:
    """All targets of this page. `native` is one of the others, chosen anew each time."""

    name = "x86"

    def targets(self) -> Sequence[TargetInfo]:
        return (NATIVE, *(tier.info for tier in (*TIERS, CLAMPING)))

    def missing(self, target: str) -> str:
        """What this machine lacks, as a message names it."""
        return _find_missing(() if target == NATIVE.name else _find_tier(target).machine.features)

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """As the protocol says; `kind` is one of KINDS."""
        machine = resolve(target, options, reporter)
        module = machine and _write(program, machine, options, reporter)
        if not machine or not module:
            return None
        if kind == "llvm-ir":
            return Artifact(kind, module.text, module.choices)
        from cajeta_dot.backends.llvm.assembler import write_assembly, write_object

        make = write_object if kind == "obj" else write_assembly
        return Artifact(kind, make(module.text, machine, options.optimize), module.choices)

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """As the protocol says."""
        machine = resolve(target, options, reporter)
        if machine is None:
            return None
        missing = _find_missing(machine.features)
        if missing:
            from cajeta_dot.diagnostics import Help
            from cajeta_dot.diagnostics.rules import FEATURE_MISSING

            message = f"`{target}` needs {missing}, which this CPU lacks"
            reporter.report(FEATURE_MISSING, message, None, helps=[Help("`--target native`")])
            return None
        module = _write(program, machine, options, reporter)
        if module is None:
            return None
        from cajeta_dot.backends.llvm.jit import load_module

        return Loaded(load_module(program.source, module, machine, options.optimize), module.choices)


def _find_missing(features: Sequence[str]) -> str:
    """What this machine lacks of these, as a message names it; empty if nothing."""
    from cajeta_dot.backends.llvm.host import detect_host

    host = detect_host()
    if host.architecture != "x86_64":
        return "an x86-64 processor"
    return next((f"`{feature}`" for feature in features if feature not in host.features), "")


def _write(program: Program, machine: Machine, options: Options, reporter: Reporter) -> ModuleText | None:
    from cajeta_dot.backends.llvm.compile import remark_scalar, warn_clamping, write_program

    module = write_program(program, machine, options.checks, reporter)
    if module:
        warn_clamping(module.choices, machine, reporter)
        remark_scalar(module.choices, machine, "`x86-avx2` would pack it", reporter)
    return module


def resolve(target: str, options: Options, reporter: Reporter) -> Machine | None:
    """What a target or alias is, as the user wants it; None after an error."""
    wishes = options.cpu or options.features
    if wishes:
        from cajeta_dot.backends.x86_refine import check_names, refine

        if not check_names(options, target, reporter):
            return None
        machine = _choose_native(options, reporter) if target == NATIVE.name else _find_tier(target).machine
        return refine(machine, options, reporter)
    return _choose_native(options, reporter) if target == NATIVE.name else _find_tier(target).machine


def _choose_native(options: Options, reporter: Reporter) -> Machine:
    """The best for a processor that is named, or for this one. Where this one can't be told it is scalar, as is said aloud."""
    from cajeta_dot.backends.llvm.host import detect_host, is_scalar_wanted

    if options.cpu:
        features = features_of(options.cpu)
    else:
        host = detect_host()
        if host.doubt:
            from cajeta_dot.diagnostics.rules import HOST_IN_DOUBT

            reporter.report(HOST_IN_DOUBT, f"`native` is `{SCALAR.info.name}`: {host.doubt}", None)
        features = frozenset[str]() if host.doubt else host.features
    if is_scalar_wanted():
        return SCALAR.machine
    if options.features:
        from cajeta_dot.backends.x86_refine import change_features

        features = change_features(features, options)
    return next(tier.machine for tier in TIERS if features.issuperset(tier.machine.features))


def _find_tier(target: str) -> Tier:
    return next(tier for tier in (*TIERS, CLAMPING) if target == tier.info.name or target in tier.info.aliases)


backend: Backend = X86Backend()
