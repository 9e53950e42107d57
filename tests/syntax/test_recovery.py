"""Recovery ends, never raises, keeps what is correct, and takes no longer than the length of the text asks for."""

from __future__ import annotations

import random
import re
import time
from typing import TYPE_CHECKING, cast

import pytest

from cajeta_dot.record import fields_of
from cajeta_dot.syntax import parse, tree
from cajeta_dot.syntax.comments import blank_comments
from cajeta_dot.syntax.machine import load_machine
from cajeta_dot.syntax.parse import MAX_DEPTH, parse_text
from cajeta_dot.syntax.recover import MAX_PROBLEMS

from .diagnose import BODY, diagnose
from .kernels import write_program

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 20  # for a hundred thousand of anything; about one is usual


def assert_sound(node: tree.Node, length: int) -> int:
    """Every span lies within that of its parent. Returns the number of nodes."""
    work, count = [node], 0
    while work:
        node = work.pop()
        count += 1
        assert 0 <= node.start <= node.end <= length
        for name in fields_of(type(node)):
            item = getattr(node, name)
            for child in cast("tuple[object, ...]", item) if isinstance(item, tuple) else (item,):
                if isinstance(child, tree.Node):
                    assert node.start <= child.start
                    assert child.end <= node.end
                    work.append(child)
    return count


def test_the_rest_survives_a_mistake() -> None:
    unit, found = diagnose("class C { void a() { x = ; y = 3; } int32 = 4 5 6; void c() { } }")
    assert len(found) == 2
    assert unit
    (c,) = unit.members
    assert isinstance(c, tree.Class)
    a, b, after = c.members
    assert isinstance(a, tree.Method)
    assert isinstance(b, tree.Bad)
    assert isinstance(after, tree.Method)
    assert a.body
    assert [type(item) for item in a.body.items] == [tree.ExpressionStatement, tree.ExpressionStatement]


def test_a_bad_statement_is_a_node() -> None:
    text = BODY.format("x = 1; x := 3 4 5; y = 2;")
    unit, found = diagnose(text)
    assert [diagnostic.code for diagnostic in found] == ["E0109"]
    assert unit
    assert assert_sound(unit, len(text)) > 10


@pytest.mark.parametrize("seed", range(40))
def test_random_damage(seed: int) -> None:
    text = write_program(60)
    rng = random.Random(seed)
    for _ in range(5):
        a = rng.randrange(len(text))
        b = min(len(text), a + rng.choice((1, 2, 5, 40, 10**6)))
        piece = rng.choice(("", "", "}", "{", ")", ";", "(", "else", '"', "\u201c", "<", "->", "@", "/*", "int32", "\0"))
        damaged = text[:a] + piece + text[b:]
        unit, found = diagnose(damaged)
        assert unit is not None
        if not found:
            assert_sound(unit, len(damaged))
        for diagnostic in found:
            assert diagnostic.primary
            assert 0 <= diagnostic.primary.start <= diagnostic.primary.end <= len(damaged)


def test_a_token_left_out_or_doubled_is_one_mistake() -> None:
    """Not always, since some are no mistake to the parser and some look like two: but nearly."""
    text = write_program(40)
    tokens = [match.span(match.lastindex or 0) for match in load_machine().scan(blank_comments(text)[0])][:-1]
    rng = random.Random(3)
    counts: list[int] = []
    for start, end in rng.sample(tokens, 100):
        for piece in "", f"{text[start:end]} {text[start:end]}":
            counts.append(len(diagnose(text[:start] + piece + text[end:])[1]))
    assert sum(count <= 1 for count in counts) >= 190
    assert sum(count == 0 for count in counts) <= 40


UNITS = [
    *("(", "-", "{", "[", "a ? b : ", "a = ", "if (a) {} else ", "a + ", "a<", "a.", "f(", "x;", "}", "/*", '"', "'", "@"),
    *(")", "]", "\uff1b", "²", "\u201c", "a<b,", "new X", "switch(x){", "(x)->", "int32 view;", "{\n", "}\n", "  {\n}\n}"),
    *("else ", ";", "a<b>", "\n", "class X {", "void f() {", "for (;", "\0", "x = 1 2; ", "a b c ", "@Kernel ", "case 1: "),
]


@pytest.mark.parametrize("unit", UNITS, ids=[repr(unit) for unit in UNITS])
def test_fifty_thousand_of_anything(unit: str) -> None:
    before = time.perf_counter()
    _, found = diagnose("class C { void k() { x = 1; " + unit * 50_000)
    assert time.perf_counter() - before < SECONDS
    assert 0 < len(found) <= MAX_PROBLEMS + 1


@pytest.mark.parametrize(("left", "right"), [("(", ")"), ("- ", ""), ("[", "]"), ("f(", ")"), ("a = ", "")])
def test_nesting_has_a_limit(left: str, right: str) -> None:
    for depth in MAX_DEPTH // 3, MAX_DEPTH + 1:
        unit, found = diagnose(BODY.format(f"x = {left * depth}1{right * depth};"))
        deep = depth > MAX_DEPTH
        assert [diagnostic.code for diagnostic in found] == ["E0111"] * deep
        assert (unit is None) == deep


def test_what_is_found_before_the_limit_is_reported() -> None:
    _, found = diagnose(BODY.format("x = ; y = " + "(" * MAX_DEPTH))
    assert [diagnostic.code for diagnostic in found] == ["E0109", "E0111"]


def test_an_expression_may_be_all_of_a_text() -> None:
    found, problems = parse_text("a + (b", "expression")
    assert isinstance(found, tree.Binary)
    assert len(problems) == 1


def test_tokens_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = BODY.format("x = 1 + 2 ;  ")
    tokens = len(list(load_machine().scan(text))) - 1
    for limit, codes in ((tokens - 1, ["E0112"]), (tokens, []), (tokens + 1, [])):
        monkeypatch.setattr(parse, "MAX_TOKENS", limit)
        unit, found = diagnose(text)
        assert [diagnostic.code for diagnostic in found] == codes
        assert (unit is None) == bool(codes)
        for diagnostic in found:
            assert diagnostic.primary
            assert text[diagnostic.primary.start :] == "}"
            assert diagnostic.message == f"the file has more than {limit} words and marks, the most that is read"


@pytest.mark.parametrize("text", ["x = ; y = 1; /*", "x = " + "(" * MAX_DEPTH, "x = 1; }"])
def test_of_too_many_tokens_nothing_else_is_told(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = BODY.format(text)
    tokens = sum(match[match.lastindex or 0] != "" for match in load_machine().scan(blank_comments(text)[0]))
    monkeypatch.setattr(parse, "MAX_TOKENS", tokens - 1)
    unit, found = diagnose(text)
    assert [diagnostic.code for diagnostic in found] == ["E0112"]
    assert unit is None


def test_tokens_of_a_correct_text_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = write_program(100)
    machine = load_machine()
    scan, texts = machine.scan, list[str]()

    def count(text: str) -> Iterator[re.Match[str]]:
        texts.append(text)
        return scan(text)

    monkeypatch.setattr(machine, "scan", count)
    monkeypatch.setattr(parse, "MAX_TOKENS", len(text) - 1)
    unit, found = diagnose(text)
    assert unit
    assert not found
    assert len(texts) == 1
