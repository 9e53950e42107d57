"""What to do about a token that does not fit: a table of repairs, tried in order, each for one kind of slip.

It knows brackets, `;`, `for`, `@`, and what a name is; what could stand somewhere it asks the tables. A repair looks at the
state, and either leaves it alone and returns False, or reports, changes it and returns True.
"""

from __future__ import annotations

import re

from ..diagnostics import Edit, nearest
from ..diagnostics.rules import (
    CLOSES_NOTHING,
    MISSING_SEMICOLON,
    NOT_CLOSED,
    RESERVED_WORD,
    SYNTAX,
    TEXT_NOT_CLOSED,
    UNKNOWN_CHARACTER,
)
from ..types import SCALARS
from .elsewhere import translate_type
from .expected import say_expected
from .foreign import find_foreign
from .hints import find_hint
from .lookalikes import find_meaning, find_partner
from .respell import respell
from .wider import find_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .recover import Bracket, Recovery

LOOK_AHEAD = 2000  # characters of the same statement
CALM = 3  # tokens that must fit after a guess before the next problem is believed
CLOSERS = {"(": ")", "[": "]", "{": "}"}

_TOKEN_OF_TEXT = r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?"""  # where the end is missing, up to that of the line
_BRACKET = re.compile(_TOKEN_OF_TEXT + r"|[()\[\]{};]")
_EXTRA_CLOSERS = re.compile(r"[)\]](?:\s*[)\]])*")
_LETTER_AND_BITS = re.compile(r"[iufs]\d+")
_NAME_IN_PARENTHESES = re.compile(r"\(\s*([^\W\d][\w$]*)\s*\)")
LEAST_LIKE_A_TYPE = 4  # letters of a word that may be a misspelt type
_STATEMENT_AHEAD = re.compile(
    r"""[^;{}\n"']*?(?:(?<![=!<>])=(?!=)|\+\+|--)   # an assignment
      | [\w$.<>, ]*\([^;{}\n]*\)\s*;                # a call""",
    re.VERBOSE,
)


# ---- characters and words


def replace_characters(state: Recovery) -> bool:
    """A character of no token. One that looks like another is read as that; what it was meant to be is not missed."""
    if state.kind != state.machine.bad or state.text[state.start] in "\"'":
        return False
    run, start, end = state.found(), state.start, state.end
    meanings = [find_meaning(character) for character in run]
    meant = "".join(meaning or "" for meaning in meanings) if all(meanings) else ""
    if len(meant) > len(run) > 1:
        meant = ""
    edits = (Edit(start, end, meant),) if meant else ()
    if meant[:1] in ("'", '"'):
        partner = find_partner(state.source, start, start + LOOK_AHEAD)
        edits = (Edit(start, start + 1, meant[0]), Edit(partner, partner + 1, meant[0])) if partner is not None else ()
    state.calm = 0
    unseen = () if run.isprintable() else (Edit(start, end, ""),)
    state.report(UNKNOWN_CHARACTER, start, end, run, edits=edits or unseen)
    if not edits:
        _drop_stranger(state)
    elif all(edit.end - edit.start == len(edit.text) for edit in edits):
        state.rewrite(edits)
    elif meant in state.machine.by_text:
        state.quiet_until = start
        state.read_as(state.machine.by_text[meant], start)
    else:
        state.drop(end)
    return True


def _drop_stranger(state: Recovery) -> None:
    """Leave a character out, or take it for an operator if one is needed between what stands around it."""
    operator, after = state.machine.by_text["*"], state.peek(state.end)
    if not state.accepts(after) and state.accepts(operator, after):
        state.quiet_until = state.start
        state.read_as(operator, state.start)
    else:
        state.drop(state.end)


def close_text(state: Recovery) -> bool:
    """A string that does not end on its line: it may have swallowed a `;` or a bracket, so those are not missed."""
    if state.kind != state.machine.bad:
        return False
    string = state.machine.number["STRING"]
    state.calm = 0
    state.report(TEXT_NOT_CLOSED, state.start, state.start + 1)
    if state.accepts(string):
        state.quiet_until = state.find_next(state.end)
        state.read_as(string, state.found())
    else:
        state.drop(state.end)
    return True


