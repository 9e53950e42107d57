"""How fast compiled kernels are, beside the same work in C. `python -m benchmarks.kernels [NAME…] [--rounds N] [--json]`

C is `benchmarks/peers.c`, compiled here and now by gcc (or what CC names) with -O3 -march=native and without contraction, which
would change bits: intrinsics where the compiler would not find the instruction, plain loops elsewhere. Everything runs in one
process and one thread, all sides in turns and by the thread's own clock, so that a busy machine disturbs little; a round is
some milliseconds of each, and medians are taken. The last numbers are their time by ours, the median over rounds: above 1 the
compiled kernel is faster. `checks` is what run-time checks cost.

Results are compared before anything is timed. What is not installed is skipped with a line that says so.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import cajeta_dot as cj
from benchmarks.peers import add_optional_peers
from tests.samples import quantized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Run = Callable[[], Any]
    Array = np.ndarray[Any, Any]

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples"
ROUNDS = 25
ROUND_SECONDS = 0.01  # of one side
REPEATS = 64  # launched along z, which the kernels don't look at: so that the call from Python does not count
DOTS = """
@Kernel public static void us(KernelBuffer<int32> y, KernelBuffer<uint8> w, KernelBuffer<int8> x, int64 n) {
    Vector<int32,16> acc = Vector<int32,16>(0);
    for (int64 k = 0; k + 64 <= n; k += 64) { acc = w.vload<64>(k).dotAccum(x.vload<64>(k), acc); }
    y[KernelThread.globalIdX()] = acc.sum();
}
@Kernel public static void ss(KernelBuffer<int32> y, KernelBuffer<int8> w, KernelBuffer<int8> x, int64 n) {
    Vector<int32,16> acc = Vector<int32,16>(0);
    for (int64 k = 0; k + 64 <= n; k += 64) { acc = w.vload<64>(k).dotAccum(x.vload<64>(k), acc); }
    y[KernelThread.globalIdX()] = acc.sum();
}
@Kernel public static void four(KernelBuffer<int32> y, KernelBuffer<int8> w, KernelBuffer<int8> x, int64 n) {
    int32 acc = 0;
    for (int64 k = 0; k + 4 <= n; k += 4) { acc = w.vload<4>(k).dot(x.vload<4>(k), acc); }
    y[KernelThread.globalIdX()] = acc;
}
"""
SAXPY = """
@Kernel public static void saxpy(KernelBuffer<float32> y, KernelBuffer<float32> x, float32 a, uint32 n) {
    uint32 i = KernelThread.globalIdX();
    if (i < n) { y[i] = a * x[i] + y[i]; }
}
"""


class Case(NamedTuple):
    """One kernel: how it is run with and without checks, and what it is measured against. `work`: operations of a run.

    clock: what tells the time: of the thread, or where there are several of the wall.
    """

    name: str
    run: Run
    unchecked: Run
    peers: dict[str, Run]
    work: int
    clock: Callable[[], float] = time.thread_time


class Peers:
    """The C library. `has` says if this machine can run what needs AVX-512 VNNI."""

    def __init__(self, folder: Path):
        compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            raise SystemExit("no C compiler: install gcc, or name one in CC")
        path = folder / "peers.so"
        # As the language has it: a product is rounded before it is added.
        flags = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-o", str(path)]
        subprocess.run([compiler, *flags, str(HERE / "peers.c")], check=True)
        self.library = ctypes.CDLL(str(path))

    def bind(self, **named: tuple[Any, ...]) -> dict[str, Run]:
        """Calls with fixed arguments, by what the rows are called; those that the library lacks are left out."""
        made: dict[str, Run] = {}
        for label, (name, *arguments) in named.items():
            if hasattr(self.library, name):
                function = getattr(self.library, name)
                function.restype = None
                made[label] = _fix(function, [_in_c(argument) for argument in arguments], arguments)
        return made


def _fix(function: Any, passed: list[Any], kept: object) -> Run:
    def run(kept: object = kept) -> None:
        for _ in range(REPEATS):
            function(*passed)

    return run


def _in_c(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_float(argument) if isinstance(argument, float) else ctypes.c_int64(argument)


def align(array: Array) -> Array:
    """A copy that begins at a cache line, as `cajeta_dot.empty` makes them."""
    made = cj.empty(array.shape, array.dtype)
    made[...] = array
    return made


def compile_twice(source: str | Path) -> list[cj.Module]:
    """With and without checks, for one thread."""
    compiler: Any = cj.compile_file if isinstance(source, Path) else cj.compile
    return [compiler(source, checks=checks, num_threads=1) for checks in (True, False)]


def make_runs(
    source: str | Path, name: str, *arguments: Any, grid: tuple[int, int], block: int | tuple[int, int]
) -> tuple[Run, Run]:
    """The kernel with and without checks, REPEATS times in one launch."""
    checked, unchecked = (module[name] for module in compile_twice(source))
    launch: dict[str, Any] = {"grid": (*grid, REPEATS), "block": block}
    return lambda: checked(*arguments, **launch), lambda: unchecked(*arguments, **launch)


# ---- the cases


def dots(c: Peers, size: int, times: int, label: str) -> Iterator[Case]:
    random = np.random.default_rng(1)
    w, x = (align(random.integers(0, 256, size, dtype=np.uint8)) for _ in range(2))
    s, v = w.view(np.int8), x.view(np.int8)
    y, z = cj.empty(times, np.int32), cj.empty(times, np.int32)
    launch: dict[str, Any] = {"grid": (times // 64, 1), "block": 64}
    for kind, weights in (("us", w), ("ss", s), ("four", s)):
        signs = "us" if kind == "us" else "ss"
        peers = c.bind(
            C8=(f"repeat_dot_{signs}_vnni", z, weights, v, size, times),
            plain=(f"repeat_dot_{signs}_plain", z, weights, v, size, times),
        )
        if kind == "us" and peers:
            add_optional_peers("dot", peers, REPEATS * times, z, weights, v)
        yield Case(f"dot {kind} {label}", *make_runs(DOTS, kind, y, weights, v, size, **launch), peers, 2 * size * times)
        compare(y, z, peers)


def compare(ours: Array, theirs: Array, peers: dict[str, Run]) -> None:
    """Everything that was run has written the same numbers."""
    if peers and not np.allclose(ours, theirs, rtol=2e-5, atol=1e-5 * float(np.abs(theirs).max())):
        raise SystemExit("results differ")


def saxpy(c: Peers) -> Iterator[Case]:
    count = 65536
    random = np.random.default_rng(2)
    x, y = (align(random.standard_normal(count).astype(np.float32)) for _ in range(2))
    peers = c.bind(gcc=("saxpy", y, x, 0.5, count))  # on the same arrays: where they lie to each other matters
    runs = make_runs(SAXPY, "saxpy", y, x, 0.5, count, grid=(count // 1024, 1), block=1024)
    yield Case("saxpy 512 KiB", *runs, peers, 2 * count)


def q4k(c: Peers, rows: int, label: str) -> Iterator[Case]:
    blocks = 16
    random = np.random.default_rng(3)
    w = align(quantized.make_q4k(rows, blocks, random))
    a = quantized.make_activations(256 * blocks, 256, random)
    x, scales, sums = align(a.x), align(a.scales), align(a.sums(32))
    y, z = cj.empty(rows, np.float32), cj.empty(rows, np.float32)
    common = z, w, x, scales, sums, rows, blocks
    peers = c.bind(lanes=("q4k_vnni", *common), pairs=("q4k_pairs_vnni", *common), per_sub=("q4k_sub_vnni", *common))
    runs = make_runs(SAMPLES / "q4k_matvec.cj", "matvec", y, w, x, scales, sums, rows, blocks, grid=(rows // 64, 1), block=64)
    yield Case(f"Q4_K {label}", *runs, peers, 512 * rows * blocks)
    compare(y, z, peers)
    woven = align(quantized.interleave_rows(w))
    arguments = y, woven, woven.view(np.float16), x.view(np.int32), scales, sums, rows // 16, blocks
    runs = make_runs(SAMPLES / "q4k_rows16.cj", "matvec", *arguments, grid=(1, 1), block=rows // 16)
    yield Case(f"Q4_K 16 rows {label}", *runs, peers, 512 * rows * blocks)
    compare(y, z, peers)


def reduce(c: Peers) -> Iterator[Case]:
    rows, blocks = 128, 16
    random = np.random.default_rng(4)
    nibbles = align(random.integers(0, 256, (rows, blocks, 128), dtype=np.uint8))
    scales = align(random.integers(0, 64, (rows, blocks, 8), dtype=np.uint8))
    x = align(random.integers(-128, 128, 256 * blocks).astype(np.int8))
    y, z = cj.empty(rows, np.int32), cj.empty(rows, np.int32)
    launch: dict[str, Any] = {"grid": (rows // 64, 1), "block": 64}
    other, _ = make_runs(SAMPLES / "q4k_reduce.cj", "perSubBlock", z, nibbles, scales, x, rows, blocks, **launch)
    runs = make_runs(SAMPLES / "q4k_reduce.cj", "perBlock", y, nibbles, scales, x, rows, blocks, **launch)
    yield Case("once per block", *runs, {"per_sub": other}, 512 * rows * blocks)
    compare(y, z, {"per_sub": other})


def other_formats(c: Peers) -> Iterator[Case]:
    rows = 128
    random = np.random.default_rng(5)
    for name, make, group, start, blocks, symbol in (
        ("q8_0_matvec", quantized.make_q8_0, 32, -128, 128, "q8_0_plain"),
        ("q6k_matvec", quantized.make_q6k, 256, -32, 16, "q6k_plain"),
    ):
        w = align(make(rows, blocks, random))
        a = quantized.make_activations(group * blocks, group, random)
        x, scales, starts = align(a.x), align(a.scales), align(start * a.sums(4))
        y, z = cj.empty(rows, np.float32), cj.empty(rows, np.float32)
        peers = c.bind(plain=(symbol, z, w, x, scales, rows, blocks))
        arguments = y, w, w.view(np.float16), x, scales, starts, rows, blocks
        runs = make_runs(SAMPLES / f"{name}.cj", "matvec", *arguments, grid=(rows // 64, 1), block=64)
        yield Case(name.removesuffix("_matvec").upper(), *runs, peers, 2 * rows * group * blocks)
        compare(y, z, peers)


def gemm(c: Peers) -> Iterator[Case]:
    m, n, k = 252, 256, 1024
    random = np.random.default_rng(6)
    a = random.integers(0, 256, (m, k), dtype=np.uint8)
    b = random.integers(-128, 128, (k, n)).astype(np.int8)
    words, panels = align(quantized.pack_rows(a)), align(quantized.pack_panels(b))
    y, z = cj.empty((m, n), np.int32), cj.empty((m, n), np.int32)
    peers = c.bind(tile12x32=("gemm_vnni", z, words, panels, m, n, k // 4))
    runs = make_runs(
        SAMPLES / "gemm_tiles.cj", "multiply", y, words, panels, m, n, k // 4, grid=(1, m // 12), block=(n // 32, 1)
    )
    add_optional_peers("gemm", peers, REPEATS, z, a, b)
    yield Case("GEMM 252x256x1024", *runs, peers, 2 * m * n * k)
    compare(y, z, peers)


def two_threads() -> Iterator[Case]:
    """The same launch by one thread and by two; by the wall's clock, so the machine should have nothing else to do."""
    rows, blocks = 2048, 16
    random = np.random.default_rng(7)
    w = align(quantized.make_q4k(rows, blocks, random))
    a = quantized.make_activations(256 * blocks, 256, random)
    x, scales, sums, y = align(a.x), align(a.scales), align(a.sums(32)), cj.empty(rows, np.float32)
    path = SAMPLES / "q4k_matvec.cj"
    launch: dict[str, Any] = {"grid": (rows // 64, 1, 4), "block": 64}
    one, two, unchecked = (
        cj.compile_file(path, num_threads=threads, checks=checks)["matvec"]
        for threads, checks in ((1, True), (2, True), (2, False))
    )
    runs = [lambda k=k: k(y, w, x, scales, sums, rows, blocks, **launch) for k in (two, unchecked, one)]
    work = 512 * rows * blocks * 4 // REPEATS
    yield Case("Q4_K 5 MiB, 2 threads", runs[0], runs[1], {"1 thread": runs[2]}, work, time.perf_counter)


def all_cases(c: Peers) -> Iterator[Case]:
    yield from dots(c, 4096, 128, "4 KiB")
    yield from dots(c, 256 << 10, 64, "256 KiB")
    yield from saxpy(c)
    yield from q4k(c, 128, "288 KiB")
    yield from q4k(c, 2048, "5 MiB")
    yield from reduce(c)
    yield from other_formats(c)
    yield from gemm(c)
    yield from two_threads()


# ---- timing


def measure(runs: list[Run], rounds: int, clock: Callable[[], float] = time.thread_time) -> list[list[float]]:
    """Seconds of one run each, in every round."""
    repeats: list[int] = []
    for run in runs:
        run()
        start = clock()
        run()
        repeats.append(max(1, int(ROUND_SECONDS / (clock() - start))))
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, count, taken in zip(runs, repeats, times, strict=True):
            start = clock()
            for _ in range(count):
                run()
            taken.append((clock() - start) / count)
    return times


def describe(case: Case, rounds: int) -> dict[str, Any]:
    ours, unchecked, *others = measure([case.run, case.unchecked, *case.peers.values()], rounds, case.clock)
    return {
        "name": case.name,
        "us": 1e6 * median(ours) / REPEATS,
        "gops": case.work * REPEATS / median(ours) / 1e9,
        "checks": median(a / b for a, b in zip(ours, unchecked, strict=True)) - 1,
        "ratios": {
            name: median(b / a for a, b in zip(ours, theirs, strict=True))
            for name, theirs in zip(case.peers, others, strict=True)
        },
    }


def main(words: list[str]) -> None:
    as_json = "--json" in words
    rounds = int(words[words.index("--rounds") + 1]) if "--rounds" in words else ROUNDS
    wanted = [
        word for place, word in enumerate(words) if not word.startswith("--") and words[place - 1 : place] != ["--rounds"]
    ]
    found: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        if not as_json:
            print(f"{'':24}{'us':>9}{'GOPS':>8}{'checks':>8}  their time by ours")
        for case in all_cases(Peers(Path(folder))):
            if wanted and not any(word in case.name for word in wanted):
                run_once(case)
                continue
            row = describe(case, rounds)
            found.append(row)
            if not as_json:
                ratios = "  ".join(f"{name} {ratio:.2f}" for name, ratio in row["ratios"].items())
                print(f"{row['name']:24}{row['us']:9.1f}{row['gops']:8.1f}{100 * row['checks']:7.1f}%  {ratios}", flush=True)
    if as_json:
        print(json.dumps(found, indent=1))


def run_once(case: Case) -> None:
    for run in (case.run, *case.peers.values()):
        run()


if __name__ == "__main__":
    main(sys.argv[1:])
