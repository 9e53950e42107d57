"""Statements, calls and locals: programs whose paths differ from item to item, equal to the reference interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.ir import Barrier, Break, Builder, Continue, Function, If, Loop, Return, Slot, Value
from cajeta_dot.types import BOOLEAN, INT32, UINT32, VOID, Array

from .kernels import Compiled, check_text, make_kernel, make_program, untouched

if TYPE_CHECKING:
    from cajeta_dot.backends.vulkan.device import Device
    from cajeta_dot.ir import Block, Program

WALK = """
class Walk {
    @Device static int32 classify(int32 v, int32 limit) {
        if (v < 0) { return -1; }
        for (int32 i = 0; i < limit; i++) {
            if (i * i == v) { return i; }
            if (i * i > v) { break; }
        }
        if (v == limit) { return 1000; } else { return 2000; }
    }

    @Kernel static void run(KernelBuffer<int32> out, KernelBuffer<int32> a, int32 n) {
        int32 row = (int32) KernelThread.globalIdX();
        if (row >= n) { return; }
        int32 total = 0;
        for (int32 k = 0; k < 5; k++) {
            int32 v = a[5 * row + k] % 40 - 9;
            if (v == 0) { continue; }
            if (v == 7) { break; }
            if (v == 9) { out[row] = -1; return; }
            int32 j = 0;
            while (true) {
                j++;
                if (j > 3 || v % (j + 1) == 0) {
                    if (j == 2) { break; }
                    total = total + 1;
                    if (j > 4) { break; }
                }
            }
            do {
                total = total + (v > 0 ? v : -2 * v);
                j--;
                if (total % 7 == 3) { continue; }
                total++;
            } while (j > 0 && total < 1000);
        }
        out[row] = total + classify(total, 12);
    }
}
"""
HELPERS = """
class Helpers {
    @Device static Vector<int8,8> choose(boolean first, Vector<int8,8> a, Vector<int8,8> b) {
        if (first) { return a; }
        return b;
    }
    @Device static Vector<int32,3> spread(int32 x, Vector<int32,3> by) { return by * x; }
    @Device static void add(KernelBuffer<int32> to, KernelBuffer<int32> from, int32 at) { to[at] = to[at] + from[at]; }
    @Device static void both(KernelBuffer<int32> x, KernelBuffer<int32> y, int32 at) { add(x, y, at); add(y, x, at); }
    static int32 square(int32 x) { return x * x; }

