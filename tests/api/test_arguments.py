"""What may be passed to a kernel or host method, and what is refused in which words."""

from __future__ import annotations

import array
import ctypes
import math
from typing import Any

import numpy as np
import pytest

from cajeta_dot.ir import Function, Value
from cajeta_dot.run.arguments import ArgumentReader
from cajeta_dot.types import (
    BOOLEAN,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    SCALARS,
    UINT8,
    UINT32,
    UINT64,
    VOID,
    Array,
    Type,
    Vector,
)


def read(type: Type, given: object, written: bool = False) -> Any:
    """One argument of a kernel with one parameter."""
    function = Function("K.f", "f", "kernel", [Value("param", type, attr="x")], VOID)
    return ArgumentReader(function, frozenset({0} if written else ())).read([given])[0]


def ints(*shape: int) -> Any:
    return np.zeros(shape, "int32")


INTS = Array(INT32, "KernelBuffer")


# ---- arrays


@pytest.mark.parametrize("element", list(SCALARS), ids=str)
def test_every_element_type(element: str) -> None:
    given = np.ones(3, element.replace("boolean", "bool"))
    got = read(Array(SCALARS[element], "array"), given, written=True)
    assert got.dtype == given.dtype
    assert np.shares_memory(got, given)


@pytest.mark.parametrize("shape", [(0,), (5,), (2, 3), (2, 0, 3), (1, 1, 4, 1), ()])
def test_any_rank_is_seen_flat(shape: tuple[int, ...]) -> None:
    given = ints(*shape)
    got = read(INTS, given, written=True)
    assert got.shape == (given.size,)
    got[:] = 7
    assert (given == 7).all()


class OnlyInterface:
    def __init__(self, inner: Any):
        self.inner = inner
        self.__array_interface__ = inner.__array_interface__


class OnlyTensor:
    """What speaks DLPack and nothing else, on a device of this number."""

    def __init__(self, inner: Any, device: int = 1):
        self.inner, self.device = inner, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.inner.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


def test_other_objects_with_memory_are_taken() -> None:
    inner: Any = np.arange(4, dtype="int32")
    c_array = (ctypes.c_int32 * 4)(0, 1, 2, 3)
    for given in (OnlyInterface(inner), OnlyTensor(inner), memoryview(inner), array.array("i", range(4)), c_array):
        got = read(INTS, given)
        assert got.tolist() == [0, 1, 2, 3]
        assert got.dtype == np.int32
    writable = bytearray(b"\x00\x7f\x80\xff")
    read(Array(UINT8, "array"), writable, written=True)[0] = 9
    assert writable[0] == 9
    assert read(Array(UINT8, "array"), b"\x00\xff").tolist() == [0, 255]


