"""Words that were meant as others: misspelt keywords, and words of other languages where ours has a mark or another word.

A misspelt keyword is a name to the parser, and mostly shows some tokens later: `whlie (i < n) {` at the brace. So all that was
read of the statement or the member is tried again with another word in its place.
"""

from __future__ import annotations

from functools import lru_cache

from ..diagnostics import Edit, nearest
from ..diagnostics.rules import SYNTAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .recover import Recovery

    Token = tuple[int, int, int]  # kind, start, end

MAX_TOKENS = 40  # of the statement, up to the token that does not fit
SHORTEST, SHORT = 3, 5  # letters of a word that may be a misspelt one; up to so many, it must be very near
KEYWORDS = (
    *("abstract", "break", "class", "const", "continue", "do", "else", "enum", "extends", "final", "for", "if", "import"),
    *("interface", "package", "private", "protected", "public", "return", "static", "void", "while"),
)
# What other languages write for one of our words or marks.
MEANT = {"and": "&&", "or": "||", "not": "!", "struct": "class"}
ELSE_IF = ("elif", "elsif", "elseif", "elsf")
# What they write in front of a declaration, and what that is here.
MARKS = {
    **dict.fromkeys(("__global__", "__kernel", "kernel", "Kernel"), "@Kernel static"),
    **dict.fromkeys(("__device__", "device", "Device", "__forceinline__", "inline", "__inline__"), "@Device static"),
    "constexpr": "static final",
}
HELP = {
    **dict.fromkeys(("__shared__", "__local", "groupshared"), "shared memory is `Shared<int32> s = shared int32[64];`"),
    **dict.fromkeys(("register", "volatile", "restrict", "__restrict__", "auto", "let", "var", "mut"), "leave it out"),
}


def respell(state: Recovery) -> bool:
    """Take one word of what was begun for the one that was meant, or leave it out."""
    machine, text = state.machine, state.text
    begun = state.find_entry()[1]
    tokens = _read(state, begun)
    if not tokens:
        return False
    names = [index for index, token in enumerate(tokens) if token[0] == machine.number["NAME"]]
    for index in reversed(names):
        _, start, end = tokens[index]
        meant = _find_meant(text[start:end])
        if meant and _fits(state, tokens, index, meant):
            help = f"did you mean `{meant}`?"
            state.report(SYNTAX, start, end, text[start:end], (f"`{meant}`",), edits=(Edit(start, end, meant),), help=help)
            state.begin_again(begun, start, machine.by_text[meant])
            return True
    if names[:1] != [0] or len(tokens) < 2:
        return False
    return _read_else(state, tokens) or _drop_first(state, tokens)


def _read(state: Recovery, begun: int) -> list[Token]:
    """The tokens of what was begun, the one that does not fit is the last. Empty if there are too many."""
    tokens: list[Token] = []
    for kind, start, end in state.scan(begun):
        tokens.append((kind, start, end))
        if start >= state.start:
            return tokens
        if len(tokens) == MAX_TOKENS:
            break
    return []


@lru_cache(1000)
def _find_meant(word: str) -> str | None:
    if word in MEANT:
        return MEANT[word]
    if len(word) < SHORTEST:
        return None
    near = nearest(word, KEYWORDS)
    return near if near and near != word and (len(word) > SHORT or _is_one_slip(word.lower(), near)) else None


def _is_one_slip(a: str, b: str) -> bool:
    """Are only letters exchanged, or is one missing or too much?"""
    short, long = sorted((a, b), key=len)
    return sorted(a) == sorted(b) or any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _fits(state: Recovery, tokens: list[Token], index: int, meant: str) -> bool:
    kinds = [kind for kind, _, _ in tokens]
    kinds[index] = state.machine.by_text[meant]
    return state.accepts_from_entry(kinds) and (index < len(tokens) - 1 or state.accepts(kinds[-1], state.peek(state.end)))


def _read_else(state: Recovery, tokens: list[Token]) -> bool:
    """`elif (…)` behind a statement, and a misspelt `else`: what follows is read as a statement of its own."""
    _, start, end = tokens[0]
    word = state.text[start:end]
    kinds = [kind for kind, _, _ in tokens]
    if word in ELSE_IF and state.accepts_from_entry([state.machine.by_text["if"], *kinds[1:]]):
        meant, kind, place = "else if", state.machine.by_text["if"], start
    elif _find_meant(word) == "else" and state.accepts_from_entry(kinds[1:]):
        meant, kind, place = "else", kinds[1], tokens[1][1]
    else:
        return False
    state.report(SYNTAX, start, end, word, (f"`{meant}`",), edits=(Edit(start, end, meant),), help=f"did you mean `{meant}`?")
    state.begin_again(place, place, kind)
    return True


def _drop_first(state: Recovery, tokens: list[Token]) -> bool:
    """A word in front of a declaration that says nothing here: `__global__ void k()`."""
    _, start, end = tokens[0]
    last = tokens[-1]
    word = state.text[start:end]
    kinds = [kind for kind, _, _ in tokens]
    begins_declaration = state.is_keyword() or last[0] == state.machine.number["NAME"]
    if last[1] != tokens[1][1] or not begins_declaration or state.is_on_new_line() or not state.accepts_from_entry(kinds[1:]):
        return False
    in_body, _ = state.find_entry()
    mark = MARKS.get(word) if not in_body else None
    edits = (Edit(start, end, _complete(state, mark)),) if mark else ()
    help = f"write `{edits[0].text}`" if edits else HELP.get(word, "")
    state.report(SYNTAX, start, end, word, ("a statement" if in_body else "a member",), edits=edits, help=help)
    state.begin_again(last[1], last[1], last[0])
    return True


def _complete(state: Recovery, mark: str) -> str:
    """The mark without a `static` that is there already."""
    return mark.removesuffix(" static") if state.found() == "static" else mark
