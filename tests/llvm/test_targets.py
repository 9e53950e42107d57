"""Which x86 target runs where, and what LLVM is told of each."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import llvmlite.binding as llvm
import pytest

from cajeta_dot.backends import Options, aarch64, amdgcn, nvptx, riscv64, wasm32, x86
from cajeta_dot.backends.llvm import host
from cajeta_dot.backends.llvm.names import LIBRARY, export_name, quote
from cajeta_dot.backends.llvm.processors import KINDS
from cajeta_dot.backends.native import backend as native_backend
from cajeta_dot.backends.native import resolve
from cajeta_dot.backends.x86 import TIERS, backend
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import FEATURE_MISSING, HOST_IN_DOUBT, TARGET_TOO_OLD, UNKNOWN_TARGET
from cajeta_dot.ir import Builder, Function
from cajeta_dot.types import FLOAT32, INT8, INT32, UINT8, UINT32, Vector

from .programs import CPU_TARGETS, RUNNABLE, SOURCE, apply, array, load, make_kernel, make_program, param

if TYPE_CHECKING:
    from cajeta_dot.backends import Artifact
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.processors import Processors

NAMES = [tier.info.name for tier in TIERS]
PROCESSORS = [tier for family in (x86, aarch64, riscv64, wasm32) for tier in family.TIERS]


@pytest.fixture
def features(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine without wishes in its environment, asked anew."""
    monkeypatch.delenv("CAJETA_HOST_FEATURES", raising=False)
    monkeypatch.delenv("CAJETA_SIMD_SCALAR_FALLBACK", raising=False)
    host._ask_llvm.cache_clear()  # pyright: ignore[reportPrivateUsage]
    return monkeypatch


def native(reporter: Reporter | None = None) -> str:
    found = resolve(Options(), reporter or Reporter(SOURCE))
    assert found
    return found[1].info.name


def dot_program() -> tuple[Function, ...]:
    types = [Vector(UINT8, 64), Vector(INT8, 64), Vector(INT32, 16)]
    return (apply("k", types, types[2], lambda b, v: b.dot(*v)),)


def find_owner(target: str) -> Processors:
    return aarch64.backend if target.startswith("aarch64") else backend


def emit(target: str, kind: str, **options: object) -> Artifact | None:
    return find_owner(target).emit(make_program(*dot_program()), target, kind, Options(**options), Reporter(SOURCE))  # type: ignore[arg-type]


# ---- what this machine has


@pytest.mark.parametrize(
    ("named", "best"),
    [
        ("", "x86-scalar"),
        ("sse4.1", "x86-scalar"),
        ("avx2,fma", "x86-avx2"),
        ("avx2", "x86-avx2"),
        ("avx2, avxvnni", "x86-avxvnni"),
        ("avx512vnni", "x86-vnni"),
        ("avx2,fma,avx512vnni,avx512vl", "x86-vnni"),
    ],
)
def test_native_is_the_best_that_the_features_allow(named: str, best: str, features: pytest.MonkeyPatch) -> None:
    features.setenv("CAJETA_HOST_FEATURES", named)
    assert native() == best
    before = NAMES[: NAMES.index(best)]
    assert all(backend.missing(name) for name in before), "a better one would have been chosen"
    assert backend.missing(best) == ""
    assert native_backend.missing("native") == ""


def test_scalar_code_can_be_asked_for(features: pytest.MonkeyPatch) -> None:
    features.setenv("CAJETA_HOST_FEATURES", "avx2,fma")
    features.setenv("CAJETA_SIMD_SCALAR_FALLBACK", "1")
    assert native() == "x86-scalar"
    features.setenv("CAJETA_SIMD_SCALAR_FALLBACK", "0")
    assert native() == "x86-avx2"


