"""The tables of x86 processors and features against the LLVM at hand, which ends the process where one is wrong."""

from __future__ import annotations

import faulthandler
import os
import re
from typing import TYPE_CHECKING

import llvmlite.binding as llvm
import pytest

from cajeta_dot.backends.x86 import TIERS, TRIPLE
from cajeta_dot.backends.x86_features import CPUS, FEATURES, features_of, with_implied, without

if TYPE_CHECKING:
    from collections.abc import Iterable

V16, V32, V64 = "<16 x i8>", "<32 x i8>", "<64 x i8>"


def dot(name: str, lanes: int, bytes: str) -> str:
    type = f"<{lanes} x i32>"
    declaration = f"declare {type} @{name}({type}, {bytes}, {bytes})\n"
    body = f"%r = call {type} @{name}({type} %a, {bytes} %b, {bytes} %b)\n ret {type} %r"
    return f"{declaration}define {type} @f({type} %a, {bytes} %b) #0 {{ {body} }}"


def plain(type: str, body: str, declaration: str = "") -> str:
    return f"{declaration}\ndefine {type} @f({type} %a, {type} %b) #0 {{ {body}\n ret {type} %r }}"


def call(type: str, name: str, operands: int = 1) -> str:
    types = ", ".join([type] * operands)
    given = ", ".join(f"{type} %{name}" for name in "ab"[:operands])
    return plain(type, f"%r = call {type} @{name}({given})", f"declare {type} @{name}({types})")


def count_zeros(type: str, suffix: str) -> str:
    name = f"llvm.ctlz.{suffix}"
    return plain(type, f"%r = call {type} @{name}({type} %a, i1 0)", f"declare {type} @{name}({type}, i1)")


# Feature -> a function whose assembly shows one of these instructions exactly where the feature is there. Where LLVM can't do
# without, it ends the process instead.
PROBES: dict[str, tuple[str, str]] = {
    "sse3": (call("<2 x double>", "llvm.x86.sse3.addsub.pd", 2), "addsubpd"),
    "ssse3": (call(V16, "llvm.x86.ssse3.pshuf.b.128", 2), "pshufb"),
    "sse4.1": (call("<4 x float>", "llvm.floor.v4f32"), "roundps|rndscale"),
    "sse4.2": (plain("<2 x i64>", "%c = icmp sgt <2 x i64> %a, %b\n %r = sext <2 x i1> %c to <2 x i64>"), "pcmpgtq|vpcomgtq"),
    "popcnt": (call("i64", "llvm.ctpop.i64"), "popcnt"),
    "lzcnt": (count_zeros("i64", "i64"), "lzcnt"),
    "bmi": (plain("i64", "%n = xor i64 %b, -1\n %r = and i64 %a, %n"), "andn"),
    "bmi2": (plain("i64", "%r = shl i64 %a, %b"), "shlx"),
    "movbe": (
        "declare i64 @llvm.bswap.i64(i64)\n"
        "define i64 @f(ptr %p) #0 { %a = load i64, ptr %p\n %r = call i64 @llvm.bswap.i64(i64 %a)\n ret i64 %r }",
        "movbe",
    ),
    "avx": (plain("<8 x float>", "%r = fadd <8 x float> %a, %b"), "ymm"),
    "f16c": (
        "define <4 x float> @f(<4 x half> %a) #0 { %r = fpext <4 x half> %a to <4 x float>\n ret <4 x float> %r }",
        "vcvt",
    ),
    "fma": (
        plain(
            "<4 x float>",
            "%r = call <4 x float> @llvm.fma.v4f32(<4 x float> %a, <4 x float> %b, <4 x float> %b)",
            "declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)",
        ),
        "vfmadd",
    ),
    "avx2": (plain(V32, f"%r = add {V32} %a, %b"), "vpaddb.*ymm"),
    "avx512f": (plain("<16 x float>", "%r = fadd <16 x float> %a, %b"), "zmm"),
    "avx512cd": (count_zeros("<16 x i32>", "v16i32"), "vplzcntd"),
    "avx512dq": (plain("<8 x i64>", "%r = mul <8 x i64> %a, %b"), "vpmullq"),
    "avx512bw": (plain(V64, f"%r = add {V64} %a, %b"), "vpaddb.*zmm"),
    "avx512vl": (plain("<2 x i64>", "%c = ashr <2 x i64> %a, splat (i64 7)\n %r = add <2 x i64> %c, %b"), "vpsraq.*%xmm"),
    "avx512vnni": (dot("llvm.x86.avx512.vpdpbusd.512", 16, V64), "vpdpbusd"),
    "avxvnniint8": (dot("llvm.x86.avx2.vpdpbssd.256", 8, V32), "vpdpbssd"),
    "avx10.2": (dot("llvm.x86.avx10.vpdpbssd.512", 16, V64), "vpdpbssd"),
}  # fmt: skip


