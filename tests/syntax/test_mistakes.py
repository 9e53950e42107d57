"""Each kind of mistake: its code, where it points, what follows from it (nothing), and what the help makes of it."""

from __future__ import annotations

import pytest

from cajeta_dot.syntax.problems import MAX_EXPECTED, MAX_FOUND

from .diagnose import BODY, CLASS, apply_helps, diagnose, point_at

# In the body of a method. `[…]` is what the primary label covers; a line is cut to what is written here.
IN_BODY: list[tuple[str, list[tuple[str, str]]]] = [
    # a missing semicolon
    ("x = 1\n y = 2;", [("E0104", "x = 1[]")]),
    ("x = 1\n\n // note\n y = 2;", [("E0104", "x = 1[]")]),
    ("x = 1 // note\n y = 2;", [("E0104", "x = 1[] // note")]),
    ("return x", [("E0104", "return x[]")]),
    ("{ x = 1 } y = 2;", [("E0104", "{ x = 1[] } y = 2;")]),
    ("x = 1 y = 2;", [("E0104", "x = 1[] y = 2;")]),
    ("x = 1 f(2);", [("E0104", "x = 1[] f(2);")]),
    ("int32 x = 1 int32 y = 2;", [("E0104", "int32 x = 1[] int32 y = 2;")]),
    ("x = 1 if (a) { y = 2; }", [("E0104", "x = 1[] if (a) { y = 2; }")]),
    ("for (int32 i = 0 i < n; i++) { x = i\n }", [("E0104", "for (int32 i = 0[] i < n; i++) { x = i"), ("E0104", "x = i[]")]),
    ("for (int32 i = 0; i < n i++) { }", [("E0104", "for (int32 i = 0; i < n[] i++) { }")]),
    ("for (int32 i = 0; i < n) { }", [("E0104", "for (int32 i = 0; i < n[]) { }")]),
    ("do { x = 1; } while (a)\n y = 2;", [("E0104", "do { x = 1; } while (a)[]")]),
    # brackets that are not closed
    ("x = f(1, 2;\n y = 3;", [("E0105", "x = f[(]1, 2;")]),
    ("x = a[1;", [("E0105", "x = a[[]1;")]),
    ("x = a[1 + (b * 2;", [("E0105", "x = a[1 + [(]b * 2;")]),
    ("if (a > b { x = 1; }", [("E0105", "if [(]a > b { x = 1; }")]),
    ("if ((a > b { x = 1; }", [("E0105", "if ([(]a > b { x = 1; }")]),
    ("while (f(a) { x = 1; }", [("E0105", "while [(]f(a) { x = 1; }")]),
    ("for (i = 0; i < n; i++ { x[i = 1; }", [("E0105", "for [(]i = 0; i < n; i++ { x[i = 1; }"), ("E0105", "x[[]i = 1; }")]),
    ("x = f(a\n y = 2;", [("E0105", "x = f[(]a")]),
    ("x = a[1); y = 2;", [("E0105", "x = a[[]1); y = 2;")]),
    ("x = (int32 y;", [("E0105", "x = [(]int32 y;")]),
    # brackets that close nothing
    ("x = f(0));", [("E0106", "x = f(0)[)];")]),
    ("x = f(0))];", [("E0106", "x = f(0)[)]];")]),
    ("x = a[0]] + 1;", [("E0106", "x = a[0][]] + 1;")]),
    ("if (a)) { x = 1; }", [("E0106", "if (a)[)] { x = 1; }")]),
    ("for (i = 0; i < n; i++)) { }", [("E0106", "for (i = 0; i < n; i++)[)] { }")]),
    # comments and strings that are not closed
    ('x = "abc;\n y = 1;', [("E0107", 'x = ["]abc;')]),
    ('f("abc, 1);\n y = 1\n z = 2;', [("E0107", 'f(["]abc, 1);'), ("E0104", "y = 1[]")]),
    ("x = 'a;\n y = 1;", [("E0107", "x = [']a;")]),
    # unknown characters
    ("x = a\uff1b\n y = 1\n z = 2;", [("E0108", "x = a[\uff1b]"), ("E0104", "y = 1[]")]),
    ("x = a \u2212 1;", [("E0108", "x = a [\u2212] 1;")]),
    ("x = a \u2264 1;", [("E0108", "x = a [\u2264] 1;")]),
    ("x = f\uff08a\uff09;", [("E0108", "x = f[\uff08]a\uff09;"), ("E0108", "x = f\uff08a[\uff09];")]),
    ("x = a \uff1d\uff1d b;", [("E0108", "x = a [\uff1d\uff1d] b;")]),
    ("s = \u201ctext\u201d;", [("E0108", "s = [\u201c]text\u201d;")]),
    ("s = \u201ctext;\n y = 1;", [("E0108", "s = [\u201c]text;")]),
    ("x = a² + 1;", [("E0108", "x = a[²] + 1;")]),
    ("x = ٣;", [("E0108", "x = [٣];")]),
    ("x = w @ y; z = = 1;", [("E0108", "x = w [@] y; z = = 1;"), ("E0109", "z =[] = 1;")]),
    ("x = a \\ b;", [("E0108", "x = a [\\] b;")]),
    ("x = 1;\0 y = 2;", [("E0108", "x = 1;[\0] y = 2;")]),
    # reserved words
    ("int32 view = 1; view = view + 1;", [("E0103", "int32 [view] = 1; view = view + 1;")]),
    ("int32 heap = 1; heap = heap + 1;", [("E0103", "int32 [heap] = 1; heap = heap + 1;")]),
    ("int32 int8 = 1; x = int8 + 1;", [("E0103", "int32 [int8] = 1; x = int8 + 1;")]),
    ("x = record + 1; y = record;", [("E0103", "x = [record] + 1; y = record;")]),
    ("buf.view(3);", [("E0103", "buf.[view](3);")]),
    ("for (int32 scope = 0; scope < n; scope++) { }", [("E0103", "for (int32 [scope] = 0; scope < n; scope++) { }")]),
    # assignments as conditions
    ("if (a = b) { }", [("E0110", "if (a [=] b) { }")]),
    ("while (a[i] = b) { }", [("E0110", "while (a[i] [=] b) { }")]),
    ("do { } while (a #= b);", [("E0110", "do { } while (a [#=] b);")]),
    ("for (; a = b; ) { if (c) { } else if (d = 1) { } }", [("E0110", "for (; a [=] b; )"), ("E0110", "if (d [=] 1)")]),
    ("if /* ( */ ((a) = b) { }", [("E0110", "if /* ( */ ((a) [=] b) { }")]),
    # everything else
    ("x = f(1 2);", [("E0109", "x = f(1[] 2);")]),
    ("x = 1 2;", [("E0109", "x = 1[] 2;")]),
    ("x = a b;", [("E0109", "x = a[] b;")]),
    ("x = ; y = ; z = 1;", [("E0109", "x =[] ; y = ; z = 1;"), ("E0109", "y =[] ; z = 1;")]),
    ("x = a + ;\n y = * b;", [("E0109", "x = a +[] ;"), ("E0109", "y =[] * b;")]),
    ("x = a +\n", [("E0109", "x = a +[]")]),
    ("int32 = 4;", [("E0109", "int32[] = 4;")]),
    ("x = max(a, , b);", [("E0109", "x = max(a,[] , b);")]),
    ("x = a[];", [("E0109", "x = a[[]];")]),
    ("for (i = 0; i < ; i++) { x = ; }", [("E0109", "for (i = 0; i <[] ; i++)"), ("E0109", "x =[] ; }")]),
    ("while (x) { y = ) ; z = 1; } q = ];", [("E0109", "y =[] ) ; z = 1;"), ("E0109", "q =[] ];")]),
    ("if a > b { x = ; }", [("E0109", "if[] a > b { x = ; }"), ("E0109", "x =[] ; }")]),
    ("if (a) { } else else { } y = ;", [("E0109", "else[] else { } y = ;"), ("E0109", "y =[] ;")]),
    ("x = 1;\n else { y = 2; }", [("E0109", "[else] { y = 2; }")]),
    ("const int32 x = 1;\n static int32 y = 2;", [("E0109", "[static] int32 y = 2;")]),
    ("Vector<int8,16 v = w; x = ;", [("E0109", "Vector<int8,16[] v = w; x = ;"), ("E0109", "x =[] ;")]),
    ("x = a ? b; y = 1;", [("E0109", "x = a ? b[]; y = 1;")]),
]
IN_CLASS: list[tuple[str, list[tuple[str, str]]]] = [
    ("#Kernel static void f() { x = 1; }", [("E0109", "[#]Kernel static void f() { x = 1; }")]),
    ("#Kernel @Wave(width: 32)\n public void f() { }", [("E0109", "[#]Kernel @Wave(width: 32)")]),
    ("static final int32 N = 64\n @Kernel", [("E0104", "static final int32 N = 64[]")]),
    ("static int32 f(int32 a int32 b) { x = ; }", [("E0109", "f(int32 a[] int32 b)"), ("E0109", "{ x =[] ; }")]),
    ("int32 f(int32 a { return a; }", [("E0105", "int32 f[(]int32 a { return a; }")]),
    ("int32 f(int32 a)\n x = a\n return x;\n }", [("E0109", "int32 f(int32 a)[]"), ("E0104", "x = a[]")]),
    ("static int32 view(int32 a) { return view(a); }", [("E0103", "static int32 [view](int32 a)")]),
    ("void f(uint32 record) { x = record; }", [("E0103", "void f(uint32 [record])")]),
    ("@ ;", [("E0108", "[@] ;")]),
    ("class D\n @Kernel static void k() { }\n}", [("E0109", "class D[]")]),
    ("static ; int32 x = 1; static 0 int32 y = 2;", [("E0109", "static[] ;"), ("E0109", "static[] 0")]),
    ("interface { void f(); } void g() { x = ; }", [("E0109", "interface[] {"), ("E0109", "{ x =[] ; }")]),
    ("x = 3;", [("E0109", "x[] = 3;")]),
]
FILES: list[tuple[str, list[tuple[str, str]]]] = [
    ("", []),
    ("package a.b\nimport c.D\nclass A { }", [("E0104", "package a.b[]"), ("E0104", "import c.D[]")]),
    ("package a.b", [("E0104", "package a.b[]")]),
    ("class A { } }", [("E0106", "class A { } [}]")]),
    ("}", [("E0106", "[}]")]),
    ("class A { void f() { x = 1; }", [("E0105", "class A [{] void f()")]),
    ("class A { void f() { x = (1 + ", [("E0105", "x = [(]1 + ")]),
    ("/* a /* b */ class C { }", [("E0107", "[/*] a /* b */ class C { }")]),
    ("class C { void f() { x = ; } /* a", [("E0109", "x =[] ; }"), ("E0107", "[/*] a")]),
    ("class { }", [("E0109", "class[] { }")]),
    ("class A", [("E0109", "class A[]")]),
    ("class A extended B { int32 x; }", [("E0109", "class A [extended] B")]),
    ("import a.*; import ; class A { }", [("E0109", "import[] ; class A { }")]),
]
CASES = [
    *((BODY.format(text), expected) for text, expected in IN_BODY),
    *((CLASS.format(text), expected) for text, expected in IN_CLASS),
    *FILES,
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[repr(text) for text, _ in CASES])
def test_mistakes(text: str, expected: list[tuple[str, str]]) -> None:
    unit, found = diagnose(text)
    assert unit is not None
    assert [diagnostic.code for diagnostic in found] == [code for code, _ in expected]
    for diagnostic, (_, place) in zip(found, expected, strict=True):
        assert place in point_at(diagnostic)