@pytest.mark.parametrize("fault", ["raises", "is empty", "an unknown name", "is empty in the environment"])
def test_a_machine_that_cannot_be_told_gets_scalar_code_and_one_note(fault: str, features: pytest.MonkeyPatch) -> None:
    def fail() -> dict[str, bool]:
        raise RuntimeError("no such list")

    has = {feature: True for tier in TIERS for feature in tier.machine.features}
    features.setattr(llvm, "get_host_cpu_features", fail if fault == "raises" else lambda: {} if fault == "is empty" else has)
    features.setattr(llvm, "get_host_cpu_name", lambda: "banana lake" if fault == "an unknown name" else "znver4")
    if fault == "is empty in the environment":
        features.setenv("CAJETA_HOST_FEATURES", " ,")
    reporter = Reporter(SOURCE)
    assert native(reporter) == "x86-scalar"
    (note,) = reporter.found
    assert note.rule is HOST_IN_DOUBT
    assert note.message.startswith("`native` is `x86-scalar`: ")
    host._ask_llvm.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_a_known_machine_is_used_without_a_note(features: pytest.MonkeyPatch) -> None:
    has = {feature: True for tier in TIERS for feature in tier.machine.features} | {"avx10.1": True, "sse4a": False}
    features.setattr(llvm, "get_host_cpu_features", lambda: has)
    features.setattr(llvm, "get_host_cpu_name", lambda: "znver4")
    reporter = Reporter(SOURCE)
    assert native(reporter) == "x86-vnni"
    assert not reporter.found
    host._ask_llvm.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_another_processor_runs_none_of_it(features: pytest.MonkeyPatch) -> None:
    features.setattr(llvm, "get_process_triple", lambda: "powerpc64le-unknown-linux-gnu")
    assert {backend.missing(name) for name in NAMES} == {"an x86-64 processor"}
    assert native_backend.missing("native") == "an x86-64 or AArch64 processor"
    reporter = Reporter(SOURCE)
    assert native_backend.load(make_program(*dot_program()), "native", Options(), reporter) is None
    assert [d.message for d in reporter.found] == ["`native` needs an x86-64 or AArch64 processor, which this machine is not"]
    host._ask_llvm.cache_clear()  # pyright: ignore[reportPrivateUsage]


# ---- processors and features that the user names


def refined(target: str, reporter: Reporter | None = None, **wishes: str) -> Machine | None:
    options, reporter = Options(**wishes), reporter or Reporter(SOURCE)  # type: ignore[arg-type]
    owner = find_owner(target)
    if target == "native":
        found = resolve(options, reporter)
        if not found:
            return None
        owner, target = found[0], found[1].info.name
    return owner.resolve(target, options, reporter)


@pytest.mark.parametrize(
    ("cpu", "best"),
    [("x86-64", "x86-sse2"), ("core2", "x86-ssse3"), ("haswell", "x86-avx2"), ("skx", "x86-avx512bw"), ("znver4", "x86-vnni"),
     ("alderlake", "x86-avxvnni"), ("sierraforest", "x86-avxvnniint8"), ("diamondrapids", "x86-avx10.2"),
     ("cortex-a53", "aarch64-neon"), ("neoverse-n1", "aarch64-dotprod"), ("apple-m1", "aarch64-dotprod"),
     ("apple-m2", "aarch64-i8mm"), ("grace", "aarch64-i8mm")],
)  # fmt: skip
def test_native_code_for_a_processor_is_the_best_that_it_has(cpu: str, best: str, features: pytest.MonkeyPatch) -> None:
    features.setenv("CAJETA_HOST_FEATURES", "")  # which does not matter then
    reporter = Reporter(SOURCE)
    machine = refined("native", reporter, cpu=cpu)
    assert machine
    assert (machine.target, machine.tune, reporter.found) == (best, cpu if best.startswith("x86") else "", [])


def test_a_target_keeps_to_its_own_features_whatever_the_processor_has() -> None:
    machine = refined("x86-avx2", cpu="znver4")
    assert machine
    assert machine.features == next(tier.machine.features for tier in TIERS if tier.info.name == "x86-avx2")
    artifact = emit("x86-avx2", "asm", cpu="znver4")
    assert artifact
    assert not re.search(r"vpdpbusd|zmm|\{%k|vgf2p8", str(artifact.content))
    text = emit("x86-avx2", "llvm-ir", cpu="znver4")
    assert text
    assert '"tune-cpu"="znver4"' in str(text.content)


