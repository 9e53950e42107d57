"""One slip of the pen is one error, although the parser stumbles over what follows from it."""

from __future__ import annotations

import pytest

from .diagnose import BODY, CLASS, diagnose

SLIPS = [
    ("x = f(1, 2{ );", "E0109"),
    ("x = { a + 1;", "E0109"),
    ("x[ .y(0, 1);", "E0105"),
    ("x[ = 7;", "E0109"),
    ("x = f(a));", "E0106"),
    ("x = f y + g(1));", "E0109"),
    ("x = f(a[0);", "E0105"),
    ("x = a[0 + 1) * 2;", "E0105"),
    ("x = (a + b;); y = 1;", "E0109"),
    ("Vector< <int8,16> v = w;", "E0109"),
    ("x = f(a, , b);", "E0109"),
    ("x = a + b b[1];", "E0109"),
    ("if (= a) { }", "E0109"),
    # two slips are two errors
    ("x = f(1, 2{ ); y = ;", "E0109 E0109"),
    ("x[ = 7; y = f(a));", "E0109 E0106"),
    ("x = f + ;\n z = f(a));", "E0109 E0106"),
]


@pytest.mark.parametrize(("text", "codes"), SLIPS, ids=[text for text, _ in SLIPS])
def test_slips(text: str, codes: str) -> None:
    assert [one.code for one in diagnose(BODY.format(text))[1]] == codes.split()


def test_statements_of_a_method_without_its_head_are_one_error() -> None:
    text = (
        CLASS.format("\n    int32 i = f(1);\n    a.b(0);\n    if (i > 0) { g(i); }\n    a.c(1);\n")
        + " class D { void f() { x = ; } }"
    )
    found = diagnose(text)[1]
    assert [(one.code, one.line) for one in found] == [("E0109", 3), ("E0109", 6)]


def test_mistakes_of_two_members_are_two_errors() -> None:
    text = CLASS.format("static ; static 0 int32 y = 2; public z z z; @Kernel void f() { x = ; }")
    assert [one.code for one in diagnose(text)[1]] == ["E0109"] * 4


def test_no_brace_is_missed_where_as_many_are_closed_as_opened() -> None:
    assert [one.code for one in diagnose(BODY.format("j: int32 = 0; x = 1;"))[1]] == ["E0109"]
