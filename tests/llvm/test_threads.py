"""Launches spread over threads: everything is done once, whoever does it; errors arrive; the interpreter is free meanwhile."""

from __future__ import annotations

import gc
import multiprocessing
import threading
import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.backends.llvm import threads
from cajeta_dot.backends.llvm.threads import Spreader, cut
from cajeta_dot.ir import Builder, Function, Loop, Value
from cajeta_dot.types import INT32, INT64, UINT32

from .programs import Lanes, add_slot, array, load, make_kernel, make_program, param

if TYPE_CHECKING:
    from cajeta_dot.backends import Entry
    from cajeta_dot.ir import Block


@pytest.mark.parametrize("total", [1, 2, 3, 7, 100, 1000])
@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("slow", [False, True])
def test_ranges_cover_everything_once(slow: bool, threads: int, total: int) -> None:
    done: list[int] = []
    spreader = Spreader()

    def work(first: int, end: int) -> None:
        if slow:
            threading.Event().wait(0.0003)
        done.extend(range(first, end))

    for _ in range(3):  # the second time it is known how long it takes
        done.clear()
        spreader.run(work, total, threads)
        assert sorted(done) == list(range(total))


def test_what_takes_long_is_done_by_several_threads() -> None:
    workers: set[int] = set()
    meeting = threading.Barrier(3)

    def work(first: int, end: int) -> None:
        workers.add(threading.get_ident())
        if first:  # the first piece is done alone, to see how long it takes
            meeting.wait(20)
        else:
            threading.Event().wait(0.001)

    Spreader().run(work, 4, 3)
    assert len(workers) == 3


