"""What C's preprocessor and its types of several words leave in a text, taken out before it is parsed. Every offset stays."""

from __future__ import annotations

import re

from ..diagnostics import Edit
from ..diagnostics.rules import SYNTAX
from .problems import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .parse import Parser

MAX_REPORTED = 20  # as many as are shown
_TEXT = r""""[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"""
_DIRECTIVE = re.compile(
    r"""^[^\S\n]*(?P<name>\#[^\S\n]*(?:include(?=\s*[<"]) | (?:define|undef|ifdef|ifndef|elif|error|line)(?=\s+\w)
        | pragma(?=\s+\w+(?!\s*(?:[=;]|\#=))) | if(?=\s+[\w(!]) | (?:else|endif)(?=[^\S\n]*$)))(?:[^\\\n]|\\\n|\\)*""",
    re.MULTILINE | re.VERBOSE,
)
_DEFINE = re.compile(r"#\s*define\s+(\w+)[^\S\n]+(-?\d\w*)[^\S\n]*\Z")
_WORDS = r"(?:unsigned|signed|long|short)(?:[^\S\n]+(?:unsigned|signed|long|short|int|char|double))+"
_TYPE = re.compile(_TEXT + rf"|(?<![\w$.])(?P<type>{_WORDS})(?![\w$])")
_BLANK = re.compile(r"[^\n]")


def blank_directives(parser: Parser) -> None:
    """Report each directive, and go on as if it were not there."""

    def replace(match: re.Match[str]) -> str:
        start, end = match.span("name")
        found = "".join(match["name"].split())
        edits: tuple[Edit, ...] = ()
        help = _HELP.get(found[1:], "there is no preprocessor here")
        constant = _DEFINE.match(match[0].strip())
        if constant:
            help = f"a constant stands in a class: `static final int32 {constant[1]} = {constant[2]};`"
        elif found == "#pragma":
            edits = (Edit(match.start(), match.end(), ""),)
        expected = ("a member", "a statement")
        if len(parser.problems) < MAX_REPORTED:
            parser.problems.append(Problem(SYNTAX, start, end, found, start, expected, edits=edits, help=help))
        return _BLANK.sub(" ", match[0])

    parser.text = _DIRECTIVE.sub(replace, parser.text)


_HELP = {
    "include": "there is no preprocessor; name the other file on the command line too",
    "define": "there is no preprocessor; a constant is `static final`, and a function a static method",
    "pragma": "remove it",
}


def join_types(parser: Parser) -> int | None:
    """`unsigned int` as one word, which the checker knows as no type of ours. Where the first one is, if there is one."""
    first: int | None = None

    def replace(match: re.Match[str]) -> str:
        nonlocal first
        if match["type"] is None:
            return match[0]
        first = match.start() if first is None else first
        return re.sub(r"\s", "_", match[0])

    parser.text = _TYPE.sub(replace, parser.text)
    return first
