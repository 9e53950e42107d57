"""The layout of messages: every picture here is what a user sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.diagnostics import Diagnostic, Edit, Help, Label
from cajeta_dot.diagnostics.render import render_short, render_text
from cajeta_dot.diagnostics.rules import ACCUMULATOR_LANES, NARROWING, SUM_RANGE, SYNTAX, USAGE
from cajeta_dot.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.diagnostics import Rule

KERNEL = "\n" * 8 + "    Vector<int32,8> acc = 0;\n\n\n    acc = w.dotAccum(x, acc);\n"


def mark(text: str, part: str, words: str = "", nth: int = 0) -> Label:
    """A label at the nth place where `part` stands."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(part, at + 1)
    return Label(at, at + len(part), words)


def draw(text: str, primary: Label, *secondary: Label, notes: tuple[str, ...] = (), helps: tuple[Help, ...] = ()) -> str:
    source = Source("k.cj", text)
    return render_text(Diagnostic(SYNTAX, "error", "what is wrong", source, primary, secondary, notes, helps))


def picture(text: str) -> str:
    """A picture as it stands in this file, below a first empty line."""
    return text.strip("\n")


def test_example_of_the_reference() -> None:
    diagnostic = Diagnostic(
        ACCUMULATOR_LANES,
        "error",
        "accumulator of `dotAccum` must have 16 lanes for 64-lane operands, found 8",
        Source("q4.cj", KERNEL),
        mark(KERNEL, "acc", "`Vector<int32,8>`", nth=2),
        (mark(KERNEL, "w", "64 lanes, four to one accumulator lane"),),
        helps=(Help("declare the accumulator with 16 lanes", (Edit(*place(KERNEL, "8"), "16"),), "unsafe"),),
    )
    assert render_text(diagnostic) == picture("""
error[E0406]: accumulator of `dotAccum` must have 16 lanes for 64-lane operands, found 8
  --> q4.cj:12:25
   |
12 |     acc = w.dotAccum(x, acc);
   |           -             ^^^ `Vector<int32,8>`
   |           |
   |           64 lanes, four to one accumulator lane
   |
help: declare the accumulator with 16 lanes
   |
 9 |     Vector<int32,16> acc = 0;
   |                  ~~
""")


def place(text: str, part: str, nth: int = 0) -> tuple[int, int]:
    label = mark(text, part, nth=nth)
    return label.start, label.end


