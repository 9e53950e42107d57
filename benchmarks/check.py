"""What the front end costs, beside a C++ compiler. `python -m benchmarks.check [lines…]`

The same generated kernels for all; for C++ with declarations in front that make them C++, read by `-fsyntax-only`. Seconds
are those of the CPU, so that a busy machine disturbs little, and the best of a few runs counts. `check` is parse and check;
`all` is what `cajetac check` does with a file: parse, check, verify, simplify, look at ranges. The memory is the most that
the process has held until then.
"""

from __future__ import annotations

import gc
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cajeta_dot.check import check_unit
from cajeta_dot.collector import PAUSED_COLLECTOR
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.driver import check_source, parse
from cajeta_dot.source import Source
from cajeta_dot.syntax.parse import parse_text
from tests.syntax.kernels import write_program

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1_000, 10_000, 100_000)
LINES_IN_ALL = 30_000  # a size is repeated until so many lines were checked, up to MOST times
MOST = 7
COMPILERS = ("clang++", *(f"clang++-{version}" for version in range(30, 13, -1)), "g++")  # Debian adds the version
PRELUDE = """
#include <cstdint>
typedef int8_t int8; typedef uint8_t uint8; typedef int32_t int32; typedef uint32_t uint32; typedef int64_t int64;
typedef float float32;
template <class T> struct Unsigned { typedef T type; };
template <> struct Unsigned<int8> { typedef uint8 type; };
template <class T, int N> struct Vector {
    T lanes[N];
    Vector(T all = 0);
    T &operator[](int64 lane);
    Vector<typename Unsigned<T>::type, N> asUnsigned();
    template <class U> Vector<int32, N / 4> dotAccum(Vector<U, N> other, Vector<int32, N / 4> sum);
};
template <class T, int N> Vector<T, N> operator+(Vector<T, N>, Vector<T, N>);
template <class T, int N> Vector<T, N> operator*(Vector<T, N>, int64);
template <class T, int N> Vector<T, N> operator&(Vector<T, N>, int64);
template <class T, int N> Vector<T, N> operator>>(Vector<T, N>, int64);
template <class T> struct KernelBuffer {
    template <int N> Vector<T, N> vload(int64 at);
    T &operator[](int64 at);
};
struct { uint32 globalIdX(); } KernelThread;
"""
LEFT_OUT = re.compile(r"^(?:package|import) .*|@Kernel|\bheap\b|\bpublic (?=static)", re.MULTILINE)


def write_cpp(text: str) -> str:
    """The generated kernels as C++."""
    text = LEFT_OUT.sub("", text).replace("public final class", "struct")
    return f"{PRELUDE}{text.rstrip()};\n"


def measure(run: Callable[[], Any], times: int) -> float:
    """The least seconds of the CPU."""
    least = float("inf")
    for _ in range(times):
        gc.collect()
        before = time.process_time()
        result = run()
        least = min(least, time.process_time() - before)
        del result
    return least


def measure_compiler(command: list[str], times: int) -> float:
    """The least seconds of the CPU that a child takes. Raises CalledProcessError where it refuses the text."""
    import resource

    least = float("inf")
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def peak_memory() -> int:
    """MiB of this process."""
    import resource

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size >> (20 if sys.platform == "darwin" else 10)


def check(text: str) -> object:
    """What is made stays until the clock has stopped: a compiler ends without taking its trees apart."""
    source = Source("Generated.cj", text)
    reporter = Reporter(source)
    with PAUSED_COLLECTOR:
        unit = parse(source, reporter)
        program = check_unit(unit, source, reporter) if unit else None
    assert program, reporter.found[:3]
    return unit, program


def check_all(text: str) -> object:
    source = Source("Generated.cj", text)
    reporter = Reporter(source)
    program = check_source(source, reporter)
    assert program, reporter.found[:3]
    return program


def compare(lines: int, compiler: str | None, folder: Path) -> str:
    """One row."""
    text = write_program(lines)
    lines = text.count("\n")
    times = max(1, min(MOST, LINES_IN_ALL // lines))
    seconds = [measure(run, times) for run in (lambda: parse_text(text), lambda: check(text), lambda: check_all(text))]
    rates = " ".join(f"{lines / each / 1e3:11.1f}" for each in seconds)
    row = f"{lines:8d} {rates} {peak_memory():6d}"
    if compiler is None:
        return row
    file = folder / "generated.cpp"
    file.write_text(write_cpp(text), encoding="utf-8")
    other = measure_compiler([compiler, "-fsyntax-only", "-w", str(file)], min(times, 3))
    return f"{row} {lines / other / 1e3:11.1f}"


def main() -> None:
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    beside = Path(compiler).name if compiler else "no C++ compiler is installed"
    print("           thousand lines a second of the CPU")
    print(f"   lines       parse       check         all    MiB  {beside}")
    with TemporaryDirectory() as folder:
        for lines in [int(argument) for argument in sys.argv[1:]] or SIZES:
            print(compare(lines, compiler, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
