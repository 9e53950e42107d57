"""A distribution of its own with targets for every way in which a backend can behave, found as any installed one is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BACKEND = """
from cajeta_dot.backends import Artifact, Choice, Loaded, TargetInfo
from cajeta_dot.diagnostics import Label
from cajeta_dot.diagnostics.rules import NOT_ON_TARGET, SATURATION, SCALARIZED
from cajeta_dot.run.errors import KernelError

KINDS = ("llvm-ir", "asm", "obj")


class Entry:
    def __init__(self, name):
        self.name = name

    def launch(self, arguments, grid, block, threads):
        if grid[0] == 13:
            raise KernelError("k.cj", 4, "element 64 of an array of length 64")
        arguments[0][: grid[0]] += block[0]

    def call(self, arguments):
        return 7


class Backend:
    name = "fake"

    def targets(self):
        return (
            TargetInfo("fake", "emits three kinds", KINDS, aliases=("fk",), dot="vpfake"),
            TargetInfo("fake-gpu", "emits ptx", ("ptx",)),
            TargetInfo("fake-wide", "looks at all options", (*KINDS, "ptx", "spirv"), architectures=("sm_75",)),
            TargetInfo("fake-refuse", "refuses everything", KINDS),
            TargetInfo("fake-warn", "warns of everything", KINDS),
            TargetInfo("fake-crash", "has a fault", KINDS),
            TargetInfo("fake-run", "runs", KINDS, runs=True),
            TargetInfo("fake-lack", "runs elsewhere", KINDS, runs=True),
        )

    def missing(self, target):
        return "a coprocessor" if target == "fake-lack" else ""

    def emit(self, program, target, kind, options, reporter):
        place = Label(program.entries[0].start, program.entries[0].start + 1)
        if target == "fake-refuse":
            return reporter.report(NOT_ON_TARGET, "`dot` is not supported on `fake-refuse` yet", place)
        if target == "fake-crash":
            raise KeyError("lost")
        if target == "fake-warn":
            reporter.report(SATURATION, "weights can reach 255", place)
            reporter.report(SCALARIZED, "`dot` is expanded", place)
        names = " ".join(f.name for f in program.entries)
        options = " ".join(f"{n}={getattr(options, n)}" for n in options.__match_args__)
        text = f"{kind} {target} {names}\\n{options}"
        choice = Choice(place.start, place.end, "K.add", "dotAccum", 64, "us", "vnni", "vpdpbusd", "fits", False)
        return Artifact(kind, text.encode() if kind == "obj" else text, (choice,))

    def load(self, program, target, options, reporter):
        return Loaded({f: Entry(f.name) for f in program.entries})


backend = Backend()
"""
KERNEL = """public class K {
    @Kernel
    public static void add(KernelBuffer<int32> out, KernelBuffer<int8> w, int32 n) {
        uint32 i = KernelThread.globalIdX();
        out[i] = w[i] + n;
    }

    public static int64 count(float32[] x, boolean all) {
        return all ? x.count() : 0L;
    }
}
"""


@pytest.fixture(autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that holds the distribution; it is on the path."""
    folder = tmp_path_factory.mktemp("installed")
    metadata = folder / "fake_backend-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-backend\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[console_scripts]\nfake = nothing:main\n\n[cajeta_dot.backends]\nfake = fake_backend_module:backend\n"
    )
    (folder / "fake_backend_module.py").write_text(BACKEND)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a correct file in the current folder, which is a temporary one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where reports of crashes go
    (tmp_path / "k.cj").write_text(KERNEL)
    return "k.cj"
