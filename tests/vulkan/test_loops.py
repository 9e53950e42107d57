"""Loops that a driver ends before their time are noticed: a launch gives the right numbers or raises.

lavapipe leaves loops after 65535 steps, counted over all loops of the items that it runs together, eight on most processors.
Where a workgroup has fewer items, the missing ones may use up the steps. Other drivers don't.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cajeta_dot as cj
from cajeta_dot.backends.vulkan import selftest, trials

LOOPS = {
    "while": "while (t < n) { t += a[t & 3]; }",
    "do": "do { t += a[t & 3]; } while (t < n);",
    "break": "while (true) { if (t >= n) { break; } t += a[t & 3]; }",
    "continue": "while (t < n) { t += a[t & 3]; if ((t & 7) != 0) { continue; } t += 0; }",
    "nested": "for (int32 i = 0; i < n / 10; i++) { for (int32 j = 0; j < 10; j++) { t += a[t & 3]; } }",
    "break inside": "while (t < n) { for (int32 j = 0; j < 10; j++) { t += a[t & 3]; if (t >= n) { break; } } }",
    "return": "while (true) { do { t += a[t & 3]; if (t >= n) { out[me] = t; return; } } while (true); }",
    "helper": "t = count(a, n); if (n < 0) { while (t < 10) { t += a[0]; } }",
    "one after another": "while (t < n / 2) { t += a[t & 3]; } while (t < n) { t += a[t & 3]; }",
    "never": "while (t > n) { t += a[t & 3]; }  t = n;",
}
ITEMS = 128
TEXT = """class Loops {{
    @Device static int32 count(KernelBuffer<int32> a, int32 n) {{
        int32 t = 0;
        while (true) {{ while (true) {{ t += a[t & 3]; if (t >= n) {{ return t; }} }} }}
    }}
    @Kernel static void k(KernelBuffer<int32> out, KernelBuffer<int32> a, int32 n) {{
        uint32 me = KernelThread.globalIdX(); int32 t = 0;
        {} out[me] = t;
    }}
    @Kernel static void plain(KernelBuffer<int32> out, KernelBuffer<int32> a, KernelBuffer<int32> b, KernelBuffer<int32> c) {{
        out[0] = a[0] + b[0] + c[0];
    }}
}}
"""


pytestmark = pytest.mark.usefixtures("fresh")


def run(name: str, n: int) -> list[int] | str:
    """What the items write, or the error."""
    module = cj.compile(TEXT.format(LOOPS[name]), "k.cj", device="vulkan")
    out = np.zeros(ITEMS, np.int32)
    try:
        module["k"](out, np.ones(4, np.int32), n, grid=2, block=ITEMS // 2)
    except cj.DeviceError as error:
        return f"line {error.line}: {error.what}"
    ones = [np.ones(1, np.int32) for _ in range(3)]
    module["plain"](np.zeros(1, np.int32), *ones, grid=1, block=1)
    return out.tolist()


@pytest.mark.parametrize("name", LOOPS)
def test_long_loops_are_right_or_refused(name: str) -> None:
    assert run(name, 1000) == [1000] * ITEMS
    found = run(name, 100_000)
    assert found == [100_000] * ITEMS or (found[:7] == "line 6:" and "the driver ended a loop before its time" in found)


def test_a_workgroup_of_few_items_is_right_or_refused() -> None:
    module = cj.compile(TEXT.format(LOOPS["one after another"]), "k.cj", device="vulkan")
    out = np.zeros(1, np.int32)
    try:
        module["k"](out, np.ones(4, np.int32), 10, grid=1, block=1)
    except cj.DeviceError:
        return
    assert out.tolist() == [10]


@pytest.mark.parametrize("name", LOOPS)
def test_watched_loops_raise_no_false_alarm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the driver is not the one that is suspected."""
    monkeypatch.setattr(trials, "ends_loops_early", lambda device: True)  # type: ignore[misc]
    for n in (10, 20, 1000):
        assert run(name, n) == [n] * ITEMS


def test_who_passes_the_trial_is_not_watched(fresh: dict[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """And who fails it is asked once."""
    asked: list[Any] = []

    def answer(steps: int) -> Any:
        def run(device: Any, program: Any, arguments: Any, items: int) -> None:
            asked.append(device)
            arguments[0][0] = steps

        return run

    for steps, watched in ((selftest.LONG, False), (65535, True)):
        monkeypatch.setattr(trials, "run", answer(steps))
        for device in fresh.values():
            device.loop_fault = None
        for _ in range(2):
            module = cj.compile(TEXT.format(LOOPS["while"]), device="vulkan")
            entry: Any = module["k"]._entry  # pyright: ignore[reportPrivateUsage]
            assert entry.owner.watch_loops == watched
    assert len(asked) == 2


def test_programs_without_loops_do_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "run", None)
    cj.compile("@Kernel static void k(KernelBuffer<int32> a) { a[0] = 1; }", device="vulkan")


def test_a_trial_that_fails_is_no_proof(fresh: dict[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise cj.DeviceError("self-test", 1, "refused")

    monkeypatch.setattr(trials, "run", refuse)
    cj.compile("@Kernel static void k(KernelBuffer<int32> a) { while (a[0] > 0) { a[0] -= 1; } }", device="vulkan")
    (device,) = fresh.values()
    assert device.loop_fault
