"""Loops that passes make faster: the same results, the same errors, for every number of steps and every mix of signs."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot import Module, compile
from cajeta_dot.backends.llvm.dots import signs_of
from cajeta_dot.ir import INSIDE, If, Loop, Program, Value, walk
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.inline import inline_helpers
from cajeta_dot.passes.loops import SPLIT, WIDENED, Note, Wishes, specialize_loops
from cajeta_dot.passes.print import print_program
from cajeta_dot.passes.simplify import simplify
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference.execute import call
from cajeta_dot.reference.flow import translate
from cajeta_dot.run.errors import KernelError
from tests.llvm.programs import EXACT

from .running import compile_text

if TYPE_CHECKING:
    from collections.abc import Iterator

EDGES = np.array([0, 1, 127, 128, 255, 200, 15, 240], np.uint8)
SIGNS = (("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8"), ("int8", "uint8"))


def specialize(text: str, *, split: bool = True, checks: bool = True) -> tuple[Program, list[Note]]:
    """The program with its loops made faster, verified; every dot is taken to be a chain, and biased if its signs are equal."""
    program = compile_text(text)
    simplify(program)
    core = inline_helpers(expand(program))
    verify(core)
    wishes = Wishes(checks, split, 64, lambda _, __: True, lambda _, dot: len(set(signs_of(dot))) == 1)
    notes = specialize_loops(core, wishes)
    verify(core)
    return core, notes


def copy_arguments(arguments: tuple[Any, ...]) -> tuple[list[Any], list[np.ndarray[Any, Any]]]:
    """All of them with arrays of their own, and those arrays."""
    copies = [a.copy() if hasattr(a, "copy") else a for a in arguments]
    return copies, [a for a in copies if hasattr(a, "copy")]


def run(program: Program, *arguments: Any) -> tuple[object, list[list[int]]]:
    """The result or the error in words, and what is in the arrays then."""
    copies, arrays = copy_arguments(arguments)
    try:
        result: object = call(translate(program, True)[program.names["f"]], copies)
    except KernelError as error:
        result = str(error)
    return result, [array.tolist() for array in arrays]


def run_native(module: Module, *arguments: Any) -> tuple[object, list[list[int]]]:
    """The same of compiled code."""
    copies, arrays = copy_arguments(arguments)
    try:
        result: object = module["f"](*copies)
    except KernelError as error:
        result = str(error)
    return result, [array.tolist() for array in arrays]


def make_bytes(count: int, dtype: str, seed: int = 1) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).choice(EDGES, count).view(dtype)


def checked_accesses(program: Program) -> list[int]:
    """How many accesses of each loop are checked, in the order of the text."""
    loops = [item for f in program.functions for item in walk(f.body) if isinstance(item, Loop)]
    return [
        sum(isinstance(i, Value) and i.op in ("load", "store") and i.attr != INSIDE for i in walk(loop.body)) for loop in loops
    ]


# ---- sums in parts

DOT = """
static int32 f({w}[] w, {x}[] x, int64 n) {{
    Vector<int32,{groups}> acc = Vector<int32,{groups}>(-5);
    for (int64 k = 0; k + {lanes} <= n; k += {lanes}) {{
        acc = w.vload<{lanes}>(k).{call}(x.vload<{lanes}>(k), acc);
    }}
    return acc.sum();
}}
"""
SCALAR = """
static int32 f({w}[] w, {x}[] x, int64 n) {{
    int32 acc = 2147483647;
    int64 k = 0;
    while (k < n) {{
        acc = w.vload<{lanes}>(k).{call}(x.vload<{lanes}>(k), acc);
        k = k + {lanes};
    }}
    return acc;
}}
"""


def texts() -> Iterator[tuple[str, str]]:
    for w, x in SIGNS:
        for lanes in (4, 8, 12, 64):
            yield f"{w} {x} {lanes}", DOT.format(w=w, x=x, lanes=lanes, groups=lanes // 4, call="dotAccum")
        yield f"{w} {x} sum", SCALAR.format(w=w, x=x, lanes=16, call="dotSum")
        yield f"{w} {x} four", SCALAR.format(w=w, x=x, lanes=4, call="dot")


TEXTS = dict(texts())


@pytest.mark.parametrize("name", TEXTS)
def test_every_number_of_steps(name: str) -> None:
    """0, 1, … up to more than two turns of the widest loop, in the interpreter: also past the end of an array."""
    text = TEXTS[name]
    before = compile_text(text)
    after, notes = specialize(text)
    assert {note.what for note in notes} == ({WIDENED} if name.endswith("four") else {SPLIT})
    lanes = 64 if name.endswith("64") else 16 if name.endswith("sum") else 12 if name.endswith("12") else 8
    w, x = (make_bytes(lanes * 20 + 3, kind, seed) for seed, kind in enumerate(name.split()[:2]))
    for steps in range(20 if lanes > 8 else 40):
        assert run(after, w, x, steps * lanes + 3) == run(before, w, x, steps * lanes + 3), steps


@pytest.mark.parametrize("target", EXACT)
@pytest.mark.parametrize("checks", [True, False])
def test_every_target(target: str, checks: bool) -> None:
    """All signs and lanes in one program; every number of steps up to two turns and one more."""
    names = [f"f{number}" for number in range(len(TEXTS))]
    text = "".join(text.replace(" f(", f" {name}(") for name, text in zip(names, TEXTS.values(), strict=True))
    module = compile(text, target=target, checks=checks)
    for kinds, name in zip(TEXTS, names, strict=True):
        before = compile_text(TEXTS[kinds])
        w, x = (make_bytes(64 * 18, kind, seed) for seed, kind in enumerate(kinds.split()[:2]))
        lanes = 64 if kinds.endswith("64") else 16
        for steps in (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, *([32, 33] if lanes < 64 else [])):
            assert module[name](w, x, steps * lanes) == run(before, w, x, steps * lanes)[0], (kinds, steps)


@pytest.mark.parametrize("name", ["uint8 int8 64", "int8 int8 64", "int8 int8 four", "uint8 int8 sum"])
def test_fault_is_the_same_one(name: str) -> None:
    """An array that ends anywhere in a turn: the first access outside is what the reference says."""
    lanes = 64 if name.endswith("64") else 16 if name.endswith("sum") else 4
    reference = compile_text(TEXTS[name])
    module = compile(TEXTS[name], filename="random.cj")
    w_kind, x_kind = name.split()[:2]
    for steps in (19, 16):  # some are left over, or none
        for length in (*range(0, 20 * lanes, max(lanes // 2 - 1, 1)), steps * lanes - 1):
            for shorter in range(2):
                w, x = make_bytes(length + shorter, w_kind), make_bytes(length + 1 - shorter, x_kind)
                assert run_native(module, w, x, steps * lanes) == run(reference, w, x, steps * lanes)


@pytest.mark.skipif("x86-vnni" not in EXACT, reason="no AVX-512 VNNI")
def test_remark_names_the_sum() -> None:
    (remark,) = [d for d in compile(TEXTS["uint8 int8 64"], target="x86-vnni").diagnostics if d.code == "R0407"]
    assert "`acc`" in remark.message
    assert "8 sums" in remark.message
    choices = compile(TEXTS["int8 int8 64"], target="x86-vnni").choices
    assert [choice.form for choice in choices] == ["vnni bias"]  # each operation of the source once


@pytest.mark.parametrize(("target", "name", "is_split"), [
    ("aarch64-i8mm", "uint8 int8 64", True), ("aarch64-dotprod", "int8 int8 64", True), ("aarch64-neon", "int8 int8 64", False),
    ("riscv64-zvqdotq", "uint8 int8 64", True), ("x86-avx2", "uint8 int8 64", False),
])  # fmt: skip
def test_sums_are_split_where_they_go_through_the_multiplying_instruction(target: str, name: str, is_split: bool) -> None:
    module = compile(TEXTS[name], target=target)
    module.emit("llvm-ir")
    assert ("R0407" in [d.code for d in module.diagnostics]) is is_split


NOT_SUMS = (
    "acc = Vector<int32,4>(7) - w.vload<16>(k).dotAccum(x.vload<16>(k), acc);",
    "acc = acc.max(w.vload<16>(k).dotAccum(x.vload<16>(k), acc));",
    "acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc) + acc;",
    "acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc) * 3;",
    "acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc); y.vstore(0, acc);",
    "acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc); if (acc[0] > 9) { acc = Vector<int32,4>(0); }",
    "acc = w.vload<16>(k).dotAccum(x.vload<16>(k), Vector<int32,4>(1)) - acc;",
    "if (acc[1] > 3) { acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc); }",
)
SUMS = (
    "acc = acc + w.vload<16>(k).dotAccum(x.vload<16>(k), acc2); acc2 = Vector<int32,4>(k32);",
    "if (w[k] > 9) { acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc); } else { acc = acc - 7; }",
    "acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc); acc = x.vload<16>(k).dotAccum(x.vload<16>(k), acc) + k32;",
    "acc = w.vload<16>(k).dotAccum(x.vload<16>(k), acc) - 3; acc2 = acc2 + x.vload<16>(k).dotAccum(x.vload<16>(k), acc2);",
)
BODY = """
static int32 f(uint8[] w, int8[] x, int32[] y, int64 n) {{
    Vector<int32,4> acc = Vector<int32,4>(1, 2, 3, -4);
    Vector<int32,4> acc2 = acc;
    int32 k32 = 0;
    for (int64 k = 0; k < n; k += 16) {{
        {body}
        k32 = (int32) k;
    }}
    return (acc + acc2).sum() + k32;
}}
"""


@pytest.mark.parametrize("body", [*NOT_SUMS, *SUMS])
def test_what_is_a_sum(body: str) -> None:
    text = BODY.format(body=body)
    after, notes = specialize(text)
    assert [note.name for note in notes].count("acc") == (body in SUMS and "dotAccum(x.vload<16>(k), acc)" in body)
    before, native = compile_text(text), compile(text)
    w, x, y = make_bytes(16 * 20, "uint8"), make_bytes(16 * 20, "int8"), np.zeros(4, np.int32)
    for steps in range(20):
        expected = run(before, w, x, y, steps * 16)
        assert run(after, w, x, y, steps * 16) == expected
        assert native["f"](w, x, y, steps * 16) == expected[0]


# ---- checks in front of the loop

PLACES = (
    "i", "i + 1", "i - 1", "2 * i", "i * 3 + 1", "n - i", "(n - 1) - i", "i << 1", "base + i", "(int64) i", "(int64) (i + 2)",
    "(int64) i * 2 - 1", "(int32) base", "8 - i", "(uint32) i",
    "(int64) (i * 8001)", "i & 3", "i * n", "(int8) i", "(int64) (int8) i",
)  # fmt: skip
CONDITIONS = (
    "i < n",
    "i <= n",
    "n > i",
    "i + 2 < n",
    "i - 1 <= n",
    "n >= i + 1",
    "i < a.count()",
    "(int64) i < base",
    "i != n",
)
GUARDED = """
static int32 f(int32[] a, int8[] b, {type} n, int32 base, {type} first) {{
    int32 sum = 0;
    for ({type} i = first; {condition}; i += {step}) {{
        {body}
    }}
    return sum;
}}
"""
BODIES = (
    "sum = sum + a[{0}];",
    "a[{0}] = a[{1}] + 1;",
    "sum = sum * 3 + a[{0}] - b[{1}];",
    "sum = sum + a[{0} + 3] - a[{0} - 2] * a[{0}] + b[{1} + 1] - b[{1}];",
    "if (b[{0}] > 0) {{ a[{1}] = sum; }} sum = sum + 1;",
    "sum = sum + b.vload<4>({0}).dotSum(b.vload<4>({1}), 0);",
    "sum = b.vload<4>({0}).dot(b.vload<4>({1}), sum);",
    "if (sum == 40) {{ return a[{1}]; }} sum = sum + a[{0}];",
)


@pytest.mark.parametrize("seed", range(40))
def test_guard_never_lets_a_fault_pass(seed: int) -> None:
    """Random loops over arrays of every length: result, contents or error are those of the reference."""
    draw = random.Random(seed)
    kind = draw.choice(("int32", "uint32", "int64"))
    places = [draw.choice(PLACES) for _ in range(2)]
    if "dot" in (body := draw.choice(BODIES)):
        places = ["i", draw.choice(("i", "i + 4", "i * 2"))] if draw.random() < 0.6 else places
    text = GUARDED.format(
        type=kind, condition=draw.choice(CONDITIONS[:-1]), step=draw.choice((1, 1, 2, 3, 4, 4)), body=body.format(*places)
    )
    before, native = compile_text(text), compile(text, filename="random.cj", target="native")
    after, _ = specialize(text)
    for _ in range(30):
        a = np.arange(draw.randrange(0, 60), dtype=np.int32)
        b = make_bytes(draw.randrange(0, 60), "int8")
        n, base = draw.choice((0, 1, 7, 16, 30, 40, 59, 64, 100)), draw.choice((0, 1, 5, 40, -3))
        first = draw.choice((0, 0, 0, 1, 5)) if kind == "uint32" else draw.choice((0, 0, 0, 1, 5, -2))
        arguments = (a, b, n, base, first)
        expected = run(before, *arguments)
        assert run(after, *arguments) == expected, text
        assert run_native(native, *arguments) == expected, (text, n, base, first)


AT_A_DISTANCE = """
static int32 f(int32[] a, int64 from, int64 n) {{
    int32 sum = 0;
    for (int64 i = 0; i < n; i += 2) {{ sum = sum * 3 + a[from {sign} i - 2] - a[from {sign} i + 5] + a[from {sign} i]; }}
    return sum;
}}
"""


@pytest.mark.parametrize("sign", "+-")
def test_accesses_at_a_distance(sign: str) -> None:
    """Some places rise with the counter and some fall; the first access outside may be that at any end of them."""
    text = AT_A_DISTANCE.format(sign=sign)
    before, native = compile_text(text), compile(text, filename="random.cj")
    after, _ = specialize(text)
    assert checked_accesses(after) == [0, 3]
    a = np.arange(30, dtype=np.int32)
    for start in range(-3, 32):
        for n in (0, 1, 2, 9, 10, 24):
            expected = run(before, a, start, n)
            assert run(after, a, start, n) == run_native(native, a, start, n) == expected
    for start in (2**63 - 1, 2**63 - 6, -(2**63), -(2**63) + 2):
        assert run_native(native, a, start, 8) == run(before, a, start, 8)


def test_counter_near_the_end_of_its_type() -> None:
    """A loop that ends only because its counter would wrap must not be taken for one that ends before."""
    text = """
    static int32 f(int8[] a, int32 n, int32 first) {
        int32 s = 0;
        for (int32 i = first; i <= n; i += 5) { s = s + a[i & 7]; if (s > 90) { return i; } }
        return s;
    }
    """
    before, native = compile_text(text), compile(text)
    a = np.ones(8, np.int8)
    for first, n in ((2147483640, 2147483647), (2147483000, 2147483645), (0, 200)):
        assert native["f"](a, n, first) == run(before, a, n, first)[0]


@pytest.mark.parametrize("place", [
    "i * 4096", "(int64) (i * 4096)", "(uint32) i * 4096", "(int64) (i * 4096) - (int64) i * 4096",
])  # fmt: skip
def test_first_and_way_are_not_enough_where_the_index_wraps(place: str) -> None:
    text = f"""
    static int32 f(int32[] a, int32 n) {{
        int32 s = 0;
        for (int32 i = 0; i < n; i += 262144) {{ s = s + a[{place}]; }}
        return s;
    }}
    """
    before, native = compile_text(text), compile(text, filename="random.cj")
    a = np.arange(9, dtype=np.int32)
    for turns in range(7):
        assert run_native(native, a, turns << 18) == run(before, a, turns << 18)


def test_checks_are_gone_from_the_copy() -> None:
    text = "static int32 f(int32[] a, int32 n) { int32 s = 0; for (int32 i = 0; i < n; i++) { s = s + a[i]; } return s; }"
    after, _ = specialize(text)
    assert checked_accesses(after) == [0, 1]
    assert "inside" in print_program(after)
    assert any(isinstance(item, If) for item in after.functions[0].body)


def test_what_a_loop_that_does_not_run_costs() -> None:
    """Only the question whether it runs; and the loop as written is known to run rarely."""
    text = "static int32 f(int32[] a, int32 n) { int32 s = 0; for (int32 i = 0; i < n; i++) { s = s + a[i]; } return s; }"
    body = specialize(text)[0].functions[0].body
    runs = next(item for item in body if isinstance(item, If))
    before = [item.op for item in body[: body.index(runs)] if isinstance(item, Value)]
    assert before == ["const", "set", "const", "set", "get", "lt"]
    assert [item.op for item in walk(runs.then) if isinstance(item, Value)].count("length") == 1
    assert [item.rare for item in walk(body) if isinstance(item, Loop)] == [False, True]
    written = compile(f"class K {{ {text} }}", target="x86-scalar", checks=True).emit("llvm-ir")
    assert len(re.findall(r"label %body\d+, label %leave\d+, !prof", str(written))) == 1


def test_helper_in_the_loop() -> None:
    text = """
    @Device static int32 twice(int32[] a, int32 i) { int32 t = a[i]; if (t > 3) { t = 3; } return t * 2; }
    static int32 f(int32[] a, int32 n) { int32 s = 0; for (int32 i = 0; i < n; i++) { s = s + twice(a, i); } return s; }
    """
    after, _ = specialize(text)
    assert checked_accesses(after)[0] == 0
    a = np.arange(9, dtype=np.int32)
    for n in range(11):
        assert run(after, a, n) == run(compile_text(text), a, n)


# ---- short loops

SHORT = """
static int32 f(int32[] a, int32 n) {{
    int32 s = 0;
    for (int32 j = 0; j < n; j++) {{
        for ({type} i = {first}; i {compare} {limit}; i += {step}) {{
            s = s * 3 + a[{place}] + (int32) i;
            a[j & 1] = s;
        }}
    }}
    return s;
}}
"""


@pytest.mark.parametrize("type", ["int32", "uint8", "int64"])
@pytest.mark.parametrize(
    ("first", "compare", "limit", "step"), [(0, "<", 4, 1), (1, "<=", 9, 3), (5, "<", 5, 1), (0, "<", 40, 1)]
)
@pytest.mark.parametrize("place", ["i", "j + i", "j * 4 + i - 1"])
def test_short_loops(type: str, first: int, compare: str, limit: int, step: int, place: str) -> None:
    text = SHORT.format(type=type, first=first, compare=compare, limit=limit, step=step, place=place.replace("i", "(int32) i"))
    before = compile_text(text)
    after, _ = specialize(text)
    native = compile(text, filename="random.cj")
    a = np.arange(12, dtype=np.int32)
    for n in range(5):
        expected = run(before, a, n)
        assert run(after, a, n) == expected
        assert run_native(native, a, n) == expected


def test_short_loop_is_gone() -> None:
    """What is left are the loop around it without checks, and that with them."""
    text = SHORT.format(type="int32", first=0, compare="<", limit=4, step=1, place="j * 4 + i")
    assert checked_accesses(specialize(text)[0]) == [4, 8]


# ---- what stays as it is

ODD = {
    "returns at once": "for (int32 i = 0; i < n; i++) { s = s + a[i]; return s; }",
    "returns at once, short": "for (int32 i = 0; i < 3; i++) { s = s + a[i]; return s; }",
    "returns sometimes": "for (int32 i = 0; i < 4; i++) { s = s + a[i]; if (s > 2) { return s; } }",
    "breaks": "for (int32 i = 0; i < n; i++) { if (a[i] > 4) { break; } s = s + a[i]; }",
    "continues": "for (int32 i = 0; i < n; i++) { if (a[i] == 2) { continue; } s = s + a[i]; }",
    "counts down": "for (int32 i = n - 1; i >= 0; i--) { s = s * 3 + a[i]; }",
    "moves its limit": "for (int32 i = 0; i < n; i++) { s = s + a[i]; if (i == 2) { n = n - 3; } }",
    "steps twice": "for (int32 i = 0; i < n; i++) { s = s + a[i]; i = i + 1; }",
    "reads behind the step": "int32 i = 0; while (i < n) { s = s + a[i]; i = i + 1; s = s * 2 + i; }",
    "steps under a condition": "int32 i = 0; while (i < n) { s = s + a[i]; if (s > 0 - 9) { i = i + 1; } else { i = i + 2; } }",
    "tests behind": "int32 i = 0; do { s = s + a[i]; i = i + 1; } while (i < n);",
    "begins below zero": "for (int32 i = 0 - 2; i < n; i++) { if (i >= 0) { s = s + a[i]; } }",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_loops(name: str) -> None:
    text = f"static int32 f(int32[] a, int32 m) {{ int32 n = m; int32 s = 0; {ODD[name]} return s + n; }}"
    before, native = compile_text(text), compile(text, filename="random.cj")
    after, _ = specialize(text)
    for size in (0, 3, 9):
        a = np.arange(size, dtype=np.int32)
        for n in (0, 1, 2, 5, 9, 10):
            expected = run(before, a, n)
            assert run(after, a, n) == expected
            assert run_native(native, a, n) == expected


def test_barrier_in_a_loop() -> None:
    """Where one item's accesses are inside their array and another's are not, they must still meet."""
    text = """
    @Kernel void k(KernelBuffer<int32> y, KernelBuffer<int32> x, int32 n) {
        Shared<int32> s = shared int32[4];
        int32 t = (int32) KernelThread.x();
        int32 sum = 0;
        for (int32 i = 0; i < n; i++) {
            s[t] = x[i * 4 + t];
            Barrier.workgroup();
            sum = sum + s[3 - t];
            Barrier.workgroup();
        }
        y[t] = sum;
    }
    """
    native, reference = compile(text, filename="random.cj"), compile(text, filename="random.cj", target="reference")
    for size in (12, 10, 4, 1):
        x = np.arange(size, dtype=np.int32) + 1
        left: list[object] = []
        for module in (reference, native):
            y = np.zeros(4, np.int32)
            try:
                module["k"](y, x, 3, grid=1, block=4)
                left.append(y.tolist())
            except KernelError as error:
                left.append((str(error), y.tolist()))
        assert left[0] == left[1]
