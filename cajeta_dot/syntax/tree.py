"""The syntax tree: what the text says and where, nothing about what it means.

Every node begins with `start` and `end`, offsets into the text, the second behind the last character. Lists are tuples.
Parentheses leave no node. Left-deep chains (`a + b + …`, `a.b().c()…`) are as deep as they are long: no limit of the
parser bounds them, so whoever walks the tree must loop down the left side.
"""

from __future__ import annotations

from ..record import record


@record
class Node:
    start: int
    end: int


# ---- expressions


@record
class Name(Node):
    text: str


@record
class Member(Node):
    """`object.name`; `name` is the last thing in the span."""

    object: Node
    name: str


def simple_name(node: Node) -> str:
    """The last part of a dotted name."""
    match node:
        case Name(text=text):
            return text
        case Member(name=name):
            return name
        case _:
            return ""


@record
class Literal(Node):
    """`kind` is integer, float, string, character, boolean, null or this; `text` is as written."""

    kind: str
    text: str


@record
class Unary(Node):
    """The operator stands at `start`; `++` and `--` may stand behind (`postfix`)."""

    operator: str
    operand: Node
    postfix: bool


@record
class Binary(Node):
    operator: str
    operator_start: int
    left: Node
    right: Node


@record
class Assignment(Node):
    operator: str
    operator_start: int
    target: Node
    value: Node


@record
class Conditional(Node):
    condition: Node
    then: Node
    otherwise: Node


@record
class Cast(Node):
    type: Node
    operand: Node


@record
class Index(Node):
    object: Node
    index: Node


@record
class Call(Node):
    callee: Node
    type_arguments: tuple[Node, ...]
    arguments: tuple[Node, ...]


@record
class KeywordArgument(Node):
    name: str
    value: Node


@record
class Construct(Node):
    """`heap T(…)` or `stack T(…)`."""

    word: str
    type: Node
    arguments: tuple[Node, ...]


@record
class Allocate(Node):
    """`heap T[n]`, `stack T[n]` or `shared T[n]`."""

    word: str
    type: Node
    length: Node


@record
class ArrayLiteral(Node):
    """`[a, b]`, or `{a, b}` where a variable gets its first value."""

    elements: tuple[Node, ...]


# ---- types


@record
class PrimitiveType(Node):
    name: str


@record
class NamedType(Node):
    name: Node


@record
class GenericType(Node):
    """Arguments are types or constant expressions; a lone name is an expression, the checker decides."""

    name: Node
    arguments: tuple[Node, ...]


@record
class ArrayType(Node):
    element: Node


@record
class OtherType(Node):
    """A form of type that only the wider language has; `what` names it: "a wildcard"."""

    what: str


# ---- statements


@record
class Block(Node):
    items: tuple[Node, ...]


@record
class Declarator(Node):
    """`store` is `=` or `#=`, or empty where there is no value. `brackets` counts those behind the name: `int32 a[]`."""

    name: str
    store: str
    value: Node | None
    brackets: int


@record
class Declaration(Node):
    modifiers: tuple[Node, ...]
    type: Node
    declarators: tuple[Declarator, ...]


@record
class ExpressionStatement(Node):
    expression: Node


@record
class If(Node):
    condition: Node
    then: Node
    otherwise: Node | None


@record
class While(Node):
    condition: Node
    body: Node


@record
class DoWhile(Node):
    body: Node
    condition: Node


@record
class For(Node):
    start_with: tuple[Node, ...]
    condition: Node | None
    updates: tuple[Node, ...]
    body: Node


@record
class Jump(Node):
    """`break` or `continue`."""

    word: str
    label: Identifier | None


@record
class Return(Node):
    value: Node | None


@record
class Throw(Node):
    value: Node


@record
class Catch(Node):
    body: Block


@record
class Try(Node):
    """Only the blocks of it; what it declares and catches is outside the dialect."""

    body: Block
    catches: tuple[Catch, ...]
    finally_body: Block | None


@record
class Labeled(Node):
    label: str
    statement: Node


@record
class Empty(Node):
    pass


@record
class Bad(Node):
    """What was skipped after a syntax error, in place of a statement or a member."""


@record
class Foreign(Node):
    """A statement or a member that is, or holds, a construct outside the dialect. It is no syntax error.

    `what` names the construct: "a lambda", "`switch`". `what_start..what_end` is where it was noticed.
    """

    what: str
    what_start: int
    what_end: int


# ---- units and members


@record
class Identifier(Node):
    text: str


@record
class Modifier(Node):
    word: str


@record
class Annotation(Node):
    name: Node
    arguments: tuple[Node, ...]


@record
class Parameter(Node):
    """`default` is the value that a caller may leave out, None where there is none."""

    modifiers: tuple[Node, ...]
    type: Node
    name: Identifier
    default: Node | None


@record
class Method(Node):
    """`type_parameters` are the names in `T f<T>(…)`; `body` is None for `;`."""

    modifiers: tuple[Node, ...]
    type: Node
    name: Identifier
    type_parameters: tuple[Identifier, ...]
    parameters: tuple[Parameter, ...]
    throws: tuple[Node, ...]
    body: Block | None


@record
class Constructor(Node):
    modifiers: tuple[Node, ...]
    name: Identifier
    parameters: tuple[Parameter, ...]
    throws: tuple[Node, ...]
    body: Block


@record
class Field(Node):
    modifiers: tuple[Node, ...]
    type: Node
    declarators: tuple[Declarator, ...]


@record
class Class(Node):
    """Also an interface, a record, an enum …: `word` says what. The constants of an enum come first among its members.

    `bases` is what it extends, implements and permits.
    """

    modifiers: tuple[Node, ...]
    word: str
    name: Identifier
    bases: tuple[Node, ...]
    members: tuple[Node, ...]


@record
class Import(Node):
    name: Node
    static: bool
    all: bool


@record
class Unit(Node):
    package: Node | None
    imports: tuple[Import, ...]
    members: tuple[Node, ...]
