"""Constants that get another value than the text gives them: what `-D NAME=INT` asks for.

It is done on the trees, before anything is checked, so that every use of a constant sees the value: lanes of a vector, the
length of shared memory, another constant.
"""

from __future__ import annotations

from cajeta_dot.diagnostics import Help, Label, nearest
from cajeta_dot.diagnostics.rules import USAGE
from cajeta_dot.syntax import tree
from cajeta_dot.types import SCALARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cajeta_dot.diagnostics import Reporter

    Found = tuple[str, tree.Field, tree.Declarator]


def define(units: Sequence[tree.Unit], values: Mapping[str, int], reporter: Reporter, whole: bool = True) -> None:
    """Gives `static final` integer fields, named `NAME` or `Class.NAME`, their values.

    A name that is no such field, or one of several, and a value that its type doesn't have are reported (E0003). Where not
    all files could be read (`whole` is false), a name may be in another.
    """
    fields = [found for unit in units for member in unit.members for found in _find_fields(member, "")]
    for name, value in values.items():
        owner, _, simple = name.rpartition(".")
        meant = [one for one in fields if one[2].name == simple and owner in ("", one[0], one[0].rpartition(".")[2])]
        if len(meant) == 1:
            _give(name, value, *meant[0], reporter)
        elif meant:
            places = [Label(declarator.start, declarator.end, f"`{_spell(one, simple)}`") for one, _, declarator in meant]
            helps = [Help(f"name one of them, `-D {_spell(meant[0][0], simple)}={value}`")]
            message = f"`-D {name}={value}`: {len(meant)} constants are called that"
            reporter.report(USAGE, message, places[0], places[1:], helps=helps)
        elif whole:
            near = nearest(simple, [one[2].name for one in fields])
            helps = [Help(f"did you mean `{near}`?")] if near else [Help("it replaces the value of a `static final` integer")]
            reporter.report(USAGE, f"`-D {name}={value}`: no constant `{name}`", None, helps=helps)


def _find_fields(member: tree.Node, owner: str) -> Iterator[Found]:
    if isinstance(member, tree.Class):
        inside = _spell(owner, member.name.text)
        for inner in member.members:
            yield from _find_fields(inner, inside)
    elif isinstance(member, tree.Field):
        for declarator in member.declarators:
            yield owner, member, declarator


def _spell(owner: str, name: str) -> str:
    return f"{owner}.{name}" if owner else name


def _give(name: str, value: int, owner: str, field: tree.Field, declarator: tree.Declarator, reporter: Reporter) -> None:
    type = SCALARS.get(field.type.name) if isinstance(field.type, tree.PrimitiveType) else None
    words = {modifier.word for modifier in field.modifiers if isinstance(modifier, tree.Modifier)}
    wrong = ""
    if declarator.value is None or not {"final", "const"} & words:
        wrong = "is not `final`"
    elif type is None or not type.is_integer or declarator.brackets:
        wrong = "is not an integer"
    elif not type.low <= value <= type.high:
        wrong = f"is {type}, {type.low}..{type.high}"
    if wrong or not declarator.value:
        label = Label(declarator.start, declarator.end, f"`{_spell(owner, declarator.name)}` {wrong}")
        reporter.report(USAGE, f"`-D {name}={value}` can't be: the constant {wrong}", label)
        return
    start, end = declarator.value.start, declarator.value.end
    literal: tree.Node = tree.Literal(start, end, "integer", str(abs(value)))
    # In place, since nobody has seen the tree yet.
    object.__setattr__(declarator, "value", tree.Unary(start, end, "-", literal, False) if value < 0 else literal)
