"""Rules for make: which outputs are to be made again when which inputs change (`-M`, `-MD`, `--emit deps`)."""

from __future__ import annotations

import os
import re

from ..diagnostics.rules import USAGE
from .files import STREAM
from .messages import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .build import Output
    from .session import Session

KIND = "deps"


def write_rule(made: Iterable[str], inputs: Iterable[str]) -> str:
    """One rule. Standard input is no file that could change."""
    before = [_quote(path).replace("%", r"\%") for path in made]  # which would make a pattern of it
    behind = [_quote(path) for path in inputs if path != STREAM]
    return f"{' '.join(before)}:{''.join(f' {path}' for path in behind)}\n"


def _quote(path: str) -> str:
    r"""As GNU make reads it: `$$`, and a backslash before spaces, `#` and `:`, before which backslashes count twice."""
    return re.sub(r"(\\*)([ \t#:])", r"\1\1\\\2", path.replace("$", "$$"))


def write_rules(session: Session, outputs: Sequence[Output], only: str = "") -> str:
    """A rule for each input, or for only one: what -MT says or its outputs, and itself before all that is compiled with it."""
    files = dict.fromkeys(output.file for output in outputs)
    rules: list[str] = []
    for file in [only] if only else files:
        made = [output for output in outputs if output.file == file and output.kind != KIND]
        named = session.arguments.get("rule_target") or [_name(output) for output in made] or [_default_name(session, file)]
        rules.append(write_rule(dict.fromkeys(named), dict.fromkeys([file, *files])))
    return "".join(rules)


def place_rules(session: Session, outputs: Sequence[Output]) -> str:
    """Where the rules go; empty if none are asked for. Raises Refusal where that can't be told."""
    asked, place = session.arguments.get("rules", ""), session.arguments.get("rule_file", "")
    if not asked and (place or session.arguments.get("rule_target")):
        option = "-MF" if place else "-MT"
        raise Refusal(USAGE, f"`{option}` is about a rule for make, and none is asked for", "add `-M` or `-MD`")
    if place or asked != "beside":
        return place or (STREAM if asked else "")
    first = outputs[0]
    if first.path == STREAM:
        raise Refusal(USAGE, "`-MD` writes beside the output, and that goes to stdout", "say where: `-MF FILE`")
    if len({output.file for output in outputs}) > 1:
        raise Refusal(USAGE, "`-MD` needs one file for the rules of several inputs", "say which: `-MF FILE`")
    return os.path.splitext(first.path)[0] + ".d"


def _name(output: Output) -> str:
    """What is made. What goes to stdout is meant to become a file beside its input."""
    from .build import EXTENSIONS

    return output.path if output.path != STREAM else _stem(output.file) + EXTENSIONS.get(output.kind, f".{output.kind}")


def _default_name(session: Session, file: str) -> str:
    from .build import EXTENSIONS

    return _stem(file) + EXTENSIONS.get(next(iter(session.resolve_targets()[0][1].kinds), ""), "")


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]
