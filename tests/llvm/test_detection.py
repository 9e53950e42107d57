"""What an object finds out about the processor that it runs on: its own code, asked on processors that are made up."""

from __future__ import annotations

import ctypes

import pytest

from cajeta_dot.backends.llvm.assembler import write_joined_object
from cajeta_dot.backends.llvm.host import detect_host
from cajeta_dot.backends.llvm.jit import link, write_object_here
from cajeta_dot.backends.x86 import CLAMPING, SCALAR, TIERS
from cajeta_dot.backends.x86_cpuid import FEATURES
from cajeta_dot.backends.x86_dispatch import PROCESSOR, name_chooser, write_dispatcher
from cajeta_dot.backends.x86_features import X86
from cajeta_dot.record import replace

from .programs import SOURCE

MACHINES = [tier.machine for tier in reversed(TIERS)]
NAMES = [machine.target for machine in MACHINES]
ANY = 2**31 - 1
Leaves = dict[tuple[int, int], tuple[int, int, int, int]]

# What these processors answer, in the registers that matter: (leaf, subleaf) -> eax, ebx, ecx, edx.
CORE2: Leaves = {
    (0, 0): (0xD, 0, 0, 0),
    (1, 0): (0x1067A, 0, 0x0C08E3FD, 0xBFEBFBFF),
    (0x80000000, 0): (0x80000008, 0, 0, 0),
    (0x80000001, 0): (0, 0, 1, 0x20100800),
}
HASWELL: Leaves = {
    (0, 0): (0xD, 0, 0, 0),
    (1, 0): (0x306C3, 0, 0x7FFAFBBF, 0xBFEBFBFF),
    (7, 0): (0, 0x000027AB, 0, 0),
    (0x80000000, 0): (0x80000008, 0, 0, 0),
    (0x80000001, 0): (0, 0, 0x21, 0x2C100800),
}
SKYLAKE_SERVER = HASWELL | {(7, 0): (0, 0xD39FFFFB, 0x00000008, 0x9C002400)}
CASCADE_LAKE = HASWELL | {(7, 0): (0, 0xD39FFFFB, 0x00000808, 0xBC002400)}
ALDER_LAKE = HASWELL | {
    (0, 0): (0x20, 0, 0, 0),
    (7, 0): (2, 0x239CA7EB, 0x98C007AC, 0xFC18C410),
    (7, 1): (0x00401C10, 0, 0, 0),
}
SIERRA_FOREST = ALDER_LAKE | {(7, 1): (0x40C01FB0, 0, 0, 0x00064230)}
ZEN4 = HASWELL | {
    (0, 0): (0x10, 0, 0, 0),
    (1, 0): (0xA60F12, 0, 0x7EF8320B, 0x178BFBFF),
    (7, 0): (1, 0xF1BF97A9, 0x00405FCE, 0x10000010),
    (7, 1): (0x00000020, 0, 0, 0),
    (0x80000001, 0): (0, 0, 0x75C237FF, 0x2FD3FBFF),
}
DIAMOND_RAPIDS = ZEN4 | {
    (0, 0): (0x24, 0, 0, 0),
    (7, 0): (2, 0xF1BFA7EB, 0x1BC05FEE, 0),
    (7, 1): (0x00401C30, 0, 0, 0x000C4230),
    (0x24, 0): (0, 0x00070002, 0, 0),
}
SAVES = {"nothing": 0x3, "ymm": 0x7, "zmm": 0xE7, "amx too": 0x602E7}
NO_XSAVE = {(1, 0): (0x306C3, 0, 0x77FAFBBF, 0xBFEBFBFF)}  # bit 27 of ecx

# Name -> the processor, what its system saves, the best target.
CASES = {
    "no SSSE3": (CORE2 | {(1, 0): (0xF4A, 0, 0x0000641D, 0xBFEBFBFF)}, "nothing", "x86-sse2"),
    "Core 2": (CORE2, "nothing", "x86-ssse3"),
    "Haswell": (HASWELL, "ymm", "x86-avx2"),
    "Haswell, nothing wider than XMM saved": (HASWELL, "nothing", "x86-ssse3"),
    "Haswell, a system without XSAVE": (HASWELL | NO_XSAVE, "zmm", "x86-ssse3"),
    "Haswell, leaves above 3 hidden": (HASWELL | {(0, 0): (3, 0, 0, 0)}, "ymm", "x86-ssse3"),
    "Haswell, no extended leaves": (HASWELL | {(0x80000000, 0): (0x80000000, 0, 0, 0)}, "ymm", "x86-ssse3"),
    "Skylake, a server's": (SKYLAKE_SERVER, "zmm", "x86-avx512bw"),
    "Skylake, a server's, ZMM not saved": (SKYLAKE_SERVER, "ymm", "x86-avx2"),
    "Cascade Lake": (CASCADE_LAKE, "zmm", "x86-vnni"),
    "Cascade Lake, ZMM not saved": (CASCADE_LAKE, "ymm", "x86-avx2"),
    "Cascade Lake, upper registers not saved": (CASCADE_LAKE, 0x67, "x86-avx2"),
    "Alder Lake": (ALDER_LAKE, "ymm", "x86-avxvnni"),
    "Alder Lake, subleaves hidden": (ALDER_LAKE | {(7, 0): (0, 0x239CA7EB, 0, 0)}, "ymm", "x86-avx2"),
    "Sierra Forest": (SIERRA_FOREST, "ymm", "x86-avxvnniint8"),
    "Sapphire Rapids": (CASCADE_LAKE, "amx too", "x86-vnni"),
    "Zen 4": (ZEN4, "zmm", "x86-vnni"),
    "AVX10.2": (DIAMOND_RAPIDS, "zmm", "x86-avx10.2"),
    "AVX10.1": (DIAMOND_RAPIDS | {(0x24, 0): (0, 0x00070001, 0, 0)}, "zmm", "x86-vnni"),
    "AVX10.3": (DIAMOND_RAPIDS | {(0x24, 0): (0, 0x00070003, 0, 0)}, "zmm", "x86-avx10.2"),
    "leaf 24H without AVX10": (DIAMOND_RAPIDS | {(7, 1): (0x30, 0, 0, 0x30)}, "zmm", "x86-vnni"),
    "AVX10.2, ZMM not saved": (DIAMOND_RAPIDS, "ymm", "x86-avxvnniint8"),
}


