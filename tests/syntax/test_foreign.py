"""Constructs outside the dialect are skipped in the body of a method, and what is around them is still parsed."""

from __future__ import annotations

import pytest

from cajeta_dot.syntax.tree import Class, ExpressionStatement, Foreign, Method, Node

from .diagnose import BODY, diagnose

CONSTRUCTS = [
    ("run((x) -> { y = 1; return x; });", "a lambda"),
    ("run(() -> 1, 2);", "a lambda"),
    ("run((int32 x, Foo y) -> x);", "a lambda"),
    ("Function f = x -> x + 1;", "a lambda"),
    ("(int32) -> int32 f = x -> x + 1;", "a lambda"),
    ("xs.sort((a, b) -> a < b ? 1 : 2);", "a lambda"),
    ("Supplier<Foo> s = Foo::heap;", "a method reference"),
    ("xs.map(Foo::bar).each(x -> { f(x); g(); });", "a method reference"),
    ("x = y ? Foo::a : Foo::b;", "a method reference"),
    ("for (int32 k : Group.stripe(n)) { use(k); }", "a for-each loop"),
    ("for (x : y) use(x);", "a for-each loop"),
    ("for (uint32 i, int32 v : buf.range(n)) { use(i); }", "a for-each loop"),
    ("for (Map<K, V> e : list) use(e);", "a for-each loop"),
    ("for (final var x : list) { }", "a for-each loop"),
    ("switch (x) { case 1: y = 2; break; default: z = 1; }", "`switch`"),
    ("int32 y = switch (x) { case 1 -> 2; case 3, 4 -> { yield 5; } default -> 6; };", "`switch`"),
    ("if (x instanceof Foo) { y = 1; }", "`instanceof`"),
    ("if (x instanceof Foo f && f.x > 1) { y = 1; }", "`instanceof`"),
    ("Foo y = new Foo(3);", "`new`"),
    ("new Foo().bar();", "`new`"),
    ("int32[] z = new int32[4];", "`new`"),
    ("String s = (String) o;", "a cast to a class"),
    ("x = (A.B) y.c();", "a cast to a class"),
    ("x = (Foo & Bar) y;", "a cast to a class"),
    ('x = (T) "abc";', "a cast to a class"),
    ("return super.g();", "`super`"),
    ("super<Base>.m();", "`super`"),
    ("this<Base>.field = 3;", "`this<…>`"),
    ("Outer.this.x = 1;", "`.this`"),
    ("outer.heap Inner(3);", "`.heap`"),
    ("Class c = Foo.class;", "`.class`"),
    ("Foo f = Foo { x: 1, y: 2 };", "an object made of fields"),
    ("return heap Foo { x: 1 };", "an object made of fields"),
    ("g(Foo { a: 1 }, stack Foo { });", "an object made of fields"),
    ("Runnable r = heap Runnable() { void run() { f(); } };", "a class without a name"),
    ("foo.bar<K, V>(1);", "a call with types"),
    ("assert x > 1;", "`assert`"),
    ("int32 x = await spawn leaf();", "`await`"),
    ("spawn f(x);", "`spawn`"),
    ("scope { spawn f(1); spawn g(2); }", "`scope`"),
    ("detach announce(42);", "`detach`"),
    ("if (x) yield 3; else yield 4;", "`yield`"),
    ("class Local extends Foo { int32 x; }", "`class`"),
    ("interface Local { void f(); }", "`interface`"),
    ("enum Colour { RED, GREEN }", "`enum`"),
    ("record Point(int32 x) { }", "`record`"),
]


def statements_of(body: str) -> tuple[Node, ...]:
    unit, found = diagnose(BODY.format(body))
    assert found == []
    assert unit
    (outer,) = unit.members
    assert isinstance(outer, Class)
    method, after = outer.members
    assert isinstance(method, Method)
    assert isinstance(after, Method)
    assert method.body
    return method.body.items


@pytest.mark.parametrize(("text", "what"), CONSTRUCTS, ids=[text for text, _ in CONSTRUCTS])
def test_constructs(text: str, what: str) -> None:
    before, foreign, after = statements_of(f"a = 1; {text} b = 2;")
    assert isinstance(before, ExpressionStatement)
    assert isinstance(after, ExpressionStatement)
    assert isinstance(foreign, Foreign)
    assert foreign.what == what
    whole = BODY.format(f"a = 1; {text} b = 2;")
    assert whole[foreign.start : foreign.end] == text
    assert foreign.start <= foreign.what_start < foreign.what_end <= foreign.end


@pytest.mark.parametrize(
    "text",
    [
        *("x = (n) - 1;", "x = (N) * y;", "x = a < b && n > (m);", "f(grid: [1], block: [64])(b);"),
        *("a: { b(); }", "f(a < b, c > (d));", "x = a ? b : c;", "f(a: b, c: #d);", "f(x)[0].g();"),
    ],
)
def test_what_only_looks_foreign(text: str) -> None:
    (statement,) = statements_of(text)
    assert not isinstance(statement, Foreign)


def test_a_word_that_was_declared_as_a_name_is_one() -> None:
    _, found = diagnose(BODY.format("int32 switch = 1; int32 y = switch (3) + ;"))
    assert [diagnostic.code for diagnostic in found] == ["E0103", "E0109"]


@pytest.mark.parametrize("text", ["switch (x) { ", "run(() -> { ", "for (x : y) { a(", "x = (String) y", "f(Foo { a: "])
def test_an_end_inside_is_a_mistake(text: str) -> None:
    _, found = diagnose("class C { void k() { " + text)
    assert [diagnostic.code for diagnostic in found] == ["E0105"]


@pytest.mark.parametrize("count", [20, 5_000])
def test_any_number_of_them_is_no_mistake(count: int) -> None:
    statements = statements_of("switch (x) { case 1: y = 2; } z = 3; " * count)
    assert sum(isinstance(statement, Foreign) for statement in statements) == count


@pytest.mark.parametrize("text", ["v = Vector<int8,16>(9); x = a[ b, c];", "Vector<int8,4> v = Vector<int8,4>(1); f(x[ y, z);"])
def test_types_in_front_do_not_make_a_mistake_foreign(text: str) -> None:
    _, found = diagnose(BODY.format(text))
    assert [one.code for one in found if one.severity == "error"]
