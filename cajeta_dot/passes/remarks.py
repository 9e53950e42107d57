"""What the ranges of values tell about dot operations, as remarks."""

from __future__ import annotations

from cajeta_dot.diagnostics import Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Value, walk
from cajeta_dot.ranges import Ranges
from cajeta_dot.types import INT8, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

_DOTS = ("dot", "dotAccum", "dotSum")


def report_ranges(program: Program, reporter: Reporter) -> None:
    """R0404 for signed weights that can't be negative: the instruction for unsigned ones does them too."""
    for function in program.functions:
        ranges: Ranges | None = None
        for item in walk(function.body):
            if not isinstance(item, Value) or item.op != "method" or item.attr.name not in _DOTS:
                continue
            weights = item.args[0]
            if not isinstance(weights.type, Vector) or weights.type.element != INT8:
                continue
            ranges = ranges or Ranges(function)
            low, high = ranges.of(weights)
            if low >= 0:
                reporter.report(
                    r.PROVEN_UNSIGNED,
                    f"weights are `{weights.type}` but proven {low}..{high}, so they are read as unsigned at no cost",
                    Label(item.start, item.end),
                    [Label(weights.start, weights.end, f"bounds the values to {low}..{high}")],
                )
