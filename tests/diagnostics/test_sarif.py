"""The document for tools: every diagnostic is in it, in the words of the standard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cajeta_dot.diagnostics import Diagnostic, Edit, Help, Label
from cajeta_dot.diagnostics.pages import read_page
from cajeta_dot.diagnostics.render_sarif import render_sarif
from cajeta_dot.diagnostics.rules import LANE_COUNT, NARROWING, SKIPPED_METHOD, USAGE
from cajeta_dot.source import Source
from cajeta_dot.version import __version__

SOURCE = Source("größe 1.cj", "a\r\n\té w\n")
ERROR = Diagnostic(
    LANE_COUNT,
    "error",
    "`dotAccum` needs …",
    SOURCE,
    Label(6, 7, "6 lanes"),
    (Label(4, 6), Label(0, 1, "here")),
    ("a note",),
    (Help("pad", (Edit(6, 7, "v"), Edit(7, 7, "w")), "machine"), Help("words"), Help("risk", (Edit(0, 1, ""),), "unsafe")),
)
PLACES = [
    {"startLine": 2, "startColumn": 4, "endLine": 2, "endColumn": 5},
    {"startLine": 2, "startColumn": 2, "endLine": 2, "endColumn": 4},
    {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2},
    {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 5},
]
ARTIFACT = {"uri": "gr%C3%B6%C3%9Fe%201.cj"}


def run_of(*diagnostics: Diagnostic, exit_code: int = 1, limit: int = 0) -> dict[str, Any]:
    text = render_sarif(diagnostics, exit_code, limit)
    assert "\n" not in text
    assert text.isascii()
    document = json.loads(text)
    assert list(document) == ["$schema", "version", "runs"]
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert (run["tool"]["driver"]["name"], run["tool"]["driver"]["semanticVersion"]) == ("cajetac", __version__)
    return run


def test_a_source_error() -> None:
    def at(place: int) -> dict[str, Any]:
        return {"artifactLocation": ARTIFACT, "region": PLACES[place]}

    assert run_of(ERROR)["results"] == [
        {
            "ruleId": "E0402",
            "ruleIndex": 0,
            "level": "error",
            "message": {"text": "`dotAccum` needs …\nnote: a note\nhelp: words\nhelp: risk"},
            "locations": [{"physicalLocation": at(0), "message": {"text": "6 lanes"}}],
            "relatedLocations": [{"physicalLocation": at(1)}, {"physicalLocation": at(2), "message": {"text": "here"}}],
            "fixes": [
                {
                    "description": {"text": "pad"},
                    "artifactChanges": [
                        {
                            "artifactLocation": ARTIFACT,
                            "replacements": [
                                {"deletedRegion": PLACES[0], "insertedContent": {"text": "v"}},
                                {"deletedRegion": PLACES[3], "insertedContent": {"text": "w"}},
                            ],
                        }
                    ],
                }
            ],
        }
    ]


def test_rules_are_described_once() -> None:
    warning = Diagnostic(NARROWING, "error", "m", SOURCE, Label(0, 1))
    remark = Diagnostic(SKIPPED_METHOD, "remark", "m", SOURCE, Label(0, 1))
    run = run_of(warning, ERROR, remark, warning)
    rules = run["tool"]["driver"]["rules"]
    assert [(rule["id"], rule["defaultConfiguration"]["level"]) for rule in rules] == [
        ("W0302", "warning"),
        ("E0402", "error"),
        ("R0602", "note"),
    ]
    assert [(result["ruleIndex"], result["level"]) for result in run["results"]] == [
        (0, "error"),
        (1, "error"),
        (2, "note"),
        (0, "error"),
    ]
    page = read_page(NARROWING)
    assert rules[0]["name"] == "narrowing"
    assert rules[0]["shortDescription"] == {"text": NARROWING.summary}
    assert rules[0]["fullDescription"]["text"] in page
    assert rules[0]["help"] == {"text": page, "markdown": page}
    assert "relatedLocations" not in run["results"][0]
    assert "fixes" not in run["results"][0]


def test_the_command_line_is_a_notification() -> None:
    run = run_of(Diagnostic(USAGE, "error", "no file", None, None, helps=(Help("did you mean"),)), exit_code=2)
    assert run["results"] == []
    assert run["invocations"] == [
        {
            "executionSuccessful": False,
            "exitCode": 2,
            "toolConfigurationNotifications": [
                {
                    "associatedRule": {"id": "E0003", "index": 0},
                    "level": "error",
                    "message": {"text": "no file\nhelp: did you mean"},
                }
            ],
        }
    ]


def test_nothing_found() -> None:
    run = run_of(exit_code=0)
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 0}]


def test_a_list_that_was_cut() -> None:
    (invocation,) = run_of(ERROR, limit=20)["invocations"]
    told = {"level": "warning", "message": {"text": "too many errors, stopping after 20"}}
    assert invocation["toolExecutionNotifications"] == [told]


def test_paths_are_uris(tmp_path: Path) -> None:
    for name, uri in {
        "./a b/k.cj": "a%20b/k.cj",
        "<stdin>": "%3Cstdin%3E",
        str(tmp_path / "k.cj"): (tmp_path / "k.cj").as_uri(),
    }.items():
        run = run_of(Diagnostic(NARROWING, "warning", "m", Source(name, "x"), Label(0, 1)))
        assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}
