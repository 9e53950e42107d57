"""Shared arrays: how they are declared, and items of a workgroup that exchange values through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.ir import Barrier, Builder, Function, Return, Value
from cajeta_dot.types import INT8, INT32, UINT32, Array

from .interpreter import UndefinedBehaviour
from .kernels import Compiled, check_text, make_kernel, make_program, untouched
from .operands import draw, same

if TYPE_CHECKING:
    from cajeta_dot.backends.vulkan.device import Device

ITEMS, GROUPS = 16, 2
# The element, what an item does with array `s` of 64 elements, and the type and number of what lies in memory.
CASES = {
    "words": ("int32", "s[x] = a[i];", "out[i] = s[15 - x];", "int", 64),
    "bytes one by one": ("int8", "s[x] = a[i];", "out[i] = s[15 - x];", "int", 64),
    "unsigned bytes": ("uint8", "s[x] = a[i];", "out[i] = (uint8) (s[15 - x] >> 1);", "uint", 64),
    "bytes by the four": (
        "int8",
        "s.vstore(4 * x, Vector<int8,4>(a[i]) + Vector<int8,4>(0, 1, 2, 3));",
        "out[i] = (int8) s.vload<4>(4 * (15 - x) - (x == 3 ? 3 : 0)).dot(Vector<int8,4>(1, 2, 3, 4));",
        "uint",
        16,
    ),
    "16 bits": ("uint16", "s[x + 1] = a[i];", "out[i] = (uint16) (s[16 - x] >> 3);", "uint", 64),
    "halves": ("float16", "s[x] = a[i];", "out[i] = (float16) ((float32) s[15 - x] + 1.0f);", "float", 64),
    "halves by the two": (
        "float16",
        "s.vstore(2 * x, Vector<float16,2>(a[i]));",
        "out[i] = s.vload<2>(2 * (15 - x))[1];",
        "uint",
        32,
    ),
    "64 bits": ("int64", "s[x] = a[i];", "out[i] = s[15 - x] + s.count();", "long", 64),
    "doubles": ("float64", "s.vstore(3 * x, Vector<float64,3>(a[i]));", "out[i] = s[47 - x];", "double", 64),
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("case", CASES)
def test_items_exchange(case: str, environment: str, engine: Device | None) -> None:
    element, store, load, word, count = CASES[case]
    text = f"""
        @Kernel static void k(KernelBuffer<{element}> out, KernelBuffer<{element}> a) {{
            Shared<{element}> s = shared {element}[64];
            uint32 i = KernelThread.globalIdX();
            uint32 x = KernelThread.x();
            {store}
            Barrier.workgroup();
            {load}
        }}
    """
    program = check_text(text)
    compiled = Compiled(program, environment, block=(ITEMS, 1, 1))
    assert f"%arr_{word}_{count} = OpTypeArray %{word} %uint_{count}" in compiled.text
    assert f" = OpVariable %ptr_Workgroup_arr_{word}_{count} Workgroup" in compiled.text
    a = draw(program.functions[0].params[1].type, ITEMS * GROUPS, 3)
    wanted, found = untouched(len(a) + 1, a.dtype), untouched(len(a) + 1, a.dtype)
    compiled.expect(program.functions[0], [wanted, a], GROUPS)
    compiled.execute(engine, program.functions[0], [found, a], GROUPS)
    assert same(found, wanted).all()


def test_sum_of_a_workgroup(engine: Device | None) -> None:
    """By halving: a barrier in a loop whose bound all items share, and booleans in shared memory."""
    text = """
        @Kernel static void k(KernelBuffer<int32> out, KernelBuffer<int32> a) {
            Shared<int32> sums = shared int32[64];
            Shared<boolean> odd = shared boolean[64];
            uint32 x = KernelThread.x();
            sums[x] = a[KernelThread.globalIdX()];
            odd[x] = (sums[x] & 1) == 1;
            for (uint32 half = 32; half > 0; half = half >> 1) {
                Barrier.workgroup();
                if (x < half) {
                    sums[x] = sums[x] + sums[x + half];
                    odd[x] = odd[x] ^ odd[x + half];
                }
            }
            if (x == 0) {
                out[2 * Workgroup.x()] = sums[0];
                out[2 * Workgroup.x() + 1] = odd[0] ? 1 : 0;
            }
        }
    """
    program = check_text(text)
    compiled = Compiled(program, block=(64, 1, 1))
    # Scope Workgroup twice; AcquireRelease of UniformMemory, where buffers are, and of WorkgroupMemory.
    assert f"OpControlBarrier %uint_2 %uint_2 %uint_{0x8 | 0x40 | 0x100}\n" in compiled.text
    a = np.random.default_rng(1).integers(-(2**31), 2**31, 192).astype(np.int32)
    found = untouched(6, np.int32)
    compiled.execute(engine, program.functions[0], [found, a], 3)
    totals = a.reshape(3, 64).sum(1, dtype=np.int32)
    assert found.reshape(3, 2)[:, 0].tolist() == totals.tolist()
    assert found.reshape(3, 2)[:, 1].tolist() == (totals & 1).tolist()


def test_padded_arrays(engine: Device | None) -> None:
    text = """
        @Kernel static void k(KernelBuffer<int32> out, KernelBuffer<int32> a) {
            BlockPadded<int32,8,1> s = shared int32[36];
            uint32 x = KernelThread.x();
            s[x] = a[x];
            Barrier.workgroup();
            out[x] = s[31 - x];
        }
    """
    program = check_text(text)
    compiled = Compiled(program, block=(32, 1, 1))
    assert "Int64" not in compiled.text, "places are computed in 32 bits where the index has no more"
    a, found = np.arange(100, 132, dtype=np.int32), untouched(32, np.int32)
    compiled.execute(engine, program.functions[0], [found, a])
    assert found.tolist() == a[::-1].tolist()


def test_helpers_take_shared_arrays(engine: Device | None) -> None:
    """As they take buffers: a function for each array; a store in one decides how that array lies in memory."""
    helper = Function(
        "T.put", "put", "device", [Value("param", Array(INT8, "Shared"), attr="s"), Value("param", UINT32, attr="i")], INT8
    )
    b = Builder(helper.body)
    array, index = helper.params
    b.store(array, index, b.convert(index, INT8))
    helper.body.append(Return(b.load(array, b.const(UINT32, 0), INT8)))
    kernel, b, given = make_kernel([("out", Array(INT32, "array"))])
    shared = [b.emit("shared", Array(INT8, "Shared", 8), attr=name) for name in ("first", "second")]
    item = b.emit("coordinate", UINT32, attr="local.x")
    made = [b.emit("call", INT8, one, item, attr=helper) for one in shared]
    kernel.body.append(Barrier(0, 0))
    again = b.emit("shared", Array(INT8, "Shared", 8), attr="first")  # the same array
    read = b.load(again, b.binary("sub", b.const(UINT32, 7), item), INT8)
    length = b.convert(b.length(again), INT32)
    total = b.binary("add", b.convert(b.binary("sub", made[0], made[1]), INT32), b.convert(read, INT32))
    b.store(given["out"], item, b.binary("add", total, length))
    compiled = Compiled(make_program(helper, kernel), block=(8, 1, 1))
    assert compiled.text.count("OpVariable %ptr_Workgroup_arr_int_8 Workgroup") == 2
    assert compiled.text.count("OpFunction %int") == 2
    found = untouched(8, np.int32)
    compiled.execute(engine, kernel, [found])
    assert found.tolist() == [15 - x for x in range(8)]


def test_reading_what_no_item_has_stored_is_noticed() -> None:
    text = """
        @Kernel static void k(KernelBuffer<int32> out) {
            Shared<int32> s = shared int32[8];
            out[KernelThread.x()] = s[KernelThread.x()];
        }
    """
    program = check_text(text)
    with pytest.raises(UndefinedBehaviour, match="never stored to"):
        Compiled(program, block=(1, 1, 1)).interpret(program.functions[0], [np.zeros(8, np.int32)])


def test_shared_memory_is_listed_in_the_interface() -> None:
    text = "@Kernel static void k(KernelBuffer<int8> out) { Shared<int8> s = shared int8[6]; s[1] = 5; out[0] = s[1]; }"
    program = check_text(text)
    entries = [Compiled(program, environment).text.split('"k"')[1].split("\n")[0] for environment in ENVIRONMENTS]
    assert [("%shared" in entry) for entry in entries] == [False, True, True]
