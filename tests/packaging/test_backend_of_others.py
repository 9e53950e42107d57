"""A backend from another distribution is found: made as `backends/null.py` says, by copying it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, child_environment

KERNEL = """public class K {
    static int32 twice(int32 n) { return n + n; }
    @Kernel public static void second(KernelBuffer<int32> out) { out[0] = 1; }
}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder as pip would leave it, with the distribution `mine`."""
    folder = tmp_path / "site"
    metadata = folder / "mine-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[cajeta_dot.backends]\nmine = mine_backend:backend\n")
    (folder / "mine_backend.py").write_text((ROOT / "backends" / "null.py").read_text().replace("null", "mine"))
    return folder


def test_a_copy_of_the_null_backend_compiles(site: Path, tmp_path: Path) -> None:
    (tmp_path / "k.cj").write_text(KERNEL)
    command = [sys.executable, "-m", "cajeta_dot", "k.cj", "--target", "mine"]
    path = child_environment()["PYTHONPATH"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=child_environment(PYTHONPATH=f"{site}:{path}"), check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "host K.twice",
        "    int32 n",
        "kernel K.second",
        "    KernelBuffer<int32> out",
    ]
    without = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=child_environment(), check=False)
    assert without.returncode == 2
    assert "E06" in without.stderr or "E0003" in without.stderr


def test_the_null_backend_keeps_to_the_protocol() -> None:
    from cajeta_dot import driver
    from cajeta_dot.backends import Options
    from cajeta_dot.backends.null import backend

    (info,) = backend.targets()
    assert not info.runs
    assert backend.missing(info.name) == ""
    source, reporter = driver.decode("k.cj", KERNEL.encode())
    program = driver.check_source(source, reporter)
    assert program
    artifact = driver.emit(program, backend, info, "text", Options(), reporter)
    assert artifact
    assert str(artifact.content).startswith("host K.twice: ")
    assert reporter.found == []
