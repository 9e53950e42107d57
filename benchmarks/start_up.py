"""How long `cajetac` takes from the shell's point of view, beside a Python that does nothing.

    python -m benchmarks.start_up [RUNS]

Every row is a process of its own, the best and the median of RUNS (30), rows taken in turn so that a busy moment of the
machine meets all of them. `over` is what the best takes more than the best of the idle interpreter: what is ours.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.turns import measure_commands

CALL = "import sys; from cajeta_dot.cli import main; main()"
METHOD = """
    @Kernel public static void k{0}(KernelBuffer<int32> out, KernelBuffer<int8> w, KernelBuffer<int8> x, int64 n) {{
        Vector<int32,16> acc = Vector<int32,16>(0);
        for (int64 i = 0L; i < n - 63L; i += 64L) {{
            acc = w.vload<64>(i).dotAccum(x.vload<64>(i), acc);
        }}
        out[0] = acc.sum();
    }}
"""
LONG = 140  # methods; 1000 lines


def write_kernels(count: int) -> str:
    """A class of so many."""
    return "public class K {" + "".join(METHOD.format(n) for n in range(count)) + "}\n"


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        small, long = Path(folder, "small.cj"), Path(folder, "long.cj")
        for path, methods in ((small, 1), (long, LONG)):
            path.write_text(write_kernels(methods))
        lines = len(long.read_text().splitlines())
        rows = {
            "--version": ["--version"],
            "explain E0402": ["explain", "E0402"],
            "check, 8 lines": ["check", str(small)],
            f"check, {lines} lines": ["check", str(long)],
            "build --emit ir": [str(small), "--emit=ir"],
            "build --target null": [str(small), "--target=null"],
            "build --target spirv": [str(small), "--target=spirv"],
            "build --target nvptx": [str(small), "--target=nvptx"],
            "build --target x86-vnni": [str(small), "--target=x86-vnni"],
        }
        idle = {"python -c pass": [sys.executable, "-c", "pass"]}
        commands = {name: [sys.executable, "-c", CALL, *words] for name, words in rows.items()}
        times = measure_commands({**idle, **commands}, runs)
    least = min(times["python -c pass"])
    print(f"{'':26}{'best':>8}{'median':>8}{'over':>8}  ms")
    for name, taken in times.items():
        print(f"{name:26}{min(taken):8.1f}{median(taken):8.1f}{min(taken) - least:8.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