class Subclass(np.ndarray[Any, Any]):
    """An array with a reshape of its own."""

    def reshape(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("called")


def test_subclasses_are_plain_arrays() -> None:
    given = ints(3).view(Subclass)
    assert type(read(INTS, given)) is np.ndarray


SWAPPED = np.dtype("int32").newbyteorder()
MASKED: Any = np.ma.masked_array(ints(2), [False, True])
REFUSED: list[tuple[str, Type, Any, bool, type[Exception], str]] = [
    ("another type", INTS, np.zeros(2, "int64"), False, TypeError, "takes an array of int32, found int64"),
    ("another sign", INTS, np.zeros(2, "uint32"), False, TypeError, "found uint32"),
    ("a float", Array(FLOAT32, "array"), np.zeros(2), False, TypeError, "takes an array of float32, found float64"),
    ("bytes for booleans", Array(BOOLEAN, "array"), np.zeros(2, "uint8"), False, TypeError, "array of bool, found uint8"),
    ("other byte order", INTS, np.zeros(2, SWAPPED), False, TypeError, "with its bytes in the other order"),
    ("a structure", INTS, np.zeros(2, "i4,i4"), False, TypeError, "takes an array of int32"),
    ("every second element", INTS, ints(6)[::2], False, ValueError, "is not contiguous in memory"),
    ("backwards", INTS, ints(6)[::-1], False, ValueError, "is not contiguous in memory"),
    ("columns first", INTS, np.asfortranarray(ints(2, 3)), False, ValueError, "is not contiguous in memory"),
    ("broadcast", INTS, np.broadcast_to(ints(1), (4,)), False, ValueError, "is not contiguous in memory"),
    ("odd address", INTS, np.frombuffer(bytes(9), "int32", offset=1), False, ValueError, "does not begin at a multiple"),
    ("read-only", INTS, np.frombuffer(bytes(8), "int32"), True, ValueError, "is read-only, and is written"),
    ("bytes that are written", Array(UINT8, "array"), b"ab", True, ValueError, "is read-only, and is written"),
    ("masked", INTS, MASKED, False, TypeError, "found a masked one"),
    ("a list", INTS, [1, 2], False, TypeError, "takes an array of int32, found list"),
    ("nothing", INTS, None, False, TypeError, "found NoneType"),
    ("a number", INTS, 5, False, TypeError, "found int"),
    ("a numpy number", INTS, np.int32(5), False, TypeError, r"found numpy\.int32"),
    ("text", INTS, "ab", False, TypeError, "found str"),
    ("an object", INTS, object(), False, TypeError, "found object"),
    ("a GPU's tensor", INTS, OnlyTensor(ints(2), device=2), False, TypeError, "on device 2 of DLPack"),
    ("a vector", Vector(INT8, 4), (1, 2, 3, 4), False, TypeError, "is Vector<int8,4>, which only other methods can pass"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("type", "given", "written", "error", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_refused(type: Type, given: Any, written: bool, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=rf"^`x` of K\.f .*{said}"):
        read(type, given, written)


def test_read_only_is_no_matter_where_nothing_is_written() -> None:
    assert read(INTS, np.frombuffer(bytes(8), "int32")).tolist() == [0, 0]


# ---- several arrays


def read_pair(a: Any, b: Any, written: frozenset[int]) -> list[Any]:
    params = [Value("param", INTS, attr="a"), Value("param", INT32, attr="n"), Value("param", INTS, attr="b")]
    return ArgumentReader(Function("K.f", "f", "kernel", params, VOID), written).read([a, 1, b])


@pytest.mark.parametrize(("written", "named"), [({0}, "a"), ({2}, "b"), ({0, 2}, "a")])
def test_shared_memory_is_refused_where_it_is_written(written: set[int], named: str) -> None:
    memory = ints(8)
    for a, b in ((memory, memory), (memory[:5], memory[4:]), (memory[4:], memory[:5]), (memory, memory[3:4])):
        with pytest.raises(ValueError, match=rf"^`a` and `b` of K\.f share memory, and `{named}` is written"):
            read_pair(a, b, frozenset(written))


def test_memory_may_be_shared_otherwise() -> None:
    memory = ints(8)
    read_pair(memory, memory, frozenset())
    for written in (frozenset({0}), frozenset({0, 2})):
        read_pair(memory[:4], memory[4:], written)
        read_pair(memory, memory[3:3], written)
        read_pair(memory, ints(8), written)


# ---- numbers


class Index:
    def __index__(self) -> int:
        return 7


TAKEN: list[tuple[Type, Any, Any]] = [
    (INT8, -128, -128), (INT8, 127, 127), (UINT8, 255, 255), (UINT64, 2**64 - 1, 2**64 - 1), (INT64, -(2**63), -(2**63)),
    (INT32, np.int8(-3), -3), (INT32, np.uint64(3), 3), (INT16, Index(), 7),
    (BOOLEAN, True, True), (BOOLEAN, np.bool_(False), False),
    (FLOAT32, 0.1, float(np.float32(0.1))),
    (FLOAT32, np.float32(0.5), 0.5), (FLOAT32, np.float16(0.5), 0.5), (FLOAT64, 0.1, 0.1),
    (FLOAT32, 3, 3.0), (FLOAT32, np.int64(16777217), 16777216.0),
    (FLOAT32, (1 << 60) + (1 << 36) + 1, float((1 << 60) + (1 << 37))),
    (FLOAT32, math.inf, math.inf), (FLOAT32, -math.inf, -math.inf), (FLOAT16, 65519.0, 65504.0), (FLOAT32, 1e-50, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("type", "given", "expected"), TAKEN)
def test_numbers(type: Type, given: Any, expected: Any) -> None:
    got = read(type, given)
    assert got == expected
    assert got.__class__ is expected.__class__


def test_a_nan_is_a_float() -> None:
    assert math.isnan(read(FLOAT32, math.nan))


@pytest.mark.parametrize(
    ("type", "given", "error", "said"),
    [
        (INT8, 128, OverflowError, r"takes int8, -128\.\.127, found 128"),
        (INT8, -129, OverflowError, "found -129"),
        (UINT32, -1, OverflowError, r"takes uint32, 0\.\.4294967295, found -1"),
        (UINT64, 2**64, OverflowError, "found 18446744073709551616"),
        (INT32, np.int64(2**31), OverflowError, "found 2147483648"),
        (INT32, True, TypeError, "takes an integer, found bool"),
        (INT32, np.bool_(True), TypeError, r"takes an integer, found numpy\.bool"),
        (INT32, 1.0, TypeError, "takes an integer, found float"),
        (INT32, np.float32(1), TypeError, r"takes an integer, found numpy\.float32"),
        (INT32, "1", TypeError, "takes an integer, found str"),
        (INT32, np.array(1), TypeError, "takes an integer, found ndarray"),
        (BOOLEAN, 1, TypeError, "takes True or False, found int"),
        (BOOLEAN, np.uint8(1), TypeError, r"takes True or False, found numpy\.uint8"),
        (FLOAT32, True, TypeError, "takes a number, found bool"),
        (FLOAT32, "1", TypeError, "takes a number, found str"),
        (FLOAT32, 1j, TypeError, "takes a number, found complex"),
        (FLOAT64, np.longdouble("1e400"), TypeError, "takes a number, found numpy"),
        (FLOAT32, np.array(1.0), TypeError, "takes a number, found ndarray"),
        (FLOAT32, 1e39, OverflowError, "takes float32, which has no number as large as 1e"),
        (FLOAT16, -65520.0, OverflowError, "takes float16, which has no number as large as -65520"),
        (FLOAT64, 10**400, OverflowError, "takes float64, which has no number as large as an integer of 1329 bits"),
    ],
)
def test_numbers_that_are_refused(type: Type, given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=rf"^`x` of K\.f .*{said}"):
        read(type, given)


def test_numbers_too_long_to_be_written_out() -> None:
    with pytest.raises(OverflowError, match="found an integer of 16610 bits"):
        read(INT64, -(10**5000))


# ---- all together


def test_the_number_of_arguments() -> None:
    params = [Value("param", INTS, attr="v"), Value("param", INT32, attr="n")]
    function = Function("Quant.sum", "sum", "host", params, INT64)
    assert function.signature == "int64 Quant.sum(KernelBuffer<int32> v, int32 n)"
    for given in ([], [ints(1)], [ints(1), 1, 2]):
        with pytest.raises(
            TypeError, match=rf"^int64 Quant\.sum\(KernelBuffer<int32> v, int32 n\) takes 2 arguments, found {len(given)}"
        ):
            ArgumentReader(function, frozenset()).read(given)
