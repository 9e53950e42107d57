"""What tests share: `cajetac` called in this process or in one of its own, from an installed project or a bare checkout."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
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


def child_environment(**changes: str) -> dict[str, str]:
    """This environment with the checkout on the path and without wishes about colours."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    path = os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH"))))
    return {**kept, "PYTHONPATH": path, **changes}