    @Kernel static void run(KernelBuffer<int32> out, KernelBuffer<int32> a, int32 n) {
        int32 i = (int32) KernelThread.globalIdX();
        if (i < n) {
            Vector<int8,8> lanes = Vector<int8,8>((int8) a[i]);
            Vector<int8,8> other = Vector<int8,8>(1, 2, 3, 4, 5, 6, 7, 8);
            Vector<int8,8> chosen = choose(a[i] > 0, lanes, other);
            int32 sum = chosen.sum() + spread(a[i], Vector<int32,3>(1, -2, 3)).sum();
            both(out, a, i);
            add(out, out, i);
            out[i] = out[i] + square(sum);
        }
    }
}
"""
COORDINATES = """
class Coordinates {
    @Kernel static void run(KernelBuffer<int32> out, KernelBuffer<int32> a, int32 n) {
        uint32 i = KernelThread.globalIdX();
        if ((int32) i < n) {
            out[i] = (int32) (KernelThread.x() + 100 * Workgroup.x() + 10000 * Workgroup.dimX() + KernelThread.globalIdY());
        }
    }
}
"""
VECTORS = """
class Vectors {
    @Kernel static void run(KernelBuffer<int32> out, KernelBuffer<int32> a, int32 n) {
        uint32 i = KernelThread.globalIdX();
        if ((int32) i >= n) { return; }
        Vector<int16,5> odd = Vector<int16,5>((int16) a[i]);
        Vector<uint8,16> bytes = Vector<uint8,16>((uint8) a[i]);
        int32 k = 0;
        while (k < 5 && odd[k] != 3) {
            odd[k] = (int16) (odd[k] + 100 * (int16) k);
            bytes[3 * k] = (uint8) (bytes[k] + k);
            if ((bytes > 200).any()) { bytes = bytes >> 1; }
            k++;
        }
        out[i] = odd.sum() + bytes.sum();
    }
}
"""
PROGRAMS = {"walk": WALK, "helpers": HELPERS, "coordinates": COORDINATES, "vectors": VECTORS}


def compare(program: Program, engine: Device | None, environment: str = "vulkan1.1", groups: int = 2) -> None:
    """Runs the kernel `out, a, n` and the reference on the same numbers."""
    compiled, kernel = Compiled(program, environment, block=(32, 1, 1)), program.functions[-1]
    items = 32 * groups - 3
    a = np.random.default_rng(7).integers(-60, 60, 5 * items).astype(np.int32)
    a[:15] = [49, 9, 16, 18, 0, 7, -7, 47, 2**31 - 1, -(2**31), 1, 2, 3, 4, 5]
    wanted, found = untouched(items + 2, np.int32), untouched(items + 2, np.int32)
    compiled.expect(kernel, [wanted, a.copy(), items], groups)
    compiled.execute(engine, kernel, [found, a.copy(), items], groups)
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, environment: str, engine: Device | None) -> None:
    compare(check_text(PROGRAMS[name]), engine, environment)


class Chance:
    """A random kernel: nested branches and loops over a few locals, with jumps everywhere they may stand."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.locals = [Slot(f"v{place}", INT32) for place in range(4)]
        self.counters = 0

    def make(self) -> Function:
        kernel, b, params = make_kernel([("out", Array(INT32, "array")), ("a", Array(INT32, "array")), ("n", INT32)])
        item = b.reinterpret(b.emit("coordinate", UINT32, attr="global.x"), INT32)
        outside = b.compare("ge", item, params["n"])
        kernel.body.append(If(outside, [Return()], []))
        self.kernel = kernel
        kernel.slots.extend(self.locals)
        for place, slot in enumerate(self.locals):
            b.set(slot, b.load(params["a"], b.binary("add", item, b.const(INT32, place)), INT32))
        self.statements(kernel.body, depth=0, jumps=False)
        total = b.const(INT32, 0)
        for slot in self.locals:
            total = b.binary("xor", b.binary("mul", total, b.const(INT32, 31)), b.get(slot))
        if not isinstance(kernel.body[-1], (Return, Break, Continue)):
            b.store(params["out"], item, total)
        return kernel

    def chance(self, percent: int) -> bool:
        return bool(self.rng.random() < percent / 100)

    def number(self, b: Builder) -> Value:
        slot = self.locals[self.rng.integers(len(self.locals))]
        return b.get(slot) if self.chance(70) else b.const(INT32, int(self.rng.integers(-9, 10)))

    def condition(self, b: Builder) -> Value:
        op = str(self.rng.choice(["lt", "eq", "ge", "ne"]))
        odd = b.binary("and", self.number(b), b.const(INT32, 3))
        return b.compare(op, odd, b.binary("and", self.number(b), b.const(INT32, 3)))

    def statements(self, block: Block, depth: int, jumps: bool) -> None:
        """Fills a block; a jump ends it."""
        b = Builder(block)
        for _ in range(int(self.rng.integers(1, 4))):
            kind = self.rng.random()
            if kind < 0.45 or depth > 3:
                op = str(self.rng.choice(["add", "sub", "mul", "xor", "div", "rem"]))
                b.set(self.locals[self.rng.integers(len(self.locals))], b.binary(op, self.number(b), self.number(b)))
            elif kind < 0.75:
                condition = self.condition(b)
                block.append(branch := If(condition, [], []))
                self.statements(branch.then, depth + 1, jumps)
                if self.chance(60):
                    self.statements(branch.otherwise, depth + 1, jumps)
            else:
                self.loop(block, depth)
        if jumps and self.chance(35):
            block.append(Break() if self.chance(50) else Continue())

    def loop(self, block: Block, depth: int) -> None:
        """At most five rounds, by a counter of its own that every round passes; conditions before, after, both or none."""
        self.counters += 1
        counter = Slot(f"i{self.counters}", INT32)
        self.kernel.slots.append(counter)
        b = Builder(block)
        b.set(counter, b.const(INT32, 0))
        test: Block = []
        body: Block = []
        update: Block = []
        inside = Builder(test)
        count = inside.binary("add", inside.get(counter), inside.const(INT32, 1))
        inside.set(counter, count)
        condition = inside.compare("le", count, inside.const(INT32, 5))
        if self.chance(30):  # the loop's end stands in its body
            first = Builder(body)
            body.append(If(first.compare("gt", count, first.const(INT32, 5)), [Break()], []))
            condition = None
        self.statements(body, depth + 1, jumps=True)
        self.statements(update, depth + 2, jumps=False)
        again = self.condition(Builder(update)) if self.chance(40) else None
        block.append(Loop(test, condition, body, update, again))