NESTED = "int x = foo(bar(baz));\n"
BLOCK = "void k(\n    int a,\n    int b\n) {\n  go();\n}\n"
WIDE = "\tint\t世界 = e\u0301x + 1;\n"
LONG = "a" * 5000 + " + b + " + "c" * 5000 + " + d"
PICTURES = {
    "one": (
        draw(NESTED, mark(NESTED, "bar", "here")),
        """
error[E0109]: what is wrong
 --> k.cj:1:13
  |
1 | int x = foo(bar(baz));
  |             ^^^ here
""",
    ),
    "a place between": (
        draw("a\r\n  b\r\n", Label(1, 1), Label(5, 6, "next")),
        """
error[E0109]: what is wrong
 --> k.cj:1:2
  |
1 | a
  |  ^
2 |   b
  |   - next
""",
    ),
    "end of file": (
        draw("{\n", Label(2, 2, "file ends here"), Label(0, 1)),
        """
error[E0109]: what is wrong
 --> k.cj:2:1
  |
1 | {
  | -
2 |
  | ^ file ends here
""",
    ),
    "nothing at all": (
        draw("", Label(0, 0, "empty")),
        """
error[E0109]: what is wrong
 --> k.cj:1:1
  |
1 |
  | ^ empty
""",
    ),
    "inside each other": (
        draw(NESTED, mark(NESTED, "bar(baz)", "inner"), mark(NESTED, "foo(bar(baz))", "outer"), mark(NESTED, "foo", "name")),
        """
error[E0109]: what is wrong
 --> k.cj:1:13
  |
1 | int x = foo(bar(baz));
  |         ----^^^^^^^^-
  |         |   |
  |         |   inner
  |         outer
  |         name
""",
    ),
    "operator and operands": (
        draw("s / u", mark("s / u", "/"), mark("s / u", "s", "int32"), mark("s / u", "u", "uint32")),
        """
error[E0109]: what is wrong
 --> k.cj:1:3
  |
1 | s / u
  | - ^ - uint32
  | |
  | int32
""",
    ),
    "lines apart": (
        draw("a\nb\nc\nd\ne\nf\n", mark("a\nb\nc\nd\ne\nf\n", "a"), Label(4, 5), Label(10, 11, "far")),
        """
error[E0109]: what is wrong
 --> k.cj:1:1
  |
1 | a
  | ^
2 | b
3 | c
  | -
...
6 | f
  | - far
""",
    ),
    "over lines": (
        draw(BLOCK, Label(0, BLOCK.index(" {"), "this head"), mark(BLOCK, "b", "inside")),
        """
error[E0109]: what is wrong
 --> k.cj:1:1
  |
1 | / void k(
2 | |     int a,
3 | |     int b
  | |         - inside
4 | | ) {
  | |_^ this head
""",
    ),
    "over lines from the middle": (
        draw(BLOCK, Label(BLOCK.index("{"), len(BLOCK) - 1, "this block")),
        """
error[E0109]: what is wrong
 --> k.cj:4:3
  |
4 |   ) {
  |  ___^
5 | |   go();
6 | | }
  | |_^ this block
""",
    ),
    "over many lines": (
        draw("{\n" + "\n".join("abcdefgh") + "\n}\n", Label(0, 19, "")),
        """
error[E0109]: what is wrong
  --> k.cj:1:1
   |
 1 | / {
 2 | | a
...  |
 9 | | h
10 | | }
   | |_^
""",
    ),
    "two over lines": (
        draw("f(\n  g(\n)\n)\n", Label(1, 11, "outer"), Label(6, 9, "inner")),
        """
error[E0109]: what is wrong
 --> k.cj:1:2
  |
1 |     f(
  |  ____^
2 | |     g(
  | |  ____-
3 | | | )
  | | |_- inner
4 | |   )
  | |___^ outer
""",
    ),
    "tabs, wide and combining": (
        draw(WIDE, mark(WIDE, "世界", "two wide"), mark(WIDE, "e\u0301", "one cell"), mark(WIDE, "1", "digit")),
        """
error[E0109]: what is wrong
 --> k.cj:1:6
  |
1 |     int    世界 = e\u0301x + 1;
  |            ^^^^   -    - digit
  |            |      |
  |            |      one cell
  |            two wide
""",
    ),
    "what steers terminals": (
        draw("x\x1b[31m\u202ey\x00\n", mark("x\x1b[31m\u202ey", "y", "a\x1b\nb")),
        """
error[E0109]: what is wrong
 --> k.cj:1:8
  |
1 | x␛[31m\ufffdy␀
  |        ^ a␛ b
""",
    ),
    "a long line": (
        draw(LONG, mark(LONG, "b", "here"), Label(len(LONG) - 1, len(LONG), "and here")),
        f"""
error[E0109]: what is wrong
 --> k.cj:1:5004
  |
1 | ...{"a" * 37} + b + {"c" * 37}...{"c" * 37} + d
  |    {" " * 37}   ^   {" " * 37}   {" " * 37}   - and here
  |    {" " * 37}   |
  |    {" " * 37}   here
""",
    ),
    "a long label": (
        draw(LONG, Label(0, 5000, "all these")),
        f"""
error[E0109]: what is wrong
 --> k.cj:1:1
  |
1 | {"a" * 60}...{"a" * 20} + b + {"c" * 33}...
  | {"^" * 83} all these
""",
    ),
    "notes and helps": (
        draw(NESTED, mark(NESTED, "x"), notes=("first\nand more",), helps=(Help("only words"),)),
        """
error[E0109]: what is wrong
 --> k.cj:1:5
  |
1 | int x = foo(bar(baz));
  |     ^
  |
  = note: first
          and more
  = help: only words
""",
    ),
    "edits": (
        draw(
            NESTED,
            mark(NESTED, "x"),
            helps=(
                Help("put in", (Edit(21, 21, ";"), Edit(8, 8, "(int8) "))),
                Help("exchange", (Edit(4, 5, "name"),)),
                Help("take out", (Edit(11, 21, ""),)),
                Help("a line more", (Edit(0, 0, "int y;\n"),)),
            ),
        ),
        """
error[E0109]: what is wrong
 --> k.cj:1:5
  |
1 | int x = foo(bar(baz));
  |     ^
  |
help: put in
  |
1 | int x = (int8) foo(bar(baz));;
  |         +++++++             +
help: exchange
  |
1 | int name = foo(bar(baz));
  |     ~~~~
help: take out
  |
1 - int x = foo(bar(baz));
1 + int x = foo;
help: a line more
  |
1 + int y;
""",
    ),
    "edits over lines": (
        draw(
            "a\nb\nc\nd\ne\n",
            Label(0, 1),
            helps=(Help("join", (Edit(2, 5, "bc"),)), Help("two", (Edit(0, 1, "A"), Edit(8, 9, "E")))),
        ),
        """
error[E0109]: what is wrong
 --> k.cj:1:1
  |
1 | a
  | ^
  |
help: join
  |
2 - b
3 - c
2 + bc
help: two
  |
1 | A
  | ~
...
5 | E
  | ~
""",
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str) -> None:
    drawn, expected = PICTURES[name]
    assert drawn == picture(expected)


def test_no_row_ends_in_a_space() -> None:
    assert [row for drawn, _ in PICTURES.values() for row in drawn.split("\n") if row != row.rstrip()] == []


def test_frame_is_as_wide_as_the_line_numbers_of_helps() -> None:
    text = "a;\n" * 120
    drawn = draw(text, Label(0, 1), helps=(Help("there", (Edit(3 * 110, 3 * 110 + 1, "b"),)),))
    assert "  1 | a;\n    | ^" in drawn
    assert "111 | b;\n    | ~" in drawn


def test_command_line_has_no_place() -> None:
    diagnostic = Diagnostic(USAGE, "error", "no option `--x`", None, None, helps=(Help("did you mean `-x`?"),))
    assert render_text(diagnostic) == "error[E0003]: no option `--x`\n  = help: did you mean `-x`?"
    assert render_short(diagnostic) == "cajetac: error[E0003]: no option `--x`"


@pytest.mark.parametrize(
    ("rule", "severity", "suffix"),
    [
        (NARROWING, "warning", " [-Wnarrowing]"),
        (NARROWING, "error", " [-Werror=narrowing]"),
        (SUM_RANGE, "remark", " [-Rsum-range]"),
        (SYNTAX, "error", ""),
    ],
)
def test_short_is_one_line_with_the_switch(rule: Rule, severity: str, suffix: str) -> None:
    diagnostic = Diagnostic(rule, severity, "first\nsecond", Source("a b.cj", "\n\t x"), Label(3, 4))
    assert render_short(diagnostic) == f"a b.cj:2:3: {severity}[{rule.code}]: first second{suffix}"


@pytest.mark.parametrize("render", [render_text, render_short])
def test_colours_only_where_wanted(render: Callable[..., str]) -> None:
    text = "int x = 1;\nint y;\n"
    helps = (Help("so", (Edit(4, 5, "z"),)), Help("or", (Edit(4, 5, ""),)))
    diagnostic = Diagnostic(
        NARROWING, "warning", "m", Source("k.cj", text), Label(4, 5, "x"), (Label(0, 18, "b"),), ("n",), helps
    )
    plain, coloured = render(diagnostic), render(diagnostic, True)
    assert "\x1b" not in plain
    assert "\x1b[1;33mwarning[W0302]\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
