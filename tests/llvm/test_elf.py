"""Objects put into memory by our own linker: what they compute, and what is refused and left to LLVM's."""

from __future__ import annotations

import ctypes
import math
import struct

import pytest

from cajeta_dot.backends.llvm import elf, jit
from cajeta_dot.backends.llvm.elf import NotLoadable, can_load, load_object
from cajeta_dot.backends.llvm.jit import link, write_object_here
from cajeta_dot.backends.x86 import SCALAR

pytestmark = pytest.mark.skipif(not can_load(), reason="objects are placed by our own linker on Linux on x86-64 only")

# Constants on a page of their own, calls inside, calls of C functions, a rarely used part in a section of its own.
TEXT = """
@table = internal constant [4 x i32] [i32 10, i32 20, i32 30, i32 -40], align 64
declare double @fmod(double, double)
declare ptr @calloc(i64, i64)
declare void @free(ptr)

define i32 @look(i64 %index) nounwind {
  %at = getelementptr i32, ptr @table, i64 %index
  %number = load i32, ptr %at
  ret i32 %number
}

define i32 @look_twice(i64 %index) nounwind {
  %a = call i32 @look(i64 %index)
  %b = call i32 @far(i64 %index)
  %sum = add i32 %a, %b
  ret i32 %sum
}

define i32 @far(i64 %index) nounwind noinline section ".text.unlikely." {
  %memory = call ptr @calloc(i64 4, i64 16)
  %at = getelementptr i32, ptr %memory, i64 %index
  %zero = load i32, ptr %at
  call void @free(ptr %memory)
  %number = call i32 @look(i64 %index)
  %sum = add i32 %number, %zero
  ret i32 %sum
}

define double @rest(double %a, double %b) nounwind {
  %rest = call double @fmod(double %a, double %b)
  ret double %rest
}
"""
NAMES = ["look", "look_twice", "far", "rest"]


@pytest.fixture(scope="module")
def code() -> bytes:
    return write_object_here(TEXT, SCALAR.machine, 0)


@pytest.mark.parametrize("by_llvm", [False, True])
def test_code_finds_data_functions_and_the_process(code: bytes, by_llvm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if by_llvm:
        monkeypatch.setattr(jit, "can_load", lambda: False)
    linked = link(code, NAMES, SCALAR.machine)
    assert isinstance(linked, elf.Image) != by_llvm
    look, twice = (ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(linked[name]) for name in ("look", "look_twice"))
    rest = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(linked["rest"])
    assert [look(index) for index in range(4)] == [10, 20, 30, -40]
    assert [twice(index) for index in range(4)] == [20, 40, 60, -80]
    assert rest(7.5, -2.0) == math.fmod(7.5, -2.0)


def test_memory_is_executable_or_data_and_never_writable(code: bytes) -> None:
    image = load_object(code)
    with open("/proc/self/maps", encoding="ascii") as maps:
        areas = [line.split()[:2] for line in maps]
    rights = {
        right
        for span, right in areas
        for address in image.values()
        if int(span.split("-")[0], 16) <= address < int(span.split("-")[1], 16)
    }
    assert rights == {"r-xp"}


def test_an_object_that_is_cut_off_is_refused(code: bytes) -> None:
    for length in range(0, len(code) - 1, 7):
        with pytest.raises(NotLoadable):
            load_object(code[:length])


def _patch_relocations(code: bytes, kind: int) -> bytes:
    """The same object with relocations of another kind."""
    changed = bytearray(code)
    for section in elf._read_sections(code):  # pyright: ignore[reportPrivateUsage]
        if section.kind == elf.RELOCATIONS:
            for at in range(section.offset, section.offset + section.size, 24):
                struct.pack_into("<I", changed, at + 8, kind)
    return bytes(changed)


def test_what_is_not_known_is_refused(code: bytes) -> None:
    writable = write_object_here("@n = global i32 1\ndefine ptr @f() { ret ptr @n }", SCALAR.machine, 0)
    missing = write_object_here(
        "declare void @no_such_function()\ndefine void @f() {\n  call void @no_such_function()\n  ret void\n}",
        SCALAR.machine,
        0,
    )
    for wrong in (
        _patch_relocations(code, 9),
        writable,
        missing,
        b"",
        b"\xcf\xfa\xed\xfe" + code[4:],
        code[:18] + b"\xb7\0" + code[20:],
    ):
        with pytest.raises(NotLoadable):
            load_object(wrong)


def test_what_is_refused_is_left_to_llvm() -> None:
    writable = write_object_here(
        "@n = global i32 7\ndefine i32 @f() {\n  %n = load i32, ptr @n\n  ret i32 %n\n}", SCALAR.machine, 0
    )
    linked = link(writable, ["f"], SCALAR.machine)
    assert not isinstance(linked, elf.Image)
    assert ctypes.CFUNCTYPE(ctypes.c_int32)(linked["f"])() == 7
