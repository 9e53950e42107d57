"""Products of int32 lanes that are known to fit into 16 bits, as scales of sub-blocks and the dots they scale do.

x86 multiplies 32-bit lanes in two steps of five cycles, but pairs of 16-bit lanes in one, adding up each pair:

    lower(a) * lower(b) + upper(a) * 0  is  a * b

if both fit into 16 bits with their sign, and what is multiplied by 0 may be anything. Where something is added behind it,
VNNI does that in the same instruction, which LLVM sees by itself.
"""

from __future__ import annotations

from cajeta_dot.types import INT32, UINT32, Vector, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends.llvm.writer import Writer
    from cajeta_dot.bounds import Bounds
    from cajeta_dot.ir import Value

LEAST, MOST = -(1 << 15), (1 << 15) - 1


def is_narrow(product: Value, bounds_of: Callable[[Value], Bounds]) -> bool:
    """Is a multiplication one of several 32-bit lanes whose factors both fit into 16 bits?"""
    type = product.type
    if not isinstance(type, Vector) or type.element not in (INT32, UINT32) or type.lanes == 1:
        return False
    return all(low >= LEAST and high <= MOST for low, high in map(bounds_of, product.args))


def emit_narrow(writer: Writer, product: Value, args: Sequence[str], registers: Sequence[int]) -> str:
    """The multiplication in registers of these sizes, in bytes."""
    from cajeta_dot.backends.forms.algebra import Vector as Lanes
    from cajeta_dot.backends.forms.algebra import assemble
    from cajeta_dot.backends.forms.instructions import pmaddwd
    from cajeta_dot.backends.llvm.reading import WriterReading

    lanes, reading = lanes_of(product.type), WriterReading(writer)
    a, b = (Lanes(reading, arg, 32, lanes) for arg in args)

    def multiply(start: int, size: int) -> Lanes[str]:
        window = start // 4, size // 4
        return pmaddwd(a.window(*window), b.window(*window) & 0xFFFF)

    return assemble(4 * lanes, registers, multiply).term


def find_registers(features: frozenset[str]) -> tuple[int, ...]:
    """The sizes of registers, in bytes, in which the features have the instruction."""
    from cajeta_dot.backends.forms.instructions import pmaddwd

    return tuple(bits // 8 for bits, encoding in pmaddwd.encodings.items() if encoding.available(features))
