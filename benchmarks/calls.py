"""What a call from Python costs before the kernel does anything. `python -m benchmarks.calls [--rounds N]`

Four arrays and two numbers, all checks on, one work item that writes one number. Beside it the same function by numba, called
the same way; a bare ctypes call of the C function, whose pointers have been made before; and numpy's smallest work, adding two
numbers in arrays of one. All in turns in one process. `ratio` is the median of their time by ours: above 1 ours is faster.
"""

from __future__ import annotations

import ctypes
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

import cajeta_dot as cj
from benchmarks.peers import make_numba_call
from benchmarks.sides import Peers
from benchmarks.turns import measure

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[], Any]

ROUNDS = 25
SOURCE = """
@Kernel public static void call(KernelBuffer<int32> y, KernelBuffer<uint8> w, KernelBuffer<int8> x, KernelBuffer<float32> s,
                                int32 n, int64 at) {
    if (n > 0) { y[0] = (int32) w[at] + (int32) x[at] + (int32) s[at]; }
}
"""


def list_sides(c: Peers) -> dict[str, Run]:
    """Our calls first."""
    y, w, x, s = np.zeros(16, np.int32), np.ones(16, np.uint8), np.ones(16, np.int8), np.ones(16, np.float32)
    kernel, alone = (cj.compile(SOURCE, num_threads=threads)["call"] for threads in (2, 1))
    ones = np.ones(1, np.int32), np.ones(1, np.int32), np.ones(1, np.int32)
    function: Any = c.library.call
    function.restype = None
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (y, w, x, s)]
    one, two = ctypes.c_int32(1), ctypes.c_int64(2)
    sides: dict[str, Run] = {
        "kernel, one workgroup": lambda: kernel(y, w, x, s, 1, 2, grid=1, block=1),
        "kernel, four workgroups, one thread": lambda: alone(y, w, x, s, 1, 2, grid=4, block=1),
        "kernel, four workgroups, two threads": lambda: kernel(y, w, x, s, 1, 2, grid=4, block=1),
        "ctypes, pointers made before": lambda: function(*pointers, one, two),
        "numpy.add, one element": lambda: np.add(ones[0], ones[1], ones[2]),
    }
    numba_call = make_numba_call()
    if numba_call:
        sides["numba"] = lambda: numba_call(y, w, x, s, 1, 2)
    return sides


def main(words: list[str]) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.calls")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    with TemporaryDirectory() as folder:
        sides = list_sides(Peers(Path(folder)))
        ours, *_ = times = measure(list(sides.values()), parser.parse_args(words).rounds, time.thread_time)
    print(f"{'':38}{'best':>8}{'median':>8}  us{'ratio':>8}")
    for name, taken in zip(sides, times, strict=True):
        ratio = median(b / a for a, b in zip(ours, taken, strict=True))
        print(f"{name:38}{1e6 * min(taken):8.2f}{1e6 * median(taken):8.2f}    {ratio:8.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
