"""The short way from Python into a kernel: machine code that looks at the arguments itself.

By the long way (`cajeta_dot.run.arguments`, then ctypes) a call takes ten times as long as many a kernel runs, most of it
for objects that are made only to be looked at. So a kernel that is called often gets a function in machine code that CPython
calls directly. It takes what most arguments are: arrays of numpy's own class, and Python's int, float and bool. To all
else, and to whatever must be refused, it says no before anything runs; the long way then says why, or knows how.

What it reads of objects is what compiled extensions read, too: the fields of an array are those of `PyArrayObject_fields` in
numpy's ndarraytypes.h, and the functions are of Python's stable ABI. `can_shorten` sees whether they are where they should be.

Its text depends on the types of the parameters alone, so that the code can be kept for later processes. Addresses of this
process come in a table that the function carries: `self` is bytes, `_CARRIED` and then the table.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from functools import cache
from itertools import combinations

import numpy as np

from cajeta_dot import store
from cajeta_dot.backends.llvm.checks import FAULT_BYTES
from cajeta_dot.backends.llvm.kernels import FAULT_OFFSET, LAUNCH_BYTES, list_exported_types
from cajeta_dot.types import BOOLEAN, FLOAT, Array, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from cajeta_dot.backends import Short
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.threads import Spreader
    from cajeta_dot.ir import Function

    Extent = tuple[int, int, int]

NAME = "call"
_HEAD = object.__basicsize__  # of every object; the type is its last field
_DATA, _DIMENSIONS, _SHAPE, _DTYPE, _FLAGS = (_HEAD + offset for offset in (0, 8, 16, 40, 48))
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 1, 0x100, 0x400  # NPY_ARRAY_C_CONTIGUOUS, _ALIGNED, _WRITEABLE
_FASTCALL = 0x80  # METH_FASTCALL
_WORD = 8
_UNOPTIMIZED = 0  # optimizing it would take five times as long and gain nothing that can be measured
_CARRIED = struct.Struct("=Q6I")  # the kernel's address, workgroups, work items of one
_BYTES = bytes.__basicsize__ - 1  # of a bytes object before its content


def can_shorten(function: Function) -> bool:
    """Is there a short way into this one, a kernel, in this process?"""
    types = [param.type for param in function.params]
    return _is_as_assumed() and all(
        isinstance(type, Array) or (isinstance(type, Scalar) and not (type.kind == FLOAT and type.bits == 16)) for type in types
    )


@cache
def _is_as_assumed() -> bool:
    """Are objects of this interpreter and arrays of this numpy laid out as is assumed here?"""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or _HEAD != 16:
        return False
    array = np.zeros((3, 5), np.int16)[1:]

    def read(kind: type[Any], offset: int) -> Any:
        return kind.from_address(id(array) + offset).value

    flags = _CONTIGUOUS * array.flags.c_contiguous | _ALIGNED * array.flags.aligned | _WRITEABLE * array.flags.writeable
    mask = _CONTIGUOUS | _ALIGNED | _WRITEABLE
    shape = read(ctypes.c_void_p, _SHAPE)
    content = b"content"
    return (
        ctypes.string_at(id(content) + _BYTES, len(content)) == content
        and np.ndarray.__basicsize__ >= _FLAGS + 4
        and read(ctypes.c_void_p, _HEAD - 8) == id(np.ndarray)
        and read(ctypes.c_void_p, _DATA) == array.ctypes.data
        and read(ctypes.c_int, _DIMENSIONS) == array.ndim
        and bool(shape)
        and tuple((ctypes.c_int64 * 2).from_address(shape)) == array.shape
        and read(ctypes.c_void_p, _DTYPE) == id(np.dtype("int16"))
        and read(ctypes.c_int, _FLAGS) & mask == flags
    )


class Shortener:
    """Makes the short way into one kernel, for any extent. `address` is where the kernel is."""

    def __init__(self, function: Function, written: frozenset[int], address: int, machine: Machine, keep: bool):
        """`written`: the positions of arrays that the kernel may write. `keep`: may the code be kept for later processes?"""
        from cajeta_dot.backends.llvm.jit import link

        text, table = write_text(function, written)
        linked = link(_make_code(text, machine, keep), [NAME], machine)
        definition = _Method(NAME.encode(), linked[NAME], _FASTCALL, None)
        self.address, self._kept = address, (linked, definition)
        self._table = struct.pack(f"={len(table)}Q", *table)

    def make(self, grid: Extent, block: Extent) -> Short:
        """For a launch of this extent. What is made keeps alive what it needs, except the kernel."""
        carried = _CARRIED.pack(self.address, *grid, *block) + self._table
        return _find_maker()(ctypes.addressof(self._kept[1]), carried, self._kept)


def _make_code(text: str, machine: Machine, keep: bool) -> bytes:
    """Object code, or that of an earlier process."""
    from cajeta_dot.backends.llvm.jit import write_object_here
    from cajeta_dot.backends.llvm.surroundings import describe_surroundings

    here, folder = describe_surroundings(), store.objects_folder()
    if not (keep and here and folder):
        return write_object_here(text, machine, _UNOPTIMIZED)
    key = "\n".join((here, machine.attributes, text)).encode()
    path = os.path.join(folder, store.name_of(key))
    code = store.read(path, key)
    if code is None:
        code = write_object_here(text, machine, _UNOPTIMIZED)
        store.write(path, key, code)
    else:
        store.touch(path)
    return code


def spread(short: Short, spreader: Spreader, threads: int) -> Short:
    """The same by several threads."""

    def run(arguments: tuple[object, ...], first: int, end: int) -> bool | bytes:
        outcomes: list[bool | bytes] = []
        spreader.run(lambda start, stop: outcomes.append(short(arguments, first + start, first + stop)), end - first, threads)
        if len(outcomes) == 1:
            return outcomes[0]
        if False in outcomes:
            if any(outcomes):
                raise RuntimeError("arguments were changed while a kernel ran on them")
            return False
        faults = [outcome for outcome in outcomes if isinstance(outcome, bytes)]
        return min(faults, key=_place_fault) if faults else True

    return run


def _place_fault(fault: bytes) -> tuple[int, int]:
    """The workgroup and the work item in it."""
    return struct.unpack_from("=2q", fault, 8)


class _Method(ctypes.Structure):
    """`PyMethodDef`."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


