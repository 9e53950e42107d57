"""`-D NAME=INT` and `defines=`: constants with another value than the text gives them."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot import CompileError, Module, compile, compile_file, store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Result

TEXT = """\
class K {
    static final int32 N = 4;
    static final int64 LONG = N * 2, OTHER = 5;
    static final uint64 HUGE = 0;
    static final int8 SMALL = 3;
    static final float32 F = 1.0f;
    static int32 OPEN = 1;
    static final int32[] MANY = 1;
    @Kernel static void k(KernelBuffer<int32> y) {
        Vector<int32,N> v = Vector<int32,N>(1);
        y[0] = v.sum() + SMALL;
    }
    static int64 twice() { return LONG; }
    static uint64 huge() { return HUGE; }
}
class L {
    static final int32 M = 1;
    static class P { static final int32 M = 2; static int32 inner() { return M; } }
    static int32 outer() { return M; }
}
"""


def run(**values: int) -> tuple[int, int, int]:
    named = {name.replace("__", "."): value for name, value in values.items()}
    module = compile(TEXT, defines=named)
    out = np.zeros(1, "int32")
    module["k"](out, threads=1)
    return int(out[0]), module["twice"](), module["huge"]()


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({}, (7, 8, 0)),
        ({"N": 16}, (19, 32, 0)),
        ({"K__N": 1, "SMALL": -128}, (-127, 2, 0)),
        ({"SMALL": 127}, (131, 8, 0)),
        ({"LONG": -(1 << 63)}, (7, -(1 << 63), 0)),
        ({"LONG": (1 << 63) - 1, "HUGE": (1 << 64) - 1}, (7, (1 << 63) - 1, (1 << 64) - 1)),
    ],
)
def test_every_use_sees_the_value(values: dict[str, int], found: tuple[int, int, int]) -> None:
    assert run(**values) == found


def test_inner_classes() -> None:
    for name in ("P.M", "L.P.M"):
        module = compile(TEXT, target="reference", defines={name: 9})
        assert (module["inner"](), module["outer"]()) == (9, 1)
    assert compile(TEXT, target="reference", defines={"L.M": 9})["outer"]() == 9


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SMALL", 128, "`-D SMALL=128` can't be: the constant is int8, -128..127"),
        ("HUGE", -1, "`-D HUGE=-1` can't be: the constant is uint64, 0..18446744073709551615"),
        ("LONG", 1 << 63, "the constant is int64"),
        ("F", 2, "`-D F=2` can't be: the constant is not an integer"),
        ("MANY", 2, "the constant is not an integer"),
        ("OPEN", 2, "`-D OPEN=2` can't be: the constant is not `final`"),
        ("M", 3, "`-D M=3`: 2 constants are called that"),
        ("Q", 3, "`-D Q=3`: no constant `Q`"),
        ("SMALLER", 3, "did you mean `SMALL`?"),
        ("L.N", 3, "no constant `L.N`"),
        ("k", 3, "no constant `k`"),
    ],
)
def test_values_that_are_refused(name: str, value: int, said: str) -> None:
    with pytest.raises(CompileError) as error:
        compile(TEXT, defines={name: value})
    assert [d.code for d in error.value.diagnostics] == ["E0003"]
    assert said in str(error.value)


@pytest.mark.parametrize("defines", [{"N": "4"}, {"N": 4.0}, {"N": True}, {4: 4}, {"N": None}])
def test_what_is_no_integer_by_name_is_a_type_error(defines: Any) -> None:
    with pytest.raises(TypeError, match="`defines` are integers by the names of constants"):
        compile(TEXT, defines=defines)


def test_a_mistake_that_a_value_leads_to_is_where_the_program_is() -> None:
    with pytest.raises(CompileError) as error:
        compile(TEXT, defines={"N": 257})
    assert {(d.code, d.line) for d in error.value.diagnostics} == {("E0308", 10)}


def test_it_is_kept_apart_and_travels_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path))
    for _ in range(2):
        modules: list[Module] = [compile(TEXT, defines={"LONG": value}) for value in (1, 2)]
        assert [module["twice"]() for module in modules] == [1, 2]
        assert pickle.loads(pickle.dumps(modules[1]))["twice"]() == 2
        assert modules[0].emit("ir") != modules[1].emit("ir")


def test_several_files(tmp_path: Path) -> None:
    (tmp_path / "a.cj").write_text("class A { static int32 f() { return B.N; } }")
    (tmp_path / "b.cj").write_text("class B { static final int32 N = 1; }")
    paths = [tmp_path / "a.cj", tmp_path / "b.cj"]
    assert compile_file(paths, defines={"N": 6})["f"]() == 6
    with pytest.raises(CompileError, match="no constant `X`"):
        compile_file(paths, defines={"X": 6})
    (tmp_path / "b.cj").write_text("class B { static final int32 X = ; }")
    with pytest.raises(CompileError) as error:
        compile_file(paths, defines={"X": 6})
    assert "no constant" not in str(error.value), "it may be in the file that could not be read"


# ---- on the command line


@pytest.mark.parametrize("words", [("-D", "N=0x10"), ("-DK.N=16",), ("-D", "N=1", "-D", "N=16")])
def test_from_the_command_line(words: tuple[str, ...], tmp_path: Path, cajetac: Callable[..., Result]) -> None:
    (tmp_path / "k.cj").write_text(TEXT)
    told = cajetac("run", tmp_path / "k.cj", "--kernel", "k", "--arg", "y=zeros:int32:1", "--threads", 1, *words)
    assert told.out == "y = int32[1] [19]\n"
    assert "Vector<int32,16>" in cajetac(tmp_path / "k.cj", "--emit", "ir", *words).out


@pytest.mark.parametrize("word", ["N", "N=", "=4", "N=four", "N=4.0", "N=4=4"])
def test_words_that_are_refused(word: str, tmp_path: Path, cajetac: Callable[..., Result]) -> None:
    (tmp_path / "k.cj").write_text(TEXT)
    told = cajetac("check", tmp_path / "k.cj", "-D", word)
    assert (told.code, told.out) == (2, "")
    assert "E0003" in told.err


def test_a_name_that_is_not_there_ends_with_the_code_for_usage(tmp_path: Path, cajetac: Callable[..., Result]) -> None:
    (tmp_path / "k.cj").write_text(TEXT)
    assert cajetac("check", tmp_path / "k.cj", "-D", "NN=1").code == 2
    assert cajetac("check", tmp_path / "k.cj", "-D", "N=1").code == 0
    assert cajetac(tmp_path / "k.cj", "--target", "spirv", "-D", "NN=1").out == ""
