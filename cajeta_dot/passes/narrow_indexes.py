"""Indexes of 64 bits computed in 32, for machines whose arrays have fewer than 2^32 elements and which may lack wider integers.

The low bits of a sum or a product depend on the low bits of its operands alone. So an index that lies in its array is what 32
bits make of it; one that doesn't is not defined where nothing is checked.
"""

from __future__ import annotations

from cajeta_dot.ir import Builder, Value, walk
from cajeta_dot.types import UINT32, Scalar

from .rewrite import rewrite
from .simplify import simplify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Item, Program

_LOW_BITS = ("add", "sub", "mul", "and", "or", "xor", "neg", "not")  # of the result are made of those of the operands
_MAX_DEPTH = 50


def narrow_indexes(program: Program) -> Program:
    """A copy of the program in which loads and stores have indexes of 32 bits; what nothing needs any more is dropped. The
    program itself, if that is so already."""
    if not any(_is_indexed_wide(item) for function in program.functions for item in walk(function.body)):
        return program

    def replace(builder: Builder, value: Value, args: tuple[Value, ...]) -> Value | None:
        if not _is_indexed_wide(value):
            return None
        index = _narrow(builder, args[1], _MAX_DEPTH)
        return builder.emit(value.op, value.type, args[0], index, *args[2:])

    made = rewrite(program, replace)
    simplify(made)
    return made


def _is_indexed_wide(item: Item) -> bool:
    return isinstance(item, Value) and item.op in ("load", "store") and _is_wide(item.args[1])


def _is_wide(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.is_integer and value.type.bits == 64


def _narrow(builder: Builder, value: Value, depth: int) -> Value:
    """The low 32 bits of a value of 64."""
    if depth:
        if value.op == "const":
            return builder.const(UINT32, UINT32.wrap(value.attr))
        if value.op in _LOW_BITS:
            return builder.emit(value.op, UINT32, *(_narrow(builder, arg, depth - 1) for arg in value.args))
        if value.op in ("convert", "reinterpret"):
            source = value.args[0]
            if _is_wide(source):
                return _narrow(builder, source, depth - 1)
            if isinstance(source.type, Scalar) and source.type.is_integer:
                return builder.convert(source, UINT32)
        if value.op in ("div", "rem") and (narrow := _divide(builder, value)):
            return narrow
        if value.op == "shl" and value.args[1].op == "const" and value.args[1].attr < UINT32.bits:
            count = builder.const(UINT32, value.args[1].attr)
            return builder.binary("shl", _narrow(builder, value.args[0], depth - 1), count)
    return builder.convert(value, UINT32)


def _divide(builder: Builder, value: Value) -> Value | None:
    """A number of 32 bits, widened and divided by a constant of its type from 1 on: so it can be divided before it is widened.

    Of what 64 bits were needed for, the quotient depends on the upper half.
    """
    number, divisor = value.args
    source = number.args[0].type if number.op == "convert" else None
    if not isinstance(source, Scalar) or not source.is_integer or source.bits != UINT32.bits or divisor.op != "const":
        return None
    if not 1 <= divisor.attr <= source.high:
        return None
    return builder.convert(builder.binary(value.op, number.args[0], builder.const(source, divisor.attr)), UINT32)