@pytest.mark.parametrize("seed", range(25))
def test_random_paths(seed: int, engine: Device | None) -> None:
    compare(make_program(Chance(seed).make()), engine, list(ENVIRONMENTS)[seed % 3], groups=1)


def test_what_is_never_reached_is_still_valid() -> None:
    """Both arms return, loops that never end or always break, a loop in the update of a loop: spirv-val accepts them."""
    kernel, _, params = make_kernel([("out", Array(INT32, "array")), ("c", BOOLEAN)])
    endless = Loop([], None, [If(params["c"], [Return()], [])], [], None)
    once = Loop([], None, [Break()], [], params["c"])
    inner = Loop([], params["c"], [], [], params["c"])
    outer = Loop([inner], params["c"], [Continue()], [Loop([], params["c"], [], [])], None)
    both = If(params["c"], [Return()], [If(params["c"], [endless], [Return()])])
    kernel.body.extend([once, outer, Barrier(0, 0), both])
    for environment in ENVIRONMENTS:
        assert Compiled(make_program(kernel), environment).spirv


def test_a_function_that_only_leaves_in_branches() -> None:
    helper = Function("T.f", "f", "device", [Value("param", BOOLEAN, attr="c")], INT32)
    b = Builder(helper.body)
    one, two = b.const(INT32, 1), b.const(INT32, 2)
    helper.body.append(If(helper.params[0], [Return(one)], [Return(two)]))
    kernel, b, params = make_kernel([("out", Array(INT32, "array")), ("c", BOOLEAN)])
    b.store(params["out"], b.const(INT32, 0), b.emit("call", INT32, params["c"], attr=helper))
    empty = Function("T.g", "g", "device", [], VOID)
    b.emit("call", VOID, attr=empty)
    program = make_program(helper, empty, kernel)
    for choice in (True, False):
        found = np.zeros(1, np.int32)
        compiled = Compiled(program, block=(1, 1, 1))
        compiled.interpret(kernel, [found, choice])
        assert found[0] == (1 if choice else 2)
        assert compiled.spirv


def test_items_of_a_workgroup_meet_at_a_barrier(device: Device) -> None:
    """What one item has stored in a buffer the others read behind the barrier, here the item at the mirrored place."""
    text = """
        @Kernel static void k(KernelBuffer<int32> a, KernelBuffer<int32> out, int32 rounds) {
            int32 i = (int32) KernelThread.globalIdX();
            int32 mirrored = i - 2 * (int32) KernelThread.x() + (int32) Workgroup.dimX() - 1;
            for (int32 k = 0; k < rounds; k++) {
                a[i] = a[i] * 3 + k;
                Barrier.workgroup();
                int32 other = a[mirrored];
                Barrier.workgroup();
                a[i] = a[i] + other;
            }
            out[i] = a[i];
        }
    """
    program = check_text(text)
    compiled = Compiled(program, block=(64, 1, 1))
    assert compiled.text.count("OpControlBarrier") == 2
    assert sorted(line.split()[1] for line in compiled.text.splitlines() if line.endswith(" Coherent")) == ["%a", "%out"]
    a = np.arange(128, dtype=np.int32)
    state = a.astype(np.int64).reshape(2, 64)
    for k in range(4):
        state = state * 3 + k
        state = state + state[:, ::-1]
    found = untouched(128, np.int32)
    compiled.run(device, program.entries[0], [a.copy(), found, 4], groups=2)
    assert found.tolist() == state.ravel().tolist()


def test_a_barrier_in_a_helper_counts() -> None:
    helper = Function("T.meet", "meet", "device", [], VOID)
    helper.body.append(Barrier(0, 0))
    outer = Function("T.outer", "outer", "device", [], VOID)
    Builder(outer.body).emit("call", VOID, attr=helper)
    kernel, b, params = make_kernel([("out", Array(INT32, "array"))])
    b.emit("call", VOID, attr=outer)
    b.store(params["out"], b.const(INT32, 0), b.const(INT32, 1))
    other, b, params = make_kernel([("out", Array(INT32, "array"))], "other")
    b.store(params["out"], b.const(INT32, 0), b.const(INT32, 1))
    compiled = Compiled(make_program(helper, outer, kernel, other))
    assert [line for line in compiled.text.splitlines() if line.endswith(" Coherent")] == ["OpDecorate %out Coherent"]
    assert compiled.spirv