HELPED = [text for text, expected in CASES if {code for code, _ in expected} & {"E0104", "E0106", "E0108", "E0110"}]


@pytest.mark.parametrize("text", HELPED, ids=[repr(text) for text in HELPED])
def test_helps_mend_what_they_are_about(text: str) -> None:
    _, found = diagnose(text)
    helped = [diagnostic for diagnostic in found if any(help.applicability == "machine" for help in diagnostic.helps)]
    assert helped or "E0108" in [diagnostic.code for diagnostic in found]  # most look-alikes have one, but `²` has not
    _, left = diagnose(apply_helps(text, found))
    assert [diagnostic.code for diagnostic in left] == [diagnostic.code for diagnostic in found if diagnostic not in helped]


MESSAGES = [
    (BODY.format("x = 1\n y = 2;"), "expected `;` after this statement"),
    (BODY.format("for (i = 0; i < n) { }"), "expected `;` after this part of the `for`"),
    ("import a.B\nclass C { }", "expected `;` after this declaration"),
    (BODY.format("x = a[1;"), "this `[` is not closed"),
    (BODY.format("x = f(0)));"), "this `))` closes nothing"),
    ("}", "this `}` closes nothing"),
    ("/*", "this comment is not closed"),
    (BODY.format('x = "a;'), "this string is not closed"),
    (BODY.format("x = 'a;"), "this character is not closed"),
    (BODY.format("x = a\uff1b"), "unknown character `\uff1b` (U+FF1B)"),
    (BODY.format("\0"), "unknown character (U+0000)"),
    (BODY.format("int32 view = 1;"), "`view` is a reserved word"),
    (BODY.format("if (a = b) { }"), "expected a comparison, found an assignment"),
    (BODY.format("x = ;"), "expected an expression, found `;`"),
    (BODY.format("int32 = 4;"), "expected a name or `[`, found `=`"),
    (BODY.format("x = 1;\n else y = 2;"), "expected `}` or a statement, found `else`"),
    (BODY.format("x = f(1 2);"), "expected `)` or `,`, found `2`"),
    (BODY.format("x = a ? b;"), "expected `:`, found `;`"),
    (CLASS.format("x = 3;"), "expected a name, `(`, `.` or `<`, found `=`"),  # `[` would be the fifth
    ("class A", "expected `{`, found the end of the file"),
]


