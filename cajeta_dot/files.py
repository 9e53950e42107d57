"""Files that are compiled together: each sees the classes of the others, and has an output of its own."""

from __future__ import annotations

from .collector import PAUSED_COLLECTOR
from .diagnostics import ERROR, Reporter
from .driver import finish
from .source import Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .check.program import ProgramChecker
    from .diagnostics import Diagnostic
    from .ir import Program
    from .source import Source


class Files:
    """Several files, checked. `source` is all of them end to end, as far as they could be parsed.

    `program` has everything in it, to be called from Python; it is None if there was an error in any of them.
    """

    def __init__(self, files: Sequence[tuple[Source, Reporter]], values: Mapping[str, int] | None = None):
        """Each with what was reported while it was read. `values` are for constants, see `check.define`."""
        self.files = list(files)
        self.program: Program | None = None
        self._checkers: dict[Source, ProgramChecker] = {}
        with PAUSED_COLLECTOR:
            self._check(values)

    def _check(self, values: Mapping[str, int] | None) -> None:
        from .check import check_files
        from .check.program import class_names
        from .check.units import assemble
        from .syntax import parse_source
        from .syntax.shift import shift

        units = [None if reporter.failed else parse_source(source, reporter) for source, reporter in self.files]
        read = [(unit, one) for unit, (one, reporter) in zip(units, self.files, strict=True) if unit and not reporter.failed]
        self.source = Sources([one for _, one in read] or [one for one, _ in self.files])
        self.reporter = Reporter(self.source)
        if not read:
            return
        for (unit, _), start in zip(read, self.source.starts, strict=True):
            shift(unit, start)
        if values:
            from .check.define import define

            define([unit for unit, _ in read], values, self.reporter, whole=len(read) == len(self.files))
        broken = [unit for unit, (_, reporter) in zip(units, self.files, strict=True) if unit and reporter.failed]
        unread = frozenset(name for unit in broken for name in class_names(unit.members))
        self._checkers = dict(
            zip(
                [one for _, one in read],
                check_files([(unit, one.name) for unit, one in read], self.reporter, unread),
                strict=True,
            )
        )
        if not self.reporter.failed and len(read) == len(self.files):
            self.program = finish(assemble(self._checkers.values(), self.source), self.reporter)

    def found(self) -> list[Diagnostic]:
        """What was found: where the syntax is wrong; then all the rest, file by file."""
        return [d for _, reporter in self.files for d in reporter.in_order()] + self.reporter.in_order()

    def part(self, place: int) -> tuple[Program | None, Reporter]:
        """The program that one of the files is, with what it calls in the others, and where to report more about it.

        None if there is an error in it, or in a file that it calls something in.
        """
        from .check.units import assemble, list_compiled
        from .passes.separate import separate

        one = self.files[place][0]
        source = Sources(self.source.parts, one.name)
        reporter = Reporter(source)
        checker = self._checkers.get(one)
        failed = {self.source.locate(d.primary.start)[0] for d in self.reporter.found if d.severity == ERROR and d.primary}
        methods = list_compiled([checker]) if checker else []
        if checker is None or any(m.failed or self.source.locate(m.node.start)[0] in failed for m in methods) or one in failed:
            return None, reporter
        program = separate(assemble([checker], source))
        return program if self.program else finish(program, reporter), reporter