@cache
def _find_maker() -> Callable[[int, bytes, object], Any]:
    """Its last argument, meant for the name of a module, is whatever the function shall keep alive."""
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))


# ---- the machine code


def write_text(function: Function, written: frozenset[int]) -> tuple[str, list[int]]:
    """LLVM IR of `PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)`, and its table."""
    text = _Text()
    text.add(f"%given = load ptr, ptr %arguments, align {_WORD}")
    text.add(f"%size = {text.python('i64', 'PyTuple_Size', 'ptr %given')}")
    text.refuse(f"icmp ne i64 %size, {len(function.params)}")
    _, types = list_exported_types(function)
    passed: list[str] = []
    for place, param in enumerate(function.params):
        item = text.let(text.python("ptr", "PyTuple_GetItem", f"ptr %given, i64 {place}"))
        if isinstance(param.type, Array):
            passed += _take_array(text, item, param.type, place, place in written)
        else:
            assert isinstance(param.type, Scalar)
            passed.append(_take_number(text, item, param.type))
    _refuse_shared(text, [place for place, param in enumerate(function.params) if isinstance(param.type, Array)], written)
    operands = ", ".join(f"{type} {name}" for type, name in zip(types, [*passed, "%launch"], strict=True))
    calls = {name: text.python(*call) for name, call in _CALLS.items()}
    frame = _FRAME.format(
        head="\n".join(f"  {line}" for line in (*text.load_table(), *text.lines)),
        operands=operands,
        launch=LAUNCH_BYTES,
        fault=FAULT_OFFSET,
        fault_bytes=FAULT_BYTES,
        bytes=_BYTES,
        **calls,
    )
    return frame, list(text.table)


