"""What the wider language has around methods is parsed, or skipped whole; what stands beside it is not lost."""

from __future__ import annotations

import pytest

from cajeta_dot.syntax import tree

from .diagnose import diagnose

MEMBERS = [
    # classes and what is like them
    "class Inner { void f() { } }",
    "public static class Inner extends A<B, C> implements D, E<F> { int32 x; }",
    "class Box<T> { T value; T get() { return value; } }",
    "class Box<T extends Comparable<T>, U = Foo<T>> permits A, B { }",
    "class Box<int32 N, T extends A & B<C>> { }",
    "non-sealed class X { }",
    "sealed abstract class X permits Y { }",
    "interface I { void f(); default int32 g() { return 1; } static int32 h() { return 2; } int32 K = 3; }",
    "interface I<T> extends J<T>, K { #T f<R>(R r) throws E; }",
    "enum Colour { RED, GREEN }",
    "enum Colour { RED, GREEN, }",
    "enum Colour { }",
    "enum Colour { ; int32 x; }",
    'enum Op implements F { ADD("+") { int32 f() { return 1; } }, @Old SUB(2), MUL { }; String s; Op(String s) { } }',
    "record Point { float32 x; mut float32 y; Point(float32 x) { this.x = x; } }",
    "record Point3 extends Point { mut Vector<float32, 4> w; }",
    "view Header { int32 magic; int32[] rest; }",
    'annotation Range { int32 low() default 0; String[] names() default { "a" }; Other o() default @Other(x = 1); }',
    "structure S { int32 x; }",
    # methods
    "T pick<T>(T a, T b) { return a; }",
    "static T[] all<T, R extends List<T>>(Map<K, V> m, R r) throws A, b.C { return null; }",
    "Map<K, V> f(Map<K, V> m) { return m; }",
    "List<? extends Foo> f(List<?> a, List<? super Foo<A>> b) { return a; }",
    "void f(int32 a[], int8 b[][], float32 c = 1.0f, int32 d[] = [1]) { }",
    "void f(int32... rest) { }",
    "void f(final #Foo a, @NotNull String s) { }",
    "void f(Outer<A, B>.Inner x, Outer<A>.Inner<B> y) { }",
    "int32 f()[] { return null; }",
    "static async int32 leaf() { return 21; }",
    "native int32 f(int32 a);",
    # fields
    "Map<String, List<int8[]>> f;",
    "static final Map<String, Map<K, V[]>> M = heap Map<String, Map<K, V[]>>();",
    "int32 x[] = { 1, 2, 3 }, y = 4, z[4];",
    "int32[][] m = { { 1, 2 }, { 3 }, };",
    "int32[3] a;",
    "static final float64 H = 0x1.8p-3 + 0x.8P1f + 0x1p4;",
    'String s = """\n   a "quoted" line // no comment\n   another \\""" one } /*\n""";',
    "Foo<T>[] a;",
    "Foo<A, B>[][] a;",
    # annotations
    "@Wave(width: 32, lanes = 4) @Empty() static void f() { }",
    "@Instantiate({Tile<64, 64, N>, Tile<128, 32, 8>}) @Of(Pair<A, B>) @By(k = Tile<1, 2>, j = A<B>) static void f() { }",
    '@Deep(@Inner(1), names = { "a", "b" }, x = @Y(z = { })) @Value({ 1, 2, }) int32 x;',
]
SKIPPED = [
    ("static #Vec2 operator+ (Vec2 a, Vec2 b) { return heap Vec2(a.x + b.x); }", "an operator"),
    *(
        (f"void operator{symbol} (int64 i, int32 v) {{ }}", "an operator")
        for symbol in ["-", "==", "<=", ">", "<", ">>", ">>>", ">>=", "++", "[]", "[]="]
    ),
    ("~Holder() { System.free(this.p); }", "a destructor"),
    ("static { table = heap int32[4]; }", "a block outside a method"),
    ("static Function f = (x) -> { return x + 1; };", "a lambda"),
    ("void f((int32, T) -> int32 g, int32 y) { y = 2; }", "a lambda"),
    ("static Function g = Foo::bar;", "a method reference"),
    ('static final Foo F = Foo { x: 1, y: "b" };', "an object made of fields"),
    ("static final Foo F = heap Foo() { void g() { } };", "a class without a name"),
]
IN_A_CLASS = "class C {{ void before() {{ a = 1; }} {} @Kernel void after(KernelBuffer<int8> b) {{ x = 1; }} }}"
IN_A_FILE = "package a; void before() {{ a = 1; }} {} @Kernel void after(KernelBuffer<int8> b) {{ x = 1; }}"


