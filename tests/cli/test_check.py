"""What `check` prints in every form, and the exit code that follows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cajeta_dot.cli.messages import decide_colour

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

# One line each: an error, a warning and a remark that is always shown, at columns that are easy to count.
LINES = {
    "error": "    static int32 f{0}() {{ return lost{0}; }}",
    "warning": "    static int8 g{0}(int32 i) {{ return i; }}",
    "remark": '    static void h{0}() {{ String s = "x"; }}',
}
# Reported in another order than that of the text; the last two by the target.
ALL_PHASES = """class K {
    @Kernel public static void none(KernelBuffer<int8> x) { int8 y = x[0]; }
    @Mark static int32 sum(int8[] x, int32 n) {
        int32 total = 0;
        for (int32 i = 0; i < n; i += 64) { total += x.vload<64>(i).sum(); }
        return total;
    }
    static int8 low(int32 i) { return i; }
}
"""
PHASES = ["W0502", "W0401", "R0601", "R0406", "R0603", "W0501", "W0302"]
CODES = {"error": "E0201", "warning": "W0302", "remark": "R0602"}


def write(name: str, *lines: str) -> list[str]:
    """A file with such lines; gives the codes that are to come, in order."""
    body = "\n".join(LINES[line].format(number) for number, line in enumerate(lines))
    Path(name).write_text(f"public class {Path(name).stem.upper()} {{\n{body}\n}}\n")
    return [CODES[line] for line in lines]


def codes_of(text: str) -> list[str]:
    return re.findall(r"(?m)^(?:.*?: )?(?:error|warning|remark)\[(\w+)\]: ", text)


def records_of(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def results_of(text: str) -> list[dict[str, Any]]:
    """Those of a SARIF document, which is all that there is."""
    (run,) = json.loads(text)["runs"]
    return run["results"]


def titles_of(text: str) -> list[str]:
    """Codes in workflow commands, which are all that there is."""
    return [re.match(r"::(?:error|warning|notice) .*title=(\w+) ", line)[1] for line in text.splitlines()]  # type: ignore[index]


def test_silence_is_a_document_too(kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("check", kernel, "--diag-format=sarif")
    assert (result.code, result.out, results_of(result.err)) == (0, "", [])


@pytest.mark.parametrize("form", ["text", "short", "json", "github"])
def test_silence_is_success(form: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("check", kernel, f"--diag-format={form}")
    summary = '{"schema":1,"severity":"summary","errors":0,"warnings":0,"truncated":false}\n' if form == "json" else ""
    assert result == (0, "", summary)


@pytest.mark.parametrize("form", ["text", "short", "json", "sarif", "github"])
def test_all_severities_in_order(form: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    codes = write("bad.cj", "warning", "error", "remark", "error", "warning")
    result = cajetac("check", "bad.cj", f"--error-format={form}")
    assert (result.code, result.out) == (1, "")
    if form == "json":
        *found, summary = records_of(result.err)
        assert [record["code"] for record in found] == codes
        assert summary == {"schema": 1, "severity": "summary", "errors": 2, "warnings": 2, "truncated": False}
    elif form == "sarif":
        assert [found["ruleId"] for found in results_of(result.err)] == codes
    elif form == "github":
        assert titles_of(result.err) == codes
    else:
        assert codes_of(result.err) == codes
    if form == "short":
        assert len(result.err.splitlines()) == len(codes)
        assert result.err.startswith("bad.cj:2:")


@pytest.mark.parametrize(
    ("flags", "code", "codes"),
    [
        ("", 0, ["W0302", "W0302"]),
        ("-Werror", 1, ["W0302", "W0302"]),
        ("-Werror=narrowing", 1, ["W0302", "W0302"]),
        ("-Werror=tail", 0, ["W0302", "W0302"]),
        ("-Wno-narrowing", 0, []),
        ("-w -Werror", 0, []),
    ],
)
def test_warnings_and_exit_codes(flags: str, code: int, codes: list[str], kernel: str, cajetac: Callable[..., Result]) -> None:
    write("warn.cj", "warning", "warning")
    result = cajetac("check", "warn.cj", "--diag-format=json", *flags.split())
    *found, summary = records_of(result.err)
    assert (result.code, [record["code"] for record in found]) == (code, codes)
    assert {record["severity"] for record in found} <= {"error" if code else "warning"}
    assert summary["errors"] == len(codes) * code
    assert summary["warnings"] == len(codes) * (1 - code)


@pytest.mark.parametrize(("limit", "shown"), [(1, 1), (2, 2), (3, 3), (4, 3), (0, 3)])
@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_error_limit(form: str, limit: int, shown: int, kernel: str, cajetac: Callable[..., Result]) -> None:
    write("a.cj", "error", "warning", "error")
    write("b.cj", "error", "warning")
    result = cajetac("check", "a.cj", "b.cj", f"--error-limit={limit}", f"--diag-format={form}")
    assert result.code == 1
    cut = 0 < limit < 3
    if form == "json":
        *found, summary = records_of(result.err)
        assert [record["severity"] for record in found].count("error") == shown == summary["errors"]
        assert summary["truncated"] is cut
    elif form == "sarif":
        assert [found["level"] for found in results_of(result.err)].count("error") == shown
        assert ("stopping after" in result.err) == cut
    else:
        assert codes_of(result.err).count("E0201") == shown
        assert result.err.endswith(f"too many errors, stopping after {limit}\n") == cut


def test_twenty_errors_by_default(kernel: str, cajetac: Callable[..., Result]) -> None:
    write("many.cj", *["error"] * 21)
    assert len(codes_of(cajetac("check", "many.cj").err)) == 20
    write("many.cj", *["error"] * 20)
    assert "too many" not in cajetac("check", "many.cj").err


def test_every_file_is_checked(kernel: str, cajetac: Callable[..., Result]) -> None:
    write("a.cj", "error")
    write("b.cj", "error")
    result = cajetac("check", "a.cj", kernel, "b.cj", "--diag-format=json")
    assert [record["file"] for record in records_of(result.err)[:-1]] == ["a.cj", "b.cj"]


@pytest.mark.parametrize(
    ("options", "code", "codes"),
    [
        ("--target fake", 0, []),
        ("--target fake-warn", 0, ["W0401"]),
        ("--target fake-warn,fake", 0, ["W0401"]),
        ("--target fake-warn -Rscalarized", 0, ["W0401", "R0601"]),
        ("--target fake-warn -Rall", 0, ["W0401", "R0601", "R0406"]),
        ("--target fake-warn -Werror=scalarized", 1, ["W0401", "R0601"]),
        ("--target fake-warn -Werror=W0401", 1, ["W0401"]),
        ("--target fake -Werror=scalarized", 0, []),
        ("--target fake-refuse", 1, ["E0604"]),
        ("--target fake-refuse,fake-warn", 1, ["E0604", "W0401"]),
        ("--target fkae", 2, ["E0603"]),
    ],
)
def test_targets_are_asked(options: str, code: int, codes: list[str], kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("check", kernel, "--diag-format=json", *options.split())
    *found, summary = records_of(result.err)
    assert (result.code, result.out) == (code, "")
    assert [record["code"] for record in found] == codes
    assert summary["severity"] == "summary"


@pytest.mark.parametrize(
    ("flag", "message", "help"),
    [
        ("-Wno-narowing", "`-Wno-narowing` names no warning", "did you mean `narrowing`?"),
        ("-Werror=scalarised", "`-Werror=scalarised` names no warning", "did you mean `scalarized`?"),
        ("-Rchoices", "`-Rchoices` names no remark", "did you mean `choice`?"),
        ("-Wxyzzy", "`-Wxyzzy` names no warning", ""),
    ],
)
def test_an_unknown_switch_offers_a_near_one(
    flag: str, message: str, help: str, kernel: str, cajetac: Callable[..., Result]
) -> None:
    offer = f"  = help: {help}\n" if help else ""
    assert cajetac("check", kernel, flag) == (2, "", f"error[E0003]: {message}\n{offer}\n")


def test_order_is_that_of_the_text(kernel: str, cajetac: Callable[..., Result]) -> None:
    """Whatever phase finds it: signatures, bodies, calls, the loop's bound, the target."""
    Path("k.cj").write_text(ALL_PHASES)
    found = records_of(cajetac("check", "k.cj", "--diag-format=json", "--target=fake-warn", "-Rall").err)[:-1]
    places: list[int] = [record["start"]["offset"] for record in found]  # type: ignore[index]
    assert places == sorted(places)
    assert [record["code"] for record in found] == PHASES


