"""`cajetac disasm`: the instructions of one kernel beside the lines that they were made for."""

from __future__ import annotations

import sys

from ..diagnostics.rules import EMIT_CONTRADICTION
from ..driver import all_targets
from ..listing import disassemble, find_kind
from .messages import Refusal, decide_colour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .session import Session


def show_instructions(session: Session) -> None:
    """Raises Refusal where the target has none, or makes no function of its own of what is named."""
    file = session.need_one_file()
    backend, info = session.resolve_one_target()
    if not find_kind(info):
        others = ", ".join(f"`{other.name}`" for _, other in all_targets() if find_kind(other))
        raise Refusal(EMIT_CONTRADICTION, f"target `{info.name}` has no instructions to show", f"these have: {others}")
    ((_, reporter, program),) = session.check([file])
    listing = None
    if program:
        function = session.find_entry(program.names)
        try:
            listing = disassemble(program, function, backend, info, session.read_options(), reporter)
        except ValueError as error:
            raise Refusal(EMIT_CONTRADICTION, str(error)) from error
    session.show(reporter.in_order())
    if listing and not session.messages.errors:
        colour = decide_colour(session.arguments.get("color", "auto"), sys.stdout)
        session.answer(listing.write(colour), listing.describe())
