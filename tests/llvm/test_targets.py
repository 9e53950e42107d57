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

from cajeta_dot.backends import Options, nvptx, x86
from cajeta_dot.backends.llvm import host
from cajeta_dot.backends.llvm.names import LIBRARY, export_name, quote
from cajeta_dot.backends.x86 import TIERS, backend, resolve
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.diagnostics.rules import FEATURE_MISSING, SCALARIZED
from cajeta_dot.ir import Builder, Function
from cajeta_dot.types import FLOAT32, INT8, INT32, UINT8, UINT32, Vector

from .programs import CPU_TARGETS, RUNNABLE, SOURCE, apply, array, load, make_kernel, make_program, param

if TYPE_CHECKING:
    from cajeta_dot.backends import Artifact

NAMES = [tier.info.name for tier in TIERS]


@pytest.fixture
def features(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine without wishes in its environment, asked anew."""
    monkeypatch.delenv("CAJETA_HOST_FEATURES", raising=False)
    monkeypatch.delenv("CAJETA_SIMD_SCALAR_FALLBACK", raising=False)
    host._ask_llvm.cache_clear()  # pyright: ignore[reportPrivateUsage]
    return monkeypatch


def native(reporter: Reporter | None = None) -> str:
    return resolve("native", reporter or Reporter(SOURCE)).target


def dot_program() -> tuple[Function, ...]:
    types = [Vector(UINT8, 64), Vector(INT8, 64), Vector(INT32, 16)]
    return (apply("k", types, types[2], lambda b, v: b.dot(*v)),)


def emit(target: str, kind: str, **options: object) -> Artifact | None:
    return backend.emit(make_program(*dot_program()), target, kind, Options(**options), Reporter(SOURCE))  # type: ignore[arg-type]


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
    assert backend.missing("native") == ""


def test_scalar_code_can_be_asked_for(features: pytest.MonkeyPatch) -> None:
    features.setenv("CAJETA_HOST_FEATURES", "avx2,fma")
    features.setenv("CAJETA_SIMD_SCALAR_FALLBACK", "1")
    assert native() == "x86-scalar"
    features.setenv("CAJETA_SIMD_SCALAR_FALLBACK", "0")
    assert native() == "x86-avx2"


@pytest.mark.parametrize("fault", ["raises", "is empty", "an unknown name"])
def test_a_machine_that_cannot_be_told_gets_scalar_code_and_one_note(fault: str, features: pytest.MonkeyPatch) -> None:
    def fail() -> dict[str, bool]:
        raise RuntimeError("no such list")

    has = {feature: True for tier in TIERS for feature in tier.machine.features}
    features.setattr(llvm, "get_host_cpu_features", fail if fault == "raises" else lambda: {} if fault == "is empty" else has)
    features.setattr(llvm, "get_host_cpu_name", lambda: "banana lake" if fault == "an unknown name" else "znver4")
    reporter = Reporter(SOURCE)
    assert native(reporter) == "x86-scalar"
    (note,) = reporter.found
    assert note.rule is SCALARIZED
    assert note.notes
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
    features.setattr(llvm, "get_process_triple", lambda: "aarch64-apple-darwin")
    assert {backend.missing(name) for name in ("native", *NAMES)} == {"an x86-64 processor"}
    host._ask_llvm.cache_clear()  # pyright: ignore[reportPrivateUsage]


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
    for triple, cpu, layout in ((x86.TRIPLE, "x86-64", x86.LAYOUT), ("nvptx64-nvidia-cuda", "sm_61", nvptx.LAYOUT)):
        machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu)
        assert str(machine.target_data) == layout


def test_llvm_knows_every_feature() -> None:
    """An unknown feature is only a line on stderr."""
    script = """
import llvmlite.binding as llvm, sys
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu=sys.argv[2], features=sys.argv[3])
"""
    for tier in TIERS:
        words = [x86.TRIPLE, tier.machine.cpu, tier.machine.feature_string]
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


@pytest.mark.parametrize("kind", x86.KINDS)
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


@pytest.mark.parametrize("name", ["floor", "memcpy", "calloc", "fmodf", "größe", "a$b", "W.item", "cajeta"])
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
    assert export_name("memcpy", none) == "memcpy$"
    assert export_name("memcpy", {"memcpy$"}) == "memcpy$$"
    assert export_name("Dot.k", none) == "Dot.k"
    assert export_name("Dot.k", {"Dot$k"}, is_ptx=True) == "Dot$k$"
    assert export_name("größe", none, is_ptx=True) == "gr$f6$dfe"
    assert quote("größe") == r'"gr\C3\B6\C3\9Fe"'
    assert quote("0x") == '"0x"'


def test_the_c_functions_that_compiled_code_calls_are_there() -> None:
    for name in LIBRARY - {"bcmp"}:
        assert hasattr(ctypes.CDLL(None), name), name
