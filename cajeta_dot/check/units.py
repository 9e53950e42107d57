"""Files put together: each sees the classes of the others, and what is compiled is chosen among the methods of all."""

from __future__ import annotations

from cajeta_dot.ir import Program
from cajeta_dot.syntax import tree

from .program import ProgramChecker
from .reach import check_kernels, find_reached, order_calls, skip_callers, skip_circles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function
    from cajeta_dot.source import Source
    from cajeta_dot.syntax.tree import Unit

    from .program import ClassScope, Method

_SYMBOL_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.")


def check_units(units: Sequence[tuple[Unit, str]], reporter: Reporter, unread: frozenset[str]) -> list[ProgramChecker]:
    """Each unit, whose offsets are those of the reporter's source, with the name of its file. Reports everything.

    `unread` are classes of files that could not be parsed: what uses them is not complained about.
    """
    checkers = [ProgramChecker(unit, _find_stem(name), reporter) for unit, name in units]
    for checker in checkers:
        checker.unread = unread
        checker.collect()
    if len(checkers) > 1:
        _link(checkers)
    for checker in checkers:
        checker.check_heads()
    for checker in checkers:
        checker.check_bodies()
    methods = [method for checker in checkers for method in checker.all_methods]
    reached = find_reached(methods, reporter)
    skip_circles(methods, reached, checkers[0].skip)
    skip_callers(methods, checkers[0].skip, reporter)
    check_kernels(methods, reached, reporter)
    return checkers


def _find_stem(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2].partition(".")[0] or "Main"


def _link(checkers: Sequence[ProgramChecker]) -> None:
    """Every checker learns of the classes that only the others have."""
    known: dict[str, list[ClassScope]] = {}
    for checker in checkers:
        for name, scope in checker.classes.items():
            known.setdefault(name, []).append(scope)
    for checker in checkers:
        for name, scopes in known.items():
            if name in checker.classes:
                continue
            meant = scopes if len(scopes) == 1 else _find_meant(checker, name, scopes)
            if len(meant) == 1:
                checker.elsewhere[name] = meant[0]
            else:
                checker.ambiguous[name] = scopes
        checker.other_types.update(checker.elsewhere, checker.ambiguous)


def _find_meant(checker: ProgramChecker, name: str, scopes: Sequence[ClassScope]) -> list[ClassScope]:
    """Of classes of one name those that the file imports, else those of its own package."""
    imported = {_spell(one.name) for one in checker.unit.imports}
    meant = [scope for scope in scopes if f"{_spell(scope.program.unit.package)}.{name}" in imported]
    package = _spell(checker.unit.package)
    return meant or [scope for scope in scopes if _spell(scope.program.unit.package) == package]


def _spell(name: tree.Node | None) -> str:
    """A dotted name."""
    parts: list[str] = []
    while isinstance(name, tree.Member):
        parts.append(name.name)
        name = name.object
    return ".".join([*([name.text] if isinstance(name, tree.Name) else []), *reversed(parts)])


def assemble(checkers: Collection[ProgramChecker], source: Source) -> Program:
    """The program that these files are, with what their methods call in others. It has names for their own only."""
    methods = list_compiled(checkers)
    _name_symbols(methods)
    return Program(source, [m.function for m in methods if m.function], _name_entries(_list_own(checkers)))


def list_compiled(checkers: Iterable[ProgramChecker]) -> list[Method]:
    """The methods of these files, and what they call in others, callees before their callers."""
    return order_calls(_list_own(checkers))


def _list_own(checkers: Iterable[ProgramChecker]) -> list[Method]:
    return [m for checker in checkers for m in checker.all_methods if m.function and not m.outside]


def _name_entries(methods: Sequence[Method]) -> dict[str, Function]:
    entries = [m for m in methods if m.kind != "device"]
    names: dict[str, Function] = {}
    for full in (True, False):
        groups: dict[str, list[Method]] = {}
        for method in entries:
            groups.setdefault(method.full_name if full else method.name, []).append(method)
        for name, group in groups.items():
            for method in group if full or len(group) == 1 else ():
                assert method.function
                names[name if len(group) == 1 else f"{name}/{len(method.function.params)}"] = method.function
    return names


def _name_symbols(methods: Sequence[Method]) -> None:
    """The plain name where it is unique, else with its class, and with the parameter count if overloaded."""
    seen: dict[str, int] = {}
    for method in methods:
        seen[method.name] = seen.get(method.name, 0) + 1
    taken: set[str] = set()
    for method in methods:
        assert method.function
        symbol = method.name if seen[method.name] == 1 else method.full_name
        if method.scope and len(method.scope.methods[method.name]) > 1:
            symbol += f".{len(method.function.params)}"
        symbol = "".join(c if c in _SYMBOL_LETTERS else f"_u{ord(c):x}_" for c in symbol)
        method.function.symbol = symbol if symbol not in taken else f"{symbol}.{method.function.start}"
        taken.add(method.function.symbol)
