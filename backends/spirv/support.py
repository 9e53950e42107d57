"""What the target can't do exactly, and so does not do: found before anything is written, all of it at once."""

from __future__ import annotations

from cajeta_dot.backends.spirv.interface import PUSH_CONSTANT_LIMIT, lay_out, size_of_block
from cajeta_dot.backends.spirv.plan import reachable
from cajeta_dot.diagnostics import Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Value, walk
from cajeta_dot.types import element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program

# Opcode -> what the source calls it, from how many bits on. GLSL's Fma may round twice.
_FLOAT_OPERATIONS = {"fma": ("`Math.fma` of float64", 64)}


def report_unsupported(program: Program, reporter: Reporter) -> None:
    """One error for each place in the kernels of a program, and in what they call."""
    functions = reachable(program)
    if not functions:
        reporter.report(r.NOT_ON_TARGET, "a program without a kernel is not supported on `spirv` yet", Label(0, 0))
    reported: set[tuple[int, int, str]] = set()
    for function in functions:
        for start, end, what in _find(function):
            if (start, end, what) not in reported:
                reported.add((start, end, what))
                reporter.report(r.NOT_ON_TARGET, f"{what} is not supported on `spirv` yet", Label(start, end))


# Opcode -> what the source calls it. Vulkan promises 2.5 units in the last place for the one, the inverse of an inverse root
# for the other (specification, "Precision and Operation of SPIR-V Instructions"); + - * are correctly rounded.
_LOOSE = {"div": "`/`", "sqrt": "`Math.sqrt`"}


def report_inexact(program: Program, reporter: Reporter) -> None:
    """A remark at each operation in which a Vulkan device may differ from every other target in the last bits."""
    reported: set[tuple[int, int]] = set()
    for function in reachable(program):
        for item in walk(function.body):
            if not isinstance(item, Value) or item.op not in _LOOSE or not element_of(item.type).is_float:
                continue
            if (item.start, item.end) not in reported:
                reported.add((item.start, item.end))
                message = f"Vulkan lets {_LOOSE[item.op]} of floats differ from the correctly rounded result in its last bits"
                reporter.report(r.INEXACT_FLOAT, message, Label(item.start, item.end))


def _find(function: Function) -> Iterator[tuple[int, int, str]]:
    if function.kind == "kernel" and size_of_block(lay_out(function)) > PUSH_CONSTANT_LIMIT:
        what = f"a kernel with more than {PUSH_CONSTANT_LIMIT} bytes of scalars and array lengths"
        yield function.start, function.end, what
    for item in walk(function.body):
        if isinstance(item, Value) and item.op in _FLOAT_OPERATIONS and element_of(item.type).is_float:
            what, least = _FLOAT_OPERATIONS[item.op]
            if element_of(item.type).bits >= least:
                yield item.start, item.end, what