def skip_foreign(state: Recovery) -> bool:
    """A construct outside the dialect is no mistake, except where it hides a kernel."""
    if state.kind == state.machine.bad or state.found() in state.reserved:
        return False
    foreign = find_foreign(state)
    in_body, begun = state.find_entry()
    if begun == state.refused and not foreign:
        return False
    rule = "member" if not in_body else "item" if begun < state.start else "statement"
    end = find_end(state.machine, state.text, begun, rule)
    if end is not None and end <= state.start:
        end = None
    if (foreign is None and end is None) or state.hides_kernel(in_body, begun, end):
        state.refused = begun
        return False
    what = "a declaration without a block around it" if state.found() in SCALARS else f"`{state.found()}` in this place"
    foreign = foreign or (what, state.start, state.end)
    return state.skip(foreign, end)


def read_previous_as_name(state: Recovery) -> bool:
    """A reserved word that was declared as a name, and began something else to the parser: `heap = heap + 1`."""
    if not state.values or type(state.values[-1]) is not str or state.values[-1] not in state.reserved:
        return False
    row = state.row
    gotos = state.stack[-1]
    value, start = state.unshift()
    if state.accepts(state.machine.number["NAME"], state.kind):
        state.feed(state.machine.number["NAME"], value, start)
        return True
    state.row = row
    state.stack.append(gotos)
    state.values.append(value)
    state.value_starts.append(start)
    return False


def read_word_as_name(state: Recovery) -> bool:
    """A reserved word where a name can stand. One error for each word: where it is declared, it will be used."""
    machine, word = state.machine, state.found()
    never_used = state.kind in machine.first["reserved"]
    if not state.is_keyword() or not state.accepts(machine.number["NAME"]):
        return False
    declared = not state.accepts(machine.number["STRING"])
    if not never_used and word not in state.reserved:
        fits = state.accepts(machine.number["NAME"], state.peek(state.end))
        if not declared or not fits or state.is_on_new_line():
            return False
    if word not in state.reserved:
        state.report(RESERVED_WORD, state.start, state.end)
        state.reserved.add(word)
    state.read_as(machine.number["NAME"], word)
    if not declared:
        state.quiet_until = state.find_next(state.end)
    return True


def read_name_as_type(state: Recovery) -> bool:
    """A cast to a type of another language, `(i32) x`, or to a misspelt one: the checker knows what it is called here."""
    machine = state.machine
    if state.text[state.last_end - 1 : state.last_end] != ")" or not state.accepts(machine.by_text["*"], state.kind):
        return False
    opened = state.text.rfind("(", 0, state.last_end)
    name = _NAME_IN_PARENTHESES.fullmatch(state.text, opened, state.last_end)
    if name is None or not _means_type(name[1]) or state.values[-1:] != [state.last_end - 1] or state.is_on_new_line():
        return False
    end = state.last_end
    closing, _ = state.unshift()
    state.unshift()
    state.last_end = name.end(1)
    state.feed(machine.by_text["int32"], name[1], name.start(1))
    state.feed(machine.by_text[")"], closing, closing)
    state.last_end = end
    return True


def _means_type(name: str) -> bool:
    if translate_type(name) is not None or _LETTER_AND_BITS.fullmatch(name):
        return True
    return len(name) >= LEAST_LIKE_A_TYPE and nearest(name, SCALARS) is not None


def drop_hash(state: Recovery) -> bool:
    """`#Kernel` for `@Kernel`: in front of a member nothing can be moved."""
    machine, mark = state.machine, state.values[-2:-1]
    fits = state.kind in (*machine.first["word"], machine.by_text["@"])
    if not fits or not mark or type(mark[0]) is not int or state.text[mark[0]] != "#":
        return False
    at = mark[0]
    state.report(SYNTAX, at, at + 1, "#", expected=("a member",))
    state.unshift()
    state.unshift()
    return True


# ---- semicolons and brackets


def insert_missing(state: Recovery) -> bool:
    """A `;`, or the closing of brackets, or both."""
    by_text = state.machine.by_text
    brackets = state.open_in_statement()
    closed_later = _count_closed_later(state, brackets, state.start, state.start + LOOK_AHEAD)
    for count in range(len(brackets) - closed_later + 1):
        closers = [CLOSERS[bracket.mark] for bracket in brackets[:count]]
        for missing in (closers, [*closers, ";"]):
            if not missing or (missing[-1] == ";" and not _semicolon_fits(state, brackets, count)):
                continue
            if missing == [";"] and state.accepts(by_text["{"], state.kind):
                continue  # behind the head of a method
            if state.accepts(*(by_text[text] for text in missing), state.kind):
                _report_missing(state, brackets[:count])
                for text in missing:
                    state.invent(by_text[text])
                return True
    return False