def assemble(probes: Iterable[str], cpu: str, features: Iterable[str] = ()) -> dict[str, str]:
    """The assembly of each probe, made in one module."""
    target = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=cpu, features=",".join(f"+{f}" for f in features))
    texts = [re.sub(r"@f\(", f'@"f {name}"(', PROBES[name][0]).splitlines() for name in probes]
    declared = dict.fromkeys(line for text in texts for line in text if line.startswith("declare"))
    defined = [line for text in texts for line in text if not line.startswith("declare")]
    module = llvm.parse_assembly(
        "\n".join([f'target triple = "{TRIPLE}"', *declared, *defined, "attributes #0 = { nounwind }"])
    )
    module.verify()
    parts = re.split(r'^"f (\S+)":.*$', target.emit_assembly(module), flags=re.MULTILINE)
    return {name: text.partition(".Lfunc_end")[0] for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def find_shown(probes: Iterable[str], cpu: str, features: Iterable[str] = ()) -> set[str] | None:
    """The probes whose instruction is used, as a child process says; None if LLVM ended it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            faulthandler.disable()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            assembly = assemble(probes, cpu, features)
            shown = [name for name, text in assembly.items() if re.search(PROBES[name][1], text)]
            os.write(writer, " ".join(["alive", *shown]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        words = file.read().split()
    os.waitpid(child, 0)
    return set(words[1:]) if words else None


FATAL = {name for name, (text, _) in PROBES.items() if "@llvm.x86." in text}  # without the feature LLVM gives up


@pytest.fixture(scope="module", autouse=True)
def _initialized() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def test_every_probe_tells_with_from_without() -> None:
    assert find_shown(PROBES.keys() - FATAL, "x86-64") == set()
    for name in FATAL:
        assert find_shown([name], "x86-64") in (None, set()), name


@pytest.mark.parametrize("cpu", CPUS)
def test_processors_have_the_features_of_the_table(cpu: str) -> None:
    has = features_of(cpu) & PROBES.keys()
    assert find_shown(has | (PROBES.keys() - FATAL), cpu) == has


@pytest.mark.parametrize("feature", FEATURES)
def test_features_bring_along_what_the_table_says(feature: str) -> None:
    brings = with_implied([feature]) & PROBES.keys()
    assert find_shown(brings | (PROBES.keys() - FATAL), "x86-64", [feature]) == brings


def test_what_is_taken_away_takes_what_needs_it() -> None:
    everything = with_implied(FEATURES)
    left = without(everything, "avx2")
    assert {"avx", "fma", "f16c", "bmi", "gfni"} <= left
    assert not left & {"avx2", "avxvnni", "avxvnniint8", "avx512f", "avx512vnni", "avx10.2"}
    assert "avx512vnni" in without(everything, "avxvnni")
    for feature in FEATURES:
        rest = without(everything, feature)
        assert with_implied(rest) == rest
        assert feature not in rest


def test_every_target_is_closed_under_what_its_features_bring_along() -> None:
    for tier in TIERS:
        features = set(tier.machine.features)
        assert features <= FEATURES.keys()
        missing = with_implied(features) - features
        assert missing <= with_implied(["avx10.2"]), (tier.info.name, missing)


def test_native_code_for_a_processor_is_the_best_that_it_has() -> None:
    best = {cpu: next(tier.info.name for tier in TIERS if features_of(cpu).issuperset(tier.machine.features)) for cpu in CPUS}
    assert {
        cpu: best[cpu] for cpu in ("x86-64", "core2", "haswell", "skylake-avx512", "znver4", "alderlake", "sierraforest")
    } == {
        **{"x86-64": "x86-sse2", "core2": "x86-ssse3", "haswell": "x86-avx2", "skylake-avx512": "x86-avx512bw"},
        **{"znver4": "x86-vnni", "alderlake": "x86-avxvnni", "sierraforest": "x86-avxvnniint8"},
    }
    assert best["diamondrapids"] == "x86-avx10.2"
