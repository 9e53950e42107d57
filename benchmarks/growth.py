"""How compile time grows with the number of kernels in a file. `python -m benchmarks.growth [COUNT…]`

Milliseconds of the CPU for each kernel, from source to output in one process: the kernels of `start_up.py`, COUNT of them (10,
100, 1,000). What grows in a straight line keeps its number. Each is the best of up to five runs.
"""

from __future__ import annotations

import sys
import time

from benchmarks.start_up import write_kernels
from cajeta_dot.backends import Options
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.driver import check_source, resolve_target
from cajeta_dot.source import Source

COUNTS = (10, 100, 1_000)
KERNELS_IN_ALL = 100  # a size is repeated until so many were compiled, up to MOST times
MOST = 5
OUTPUTS = (("x86-vnni", "obj"), ("nvptx", "ptx"), ("spirv", "spirv"))
LEVELS = (0, 2)


def compile_once(text: str, target: str, kind: str, optimize: int) -> float:
    """Seconds of the CPU for the whole way."""
    start = time.process_time()
    source = Source("Generated.cj", text)
    reporter = Reporter(source)
    program, found = check_source(source, reporter), resolve_target(target, reporter)
    made = program and found and found[0].emit(program, found[1].name, kind, Options(optimize=optimize), reporter)
    taken = time.process_time() - start
    assert made, reporter.found[:3]
    return taken


def main(words: list[str]) -> None:
    counts = [int(word) for word in words] or COUNTS
    print(f"ms a kernel{'':17}" + "".join(f"{count:>9}" for count in counts))
    for target, kind in OUTPUTS:
        for optimize in LEVELS:
            compile_once(write_kernels(1), target, kind, optimize)  # what is loaded once
            row = f"{target} {kind} -O{optimize}"
            print(f"{row:28}", end="")
            for count in counts:
                text = write_kernels(count)
                runs = max(1, min(MOST, KERNELS_IN_ALL // count))
                least = min(compile_once(text, target, kind, optimize) for _ in range(runs))
                print(f"{1000 * least / count:9.2f}", end="", flush=True)
            print()


if __name__ == "__main__":
    main(sys.argv[1:])
