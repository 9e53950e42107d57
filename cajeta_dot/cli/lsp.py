"""`cajetac lsp`: messages in from stdin, answers out to stdout, until the editor says `exit` or goes away."""

from __future__ import annotations

import sys

from ..diagnostics.rules import USAGE
from ..lsp.server import Server
from ..lsp.wire import PARSE_ERROR, WireError, read_message, refuse, write_message
from .files import print_error
from .messages import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .session import Session


def serve(session: Session) -> int:
    """The exit code: 0 if the editor said `shutdown` before `exit`, as the protocol wants it. Raises Refusal."""
    if session.arguments.words:
        raise Refusal(USAGE, f"`cajetac lsp` takes no file, found `{session.arguments.words[0]}`")
    server = Server(session.messages.switches)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    while server.exit_code is None:
        try:
            message = read_message(stdin)
        except WireError as error:
            write_message(stdout, refuse(None, PARSE_ERROR, str(error)))
            if not error.is_fatal:
                continue
            print_error(f"cajetac: {error}\n")
            return 1
        if message is None:  # the editor is gone
            return 1
        for reply in server.handle(message):
            write_message(stdout, reply)
    return server.exit_code
