"""One builder for each named alternative of the grammar: symbols in, node out.

A builder is called as `f(v, start, end)`. `v` is the list of the symbols of the alternative as the grammar writes them,
or the symbol itself where there is only one (and None where there is none). A symbol is a node, a growing list, the text of
a name, keyword or literal, or the offset of a punctuation mark. `start` and `end` span the alternative.
For ERROR, which no text matches, the symbol is None or what the statement holds that is foreign to the dialect.
"""

from __future__ import annotations

from .tree import (
    Allocate,
    Annotation,
    ArrayLiteral,
    ArrayType,
    Assignment,
    Bad,
    Binary,
    Block,
    Call,
    Cast,
    Catch,
    Class,
    Conditional,
    Construct,
    Constructor,
    Declaration,
    Declarator,
    DoWhile,
    Empty,
    ExpressionStatement,
    Field,
    For,
    Foreign,
    GenericType,
    Identifier,
    If,
    Import,
    Index,
    Jump,
    KeywordArgument,
    Labeled,
    Literal,
    Member,
    Method,
    Modifier,
    Name,
    NamedType,
    OtherType,
    Parameter,
    PrimitiveType,
    Return,
    Throw,
    Try,
    Unary,
    Unit,
    While,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Builder = Callable[[Any, int, int], Any]


def _append(v: Any, start: int, end: int) -> list[Any]:
    v[0].append(v[-1])
    return v[0]


def _binary(operator: str) -> Builder:
    def build(v: Any, start: int, end: int) -> Binary:
        return Binary(start, end, operator, v[1], v[0], v[-1])

    return build


def _assignment(operator: str) -> Builder:
    def build(v: Any, start: int, end: int) -> Assignment:
        return Assignment(start, end, operator, v[1], v[0], v[2])

    return build


def _before(operator: str) -> Builder:
    return lambda v, start, end: Unary(start, end, operator, v[1], False)


def _after(operator: str) -> Builder:
    return lambda v, start, end: Unary(start, end, operator, v[0], True)


def _literal(kind: str) -> Builder:
    return lambda v, start, end: Literal(start, end, kind, v)


def _type_of(name: Name | Member) -> NamedType:
    return NamedType(name.start, name.end, name)


def _wrap_arrays(type: Any, brackets: list[Any]) -> Any:
    """`T x[]` is `T[] x`."""
    for _ in brackets:
        type = ArrayType(type.start, type.end, type)
    return type


def _parameter(v: Any, start: int, end: int) -> Parameter:
    return Parameter(start, end, tuple(v[0]), v[1], v[2], None)


def _parameter_with_default(v: Any, start: int, end: int) -> Parameter:
    type = v[1] if len(v) == 5 else _wrap_arrays(v[1], v[3])
    return Parameter(start, end, tuple(v[0]), type, v[2], v[-1])


def _variadic_parameter(v: Any, start: int, end: int) -> Parameter:
    type = OtherType(v[1].start, v[2] + len("..."), "a variable number of arguments")
    return Parameter(start, end, tuple(v[0]), type, v[3], None)


def _method(v: Any, start: int, end: int) -> Method:
    return Method(start, end, tuple(v[0]), v[1], v[2], tuple(v[3]), tuple(v[5]), tuple(v[-2]), v[-1])


def _method_with_brackets(v: Any, start: int, end: int) -> Method:
    return _method([v[0], _wrap_arrays(v[1], v[7]), *v[2:]], start, end)


def _enum(v: Any, start: int, end: int) -> Class:
    """Its constants are fields of its own type."""
    name: Identifier = v[2]
    type = NamedType(name.start, name.end, Name(name.start, name.end, name.text))
    constants = [Field(one.start, one.end, (), type, (Declarator(one.start, one.end, one.text, "", None, 0),)) for one in v[5]]
    members: list[Any] = v[7] if len(v) > 7 else []
    return Class(start, end, tuple(v[0]), "enum", name, tuple(v[3]), (*constants, *members))


def _declarator_of_array(v: Any, start: int, end: int) -> Declarator:
    value = v[3] if len(v) > 2 else None
    return Declarator(start, end, v[0], "=" if value else "", value, len(v[1]))


def _operator_method(v: Any, start: int, end: int) -> Foreign:
    return Foreign(start, end, "an operator", v[1].start, v[4])


def _destructor(v: Any, start: int, end: int) -> Foreign:
    return Foreign(start, end, "a destructor", v[1], v[2].end)


def _initializer(v: Any, start: int, end: int) -> Foreign:
    return Foreign(start, end, "a block outside a method", v[1].start, v[1].start + 1)


def _chain(links: list[tuple[int, Any, Any]], last: Any, end: int) -> If:
    """Each link is the offset of its `if`, its condition and its statement; `last` stands behind the last `else`."""
    for start, condition, then in reversed(links):
        last = If(start, end, condition, then, last)
    return last


def _for(v: Any, start: int, end: int) -> For:
    _, _, first, _, condition, _, updates, _, body = v
    return For(start, end, (first,) if isinstance(first, Declaration) else tuple(first), condition, tuple(updates), body)


BUILDERS: dict[str, Builder] = {
    # lists and other glue
    "empty": lambda v, start, end: [],
    "nothing": lambda v, start, end: None,
    "same": lambda v, start, end: v[0],
    "append": _append,
    "append_after_comma": _append,
    "enum_constants": lambda v, start, end: v,
    "operator": lambda v, start, end: None,
    "open": lambda v, start, end: None,
    "place": lambda v, start, end: v,
    "class_word": lambda v, start, end: v,
    "heritage_word": lambda v, start, end: None,
    "list_of_one": lambda v, start, end: [v],
    "pick_second": lambda v, start, end: v[1],
    "pick_fourth": lambda v, start, end: v[3],
    # units and members
    "unit": lambda v, start, end: Unit(start, end, v[0], tuple(v[1]), tuple(v[2])),
    "package": lambda v, start, end: v[2],
    "import_name": lambda v, start, end: Import(start, end, v[1], False, False),
    "import_all": lambda v, start, end: Import(start, end, v[1], False, True),
    "import_static": lambda v, start, end: Import(start, end, v[2], True, False),
    "import_static_all": lambda v, start, end: Import(start, end, v[2], True, True),
    "class_declaration": lambda v, start, end: Class(start, end, tuple(v[0]), v[1], v[2], tuple(v[3]), tuple(v[5])),
    "no_bases": lambda v, start, end: [],
    "more_bases": lambda v, start, end: v[0] + v[2],
    "enum_declaration": _enum,
    "enum_with_members": _enum,
    "method": _method,
    "method_with_brackets": _method_with_brackets,
    "operator_method": _operator_method,
    "destructor": _destructor,
    "initializer": _initializer,
    "constructor": lambda v, start, end: Constructor(start, end, tuple(v[0]), v[1], tuple(v[3]), tuple(v[5]), v[6]),
    "field": lambda v, start, end: Field(start, end, tuple(v[0]), v[1], tuple(v[2])),
    "bad_member": lambda v, start, end: Foreign(start, end, *v) if v else Bad(start, end),
    "modifier": lambda v, start, end: Modifier(start, end, v),
    "word": lambda v, start, end: v,
    "local_word": lambda v, start, end: v,
    "reserved": lambda v, start, end: v,
    "annotation": lambda v, start, end: Annotation(start, end, v[1], ()),
    "annotation_with_arguments": lambda v, start, end: Annotation(start, end, v[1], tuple(v[3])),
    "parameters": lambda v, start, end: v,
    "parameter": _parameter,
    "parameter_with_brackets": lambda v, start, end: _parameter([v[0], _wrap_arrays(v[1], v[3]), v[2]], start, end),
    "parameter_with_default": _parameter_with_default,
    "variadic_parameter": _variadic_parameter,
    "identifier": lambda v, start, end: Identifier(start, end, v),
    # types
    "name": lambda v, start, end: Name(start, end, v),
    "member": lambda v, start, end: Member(start, end, v[0], v[2]),
    "moved_type": lambda v, start, end: v[1],
    "named_type": lambda v, start, end: NamedType(start, end, v),
    "generic": lambda v, start, end: GenericType(start, end, v[0], tuple(v[1])),
    "generic_of_names": lambda v, start, end: GenericType(start, end, v[0], tuple(v[2])),
    "inner_type": lambda v, start, end: NamedType(start, end, Member(start, end, v[0], v[2])),
    "inner_generic": lambda v, start, end: GenericType(start, end, Member(start, end, v[0], v[2]), tuple(v[4])),
    "wildcard": lambda v, start, end: OtherType(start, end, "a wildcard"),
    "array_type": lambda v, start, end: ArrayType(start, end, v[0]),
    "array_of_length": lambda v, start, end: OtherType(start, end, "an array type with a length"),
    "array_of_named": lambda v, start, end: ArrayType(start, end, _type_of(v[0])),
    "primitive": lambda v, start, end: PrimitiveType(start, end, v),
    "close": lambda v, start, end: v,
    # statements
    "block": lambda v, start, end: Block(start, end, tuple(v[1])),
    "declaration_statement": lambda v, start, end: v[0],
    "bad_statement": lambda v, start, end: Foreign(start, end, *v) if v else Bad(start, end),
    "declaration": lambda v, start, end: Declaration(start, end, (), v[0], tuple(v[1])),
    "declaration_with_modifiers": lambda v, start, end: Declaration(start, end, tuple(v[0]), v[1], tuple(v[2])),
    "declarator": lambda v, start, end: Declarator(start, end, v, "", None, 0),
    "declarator_with_value": lambda v, start, end: Declarator(start, end, v[0], "=", v[2], 0),
    "declarator_with_moved_value": lambda v, start, end: Declarator(start, end, v[0], "#=", v[2], 0),
    "declarator_of_array": _declarator_of_array,
    "empty_braces": lambda v, start, end: ArrayLiteral(start, end, ()),
    "braces": lambda v, start, end: ArrayLiteral(start, end, tuple(v[1])),
    "if_head": lambda v, start, end: (start, v[2]),
    "if_then": lambda v, start, end: If(start, end, v[0][1], v[1], None),
    "first_link": lambda v, start, end: [(*v[0], v[1])],
    "next_link": lambda v, start, end: _append([v[0], (*v[1], v[2])], start, end),
    "chain_to_then": lambda v, start, end: _chain(v[0], If(v[1][0], end, v[1][1], v[2], None), end),
    "chain_to_else": lambda v, start, end: _chain(v[0], v[1], end),
    "while_loop": lambda v, start, end: While(start, end, v[2], v[4]),
    "do_loop": lambda v, start, end: DoWhile(start, end, v[1], v[4]),
    "for_loop": _for,
    "labeled": lambda v, start, end: Labeled(start, end, v[0], v[2]),
    "empty_statement": lambda v, start, end: Empty(start, end),
    "expression_statement": lambda v, start, end: ExpressionStatement(start, end, v[0]),
    "break_statement": lambda v, start, end: Jump(start, end, "break", None),
    "break_to_label": lambda v, start, end: Jump(start, end, "break", v[1]),
    "continue_statement": lambda v, start, end: Jump(start, end, "continue", None),
    "continue_to_label": lambda v, start, end: Jump(start, end, "continue", v[1]),
    "return_nothing": lambda v, start, end: Return(start, end, None),
    "return_value": lambda v, start, end: Return(start, end, v[1]),
    "throw_statement": lambda v, start, end: Throw(start, end, v[1]),
    "try_statement": lambda v, start, end: Try(start, end, v[2], tuple(v[3]), v[5] if len(v) > 4 else None),
    "catch": lambda v, start, end: Catch(start, end, v[6]),
    "opt_expressions": lambda v, start, end: v,
    # expressions
    "assign": _assignment("="),
    "assign_moved": _assignment("#="),
    "assign_add": _assignment("+="),
    "assign_subtract": _assignment("-="),
    "assign_multiply": _assignment("*="),
    "assign_divide": _assignment("/="),
    "assign_remainder": _assignment("%="),
    "assign_and": _assignment("&="),
    "assign_or": _assignment("|="),
    "assign_xor": _assignment("^="),
    "assign_shift_left": _assignment("<<="),
    "assign_shift_right": _assignment(">>="),
    "assign_shift_right_logical": _assignment(">>>="),
    "conditional": lambda v, start, end: Conditional(start, end, v[0], v[2], v[4]),
    "logical_or": _binary("||"),
    "logical_and": _binary("&&"),
    "bit_or": _binary("|"),
    "bit_xor": _binary("^"),
    "bit_and": _binary("&"),
    "equal": _binary("=="),
    "not_equal": _binary("!="),
    "less": _binary("<"),
    "greater": _binary(">"),
    "less_equal": _binary("<="),
    "greater_equal": _binary(">="),
    "shift_left": _binary("<<"),
    "shift_right": _binary(">>"),
    "shift_right_logical": _binary(">>>"),
    "add": _binary("+"),
    "subtract": _binary("-"),
    "multiply": _binary("*"),
    "divide": _binary("/"),
    "remainder": _binary("%"),
    "plus": _before("+"),
    "negate": _before("-"),
    "complement": _before("~"),
    "logical_not": _before("!"),
    "move": lambda v, start, end: v[1],
    "increment_before": _before("++"),
    "decrement_before": _before("--"),
    "increment_after": _after("++"),
    "decrement_after": _after("--"),
    "cast": lambda v, start, end: Cast(start, end, v[1], v[3]),
    "parenthesized": lambda v, start, end: v[1],
    "integer": _literal("integer"),
    "float": _literal("float"),
    "string": _literal("string"),
    "character": _literal("character"),
    "true": _literal("boolean"),
    "false": _literal("boolean"),
    "null": _literal("null"),
    "this": _literal("this"),
    "array_literal": lambda v, start, end: ArrayLiteral(start, end, tuple(v[1])),
    "index": lambda v, start, end: Index(start, end, v[0], v[2]),
    "call": lambda v, start, end: Call(start, end, v[0], (), tuple(v[2])),
    "call_generic": lambda v, start, end: Call(start, end, v[0].name, v[0].arguments, tuple(v[2])),
    "call_with_types": lambda v, start, end: Call(start, end, v[0], tuple(v[1]), tuple(v[3])),
    "construct": lambda v, start, end: Construct(start, end, v[0], v[1], tuple(v[3])),
    "allocate": lambda v, start, end: Allocate(start, end, v[0], v[1], v[3]),
    "arguments": lambda v, start, end: v,
    "keyword_argument": lambda v, start, end: KeywordArgument(start, end, v[0], v[2]),
}
