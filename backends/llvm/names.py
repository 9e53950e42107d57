"""Names that LLVM, object files and PTX accept, and that collide with nothing."""

from __future__ import annotations

import string

from cajeta_dot.backends.llvm.reserved import make_identifier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

_PLAIN = frozenset(string.ascii_letters + string.digits + "_$.")
# The C functions that compiled code may call: a method of such a name must not stand in for one.
_LIBRARY = ("floor", "ceil", "trunc", "round", "sqrt", "fma", "fmod")
LIBRARY = frozenset(
    [*_LIBRARY, *(name + "f" for name in _LIBRARY), "memcpy", "memmove", "memset", "memcmp", "bcmp", "calloc", "free"]
)


def quote(symbol: str) -> str:
    """A symbol as LLVM's text spells it behind `@`."""
    if set(symbol) <= _PLAIN and not symbol[0].isdigit():
        return symbol
    return '"' + "".join(c if c in _PLAIN else "".join(f"\\{b:02X}" for b in c.encode()) for c in symbol) + '"'


def clean(name: str) -> str:
    """A user's name in a form that needs no quotes; it is for readers only, and need not be unique."""
    return "".join(c if c in _PLAIN else "_" for c in name)


def internal_name(symbol: str, what: str) -> str:
    """A symbol for a part of a method. No exported name has two dots in a row; and what begins with `llvm.` is LLVM's own."""
    return f"{'.' if symbol.partition('.')[0] == 'llvm' else ''}{symbol}..{what}"


def export_name(symbol: str, taken: Container[str], *, is_plain: bool = False) -> str:
    """What a method is called outside: its symbol, where that is possible; otherwise something is added.

    It is a C identifier, `Class_method` where the symbol is `Class.method`. Where it must be plain, as in PTX, `$` stands for
    what is no letter of ASCII, and names of C have no meaning.
    """
    if not is_plain:
        symbol, more = make_identifier(symbol, external=True), "_"
    else:
        symbol, more = "".join("$" if c == "." else c if c in _PLAIN else f"${ord(c):x}" for c in symbol), "$"
        symbol = f"${symbol}" if symbol[:1].isdigit() else symbol
    while symbol in taken or symbol in LIBRARY:
        symbol += more
    return symbol
