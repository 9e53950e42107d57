"""Misspelt keywords and words of other languages: one error for each, at the word, and the help mends it."""

from __future__ import annotations

import pytest

from .diagnose import BODY, CLASS, apply_helps, diagnose, point_at

IN_BODY = [
    ("[whlie] (i < n) { i = i + 1; }", "while (i < n) { i = i + 1; }"),
    ("[fro] (int32 j = 0; j < n; j++) { i = j; }", "for (int32 j = 0; j < n; j++) { i = j; }"),
    ("[iff] (i < n) { i = 1; }", "if (i < n) { i = 1; }"),
    ("do { i = 1; } [wihle] (i < n);", "do { i = 1; } while (i < n);"),
    ("if (i < n) { i = 1; } [esle] { i = 2; }", "if (i < n) { i = 1; } else { i = 2; }"),
    ("if (i < n) { i = 1; } [els] if (i > n) { i = 2; }", "if (i < n) { i = 1; } else if (i > n) { i = 2; }"),
    ("if (i < n) { i = 1; } [elif] (i > n) { i = 2; }", "if (i < n) { i = 1; } else if (i > n) { i = 2; }"),
    (
        "if (i < n) i = 1; [elseif] (i > n) { i = 2; } else { }",
        "if (i < n) i = 1; else if (i > n) { i = 2; } else { }",
    ),
    ("[retrun] i + 1;", "return i + 1;"),
    ("[cosnt] int32 j = 4;", "const int32 j = 4;"),
    ("if (i > n [and] n > 0) { i = 1; }", "if (i > n && n > 0) { i = 1; }"),
    ("if (i > n [or] n > 0) { i = 1; }", "if (i > n || n > 0) { i = 1; }"),
]
IN_CLASS = [
    ("[pubilc] static void f() { }", "public static void f() { }"),
    ("public [sttic] void f() { }", "public static void f() { }"),
    ("static [finl] int32 N = 3;", "static final int32 N = 3;"),
    ("[__global__] void f() { }", "@Kernel static void f() { }"),
    ("[Kernel] static void f() { }", "@Kernel static void f() { }"),
    ("[inline] int32 f(int32 a) { return a; }", "@Device static int32 f(int32 a) { return a; }"),
    ("[constexpr] int32 N = 3;", "static final int32 N = 3;"),
]
FILES = [
    ("[clas] A { void f() { } }", "class A { void f() { } }"),
    ("[struct] A { void f() { } }", "class A { void f() { } }"),
    ("public [Class] A { void f() { } }", "public class A { void f() { } }"),
    ("class A [extnds] B { }", "class A extends B { }"),
    ("[kernel] void f() { }", "@Kernel static void f() { }"),
]
CASES = [
    *((BODY.format(wrong), BODY.format(right)) for wrong, right in IN_BODY),
    *((CLASS.format(wrong), CLASS.format(right)) for wrong, right in IN_CLASS),
    *FILES,
]


@pytest.mark.parametrize(("marked", "right"), CASES, ids=[marked for marked, _ in CASES])
def test_words(marked: str, right: str) -> None:
    text = marked.replace("[", "").replace("]", "")
    _, found = diagnose(text)
    assert [one.code for one in found] == ["E0109"]
    assert point_at(found[0]) == marked
    assert apply_helps(text, found) == right
    assert diagnose(right)[1] == []


# What the preprocessor and several words for a type leave: where it points, and how many errors there are.
DIRECTIVES = [
    ("[#include] <stdio.h>\nclass A { }", ""),
    ("[#pragma] once\nclass A { }", "\nclass A { }"),
    ("class A { void f() {\n[#pragma] unroll 4\nfor (;;) { } } }", "class A { void f() {\n\nfor (;;) { } } }"),
    ("[#define] N 64\nclass A { }", ""),
    ("[#define] TWICE(x) \\\n  ((x) * 2)\nclass A { }", ""),
    ("[#ifdef] DEBUG\nclass A { }", ""),
]


@pytest.mark.parametrize(("marked", "right"), DIRECTIVES, ids=[marked for marked, _ in DIRECTIVES])
def test_directives(marked: str, right: str) -> None:
    text = marked.replace("[", "").replace("]", "")
    (found,) = diagnose(text)[1]
    assert found.code == "E0109"
    assert point_at(found).lstrip() == next(line for line in marked.split("\n") if "[" in line)
    assert found.helps
    assert apply_helps(text, [found]) == (right or text)


def test_a_constant_for_a_define() -> None:
    (found,) = diagnose("#define N 64\nclass A { }")[1]
    assert found.helps[0].message == "a constant stands in a class: `static final int32 N = 64;`"


def test_a_mistake_behind_a_directive_is_told_too() -> None:
    found = diagnose("#pragma once\nclass A { void f() { int32 x = 1 } }")[1]
    assert [one.code for one in found] == ["E0109", "E0104"]


@pytest.mark.parametrize(
    "text",
    [
        "class A { void f(#include x) { } }",
        "class A { void f() {\n#pragma x = y;\n} }",
        'class A { void f() { s = """\n#include <a.h>\n"""; } }',
        "class A { /*\n#include <a.h>\n*/ void f() { } }",
    ],
)
def test_what_is_no_directive(text: str) -> None:
    assert diagnose(text)[1] == []


@pytest.mark.parametrize(
    "text",
    [
        BODY.format("unsigned int i = 1;"),
        BODY.format("long long i = (unsigned char) n;"),
        CLASS.format("static unsigned long long f(Vector<unsigned char,4> v, short int a) { return a; }"),
        BODY.format("i = (flaot32) n;"),
        BODY.format("i = (size_t) n;"),
    ],
)
def test_types_that_the_checker_will_refuse_are_no_syntax_errors(text: str) -> None:
    unit, found = diagnose(text)
    assert unit
    assert found == []


def test_as_many_directives_are_told_as_are_shown() -> None:
    assert len(diagnose("#pragma once\n" * 1000 + "class A { }")[1]) == 20
