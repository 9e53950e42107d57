"""Every page tells the truth: its wrong example is answered as it shows, its right one with silence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.diagnostics import rules
from cajeta_dot.diagnostics.rules import RULES
from cajeta_dot.diagnostics.switches import ALWAYS

from .pages import FILE, INDEX, INDEX_HEADING, Example, list_pages, list_rules, read_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

ROOT = Path(rules.__file__).parents[3]
_CODE = re.compile(r"^(?:error|warning|remark)\[(\w+)\]: ", re.MULTILINE)
_BLAME = re.compile(r"\b(?:simply|just|obvious(?:ly)?|illegal|invalid|stupid|please|easy|easily)\b|!(?![=`~])", re.IGNORECASE)
_VARIABLES = {rule.code: name for name, rule in vars(rules).items() if isinstance(rule, rules.Rule)}

LAST_SECTION = {"E": [], "W": ["When it is meant"], "R": ["Switches"]}

pages = pytest.mark.parametrize("code", list_pages())
reported = [code for code in list_pages() if read_page(code).wrong]


def run(example: Example, folder: Path, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> str:
    """All that comes out in a folder that holds nothing but the example."""
    monkeypatch.chdir(folder)
    for name, value in example.environment.items():
        monkeypatch.setenv(name, value)
    (folder / FILE).write_bytes(example.content)
    result = cajetac("--color", "never", *example.words)
    return result.out + result.err


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert list_pages() == sorted(RULES)


def test_the_overview_lists_all_codes() -> None:
    assert INDEX.read_text(encoding="utf-8").partition(INDEX_HEADING)[2] == list_rules()


@pages
def test_the_head_is_that_of_the_table(code: str) -> None:
    page, rule = read_page(code), RULES[code]
    assert page.title == f"# {code} {rule.name}: {rule.summary}"
    assert page.why.count(".") >= 1
    assert page.sections == ["Wrong", "Right", *LAST_SECTION[code[0]]]


@pytest.mark.parametrize("code", reported)
def test_the_wrong_example_is_answered_as_shown(
    code: str, tmp_path: Path, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = read_page(code).wrong
    assert wrong
    answer = run(wrong, tmp_path, cajetac, monkeypatch)
    assert answer.rstrip("\n") == wrong.shown.rstrip("\n")
    assert set(_CODE.findall(answer)) == {code}


@pages
def test_the_right_examples_are_clean(
    code: str, tmp_path: Path, cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = read_page(code).right
    assert right
    for example in right:
        assert run(example, tmp_path, cajetac, monkeypatch).rstrip("\n") == example.shown.rstrip("\n")
        assert not _CODE.search(example.shown)


@pages
def test_switches_are_named(code: str) -> None:
    """Warnings can be turned off and remarks on; a page says with what."""
    page, rule = read_page(code), RULES[code]
    if code[0] in "WR":
        assert f"`-Wno-{rule.name}`" in page.text or f"`-R {rule.name}`" in page.text
        assert (f"-Wno-{rule.name}" in page.text) == (code[0] == "W" or code in ALWAYS)


@pages
def test_wording(code: str) -> None:
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", read_page(code).text, flags=re.MULTILINE | re.DOTALL)
    assert not _BLAME.search(text)
    assert max(map(len, text.splitlines())) <= 128


@pages
def test_what_is_not_reported_yet_is_used_nowhere(code: str) -> None:
    """As soon as something uses the rule, its page has to show what comes out."""
    sources = [path for folder in ("cajeta_dot", "backends") for path in (ROOT / folder).rglob("*.py")]
    name = re.compile(rf"\b{_VARIABLES[code]}\b")
    uses = [path for path in sources if path != Path(rules.__file__) and name.search(path.read_text(encoding="utf-8"))]
    assert bool(uses) == (read_page(code).wrong is not None)
