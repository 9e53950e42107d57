"""The tables come from a cache; a good one is used without lark, a bad one is not used at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARSE = """
import sys
from cajeta_dot.syntax.parse import parse_text
tree, problems = parse_text("class C { void f() { x = 1; } }")
print(type(tree).__name__, len(problems), "lark" in sys.modules)
"""
COSTLY = {"lark", "dataclasses", "typing", "numpy", "enum", "threading", "inspect", "importlib.metadata", "importlib.resources"}
FRESH, CACHED = "Unit 0 True", "Unit 0 False"


def run_python(code: str, cache: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "CAJETA_CACHE_DIR"}
    environment |= {"XDG_CACHE_HOME": str(cache), "HOME": str(cache), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the cache lies where XDG_CACHE_HOME says only elsewhere")
def test_the_cache_is_used_if_it_is_whole_and_ours(tmp_path: Path) -> None:
    assert run_python(PARSE, tmp_path) == FRESH
    assert run_python(PARSE, tmp_path) == CACHED
    (file,) = (tmp_path / "cajeta-dot").iterdir()
    good = file.read_bytes()
    readable = good.replace(b"declaration_statement", b"declaration_statemend")
    assert readable != good
    for bad in good[:-1], good[:40], b"", good[:-1] + bytes([good[-1] ^ 1]), b"x" + good[1:], readable:
        file.write_bytes(bad)
        assert run_python(PARSE, tmp_path) == FRESH
        assert file.read_bytes()[:16] == good[:16]
    assert run_python(PARSE, tmp_path) == CACHED
    file.chmod(0o666)
    assert run_python(PARSE, tmp_path) == FRESH


def test_without_a_folder_to_write_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run_python(PARSE, tmp_path / "file") == FRESH


def test_what_a_warm_start_imports(tmp_path: Path) -> None:
    run_python(PARSE, tmp_path)
    modules = run_python(PARSE + "print(*sorted(sys.modules))", tmp_path).split()
    loaded_by_re = set(run_python("import re, sys; print(*sorted(sys.modules))", tmp_path).split())
    assert not COSTLY & (set(modules) - loaded_by_re)
