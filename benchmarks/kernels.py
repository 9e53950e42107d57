"""How fast compiled kernels are, beside the same work in C.

    python -m benchmarks.kernels [NAME…] [--rounds N] [--json] [--amx]

C is `benchmarks/peers.c`, compiled here and now by gcc (or what CC names) with -O3 -march=native and without contraction, which
would change bits: intrinsics where the compiler would not find the instruction, plain loops elsewhere. Everything runs in one
process and one thread, all sides in turns and by the thread's own clock, so that a busy machine disturbs little; a round is
some milliseconds of each, and medians are taken. The last numbers are their time by ours, the median over rounds: above 1 the
compiled kernel is faster. `checks` is what run-time checks cost.

Other software is kept from AMX, a unit for matrix products that the compiler has no instruction of, unless `--amx` is given.

Results are compared before anything is timed. What is not installed is skipped with a line that says so.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.cases import list_cases
from benchmarks.peers import refuse_amx
from benchmarks.sides import Case, Peers
from benchmarks.turns import measure

ROUNDS = 25


def describe(name: str, case: Case, rounds: int) -> dict[str, Any]:
    ours, unchecked, *others = measure([case.run, case.unchecked, *case.peers.values()], rounds, case.clock)
    return {
        "name": name,
        "us": 1e6 * median(ours) / case.repeats,
        "gops": case.work * case.repeats / median(ours) / 1e9,
        "checks": median(a / b for a, b in zip(ours, unchecked, strict=True)) - 1,
        "ratios": {
            name: median(b / a for a, b in zip(ours, theirs, strict=True))
            for name, theirs in zip(case.peers, others, strict=True)
        },
    }


def main(words: list[str]) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.kernels")
    parser.add_argument("names", nargs="*", help="parts of the names of the rows that are wanted")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--amx", action="store_true", help="let other software use it")
    given = parser.parse_args(words)
    if not given.amx:
        refuse_amx()
    found: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        if not given.json:
            print(f"{'':28}{'us':>9}{'GOPS':>8}{'checks':>8}  their time by ours")
        for name, make in list_cases(Peers(Path(folder))):
            if given.names and not any(wanted in name for wanted in given.names):
                continue
            case = make()
            case.compare()
            row = describe(name, case, given.rounds)
            found.append(row)
            if not given.json:
                ratios = "  ".join(f"{peer} {ratio:.2f}" for peer, ratio in row["ratios"].items())
                print(f"{name:28}{row['us']:9.2f}{row['gops']:8.1f}{100 * row['checks']:7.1f}%  {ratios}", flush=True)
    if given.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
