"""`cajetac cache`, and the options that say where things are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot import store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

TEXT = "class K { @Kernel static void k(KernelBuffer<int32> y) { y[0] = 7; } }"
RUN = ("--kernel", "k", "--arg", "y=zeros:int32:1", "--threads", 1)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path / "kept"))
    path = tmp_path / "k.cj"
    path.write_text(TEXT)
    return path


def count(cajetac: Callable[..., Result], *words: object) -> tuple[int, str]:
    told = json.loads(cajetac("cache", "--json", *words).out)
    return told["compiled_code"]["files"], told["folder"]


def test_what_is_kept_is_told_and_cleared(source: Path, cajetac: Callable[..., Result]) -> None:
    folder = source.parent / "kept"
    assert count(cajetac) == (0, str(folder))
    assert cajetac("run", source, *RUN).out == "y = int32[1] [7]\n"
    kept, _ = count(cajetac)
    if not kept:
        pytest.skip("this machine can't be told from others without LLVM")
    assert cajetac("cache", "--info").out.splitlines()[0] == str(folder)
    (folder / "objects" / "notes.txt").write_text("not ours")
    files = len(list(folder.rglob(f"*{store.SUFFIX}")))  # the parser's tables too, if nobody has loaded them before
    assert cajetac("cache", "--clear").out == f"{files} files deleted from {folder}\n"
    assert [file.name for file in folder.rglob("*") if file.is_file()] == ["notes.txt"]
    assert count(cajetac)[0] == 0


def test_another_folder(source: Path, cajetac: Callable[..., Result]) -> None:
    elsewhere = source.parent / "elsewhere"
    cajetac("run", source, "--cache-dir", elsewhere, *RUN)
    kept, folder = count(cajetac, "--cache-dir", elsewhere)
    assert folder == str(elsewhere)
    assert kept == len(list((elsewhere / "objects").glob(f"*{store.SUFFIX}")))
    assert not (source.parent / "kept").exists()


def test_no_folder(source: Path, cajetac: Callable[..., Result]) -> None:
    assert cajetac("run", source, "--no-cache", *RUN).out == "y = int32[1] [7]\n"
    assert list(source.parent.iterdir()) == [source]
    told = cajetac("cache")
    assert (told.code, told.out) == (2, "")
    assert "nothing is kept" in told.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cache", "x"), "takes no file, found `x`"),
        (("cache", "--cache-dir", "{file}"), "`--cache-dir` takes a folder that can be written to, found `{file}`"),
        (("cache", "--cache-dir", "{file}/in/it"), "`--cache-dir` takes a folder that can be written to, found `{file}/in/it`"),
        (("cache", "--no-cache"), "`cajetac cache` has no option `--no-cache`"),
        (("targets", "--cache-dir", "x"), "`cajetac targets` has no option `--cache-dir`"),
    ],
)
def test_words_that_are_refused(words: tuple[str, ...], said: str, source: Path, cajetac: Callable[..., Result]) -> None:
    told = cajetac(*(word.format(file=source) for word in words))
    assert told.code == 2
    assert said.format(file=source) in told.err
