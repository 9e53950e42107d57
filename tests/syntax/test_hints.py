"""Habits from other languages: where the text stops being a program, the help says how it is written here."""

from __future__ import annotations

import pytest

from .diagnose import BODY, CLASS, apply_helps, diagnose

# Wrong, what the help says, and what its edits make of it.
IN_BODY = [
    ("int8 *p = x;", "there are no pointers here; an array is `KernelBuffer<int8>` or `int8[]`", None),
    ("y = *x;", "there are no pointers here; an element of an array is `a[i]`", None),
    ("f(&x);", "there are no pointers here; an element of an array is `a[i]`", None),
    ("y = int32(x[0]);", "a cast has its type in parentheses", "y = (int32) (x[0]);"),
    ("if n == 3 { y = 1; }", "put the condition in parentheses", "if (n == 3) { y = 1; }"),
    ("while n > f(3) { y = 1; }", "put the condition in parentheses", "while (n > f(3)) { y = 1; }"),
    ("if (a) { y = 1; } else (b) { y = 2; }", "a condition needs an `if`", "if (a) { y = 1; } else if (b) { y = 2; }"),
    ("int32 q := 3;", "assign with `=`", "int32 q = 3;"),
    ("q := 3;", "assign with `=`", "q = 3;"),
    ("y = f(1; 2);", "use `,`", "y = f(1, 2);"),
    ("y = f(a[0; ]);", "remove it", "y = f(a[0 ]);"),
    ("f(g(1), 2;)", "remove it", None),
    ("if (a > 3; ) { y = 1; }", "remove it", "if (a > 3 ) { y = 1; }"),
]
IN_CLASS = [
    ("void f(int32* o) { }", "there are no pointers here; an array is `KernelBuffer<int32>` or `int32[]`", None),
    (
        "void f(o: KernelBuffer<int32>) { }",
        "the type stands in front: `KernelBuffer<int32> o`",
        "void f(KernelBuffer<int32> o) { }",
    ),
    ("void f(int32 a; int32 b) { }", "use `,`", "void f(int32 a, int32 b) { }"),
    ("class D ; { }", "remove it", "class D  { }"),
]
CASES = [(frame, *row) for frame, rows in ((BODY, IN_BODY), (CLASS, IN_CLASS)) for row in rows]


@pytest.mark.parametrize(("frame", "wrong", "help", "right"), CASES, ids=[row[1] for row in CASES])
def test_hints(frame: str, wrong: str, help: str, right: str | None) -> None:
    text = frame.format(wrong)
    _, found = diagnose(text)
    assert [one.code for one in found] == ["E0109"]
    assert [one.message for one in found[0].helps] == [help]
    if right is not None:
        assert apply_helps(text, found) == frame.format(right)
        assert diagnose(frame.format(right))[1] == []


@pytest.mark.parametrize("text", ["y = a ** 2;", "y = a + * b;", "y = ;", "y = a b;", "if (a) { ) }"])
def test_no_hint_where_the_habit_is_not_known(text: str) -> None:
    found = diagnose(BODY.format(text))[1]
    assert not [help for one in found for help in one.helps if "pointer" in help.message or "cast" in help.message]


def test_an_assignment_for_a_condition_is_not_told_where_its_left_side_is_missing() -> None:
    assert [one.code for one in diagnose(BODY.format("if (= a) { }"))[1]] == ["E0109"]