@pytest.mark.parametrize(
    ("target", "wishes", "dot"),
    [
        ("x86-avx2", "+avxvnni", r"\{vex\}\tvpdpbusd.*ymm"),
        ("x86-avx2", "+avx512vnni, +avx512vl", r"\tvpdpbusd.*zmm"),
        ("x86-vnni", "+avxvnni,-avx512vnni", r"\{vex\}\tvpdpbusd.*ymm"),
        ("x86-vnni", "-avx512vnni", r"vpmaddubsw.*zmm"),
        ("x86-vnni", "-avx512f", r"vpmaddubsw.*ymm"),
        ("x86-vnni", "-avx2", r"pmaddubsw.*xmm"),
        ("x86-vnni", "-ssse3", r"pmaddwd.*xmm"),
        ("x86-vnni", "-ssse3,+ssse3", r"pmaddubsw.*xmm"),
        ("x86-avx10.2", "-avx512bw", r"vpdpbusd.*zmm"),
        ("x86-scalar", "+avx2", r"vpmaddubsw.*ymm"),
        ("x86-scalar", "", "imul"),
        ("aarch64-neon", "+dotprod", r"\tsdot"),
        ("aarch64-neon", "+i8mm", r"\tusdot"),
        ("aarch64-i8mm", "-i8mm", r"\tsdot"),
        ("aarch64-i8mm", "-i8mm,-dotprod", r"\tmul\tv"),
        ("aarch64-i8mm", "-neon", r"\tmadd"),
    ],
)
def test_features_are_added_and_taken_away_by_name(target: str, wishes: str, dot: str) -> None:
    artifact = emit(target, "asm", features=wishes)
    assert artifact
    assert re.search(dot, str(artifact.content))
    machine = refined(target, features=wishes)
    assert machine
    assert machine.forms <= {"sse2", *machine.features}
    assert machine.halves == ("all" if target.startswith("aarch64") else "f16c" if "f16c" in machine.features else "none")


LISTED = "`cajetac targets x86-avx2` lists them"
ON_ARM = "`cajetac targets aarch64-neon` lists them"


@pytest.mark.parametrize(
    ("target", "wishes", "message", "help"),
    [
        ("x86-avx2", {"cpu": "znver44"}, "no x86 processor `znver44`", f"did you mean `znver4`? {LISTED}"),
        ("native", {"cpu": "m1"}, "no x86 processor `m1`", "`cajetac targets native` lists them"),
        ("aarch64-neon", {"cpu": "neoverse-n"}, "no AArch64 processor `neoverse-n`", f"did you mean `neoverse-n1`? {ON_ARM}"),
        ("aarch64-neon", {"features": "+dotprd"}, "no AArch64 feature `dotprd`", f"did you mean `dotprod`? {ON_ARM}"),
        (
            "aarch64-i8mm",
            {"cpu": "neoverse-n1"},
            "`aarch64-i8mm` needs `i8mm`, which `neoverse-n1` lacks",
            "choose another processor, or `--target native -mcpu=neoverse-n1` for the best that it has",
        ),
        ("x86-avx2", {"features": "+avxvni"}, "no x86 feature `avxvni`", f"did you mean `avxvnni`? {LISTED}"),
        (
            "x86-avx2",
            {"features": "avx2"},
            "`avx2` does not say whether a feature is added",
            "write `+avx2` for with it, `-avx2` for without",
        ),
        (
            "x86-vnni",
            {"cpu": "haswell"},
            "`x86-vnni` needs `avx512vnni`, which `haswell` lacks",
            "choose another processor, or `--target native -mcpu=haswell` for the best that it has",
        ),
    ],
)
def test_names_are_looked_up_before_llvm_sees_them(target: str, wishes: dict[str, str], message: str, help: str) -> None:
    reporter = Reporter(SOURCE)
    assert refined(target, reporter, **wishes) is None
    (found,) = reporter.found
    assert found.rule is (TARGET_TOO_OLD if "lacks" in message else UNKNOWN_TARGET)
    assert (found.message, [h.message for h in found.helps], found.primary) == (message, [help], None)


