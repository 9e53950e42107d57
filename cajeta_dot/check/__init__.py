"""The checker: syntax in, IR out. Names resolved, overloads chosen, every conversion made explicit.

`methods.py`, `dots.py` and `builtins.py` hold THE tables of what can be called.
"""

from __future__ import annotations

import sys

MAX_NESTING = 200  # statements and expressions inside one another; what follows them by recursion needs a limit
_FRAMES_BELOW, _FRAMES_PER_LEVEL = 1000, 10

# Only ever raised, and never put back: other threads may be deep in it.
sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES_BELOW + MAX_NESTING * _FRAMES_PER_LEVEL))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program
    from cajeta_dot.source import Source
    from cajeta_dot.syntax.tree import Unit

    from .program import ProgramChecker


def check_unit(unit: Unit, source: Source, reporter: Reporter) -> Program | None:
    """The program that a file is, or None if there was an error. Warnings and remarks are reported too."""
    from .units import assemble

    checkers = check_files([(unit, source.name)], reporter)
    return None if reporter.failed else assemble(checkers, source)


def check_files(
    files: Sequence[tuple[Unit, str]], reporter: Reporter, unread: frozenset[str] = frozenset()
) -> list[ProgramChecker]:
    """What `units.assemble` makes programs of where nothing has failed. `unread` is as in `units.check_units`."""
    from cajeta_dot.diagnostics import rules

    from .units import check_units

    checkers = check_units(files, reporter, unread)
    if any(found.rule is rules.BAD_LITERAL for found in reporter.found):
        # A literal that can't be read is a syntax error, and those are reported alone.
        reporter.found[:] = [found for found in reporter.found if found.rule is rules.BAD_LITERAL]
    return checkers
