"""Rules for make, read by make itself where it is installed; and response files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.cli.dependencies import write_rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

# Options -> what stdout and the rule file say.
RULES: dict[str, tuple[str, dict[str, str]]] = {
    "-M --target fake": ("k.ll: k.cj\n", {}),
    "-M --target fake -S": ("k.s: k.cj\n", {}),
    "-M -o out.x --target fake": ("out.x: k.cj\n", {}),
    "-M -MT a -MT b": ("a b: k.cj\n", {}),
    "-M -MF r.d -MT a": ("", {"r.d": "a: k.cj\n"}),
    "-MD --target fake -o build/k.ll": ("", {"build/k.d": "build/k.ll: k.cj\n"}),
    "-MD --target fake -o build/ --emit asm,obj": ("", {"build/k.d": "build/k.s build/k.o: k.cj\n"}),
    "-MD -MF r.d --target fake -o k.ll": ("", {"r.d": "k.ll: k.cj\n"}),
    "--emit deps --target fake": ("k.ll: k.cj\n", {}),
    "--emit deps,obj --target fake -o build/": ("", {"build/k.d": "build/k.o: k.cj\n"}),
}


@pytest.mark.parametrize("options", RULES)
def test_rules(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("build").mkdir()
    result = cajetac(kernel, *options.split())
    assert (result.code, result.err, result.out) == (0, "", RULES[options][0])
    assert {str(path): path.read_text() for path in Path().rglob("*.d")} == RULES[options][1]
    if "-M" in options.split():
        assert not list(Path("build").iterdir())


def test_inputs_are_compiled_together(kernel: str, cajetac: Callable[..., Result]) -> None:
    shutil.copy(kernel, "j.cj")
    assert cajetac(kernel, "j.cj", "-M", "--target", "fake", "-o", "out/").out == "out/k.ll: k.cj j.cj\nout/j.ll: j.cj k.cj\n"


REFUSED = {
    "-MF r.d": "`-MF` is about a rule for make, and none is asked for",
    "-MT x": "`-MT` is about a rule for make, and none is asked for",
    "-MD --target fake": "`-MD` writes beside the output, and that goes to stdout",
    "-MD --target fake j.cj -o out/": "`-MD` needs one file for the rules of several inputs",
    "-M --target fake -MF k.cj": "`k.cj` is an input; it would be overwritten",
    "-MD --target fake -o k.ll -MF ./j.cj j.cj -o .": "`./j.cj` is an input; it would be overwritten",
    "-MD --target fake -o k.ll -MF ./k.ll": "an output and the rules for make would both be written to `./k.ll`",
    "-MD -o k.d": "an output and the rules for make would both be written to `k.d`",
}


@pytest.mark.parametrize("options", REFUSED)
def test_refused(options: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    shutil.copy(kernel, "j.cj")
    result = cajetac(kernel, *options.split())
    assert result.code == 2
    assert REFUSED[options] in result.err
    assert sorted(path.name for path in Path().iterdir()) == ["j.cj", "k.cj"]


def test_an_error_leaves_no_rule(kernel: str, cajetac: Callable[..., Result]) -> None:
    assert cajetac(kernel, "-MD", "-o", "k.ll", "--target", "fake-refuse").code == 1
    assert not Path("k.d").exists()


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize("name", ["plain", "two words", "a#b", "100%", "$HOME", "back\\ slash", "a:b"])
def test_make_reads_them(name: str, tmp_path: Path) -> None:
    """It makes the output if it is missing or old, and finds nothing to do otherwise."""
    (tmp_path / f"{name}.cj").touch()
    (tmp_path / "Makefile").write_text(write_rule([f"{name}.ll"], [f"{name}.cj"]) + "\ttouch '$@'\n")

    def make() -> str:
        target = f"{name}.ll"
        return subprocess.run(["make", target], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert "touch" in make()
    assert (tmp_path / f"{name}.ll").exists()
    assert "up to date" in make()


# ---- response files


def test_a_response_file_stands_for_its_words(kernel: str, cajetac: Callable[..., Result]) -> None:
    Path("more.txt").write_text("--emit\n'asm' -o \"out dir/\"")
    Path("args.txt").write_text(f"--target fake\n@more.txt {kernel}\n")
    assert cajetac("@args.txt").code == 0
    assert Path("out dir/k.s").read_text().startswith("asm fake")


def test_behind_two_dashes_it_is_a_file(kernel: str, cajetac: Callable[..., Result]) -> None:
    shutil.copy(kernel, "@k.cj")
    assert cajetac("--target", "fake", "--", "@k.cj").code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "can't read the response file `args.txt`: no such file or directory"),
        (b"'open", "can't read the response file `args.txt`: no closing quotation"),
        (b"\xff", "can't read the response file `args.txt`: 'utf-8' codec"),
        (b"@args.txt x", "more than 100 response files; does one name itself?"),
    ],
)
def test_a_response_file_that_can_not_be_read(
    content: bytes | None, message: str, kernel: str, cajetac: Callable[..., Result]
) -> None:
    if content is not None:
        Path("args.txt").write_bytes(content)
    result = cajetac(kernel, "@args.txt")
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err