def test_code_with_more_features_than_the_machine_has_is_not_loaded(features: pytest.MonkeyPatch) -> None:
    features.setenv("CAJETA_HOST_FEATURES", "avx2,fma")
    reporter = Reporter(SOURCE)
    program = make_program(*dot_program())
    assert backend.load(program, "x86-avx2", Options(features="+avxvnni"), reporter) is None
    assert [d.message for d in reporter.found] == ["`x86-avx2` needs `avxvnni`, which this CPU lacks"]
    if not backend.missing("x86-avx2"):
        assert backend.load(program, "x86-vnni", Options(features="-avx512f"), Reporter(SOURCE))


def test_native_with_other_features_is_chosen_anew(features: pytest.MonkeyPatch) -> None:
    features.setenv("CAJETA_HOST_FEATURES", "avx2,fma")
    machines = [refined("native", features=wishes) for wishes in ("-avx2", "+avxvnni", "-ssse3", "-sse2")]
    assert [m and m.target for m in machines] == ["x86-ssse3", "x86-avxvnni", "x86-sse2", "x86-scalar"]


@pytest.mark.parametrize("kind", ["load", "emit"])
def test_code_for_another_machine_can_be_made_but_not_loaded(kind: str, features: pytest.MonkeyPatch) -> None:
    features.setenv("CAJETA_HOST_FEATURES", "avx2,fma")
    reporter = Reporter(SOURCE)
    if kind == "emit":
        assert emit("x86-vnni", "asm")
        return
    assert backend.load(make_program(*dot_program()), "x86-avx512vnni", Options(), reporter) is None
    (found,) = reporter.found
    assert found.rule is FEATURE_MISSING
    assert found.message == "`x86-avx512vnni` needs `avx512vnni`, which this CPU lacks"
    assert [help.message for help in found.helps] == ["`--target native`"]
    assert found.primary is None


def test_a_target_needs_what_its_dot_products_use() -> None:
    for tier in TIERS:
        assert tier.machine.forms <= {"sse2", *tier.machine.features}, tier.info.name


# ---- what LLVM is told


def test_the_layouts_are_those_of_llvm() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    gpus = ("nvptx64-nvidia-cuda", "sm_61", nvptx.LAYOUT), (amdgcn.TRIPLE, "gfx1100", amdgcn.LAYOUT)
    processors = [(tier.machine.triple, tier.machine.cpu, tier.machine.layout) for tier in PROCESSORS]
    for triple, cpu, layout in {*gpus, *processors}:
        machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu)
        assert str(machine.target_data) == layout


def test_llvm_knows_every_feature() -> None:
    """An unknown feature is only a line on stderr."""
    script = """
import llvmlite.binding as llvm, sys
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu=sys.argv[2], features=sys.argv[3])
"""
    for tier in PROCESSORS:
        words = [tier.machine.triple, tier.machine.cpu, tier.machine.feature_string]
        done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
        assert done.stderr == ""


@pytest.mark.parametrize("target", CPU_TARGETS)
@pytest.mark.parametrize("checks", [True, False])
def test_the_text_stands_for_itself(checks: bool, target: str) -> None:
    artifact = emit(target, "llvm-ir", checks=checks)
    assert artifact is not None
    assert isinstance(artifact.content, str)
    module = llvm.parse_assembly(artifact.content)
    module.verify()
    assert module.triple == x86.TRIPLE
    assert module.data_layout == x86.LAYOUT
    assert not re.search(r"\b(nsw|nuw|undef|fast|nnan|ninf|reassoc|contract)\b", artifact.content)


