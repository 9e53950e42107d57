"""What tests share: `cajetac` called in this process or in one of its own, from an installed project or a bare checkout; and
NVIDIA's assembler and disassembler, where there are some."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
if importlib.util.find_spec("cajeta_dot") is None:
    sys.path.insert(0, str(ROOT))


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def pytest_configure(config: pytest.Config) -> None:
    """A cache of their own: tests shall not find what was kept before, nor leave thousands of programs to the user."""
    if not hasattr(config, "workerinput"):  # the others inherit it
        folder = tempfile.mkdtemp(prefix="cajeta-cache-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["CAJETA_CACHE_DIR"] = folder


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("random programs (tests/fuzz)")
    group.addoption("--fuzz-programs", type=int, default=300, metavar="N", help="how many, 300 by default")
    group.addoption("--fuzz-seed", type=int, default=0, metavar="S", help="seed of the first, 0 by default")


@pytest.fixture
def cajetac(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """`cajetac(*words)` in this process."""
    from cajeta_dot.cli import run

    def call(*words: object) -> Result:
        capsys.readouterr()
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def cajetac_process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """`cajetac_process(*words, **options of subprocess.run)` in a process of its own."""

    def call(*words: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "cajeta_dot", *map(str, words)]
        settings: dict[str, object] = {
            "capture_output": True,
            "stdin": subprocess.DEVNULL,
            "timeout": 60,
            "env": child_environment(),
        }
        return subprocess.run(command, **{**settings, **options})  # type: ignore[call-overload]

    return call


def find_cuda_tool(name: str) -> str | None:
    """Out of the pip packages of the extra `ptx`, or an installed one."""
    packages = importlib.util.find_spec("nvidia")
    folders = packages.submodule_search_locations if packages else None
    found = (str(file) for folder in folders or () for file in Path(folder).glob(f"*/bin/{name}"))
    return next(found, shutil.which(name))


@pytest.fixture
def assemble_ptx(tmp_path: Path) -> Callable[..., Path]:
    """`assemble_ptx(text, architecture)` is the object that ptxas makes of it, without a word. Its newest releases know no GPU
    before sm_75, but take text written for one."""
    ptxas = find_cuda_tool("ptxas")
    if not ptxas:
        pytest.skip("NO PTXAS ON THIS MACHINE: nothing assembles the PTX (pip install cajeta-dot[ptx])")

    def assemble(text: str, architecture: str = "sm_75", *options: str) -> Path:
        source, made = tmp_path / "k.ptx", tmp_path / "k.cubin"
        source.write_text(text)
        command = [ptxas, f"-arch={architecture}", *options, "-o", str(made), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout + done.stderr) == (0, ""), done.stdout + done.stderr
        return made

    return assemble


@pytest.fixture
def disassemble_ptx(assemble_ptx: Callable[..., Path]) -> Callable[..., str]:
    """`disassemble_ptx(text, architecture)` is what runs on the GPU, in NVIDIA's notation of it."""
    nvdisasm = find_cuda_tool("nvdisasm")
    if not nvdisasm:
        pytest.skip("NO NVDISASM ON THIS MACHINE: nobody has seen what the PTX becomes (pip install cajeta-dot[ptx])")

    def disassemble(text: str, architecture: str = "sm_75") -> str:
        done = subprocess.run([nvdisasm, str(assemble_ptx(text, architecture))], capture_output=True, text=True, check=True)
        return done.stdout

    return disassemble


def child_environment(**changes: str) -> dict[str, str]:
    """This environment with the checkout on the path and without wishes about colours."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    path = os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH"))))
    return {**kept, "PYTHONPATH": path, **changes}