def _report_missing(state: Recovery, brackets: list[Bracket]) -> None:
    place = state.last_end
    if not brackets:
        in_for = any(bracket.before == "for" for bracket in state.open_in_statement()[:1])
        what = "this part of the `for`" if in_for else "this statement" if state.is_in_body() else "this declaration"
        state.report(MISSING_SEMICOLON, place, place, expected=(what,), edits=(Edit(place, place, ";"),))
    elif all(bracket.at >= 0 for bracket in brackets):
        inner = brackets[0]
        state.report(NOT_CLOSED, inner.at, inner.at + 1, inner.mark, (f"`{CLOSERS[inner.mark]}`",), place)


def _count_closed_later(state: Recovery, brackets: list[Bracket], start: int, end: int) -> int:
    """How many of the open brackets are closed up to an offset, by the rest of the statement."""
    in_for = any(bracket.before == "for" for bracket in brackets)
    depth = later = 0
    for match in _BRACKET.finditer(state.text, start, end):
        mark = match[0]
        if mark in "([":
            depth += 1
        elif mark in ")]" and depth:
            depth -= 1
        elif mark in ")]" and later < len(brackets) and CLOSERS[brackets[later].mark] == mark:
            later += 1
        elif mark in "{}" or (mark == ";" and not in_for):
            break
    return later


def _semicolon_fits(state: Recovery, brackets: list[Bracket], closed: int) -> bool:
    """May a statement end here? Then the token at hand begins a line, or looks like the beginning of the next statement."""
    if closed == 0 and brackets and brackets[0].before == "for":
        return True
    if state.kind in (state.machine.by_text["}"], state.machine.end) or state.is_on_new_line():
        return True
    is_name = state.kind == state.machine.number["NAME"]
    if is_name and not _STATEMENT_AHEAD.match(state.text, state.end, state.end + LOOK_AHEAD):
        return False
    return (is_name or state.is_keyword()) and state.is_in_body()


def drop_semicolon(state: Recovery) -> bool:
    """A `;` for a `,`, or within brackets that the rest of the line closes, or between a head and its block."""
    by_text, start, end = state.machine.by_text, state.start, state.end
    if state.kind != by_text[";"]:
        return False
    following, brackets = state.peek(end), state.open_in_statement()
    if not brackets:
        if following != by_text["{"] or not state.accepts(following):
            return False
    elif any(bracket.at < 0 or bracket.before == "for" for bracket in brackets) or not _line_closes(state, brackets):
        return False
    comma = by_text[","]
    is_comma = bool(brackets) and state.accepts(comma, following)
    edits = (Edit(start, end, "," if is_comma else ""),)
    expected = ("`,`",) if is_comma else say_expected(state)
    state.report(SYNTAX, start, end, expected=expected, edits=edits, help="use `,`" if is_comma else "remove it")
    if is_comma:
        state.read_as(comma, start)
    else:
        state.drop(end)
        state.calm = CALM
    return True


def _line_closes(state: Recovery, brackets: list[Bracket]) -> bool:
    """Does what follows on the line, up to the end of a statement, close just the brackets that are open?"""
    line_end = state.text.find("\n", state.end)
    return _count_closed_later(state, brackets, state.end, line_end if line_end >= 0 else len(state.text)) == len(brackets)


def drop_closer(state: Recovery) -> bool:
    """A closing bracket that was never opened, or the wrong one."""
    start, end = state.start, state.end
    by_text = state.machine.by_text
    if state.kind == by_text["}"] and not state.open_brackets():
        last = state.text.rfind("}", 0, start)
        edits = (Edit(start, end, ""),)
        state.report(CLOSES_NOTHING, start, end, other=last + 1 if last >= 0 else None, edits=edits)
        state.drop(end)
        return True
    if state.kind not in (by_text[")"], by_text["]"]):
        return False
    brackets = state.open_in_statement()
    if not brackets:
        extra = _EXTRA_CLOSERS.match(state.text, start)
        end = extra.end() if extra else end
    elif brackets[0].at >= 0 and state.accepts(by_text[CLOSERS[brackets[0].mark]], state.peek(end)):
        _report_missing(state, brackets[:1])
        state.read_as(by_text[CLOSERS[brackets[0].mark]], start)
        return True
    if any(CLOSERS[bracket.mark] == state.found() for bracket in brackets) or not state.accepts(state.peek(end)):
        return False
    state.report(CLOSES_NOTHING, start, end, state.source[start:end], edits=(Edit(start, end, ""),))
    state.drop(end)
    return True


