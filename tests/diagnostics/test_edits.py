"""Which helps are made together, and what they make of a text."""

from __future__ import annotations

import pytest

from cajeta_dot.diagnostics import Diagnostic, Edit, Help, Label
from cajeta_dot.diagnostics.edits import apply_edits, choose_helps
from cajeta_dot.diagnostics.rules import NARROWING


def find(*helps: Help) -> Diagnostic:
    return Diagnostic(NARROWING, "warning", "m", None, Label(0, 0), helps=helps)


def put(*edits: tuple[int, int, str], how: str = "machine") -> Help:
    return Help("m", tuple(Edit(*edit) for edit in edits), how)


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ([], "abcdef"),
        ([(0, 0, "x")], "xabcdef"),
        ([(6, 6, "x")], "abcdefx"),
        ([(4, 5, ""), (0, 2, "xyz")], "xyzcdf"),
        ([(3, 3, "1"), (3, 3, "2")], "abc12def"),
        ([(2, 3, "x"), (3, 4, "y")], "abxyef"),
        ([(0, 6, "")], ""),
    ],
)
def test_apply(edits: list[tuple[int, int, str]], text: str) -> None:
    assert apply_edits("abcdef", [Edit(*edit) for edit in edits]) == text


A, B, C = put((2, 5, "a")), put((0, 0, "("), (9, 9, ")")), put((4, 6, "c"))
INSERT, WHOLE = put((3, 3, "x")), put((0, 9, "x"))
UNSAFE, TEXT = put((2, 5, "u"), how="unsafe"), Help("words")


# Helps of each diagnostic, those that are chosen, those that are chosen where unsafe ones may be.
CHOICES: list[tuple[list[list[Help]], list[Help], list[Help]]] = [
    ([[A]], [A], [A]),
    ([[TEXT]], [], []),
    ([[]], [], []),
    ([[TEXT, A, B]], [A], [A]),
    ([[UNSAFE]], [], [UNSAFE]),
    ([[UNSAFE, B]], [B], [B]),  # a safe one is better, wherever it stands
    ([[A], [B]], [A, B], [A, B]),  # around is not across
    ([[A], [C], [B]], [A, B], [A, B]),
    ([[C], [A]], [C], [C]),
    ([[UNSAFE], [C]], [C], [UNSAFE]),
    ([[A], [put((5, 5, "x"))]], [A], [A]),  # beside each other: whose text comes first?
    ([[A], [put((0, 2, "x"))]], [A], [A]),
    ([[INSERT], [put((3, 3, "y"))]], [INSERT], [INSERT]),
    ([[WHOLE], [A]], [WHOLE], [WHOLE]),
    ([[B], [put((7, 8, "x"), (9, 10, "y"))]], [B], [B]),  # one of its edits is enough
]


@pytest.mark.parametrize(("helps", "safe", "unsafe"), CHOICES)
def test_choose(helps: list[list[Help]], safe: list[Help], unsafe: list[Help]) -> None:
    found = [find(*each) for each in helps]
    assert choose_helps(found) == safe
    assert choose_helps(found, unsafe=True) == unsafe


def test_many_are_chosen_fast() -> None:
    found = [find(put((10 * i, 10 * i + 3, "x"))) for i in range(20_000)]
    assert len(choose_helps(found)) == len(found)
    assert len(apply_edits("." * 200_000, [edit for help in choose_helps(found) for edit in help.edits])) == 160_000