@pytest.mark.parametrize(("text", "message"), MESSAGES, ids=[message for _, message in MESSAGES])
def test_messages(text: str, message: str) -> None:
    _, found = diagnose(text)
    assert message in [diagnostic.message for diagnostic in found]


def test_messages_stay_short() -> None:
    _, found = diagnose(CLASS.format(f"static < {'n' * 1_000_000};"))
    assert found
    for diagnostic in found:
        assert len(diagnostic.message) < 200
        expected, _, _ = diagnostic.message.removeprefix("expected ").partition(", found ")
        assert len(expected.replace(" or ", ", ").split(", ")) <= MAX_EXPECTED
    _, found = diagnose(BODY.format(f"x = 1 {'n' * 1_000_000};"))
    assert found[0].message == f"expected `;`, found `{'n' * MAX_FOUND}…`"


SECONDARY = [
    ("class A { void f() { x = 1; ", "file ends here", 28),
    (BODY.format("x = f(1;"), "expected `)` here", len("class C { void k() { x = f(1")),
    ("class A { }\n}", "the last block ends here", 11),
]


@pytest.mark.parametrize(("text", "label", "offset"), SECONDARY)
def test_secondary_labels(text: str, label: str, offset: int) -> None:
    _, (found,) = diagnose(text)
    assert [(second.text, second.start) for second in found.secondary] == [(label, offset)]