@pytest.mark.parametrize("threads", [2, 3, 8, 64])
def test_pieces_get_smaller(threads: int) -> None:
    for total in (1, 2, 5, 64, 1000, 10**6):
        for done in {0, total // 3}:
            pieces = cut(done, total, threads)
            assert [first for first, _ in pieces] == [done, *(end for _, end in pieces[:-1])]
            assert pieces[-1][1] == total
            sizes = [end - first for first, end in pieces]
            assert sizes == sorted(sizes, reverse=True)
            assert len(pieces) >= min(threads, total - done)
            assert sizes[0] * threads <= max(total - done, threads)


def test_where_threads_wake_slowly_a_launch_stays_here() -> None:
    """Until it is long enough for that; and after a while the others are tried again."""
    workers: set[int] = set()
    steps = 0

    def work(first: int, end: int) -> None:
        nonlocal steps
        workers.add(threading.get_ident())
        steps += end - first
        threading.Event().wait((end - first) * 1e-4)

    def run(total: int) -> int:
        workers.clear()
        spreader.run(work, total, 2)
        return len(workers)

    spreader = Spreader()
    run(10)
    spreader._delay = 0.1  # pyright: ignore[reportPrivateUsage]
    assert run(10) == run(20) == 1
    assert run(8000) == 2
    assert steps == 8040
    spreader._delay = 0.1  # pyright: ignore[reportPrivateUsage]
    for _ in range(20):
        run(1)
    assert 0.08 < spreader._delay < 0.1  # pyright: ignore[reportPrivateUsage]


def test_a_step_that_got_slower_meanwhile_is_done() -> None:
    """Another thread may have learned more between two looks at what is known."""
    done: list[tuple[int, int]] = []
    spreader = Spreader()
    spreader._step = 10.0  # pyright: ignore[reportPrivateUsage]
    assert spreader._begin(lambda first, end: done.append((first, end)), 2, 1.0) == 2  # pyright: ignore[reportPrivateUsage]
    assert done == [(0, 1), (1, 2)]


def test_where_there_are_no_more_threads_those_that_there_are_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    done: list[int] = []

    def work(first: int, end: int) -> None:
        threading.Event().wait(0.001)
        done.extend(range(first, end))

    monkeypatch.setattr(threading.Thread, "start", fail)
    monkeypatch.setattr(threads, "_idle", [])
    Spreader().run(work, 40, 3)
    assert sorted(done) == list(range(40))


def test_what_a_launch_needed_is_let_go() -> None:
    class Argument:
        pass

    argument = Argument()
    gone = weakref.ref(argument)

    def start(argument: Argument) -> None:
        def work(first: int, end: int) -> None:
            assert argument
            threading.Event().wait(0.001)

        Spreader().run(work, 40, 3)

    start(argument)
    del argument
    for _ in range(1000):  # a helper may still be on its way out
        gc.collect()
        if gone() is None:
            break
        threading.Event().wait(0.001)
    assert gone() is None


def test_an_error_in_a_thread_is_raised_here() -> None:
    def work(first: int, end: int) -> None:
        threading.Event().wait(0.001)
        if end == 64:
            raise ValueError("the last")

    with pytest.raises(ValueError, match="the last"):
        Spreader().run(work, 64, 4)


def slow_kernel() -> Function:
    """out[i] = sum of k * k for k below n, modulo 2^64, by adding."""
    out, n = param("out", array(INT64)), param("n", INT32)

    def write(b: Builder, function: Function) -> None:
        total, k = add_slot(function, "total", INT64), add_slot(function, "k", INT32)
        b.set(total, b.const(INT64, 0))
        b.set(k, b.const(INT32, 0))
        test: Block = []
        update: Block = []
        body: Block = []
        inside, ask, step = Builder(body), Builder(test), Builder(update)
        condition = ask.compare("lt", ask.get(k), n)

        def wide() -> Value:
            return inside.convert(inside.get(k), INT64)

        mixed = inside.binary("xor", inside.binary("mul", wide(), wide()), inside.get(total))
        inside.set(total, inside.binary("add", mixed, inside.const(INT64, 1)))
        step.set(k, step.binary("add", step.get(k), step.const(INT32, 1)))
        b.block.append(Loop(test, condition, body, update))
        b.store(out, b.emit("coordinate", UINT32, attr="global.x"), b.get(total))

    return make_kernel("k", [out, n], write)


def expected(n: int) -> int:
    total = 0
    for k in range(n):
        total = (k * k ^ total) + 1
    return total


def entry() -> Entry:
    return load(make_program(slow_kernel()), "native")["k"]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(threads: int) -> None:
    kernel = entry()
    for groups in (1, 3, 64):
        out = np.zeros(groups * 4, np.int64)
        for _ in range(2):
            kernel.launch([out, 5000], (groups, 1, 1), (4, 1, 1), threads)
            assert (out == expected(5000)).all()


def test_python_goes_on_while_a_kernel_runs() -> None:
    kernel = entry()
    out = np.zeros(1, np.int64)
    runner = threading.Thread(target=lambda: kernel.launch([out, 300_000_000], (1, 1, 1), (1, 1, 1), 1))
    turns = 0
    runner.start()
    while runner.is_alive():
        turns += 1
        threading.Event().wait(0.001)
    assert turns > 20


def test_many_python_threads_may_launch_at_once() -> None:
    kernel = entry()
    outs = [np.zeros(64, np.int64) for _ in range(6)]

    def launch(out: Lanes) -> None:
        kernel.launch([out, 2000], (16, 1, 1), (4, 1, 1), 3)

    runners = [threading.Thread(target=launch, args=(out,)) for out in outs]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join(60)
    assert all((out == expected(2000)).all() for out in outs)


def _launch_in_child(kernel: Entry, answer: object) -> None:
    out = np.zeros(256, np.int64)
    for _ in range(2):
        kernel.launch([out, 5000], (64, 1, 1), (4, 1, 1), 4)
    answer.put(int(out.sum() % (1 << 31)))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    kernel = entry()
    out = np.zeros(256, np.int64)
    for _ in range(2):
        kernel.launch([out, 5000], (64, 1, 1), (4, 1, 1), 4)  # the pool is open now
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_launch_in_child, args=(kernel, answer))
    child.start()
    assert answer.get(timeout=60) == int(out.sum() % (1 << 31))
    child.join(10)
