"""When the compiler itself is at fault: a file with all that a report needs, and a few words to the user."""

from __future__ import annotations

import sys

from .about import write_version
from .files import print_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .session import Session


def report_crash(error: Exception, session: Session) -> None:
    """Without a traceback on the terminal, unless --debug asks for it."""
    from traceback import format_exception

    trace = "".join(format_exception(error))
    kind = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    print_error(f"cajetac: internal error: {kind}\n")
    print_error("this is a fault of the compiler, not of the program; please report it\n")
    print_error(write_version().partition("\n")[0] + f", {_locate(error)}\n")
    print_error(_save(_write_report(trace, session)))
    if session.arguments.get("debug"):
        print_error(trace)


def _locate(error: Exception) -> str:
    """Where in the compiler, without paths of this machine."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    if trace is None:
        return "nowhere"
    module = trace.tb_frame.f_globals.get("__name__", "?")
    return f"{module}:{trace.tb_lineno}"


def _write_report(trace: str, session: Session) -> str:
    sources = "".join(f"---- {source.name}\n{source.text}\n" for source in session.sources)
    return f"{write_version()}arguments: {sys.argv[1:]}\n\n{trace}\n{sources}"


def _save(report: str) -> str:
    from tempfile import NamedTemporaryFile

    try:
        with NamedTemporaryFile(
            "w", prefix="cajetac-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(report)
    except OSError as error:
        return f"no report could be saved: {error}\n"
    return f"saved with the source, for the report: {file.name}\n"
