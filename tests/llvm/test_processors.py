"""Code for processors other than x86: how many instructions a dot product takes there, and what the files are."""

from __future__ import annotations

import re
import struct
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.backends import Options, aarch64, riscv64, wasm32
from cajeta_dot.backends.llvm import host
from cajeta_dot.backends.native import backend as native
from cajeta_dot.backends.native import resolve
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import FEATURE_MISSING
from cajeta_dot.driver import find_target
from cajeta_dot.types import INT8, INT32, Vector

from .programs import SOURCE, apply, make_program
from .test_dots import SIGNS, dot_kernel
from .test_nvptx import compile_text

if TYPE_CHECKING:
    from cajeta_dot.backends import Artifact
    from cajeta_dot.ir import Program

LANES = (4, 8, 12, 16, 20, 32, 48, 64, 128, 256)
TARGETS = [tier.info.name for family in (aarch64, riscv64, wasm32) for tier in family.TIERS]


def emit(target: str, kind: str, program: Program, *, checks: bool = False) -> Artifact:
    found = find_target(target)
    assert found
    reporter = Reporter(SOURCE)
    artifact = found[0].emit(program, target, kind, Options(checks=checks), reporter)
    assert artifact, [d.message for d in reporter.found]
    return artifact


@cache
def read_functions(target: str) -> dict[tuple[str, int, int], list[str]]:
    """The instructions of a kernel for each kind of dot product: each its name and its first operand."""
    shapes = [(signs, lanes, into) for signs in SIGNS for lanes in LANES for into in sorted({1, lanes // 4})]
    text = emit(target, "asm", make_program(*(dot_kernel(*shape) for shape in shapes))).content
    assert isinstance(text, str)
    assert "llvm." not in text, "an intrinsic that LLVM doesn't know stays a call"
    names = [f"{signs}_{lanes}_{into}" for signs, lanes, into in shapes]
    starts = {name: re.search(rf"^{name}:", text, re.MULTILINE) for name in names}
    found: dict[tuple[str, int, int], list[str]] = {}
    for shape, name in zip(shapes, names, strict=True):
        start = starts[name]
        assert start
        body = text[start.end() :].partition("end_function" if target == wasm32.NAME else ".Lfunc_end")[0]
        found[shape] = re.findall(r"^\s+([a-z][\w.]*(?:[ \t]+\w+)?)", body, re.MULTILINE)
    return found


def first_word(instruction: str) -> str:
    return instruction.split()[0]


def vectors(instructions: list[str]) -> list[str]:
    """Without those on AArch64's registers for numbers."""
    return [i for i in instructions if not re.fullmatch(r"\w+\s+[wx]\d+", i)]


def ceil(lanes: int, size: int) -> int:
    return -(-lanes // size)


# What one register takes: instruction -> how often.
US_NEON = {"mul": 2}
SS_NEON = {"smull": 1, "smull2": 1}
UU_NEON = {"umull": 1, "umull2": 1}
DOTS: dict[str, dict[str, dict[str, int]]] = {
    "aarch64-i8mm": {"us": {"usdot": 1}, "su": {"usdot": 1}, "ss": {"sdot": 1}, "uu": {"udot": 1}},
    "aarch64-dotprod": {"us": {"sdot": 3}, "su": {"sdot": 3}, "ss": {"sdot": 1}, "uu": {"udot": 1}},
    "aarch64-neon": {"us": US_NEON, "su": US_NEON, "ss": SS_NEON, "uu": UU_NEON},
    "wasm32-simd128": {signs: {"i32x4.dot_i16x8_s": 2} for signs in SIGNS},
}
VQDOT = {"us": "vqdotsu.vv", "su": "vqdotsu.vv", "ss": "vqdot.vv", "uu": "vqdotu.vv"}
# Of vectors; an index is multiplied in any case.
MULTIPLIES = re.compile(r"[su]?m(?:ul|la)l?2?\s+v\d+|v\w*(?:mul|macc)\w*\.\w+.*|i(?:16x8|32x4)\.(?:ext)?mul.*|.*relaxed.*")


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("target", DOTS)
def test_each_16_lanes_take_as_many_instructions_as_they_need(target: str, signs: str) -> None:
    """Registers that the bytes fill, and one more for what is left; nothing is multiplied beside."""
    for (found_signs, lanes, into), names in read_functions(target).items():
        if found_signs != signs:
            continue
        expected = {name: each * ceil(lanes, 16) for name, each in DOTS[target][signs].items()}
        for name in expected:
            if name.endswith("mull2") and 0 < lanes % 16 <= 8:
                expected[name] -= 1  # nothing is in the upper half
        found = Counter(name for name in map(first_word, vectors(names)) if name in expected)
        # In the sum of a part of a register's lanes, LLVM makes a second dot of the first one and the addition to it.
        joined = (
            +Counter({name: 1 for name in expected if name.endswith("dot")}) if into == 1 and lanes % 16 else Counter[str]()
        )
        assert found in (+Counter(expected), +Counter(expected) + joined), (lanes, into)
        others = [name for name in names if MULTIPLIES.fullmatch(name) and first_word(name) not in expected]
        assert not others, (lanes, into)


@pytest.mark.parametrize("signs", SIGNS)
def test_a_vqdot_takes_64_lanes_at_once(signs: str) -> None:
    for (found_signs, lanes, into), names in read_functions(riscv64.NAME).items():
        if found_signs == signs:
            found = [first_word(name) for name in names if name.startswith("vqdot")]
            assert found == [VQDOT[signs]] * ceil(lanes, 64), (lanes, into)
            assert not [name for name in names if MULTIPLIES.fullmatch(name)], (lanes, into)


def test_the_relaxed_dot_is_only_used_where_it_is_exact() -> None:
    type, acc = Vector(INT8, 64), Vector(INT32, 16)
    for most, relaxed in ((127, 4), (-1, 0)):
        kernel = apply("k", [type, type, acc], acc, lambda b, v, m=most: b.dot(b.binary("and", v[0], b.const(type, m)), *v[1:]))
        artifact = emit(wasm32.NAME, "asm", make_program(kernel))
        assert isinstance(artifact.content, str)
        assert len(re.findall(r"\bi32x4\.relaxed_dot_i8x16_i7x16_add_s\b", artifact.content)) == relaxed
        assert len(re.findall(r"\bi32x4\.dot_i16x8_s\b", artifact.content)) == (8 if relaxed == 0 else 0)
        (choice,) = artifact.choices
        assert (choice.form, choice.why) == (
            ("relaxed, w<=127", "") if relaxed else ("simd128", "relaxed needs x<=127 or w<=127")
        )


# ---- files


@pytest.mark.parametrize("target", TARGETS)
def test_an_object_is_one_for_its_machine(target: str) -> None:
    content = emit(target, "obj", make_program(dot_kernel("us", 64, 16)), checks=True).content
    assert isinstance(content, bytes)
    if target == wasm32.NAME:
        assert content[:8] == b"\0asm\1\0\0\0"
        assert b"linking" in content, "to be linked, not to be run"
        return
    assert content[:7] == b"\x7fELF\x02\x01\x01", "64 bits, little-endian"
    type, machine = struct.unpack_from("<HH", content, 16)
    (flags,) = struct.unpack_from("<I", content, 48)
    assert type == 1, "relocatable"
    # EM_RISCV with compressed instructions and float64 in registers, EM_AARCH64
    assert (machine, flags) == ((243, 5) if target == riscv64.NAME else (183, 0))


def test_memory_is_asked_for_in_the_machines_own_size() -> None:
    program = compile_text("""
class Heap {
    static int32 last(int32 n) {
        int32[] a = heap int32[n];
        a[n - 1] = n;
        return a[n - 1];
    }
}
""")
    for target, type in (("wasm32-simd128", "i32"), ("aarch64-neon", "i64")):
        for checks in (True, False):
            text = emit(target, "llvm-ir", program, checks=checks).content
            assert isinstance(text, str)
            assert f"declare ptr @calloc({type}, {type})" in text


# ---- on an AArch64 machine


@pytest.fixture
def arm(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As if this processor were one."""
    monkeypatch.setattr(host, "find_architecture", lambda: "aarch64")
    return monkeypatch


@pytest.mark.parametrize(
    ("named", "best", "lacking"),
    [("", "aarch64-neon", "dotprod"), ("dotprod", "aarch64-dotprod", "i8mm"), ("i8mm,dotprod", "aarch64-i8mm", "")],
)
def test_native_is_the_best_that_the_features_allow(named: str, best: str, lacking: str, arm: pytest.MonkeyPatch) -> None:
    arm.setenv("CAJETA_HOST_FEATURES", named)
    assert native.missing("native") == ""
    found = resolve(Options(), Reporter(SOURCE))
    assert found
    assert found[1].info.name == best
    assert aarch64.backend.missing(best) == ""
    if lacking:
        better = next(name for name in TARGETS if name.endswith(lacking))
        reporter = Reporter(SOURCE)
        assert aarch64.backend.load(make_program(dot_kernel("us", 4, 1)), better, Options(), reporter) is None
        (told,) = reporter.found
        assert (told.rule, told.message) == (FEATURE_MISSING, f"`{better}` needs `{lacking}`, which this CPU lacks")


def test_x86_is_missing_on_arm_and_arm_on_x86(arm: pytest.MonkeyPatch) -> None:
    arm.setenv("CAJETA_HOST_FEATURES", "")
    found = find_target("x86-avx2")
    assert found
    assert found[0].missing("x86-avx2") == "an x86-64 processor"
    arm.setattr(host, "find_architecture", lambda: "x86_64")
    assert {aarch64.backend.missing(tier.info.name) for tier in aarch64.TIERS} == {"an AArch64 processor"}
    reporter = Reporter(SOURCE)
    assert aarch64.backend.load(make_program(dot_kernel("us", 4, 1)), "aarch64-neon", Options(), reporter) is None
    assert [d.message for d in reporter.found] == ["`aarch64-neon` needs an AArch64 processor, which this machine is not"]
