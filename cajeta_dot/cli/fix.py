"""`--fix` and `--diff`: what the helps of diagnostics propose, made in the inputs or shown as a difference.

Each round makes what can be made together; what stood in its way, and what shows only then, is for the next one. What a
target has to say is not asked: its helps hold no edits.
"""

from __future__ import annotations

from ..diagnostics import Reporter
from ..diagnostics.edits import apply_edits, choose_helps
from ..diagnostics.rules import USAGE
from ..diagnostics.switches import apply_switches
from ..driver import BYTE_ORDER_MARK, check_source
from ..source import Source
from .files import STREAM, print_output, rewrite
from .messages import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..diagnostics import Diagnostic
    from .session import Session

MAX_ROUNDS = 10
SAFE, UNSAFE = "machine", "unsafe"  # values of --fix


def fix_inputs(session: Session) -> None:
    """Mends every input that there is help for, or prints the differences. Raises Refusal or WriteError."""
    files = list(dict.fromkeys(session.need_files()))
    if STREAM in files and session.arguments.verb != "check" and not session.arguments.get("diff"):
        raise Refusal(USAGE, "`--fix` can't change standard input", "`cajetac check --fix -` prints it as it then is")
    inputs: dict[str, Source] = {}
    for path in files:
        session.contents[path] = session.read_bytes(path)
        source, reporter = session.read(path)
        if not reporter.failed:  # else it is no text, or more than is read
            inputs[path] = source
    differences: list[str] = []
    for (path, source), (text, count) in zip(inputs.items(), _fix(session, [*inputs.values()]), strict=True):
        old = session.contents[path]
        mark = BYTE_ORDER_MARK if old.startswith(BYTE_ORDER_MARK) else b""
        new = mark + text.encode() if count else old
        if session.arguments.get("diff"):
            differences += _write_difference(source.name, old, new)
            continue
        session.contents[path] = new
        if count and path != STREAM:
            rewrite(path, new)
            session.messages.tell(f"applied {count} {'fix' if count == 1 else 'fixes'} to `{path}`\n")
        elif path == STREAM:
            print_output(new)
    if differences:
        print_output("".join(differences))


def _fix(session: Session, sources: list[Source]) -> list[tuple[str, int]]:
    """For each source the text after all rounds, and how many helps it took."""
    is_unsafe = session.arguments.get("fix", SAFE) == UNSAFE
    counts = [0] * len(sources)
    for _ in range(MAX_ROUNDS if sources else 0):
        found = apply_switches(_find(sources, session.values), session.messages.switches)
        before = sum(counts)
        for place, source in enumerate(sources):
            helps = choose_helps([diagnostic for diagnostic in found if diagnostic.source is source], is_unsafe)
            counts[place] += len(helps)
            if helps:
                sources[place] = Source(source.name, apply_edits(source.text, [edit for help in helps for edit in help.edits]))
                session.sources.append(sources[place])
        if sum(counts) == before:
            break
    return [(source.text, count) for source, count in zip(sources, counts, strict=True)]


def _find(sources: Sequence[Source], values: Mapping[str, int]) -> list[Diagnostic]:
    """All that is wrong with the inputs, which see each other's classes."""
    if len(sources) == 1:
        reporter = Reporter(sources[0])
        check_source(sources[0], reporter, values)
        return reporter.in_order()
    from ..files import Files

    return Files([(source, Reporter(source)) for source in sources], values).found()


def _write_difference(name: str, old: bytes, new: bytes) -> Iterator[str]:
    """A unified diff, which `patch -p0` takes; nothing where nothing changed."""
    from difflib import unified_diff

    for line in unified_diff(_split_lines(old), _split_lines(new), name, name) if old != new else ():
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _split_lines(content: bytes) -> Sequence[str]:
    """Lines with their ends. No other character than a line feed ends one."""
    *lines, last = content.decode().split("\n")
    return [*(line + "\n" for line in lines), *([last] if last else [])]
