"""What to do about a token that does not fit, where habit tells why it is there: how the same is written here."""

from __future__ import annotations

import re

from ..diagnostics import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .recover import Recovery

    Hint = tuple[str, tuple[Edit, ...]]

LOOK_BACK = 500  # characters
NOTHING: Hint = "", ()
_ELSE_WITH_CONDITION = re.compile(r"(?<![\w$])else(?=\s*\([^{};]*\)\s*\Z)")
_CONDITION = re.compile(r"[^\n{};]*?(?=\s*\{)")
_WORD_BEFORE = re.compile(r"(?:(?<=\W)|\A)([^\W\d][\w$]*)\Z")
_TYPE_BEHIND = re.compile(r"\s*([\w$]+(?:<[\w\s,]*>)?(?:\[\])?)")
_BEGINS_OPERAND = re.compile(r"(?:[=(\[,]|(?<!\w)return)\Z")


def find_hint(state: Recovery, expected: tuple[str, ...]) -> Hint:
    """A sentence, and edits if it is plain what was meant."""
    hint = HINTS.get(state.found())
    if hint:
        return hint(state, expected)
    if expected == ("`(`",):
        return _parenthesize(state)
    return _cast(state, expected) if state.is_keyword() else NOTHING


def _read_pointer(state: Recovery, expected: tuple[str, ...]) -> Hint:
    if "an expression" in expected and not _BEGINS_OPERAND.search(_before(state)):
        return NOTHING
    if "an expression" in expected:
        return "there are no pointers here; an element of an array is `a[i]`", ()
    word = _word_before(state)
    element = word if word in state.machine.by_text else "int32"
    return f"there are no pointers here; an array is `KernelBuffer<{element}>` or `{element}[]`", ()


def _read_colon(state: Recovery, expected: tuple[str, ...]) -> Hint:
    del expected
    text, start, end = state.text, state.start, state.end
    if text[end : end + 1] == "=":
        return "assign with `=`", (Edit(start, end + 1, "="),)
    name, type = _WORD_BEFORE.search(_before(state)), _TYPE_BEHIND.match(text, end)
    if not name or not type or state.is_in_body() or not state.open_in_statement():
        return NOTHING
    written = f"{type[1]} {name[1]}"
    return f"the type stands in front: `{written}`", (Edit(state.last_end - len(name[1]), type.end(), written),)


def _read_equals(state: Recovery, expected: tuple[str, ...]) -> Hint:
    del expected
    start = state.start
    return ("assign with `=`", (Edit(start - 1, start, ""),)) if state.text[start - 1 : start] == ":" else NOTHING


def _read_brace(state: Recovery, expected: tuple[str, ...]) -> Hint:
    del expected
    from_ = max(state.start - LOOK_BACK, 0)
    match = _ELSE_WITH_CONDITION.search(state.text[from_ : state.start])
    if not match:
        return NOTHING
    place = from_ + match.end()
    return "a condition needs an `if`", (Edit(place, place, " if"),)


def _parenthesize(state: Recovery) -> Hint:
    """`if a > b {`"""
    condition = _CONDITION.match(state.text, state.start, state.start + LOOK_BACK)
    if _word_before(state) not in ("if", "while") or not condition or condition.end() == state.start:
        return NOTHING
    start, end = condition.span()
    return "put the condition in parentheses", (Edit(start, start, "("), Edit(end, end, ")"))


def _cast(state: Recovery, expected: tuple[str, ...]) -> Hint:
    """`int32(x)`"""
    if "an expression" not in expected or state.text[state.end : state.end + 1] != "(" or state.found() not in _CASTS:
        return NOTHING
    return "a cast has its type in parentheses", (Edit(state.start, state.end, f"({state.found()}) "),)


_CASTS = frozenset(f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64))
HINTS: dict[str, Callable[[Recovery, tuple[str, ...]], Hint]] = {
    "*": _read_pointer,
    "&": _read_pointer,
    ":": _read_colon,
    "=": _read_equals,
    "{": _read_brace,
}


def _before(state: Recovery) -> str:
    return state.text[max(state.last_end - LOOK_BACK, 0) : state.last_end]


def _word_before(state: Recovery) -> str:
    match = _WORD_BEFORE.search(_before(state))
    return match[1] if match else ""
