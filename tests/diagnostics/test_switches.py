"""Every switch against every severity."""

from __future__ import annotations

import pytest

from cajeta_dot.diagnostics import Diagnostic
from cajeta_dot.diagnostics.rules import (
    ANNOTATION,
    LITERAL_RANGE,
    NARROWING,
    NO_OP_MASK,
    SCALARIZED,
    SIGNEDNESS,
    SKIPPED_METHOD,
    SUM_RANGE,
)
from cajeta_dot.diagnostics.switches import UnknownSwitch, apply_switches, read_switches

RULES = (LITERAL_RANGE, NARROWING, SIGNEDNESS, NO_OP_MASK, SUM_RANGE, SCALARIZED, SKIPPED_METHOD, ANNOTATION)
FOUND = [Diagnostic(rule, rule.severity, "m", None, None) for rule in RULES]
E, W, R = "error", "warning", "remark"
USUAL = {"E0303": E, "W0302": W, "W0301": W, "W0306": W, "R0602": R, "R0603": R}
WITHOUT_WARNINGS = {"E0303": E, "R0602": R, "R0603": R}
ALL_ERRORS = {**USUAL, "W0302": E, "W0301": E, "W0306": E}


def without(*codes: str) -> dict[str, str]:
    return {code: severity for code, severity in USUAL.items() if code not in codes}


CASES: dict[str, dict[str, str]] = {
    "": USUAL,
    "-Wall": USUAL,
    "-w": WITHOUT_WARNINGS,
    "-w -Wall": USUAL,
    "-w -Wnarrowing": WITHOUT_WARNINGS,
    "-w -Werror": WITHOUT_WARNINGS,
    "-w -Werror=narrowing": WITHOUT_WARNINGS,
    "-Wno-narrowing": without("W0302"),
    "-Wno-W0302": without("W0302"),
    "-Wno-narrowing -Wall": without("W0302"),
    "-Wno-narrowing -Wnarrowing": USUAL,
    "-Wno-narrowing -WW0302": USUAL,
    "-Wno-narrowing -Wsignedness": without("W0302"),
    "-Wno-no-op-mask": without("W0306"),
    "-Wno-op-mask": USUAL,
    "-Wno-skipped-method": without("R0602"),
    "-Werror": ALL_ERRORS,
    "-Werror -Wno-error": USUAL,
    "-Werror -Wno-error=narrowing": {**ALL_ERRORS, "W0302": W},
    "-Wno-error=narrowing -Werror": {**ALL_ERRORS, "W0302": W},
    "-Werror -Wno-narrowing": {code: s for code, s in ALL_ERRORS.items() if code != "W0302"},
    "-Werror=narrowing": {**USUAL, "W0302": E},
    "-Wno-narrowing -Werror=narrowing": {**USUAL, "W0302": E},
    "-Werror=narrowing -Wno-narrowing": without("W0302"),
    "-Werror=narrowing -Wno-error=narrowing": USUAL,
    "-Werror=scalarized": {**USUAL, "R0601": E},
    "-Werror=scalarized -Wno-error=scalarized": {**USUAL, "R0601": R},
    "-Wscalarized": {**USUAL, "R0601": R},
    "-Rscalarized": {**USUAL, "R0601": R},
    "-RR0601": {**USUAL, "R0601": R},
    "-Rsum-range -Rscalarized": {**USUAL, "R0405": R, "R0601": R},
    "-Rall": {**USUAL, "R0405": R, "R0601": R},
    "-Rall -Wno-scalarized": {**USUAL, "R0405": R},
    "-Rall -w": {**WITHOUT_WARNINGS, "R0405": R, "R0601": R},
    "-Rall -Werror": {**ALL_ERRORS, "R0405": R, "R0601": R},
}


@pytest.mark.parametrize("flags", CASES)
def test_switches(flags: str) -> None:
    shown = apply_switches(FOUND, read_switches(flags.split()))
    assert {diagnostic.code: diagnostic.severity for diagnostic in shown} == CASES[flags]
    assert [d.rule for d in shown] == [rule for rule in RULES if rule.code in CASES[flags]]


def test_what_does_not_change_is_the_same_object() -> None:
    assert all(new in FOUND for new in apply_switches(FOUND, read_switches([])))


@pytest.mark.parametrize(
    ("flag", "complaint", "help"),
    [
        ("-Wno-narowing", "`-Wno-narowing` names no warning", "did you mean `narrowing`?"),
        ("-Wno-no-op-maks", "`-Wno-no-op-maks` names no warning", "did you mean `no-op-mask`?"),
        ("-Wno-error=tial", "`-Wno-error=tial` names no warning", "did you mean `tail`?"),
        ("-Werror=scalarised", "`-Werror=scalarised` names no warning", "did you mean `scalarized`?"),
        ("-Wxyzzy", "`-Wxyzzy` names no warning", ""),
        ("-Werror=", "`-Werror=` names no warning", ""),
        ("-Wno-literal-range", "`-Wno-literal-range` names an error, not a warning", ""),
        ("-Rnarrowing", "`-Rnarrowing` names a warning, not a remark", ""),
        ("-Rsumrange", "`-Rsumrange` names no remark", "did you mean `sum-range`?"),
    ],
)
def test_unknown_names(flag: str, complaint: str, help: str) -> None:
    with pytest.raises(UnknownSwitch, match="names") as caught:
        read_switches([flag])
    assert (str(caught.value), caught.value.help) == (complaint, help)
