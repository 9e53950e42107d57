"""Modules and their functions from source text, on the reference target."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cajeta_dot import (
    BoundsError,
    CompileError,
    DivisionError,
    KernelError,
    LaneIndexError,
    Module,
    compile,
    compile_file,
    driver,
)
from cajeta_dot.backends import Artifact, Choice, TargetInfo
from cajeta_dot.run.functions import Parameter

if TYPE_CHECKING:
    from cajeta_dot.backends import Options
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

ROOT = Path(__file__).parents[2]
TEXT = """\
class Quant {
    @Kernel
    static void scale(KernelBuffer<int32> out, KernelBuffer<int32> in, int32 factor, uint32 n) {
        uint32 i = KernelThread.globalIdX();
        if (i < n) { out[i] = in[i] * factor; }
    }

    @Kernel
    static void places(KernelBuffer<uint32> out) {
        uint32 at = KernelThread.globalIdY() * (Workgroup.dimX() * 2) + KernelThread.globalIdX();
        out[at] = Workgroup.dimX() * 100 + Workgroup.dimY() * 10 + Workgroup.dimZ();
    }

    static int64 sum(int32[] values) {
        int64 total = 0;
        for (int64 i = 0; i < values.count(); i++) { total += (int64) values[i]; }
        return total;
    }

    static float32 half(float32 x) { return x / 2.0f; }
    static boolean isNegative(int8 x) { return x < 0; }
    static void nothing() { }
    static Vector<int32,4> four(int32 x) { return Vector<int32,4>(x); }
    static int32 divide(int32 a, int32 b) { return a / b; }
    static int32 lane(int32 i) { Vector<int32,4> v = Vector<int32,4>(4, 5, 6, 7); return v[i]; }
}

class Other {
    static int32 sum(int32 a, int32 b) { return a + b; }
}
"""


@pytest.fixture(scope="module")
def module() -> Module:
    return compile(TEXT, filename="quant.cj", target="reference")


def ints(*numbers: int) -> Any:
    return np.array(numbers, "int32")


# ---- names


def test_functions_by_name(module: Module) -> None:
    assert module["scale"] is module["Quant.scale"] is module.functions["scale"]
    assert module["Quant.sum"] is not module["Other.sum"]
    assert "Quant.sum" in module
    assert "sum" not in module  # two classes have one
    assert module.target == "reference"
    assert module.filename == "quant.cj"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Quant.scal", "did you mean `Quant.scale`"),
        ("sum", "no kernel or host method `sum` in quant.cj"),
        ("zzzzzzzzzzzz", "there are "),
    ],
)
def test_unknown_names(module: Module, name: str, said: str) -> None:
    with pytest.raises(KeyError, match=said):
        module[name]


def test_a_method_that_was_skipped_says_why() -> None:
    text = 'class A { static int32 f() { return 1; } static void g() { String s = "x"; } }'
    module = compile(text, target="reference")
    for name in ("A.g", "g"):
        with pytest.raises(KeyError, match=f"no kernel or host method `{name}` .*; host method `A.g` is skipped because of "):
            module[name]


def test_what_a_function_says_of_itself(module: Module) -> None:
    kernel, method = module["scale"], module["Quant.sum"]
    assert (kernel.name, kernel.kind) == ("Quant.scale", "kernel")
    assert (method.name, method.kind) == ("Quant.sum", "host")
    found = [(p.name, p.type, p.written) for p in kernel.parameters]
    assert found == [
        ("out", "KernelBuffer<int32>", True),
        ("in", "KernelBuffer<int32>", False),
        ("factor", "int32", False),
        ("n", "uint32", False),
    ]
    assert isinstance(kernel.parameters[0], Parameter)
    assert method.__doc__ == "host int64 Quant.sum(int32[] values)"
    assert repr(method) == "<host int64 Quant.sum(int32[] values) for reference>"
    assert "Quant.scale" in repr(module)


# ---- calls


def test_a_kernel_is_launched(module: Module) -> None:
    launches: list[dict[str, Any]] = [
        {"grid": 2, "block": 3},
        {"threads": 5},
        {"grid": (2, 1), "block": (3, 1, 1)},
        {"grid": np.int64(6), "block": 1},
    ]
    for launch in launches:
        out = ints(0, 0, 0, 0, 0)
        assert module["scale"](out, ints(1, 2, 3, 4, 5), -2, 5, **launch) is None
        assert out.tolist() == [-2, -4, -6, -8, -10]


def test_three_dimensions(module: Module) -> None:
    out = np.zeros(24, "uint32")
    module["places"](out, grid=(2, 3), block=(4,))
    assert out.tolist() == [411] * 24


def test_no_work_is_fine(module: Module) -> None:
    out = ints(7)
    module["scale"](out, ints(1), 2, 1, threads=0)
    module["scale"](out, ints(1), 2, 1, grid=0, block=64)
    module["scale"](ints(), ints(), 2, 0, threads=1)
    assert out.tolist() == [7]
    assert module["Quant.sum"](ints()) == 0


@pytest.mark.parametrize(
    ("launch", "error", "said"),
    [
        ({}, TypeError, "Quant.scale is a kernel: it is called with grid= and block=, or with threads="),
        ({"grid": 1}, TypeError, "is called with grid= and block="),
        ({"block": 1}, TypeError, "is called with grid= and block="),
        ({"threads": 1, "block": 1}, TypeError, "takes threads alone"),
        ({"grid": 1.0, "block": 1}, TypeError, "grid takes an int or up to three of them, found 1.0"),
        ({"grid": True, "block": 1}, TypeError, "grid takes an int"),
        ({"grid": np.array([1, 2]), "block": 1}, TypeError, r"grid takes .*, found array\(\[1, 2\]\)"),
        ({"grid": (1, "2"), "block": 1}, TypeError, "grid takes an int"),
        ({"threads": (1, 2)}, TypeError, r"threads takes an int, found \(1, 2\)"),
        ({"grid": (1, 1, 1, 1), "block": 1}, ValueError, "grid has one to three dimensions, found 4"),
        ({"grid": (), "block": 1}, ValueError, "grid has one to three dimensions, found 0"),
        ({"grid": -1, "block": 1}, ValueError, "grid must be zero or more, found -1"),
        ({"threads": -1}, ValueError, "threads must be zero or more, found -1"),
        ({"grid": 1, "block": 0}, ValueError, "block must be positive, found 0"),
        ({"grid": 1, "block": (1, 0)}, ValueError, "block must be positive"),
        ({"grid": 1, "block": 1025}, ValueError, "has more than 1024 work items"),
        ({"grid": 1, "block": (16, 16, 8)}, ValueError, "has more than 1024 work items"),
        ({"grid": 2**27, "block": 64}, ValueError, r"more than 2\*\*32 work items along one axis"),
    ],
)
def test_launches_that_are_refused(module: Module, launch: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        module["scale"](ints(0), ints(1), 2, 1, **launch)


def test_a_host_method_is_called_plainly(module: Module) -> None:
    assert module["Quant.sum"](ints(2**31 - 1, 2**31 - 1, 5)) == 2**32 + 3
    assert module["Other.sum"](2**31 - 1, 1) == -(2**31)
    assert module["half"](3) == 1.5
    assert module["isNegative"](-1) is True
    assert module["nothing"]() is None
    with pytest.raises(TypeError, match="is a host method: it is called without grid, block and threads"):
        module["half"](3.0, threads=1)
    with pytest.raises(TypeError, match="returns Vector<int32,4>, which only other methods can take"):
        module["four"](3)


def test_arguments_are_checked(module: Module) -> None:
    memory = ints(1, 2, 3)
    with pytest.raises(ValueError, match=r"`out` and `in` of Quant\.scale share memory, and `out` is written"):
        module["scale"](memory, memory, 1, 3, threads=3)
    with pytest.raises(OverflowError, match=r"`factor` of Quant\.scale takes int32"):
        module["scale"](memory, ints(1), 2**31, 3, threads=3)
    assert memory.tolist() == [1, 2, 3]


def test_run_time_errors(module: Module) -> None:
    out = ints(0, 0)
    with pytest.raises(BoundsError) as caught:
        module["scale"](out, ints(1, 2, 3), 2, 3, threads=3)
    error = caught.value
    assert (error.file, error.line, error.index, error.lanes, error.length) == ("quant.cj", 5, 2, 1, 2)
    assert out.tolist() == [2, 4]
    with pytest.raises(DivisionError, match=r"quant\.cj:24: division by zero"):
        module["divide"](1, 0)
    with pytest.raises(LaneIndexError, match=r"quant\.cj:25: lane 4 of a vector of 4 lanes"):
        module["lane"](4)
    assert issubclass(BoundsError, KernelError)


def test_without_checks() -> None:
    module = compile(TEXT, target="reference", checks=False)
    assert module["divide"](1, 0) == 0
    assert module["divide"](-(2**31), -1) == -(2**31)
    assert module["lane"](-1) == 7


# ---- compiling


def test_a_file_is_compiled_like_its_text(tmp_path: Path) -> None:
    path = tmp_path / "quant.cj"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    module = compile_file(path, target="reference")
    assert module.filename == str(path)
    with pytest.raises(DivisionError, match=":24: "):
        module["divide"](1, 0)
    with pytest.raises(FileNotFoundError):
        compile_file(tmp_path / "none.cj")


def test_mistakes_are_all_reported() -> None:
    with pytest.raises(CompileError) as caught:
        compile("class A { static int32 f() { return x + y; } }", filename="a.cj", target="reference")
    assert [d.code for d in caught.value.diagnostics] == ["E0201", "E0201"]
    assert "a.cj:1:37" in str(caught.value)


def test_warnings_are_kept() -> None:
    module = compile("class A { static int8 f(int32 x) { return x; } }", target="reference")
    assert [(d.code, d.line) for d in module.diagnostics] == [("W0302", 1)]
    assert module["f"](300) == 44


def test_text_that_is_none() -> None:
    with pytest.raises(CompileError) as caught:
        compile("class A { } // \ud800", target="reference")
    assert [d.code for d in caught.value.diagnostics] == ["E0101"]


def test_an_unknown_target() -> None:
    with pytest.raises(CompileError, match="did you mean `reference`") as caught:
        compile(TEXT, target="referenz")
    assert [d.code for d in caught.value.diagnostics] == ["E0603"]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"optimise": 2}, TypeError, "no option `optimise`; did you mean `optimize`"),
        ({"optimize": 4}, ValueError, "option `optimize` is 0, 1, 2 or 3, found 4"),
        ({"optimize": True}, TypeError, "option `optimize` is of type int, found True"),
        ({"gpu_arch": 61}, TypeError, "option `gpu_arch` is of type str"),
        ({"block": 0}, ValueError, "block must be positive"),
        ({"checks": 1}, TypeError, "option `checks` is of type bool"),
        ({"num_threads": 0}, ValueError, "num_threads is a whole number from 1 on, found 0"),
        ({"num_threads": 1.5}, ValueError, r"num_threads is a whole number from 1 on, found 1\.5"),
        ({"num_threads": "2"}, ValueError, "num_threads is a whole number from 1 on, found '2'"),
        ({"filename": None}, TypeError, "`filename` is text, found NoneType"),
        ({"num_threads": True}, ValueError, "num_threads is a whole number from 1 on, found True"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        compile(TEXT, target="reference", **options)


def test_what_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="`text` is text, found bytes"):
        compile(TEXT.encode())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`target` is the name of one, found None"):
        compile(TEXT, target=None)  # type: ignore[arg-type]
    with open(tmp_path / "k.cj", "w+") as file:
        for path in ([file.fileno()], b"k.cj"):
            with pytest.raises(TypeError):
                compile_file(path)  # type: ignore[arg-type]
        file.write("still open")


def test_the_intermediate_form_is_there_for_every_target(module: Module) -> None:
    text = module.emit("ir")
    assert isinstance(text, str)
    assert "kernel Quant.scale(%out: KernelBuffer<int32>, %in: KernelBuffer<int32>, %factor: int32, %n: uint32)\n" in text
    assert module.emit() == text
    with pytest.raises(ValueError, match="option `optimize` is 0, 1, 2 or 3, found 5"):
        module.emit("ir", optimize=5)
    with pytest.raises(ValueError, match="target reference has no output 'asm', it has ir"):
        module.emit("asm")


def test_a_target_for_devices_says_what_runs_it() -> None:
    kernel = compile(TEXT, target="spirv")["Quant.scale"]
    with pytest.raises(RuntimeError, match="elsewhere; device='vulkan' compiles it for one here, and module"):
        kernel(threads=1)


def test_a_module_names_its_functions(module: Module) -> None:
    assert list(module) == list(module.functions)
    with pytest.raises(TypeError, match="a function is found by its name, found 0"):
        module[0]  # type: ignore[index]


# ---- pickling


def test_modules_and_functions_are_pickled_as_their_source() -> None:
    module = compile(TEXT, "quant.cj", "reference", checks=False, num_threads=2, optimize=1)
    copy = pickle.loads(pickle.dumps(module))
    assert copy["divide"](1, 0) == 0
    assert (copy.filename, copy.target) == ("quant.cj", "reference")
    method = pickle.loads(pickle.dumps(module["Quant.sum"]))
    assert method(ints(1, 2)) == 3


def test_compile_errors_are_pickled() -> None:
    with pytest.raises(CompileError) as caught:
        compile("class A { static int32 f() { return x; } }", target="reference")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)


# ---- targets that this machine can't run


class TextBackend:
    """A target whose text is its options, and one that always lacks something."""

    name = "text"

    def __init__(self) -> None:
        self.emitted: list[str] = []

    def targets(self) -> tuple[TargetInfo, ...]:
        return (TargetInfo("text", "", ("words", "bytes")), TargetInfo("machine", "", ("words",), runs=True))

    def missing(self, target: str) -> str:
        return "a `gadget`"

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        if options.gpu_arch == "old":
            from cajeta_dot.diagnostics.rules import TARGET_TOO_OLD

            return reporter.report(TARGET_TOO_OLD, "it is old", None)
        self.emitted.append(kind)
        start = program.source.text.index("in[i]")
        choice = Choice(start, start + 5, "Quant.scale", "mul", 1, "s", "plain", "imul", "it is there", exact=True)
        return Artifact(kind, f"{kind} {options.gpu_arch} {options.block}", (choice,))

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> None:
        raise AssertionError("what can't run is not loaded")


@pytest.fixture
def text_backend(monkeypatch: pytest.MonkeyPatch) -> TextBackend:
    backend = TextBackend()
    by_name = {info.name: (backend, info) for info in backend.targets()}
    monkeypatch.setattr(driver, "resolve_target", lambda name, _reporter: by_name[name])  # pyright: ignore
    return backend


def test_a_target_that_makes_text(text_backend: TextBackend) -> None:
    module = compile(TEXT, "quant.cj", "text", gpu_arch="new")
    assert text_backend.emitted == ["words"]
    assert module.emit() == module.emit("words") == "words new (64, 1, 1)"
    assert module.emit("bytes", gpu_arch="other", block=(8, 8)) == "bytes other (8, 8, 1)"
    (choice,) = module.choices
    assert (choice.file, choice.line, choice.operation, choice.form) == ("quant.cj", 5, "mul", "plain")
    assert (choice.instruction, choice.why, choice.exact) == ("imul", "it is there", True)
    with pytest.raises(RuntimeError, match=r"target text makes code to run elsewhere; module\.emit\(\) gives it"):
        module["scale"](ints(0), ints(1), 2, 1, threads=1)
    with pytest.raises(ValueError, match="target text has no output 'word', it has words, bytes; did you mean 'words'"):
        module.emit("word")


@pytest.mark.usefixtures("text_backend")
def test_a_target_that_refuses() -> None:
    with pytest.raises(CompileError) as caught:
        compile(TEXT, target="text", gpu_arch="old")
    assert [d.code for d in caught.value.diagnostics] == ["E0602"]
    with pytest.raises(CompileError, match="it is old"):
        compile(TEXT, target="text").emit(gpu_arch="old")


@pytest.mark.usefixtures("text_backend")
def test_a_target_that_this_machine_lacks() -> None:
    with pytest.raises(CompileError, match="`machine` needs a `gadget`, which this machine lacks") as caught:
        compile(TEXT, target="machine")
    assert [d.code for d in caught.value.diagnostics] == ["E0601"]


# ---- importing


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_importing_is_cheap() -> None:
    heavy = ["numpy", "lark", "llvmlite", "dataclasses", "enum", "typing", "inspect", "pathlib"]
    alone = set(run_python("import sys; print(*sys.modules)").split())
    loaded = set(run_python("import sys, cajeta_dot; print(*sys.modules)").split()) - alone
    assert loaded.isdisjoint(heavy)


def test_public_names() -> None:
    package = import_module("cajeta_dot")
    assert set(package.__all__) <= set(dir(package))
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'compil'"):
        package.compil  # noqa: B018 - asked for as a user would