def pretend(leaves: Leaves, saved: int) -> str:
    """LLVM IR for the two instructions. What isn't there answers with ones, as a leaf behind the last may."""
    blocks = ["define internal void @cajeta.cpuid(i32 %leaf, i32 %subleaf, ptr %registers) {"]
    for (leaf, subleaf), registers in leaves.items():
        label = f"at.{leaf:x}.{subleaf}"
        numbers = ", ".join(f"i32 {number - (number >> 31 << 32)}" for number in registers)
        blocks.append(f"  %{label}.a = icmp eq i32 %leaf, {leaf - (leaf >> 31 << 32)}")
        blocks.append(f"  %{label}.b = icmp eq i32 %subleaf, {subleaf}")
        blocks.append(f"  %{label}.c = and i1 %{label}.a, %{label}.b")
        blocks.append(f"  br i1 %{label}.c, label %{label}, label %not.{label}")
        blocks.append(f"{label}:\n  store <4 x i32> <{numbers}>, ptr %registers, align 4\n  ret void\nnot.{label}:")
    blocks.append("  store <4 x i32> splat (i32 -1), ptr %registers, align 4\n  ret void\n}")
    return "\n".join([*blocks, f"define internal i32 @cajeta.xgetbv() {{\n  ret i32 {saved}\n}}\n"])


def ask(leaves: Leaves, saved: int, newest: int = ANY) -> int:
    text = write_dispatcher(SOURCE, {}, MACHINES)
    assert PROCESSOR in text
    name = name_chooser(SOURCE)
    code = write_object_here(text.replace(PROCESSOR, pretend(leaves, saved)), SCALAR.machine, 0)
    linked = link(code, [name], SCALAR.machine)
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(linked[name])(newest)


@pytest.mark.parametrize("case", CASES)
def test_the_best_target_is_found(case: str) -> None:
    leaves, saves, best = CASES[case]
    found = ask(leaves, SAVES[saves] if isinstance(saves, str) else saves)
    assert NAMES[found] == best


@pytest.mark.parametrize("newest", range(-1, len(NAMES)))
def test_no_later_one_is_taken_than_is_wanted(newest: int) -> None:
    """Alder Lake has AVX-VNNI, but nothing of AVX-512."""
    able = [NAMES.index(name) for name in ("x86-scalar", "x86-sse2", "x86-ssse3", "x86-avx2", "x86-avxvnni")]
    assert ask(ALDER_LAKE, SAVES["ymm"], newest) == max((number for number in able if number <= newest), default=-1)


@pytest.mark.parametrize("feature", TIERS[0].machine.features)
def test_every_feature_is_asked_for(feature: str) -> None:
    """A processor that lacks one alone has none of the targets that need it."""
    lacking = dict(DIAMOND_RAPIDS)
    for field in FEATURES[feature].fields:
        registers = list(lacking[field.leaf, field.subleaf])
        registers[field.register] &= ~(((1 << field.bits) - 1) << field.shift)
        a, b, c, d = registers
        lacking[field.leaf, field.subleaf] = a, b, c, d
    best = max((number for number, machine in enumerate(MACHINES) if feature not in machine.features), default=-1)
    assert ask(lacking, SAVES["zmm"]) <= best


def test_the_table_has_every_feature_of_a_target() -> None:
    """Also those that `-mattr` and `-mcpu` can add."""
    assert X86.features.keys() == FEATURES.keys()
    assert {feature for tier in (*TIERS, CLAMPING) for feature in tier.machine.features} <= FEATURES.keys()


def test_the_table_is_of_one_mind_with_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """On this machine, feature by feature: LLVM asks the same processor by its own table."""
    monkeypatch.delenv("CAJETA_HOST_FEATURES", raising=False)
    host = detect_host()
    if host.architecture != "x86_64" or host.doubt:
        pytest.skip(f"NOT AN x86-64 PROCESSOR THAT LLVM KNOWS: {host}")
    for feature in FEATURES.keys() - {"avx10.1", "avx10.2"}:
        machine = replace(SCALAR.machine, features=(feature,))
        text = write_dispatcher(SOURCE, {}, [SCALAR.machine, machine])
        found = run_here(text)
        assert (found == 1) == (feature in host.features), feature


def run_here(text: str) -> int:
    """The object's answer on this machine. It is not optimized: machine code before a body is none to LLVM's passes."""
    name = name_chooser(SOURCE)
    linked = link(write_joined_object([], text, SCALAR.machine, 2), [name], SCALAR.machine)
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(linked[name])(ANY)
