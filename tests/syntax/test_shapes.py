"""What binds how, and which `<` begins type arguments."""

from __future__ import annotations

from typing import Any

import pytest

from cajeta_dot.syntax import tree
from cajeta_dot.syntax.parse import parse_text


def show(n: Any) -> str:
    """Fully parenthesized."""
    match n:
        case tree.Name(text=text) | tree.Literal(text=text) | tree.PrimitiveType(name=text):
            return text
        case tree.Member(object=owner, name=name):
            return f"{show(owner)}.{name}"
        case tree.Unary(operator=op, operand=x, postfix=postfix):
            return f"({show(x)}{op})" if postfix else f"({op}{show(x)})"
        case tree.Binary(operator=op, left=x, right=y):
            return f"({show(x)} {op} {show(y)})"
        case tree.Assignment(operator=op, target=x, value=y):
            return f"({show(x)} {op} {show(y)})"
        case tree.Conditional(condition=c, then=x, otherwise=y):
            return f"({show(c)} ? {show(x)} : {show(y)})"
        case tree.Cast(type=t, operand=x):
            return f"({show(t)}){show(x)}"
        case tree.Index(object=x, index=i):
            return f"{show(x)}[{show(i)}]"
        case tree.GenericType(name=name, arguments=arguments):
            return f"{show(name)}<{', '.join(map(show, arguments))}>"
        case tree.ArrayType(element=t):
            return f"{show(t)}[]"
        case tree.NamedType(name=name):
            return show(name)
        case tree.KeywordArgument(name=name, value=x):
            return f"{name}: {show(x)}"
        case tree.ArrayLiteral(elements=xs):
            return f"[{', '.join(map(show, xs))}]"
        case tree.Call(callee=f, type_arguments=ts, arguments=xs):
            types = f"<{', '.join(map(show, ts))}>" if ts else ""
            return f"{show(f)}{types}({', '.join(map(show, xs))})"
        case tree.Construct(word=word, type=t, arguments=xs):
            return f"{word} {show(t)}({', '.join(map(show, xs))})"
        case tree.Allocate(word=word, type=t, length=x):
            return f"{word} {show(t)}[{show(x)}]"
        case _:
            raise AssertionError(n)