def parse_beside(text: str, whole: str) -> tree.Node:
    """The one member that a text is, between two methods."""
    unit, found = diagnose(whole.format(text))
    assert found == []
    assert unit
    members = unit.members
    if isinstance(members[0], tree.Class):
        members = members[0].members
    before, node, after = members
    assert isinstance(before, tree.Method)
    assert isinstance(after, tree.Method)
    assert whole.format(text)[node.start : node.end] == text
    return node


@pytest.mark.parametrize("whole", [IN_A_CLASS, IN_A_FILE], ids=["class", "file"])
@pytest.mark.parametrize("text", MEMBERS)
def test_members_are_parsed(text: str, whole: str) -> None:
    assert isinstance(parse_beside(text, whole), tree.Class | tree.Method | tree.Field)


@pytest.mark.parametrize("whole", [IN_A_CLASS, IN_A_FILE], ids=["class", "file"])
@pytest.mark.parametrize(("text", "what"), SKIPPED, ids=[text for text, _ in SKIPPED])
def test_members_are_skipped(text: str, what: str, whole: str) -> None:
    node = parse_beside(text, whole)
    assert isinstance(node, tree.Foreign)
    assert node.what == what
    assert node.start <= node.what_start < node.what_end <= node.end


@pytest.mark.parametrize("head", ["@Kernel", "@Device static", "@ cajeta.xpu . Kernel @Wave(width: 32) public"])
def test_a_kernel_is_never_skipped(head: str) -> None:
    _, found = diagnose(IN_A_CLASS.format(f"{head} void f((int32) -> int32 g) {{ y = 2; }}"))
    assert [diagnostic.code for diagnostic in found] == ["E0109"]


def test_the_parts_of_a_method() -> None:
    method = parse_beside("T[] all<T, R extends List<T>>(Map<K, V> m, R r[], int32 n = 4) throws A { }", IN_A_CLASS)
    assert isinstance(method, tree.Method)
    assert [one.text for one in method.type_parameters] == ["T", "R"]
    assert [type(one.type) for one in method.parameters] == [tree.GenericType, tree.ArrayType, tree.PrimitiveType]
    assert [one.name.text for one in method.parameters] == ["m", "r", "n"]
    assert [one.default is not None for one in method.parameters] == [False, False, True]


def test_the_constants_of_an_enum_are_fields_of_its_type() -> None:
    colour = parse_beside("enum Colour { RED, @Old GREEN(2) { }; int32 x; }", IN_A_CLASS)
    assert isinstance(colour, tree.Class)
    assert colour.word == "enum"
    names: list[str] = []
    for field in colour.members:
        assert isinstance(field, tree.Field)
        names += [declarator.name for declarator in field.declarators]
    assert names == ["RED", "GREEN", "x"]


STATEMENTS = {
    "outer: for (;;) { for (;;) { continue outer; } }": tree.Labeled,
    "try { f(); } catch (A | b.B e) { g(); }": tree.Try,
    "try { f(); } catch (final Foo<X> e) { g(); } finally { h(); }": tree.Try,
    "try (Reader r = open(); Writer w = make(r);) { f(); }": tree.Try,
    "try (Reader r = open(); s) { f(); } catch (E e) { }": tree.Try,
    "Map<K, V> m;": tree.Declaration,
    "Map<K, V> m = heap Map<K, V>(16);": tree.Declaration,
    "List<List<Foo>> s;": tree.Declaration,
    "Foo<A, B>[] a = heap Foo<A, B>[4];": tree.Declaration,
    "int32[] a = { 1, 2 };": tree.Declaration,
    "int32[3][] a;": tree.Declaration,
    "int32 a[] = { 1, 2 }, b = 3;": tree.Declaration,
    "int32[][] a = heap int32[][] { { 1 }, { 2, 3 } };": tree.Declaration,
    "var x = 3;": tree.Declaration,
    "x = (Map<K, V>) y;": tree.ExpressionStatement,
    "x = (List<Foo>) y.z();": tree.ExpressionStatement,
    "foo.bar<String, Integer>(1, x);": tree.ExpressionStatement,
    "k.launch(s, grid: [1], block: [64])(a, #b);": tree.ExpressionStatement,
}


@pytest.mark.parametrize(("text", "kind"), STATEMENTS.items(), ids=list(STATEMENTS))
def test_statements_are_parsed(text: str, kind: type) -> None:
    method = parse_beside(f"void k() {{ {text} }}", IN_A_CLASS)
    assert isinstance(method, tree.Method)
    assert method.body
    assert [type(item) for item in method.body.items] == [kind]


@pytest.mark.parametrize("text", ['"""\n a', '"""\n \\"""', '"""  \n'])
def test_a_text_block_that_is_not_closed(text: str) -> None:
    _, found = diagnose(f"class C {{ String s = {text} ; }}")
    assert [(one.code, one.message) for one in found] == [("E0107", "this string is not closed")]
