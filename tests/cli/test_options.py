"""The command line as it is read, from the table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.backends import Options
from cajeta_dot.cli import VERBS as CALLED
from cajeta_dot.cli.options import OPTIONS, VERBS, Option, read_arguments, write_help
from cajeta_dot.record import fields_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

# Line -> verb, words, values. No complaints.
LINES: dict[str, tuple[str, list[str], dict[str, object]]] = {
    "k.cj": ("build", ["k.cj"], {}),
    "build k.cj": ("build", ["k.cj"], {}),
    "k.cj build": ("build", ["k.cj", "build"], {}),
    "check a.cj b.cj": ("check", ["a.cj", "b.cj"], {}),
    "--color never check a.cj": ("check", ["a.cj"], {"color": "never"}),
    "- -o -": ("build", ["-"], {"output": "-"}),
    "-okk k.cj": ("build", ["k.cj"], {"output": "kk"}),
    "-- -o check": ("build", ["-o", "check"], {}),
    "--emit=asm --emit obj k.cj": ("build", ["k.cj"], {"emit": "obj"}),
    "--emit= k.cj": ("build", ["k.cj"], {"emit": ""}),
    "-S k.cj": ("build", ["k.cj"], {"emit": "assembly"}),
    "-c k.cj": ("build", ["k.cj"], {"emit": "obj"}),
    "--emit-llvm k.cj": ("build", ["k.cj"], {"emit": "llvm-ir"}),
    "--emit-spirv k.cj": ("build", ["k.cj"], {"emit": "spirv"}),
    "-O3 -g k.cj": ("build", ["k.cj"], {"optimize": "3", "debug_lines": True}),
    "-O 0 k.cj": ("build", ["k.cj"], {"optimize": "0"}),
    "--no-int-dot --fallback k.cj": ("build", ["k.cj"], {"int_dot": False, "fallback": True}),
    "-mcpu=znver4 -mattr=+avxvnni,-avx512vnni k.cj": ("build", ["k.cj"], {"cpu": "znver4", "features": "+avxvnni,-avx512vnni"}),
    "-mcpu znver4 -mattr -avx2 k.cj": ("build", ["k.cj"], {"cpu": "znver4", "features": "-avx2"}),
    "--checks --no-checks k.cj": ("build", ["k.cj"], {"checks": False}),
    "--block 8,4 k.cj": ("build", ["k.cj"], {"block": (8, 4, 1)}),
    "run k.cj --grid 16 --threads 5": ("run", ["k.cj"], {"grid": (16, 1, 1), "threads": 5}),
    "run k.cj --arg a=1 --arg=b=-2": ("run", ["k.cj"], {"arguments": ["a=1", "b=-2"]}),
    "-Wno-narrowing -W tail -Werror=tail -w -Rall -R choice k.cj": (
        "build",
        ["k.cj"],
        {"switches": ["-Wno-narrowing", "-Wtail", "-Werror=tail", "-w", "-Rall", "-Rchoice"]},
    ),
    "--error-limit 0 --error-format=json k.cj": ("build", ["k.cj"], {"error_limit": 0, "diag_format": "json"}),
    "-fno-color-diagnostics k.cj": ("build", ["k.cj"], {"color": "never"}),
    "--explain E0402": ("explain", ["E0402"], {"explain": "E0402"}),
    "explain E0402": ("explain", ["E0402"], {}),
    "--print-kernels k.cj --json": ("kernels", ["k.cj"], {"query": "kernels", "json": True}),
    "k.cj --print-choices --target fake": ("choices", ["k.cj"], {"query": "choices", "target": "fake"}),
    "--print-targets": ("targets", [], {"query": "targets"}),
    "--version": ("version", [], {"query": "version", "about": ""}),
    "check -h": ("help", [], {"query": "help", "about": "check"}),
}


@pytest.mark.parametrize("line", LINES)
def test_lines(line: str) -> None:
    arguments = read_arguments(line.split())
    assert not arguments.complaints
    assert (arguments.verb, arguments.words, arguments.values) == LINES[line]


COMPLAINTS = {
    "--tarket x": ("no option `--tarket`", "did you mean `--target`?"),
    "--xyzzyplugh": ("no option `--xyzzyplugh`", "`cajetac --help` lists the options"),
    "-q": ("no option `-q`", "`cajetac --help` lists the options"),
    "k.cj -o": ("`-o` needs a value, PATH", ""),
    "k.cj -o --emit=asm": ("`-o` needs a value, PATH, found `--emit=asm`", ""),
    "k.cj --output=": ("`--output` takes the name of a file, found ``", ""),
    "k.cj -M -MF=": ("`-MF` takes the name of a file, found ``", ""),
    "k.cj --emit=asm,": ("`--emit` takes kinds of output with a comma between two, found `asm,`", ""),
    "--debug=yes k.cj": ("`--debug` takes no value, found `yes`", ""),
    "-O5 k.cj": ("`-O` takes one of 0, 1, 2, 3; found `5`", ""),
    "-O k.cj": ("`-O` takes one of 0, 1, 2, 3; found `k.cj`", ""),
    "--color blue": ("`--color` takes one of auto, always, never; found `blue`", ""),
    "--block 0": ("`--block` takes up to three numbers from 1 on, such as 64 or 8,8, found `0`", ""),
    "--block 1,2,3,4": ("`--block` takes up to three numbers from 1 on, such as 64 or 8,8, found `1,2,3,4`", ""),
    "--block \u0661": ("`--block` takes up to three numbers from 1 on, such as 64 or 8,8, found `\u0661`", ""),
    "--error-limit -1": ("`--error-limit` takes a number from 0 on, found `-1`", ""),
    "check k.cj --grid 4": ("`cajetac check` has no option `--grid`", ""),
    "check k.cj --json": ("`cajetac check` has no option `--json`", ""),
    "--print-choices k.cj --emit=asm": ("`cajetac --print-choices` has no option `--emit=asm`", ""),
    "explain E0402 -o x": ("`cajetac explain` has no option `-o`", ""),
}


@pytest.mark.parametrize("line", COMPLAINTS)
def test_complaints(line: str, cajetac: Callable[..., Result]) -> None:
    found = read_arguments(line.split()).complaints
    assert [(told.message, told.help) for told in found] == [COMPLAINTS[line]]
    result = cajetac("--diag-format=short", *line.split())
    assert (result.code, result.out) == (2, "")
    assert f"cajetac: error[E0003]: {COMPLAINTS[line][0]}\n" in result.err


def test_all_complaints_at_once() -> None:
    assert len(read_arguments(["--a", "--b=1", "-O9"]).complaints) == 3


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.spellings[0])
def test_every_option_is_in_the_help_of_its_verbs(option: Option) -> None:
    for verb in VERBS:
        shown = f"  {', '.join(option.spellings)}" in write_help(verb)
        assert shown == (not option.verbs or verb in option.verbs.split())
    assert f"  {', '.join(option.spellings)}" in write_help()
    assert option.help in write_help()


def test_help_fits_a_terminal() -> None:
    assert [line for line in write_help().splitlines() if len(line) > 120] == []


def test_every_option_is_read_by_something() -> None:
    code = "".join(path.read_text() for path in Path(str(read_arguments.__code__.co_filename)).parent.glob("*.py"))
    told = fields_of(Options)  # which are handed on to targets, all of them
    unread = [o.key for o in OPTIONS if o.key not in told and code.count(f'"{o.key}"') <= sum(p.key == o.key for p in OPTIONS)]
    assert unread == []


def test_every_verb_can_be_called() -> None:
    assert VERBS.keys() <= CALLED.keys()
    for module, function in CALLED.values():
        assert callable(getattr(__import__(f"cajeta_dot.cli.{module}", fromlist=["*"]), function))


def test_help_and_version_go_to_stdout(cajetac: Callable[..., Result]) -> None:
    assert cajetac("--help") == (0, write_help(), "")
    assert cajetac("run", "--help") == (0, write_help("run"), "")
    version = cajetac("--version")
    assert [line.split()[0] for line in version.out.splitlines()] == ["cajetac", "LLVM", "llvmlite", "Python"]
    assert (version.code, version.err) == (0, "")


def test_versions_are_those_of_the_libraries(cajetac: Callable[..., Result]) -> None:
    binding, llvmlite = pytest.importorskip("llvmlite.binding"), pytest.importorskip("llvmlite")
    out = cajetac("--version").out
    assert f"LLVM {'.'.join(map(str, binding.llvm_version_info))}\n" in out
    assert f"llvmlite {llvmlite.__version__}\n" in out
