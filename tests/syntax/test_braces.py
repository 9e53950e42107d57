"""A file with a brace too few or too many: the blame goes to the line whose indentation says so."""

from __future__ import annotations

import re

import pytest

from cajeta_dot.syntax.braces import mend_braces

from .diagnose import diagnose

PROGRAM = """package a.b;

public class Rows {
    static final int32 BLOCK = 64;

    @Device
    static int32 clip(int32 v,
            int32 limit) {
        if (v > limit)
        {
            return limit;
        }
        return v;
    }

    @Kernel
    public static void rows(KernelBuffer<int32> out, KernelBuffer<int8> x, uint32 n) {
        uint32 row = KernelThread.globalIdX();
        if (row < n) {
            int32 sum = 0;
            for (int32 i = 0; i < BLOCK; i++) {
                if (i % 2 == 0) {
                    sum += x[i];
                } else if (i > 7) { // "{"
                    sum -= x[i];
                } else {
                    sum = clip(sum, 3);
                }
            }
            while (sum > 7) { sum = sum / 2; }
            out[row] = sum;
        }
    }

    static int32 last() { return BLOCK - 1; }
}
"""
COMMENTED = re.compile(r"//.*")
BRACES = [match.start() for match in re.finditer("[{}]", COMMENTED.sub(lambda match: " " * len(match[0]), PROGRAM))]


def name_place(at: int) -> str:
    return f"line {PROGRAM.count(chr(10), 0, at) + 1}, {PROGRAM[at]}"


def find_partner(at: int) -> int:
    """The brace that belongs to one of the program."""
    opened: list[int] = []
    for place in BRACES:
        if PROGRAM[place] == "{":
            opened.append(place)
        elif at in (place, opening := opened.pop()):
            return opening if at == place else place
    raise AssertionError


@pytest.mark.parametrize("tabs", [False, True])
@pytest.mark.parametrize("at", [at for at in BRACES if PROGRAM[at] == "}"], ids=name_place)
def test_a_closing_brace_left_out(at: int, tabs: bool) -> None:
    text = PROGRAM[:at] + " " + PROGRAM[at + 1 :]
    unit, found = diagnose(text.replace("    ", "\t") if tabs else text)
    assert unit
    assert [diagnostic.code for diagnostic in found] == ["E0105"]
    opening = find_partner(at)
    assert found[0].line == PROGRAM.count("\n", 0, opening) + 1
    assert found[0].message == "this `{` is not closed"


@pytest.mark.parametrize("at", [at for at in BRACES if PROGRAM[at] == "}"], ids=name_place)
def test_a_closing_brace_too_many(at: int) -> None:
    line = PROGRAM.rfind("\n", 0, at) + 1
    indent = PROGRAM[line : len(PROGRAM) - len(PROGRAM[line:].lstrip())]
    unit, found = diagnose(f"{PROGRAM[: at + 1]}\n{indent}}}{PROGRAM[at + 1 :]}")
    assert unit
    assert [diagnostic.code for diagnostic in found] == ["E0106"]
    assert found[0].line in (PROGRAM.count("\n", 0, at) + 1, PROGRAM.count("\n", 0, at) + 2)


@pytest.mark.parametrize("at", [at for at in BRACES if PROGRAM[at] == "{"], ids=name_place)
def test_an_opening_brace_left_out(at: int) -> None:
    unit, found = diagnose(PROGRAM[:at] + " " + PROGRAM[at + 1 :])
    assert unit
    assert len(found) == 1
    assert found[0].code in ("E0106", "E0109")


def test_other_mistakes_are_found_too() -> None:
    text = PROGRAM.replace("return limit;\n        }", "return limit").replace("BLOCK - 1", "BLOCK - ")
    _, found = diagnose(text)
    assert [diagnostic.code for diagnostic in found] == ["E0105", "E0104", "E0109"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("class A {\nvoid f() {\nx = 1;\n}\n}\n}\n", ["E0106"]),
        ("class A {\nvoid f() {\nx = 1;\n}\n", ["E0105"]),
        ("class A { void f() { if (a) { x = 1; } public void g() { } }", ["E0105"]),
        ("class A { void f() { x = 1; } } }", ["E0106"]),
        ("void f() {\n    x = 1; }\nvoid g() {\n    y = 1; } }\n", ["E0106"]),
    ],
)
def test_without_indentation(text: str, codes: list[str]) -> None:
    _, found = diagnose(text)
    assert [diagnostic.code for diagnostic in found] == codes


@pytest.mark.parametrize("text", ["class A {\nvoid f() {\nx = 1;\n}\n}\n}\n", "class A {\nvoid f() {\nvoid g() {\n}\n}\n"])
def test_other_habits_of_indentation_tell_nothing(text: str) -> None:
    assert mend_braces(text, text) is None


def test_the_labels_say_where_it_shows() -> None:
    text = PROGRAM.replace("sum = clip(sum, 3);\n                }", "sum = clip(sum, 3);")
    _, (found,) = diagnose(text)
    (second,) = found.secondary
    assert second.text == "expected `}` here"
    assert text[: second.start].endswith("sum = clip(sum, 3);")
