"""The fast driver gives what lark's own parser gives: rules, spans, tokens, and the place of the first mistake."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest
from lark import logger

from cajeta_dot.grammar import tables
from cajeta_dot.syntax.build import BUILDERS

from .kernels import write_program
from .random_programs import Generator
from .reference import GRAMMAR, LARK, TABLES, compare_with_lark

SAMPLES = sorted((Path(__file__).parents[2] / "samples").rglob("*.cj"))
GENERATOR_DEPTHS = (12, 20, 30, 45)


def find_conflicts(grammar: str, caplog: pytest.LogCaptureFixture) -> bool:
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        with caplog.at_level(logging.DEBUG, logger="lark"):
            caplog.clear()
            tables.make_lark(grammar, debug=True)
    finally:
        logger.setLevel(level)
    return "onflict" in caplog.text


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    assert not find_conflicts(GRAMMAR, caplog)
    ambiguous = GRAMMAR.replace("?unary: postfix", '?unary: postfix | unary "." NAME')
    assert ambiguous != GRAMMAR
    assert find_conflicts(ambiguous, caplog)


def test_every_alternative_has_a_builder_and_every_builder_an_alternative() -> None:
    assert {name for _, _, name, passes in TABLES["rules"] if not passes} == BUILDERS.keys()


@pytest.mark.parametrize("seed", range(120))
def test_random_programs(seed: int) -> None:
    rng = random.Random(seed)
    start = "unit" if seed % 3 else "expression"
    compare_with_lark(Generator(LARK.rules, LARK.terminals, rng).draw(start, rng.choice(GENERATOR_DEPTHS)), start)


def test_most_random_programs_are_accepted() -> None:
    """Else the comparison above would compare little."""
    generator = Generator(LARK.rules, LARK.terminals, random.Random(1))
    sizes = [compare_with_lark(generator.draw(limit=20)) for _ in range(40)]
    accepted = [size for size in sizes if size is not None]
    assert len(accepted) > len(sizes) // 2
    assert max(accepted) > 200


def test_generated_kernels() -> None:
    size = compare_with_lark(write_program(1500))
    assert size is not None
    assert size > 20_000


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.name)
def test_samples(file: Path) -> None:
    assert compare_with_lark(file.read_text(encoding="utf-8"))