def close_block(state: Recovery) -> bool:
    """A member where a statement is expected: the body of the method before it was not closed."""
    closing = state.machine.by_text["}"]
    braces = [bracket for bracket in state.open_brackets() if bracket.mark == "{"]
    if not state.is_keyword() or not state.accepts(state.machine.error) or state.text.count("{") <= state.text.count("}"):
        return False
    for count in range(1, len(braces)):
        if state.accepts(*[closing] * count, state.kind):
            inner = braces[0].at
            if inner >= 0:
                state.report(NOT_CLOSED, inner, inner + 1, "{", ("`}`",), state.last_end)
            for _ in range(count):
                state.invent(closing)
            return True
    return False


# ---- everything else


def drop_at_sign(state: Recovery) -> bool:
    """An `@` that begins no annotation."""
    if state.found() == "@" and not state.text[state.end : state.end + 1].isalpha():
        state.report(UNKNOWN_CHARACTER, state.start, state.end)
        _drop_stranger(state)
        return True
    before = state.last_end - 1
    if state.text[before : state.last_end] != "@":
        return False
    state.report(UNKNOWN_CHARACTER, before, state.last_end, "@")
    return state.skip()


def report_unexpected(state: Recovery) -> bool:
    """Say what could stand here. Never a repair by itself: what comes next in the table goes on from here."""
    expected = say_expected(state)
    if state.kind == state.machine.end:
        opened = state.open_brackets()
        if opened and opened[0].at >= 0:
            state.report_open(opened[0].at)
            return False
    help, edits = find_hint(state, expected)
    if state.accepts(state.machine.error):  # nothing was begun, so nothing is missing behind the token before
        state.report(SYNTAX, state.start, state.end, expected=expected, edits=edits, help=help)
    else:
        state.report(SYNTAX, state.last_end, state.last_end, expected=expected, edits=edits, help=help)
    return False


def insert_token(state: Recovery) -> bool:
    """A comma, a name, or the opening or closing of something, if the token at hand fits behind it."""
    number, by_text = state.machine.number, state.machine.by_text
    candidates = [by_text[","], number["NAME"]]
    lacks_brace = state.text.count("{") < state.text.count("}")
    if lacks_brace and not state.accepts(by_text["class"]):  # else the block would be a member of its own
        candidates.append(by_text["{"])
    if say_expected(state) == ("`(`",):
        candidates.append(by_text["("])
    if not state.accepts(by_text[">"], number["INTEGER"]):  # it closes type arguments, it doesn't compare
        candidates.insert(0, by_text[">"])
    if _is_doubled(state) and state.accepts(state.peek(state.end)):
        return False  # to be dropped
    for terminal in candidates:
        if state.accepts(terminal, state.kind):
            state.invent(terminal)
            state.calm = CALM
            return True
    return False


def _is_doubled(state: Recovery) -> bool:
    """Is the token at hand the same as the one before?"""
    return state.found() != "" and state.text.endswith(state.found(), 0, state.last_end)


def drop_token(state: Recovery) -> bool:
    """The token at hand, if the one behind it fits. Not one that a block or a statement begins or ends with.

    But a `{` may be one too many.
    """
    found, first = state.found(), state.machine.first
    is_doubled = _is_doubled(state)
    is_modifier = state.kind in first["word"] and state.kind not in first["item"]
    is_surplus = found == "{" and state.is_in_body() and state.text.count("{") > state.text.count("}")
    may_drop_word = found == "else" or is_doubled or is_modifier
    if (found in ("{", "}", ";", "") and not is_surplus) or (state.is_keyword() and not may_drop_word):
        return False
    if not state.accepts(state.peek(state.end)):
        return False
    state.drop(state.end)
    state.calm = CALM
    return True


def skip(state: Recovery) -> bool:
    """All of the statement or the member."""
    return state.skip()


REPAIRS: tuple[Callable[[Recovery], bool], ...] = (
    replace_characters,
    close_text,
    read_previous_as_name,
    read_word_as_name,
    read_name_as_type,
    drop_hash,
    respell,
    drop_semicolon,
    insert_missing,
    drop_closer,
    close_block,
    drop_at_sign,
    report_unexpected,
    insert_token,
    drop_token,
    skip,
)