class _Text:
    """Lines of a function that goes on, or ends at %no. `table`: addresses of this process, each with its place."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.table: dict[int, int] = {}
        self._count = 0

    def address(self, address: int) -> str:
        """What is at a place of the table."""
        return f"%t{self.table.setdefault(address, len(self.table))}"

    def python(self, type: str, name: str, operands: str) -> str:
        """A call of a function of this process's Python."""
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        return f"call {type} {self.address(address or 0)}({operands})"

    def load_table(self) -> Iterator[str]:
        """Lines that stand in front of all others."""
        for place in self.table.values():
            yield f"%t.at{place} = getelementptr i8, ptr %carried, i64 {_CARRIED.size + place * _WORD}"
            yield f"%t{place} = load ptr, ptr %t.at{place}, align {_WORD}"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def let(self, value: str) -> str:
        """A new name for a value."""
        self._count += 1
        self.add(f"%v{self._count} = {value}")
        return f"%v{self._count}"

    def field(self, type: str, object: str, offset: int) -> str:
        at = self.let(f"getelementptr i8, ptr {object}, i64 {offset}")
        return self.let(f"load {type}, ptr {at}, align {4 if type == 'i32' else _WORD}")

    def refuse(self, condition: str) -> None:
        """Ends the call where the condition holds."""
        condition = self.let(condition)
        self._count += 1
        self.lines += [f"br i1 {condition}, label %no, label %l{self._count}, !prof !0", f"l{self._count}:"]


def _take_array(text: _Text, item: str, type: Array, place: int, written: bool) -> list[str]:
    """Address and length; `%start`, `%end` and `%bytes` with its place for what looks at all arrays."""
    dtype = np.dtype(str(type.element) if type.element.is_number else "bool")
    kind = text.field("ptr", item, _HEAD - _WORD)
    text.refuse(f"icmp ne ptr {kind}, {text.address(id(np.ndarray))}")
    text.refuse(f"icmp ne ptr {text.field('ptr', item, _DTYPE)}, {text.address(id(dtype))}")
    wanted = _CONTIGUOUS | _ALIGNED | (_WRITEABLE if written else 0)
    flags = text.let(f"and i32 {text.field('i32', item, _FLAGS)}, {wanted}")
    text.refuse(f"icmp ne i32 {flags}, {wanted}")
    data, shape = text.field("ptr", item, _DATA), text.field("ptr", item, _SHAPE)
    length = text.let(f"call i64 @multiply(ptr {shape}, i32 {text.field('i32', item, _DIMENSIONS)})")
    text.add(f"%start.{place} = ptrtoint ptr {data} to i64")
    text.add(f"%bytes.{place} = mul i64 {length}, {dtype.itemsize}")
    text.add(f"%end.{place} = add i64 %start.{place}, %bytes.{place}")
    return [data, length]


def _take_number(text: _Text, item: str, type: Scalar) -> str:
    """The number as C passes it."""
    if type == BOOLEAN:
        is_true = text.let(f"icmp eq ptr {item}, {text.address(id(True))}")
        is_false = text.let(f"icmp eq ptr {item}, {text.address(id(False))}")
        either = text.let(f"or i1 {is_true}, {is_false}")
        text.refuse(f"icmp eq i1 {either}, false")
        return text.let(f"zext i1 {is_true} to i8")
    kind = text.field("ptr", item, _HEAD - _WORD)
    text.refuse(f"icmp ne ptr {kind}, {text.address(id(float if type.is_float else int))}")
    if type.is_float:
        return _take_float(text, text.let(text.python("double", "PyFloat_AsDouble", f"ptr {item}")), type)
    number = text.let(text.python("i64", "PyLong_AsLongLongAndOverflow", f"ptr {item}, ptr %overflow"))
    overflow = text.let("load i32, ptr %overflow, align 4")
    text.refuse(f"icmp ne i32 {overflow}, 0")
    if type.low > -(1 << 63):
        text.refuse(f"icmp slt i64 {number}, {type.low}")
    if type.high < (1 << 63) - 1:
        text.refuse(f"icmp sgt i64 {number}, {type.high}")
    return number if type.bits == 64 else text.let(f"trunc i64 {number} to i{type.bits}")


def _take_float(text: _Text, number: str, type: Scalar) -> str:
    """Rounded to the type. No number at all, and what is too large, goes the long way."""
    text.refuse(f"fcmp uno double {number}, {number}")
    if type.bits == 64:
        return number
    rounded = text.let(f"fptrunc double {number} to float")
    wide = text.let(f"fpext float {rounded} to double")
    size, wide_size = (text.let(f"call double @llvm.fabs.f64(double {value})") for value in (number, wide))
    grown = text.let(f"fcmp oeq double {wide_size}, 0x7FF0000000000000")
    finite = text.let(f"fcmp one double {size}, 0x7FF0000000000000")
    both = text.let(f"and i1 {grown}, {finite}")
    text.refuse(f"icmp eq i1 {both}, true")
    return rounded


