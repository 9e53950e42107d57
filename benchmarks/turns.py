"""Sides measured in turns, so that a busy moment of the machine meets all of them."""

from __future__ import annotations

import os
import subprocess
import time
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Run = Callable[[], Any]

ROUND_SECONDS = 0.01  # of one side


def measure(runs: Sequence[Run], rounds: int, clock: Callable[[], float] = time.thread_time) -> list[list[float]]:
    """Seconds of one run each, in every round. The first run of each, which may have something to load, does not count."""
    repeats: list[int] = []
    for run in runs:
        run()
        start = clock()
        run()
        repeats.append(max(1, int(ROUND_SECONDS / max(clock() - start, 1e-9))))
    times: list[list[float]] = [[] for _ in runs]
    sides = list(zip(runs, repeats, times, strict=True))
    random = Random(1)
    for _ in range(rounds):
        random.shuffle(sides)  # what one leaves in the caches helps the next, which must not always be the same
        for run, count, taken in sides:
            start = clock()
            for _ in range(count):
                run()
            taken.append((clock() - start) / count)
    return times


def measure_commands(commands: dict[str, list[str]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of whole processes. The first round, which writes byte code and tables, does not count; that byte code is
    written is seen to.

    Raises SystemExit for a command that fails.
    """
    environment = {name: content for name, content in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, env=environment)
            taken = time.perf_counter() - start
            if done.returncode:
                raise SystemExit(f"{name} failed:\n{done.stderr.decode()}")
            if turn:
                times[name].append(1000 * taken)
    return times
