"""What a wheel holds and what it does once installed: built from a copy of the tree, without the network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.test_packages import HOMES, PROJECT, ROOT

NEEDED = 77  # the setuptools that pyproject.toml asks for
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
FILES = (*HOMES, "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree. The copy keeps `build/` out of it, from where later wheels would take deleted modules."""
    if int(version("setuptools").partition(".")[0]) < NEEDED:
        pytest.skip(f"NO WHEEL IS TESTED: setuptools {version('setuptools')} is older than {NEEDED}; run `make test`")
    tree = tmp_path_factory.mktemp("tree")
    for name in FILES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    for extra in ("samples", "tests", "docs"):
        (tree / extra).mkdir()
        (tree / extra / "extra.py").write_text("")
    out = tmp_path_factory.mktemp("wheel")
    build = [*PIP, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(out), str(tree)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel is installed."""
    folder = tmp_path_factory.mktemp("site")
    install = [*PIP, "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    return folder


def test_everything_is_in_it_and_nothing_else(wheel: Path) -> None:
    wanted = {
        Path(HOMES[home].replace(".", "/"), path.relative_to(ROOT / home)).as_posix()
        for home in HOMES
        for path in (ROOT / home).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not (home == "cajeta_dot" and path.parts[-2] in ("grammar", "backends"))
    }
    found = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert found == wanted


def test_nothing_generic_lands_in_site_packages(site: Path) -> None:
    names = {path.name for path in site.iterdir()} - {"bin"}
    assert {name for name in names if not name.endswith(".dist-info")} == {"cajeta_dot"}


def test_what_is_installed_works(site: Path, tmp_path: Path) -> None:
    (tmp_path / "k.cj").write_text("class K { @Kernel static void k(KernelBuffer<int8> out) { out[0] = 1; } }")
    code = f"""
import sys
sys.path[:] = [{str(site)!r}, *{sys.path!r}]
import cajeta_dot, cajeta_dot.backends, cajeta_dot.grammar
assert cajeta_dot.__file__.startswith({str(site)!r}), cajeta_dot.__file__
assert cajeta_dot.grammar.__file__.startswith({str(site)!r}), cajeta_dot.grammar.__file__
from cajeta_dot.cli import run
sys.exit(run(["k.cj", "--target", "null"]))
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("kernel K.k: ")


def test_the_command_is_installed(site: Path) -> None:
    script = (site / "bin" / "cajetac").read_text()
    assert "from cajeta_dot.cli import main" in script
    assert list(PROJECT["project"]["scripts"]) == ["cajetac"]