def _refuse_shared(text: _Text, arrays: Sequence[int], written: frozenset[int]) -> None:
    """Arrays that lie over each other, if one of them is written."""
    for a, b in combinations(arrays, 2):
        if a in written or b in written:
            below = text.let(f"icmp ult i64 %start.{a}, %end.{b}")
            above = text.let(f"icmp ult i64 %start.{b}, %end.{a}")
            some_a = text.let(f"icmp ne i64 %bytes.{a}, 0")
            some_b = text.let(f"icmp ne i64 %bytes.{b}, 0")
            both, some = text.let(f"and i1 {below}, {above}"), text.let(f"and i1 {some_a}, {some_b}")
            shared = text.let(f"and i1 {both}, {some}")
            text.refuse(f"icmp eq i1 {shared}, true")


_CALLS = {
    "first": ("i64", "PyLong_AsLongLong", "ptr %first.object"),
    "end": ("i64", "PyLong_AsLongLong", "ptr %end.object"),
    "let_go": ("ptr", "PyEval_SaveThread", ""),
    "take_back": ("void", "PyEval_RestoreThread", "ptr %thread"),
    "say_yes": ("ptr", "PyBool_FromLong", "i64 1"),
    "say_no": ("ptr", "PyBool_FromLong", "i64 0"),
    "say_fault": ("ptr", "PyBytes_FromStringAndSize", f"ptr %record, i64 {FAULT_BYTES}"),
}
_FRAME = """\
declare double @llvm.fabs.f64(double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i64 @multiply(ptr %shape, i32 %count) alwaysinline nounwind {{
entry:
  br label %head
head:
  %place = phi i32 [ 0, %entry ], [ %next, %body ]
  %product = phi i64 [ 1, %entry ], [ %larger, %body ]
  %more = icmp slt i32 %place, %count
  br i1 %more, label %body, label %done
body:
  %at = getelementptr i64, ptr %shape, i32 %place
  %extent = load i64, ptr %at, align 8
  %larger = mul i64 %product, %extent
  %next = add i32 %place, 1
  br label %head
done:
  ret i64 %product
}}

define ptr @call(ptr %self, ptr %arguments, i64 %count) nounwind {{
entry:
  %overflow = alloca i32, align 4
  %launch = alloca [{launch} x i8], align 8
  %carried = getelementptr i8, ptr %self, i64 {bytes}
{head}
  %kernel = load ptr, ptr %carried, align 1
  %extent = getelementptr i8, ptr %carried, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr %launch, ptr %extent, i64 24, i1 false)
  %first.at = getelementptr ptr, ptr %arguments, i64 1
  %first.object = load ptr, ptr %first.at, align 8
  %first = {first}
  %range = getelementptr i8, ptr %launch, i64 24
  store i64 %first, ptr %range, align 8
  %end.at = getelementptr ptr, ptr %arguments, i64 2
  %end.object = load ptr, ptr %end.at, align 8
  %end = {end}
  %range.end = getelementptr i8, ptr %launch, i64 32
  store i64 %end, ptr %range.end, align 8
  %record = getelementptr i8, ptr %launch, i64 {fault}
  call void @llvm.memset.p0.i64(ptr %record, i8 0, i64 {fault_bytes}, i1 false)
  %record.group = getelementptr i8, ptr %record, i64 8
  store i64 -1, ptr %record.group, align 8
  %record.item = getelementptr i8, ptr %record, i64 16
  store i64 -1, ptr %record.item, align 8
  %thread = {let_go}
  call void %kernel({operands})
  {take_back}
  %site = load i64, ptr %record, align 8
  %fine = icmp eq i64 %site, 0
  br i1 %fine, label %yes, label %fault
yes:
  %true = {say_yes}
  ret ptr %true
fault:
  %bytes = {say_fault}
  ret ptr %bytes
no:
  %false = {say_no}
  ret ptr %false
}}

!0 = !{{!"branch_weights", i32 1, i32 2000}}
"""
