"""What the parser costs, beside lark's own parser for the same grammar. `python -m benchmarks.parse [lines…]`

Both get the same generated kernels, without comments for lark, which can't skip nested ones. Both build a tree with spans,
this one of typed nodes, lark's of `Tree` and `Token`. The garbage collector is off for both. Runs alternate and the best of
each counts, so that a busy machine disturbs the ratio less than the rates.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cajeta_dot.grammar import tables
from cajeta_dot.syntax.comments import blank_comments
from cajeta_dot.syntax.machine import load_machine
from cajeta_dot.syntax.parse import parse_text
from tests.syntax.kernels import write_program

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1_000, 10_000, 100_000)
LINES_IN_ALL = 100_000  # a size is repeated until so many lines were parsed, up to MOST times
MOST = 7


def measure(*runs: Callable[[], Any], times: int) -> list[float]:
    """The least seconds of each, the runs taken in turns."""
    least = [float("inf")] * len(runs)
    for _ in range(times):
        for index, run in enumerate(runs):
            gc.collect()
            gc.disable()
            before = time.perf_counter()
            result = run()
            least[index] = min(least[index], time.perf_counter() - before)
            del result
            gc.enable()
    return least


def compare(lines: int) -> str:
    """One row: lines, tokens, thousand lines a second here and with lark, and their ratio."""
    text = write_program(lines)
    blanked, _ = blank_comments(text)
    lines = text.count("\n")
    tokens = sum(1 for _ in load_machine().scan(blanked)) - 1
    lark = tables.make_lark(Path(tables.GRAMMAR).read_text(encoding="utf-8"))
    times = max(1, min(MOST, LINES_IN_ALL // lines))
    mine, theirs = measure(lambda: parse_text(text), lambda: lark.parse(blanked, start="unit"), times=times)
    return f"{lines:8d} {tokens:9d} {lines / mine / 1e3:11.1f} {lines / theirs / 1e3:11.1f} {theirs / mine:8.1f}"


def main() -> None:
    print("   lines    tokens  k lines/s      lark's    ratio")
    for lines in [int(argument) for argument in sys.argv[1:]] or SIZES:
        print(compare(lines), flush=True)


if __name__ == "__main__":
    main()
