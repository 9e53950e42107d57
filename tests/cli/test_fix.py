"""--fix and --diff: what is written where, and what is left to say."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.cli.fix import MAX_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

BOM = "\ufeff"
# Each is cured by safe help; the second and the third need another round, when the text can be parsed.
OLD = """class K {
    static int8 f(int32 value) { return vaule }
    static int32 g(int32 i) { return i + 0; }
}
"""
NEW = OLD.replace("vaule }", "(int8) value; }")
UNSAFE = "class K { static int8 f() { return 200; } }\n"
UNSAFE_FIXED = UNSAFE.replace("200", "-56")
CLEAN = "class K { static int32 f() { return 1; } }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> Path:
    Path(name).write_bytes(text.encode())
    return Path(name)


def read(name: str) -> str:
    return Path(name).read_bytes().decode()


@pytest.mark.parametrize(
    ("flags", "old", "new", "count"),
    [
        ("--fix", OLD, NEW, 3),
        ("--fix", OLD.replace("\n", "\r\n"), NEW.replace("\n", "\r\n"), 3),
        ("--fix", BOM + OLD, BOM + NEW, 3),
        ("--fix", OLD.rstrip("\n"), NEW.rstrip("\n"), 3),
        ("--fix -Wno-narrowing", OLD, NEW.replace("(int8) ", ""), 2),
        ("--fix --target fake", OLD, NEW, 3),
        ("--fix=unsafe", OLD, NEW, 3),
        ("--fix=unsafe", UNSAFE, UNSAFE_FIXED, 1),
        ("--fix", CLEAN, CLEAN, 0),
    ],
)
def test_fix(flags: str, old: str, new: str, count: int, cajetac: Callable[..., Result]) -> None:
    write("k.cj", old)
    result = cajetac("check", "k.cj", *flags.split())
    told = f"applied {count} {'fix' if count == 1 else 'fixes'} to `k.cj`\n\n" if count else ""
    assert result == (0, "", told)
    assert read("k.cj") == new
    assert cajetac("check", "k.cj", *flags.split()) == (0, "", "")
    assert os.listdir() == ["k.cj"]


def test_what_is_left_is_said(cajetac: Callable[..., Result]) -> None:
    write("k.cj", UNSAFE)
    result = cajetac("check", "k.cj", "--fix", "--diag-format=short")
    assert (result.code, result.out, read("k.cj")) == (1, "", UNSAFE)
    assert result.err == "k.cj:1:36: error[E0303]: literal `200` does not fit `int8` (-128..127)\n"


def test_only_people_are_told(cajetac: Callable[..., Result]) -> None:
    for form in ("short", "json", "github", "sarif"):
        write("k.cj", OLD)
        assert "applied" not in cajetac("check", "k.cj", "--fix", f"--diag-format={form}").err
        assert read("k.cj") == NEW


def test_rounds_come_to_an_end(cajetac: Callable[..., Result]) -> None:
    """A name is reported once in a method, so that each round cures one use."""
    uses = MAX_ROUNDS + 1
    write("k.cj", "class K { static int32 f(int32 value) { return " + " + ".join(["vaule"] * uses) + "; } }")
    result = cajetac("check", "k.cj", "--fix")
    assert (result.code, read("k.cj").count("value"), read("k.cj").count("vaule")) == (1, MAX_ROUNDS + 1, 1)
    assert result.err.startswith("applied 10 fixes")
    assert result.err.count("error[E0201]") == 1
    assert cajetac("check", "k.cj", "--fix").code == 0


def test_several_inputs(cajetac: Callable[..., Result]) -> None:
    write("a.cj", OLD)
    write("b.cj", CLEAN)
    write("c.cj", UNSAFE)
    result = cajetac("check", "a.cj", "b.cj", "c.cj", "a.cj", "--fix")
    assert result.code == 1
    assert result.err.startswith("applied 3 fixes to `a.cj`\n\nerror[E0303]")
    assert (read("a.cj"), read("b.cj"), read("c.cj")) == (NEW, CLEAN, UNSAFE)


def test_build_uses_what_was_fixed(cajetac: Callable[..., Result]) -> None:
    write("k.cj", OLD)
    result = cajetac("k.cj", "--fix", "--emit=ast")
    assert (result.code, read("k.cj")) == (0, NEW)
    write("new.cj", NEW)
    assert result.out == cajetac("new.cj", "--emit=ast").out


# ---- what is written to


def test_standard_input_comes_out_fixed(cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    for old, new, code in ((OLD, NEW, 0), (CLEAN, CLEAN, 0), (UNSAFE, UNSAFE, 1)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(old.encode())))
        result = cajetac("check", "-", "--fix")
        assert (result.code, result.out) == (code, new)
        assert ("--> <stdin>:1:36" in result.err) == bool(code)
        assert "applied" not in result.err


def test_what_is_no_text_is_not_written(cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    bad = b"class K { // \xff\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(bad)))
    result = cajetac("check", "-", "--fix")
    assert (result.code, result.out) == (1, "")
    Path("k.cj").write_bytes(bad)
    assert cajetac("check", "k.cj", "--fix").code == 1
    assert Path("k.cj").read_bytes() == bad


def test_build_can_not_fix_standard_input(cajetac: Callable[..., Result]) -> None:
    result = cajetac("-", "--fix", "--emit=ast")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error[E0003]: `--fix` can't change standard input\n")


def test_read_only_files_stay(cajetac: Callable[..., Result]) -> None:
    write("k.cj", OLD).chmod(0o444)
    result = cajetac("check", "k.cj", "--fix")
    assert (result.code, result.out) == (2, "")
    assert result.err == "error[E0003]: can't write `k.cj`: it is read-only\n\n"
    assert read("k.cj") == OLD
    assert cajetac("check", "k.cj", "--diff").out
    write_clean = Path("clean.cj")
    write_clean.write_text(CLEAN)
    write_clean.chmod(0o444)
    assert cajetac("check", "clean.cj", "--fix").code == 0


def test_permissions_and_links_stay(cajetac: Callable[..., Result]) -> None:
    write("k.cj", OLD).chmod(0o640)
    Path("link.cj").symlink_to("k.cj")
    assert cajetac("check", "link.cj", "--fix").code == 0
    assert Path("link.cj").is_symlink()
    assert read("k.cj") == NEW
    assert Path("k.cj").stat().st_mode & 0o777 == 0o640


def test_a_failed_write_leaves_the_file(cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_new: str, _old: str) -> None:
        raise OSError(28, "No space left on device")

    write("k.cj", OLD)
    monkeypatch.setattr("os.replace", fail)
    result = cajetac("check", "k.cj", "--fix")
    assert (result.code, result.err) == (2, "error[E0003]: can't write `k.cj`: no space left on device\n\n")
    assert (read("k.cj"), os.listdir()) == (OLD, ["k.cj"])


def test_a_pipe_is_no_file(cajetac: Callable[..., Result]) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import os; os.mkfifo('p.cj'); open('p.cj', 'w').write(input())"],
                             stdin=subprocess.PIPE, text=True)  # fmt: skip
    assert child.stdin
    child.stdin.write("class K { static int8 f(int32 i) { return i; } }\n")
    child.stdin.close()
    while not Path("p.cj").exists():
        assert child.poll() is None
    result = cajetac("check", "p.cj", "--fix")
    assert child.wait() == 0
    assert (result.code, result.err) == (2, "error[E0003]: can't write `p.cj`: it is no file\n\n")


# ---- differences


def test_diff(cajetac: Callable[..., Result]) -> None:
    write("k.cj", OLD)
    result = cajetac("check", "k.cj", "--diff", "--diag-format=short")
    assert result.out == (
        "--- k.cj\n+++ k.cj\n@@ -1,4 +1,4 @@\n class K {\n"
        "-    static int8 f(int32 value) { return vaule }\n+    static int8 f(int32 value) { return (int8) value; }\n"
        "     static int32 g(int32 i) { return i + 0; }\n }\n"
    )
    assert (result.code, result.err) == (1, "k.cj:2:46: error[E0104]: expected `;` after this statement\n")
    assert read("k.cj") == OLD


@pytest.mark.parametrize("flags", ["--diff", "--fix --diff", "--diff --fix=unsafe"])
@pytest.mark.parametrize("verb", ["check", "build"])
def test_diff_writes_nothing_else(flags: str, verb: str, cajetac: Callable[..., Result]) -> None:
    write("k.cj", UNSAFE)
    result = cajetac(verb, "k.cj", *flags.split(), *(["-o", "k.ll", "--target=fake"] if verb == "build" else []))
    assert (result.code, os.listdir(), read("k.cj")) == (1, ["k.cj"], UNSAFE)
    assert result.out == (f"--- k.cj\n+++ k.cj\n@@ -1 +1 @@\n-{UNSAFE}+{UNSAFE_FIXED}" if "unsafe" in flags else "")


@pytest.mark.parametrize("text", [OLD, BOM + OLD, OLD.replace("\n", "\r\n"), OLD.rstrip("\n"), BOM + UNSAFE, UNSAFE.strip()])
def test_patch_takes_the_difference(text: str, cajetac: Callable[..., Result]) -> None:
    write("k.cj", text)
    difference = cajetac("check", "k.cj", "--diff", "--fix=unsafe").out
    subprocess.run(["patch", "--binary", "-p0"], input=difference.encode(), check=True, capture_output=True)
    patched = read("k.cj")
    write("k.cj", text)
    cajetac("check", "k.cj", "--fix=unsafe")
    assert read("k.cj") == patched != text


def test_diff_of_standard_input(cajetac: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OLD.encode())))
    result = cajetac("check", "-", "--diff", "--stdin-filename", "k.cj")
    assert result.out.startswith("--- k.cj\n+++ k.cj\n@@")
    assert "--> k.cj:2:46" in result.err


@pytest.mark.parametrize("flag", ["--fix=all", "--fix=", "--diff=1"])
def test_other_values(flag: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("check", write("k.cj", CLEAN), flag)
    assert (result.code, result.out) == (2, "")
    assert "takes no value" in result.err
