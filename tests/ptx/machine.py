"""Small kernels in PTX, and their launches on the emulator."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cajeta_dot.backends.ptx.instructions import OPERATIONS, Operation, dtype, width
from cajeta_dot.backends.ptx.machine import Machine
from cajeta_dot.backends.ptx.memory import Region
from cajeta_dot.backends.ptx.parse import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Lanes = NDArray[Any]

HEAD = ".version 8.6\n.target sm_100\n.address_size 64\n"
_REGISTERS = ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .b64 %a<9>;\n"
_NAMES = {1: "%p", 8: "%h", 16: "%h", 32: "%r", 64: "%d"}


def write_entry(body: str, params: Sequence[str] = ("u64",), declarations: str = "", name: str = "k") -> str:
    """A kernel whose parameters are `p0`, `p1` …; the address in each one of 64 bits is in `%a0`, `%a1` …"""
    head = ",\n".join(f".param .{type} p{place}" for place, type in enumerate(params))
    loads = "".join(f"ld.param.u64 %a{place}, [p{place}];\n" for place, type in enumerate(params) if type == "u64")
    return f".visible .entry {name}(\n{head}\n)\n{{\n{_REGISTERS}{declarations}{loads}{body}\nret;\n}}\n"


def launch(text: str, arguments: Sequence[Lanes | bytes], threads: int | tuple[int, int, int] = 1, groups: int = 1) -> None:
    """Runs the kernel `k` of a text; arrays are written back."""
    arrays = [(array, Region("global", f"p{place}", array.nbytes, content=array.tobytes()))
              for place, array in enumerate(arguments) if isinstance(array, np.ndarray)]  # fmt: skip
    regions = iter(arrays)
    passed = [argument if isinstance(argument, bytes) else next(regions)[1] for argument in arguments]
    block = (threads, 1, 1) if isinstance(threads, int) else threads
    try:
        Machine(Module(HEAD + text)).launch("k", passed, (groups, 1, 1), block)
    finally:
        for array, region in arrays:
            array.view("u1")[:] = region.bytes[: region.size]


def write_operation(opcode: str, operation: Operation, name: str = "k") -> str:
    """A kernel of one instruction: thread i takes the i-th element of each array, the result's array first. A predicate is a
    byte that is not 0."""
    types = (operation.result, *operation.operands)
    lines = ["mov.u32 %r0, %tid.x;"]
    for place, type in enumerate(types):
        lines.append(f"mad.wide.u32 %a{place}, %r0, {max(width(type) // 8, 1)}, %a{place};")
    for place, type in enumerate(operation.operands, 1):
        lines += _fetch(place, type)
    names = [f"{_NAMES[width(type)]}{place + 1}" for place, type in enumerate(types)]
    if opcode.startswith("lop3"):
        names[-1] = "0xE8"  # it has to be a constant
    lines.append(f"{opcode} {', '.join(names)};")
    if operation.result == "pred":
        lines += ["selp.b16 %h0, 1, 0, %p1;", "st.global.u8 [%a0], %h0;"]
    else:
        lines.append(f"st.global.b{width(operation.result)} [%a0], {names[0]};")
    return write_entry("\n".join(lines), ["u64"] * len(types), name=name)


def _fetch(place: int, type: str) -> list[str]:
    if type == "pred":
        return [f"ld.global.u8 %h0, [%a{place}];", f"setp.ne.b16 %p{place + 1}, %h0, 0;"]
    letter = {"s8": "s8", "u8": "u8"}.get(type, f"b{width(type)}")
    return [f"ld.global.{letter} {_NAMES[width(type)]}{place + 1}, [%a{place}];"]


@cache
def _text_of(opcode: str) -> str:
    return write_operation(opcode, OPERATIONS[opcode])


def apply(opcode: str, *operands: Lanes) -> Lanes:
    """What an instruction of the table makes of arrays of its types."""
    operation = OPERATIONS[opcode]
    for operand, type in zip(operands, operation.operands, strict=True):
        assert operand.dtype == dtype(type), (opcode, operand.dtype)
    out = np.zeros(len(operands[0]), dtype(operation.result))
    launch(_text_of(opcode), [out, *operands], threads=len(out))
    return out
