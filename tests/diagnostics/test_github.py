"""Workflow commands, with everything escaped that would end or split one."""

from __future__ import annotations

import pytest

from cajeta_dot.diagnostics import Diagnostic, Help, Label
from cajeta_dot.diagnostics.render_github import render_github
from cajeta_dot.diagnostics.rules import LANE_COUNT, NARROWING, SCALARIZED, USAGE
from cajeta_dot.source import Source

SOURCE = Source("k.cj", "a\n\té w\n")
CASES = [
    (Diagnostic(LANE_COUNT, "error", "m", SOURCE, Label(5, 6)), "::error file=k.cj,line=2,col=4,title=E0402 lane-count::m"),
    (Diagnostic(NARROWING, "warning", "m", SOURCE, Label(0, 9)), "::warning file=k.cj,line=1,col=1,title=W0302 narrowing::m"),
    (Diagnostic(NARROWING, "error", "m", SOURCE, Label(0, 1)), "::error file=k.cj,line=1,col=1,title=W0302 narrowing::m"),
    (Diagnostic(SCALARIZED, "remark", "m", None, None), "::notice title=R0601 scalarized::m"),
    (Diagnostic(USAGE, "error", "100%:, a\r\nb", None, None), "::error title=E0003 usage::100%25:, a%0D%0Ab"),
    (
        Diagnostic(NARROWING, "warning", "m", Source("a,b:%\n.cj", ""), Label(0, 0), (), ("n",), (Help("h"), Help("i"))),
        "::warning file=a%2Cb%3A%25%0A.cj,line=1,col=1,title=W0302 narrowing::m%0Anote: n%0Ahelp: h%0Ahelp: i",
    ),
]


@pytest.mark.parametrize(("diagnostic", "line"), CASES)
def test_render(diagnostic: Diagnostic, line: str) -> None:
    assert render_github(diagnostic) == line
