"""Loads and stores: every offset, every width, how buffers are declared, and that nothing outside an array is touched.

The interpreter's buffers end where the arrays end (at the next whole word, where elements share words), so an access too
far is an error there; on a driver, what stands behind the result shows a store too far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.ir import Builder, Function, If
from cajeta_dot.types import (
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    Array,
    Scalar,
    Vector,
)

from .kernels import Compiled, check_text, make_kernel, make_program, untouched
from .operands import draw, same

if TYPE_CHECKING:
    from cajeta_dot.backends.vulkan.device import Device

ELEMENTS = (INT8, UINT8, INT16, UINT16, FLOAT16, INT32, FLOAT32, INT64, FLOAT64)
ITEMS = 9
LANES = (0, 2, 3, 4, 5, 16)
STRIDES = (1, 2, 4, 6)


def make_copy(element: Scalar, lanes: int, stride: int, name: str) -> Function:
    """out[i * lanes ...] = a[i * stride + offset ...]; the offset is only known when it runs."""
    array = Array(element, "array")
    kernel, b, params = make_kernel([("a", array), ("out", array), ("offset", INT32), ("n", UINT32)], name)
    item = b.emit("coordinate", UINT32, attr="global.x")
    kernel.body.append(branch := If(b.compare("lt", item, params["n"]), [], []))
    b = Builder(branch.then)
    start = b.reinterpret(params["offset"], UINT32)
    index = b.binary("add", b.binary("mul", item, b.const(UINT32, stride)), start)
    loaded = b.load(params["a"], index, Vector(element, lanes) if lanes else element)
    b.store(params["out"], b.binary("mul", item, b.const(UINT32, max(lanes, 1))), loaded)
    return kernel


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_loads_at_every_offset(element: Scalar, engine: Device | None) -> None:
    table = {
        (lanes, stride): make_copy(element, lanes, stride, f"copy_{lanes}_{stride}") for lanes in LANES for stride in STRIDES
    }
    compiled = Compiled(make_program(*table.values()), block=(ITEMS, 1, 1))
    for (lanes, stride), kernel in table.items():
        count = max(lanes, 1)
        for offset in range(4):
            size = (ITEMS - 1) * stride + offset + count  # the last load ends with the array
            a = draw(element, size, offset)
            out = untouched(ITEMS * count + 8, a.dtype)
            before = out.copy()
            compiled.execute(engine, kernel, [a, out, offset, ITEMS])
            wanted = np.concatenate([a[i * stride + offset : i * stride + offset + count] for i in range(ITEMS)])
            assert out[: ITEMS * count].tobytes() == keep_numbers(wanted).tobytes(), (kernel.name, offset)
            assert out[ITEMS * count :].tobytes() == before[ITEMS * count :].tobytes(), (kernel.name, offset)


def keep_numbers(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What a copy through registers leaves: a float16 that is no number becomes the one NaN with its sign."""
    if array.dtype != np.float16:
        return array
    signs = array.view(np.uint16) & 0x8000
    return np.where(array == array, array.view(np.uint16), signs | 0x7E00).astype(np.uint16)


# What is stored, and the type of the buffer's memory then. Items never store to one place.
CASES = {
    "byte": ("out[i] = (int8) i;", "uchar"),
    "unknown multiple": ("out.vstore(4 * i + n, a.vload<4>(i));", "uchar"),
    "half a word": ("out.vstore(4 * i, a.vload<2>(i));", "uchar"),
    "across words": ("out.vstore(16 * i, a.vload<8>(i)); out.vstore(16 * i + 10, a.vload<4>(i));", "uchar"),
    "read back": ("out[i] = (int8) (out[i] / 2);", "uchar"),
    "lanes read back": ("uint32 o = 9 * i + 1; out.vstore(o, out.vload<8>(o) >> 2);", "uchar"),
    "word": ("out.vstore(4 * i, a.vload<4>(i));", "uint"),
    "words": ("uint32 j = i << 4; out.vstore(j + 4, a.vload<16>(i));", "uint"),
    "loop": ("for (uint32 k = 0; k < 4; k++) { uint32 o = 16 * i + 4 * k; out.vstore(o, a.vload<4>(o)); }", "uint"),
    "loop by four": ("for (uint32 k = 16 * i; k < 16 * i + 16; k += 4) { out.vstore(k, a.vload<4>(k)); }", "uint"),
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("case", CASES)
def test_stores_decide_the_memory(case: str, environment: str, engine: Device | None) -> None:
    statement, word = CASES[case]
    narrow = word == "uchar"
    text = (
        "@Kernel static void k(KernelBuffer<int8> out, KernelBuffer<int8> a, uint32 n) {"
        f" uint32 i = KernelThread.globalIdX(); if (i < n) {{ {statement} }} }}"
    )
    program = check_text(text)
    compiled = Compiled(program, environment)
    assert f"%out = OpVariable %ptr_StorageBuffer_buffer_{word} " in compiled.text
    assert "%a = OpVariable %ptr_StorageBuffer_buffer_uint " in compiled.text
    assert ("OpCapability StorageBuffer8BitAccess" in compiled.text) == narrow
    assert ("SPV_KHR_8bit_storage" in compiled.text) == (narrow and environment == "vulkan1.1")
    a, kernel = draw(INT8, 200, 1), program.functions[0]
    found = draw(INT8, 200, 2)
    wanted = found.copy()
    compiled.expect(kernel, [wanted, a, 8])
    compiled.execute(engine, kernel, [found, a, 8])
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("element", [INT8, UINT16, FLOAT16], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_without_narrow_memory_parts_of_words_are_merged(case: str, element: Scalar, engine: Device | None) -> None:
    """Neighbours that others are storing to at the same time keep what they get."""
    statement = CASES[case][0].replace("int8", str(element))
    if element.is_float:
        statement = statement.replace(" >> 2", "")
    text = (
        f"@Kernel static void k(KernelBuffer<{element}> out, KernelBuffer<{element}> a, uint32 n) {{"
        f" uint32 i = KernelThread.globalIdX(); if (i < n) {{ {statement} }} }}"
    )
    compiled = Compiled(check_text(text), narrow_memory=False)
    assert "BitAccess" not in compiled.text
    a, kernel = draw(element, 201, 1), compiled.program.functions[0]
    found = draw(element, 201, 2)
    wanted = found.copy()
    compiled.expect(kernel, [wanted, a, 8])
    compiled.execute(engine, kernel, [found, a, 8])
    assert found.tobytes() == wanted.tobytes()


def test_a_merged_copy_ends_with_its_array(engine: Device | None) -> None:
    """Each byte by its own item, all of them at once, for every length of the last word."""
    text = "@Kernel static void k(KernelBuffer<uint8> out, KernelBuffer<uint8> a, uint32 n) {"
    text += " uint32 i = KernelThread.globalIdX(); if (i < n) { out[i] = a[i]; } }"
    compiled = Compiled(check_text(text), narrow_memory=False)
    for size in (1, 2, 3, 4, 61, 130):
        a, out = draw(UINT8, size, size), untouched(size + 5, np.uint8)
        compiled.execute(engine, compiled.program.functions[0], [out, a, size], groups=3)
        assert out.tobytes() == a.tobytes() + b"\x5a" * 5


@pytest.mark.parametrize("element", [INT16, UINT16, FLOAT16], ids=str)
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_stores_of_16_bits(element: Scalar, environment: str, engine: Device | None) -> None:
    text = (
        f"@Kernel static void k(KernelBuffer<{element}> out, KernelBuffer<{element}> a, uint32 n) {{"
        " uint32 i = KernelThread.globalIdX(); if (i < n) { out[i] = out[i] < a[i] ? out[i] : a[n - 1 - i]; } }"
    )
    program = check_text(text)
    compiled = Compiled(program, environment)
    assert "OpCapability StorageBuffer16BitAccess" in compiled.text
    a, found, kernel = draw(element, 61, 1), draw(element, 64, 2), program.functions[0]
    wanted = found.copy()
    compiled.expect(kernel, [wanted, a, 61])
    compiled.execute(engine, kernel, [found, a, 61])
    assert same(found, wanted).all()


def test_only_unwritten_buffers_are_read_only() -> None:
    text = """
        @Device static void put(KernelBuffer<int32> x, int32 v) { x[0] = v; }
        @Device static int32 take(KernelBuffer<int32> x) { return x[0]; }
        @Device static void pass(KernelBuffer<int32> y, KernelBuffer<int32> z) { put(y, take(z)); }
        @Kernel static void k(KernelBuffer<int32> a, KernelBuffer<int32> b, KernelBuffer<int32> c) { pass(b, a); }
    """
    compiled = Compiled(check_text(text))
    marked = {line.split()[1] for line in compiled.text.splitlines() if line.endswith("NonWritable")}
    assert marked == {"%a", "%c"}
    assert compiled.spirv


def test_aligned_loads_take_one_word_each() -> None:
    """Through a helper too: its parameter is a multiple of what all calls pass."""
    text = """
        @Device static Vector<uint8,8> eight(KernelBuffer<uint8> x, uint32 at) { return x.vload<8>(at + 8); }
        @Kernel static void k(KernelBuffer<uint8> out, KernelBuffer<uint8> a) {
            uint32 i = 16 * KernelThread.globalIdX();
            out.vstore(i, eight(a, i) + eight(a, i + 4));
        }
    """
    aligned = Compiled(check_text(text)).text
    unaligned = Compiled(check_text(text.replace("eight(a, i + 4)", "eight(a, i + 2)"))).text
    assert [t.count("OpAccessChain %ptr_StorageBuffer_uint %a") for t in (aligned, unaligned)] == [2, 3]


def test_an_index_may_have_any_type(engine: Device | None) -> None:
    names = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    for name in names:
        text = (
            "@Kernel static void k(KernelBuffer<int32> out, KernelBuffer<int16> a) {"
            f" {name} i = ({name}) KernelThread.globalIdX(); out[i] = a[i] * 2; }}"
        )
        program = check_text(text)
        compiled = Compiled(program, block=(100, 1, 1))
        a, found = draw(INT16, 100, 5), untouched(104, np.int32)
        compiled.execute(engine, program.functions[0], [found, a])
        assert found[:100].tolist() == (a * np.int16(2)).tolist()  # 16 bits, then widened
        assert ("OpCapability Int64" in compiled.text) == name.endswith("64")


def test_scalars_and_lengths_are_push_constants(engine: Device | None) -> None:
    """Each at a multiple of its size; of a narrow scalar only its own bytes count."""
    text = """
        @Kernel static void k(KernelBuffer<int64> out, int8 a, uint8 b, int16 c, uint16 d, int32 e, uint32 f, int64 g,
                              uint64 h, boolean yes, boolean no, KernelBuffer<float64> reals, float32 p, float64 q,
                              KernelBuffer<uint8> w) {
            out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = (int64) h;
            out[8] = yes ? 1 : 0; out[9] = no ? 1 : 0; out[10] = out.count(); out[11] = w.count();
            reals[0] = p; reals[1] = q;
        }
    """
    program = check_text(text)
    compiled = Compiled(program, block=(1, 1, 1))
    out, reals = np.zeros(12, np.int64), np.zeros(2, np.float64)
    scalars = [-128, 255, -32768, 65535, -(2**31), 2**32 - 1, -(2**63), 2**64 - 1, True, False]
    arguments = [out, *scalars, reals, 1.5, -0.1, np.zeros(77, np.uint8)]
    compiled.execute(engine, program.functions[0], arguments)
    assert out.tolist() == [*scalars[:7], -1, 1, 0, 12, 77]
    assert reals.tolist() == [1.5, -0.1]


def test_booleans_are_bytes(engine: Device | None) -> None:
    """Loaded and stored one by one and by twos, in helpers too; every byte but 0 is true, and true is stored as 1."""
    text = """
        @Device static boolean flip(KernelBuffer<boolean> flags, uint32 i) { return !flags[i]; }
        @Kernel static void k(KernelBuffer<boolean> out, KernelBuffer<boolean> read, KernelBuffer<int32> sums, uint32 n) {
            uint32 i = KernelThread.globalIdX();
            if (i < n) {
                boolean last = read[n - 1 - i];
                out[i] = flip(read, i) ^ last;
                sums[i] = (read[i] ? 1 : 0) + (last && flip(read, i) ? 10 : 0);
            }
        }
    """
    program = check_text(text)
    kernel = program.functions[1]
    compiled = Compiled(program)
    assert "OpTypeBool" in compiled.text
    flags = np.random.default_rng(4).integers(0, 2, 61).astype(bool)
    out, sums = untouched(64, np.bool_), untouched(64, np.int32)
    rest = out.view(np.uint8)[61:].tolist()
    compiled.execute(engine, kernel, [out, flags, sums, 61])
    last = flags[::-1]
    assert out.view(np.uint8)[:61].tolist() == (~flags ^ last).astype(int).tolist()
    assert out.view(np.uint8)[61:].tolist() == rest
    assert sums[:61].tolist() == (flags + 10 * (last & ~flags)).tolist()
    raw = np.arange(61, dtype=np.uint8)
    compiled.execute(engine, kernel, [out, raw.view(np.bool_), sums, 61])
    assert (sums[:61] % 10).tolist() == [0] + [1] * 60


def test_halves_are_rounded_once(engine: Device | None) -> None:
    """Every half comes back; floats and doubles around every tie become the nearest half, ties to even."""
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    halves = halves[halves == halves]
    step = 1 if engine else 211
    chosen = halves[::step]
    with np.errstate(over="ignore"):
        next_half = np.nextafter(chosen, np.float16(np.inf))
    middle = (chosen.astype(np.float64) + next_half.astype(np.float64)) / 2
    middle = middle[np.isfinite(middle)]
    close = np.concatenate(
        [middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), [1e300, 1e-300, 65519.999, 65520.0]]
    )
    with np.errstate(over="ignore"):
        rounded = close.astype(np.float32)
    for kind, numbers in (("float64", close), ("float32", rounded)):
        text = (
            f"@Kernel static void k(KernelBuffer<float16> out, KernelBuffer<{kind}> a, uint32 n) {{"
            " uint32 i = KernelThread.globalIdX(); if (i < n) { out[i] = (float16) a[i]; } }"
        )
        program = check_text(text)
        compiled = Compiled(program)
        found = untouched(len(numbers), np.float16)
        compiled.execute(engine, program.functions[0], [found, numbers, len(numbers)], -(-len(numbers) // 64))
        with np.errstate(over="ignore"):
            wanted = numbers.astype(np.float16)
        assert found.view(np.uint16).tolist() == wanted.view(np.uint16).tolist()
