"""Whatever the wider language allows is no syntax error, and hides nothing that stands beside it."""

from __future__ import annotations

import time

import pytest

from cajeta_dot.syntax import tree
from cajeta_dot.syntax.wider import load_rules

from .diagnose import BODY, diagnose

STATEMENTS = [
    # places for objects
    "Foo f = heap Foo<>(1);",
    "Map<K, V> m = heap Map<>();",
    "use(heap Foo<A, int8>.Inner<>());",
    "int32[][] m = heap int32[2][];",
    "int32[] a = heap int32[] { 1, 2, };",
    "use(stack Point { }, shared Point { x: 1 }, Point<A> { y: #z });",
    "use(heap Foo(1) { int32 x; Foo() { } void run() { this.x = 2; } });",
    "use(heap <A> Foo());",
    # types as values
    "Class c = int32.class;",
    "use(void.class, Foo[].class, Map<K, V>.class);",
    "Function f = int32::parse;",
    "Function f = Foo[]::heap;",
    "use(Foo::<A, ?>of, this::run, f().g::h);",
    # casts
    "x = (Foo[]) y;",
    "x = (Map<K, V>) y;",
    "x = (@Safe Foo & Bar<A>) y.z();",
    "x = ((int32) -> int32) y;",
    "x = (int32 & Foo) y;",
    # flow
    "if (a) f(); else switch (x) { case 1 -> g(); }",
    "if (a) f(); else use(Foo.class);",
    "try { f(); } catch (A | B e) { use(A.class); } finally { use(B.class); }",
    "try { f(); } finally { use(e -> e); }",
    "do use(Foo.class); while (a);",
    "while (x instanceof Foo f && f.ok() || y instanceof final Bar) { f(); }",
    "for (int32 i : f(x -> x)) for (;;) { }",
    "for (final var k, Foo<A> v : m) use(k);",
    "again: for (Foo f : g()) { continue again; }",
    "int32 y = switch (x) { case 1, 2 -> 3; case Foo f && f.x > 1 -> { yield 4; } case (Bar b) -> 5; default: 6; };",
    "return switch (x) { case null -> 1; default -> throw e; };",
    "switch (x) { case Foo f: case 2: f(); break; default: }",
    "scope { spawn f(1); }",
    "int32 x = await f() + await g();",
    # functions
    "((int32) -> int32)[] table = g();",
    "() -> void run = () -> { };",
    "use((var x) -> x, (final Foo f, int32... rest) -> { return f; }, (a, b) -> a -> b);",
    "x = a ? b -> c : () -> d;",
    "x = y -> y > 1 && y < 2;",
    # classes in a method
    "final class Local<T> extends A implements B { T t; }",
    "private interface Local { void f(); default int32 g() { return 1; } }",
    "record Point(int32 x, int32 y) { }",
    # chains
    "super.f<A>(1).this.heap Inner<>(2).g();",
    "this<Base>.x = super<Base>.f();",
    "(x -> x)(1);",
    "f(a, b)(c)[0](d).e++;",
    "List<? extends Foo<? super Bar[]>> l = f.g<List<?>, 3>(h);",
    "Foo.Bar<A>.Baz<B>[] x = null;",
    "float8e4m3 y = (float8e4m3) x;",
    '@Safe("x") @A.B(c = 1, d: { 2, @E }) final int32 x = 1;',
]
MEMBERS = [
    "class A<@Tagged T, float8e4m3 x, int32 N> { }",
    "#(int32) -> void f(Foo this, (A, B) -> C g) { }",
    "((A) -> B)[] f() { return null; }",
    "int32 f(int32... a) throws A { return a[0]; }",
    "Foo f = heap Foo<>() { int32 x; };",
    "static final Class C = void.class;",
    "@A(b = { @C, 1 }) private final @D List<@E A> x = f(y -> y), z;",
]
UNITS = [
    "@A package a.b; class C { }",
    "@A @b.C(x = (1)) @D() package a.b; import c.d; class C { }",
    "@A class C { } class D { }",
]
KERNEL = "@Kernel public static void sound(KernelBuffer<int32> out) { out[0] = 1; }"


def find_kernels(members: tuple[tree.Node, ...]) -> int:
    kernels = 0
    for member in members:
        if isinstance(member, tree.Class):
            kernels += find_kernels(member.members)
        kernels += isinstance(member, tree.Method) and member.name.text == "sound"
    return kernels


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements(text: str) -> None:
    for statement in (text, f"if (a) {{ {text} }} else {{ b(); }}", f"use(() -> {{ {text} }});"):
        unit, found = diagnose(f"class C {{ void host() {{ a = 1; {statement} b = 2; }} {KERNEL} }}")
        assert found == []
        assert unit
        assert find_kernels(unit.members) == 1


@pytest.mark.parametrize("text", MEMBERS)
def test_members(text: str) -> None:
    unit, found = diagnose(f"class C {{ {text} {KERNEL} }}")
    assert found == []
    assert unit
    assert find_kernels(unit.members) == 1


@pytest.mark.parametrize("text", UNITS)
def test_files(text: str) -> None:
    unit, found = diagnose(f"{text} class Z {{ {KERNEL} }}")
    assert found == []
    assert unit
    assert find_kernels(unit.members) == 1


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("x = (a) b;", ["E0109"]),
        ("use(Foo.klass;", ["E0105"]),
        ("x = heap Foo<>(;", ["E0109"]),
        ("if (a) f(); else x = = 1;", ["E0109"]),
        ("a = 1; } else { b = 2;", ["E0109"]),
    ],
)
def test_mistakes_are_mistakes(text: str, codes: list[str]) -> None:
    _, found = diagnose(BODY.format(text))
    assert [diagnostic.code for diagnostic in found] == codes


@pytest.mark.parametrize(
    "text",
    [
        *("use(" * 3_000 + "x -> x" + ")" * 3_000 + ";", "x -> " * 3_000 + "x;", "(" * 400 + "Foo.class" + ")" * 400 + ";"),
        *("Foo<" * 3_000 + "int32.class;", "switch (a) { case 1 -> " * 300 + ";" + "}" * 300),
    ],
    ids=lambda text: text[:12],
)
def test_depth_takes_no_recursion_and_no_time(text: str) -> None:
    begin = time.perf_counter()
    diagnose(BODY.format(text))
    assert time.perf_counter() - begin < 10


def test_every_rule_is_used_and_none_is_missing() -> None:
    rules = load_rules()
    used = {"item", "member"}
    work = list(rules.trees.values())
    while work:
        word, parts = work.pop()
        used |= {word} if word.isidentifier() and word.islower() else set()
        work += parts
    assert used == rules.trees.keys()
