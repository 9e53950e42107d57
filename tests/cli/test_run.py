"""`cajetac run`: what is passed, what comes back, and what is said when it can't be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.cli.call import read_arguments
from cajeta_dot.cli.messages import Refusal
from cajeta_dot.run.functions import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Result

ADD = ["--kernel=add", "--target=fake-run", "--arg=out=zeros:int32:4", "--arg=w=int8:1,2,-3", "--arg=n=-5"]
# Text of an argument -> parameter type, what is passed.
PASSED: dict[str, tuple[str, object]] = {
    "5": ("int32", 5),
    "-128": ("int8", -128),
    "0xff": ("uint8", 255),
    "18446744073709551615": ("uint64", 2**64 - 1),
    "1.5": ("float32", 1.5),
    "-inf": ("float64", -np.inf),
    "true": ("boolean", True),
    "false": ("boolean", False),
    "zeros:int32:3": ("KernelBuffer<int32>", np.zeros(3, np.int32)),
    "zeros:float16:0": ("float16[]", np.zeros(0, np.float16)),
    "zeros:boolean:2": ("boolean[]", np.zeros(2, np.bool_)),
    "int8:1, -2,127": ("int8[]", np.array([1, -2, 127], np.int8)),
    "uint64:18446744073709551615": ("uint64[]", np.array([2**64 - 1], np.uint64)),
    "float32:0.5,nan": ("float32[]", np.array([0.5, np.nan], np.float32)),
    "boolean:true,false": ("boolean[]", np.array([True, False])),
    "int16:": ("int16[]", np.array([], np.int16)),
}


@pytest.mark.parametrize("text", PASSED)
def test_arguments(text: str) -> None:
    type, expected = PASSED[text]
    (passed,) = read_arguments([Parameter("p", type, False)], [f"p={text}"])
    np.testing.assert_array_equal(passed, expected)
    if isinstance(expected, np.ndarray):
        assert passed.dtype == expected.dtype  # type: ignore[reportUnknownMemberType]
    else:
        assert passed.__class__ is expected.__class__


def test_a_file_of_numbers(tmp_path: Path) -> None:
    w = np.arange(-3, 3, dtype=np.int8)
    np.save(tmp_path / "w.npy", w)
    (passed,) = read_arguments([Parameter("w", "int8[]", False)], [f"w=@{tmp_path / 'w.npy'}"])
    assert passed.dtype == np.int8
    np.testing.assert_array_equal(passed, w)


REFUSED = {
    ("p", "int32"): "`--arg` takes NAME=VALUE, found `p`",
    ("q=1", "int32"): "no parameter `q`",
    ("", "int32"): "argument `p` is missing",
    ("p=x", "int32"): "argument `p` takes int32, found `x`",
    ("p=1.0", "int32"): "argument `p` takes int32, found `1.0`",
    ("p=128", "int8"): "argument `p` takes int8, -128..127, found 128",
    ("p=-1", "uint8"): "argument `p` takes uint8, 0..255, found -1",
    ("p=1", "boolean"): "argument `p` takes true or false, found `1`",
    ("p=one", "float32"): "argument `p` takes float32, found `one`",
    ("p=5", "int8[]"): "argument `p` takes an array, found `5`",
    ("p=zeros:int8", "int8[]"): "argument `p` takes an array, found `zeros:int8`",
    ("p=zeros:i8:4", "int8[]"): "argument `p` takes an array, found `zeros:i8:4`",
    ("p=zeros:int8:-1", "int8[]"): "argument `p` takes an array, found `zeros:int8:-1`",
    ("p=int8:1,200", "int8[]"): "argument `p` takes int8, -128..127, found 200",
    ("p=@none.npy", "int8[]"): "argument `p`: can't read `none.npy`: no such file or directory",
    ("p=zeros:int8:99999999999999999", "int8[]"): "argument `p`: there is no memory for 99999999999999999 elements of int8",
    ("p=zeros:int8:" + 30 * "9", "int8[]"): f"argument `p`: there is no memory for {30 * '9'} elements of int8",
    ("p=float16:1,65520", "float16[]"): "argument `p` takes float16, which has no number as large as 65520",
    ("p=-1e400", "float64"): "argument `p` takes float64, which has no number as large as -1e400",
    ("p=@/dev/null", "int8[]"): "argument `p`: `/dev/null` is no .npy file of numbers",
}


@pytest.mark.parametrize("given", REFUSED)
def test_refused_arguments(given: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, type = given
    with pytest.raises(Refusal) as caught:
        read_arguments([Parameter("p", type, False)], [text] if text else [])
    assert caught.value.message == REFUSED[given]


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(Refusal, match=r"is no \.npy file of numbers"):
        read_arguments([Parameter("w", "int8[]", False)], [f"w=@{tmp_path / 'w.npy'}"])


def test_an_archive_of_arrays_is_no_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", w=np.zeros(3, np.int8))
    with pytest.raises(Refusal, match=r"is no \.npy file of numbers"):
        read_arguments([Parameter("w", "int8[]", False)], [f"w=@{tmp_path / 'w.npz'}"])


def test_a_kernel_shows_what_it_changed(kernel: str, cajetac: Callable[..., Result]) -> None:
    assert cajetac("run", kernel, *ADD, "--grid=3", "--block=5") == (0, "out = int32[4] [5 5 5 0]\n", "")
    result = cajetac("run", kernel, *ADD, "--threads=130", "--json")
    assert json.loads(result.out) == {"changed": {"out": {"type": "int32", "values": [64, 64, 64, 0]}}, "value": None}
    assert cajetac("run", kernel, *ADD, "--grid=0", "--block=1").out == "nothing changed\n"


def test_a_host_method_shows_its_value(kernel: str, cajetac: Callable[..., Result]) -> None:
    words = ["run", kernel, "--kernel=K.count", "--target=fake-run", "--arg=x=float32:1", "--arg=all=true"]
    assert cajetac(*words) == (0, "value = 7\n", "")
    assert json.loads(cajetac(*words, "--json").out) == {"changed": {}, "value": 7}


def test_a_fault_of_the_kernel(kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("run", kernel, *ADD, "--grid=13", "--block=1")
    assert result == (1, "", "error: k.cj:4: element 64 of an array of length 64\n")


def test_a_fault_in_forms_for_programs(kernel: str, cajetac: Callable[..., Result]) -> None:
    words = ["run", kernel, *ADD, "--grid=13", "--block=1"]
    fault, summary = map(json.loads, cajetac(*words, "--diag-format=json").err.splitlines())
    message = "element 64 of an array of length 64"
    assert fault == {"schema": 1, "severity": "fault", "message": message, "file": "k.cj", "line": 4}
    assert summary["severity"] == "summary"
    assert cajetac(*words, "--diag-format=github").err == f"::error file=k.cj,line=4::{message}\n"


# What is left out or added -> exit code, message.
SAID = {
    "": (2, "`K.add` is a kernel: it needs `--threads N`, or `--grid` and `--block`"),
    "--grid=1": (2, "`K.add` is a kernel: it needs `--threads N`, or `--grid` and `--block`"),
    "--threads=1 --grid=1": (2, "K.add takes threads alone, or grid and block"),
    "--threads=1 --kernel=ad": (2, "no kernel or host method `ad`"),
    "--threads=1 --arg=m=1": (2, "no parameter `m`"),
    "--threads=1 --arg=w=uint8:1": (2, "`w` of K.add takes an array of int8, found uint8"),
    "--threads=1 --kernel=K.count --arg=n=1": (2, "no parameter `out`"),
    "--threads=1 --target=fake-run,fake": (2, "`cajetac run` takes one target, found 2"),
    "--threads=1 --target=fake": (3, "`fake` makes code to run elsewhere"),
    "--threads=1 --target=fake-lack": (3, "`fake-lack` needs a coprocessor, which this machine lacks"),
    "--threads=1 other.cj": (2, "no file `other.cj`"),
}


@pytest.mark.parametrize("words", SAID)
def test_what_cannot_be_called(words: str, kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("run", kernel, *ADD, "--diag-format=short", *words.split())
    code, message = SAID[words]
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_a_kernel_must_be_named(kernel: str, cajetac: Callable[..., Result]) -> None:
    result = cajetac("run", kernel, "--target=fake-run")
    assert result.code == 2
    assert "needs `--kernel NAME`\n  = help: the file has `K.add`" in result.err


def test_errors_of_the_source(kernel: str, cajetac: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "bad.cj").write_text("class K { @Kernel static void k(KernelBuffer<int32> o) { o[0] = x; } }")
    (tmp_path / "binary.cj").write_bytes(b"\xff")
    for file, code in (("bad.cj", "E0201"), ("binary.cj", "E0101")):
        result = cajetac("run", file, "--kernel=k", "--target=fake-run", "--diag-format=short")
        assert (result.code, result.out) == (1, "")
        assert f"error[{code}]" in result.err
