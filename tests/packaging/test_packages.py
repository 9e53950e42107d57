"""setuptools finds no package by itself once `package-dir` maps the folders: a forgotten one is missing in silence."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
HOMES = {"cajeta_dot": "cajeta_dot", "grammar": "cajeta_dot.grammar", "backends": "cajeta_dot.backends"}
MOST_LINES = 500


def sources() -> list[Path]:
    """Every module of the project that is installed."""
    return [path for home in HOMES for path in sorted((ROOT / home).rglob("*.py"))]


def module_name(path: Path) -> str:
    home, *parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join([HOMES[home], *parts]).removesuffix(".__init__")


def test_every_package_folder_is_listed() -> None:
    listed = PROJECT["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(module_name(path) for path in sources() if path.name == "__init__.py")


def test_every_folder_with_modules_is_a_package() -> None:
    assert [path.parent for path in sources() if not (path.parent / "__init__.py").exists()] == []


def test_every_entry_point_leads_somewhere() -> None:
    points = {**PROJECT["project"]["entry-points"]["cajeta_dot.backends"], **PROJECT["project"]["scripts"]}
    for place in points.values():
        module, attribute = place.split(":")
        assert hasattr(__import__(module, fromlist=["*"]), attribute)


def test_entry_points_are_those_that_are_installed() -> None:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        installed = distribution("cajeta-dot").entry_points.select(group="cajeta_dot.backends")
    except PackageNotFoundError:
        pytest.skip("CAJETA-DOT IS NOT INSTALLED: run `make test`, or `pip install -e .`")
    assert {point.name: point.value for point in installed} == PROJECT["project"]["entry-points"]["cajeta_dot.backends"]


def test_a_bare_checkout_can_be_imported() -> None:
    """Isolated and without site-packages' links, so that an installed copy can't answer for it."""
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import cajeta_dot, cajeta_dot.grammar, cajeta_dot.backends.null, cajeta_dot.cli
print(cajeta_dot.__file__, cajeta_dot.grammar.__file__, cajeta_dot.backends.__file__, sep="\\n")
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(ROOT / home / "__init__.py") for home in HOMES]


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES
