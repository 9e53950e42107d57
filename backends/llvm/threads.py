"""A range of work spread over Python threads, for functions that give up the GIL.

Waking a thread costs more than a small launch takes. So a launch is begun here, in growing steps, and shared out only if it
turns out to be long; one that was long the last time is shared out at once.

Threads sleep between launches, each on a lock of its own: the queue and the futures of a pool of `concurrent.futures` take 20
us more on either side of a launch.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from time import perf_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[int, int], None]

SOON = 4e-5  # seconds that waking threads is thought to take before anything is known
_PAYS = 0.9  # of the time that one thread would take: a shared launch must be quicker
_LEARNS, _AT_MOST = 0.1, 3  # from each shared launch, which counts as no more than three times what was known
_FORGETS = 0.995  # how much of a doubt each launch leaves that was not shared, so that it is tried again
_LAST = 1 / 24  # of a thread's share: smaller pieces are not cut
_MANY = 3  # pieces for each thread: the last one is small then


class Spreader:
    """Runs one function over ranges. It learns how long a step takes one thread, and how much longer a shared launch takes than
    its part of the steps: on a virtual machine, waking a thread and being woken by it takes 0.1 ms."""

    def __init__(self) -> None:
        self._step = 0.0
        self._delay = SOON

    def run(self, work: Work, total: int, threads: int) -> None:
        """Calls `work(first, end)` for ranges that cover 0..total-1, in several threads at once. Raises what `work` raises."""
        long = self._delay / (_PAYS - 1 / threads)
        done = 0 if self._step * total > long else self._begin(work, total, long)
        if done < total:
            self._share(work, done, total, threads)
        else:
            self._delay = max(self._delay * _FORGETS, SOON)

    def _begin(self, work: Work, total: int, long: float) -> int:
        """Ranges of growing size, until all is done or it takes long. How much is done?"""
        begun = perf_counter()
        done, size = 0, max(int(long / 2 / self._step), 1) if self._step else 1
        while True:
            end = min(done + size, total)
            work(done, end)
            taken = perf_counter() - begun
            done, size = end, 2 * size
            if done == total or taken >= long:
                self._step = taken / done
                return done

    def _share(self, work: Work, done: int, total: int, threads: int) -> None:
        """The calling thread works too, and all of it if the others have no time."""
        begun = perf_counter()
        pieces = cut(done, total, threads)
        # The calling thread need not be woken for the end if it does the last piece. That must be a small one.
        launch = _Launch(work, pieces, keep=int(len(pieces) > _MANY * threads))
        for _ in range(min(threads, len(pieces)) - 1):
            worker = _find_worker()
            if worker is None:
                break
            worker.wake(launch)
        self._step = launch.finish() or self._step
        delay = perf_counter() - begun - self._step * (total - done) / threads
        self._delay += (min(delay, _AT_MOST * self._delay) - self._delay) * _LEARNS
        self._delay = max(self._delay, SOON / 4)


def cut(done: int, total: int, threads: int) -> list[tuple[int, int]]:
    """What is not done as ranges that get smaller: a thread that is late takes fewer, and none waits long for the last. Each is
    two thirds of a thread's share of what is left then."""
    least = max(int((total - done) * _LAST / threads), 1)
    pieces: list[tuple[int, int]] = []
    while done < total:
        end = min(done + max((total - done) * 2 // (3 * threads), least), total)
        pieces.append((done, end))
        done = end
    return pieces


class _Launch:
    """The pieces of one, and who is at work on them. The last `keep` are for the calling thread."""

    def __init__(self, work: Work, pieces: list[tuple[int, int]], keep: int):
        self._work, self._left, self._keep = work, pieces[::-1], keep
        self._lock = allocate_lock()  # of all that follows
        self._running = 1  # threads, the calling one among them
        self._error: BaseException | None = None
        self._ended = allocate_lock()  # taken until no thread runs
        self._ended.acquire()

    def help(self) -> None:
        """What another thread does."""
        with self._lock:
            if not self._running:
                return  # late: all is done
            self._running += 1
        while self._take_piece(self._keep):
            pass
        self._leave()

    def finish(self) -> float:
        """What the calling thread does: as much as the others leave to it, and wait for these. How long did a step of its first
        piece take, while the others were hardly awake? 0 if it did none. Raises what the work raises."""
        begun = perf_counter()
        steps = self._take_piece(0)
        taken = perf_counter() - begun
        while self._take_piece(0):
            pass
        self._leave()
        self._ended.acquire()
        if self._error is not None:
            raise self._error
        return taken / steps if steps else 0.0

    def _take_piece(self, keep: int) -> int:
        """One, unless only so many are left. How many steps had it?"""
        with self._lock:
            if len(self._left) <= keep:
                return 0
            first, end = self._left.pop()
        try:
            self._work(first, end)
        except BaseException as error:
            with self._lock:
                self._error = self._error or error
                self._left.clear()
        return end - first

    def _leave(self) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                self._ended.release()


class _Worker:
    """A thread that sleeps until there is a launch to help with."""

    def __init__(self) -> None:
        from threading import Thread

        self._launch: _Launch | None = None
        self._asleep = allocate_lock()
        self._asleep.acquire()
        Thread(target=self._serve, name="cajeta", daemon=True).start()

    def wake(self, launch: _Launch) -> None:
        self._launch = launch
        self._asleep.release()

    def _serve(self) -> None:
        while True:
            self._asleep.acquire()
            launch, self._launch = self._launch, None
            assert launch
            launch.help()
            del launch  # and the arrays that it knows
            _idle.append(self)


def _find_worker() -> _Worker | None:
    """One that sleeps, or a new one; None where the system has no more threads, and those that there are must do."""
    try:
        return _idle.pop()
    except IndexError:
        pass
    try:
        return _Worker()
    except RuntimeError:
        return None


_idle: list[_Worker] = []  # of the process
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a forked child has none of the threads
