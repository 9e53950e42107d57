"""Kernels whose work items meet at barriers and share arrays: the CPU targets against what Python expects."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends import Options
from cajeta_dot.backends.ptx_emulator import backend as ptx_emulator
from cajeta_dot.backends.reference import backend as reference
from cajeta_dot.backends.x86 import backend as x86
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.driver import check_source
from cajeta_dot.run.errors import BoundsError
from cajeta_dot.source import Source

from .programs import RUNNABLE, RUNNABLE_KERNELS

if TYPE_CHECKING:
    from cajeta_dot.backends import Backend, Entry

TARGETS = [*RUNNABLE_KERNELS, "reference"]
CHECKED = [*RUNNABLE, "reference"]
PROGRAM = """
class W {
    // Each workgroup turns its part of the array around. The local `mine` lives on behind the barrier.
    @Kernel
    static void reverse(KernelBuffer<int32> out, KernelBuffer<int32> in) {
        Shared<int32> tile = shared int32[64];
        uint32 i = KernelThread.x();
        int32 mine = in[KernelThread.globalIdX()] * 2;
        tile[Workgroup.dimX() - 1 - i] = mine;
        Barrier.workgroup();
        out[KernelThread.globalIdX()] = tile[i] * 1000 + mine;
    }

    // A tree of sums: the barrier is in a loop, the condition inside is not the same for all.
    @Kernel
    static void total(KernelBuffer<int64> out, KernelBuffer<int32> in, uint32 n) {
        Shared<int64> sums = shared int64[64];
        uint32 i = KernelThread.x();
        uint32 at = KernelThread.globalIdX();
        sums[i] = 0;
        if (at < n) { sums[i] = (int64) in[at]; }
        Barrier.workgroup();
        for (uint32 step = Workgroup.dimX() / 2; step > 0; step = step / 2) {
            if (i < step) { sums[i] = sums[i] + sums[i + step]; }
            Barrier.workgroup();
        }
        if (i == 0) { out[Workgroup.x()] = sums[0]; }
    }

    // Leaves the loop, or goes on, around a barrier: all items the same way.
    @Kernel
    static void jumps(KernelBuffer<int32> out, int32 stop, int32 skip) {
        Shared<int32> box = shared int32[4];
        uint32 i = KernelThread.x();
        int32 seen = 0;
        for (int32 turn = 0; turn < 10; turn++) {
            if (turn == skip) { continue; }
            if (i == 0) { box[0] = turn; }
            Barrier.workgroup();
            seen = seen * 10 + box[0];
            Barrier.workgroup();
            if (turn == stop) { break; }
            seen += 1;
        }
        out[KernelThread.globalIdX()] = seen;
    }

    // One way or the other around a barrier, and vectors that are carried over it.
    @Kernel
    static void ways(KernelBuffer<int32> out, boolean left) {
        Shared<int32> box = shared int32[64];
        uint32 i = KernelThread.x();
        Vector<int32,4> v = Vector<int32,4>((int32) i, 1, 2, 3);
        boolean odd = (i & 1) == 1;
        if (left) {
            box[i] = (int32) i;
            Barrier.workgroup();
            v = v + box[(i + 1) % Workgroup.dimX()];
        } else {
            box[i] = 100;
            Barrier.workgroup();
            v = v * box[0];
            Barrier.workgroup();
            v = v - 1;
        }
        if (odd) { v = v * 10; }
        out.vstore(4 * KernelThread.globalIdX(), v);
    }

    // Items fault at different times: at once those above `late`, behind the barrier those above `early`.
    @Kernel
    static void faults(KernelBuffer<int32> out, KernelBuffer<int32> in, uint32 late, uint32 early) {
        uint32 i = KernelThread.x();
        int32 a = 0;
        if (i > late) { a = in[1000 + i]; }
        Barrier.workgroup();
        if (i > early) { a = in[2000 + i]; }
        Barrier.workgroup();
        out[KernelThread.globalIdX()] = 7 + a;
    }

    // All items leave in front of a barrier, or none.
    @Kernel
    static void leaves(KernelBuffer<int32> out, boolean early) {
        out[KernelThread.globalIdX()] = 1;
        Barrier.workgroup();
        if (early) { return; }
        Barrier.workgroup();
        out[KernelThread.globalIdX()] = 2;
    }

