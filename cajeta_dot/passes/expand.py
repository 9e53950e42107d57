"""Methods and built-ins into core opcodes, by the `expand` of their rows. Every backend but the reference starts here."""

from __future__ import annotations

from .rewrite import rewrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Builder, Program, Value


def expand(program: Program) -> Program:
    """A copy of the program without the opcode `method`."""
    return rewrite(program, _expand_method)


def _expand_method(builder: Builder, value: Value, args: tuple[Value, ...]) -> Value | None:
    return value.attr.expand(builder, *args) if value.op == "method" else None
