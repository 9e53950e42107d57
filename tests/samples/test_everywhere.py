"""Every sample for every target that is installed, every processor and every architecture: an answer, never an aborted process.

LLVM ends the process on what it can't select, so each target is tried in a child of its own, which goes through all of its
commands and says before each which one it is. Targets come from the registry: a new one is tried without a change here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cajeta_dot.driver import all_targets
from tests.conftest import child_environment

from .programs import NAMES, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

    from cajeta_dot.backends import TargetInfo

TARGETS = {info.name: info for _, info in all_targets() if info.kinds}
SMALL = str(SAMPLES / "dot_accum.cj")
# Reads lists of words from stdin; writes each to stdout, and then the exit code.
CHILD = """
import json, sys
from cajeta_dot.cli import run
for line in sys.stdin:
    print(line.strip(), flush=True)
    print(run(json.loads(line)), flush=True)
"""
ENVIRONMENTS = ("vulkan1.1", "vulkan1.2", "vulkan1.3")


def commands(info: TargetInfo, folder: str) -> list[list[str]]:
    """All samples in all kinds; for each processor, feature and architecture one sample, and for architectures all of them."""
    files = [str(SAMPLES / f"{name}.cj") for name in NAMES]

    def build(file: str, kind: str, *options: str) -> list[str]:
        return ["build", file, "--target", info.name, "--emit", kind, "-o", f"{folder}/{len(made)}.out", "-O1", *options]

    made: list[list[str]] = []
    best = info.kinds[min(1, len(info.kinds) - 1)] if "asm" in info.kinds else info.kinds[0]  # what LLVM has to select for
    for file in files:
        made += [build(file, kind) for kind in info.kinds]
        made.append(build(file, best, "--checks", "-O2"))
        made.append(build(file, best, "--fallback", "-O0", *(["--no-int-dot"] if info.name == "spirv" else [])))
    if info.name == "spirv":
        made += [build(file, kind, f"--target-env={env}") for file in files for kind in info.kinds for env in ENVIRONMENTS]
    for architecture in info.architectures:
        made.append(build(SMALL, best, f"--gpu-arch={architecture}", "--fallback"))
        made += [build(file, best, f"--gpu-arch={architecture}", "-O0") for file in files]
    made += [build(SMALL, best, f"-mcpu={cpu}") for cpu in info.cpus[:: 1 if info.name == "native" else 7]]
    made += [build(SMALL, best, f"-mattr=+{feature}") for feature in info.features if "scalar" in info.name]
    made += [build(SMALL, best, f"-mattr=-{feature}") for feature in info.features if "10.2" in info.name]
    return made


@pytest.mark.parametrize("target", TARGETS)
def test_every_command_is_answered(target: str, tmp_path: Path) -> None:
    asked = commands(TARGETS[target], str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input="".join(json.dumps(words) + "\n" for words in asked),
        capture_output=True,
        text=True,
        check=False,
        env=child_environment(),
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"the process ended in {lines[-1:]}: {done.stderr[-2000:]}"
    assert "LLVM ERROR" not in done.stderr
    assert "recognized" not in done.stderr, "a processor or feature that LLVM does not know"
    assert [json.loads(line) for line in lines[::2]] == asked
    codes = {line: code for line, code in zip(lines[::2], lines[1::2], strict=True) if code not in ("0", "1")}
    assert not codes, done.stderr[-2000:]
    assert lines[1::2].count("0") > len(asked) // 4


def test_a_process_that_ends_is_noticed(tmp_path: Path) -> None:
    """The test of the test: LLVM on an intrinsic that the processor lacks."""
    child = """
import llvmlite.binding as llvm
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
target = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(cpu="x86-64")
type = "<16 x i32>"
bytes = "<64 x i8>"
name = "@llvm.x86.avx512.vpdpbusd.512"
text = f"declare {type} {name}({type}, {bytes}, {bytes}) "
text += f"define {type} @f({type} %a, {bytes} %b) {{ "
text += f"%r = call {type} {name}({type} %a, {bytes} %b, {bytes} %b) ret {type} %r }}"
target.emit_assembly(llvm.parse_assembly(text))
"""
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode < 0
    assert "LLVM ERROR" in done.stderr
