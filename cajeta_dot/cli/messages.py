"""Diagnostics on stderr: in which form, with which switches, how many; and the exit code that follows from them."""

from __future__ import annotations

import os
import sys

from ..diagnostics import ERROR, WARNING
from ..diagnostics.switches import apply_switches
from .exit_codes import MISUSE, SOURCE_ERRORS, SUCCESS
from .files import print_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from ..diagnostics import Diagnostic, Rule
    from ..diagnostics.switches import Switches
    from ..run.errors import KernelError

DEFAULT_LIMIT = 20


class Refusal(Exception):
    """The command line can't be followed: the rule, the message, how to go on. Becomes a diagnostic without a place."""

    def __init__(self, rule: Rule, message: str, help: str = ""):
        super().__init__(message)
        self.rule, self.message, self.help = rule, message, help


class Messages:
    """`form` is what --diag-format takes; `limit` is the number of errors after which nothing more is printed, 0 for none."""

    def __init__(self, form: str, colour: bool, switches: Switches, limit: int = DEFAULT_LIMIT):
        self.form, self.colour, self.switches, self.limit = form, colour, switches, limit
        self.errors = self.warnings = 0
        self.truncated = False
        self._misused = False
        self._kept: list[Diagnostic] = []  # for the document that a form makes of all of them

    def show(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Print some more, in this order."""
        for diagnostic in apply_switches(diagnostics, self.switches):
            if diagnostic.severity == ERROR:
                self.truncated = self.truncated or (self.limit > 0 and self.errors == self.limit)
            if self.truncated:
                return
            if diagnostic.severity == ERROR:
                self.errors += 1
                self._misused = self._misused or _is_misuse(diagnostic)
            self.warnings += diagnostic.severity == WARNING
            if self.form == "sarif":
                self._kept.append(diagnostic)
            else:
                print_error(self._render(diagnostic))

    def refuse(self, refusal: Refusal) -> None:
        """Print what is wrong with the command line."""
        from ..diagnostics import Help, Reporter

        reporter = Reporter(None)
        reporter.report(refusal.rule, refusal.message, None, helps=[Help(refusal.help)] if refusal.help else [])
        self.show(reporter.found)

    def show_fault(self, error: KernelError) -> None:
        """What a program did wrong while it ran: no diagnostic, for it has no rule. SARIF knows of rules only."""
        if self.form == "json":
            from ..diagnostics.render_json import render_fault

            print_error(render_fault(error.file, error.line, error.what) + "\n")
        elif self.form == "github":
            from ..diagnostics.render_github import render_fault

            print_error(render_fault(error.file, error.line, error.what) + "\n")
        else:
            print_error(f"error: {error}\n")

    def tell(self, text: str) -> None:
        """A line about what was done, for people."""
        if self.form == "text":
            print_error(text + "\n")

    def finish(self, exit_code: int) -> None:
        """What stands at the end: that there was more; for tools, how much of everything, or the whole document."""
        if self.form == "json":
            from ..diagnostics.render_json import render_summary

            print_error(render_summary(self.errors, self.warnings, self.truncated) + "\n")
        elif self.form == "sarif":
            from ..diagnostics.render_sarif import render_sarif

            print_error(render_sarif(self._kept, exit_code, self.limit if self.truncated else 0) + "\n")
        elif self.truncated:
            print_error(f"too many errors, stopping after {self.limit}\n")

    @property
    def exit_code(self) -> int:
        if not self.errors:
            return SUCCESS
        return MISUSE if self._misused else SOURCE_ERRORS

    def _render(self, diagnostic: Diagnostic) -> str:
        if self.form == "json":
            from ..diagnostics.render_json import render_json

            return render_json(diagnostic) + "\n"
        if self.form == "github":
            from ..diagnostics.render_github import render_github

            return render_github(diagnostic) + "\n"
        from ..diagnostics.render import render_short, render_text

        if self.form == "short":
            return render_short(diagnostic, self.colour) + "\n"
        return render_text(diagnostic, self.colour) + "\n\n"


def _is_misuse(diagnostic: Diagnostic) -> bool:
    """Is the command line at fault, and not a source?"""
    return diagnostic.code.startswith("E00") or diagnostic.code == "E0603"


def decide_colour(wish: str, stream: TextIO | None = None) -> bool:
    """From --color, and for `auto` from the environment and whether the stream, by default stderr, is a terminal."""
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    stream = stream or sys.stderr
    terminal = stream is not None and stream.isatty()  # pyright: ignore[reportUnnecessaryComparison] - if closed
    return terminal and os.environ.get("TERM") != "dumb"
