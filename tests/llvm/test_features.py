"""The tables of processors and features against the LLVM at hand, which ends the process where one is wrong."""

from __future__ import annotations

import faulthandler
import os
import re
import tempfile
from typing import TYPE_CHECKING, NamedTuple

import llvmlite.binding as llvm
import pytest

from cajeta_dot.backends import aarch64, x86
from cajeta_dot.backends.aarch64_features import AARCH64
from cajeta_dot.backends.x86_features import X86

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cajeta_dot.backends.llvm.catalogue import Catalogue
    from cajeta_dot.backends.llvm.processors import Tier

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
X86_PROBES: dict[str, tuple[str, str]] = {
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


MULTIPLY = plain("<2 x i64>", "%r = mul <2 x i64> %a, %b")
AARCH64_PROBES = {
    "neon": (plain(V16, f"%r = add {V16} %a, %b"), r"add\s+v\d+\.16b"),
    "fullfp16": (plain("<8 x half>", "%r = fadd <8 x half> %a, %b"), r"fadd\s+v\d+\.8h"),
    "bf16": (
        "define <4 x bfloat> @f(<4 x float> %a) #0 { %r = fptrunc <4 x float> %a to <4 x bfloat>\n ret <4 x bfloat> %r }",
        "bfcvtn",
    ),
    "dotprod": (dot("llvm.aarch64.neon.sdot.v4i32.v16i8", 4, V16), "sdot"),
    "i8mm": (dot("llvm.aarch64.neon.usdot.v4i32.v16i8", 4, V16), "usdot"),
    "sve": (MULTIPLY, r"mul\s+z\d"),
    "sve2": (MULTIPLY, r"mul\s+z\d+\.d, z"),
}


class Family(NamedTuple):
    """`fatal`: probes at which LLVM gives up without the feature. `base`: a processor that has none but what all have."""

    catalogue: Catalogue
    tiers: tuple[Tier, ...]
    triple: str
    base: str
    probes: Mapping[str, tuple[str, str]]

    @property
    def fatal(self) -> set[str]:
        return {name for name, (text, _) in self.probes.items() if re.search(r"@llvm\.(x86|aarch64)\.", text)}

    @property
    def harmless(self) -> set[str]:
        return self.probes.keys() - self.fatal


FAMILIES = {
    "x86": Family(X86, x86.TIERS, x86.TRIPLE, "x86-64", X86_PROBES),
    "aarch64": Family(AARCH64, aarch64.TIERS, aarch64.TRIPLE, "generic", AARCH64_PROBES),
}


def assemble(family: Family, probes: Iterable[str], cpu: str, features: Iterable[str] = ()) -> dict[str, str]:
    """The assembly of each probe, made in one module."""
    plus = ",".join(f"+{feature}" for feature in features)
    target = llvm.Target.from_triple(family.triple).create_target_machine(cpu=cpu, features=plus)
    texts = [re.sub(r"@f\(", f'@"f {name}"(', family.probes[name][0]).splitlines() for name in probes]
    declared = dict.fromkeys(line for text in texts for line in text if line.startswith("declare"))
    defined = [line for text in texts for line in text if not line.startswith("declare")]
    module = llvm.parse_assembly(
        "\n".join([f'target triple = "{family.triple}"', *declared, *defined, "attributes #0 = { nounwind }"])
    )
    module.verify()
    parts = re.split(r'^"f (\S+)":.*$', target.emit_assembly(module), flags=re.MULTILINE)
    return {name: text.partition(".Lfunc_end")[0] for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def find_shown(family: Family, probes: Iterable[str], cpu: str, features: Iterable[str] = ()) -> set[str] | None:
    """The probes whose instruction is used, as a child process says; None if LLVM ended it, or muttered."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            faulthandler.disable()
            with tempfile.TemporaryFile() as said:
                os.dup2(said.fileno(), 2)
                assembly = assemble(family, probes, cpu, features)
                shown = [name for name, text in assembly.items() if re.search(family.probes[name][1], text)]
                os.write(writer, " ".join(["alive", *shown]).encode() if not said.seek(0, os.SEEK_END) else b"")
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        words = file.read().split()
    os.waitpid(child, 0)
    return set(words[1:]) if words else None


@pytest.fixture(scope="module", autouse=True)
def _initialized() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_probe_tells_with_from_without(name: str) -> None:
    family = FAMILIES[name]
    always = family.catalogue.features_of(family.base) & family.probes.keys()
    assert find_shown(family, family.harmless, family.base) == always
    for probe in family.fatal:
        assert find_shown(family, [probe], family.base) in (None, set()), probe
    assert find_shown(family, family.harmless, "pentium-six") is None, "LLVM mutters about names that it does not know"


@pytest.mark.parametrize(("name", "cpu"), [(name, cpu) for name, family in FAMILIES.items() for cpu in family.catalogue.cpus])
def test_processors_have_the_features_of_the_table(name: str, cpu: str) -> None:
    family = FAMILIES[name]
    has = family.catalogue.features_of(cpu) & family.probes.keys()
    assert find_shown(family, has | family.harmless, cpu) == has


@pytest.mark.parametrize(
    ("name", "feature"), [(name, feature) for name, family in FAMILIES.items() for feature in family.catalogue.features]
)
def test_features_bring_along_what_the_table_says(name: str, feature: str) -> None:
    family = FAMILIES[name]
    always = family.catalogue.features_of(family.base)
    brings = (always | family.catalogue.with_implied([feature])) & family.probes.keys()
    assert find_shown(family, brings | family.harmless, family.base, [feature]) == brings


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_taken_away_takes_what_needs_it(name: str) -> None:
    catalogue = FAMILIES[name].catalogue
    everything = catalogue.with_implied(catalogue.features)
    for feature in catalogue.features:
        rest = catalogue.without(everything, feature)
        assert catalogue.with_implied(rest) == rest
        assert feature not in rest


def test_what_needs_avx2() -> None:
    left = X86.without(X86.with_implied(X86.features), "avx2")
    assert {"avx", "fma", "f16c", "bmi", "gfni"} <= left
    assert not left & {"avx2", "avxvnni", "avxvnniint8", "avx512f", "avx512vnni", "avx10.2"}
    assert "avx512vnni" in X86.without(X86.with_implied(X86.features), "avxvnni")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_target_is_closed_under_what_its_features_bring_along(name: str) -> None:
    catalogue = FAMILIES[name].catalogue
    for tier in FAMILIES[name].tiers:
        features = set(tier.machine.features)
        assert features <= catalogue.features.keys()
        missing = catalogue.with_implied(features) - features
        assert missing <= X86.with_implied(["avx10.2"]), (tier.info.name, missing)
