"""LLVM ends the process on what it can't select. So every opcode is compiled for every target in processes of their own, also
for targets that this machine can't run, and for numbers of lanes that fit no register."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot import driver
from cajeta_dot.backends import Options
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.driver import find_target
from cajeta_dot.types import BOOLEAN, INT8, INT32, INT64, UINT8, Scalar, Vector

from .programs import CPU_TARGETS, SOURCE, Shape, apply_all, make_program
from .test_conversions import convert_to
from .test_operations import NUMBERS, TABLES, build, opcodes, result_of

if TYPE_CHECKING:
    from cajeta_dot.ir import Function

    from .programs import Build

LANES = (5, 33)  # beside 2 on x86, and 64 elsewhere
GPUS = {  # the target, and how its text is checked most
    **dict.fromkeys(("sm_50", "sm_61", "sm_90"), ("nvptx", "ptx")),
    **dict.fromkeys(("gfx803", "gfx906", "gfx1030", "gfx1100", "gfx1201"), ("amdgcn", "obj")),
}
ELSEWHERE = ("aarch64-i8mm", "aarch64-dotprod", "aarch64-neon", "riscv64-zvqdotq", "wasm32-simd128")
TARGETS = [*CPU_TARGETS, *ELSEWHERE, *GPUS]
# LLVM writes no other code for these than for their neighbours, but for dot products.
ONLY_DOTS = (
    *("x86-avx512bw", "x86-avxvnni", "x86-avxvnniint8", "x86-sse2", "x86-maddubs"),
    *("aarch64-i8mm", "aarch64-dotprod", "gfx906", "gfx1030", "gfx1201"),
)
OTHERS: dict[str, Build] = {
    "any": lambda b, v: b.emit("any", BOOLEAN, b.compare("lt", v[0], v[1])),
    "all": lambda b, v: b.emit("all", BOOLEAN, b.compare("eq", v[0], v[1])),
}


def functions_for(element: Scalar, lanes: int, has_remainder: bool) -> list[Function]:
    type = Vector(element, lanes)
    made: list[Function] = []
    for operands in TABLES:
        ops = [op for op in opcodes(element, operands) if op != "rem" or has_remainder or element.is_integer]
        made.append(apply_all(f"k{operands}", [type] * operands, {op: (result_of(op, type), build(op, type)) for op in ops}))
    made.append(apply_all("conversions", [type], {str(e): (Vector(e, lanes), convert_to(e)) for e in NUMBERS}))
    others: dict[str, tuple[Shape, Build]] = {op: (BOOLEAN, make) for op, make in OTHERS.items()}
    others["extract_at"] = element, lambda b, v: b.emit("extract_at", element, v[0], v[2])
    others["insert_at"] = type, lambda b, v: b.emit("insert_at", type, v[0], v[2], b.extract(v[1], 0))
    others["select"] = type, lambda b, v: b.select(b.compare("lt", v[0], v[1]), v[1], v[0])
    if element.is_float or element.bits >= 32:
        others["sum"] = element, lambda b, v: b.emit("sum", element, v[0])
    made.append(apply_all("others", [type, type, INT64], others))
    return made


def dots(lanes: int) -> list[Function]:
    kinds = [(w, x, into) for w in (INT8, UINT8) for x in (INT8, UINT8) for into in sorted({1, lanes // 4})]
    return [
        apply_all(f"d{k}", [Vector(w, lanes), Vector(x, lanes), Vector(INT32, into)], {"out": (Vector(INT32, into), _dot)})
        for k, (w, x, into) in enumerate(kinds)
    ]


_dot: Build = lambda b, v: b.dot(*v)  # noqa: E731 - as the other builds


def compile_all(target: str, lanes: int) -> None:
    """What the child does. Prints what it is at, for the one who asks why it died."""
    is_gpu = target in GPUS
    groups = {str(e): functions_for(e, lanes, not is_gpu) for e in NUMBERS} if target not in ONLY_DOTS else {}
    for width in (4, 12, 64, 256) if lanes == LANES[0] else ():
        groups[f"dots of {width}"] = dots(width)
    for group, functions in groups.items():
        print(target, lanes, group, flush=True)
        options = Options(checks=True, gpu_arch=target if is_gpu else "", fallback=True)
        name, kind = GPUS.get(target, (target, "obj"))
        found = find_target(name)
        assert found
        assert found[0].emit(make_program(*functions), name, kind, options, Reporter(SOURCE))


def compile_known_masks(target: str) -> None:
    """What the other child does: masks of lanes that LLVM knows, and does not compute before it selects instructions."""
    for lanes, type in itertools.product((64, 128, 256), ("int8", "float32", "int64")):
        print(target, lanes, type, flush=True)
        text = "".join(
            f"static boolean {name}() {{ return (Vector<{type},{lanes}>(1) > 2).{name}(); }}\n" for name in ("any", "all")
        )
        source, reporter = driver.decode("masks.cj", text.encode())
        program = driver.check_source(source, reporter)
        assert program
        found = find_target(target)
        assert found
        assert found[0].emit(program, target, "obj", Options(optimize=0), reporter)


def run_child(code: str) -> None:
    root = Path(__file__).parent.parent.parent
    script = f"import sys; sys.path.insert(0, {str(root)!r})\nfrom tests.llvm.test_shapes import *\n{code}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-2000:]
    assert "LLVM ERROR" not in done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_everything_compiles_for_every_target(target: str) -> None:
    all_lanes = (*LANES, 2 if target in CPU_TARGETS else 64)
    run_child(f"for lanes in {all_lanes}: compile_all({target!r}, lanes)")


def test_masks_of_known_lanes_compile() -> None:
    run_child("for target in ('x86-sse2', 'x86-avx2', 'x86-vnni'): compile_known_masks(target)")


LANES_OF_ONE_LOAD = """
@Kernel static void k(KernelBuffer<{0}> out, KernelBuffer<{0}> a) {{
    for (uint32 k = 0; k < 4; k++) {{ out[k] = (a.vload<{1}>(0) >>> ({0}) k)[(uint32) a[3] % {1}]; }}
}}
"""


def compile_lanes_of_one_load() -> None:
    """What the third child does: a loop that LLVM unrolls, and in which it then takes lanes out of memory by one index."""
    for type, lanes, target in itertools.product(("int32", "uint64"), (4, 8), ("nvptx", "x86-sse2", "x86-vnni")):
        print(target, lanes, type, flush=True)
        source, reporter = driver.decode("lanes.cj", LANES_OF_ONE_LOAD.format(type, lanes).encode())
        program = driver.check_source(source, reporter)
        assert program
        found = find_target(target)
        assert found
        kind = "ptx" if target == "nvptx" else "obj"
        assert found[0].emit(program, target, kind, Options(checks=False), reporter)


def test_lanes_of_one_load_compile() -> None:
    run_child("compile_lanes_of_one_load()")
