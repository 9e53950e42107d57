"""Long runs: `python -m tests.fuzz --programs 10000 --seed 0`, from the root of the project. What fails is printed, shrunk."""

from __future__ import annotations

import argparse
import sys
import time

from cajeta_dot.diagnostics import ERROR, CompileError

from .programs import make_program
from .running import all_settings, check, pick_settings, shrink


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, metavar="N", help="how many, 1000 by default")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the first; the others count up")
    parser.add_argument("--every-target", action="store_true", help="each program on all targets, not on two of them")
    parser.add_argument("--show", action="store_true", help="print the program of the seed and run nothing")
    chosen = parser.parse_args()
    if chosen.show:
        print(make_program(chosen.seed).text)
        return 0
    settings = all_settings if chosen.every_target else pick_settings
    failures, refused, start = 0, 0, time.monotonic()
    for seed in range(chosen.seed, chosen.seed + chosen.programs):
        try:
            failure = check(make_program(seed), settings(seed))
        except CompileError as error:  # hardly ever: a count that folding finds too large
            refused += 1
            print(f"seed {seed} is refused: {next(d for d in error.diagnostics if d.severity == ERROR).message}", flush=True)
            continue
        if failure:
            failures += 1
            print(f"{failure}\nshrunk: {shrink(failure)}", flush=True)
    print(f"{chosen.programs} programs, {refused} refused, {failures} failures, {time.monotonic() - start:.0f} s")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
