"""Constructs of the full language that are outside the dialect, known by a word or two: no syntax errors, but not read either.

A method of the host may hold them and is then skipped as a whole (LANGUAGE, section 2); a kernel may not. Both is for the
checker to say. Here they are only told from mistakes. What the wider language has around methods is in the grammar.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .recover import Recovery

# Reserved words that begin a construct, and what has to follow: else the word is taken for a name.
_WORD = re.compile(
    r"""(switch)\s*\( | (assert)\s+[\w$(!"] | (instanceof)\s+[\w$] | (super)\s*[.(<] | (scope)\s*[({]
      | (await|async|spawn|detach|goto|yield)\s+[\w$({"]""",
    re.VERBOSE,
)
_LOCAL_CLASS = re.compile(r"(?:class|enum|interface|structure|record|view|annotation)\s+[\w$]+\s*(?:[({<]|extends|implements)")
_LAMBDA = re.compile(r"\([\w\s$.,<>\[\]#]{0,200}\)\s*->")
_FOR_EACH = re.compile(r"\([^;(){}?]{0,200}:")
_AGGREGATE = re.compile(r"\{\s*(?:[\w$]+\s*:(?!:)|\})")
_NAME_OR_TYPE = re.compile(r"(?:[\w$]+|>)\Z")
_NEW = re.compile(r"(?<![\w$.])new(?:\s+[\w$.<>, ]+)?\Z")
_CLASS_CAST = re.compile(
    r"""\(\s*(?: (?:[\w$]+\s*[.&]\s*)+ [A-Z][\w$]*            # a qualified name
              | [A-Z](?: [\w$]*[a-z][\w$]* | \d? )  )\s*\)\Z   # `Name`, `T`, `T1`, but no `NAME`: that is a constant""",
    re.VERBOSE,
)
_TYPE_ARGUMENTS = re.compile(r"<[\w\s$.<>\[\]]*,[\w\s$.,<>\[\]]{0,80}>\s*\(")
_PARENT_VIEW = re.compile(r"(?<![\w$])this\s*<[\w\s$.,<>]*>\Z")
_LONGEST_BEFORE = 100  # characters looked at in front of a token
_BEHIND_A_DOT = ("class", "heap", "new", "stack", "super", "this")


def find_foreign(state: Recovery) -> tuple[str, int, int] | None:
    """What it is and where it was noticed, if the token that does not fit belongs to such a construct."""
    text, start, end, last_end, found = state.text, state.start, state.end, state.last_end, state.found()
    if not found or state.kind == state.machine.bad:
        return None
    if found in _BEHIND_A_DOT and text[last_end - 1] == ".":
        return f"`.{found}`", last_end - 1, end
    is_local_class = _LOCAL_CLASS.match(text, start) and state.is_in_body()
    if (is_local_class or _WORD.match(text, start)) and found not in state.reserved:
        return f"`{found}`", start, end
    brackets = state.open_in_statement()
    opened = brackets[0] if brackets and brackets[0].mark == "(" and brackets[0].at >= 0 else None
    lambda_head = _LAMBDA.match(text, opened.at if opened else start) or _LAMBDA.match(text, start)
    if lambda_head or found == "->":
        return "a lambda", *(lambda_head.span() if lambda_head else (start, end))
    if found == ":" and ":" in (text[start - 1], text[start + 1 : start + 2]):
        return "a method reference", start, end
    if opened and opened.before == "for" and _FOR_EACH.match(text, opened.at):
        return "a for-each loop", start, end
    before = text[max(last_end - _LONGEST_BEFORE, 0) : last_end]
    if found == "{":
        return _find_object(state, before)
    if found == "." and _PARENT_VIEW.search(before):
        return "`this<…>`", last_end - 1, end
    if _NEW.search(before) and (found[0].isidentifier() or found == "("):
        return "`new`", start, end
    if found == "," and "<" in before:
        types = _TYPE_ARGUMENTS.match(text, last_end - len(before) + before.rfind("<"))
        if types and types.end() > start:
            return "a call with types", start, end
    cast = _CLASS_CAST.search(before[before.rfind("(") :]) if before.endswith(")") and "(" in before else None
    if cast and (found[0].isidentifier() or found[0] in "\"'(") and not state.is_on_new_line():
        return "a cast to a class", last_end - len(cast[0]), last_end
    return None


def _find_object(state: Recovery, before: str) -> tuple[str, int, int] | None:
    """An object made of fields, `Name { field: 1 }`, or of a class without a name, `heap Name() { … }`."""
    construct = state.values[-5:]  # `heap`, the type, `(`, arguments, `)`
    if before.endswith(")") and construct[:1] in (["heap"], ["stack"]) and type(construct[-1]) is int:
        return "a class without a name", state.start, state.end
    name = _NAME_OR_TYPE.search(before)
    if name and name[0] not in state.machine.by_text and _AGGREGATE.match(state.text, state.start):
        return "an object made of fields", state.start, state.end
    return None
