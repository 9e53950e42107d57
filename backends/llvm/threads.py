"""A range of work spread over Python threads, for functions that give up the GIL.

Waking a thread costs more than a small launch takes. So a launch is begun here, in growing steps, and shared out only if it
turns out to be long; one that was long the last time is shared out at once.
"""

from __future__ import annotations

import os
from functools import cache
from time import perf_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor

SHORT = 1e-4  # seconds: what is done before that is not worth a second thread
_PIECES = 4  # for each thread, so that none waits long for the last


class Spreader:
    """Runs one function over ranges; remembers how long one step took."""

    def __init__(self) -> None:
        self._step = 0.0

    def run(self, work: Callable[[int, int], None], total: int, threads: int) -> None:
        """Calls `work(first, end)` for ranges that cover 0..total-1, in several threads at once. Raises what `work` raises."""
        begun = perf_counter()
        done = 0 if self._step * total > SHORT else self._begin(work, total, begun)
        if done < total:
            _share(work, done, total, threads)
        self._step = (perf_counter() - begun) / total

    def _begin(self, work: Callable[[int, int], None], total: int, begun: float) -> int:
        """Ranges of growing size, until all is done or it takes long. How much is done?"""
        done, size = 0, int(SHORT / 2 / self._step) if self._step else 1
        while True:
            end = min(done + size, total)
            work(done, end)
            done, size = end, 2 * size
            if done == total or perf_counter() - begun >= SHORT:
                return done


def _share(work: Callable[[int, int], None], done: int, total: int, threads: int) -> None:
    """The calling thread works too, and all of it if the others have no time."""
    size = -(-(total - done) // (threads * _PIECES))
    pieces = iter(range(done, total, size))  # whoever takes the next holds the GIL

    def take_pieces() -> None:
        for first in pieces:
            work(first, min(first + size, total))

    helpers = [_open_pool().submit(take_pieces) for _ in range(min(threads, -(-(total - done) // size)) - 1)]
    take_pieces()
    for helper in helpers:
        if not helper.cancel():
            helper.result()


@cache
def _open_pool() -> ThreadPoolExecutor:
    """One for the process. A forked child has none of its threads and opens its own."""
    from concurrent.futures import ThreadPoolExecutor

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_open_pool.cache_clear)
    return ThreadPoolExecutor(max(32, os.cpu_count() or 1), "cajeta")
