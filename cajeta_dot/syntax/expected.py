"""What could stand at a place, in words: the tables know terminals, the reader wants `a statement`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .recover import Recovery

CLOSING = (";", ")", "]", "}", ",", "{")
CONTINUES = ("(", "[", ".", "++", "--", ":", "=", "#=", "<", "extends", "implements", "permits", "throws", "default")
SYMBOLS = {
    "member": "a member",
    "parameter": "a parameter",
    "item": "a statement",
    "statement": "a statement",
    "expression": "an expression",
    "type": "a type",
}
SPOKEN = {
    "NAME": "a name",
    "INTEGER": "a number",
    "FLOAT": "a number",
    "STRING": "a string",
    "CHARACTER": "a character",
    "OPEN": "`<`",
    "SHARED": "`shared`",
    "$END": "the end of the file",
}
NEVER_SAID = ("CLOSE_TIGHT", "MARKS_PACKAGE", "MUT", "NON_SEALED")  # parts of what is said, or words that few expect
OPERATORS = (
    ("an operator", "+ - * / % << < > <= >= == != & ^ | && || ?"),
    ("an operator", "+ - * / % << & ^ |"),
    ("an assignment", "= #= += -= *= /= %= &= |= ^= <<= >>= >>>="),
)


def say_expected(state: Recovery) -> tuple[str, ...]:
    """All that could come next, the likeliest first. Never empty: a state that takes nothing does not exist."""
    machine = state.machine
    wanted = {terminal for terminal in range(len(machine.names)) if state.accepts(terminal)} - {machine.error}
    groups = [(words, set(machine.first[symbol]) - {machine.error}) for symbol, words in SYMBOLS.items()]
    groups += [(words, {machine.by_text[text] for text in texts.split()}) for words, texts in OPERATORS]
    covered = {machine.number[name] for name in NEVER_SAID}
    said: list[str] = []
    for words, terminals in groups:
        if terminals <= wanted and not terminals <= covered:
            covered |= terminals
            said.append(words)
    if "an expression" in said:  # a list in braces may stand in some of the places
        covered.add(machine.by_text["{"])
    closing = [f"`{text}`" for text in CLOSING if machine.by_text[text] in wanted - covered]
    if not closing and machine.by_text[":"] in wanted - covered:
        closing = ["`:`"]
    if closing:  # what was begun may end here: do not list all the ways in which it could go on
        covered |= {machine.by_text[text] for text in CONTINUES} | {machine.number["OPEN"]}
        said = [words for words in said if words not in dict(OPERATORS)]
    others = {_say_terminal(state, terminal) for terminal in wanted - covered} - set(closing)
    return (*closing, *said, *sorted(others, key=lambda words: (words.startswith("`"), words)))


def _say_terminal(state: Recovery, terminal: int) -> str:
    text = state.machine.texts.get(terminal)
    return f"`{text}`" if text else SPOKEN.get(state.machine.names[terminal], state.machine.names[terminal])
