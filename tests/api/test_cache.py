"""Code that is kept: a later process finds it, for exactly what it was made from, and does the same with it."""

from __future__ import annotations

import marshal
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot import BoundsError, CompileError, DivisionError, LaneIndexError, compile, compile_file, store
from cajeta_dot.backends.llvm import surroundings
from cajeta_dot.run import cache
from cajeta_dot.run import compile as compiling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cajeta_dot import Module

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "samples" / "q4k_matvec.cj"
TEXT = """\
class Quant {
    static final int32 BIAS = 3;

    @Kernel
    static void dots(KernelBuffer<int32> out, KernelBuffer<uint8> w, KernelBuffer<int8> x, int64 n) {
        Vector<int32,4> acc = Vector<int32,4>(0);
        for (int64 i = 0; i < n; i += 16) { acc = w.vload<16>(i).dotAccum(x.vload<16>(i), acc); }
        out[KernelThread.globalIdX()] = acc.sum() + BIAS;
    }

    static float16 half(float16 x) { return x; }
    static int32 divide(int32 a, int32 b) { return a / b; }
    static int32 lane(int32 i) { Vector<int32,4> v = Vector<int32,4>(4, 5, 6, 7); return v[i]; }
    static int32 lane(int32 i, int32 j) { return lane(i) + lane(j); }
    static Vector<int32,4> four(int32 x) { return Vector<int32,4>(x); }
    static int32 sixteen() { return four(4).sum(); }
    static void print(int32[] values) { println("skipped"); }
}
"""
pytestmark = pytest.mark.skipif(
    not surroundings.describe_surroundings(), reason="what this machine is can't be told without LLVM"
)


class Compilations(list[str]):
    """The names of files that were really compiled."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept" / "objects"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    done, real = Compilations(), compiling.build

    def build(program: Any, *others: Any) -> Any:
        done.append(program.source.name)
        return real(program, *others)

    monkeypatch.setattr(compiling, "build", build)
    return done


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def run_dots(module: Module) -> list[int]:
    out = np.zeros(2, "int32")
    w, x = np.array([0, 1, 127, 128, 255] * 16, "uint8")[:64], np.array([-128, 127, -1, 1, 0, 77] * 11, "int8")[:64]
    module["dots"](out, w, x, 64, grid=2, block=1)
    return out.tolist()


def try_faults(module: Module) -> Iterator[str]:
    """What each mistake at run time is answered with."""
    zeros = np.zeros(16, "uint8"), np.zeros(15, "int8")
    with pytest.raises(BoundsError) as bounds:
        module["dots"](np.zeros(1, "int32"), *zeros, 16, grid=1, block=1)
    yield f"{bounds.value} {bounds.value.index} {bounds.value.lanes} {bounds.value.length}"
    with pytest.raises(DivisionError) as division:
        module["divide"](7, 0)
    yield str(division.value)
    with pytest.raises(LaneIndexError) as lane:
        module["Quant.lane/2"](0, 4)
    yield f"{lane.value} {lane.value.index}"


def refuse(module: Module, name: str) -> str:
    with pytest.raises(KeyError) as error:
        module[name]
    return str(error.value)


def describe(module: Module) -> list[Any]:
    """All that a module tells."""
    functions = [(name, repr(f), f.kind, f.parameters, f.__doc__) for name, f in module.functions.items()]
    told = [(d.code, d.severity, d.message, d.line, d.primary, d.secondary, d.notes, d.helps) for d in module.diagnostics]
    return [repr(module), module.filename, module.target, module.kinds, module.choices, told, functions]


def test_what_was_kept_does_the_same(folder: Path, compiled: Compilations) -> None:
    modules = [compile(TEXT, "quant.cj") for _ in range(2)]
    assert compiled == ["quant.cj"]
    first, second = modules
    assert repr(describe(first)) == repr(describe(second))
    assert first.diagnostics
    assert first.choices
    assert run_dots(first) == run_dots(second) == run_dots(compile(TEXT, target="reference"))
    assert first["sixteen"]() == second["sixteen"]() == 16
    assert first["half"](0.1) == second["half"](0.1) == float(np.float16(0.1))
    assert list(try_faults(first)) == list(try_faults(second))
    assert "quant.cj:7: " in next(try_faults(second))
    for kind in (*first.kinds, "ir"):
        assert first.emit(kind) == second.emit(kind)
    assert first.disasm("dots") == second.disasm("dots")
    for module in modules:
        with pytest.raises(TypeError, match="which only other methods can take"):
            module["four"](1)
    for name in ("nothing", "print"):
        said = [refuse(module, name) for module in modules]
        assert said[0] == said[1]
    assert run_dots(pickle.loads(pickle.dumps(second))) == run_dots(first)
    assert len(files_in(folder)) == 1


def test_another_process_needs_no_llvm(folder: Path) -> None:
    program = f"""