@pytest.mark.parametrize("kind", KINDS)
def test_two_runs_write_the_same(kind: str) -> None:
    """Also in processes whose hashes differ."""
    script = f"""
import hashlib, sys
sys.path.insert(0, {str(Path(__file__).parent.parent.parent)!r})
from tests.llvm.test_targets import emit
content = emit("x86-avx2", {kind!r}, checks=True).content
print(hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest())
"""
    digests = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("target", CPU_TARGETS)
def test_object_files_are_made_for_every_target(target: str) -> None:
    artifact = emit(target, "obj")
    assert artifact is not None
    assert isinstance(artifact.content, bytes)
    assert artifact.content.startswith(b"\x7fELF")


@pytest.mark.parametrize("optimize", [0, 1, 2, 3])
def test_every_level_of_optimization_runs(optimize: int) -> None:
    import numpy as np

    entry = load(make_program(*dot_program()), "native", optimize=optimize)["k"]
    out = np.zeros(32, np.int32)
    entry.launch(
        [out, np.full(128, 255, np.uint8), np.full(128, -128, np.int8), np.ones(32, np.int32)], (2, 1, 1), (1, 1, 1), 1
    )
    assert (out == 1 - 4 * 255 * 128).all()


def test_products_are_joined_with_sums_only_where_that_is_allowed() -> None:
    type = Vector(FLOAT32, 8)

    def build(fast: bool) -> Function:
        kernel = apply("k", [type] * 3, type, lambda b, v: b.binary("add", b.binary("mul", v[0], v[1]), v[2]))
        kernel.fast_math = fast
        return kernel

    for fast in (False, True):
        artifact = backend.emit(make_program(build(fast)), "x86-avx2", "asm", Options(), Reporter(SOURCE))
        assert artifact is not None
        assert isinstance(artifact.content, str)
        assert ("vfmadd" in artifact.content) is fast


# ---- names


@pytest.mark.parametrize("name", ["floor", "memcpy", "calloc", "fmodf", "größe", "a$b", "W.item", "cajeta", "llvm", "llvm.k"])
@pytest.mark.parametrize("target", RUNNABLE)
def test_a_kernel_may_have_any_name(name: str, target: str) -> None:
    """Also that of a C function which its own code calls."""
    import numpy as np

    out, numbers = param("memset", array(FLOAT32)), param("v1", array(FLOAT32))

    def write(b: Builder, _: Function) -> None:
        item = b.emit("coordinate", UINT32, attr="local.x")
        value = b.load(numbers, item, FLOAT32)
        b.store(out, item, b.binary("rem", b.unary("floor", value), b.const(FLOAT32, 7.0)))

    entry = load(make_program(make_kernel(name, [out, numbers], write)), target)[name]
    made = np.zeros(4, np.float32)
    entry.launch([made, np.array([1.5, 8.25, 30.75, -9.5], np.float32)], (1, 1, 1), (4, 1, 1), 1)
    assert made.tolist() == [1.0, 1.0, 2.0, -3.0]


def test_names_outside_are_told_apart() -> None:
    none: set[str] = set()
    assert export_name("memcpy", none) == "memcpy_"
    assert export_name("memcpy", {"memcpy_"}) == "memcpy__"
    assert export_name("memcpy", none, is_plain=True) == "memcpy$"
    assert export_name("Dot.k", none) == "Dot_k"
    assert export_name("Dot.k", {"Dot_k"}) == "Dot_k_"
    assert export_name("Dot.k", {"Dot$k"}, is_plain=True) == "Dot$k$"
    assert export_name("größe", none, is_plain=True) == "gr$f6$dfe"
    assert quote("größe") == r'"gr\C3\B6\C3\9Fe"'
    assert quote("0x") == '"0x"'


def test_the_c_functions_that_compiled_code_calls_are_there() -> None:
    for name in LIBRARY - {"bcmp"}:
        assert hasattr(ctypes.CDLL(None), name), name