    // A do loop around a barrier.
    @Kernel
    static void rounds(KernelBuffer<int32> out, int32 times) {
        Shared<int32> ring = shared int32[64];
        uint32 line = KernelThread.y() + KernelThread.z() * Workgroup.dimY();
        uint32 i = KernelThread.x() + line * Workgroup.dimX();
        uint32 n = Workgroup.dimX() * Workgroup.dimY() * Workgroup.dimZ();
        ring[i] = (int32) i;
        int32 t = 0;
        do {
            Barrier.workgroup();
            int32 next = ring[(i + 1) % n];
            Barrier.workgroup();
            ring[i] = next;
            t++;
        } while (t < times);
        out[Workgroup.y() * n + i] = ring[i];
    }
}
"""


@cache
def load(target: str, *, checks: bool = True, optimize: int = 2) -> dict[str, Entry]:
    source = Source("w.cj", PROGRAM)
    reporter = Reporter(source)
    program = check_source(source, reporter)
    assert program, [d.message for d in reporter.found]
    backend: Backend = {"reference": reference, "ptx-emulator": ptx_emulator}.get(target, x86)
    loaded = backend.load(program, target, Options(checks=checks, optimize=optimize), reporter)
    assert loaded, [d.message for d in reporter.found]
    return {function.name.removeprefix("W."): entry for function, entry in loaded.entries.items()}


def launch(entry: Entry, arguments: list[Any], groups: int, size: int, threads: int = 1) -> None:
    entry.launch(arguments, (groups, 1, 1), (size, 1, 1), threads)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("groups", "size", "threads"), [(1, 1, 1), (3, 64, 1), (9, 10, 4)])
def test_what_one_item_shares_all_others_see_behind_the_barrier(groups: int, size: int, threads: int, target: str) -> None:
    numbers = np.arange(groups * size, dtype=np.int32)
    out = np.zeros_like(numbers)
    launch(load(target)["reverse"], [out, numbers], groups, size, threads)
    doubled = 2 * numbers.reshape(groups, size)
    assert (out.reshape(groups, size) == doubled[:, ::-1] * 1000 + doubled).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize("optimize", [0, 2])
def test_a_barrier_in_a_loop(optimize: int, checks: bool, target: str) -> None:
    numbers = np.random.default_rng(3).integers(-(2**31), 2**31, 300).astype(np.int32)
    out = np.zeros(5, np.int64)
    launch(load(target, checks=checks, optimize=optimize)["total"], [out, numbers, 300], 5, 64, 2)
    assert out.tolist() == [int(numbers[64 * k : 64 * k + 64].astype(np.int64).sum()) for k in range(5)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("stop", "skip"), [(3, -1), (9, 2), (20, 0), (0, 5), (5, 5), (2, 2)])
def test_loops_around_barriers_are_left_and_continued(stop: int, skip: int, target: str) -> None:
    seen = 0
    for turn in range(10):
        if turn == skip:
            continue
        seen = seen * 10 + turn
        if turn == stop:
            break
        seen += 1
    out = np.zeros(12, np.int32)
    launch(load(target)["jumps"], [out, stop, skip], 2, 6)
    assert (out == np.array(seen).astype(np.int32)).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("left", [True, False])
def test_a_barrier_on_each_way_of_a_condition(left: bool, target: str) -> None:
    out = np.zeros(2 * 6 * 4, np.int32)
    launch(load(target)["ways"], [out, left], 2, 6)
    rows: list[list[int]] = []
    for i in range(6):
        row = [i, 1, 2, 3]
        row = [lane + (i + 1) % 6 for lane in row] if left else [100 * lane - 1 for lane in row]
        rows.append([lane * 10 for lane in row] if i % 2 else row)
    assert out.reshape(2, 6, 4).tolist() == [rows, rows]


@pytest.mark.parametrize("target", CHECKED)
@pytest.mark.parametrize(("late", "early", "index"), [(5, 3, 2004), (3, 5, 1004), (20, 6, 2007), (6, 20, 1007)])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_item_that_faults_is_not_the_first_in_time(
    late: int, early: int, index: int, threads: int, target: str
) -> None:
    out = np.zeros(24, np.int32)
    with pytest.raises(BoundsError) as caught:
        launch(load(target)["faults"], [out, np.zeros(4, np.int32), late, early], 3, 8, threads)
    assert caught.value.index == index
    fine = [7 * (i <= min(late, early)) for i in range(8)]
    assert out.reshape(3, 8).tolist() == [fine] * 3


@pytest.mark.parametrize("target", TARGETS)
def test_an_item_that_has_returned_takes_part_no_more(target: str) -> None:
    for early, wanted in ((True, 1), (False, 2)):
        out = np.zeros(12, np.int32)
        launch(load(target)["leaves"], [out, early], 3, 4)
        assert (out == wanted).all()


@pytest.mark.parametrize("target", TARGETS)
def test_items_meet_in_three_dimensions(target: str) -> None:
    out = np.zeros(3 * 24, np.int32)
    load(target)["rounds"].launch([out, 5], (1, 3, 1), (4, 3, 2), 1)
    assert out.reshape(3, 24).tolist() == [[(i + 5) % 24 for i in range(24)]] * 3


@pytest.mark.parametrize("target", RUNNABLE)
def test_a_launch_without_workgroups_needs_no_memory(target: str) -> None:
    load(target)["total"].launch([np.zeros(0, np.int64), np.zeros(0, np.int32), 0], (0, 1, 1), (64, 1, 1), 1)