import sys
import cajeta_dot
import numpy as np
matvec = cajeta_dot.compile_file({str(SAMPLE)!r})["matvec"]
y, w, x = np.zeros(1, np.float32), np.arange(144, dtype=np.uint8), np.arange(256, dtype=np.uint8).view(np.int8)
for _ in range(200):
    matvec(y, w, x, np.ones(1, np.float32), np.arange(8, dtype=np.int32), 1, 1, threads=1)
print(matvec.__doc__, y)
print("llvmlite" in sys.modules, "cajeta_dot.check" in sys.modules)
"""
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout.splitlines()[1] for run in runs] == ["True True", "False False"]
    assert runs[0].stdout.splitlines()[0] == runs[1].stdout.splitlines()[0]
    assert len(files_in(folder)) == 2, "the kernel, and the short way into such kernels"


VARIATIONS: dict[str, tuple[tuple[str, str], dict[str, Any], dict[str, str]]] = {
    "another text": ((TEXT.replace("BIAS = 3", "BIAS = 4"), "quant.cj"), {}, {}),
    "another name": ((TEXT, "other.cj"), {}, {}),
    "another target": ((TEXT, "quant.cj"), {"target": "x86-sse2"}, {}),
    "without checks": ((TEXT, "quant.cj"), {"checks": False}, {}),
    "not optimized": ((TEXT, "quant.cj"), {"optimize": 0}, {}),
    "for a processor": ((TEXT, "quant.cj"), {"cpu": "x86-64-v2"}, {}),
    "other features": ((TEXT, "quant.cj"), {}, {"CAJETA_HOST_FEATURES": "ssse3"}),
    "no vectors": ((TEXT, "quant.cj"), {}, {"CAJETA_SIMD_SCALAR_FALLBACK": "1"}),
}


@pytest.mark.parametrize("name", VARIATIONS)
def test_all_that_counts_is_in_the_key(
    name: str, folder: Path, compiled: Compilations, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, options, environment = VARIATIONS[name]
    if name in ("another target", "for a processor") and os.uname().machine != "x86_64":
        pytest.skip("it is for x86-64")
    compile(TEXT, "quant.cj")
    for variable, content in environment.items():
        monkeypatch.setenv(variable, content)
    modules = [compile(*texts, **options) for _ in range(2)]
    assert len(compiled) == len(files_in(folder)) == 2
    assert run_dots(modules[0]) == run_dots(modules[1])


def test_what_does_not_count_is_not(folder: Path, compiled: Compilations) -> None:
    assert run_dots(compile(TEXT, "quant.cj")) == run_dots(compile(TEXT, "quant.cj", num_threads=1))
    assert len(compiled) == 1


def test_a_change_of_the_compiler_counts(folder: Path, compiled: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    compile(TEXT, "quant.cj")
    real = cache.describe_package()
    assert str(ROOT / "cajeta_dot" / "run" / "cache.py") in real or "site-packages" in real
    for part in ("backends", "grammar", "check", "record.py"):
        assert part in real
    monkeypatch.setattr(cache, "describe_package", lambda: real + "new")
    compile(TEXT, "quant.cj")
    assert len(compiled) == 2


def test_what_can_not_be_told_is_not_kept(folder: Path, compiled: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "describe_surroundings", lambda: "")
    assert run_dots(compile(TEXT)) == run_dots(compile(TEXT))
    assert len(compiled) == 2
    assert not folder.exists()


@pytest.mark.parametrize("target", ["reference", "spirv", "nvptx", "null"])
def test_other_backends_keep_nothing(target: str, folder: Path) -> None:
    text = "class K { @Kernel static void k(KernelBuffer<int32> out) { out[0] = 1; } }"
    compile(text, target=target)
    assert not folder.exists()


def test_bad_files_are_as_if_they_were_not_there(folder: Path, compiled: Compilations) -> None:
    expected = run_dots(compile(TEXT))
    (file,) = files_in(folder)
    good = file.read_bytes()
    cuts = [good[:size] for size in (0, 10, 100, len(good) // 2, len(good) - 1)]
    places = [0, 20, 200, len(good) - 4000, len(good) - 1]
    flips = [good[:place] + bytes([good[place] ^ 16]) + good[place + 1 :] for place in places]
    for bad in (*cuts, *flips, good + b"x", os.urandom(len(good))):
        compiled.clear()
        file.write_bytes(bad)
        assert run_dots(compile(TEXT)) == expected
        assert len(compiled) == 1
        assert run_dots(compile(TEXT)) == expected
        assert len(compiled) == 1, "what was bad was replaced"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no rights of others")
def test_a_file_that_others_may_write_is_not_trusted(folder: Path, compiled: Compilations) -> None:
    compile(TEXT)
    (file,) = files_in(folder)
    assert file.stat().st_mode & 0o077 == 0
    for mode in (0o620, 0o602):
        file.chmod(mode)
        compile(TEXT)
    assert len(compiled) == 3
    compile(TEXT)
    assert len(compiled) == 3


def test_a_file_of_another_key_is_not_taken(folder: Path, compiled: Compilations) -> None:
    """Two keys of one name: the whole key is compared."""
    compile(TEXT)
    (file,) = files_in(folder)
    other = TEXT.replace("BIAS = 3", "BIAS = 5")
    compile(other)
    (second,) = set(files_in(folder)) - {file}
    second.write_bytes(file.read_bytes())
    module = compile(other)
    assert len(compiled) == 3
    assert run_dots(module)[0] == run_dots(compile(TEXT))[0] + 2


@pytest.mark.parametrize(
    "content",
    [
        None,
        7,
        (),
        ("a",) * 6,
        ((["Function"],), {}, (), (), (), ()),
        ((["Unknown", 1],), {}, (), (), (), ("native", b"", (), ())),
    ],
    ids=repr,
)
def test_content_of_another_shape_is_not_taken(content: Any, folder: Path, compiled: Compilations) -> None:
    """As a version would write it whose key is the same: there is none, but it must not matter."""
    expected = run_dots(compile(TEXT))
    (file,) = files_in(folder)
    data = file.read_bytes()
    start = len(b"cajeta store 1\n")
    size = int.from_bytes(data[start : start + 4], "little")
    assert store.write(str(file), data[start + 4 : start + 4 + size], content)
    assert run_dots(compile(TEXT)) == expected
    assert len(compiled) == 2


def test_several_files(folder: Path, compiled: Compilations, tmp_path: Path) -> None:
    (tmp_path / "a.cj").write_text("class A { static int32 twice(int32 x) { return B.half(x * 4); } }")
    (tmp_path / "b.cj").write_text(
        'class B {\n    static int32 half(int32 x) { return x / 2; }\n    static void f() { println("x"); }\n}\n'
    )
    paths = [tmp_path / "a.cj", tmp_path / "b.cj"]
    first, second = compile_file(paths), compile_file(paths)
    assert len(compiled) == 1
    assert first["twice"](21) == second["twice"](21) == 42
    assert repr(describe(first)) == repr(describe(second))
    (found,) = second.diagnostics
    assert found.source
    assert (found.source.name, found.line) == (str(paths[1]), 3)
    compile_file(paths[::-1])
    assert len(compiled) == 2


def test_errors_are_found_again(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(CompileError, match="E0201"):
            compile("class A { static int32 f() { return y; } }")
    assert not folder.exists()


def test_processes_at_the_same_time(folder: Path) -> None:
    program = f"import cajeta_dot; print(cajeta_dot.compile_file({str(SAMPLE)!r})['matvec'])"
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    answers = {process.communicate() for process in running}
    assert len(answers) == 1
    assert "matvec" in next(iter(answers))[0]
    assert [file.suffix for file in files_in(folder)] == [store.SUFFIX]


def test_what_was_used_longest_ago_makes_room(folder: Path, compiled: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [TEXT.replace("BIAS = 3", f"BIAS = {n}") for n in range(4)]
    for text in texts[:3]:
        compile(text)
    for age, file in enumerate(sorted(files_in(folder), key=lambda file: file.stat().st_mtime_ns)):
        os.utime(file, (1000 + age, 1000 + age))
    (folder / "left.tmp").write_bytes(b"")
    os.utime(folder / "left.tmp", (0, 0))
    compile(texts[0])  # used: the second is the oldest now
    sizes = [file.stat().st_size for file in files_in(folder)]
    monkeypatch.setattr(cache, "MAX_BYTES", sum(sizes))
    compile(texts[3])
    assert len(files_in(folder)) == 3
    compiled.clear()
    for text in (texts[0], texts[2], texts[3]):
        compile(text)
    assert not compiled
    compile(texts[1])
    assert len(compiled) == 1


@pytest.mark.parametrize("how", ["argument", "variable", "file in the way"])
def test_nothing_is_kept_where_it_is_not_wanted_or_can_not_be(
    how: str, folder: Path, compiled: Compilations, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "variable":
        monkeypatch.setenv(store.FOLDER_VARIABLE, "")
    if how == "file in the way":
        folder.parent.write_text("")
    for _ in range(2):
        assert run_dots(compile(TEXT, cache=how != "argument"))
    assert len(compiled) == 2
    assert not folder.exists()


def test_only_plain_data_is_written(folder: Path) -> None:
    """`marshal` would refuse anything else, and what it reads can't do anything."""
    compile(TEXT)
    (file,) = files_in(folder)
    data = file.read_bytes()
    start = len(b"cajeta store 1\n")
    size = int.from_bytes(data[start : start + 4], "little")
    content = marshal.loads(data[start + 4 + size + 8 :])
    assert type(content) is tuple