EXPRESSIONS = [
    ("(int32) v[4] & 63", "((int32)v[4] & 63)"),
    ("(int8) -128 + x", "((int8)(-128) + x)"),
    ("(a) - b", "(a - b)"),
    ("(Vector<int8,16>) v", "(Vector<int8, 16>)v"),
    ("a & b == c | d ^ e", "((a & (b == c)) | (d ^ e))"),
    ("a || b && c", "(a || (b && c))"),
    ("x >> 4 & 15", "((x >> 4) & 15)"),
    ("x >>> 1 >> 2 << 3", "(((x >>> 1) >> 2) << 3)"),
    ("a < b >> c", "(a < (b >> c))"),
    ("a > b >> c", "(a > (b >> c))"),
    ("f(a < b, c > d)", "f((a < b), (c > d))"),
    ("f(a < b, c > (d))", "f((a < b), (c > d))"),
    ("f(a < b, 4 > c)", "f((a < b), (4 > c))"),
    ("w.vload<16>(o).asUnsigned() & 15", "(w.vload<16>(o).asUnsigned() & 15)"),
    ("f(x).vload<2 * N>(o)", "f(x).vload<(2 * N)>(o)"),
    ("i < n", "(i < n)"),
    ("w.vload<(N + 1) * 4>(o)", "w.vload<((N + 1) * 4)>(o)"),
    ("w.vload<(1 << N) / 2>(o)", "w.vload<((1 << N) / 2)>(o)"),
    ("w.vload<(64 >> 2)>(o) << 1", "(w.vload<(64 >> 2)>(o) << 1)"),
    ("f(a < (b >> 1), c > (d))", "f((a < (b >> 1)), (c > d))"),
    ("f(a < b) > c", "(f((a < b)) > c)"),
    ("a < (int64) n && c > (d)", "((a < (int64)n) && (c > d))"),
    ("a < b && n > (m) ? b : n", "(((a < b) && (n > m)) ? b : n)"),
    ("(a < b).any()", "(a < b).any()"),
    ("a < Vector<int8,4>(1)", "(a < Vector<int8, 4>(1))"),
    ("f(a) < Vector<int8,2 * N> (1, b)", "(f(a) < Vector<int8, (2 * N)>(1, b))"),
    ("f(a < b, Vector<int8,4>(1) > c)", "f((a < b), (Vector<int8, 4>(1) > c))"),
    ("a < heap Vector<int8,4>(1)", "(a < heap Vector<int8, 4>(1))"),
    ("Vector<int8,4>(1, 2)", "Vector<int8, 4>(1, 2)"),
    ("Vector<i8,4>(1, 2)", "Vector<i8, 4>(1, 2)"),
    ("f(Vector<i8, N>(a), b > (c))", "f(Vector<i8, N>(a), (b > c))"),
    ("heap Foo<Vector<Vector<int8,4>>>(1)", "heap Foo<Vector<Vector<int8, 4>>>(1)"),
    ("heap Map<Key, int8>(1)", "heap Map<Key, int8>(1)"),
    ("heap Map<Key, Value>()", "heap Map<Key, Value>()"),
    ("stack Vector<int8,4>(1).dot(b)", "stack Vector<int8, 4>(1).dot(b)"),
    ("shared int32[64 * 65]", "shared int32[(64 * 65)]"),
    ("shared + 1", "(shared + 1)"),
    ("shared // note\n int8[2]", "shared int8[2]"),
    ("a = b #= c", "(a = (b #= c))"),
    ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
    ("a ? b = c : d", "(a ? (b = c) : d)"),
    ("k.launch(s, grid: [n / 4, 1], block: [64])(out, w)", "k.launch(s, grid: [(n / 4), 1], block: [64])(out, w)"),
    ("-x.y++", "(-(x.y++))"),
    ("i-->0", "((i--) > 0)"),
    ("~ -a * !b", "((~(-a)) * (!b))"),
    ("#a + b", "(a + b)"),
    ("1. + .5 + 1e-3 + 1f + 0xE + 1", "(((((1. + .5) + 1e-3) + 1f) + 0xE) + 1)"),
    ("0x1G + 5u + 1_ + 0b12 + 089", "((((0x1G + 5u) + 1_) + 0b12) + 089)"),
    ("a /* b /* c */ d */ + e // f", "(a + e)"),
    ('f("/* no */ // no") + 1', '(f("/* no */ // no") + 1)'),
    ("größe + 変数", "(größe + 変数)"),
]


@pytest.mark.parametrize(("text", "shape"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_expressions(text: str, shape: str) -> None:
    found, problems = parse_text(text, "expression")
    assert not problems
    assert show(found) == shape


DECLARED_TYPES = [
    "Vector<i8,4>",
    "Vector<u8_t,64>",
    "KernelBuffer<foo>",
    "Shared<N,M,K>",
    "Map<Key, Value>",
    "Map<Key, List<Value>>",
    "Map<Key, int8[]>",
    "a.b.Pair<Key, c.Value>",
    "int8[][]",
]


@pytest.mark.parametrize("name", DECLARED_TYPES)
def test_types_of_declarations(name: str) -> None:
    found, problems = parse_text(f"void f() {{ {name} x = 1; }}")
    assert not problems
    assert isinstance(found, tree.Unit)
    (method,) = found.members
    assert isinstance(method, tree.Method)
    assert method.body
    (declaration,) = method.body.items
    assert isinstance(declaration, tree.Declaration)
    assert show(declaration.type).replace(" ", "") == name.replace(" ", "")


def test_spans() -> None:
    text = "( a + b )  *  w . vload < 4 > ( i )"
    found, _ = parse_text(text, "expression")
    assert isinstance(found, tree.Binary)
    assert text[found.start : found.end] == text
    assert text[found.operator_start] == "*"
    assert text[found.left.start : found.left.end] == "a + b"
    assert text[found.right.start : found.right.end] == "w . vload < 4 > ( i )"


def test_spans_count_what_is_commented_out() -> None:
    text = "/* ä */ a /* /* b */ */ + // c\n größe"
    found, _ = parse_text(text, "expression")
    assert isinstance(found, tree.Binary)
    assert text[found.left.start : found.left.end] == "a"
    assert text[found.operator_start] == "+"
    assert text[found.right.start : found.right.end] == "größe"


def test_a_sum_of_a_hundred_thousand_terms() -> None:
    found, problems = parse_text(" + ".join(["a"] * 100_000), "expression")
    assert not problems
    terms = 1
    while isinstance(found, tree.Binary):
        found, terms = found.left, terms + 1
    assert terms == 100_000