def test_an_unknown_target_offers_a_near_one(kernel: str, cajetac: Callable[..., Result]) -> None:
    err = cajetac("check", kernel, "--target=fake-gqu").err
    assert err == "error[E0603]: no target `fake-gqu`\n  = help: did you mean `fake-gpu`? `cajetac targets` lists them\n\n"


@pytest.mark.parametrize(
    ("word", "help"),
    [("chek", "did you mean `cajetac check`?"), ("kk.cj", "did you mean `k.cj`?"), ("none/xyzzy.cj", "")],
)
def test_a_missing_file(word: str, help: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac(word)
    assert result.code == 2
    assert result.err == f"error[E0003]: no file `{word}`\n" + (f"  = help: {help}\n" if help else "") + "\n"


@pytest.mark.parametrize(
    ("wish", "environment", "colour"),
    [
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
        ("auto", {}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
)
def test_colour(wish: str, environment: dict[str, str], colour: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert decide_colour(wish) == colour


def test_colour_on_a_terminal(kernel: str, cajetac: Callable[..., Result]) -> None:
    write("a.cj", "error")
    assert "\x1b[" in cajetac("check", "a.cj", "--color=always").err
    assert "\x1b[" not in cajetac("check", "a.cj").err
    assert "\x1b" not in records_of(cajetac("check", "a.cj", "--color=always", "--diag-format=json").err)[0]["rendered"]  # type: ignore[operator]
