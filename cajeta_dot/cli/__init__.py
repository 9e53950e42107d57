"""`cajetac`: reads the command line, calls the verb, and turns whatever happens into messages and an exit code.

Start-up is a feature: nothing is imported here that a run may not need.
"""

from __future__ import annotations

import gc
import os
import sys

from .exit_codes import INTERNAL_ERROR, INTERRUPTED, MISUSE, SUCCESS
from .files import WriteError, print_error, print_output
from .options import read_arguments, write_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .messages import Messages, Refusal
    from .options import Arguments
    from .session import Session

# Verb -> module and function. A verb gives an exit code, or None for the one that follows from the messages.
VERBS = {
    "build": ("build", "build"),
    "check": ("commands", "check"),
    "run": ("call", "call"),
    "disasm": ("disasm", "show_instructions"),
    "bench": ("bench", "bench"),
    "explain": ("commands", "explain"),
    "lsp": ("lsp", "serve"),
    "targets": ("commands", "list_targets"),
    "devices": ("devices", "list_devices"),
    "cache": ("cache", "show_cache"),
    "host": ("commands", "tell_host"),
    "kernels": ("commands", "list_kernels"),
    "choices": ("commands", "list_choices"),
}


def main() -> None:
    """What the installed command calls. Leaves at once, without taking the interpreter apart."""
    gc.set_threshold(100_000)  # a compiler makes many objects and lives briefly: a tenth of a long file's time
    os._exit(run(sys.argv[1:]))  # both streams were flushed by whoever wrote to them


def run(line: Sequence[str]) -> int:
    """One command line to its exit code. Raises nothing."""
    try:
        arguments = read_arguments(line)
        if arguments.verb in ("help", "version") and not arguments.complaints:
            return _tell_about(arguments)
        return _call_verb(arguments)
    except WriteError as error:  # of help and version; `_call_verb` makes it a message like any other
        print_error(f"cajetac: error[E0003]: {error}\n")
        return MISUSE
    except BrokenPipeError:  # whoever read has had enough
        return SUCCESS
    except KeyboardInterrupt:
        return INTERRUPTED


def _tell_about(arguments: Arguments) -> int:
    if arguments.verb == "version":
        from .about import write_version

        print_output(write_version())
    else:
        print_output(write_help(arguments.get("about")))
    return SUCCESS


def _call_verb(arguments: Arguments) -> int:
    from .. import store
    from ..diagnostics.rules import USAGE
    from .messages import Refusal
    from .session import Session

    if "cache_dir" in arguments.values:
        os.environ[store.FOLDER_VARIABLE] = arguments.get("cache_dir")
    messages, refusal = _make_messages(arguments)
    session = Session(arguments, messages)
    code: int | None = None
    try:
        for told in arguments.complaints:
            messages.refuse(Refusal(USAGE, told.message, told.help))
        if refusal:
            messages.refuse(refusal)
        if not messages.errors:
            code = _find_verb(arguments.verb)(session)
    except Refusal as refusal:
        messages.refuse(refusal)
    except WriteError as error:
        messages.refuse(Refusal(USAGE, str(error)))
    except BrokenPipeError:  # whoever read has had enough; what was found before still counts
        pass
    except Exception as error:
        from .crash import report_crash

        report_crash(error, session)
        code = INTERNAL_ERROR
    code = messages.exit_code if code is None else code
    messages.finish(code)
    return code


def _find_verb(verb: str) -> Callable[[Session], int | None]:
    module, function = VERBS[verb]
    return getattr(__import__(f"{__name__}.{module}", fromlist=[function]), function)


def _make_messages(arguments: Arguments) -> tuple[Messages, Refusal | None]:
    """As the command line wants them; and what is wrong with the names it gives."""
    from ..diagnostics.rules import USAGE
    from ..diagnostics.switches import DEFAULT, UnknownSwitch, read_switches
    from .messages import DEFAULT_LIMIT, Messages, Refusal, decide_colour

    refusal, switches = None, DEFAULT
    try:
        switches = read_switches(arguments.get("switches", ()))
    except UnknownSwitch as error:
        refusal = Refusal(USAGE, str(error), error.help)
    colour = decide_colour(arguments.get("color", "auto"))
    form, limit = arguments.get("diag_format", "text"), arguments.get("error_limit", DEFAULT_LIMIT)
    return Messages(form, colour, switches, limit), refusal