def test_conditions_that_are_meant() -> None:
    body = "if ((a = b)) { } while (/* ( */ (a = f())) { } for (; (a = b); ) { } if (x && (a = b)) { } if (f(a = b)) { }"
    assert diagnose(BODY.format(body))[1] == []


def test_literals_are_left_to_the_checker() -> None:
    assert diagnose(BODY.format("a = 0x1G; b = 5u; c = 1_; d = 089; e = 99999999999999999999999; f = 1e; g = 1_.0_e;"))[1] == []


def test_three_mistakes_are_three_diagnostics() -> None:
    text = """class C {
    int32 a() {
        return 1
    }

    int32 b(int32 view) {
        return view * ;
    }

    int32 c(int32 x) {
        return f(x;
    }
}
"""
    unit, found = diagnose(text)
    assert unit
    assert [(diagnostic.code, diagnostic.line) for diagnostic in found] == [
        ("E0104", 3),
        ("E0103", 6),
        ("E0109", 7),
        ("E0105", 11),
    ]


def test_texts_without_mistakes() -> None:
    text = """/* A comment /* inside a comment */ is one: } ) ; @ \u201c \uff1b */
/** and so is /* this */ one **/
public class Words {
    // int32 view = 0x1G; /* not opened
    public static int32 span(int32 open, int32 to, int32 shared) {
        int32 with = to - open; // */ not closed either
        int32 uses = with /* 1 /* 2 /* 3 */ */ */ + shared;
        ;
        return uses;
    }
}
"""
    for line_end in "\n", "\r\n":
        assert diagnose(text.replace("\n", line_end))[1] == []
