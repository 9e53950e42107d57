"""Imports go down only. Read from the text, so that those inside functions and for type checkers count too."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.packaging.test_packages import module_name, sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# From the ground up; whatever stands in one line may import each other. The longest name that fits a module counts.
LAYERS = (
    ("cajeta_dot.record", "cajeta_dot.collector", "cajeta_dot.store", "cajeta_dot.version"),
    ("cajeta_dot.source",),
    (
        "cajeta_dot.types",
        "cajeta_dot.ir",
        "cajeta_dot.bounds",
        "cajeta_dot.ranges",
        "cajeta_dot.diagnostics",
        "cajeta_dot.run.errors",
    ),
    ("cajeta_dot.grammar",),
    ("cajeta_dot.syntax",),
    ("cajeta_dot.check",),
    ("cajeta_dot.passes", "cajeta_dot.reference"),
    ("cajeta_dot.backends",),
    ("cajeta_dot.driver", "cajeta_dot.files", "cajeta_dot.listing"),
    ("cajeta_dot.run",),
    ("cajeta_dot", "cajeta_dot.lsp"),
    ("cajeta_dot.cli",),
    ("cajeta_dot.__main__",),
)
# Library -> the only package that may import it.
ALONE = {"lark": "cajeta_dot.grammar", "llvmlite": "cajeta_dot.backends.llvm"}
NAMES = {module_name(path) for path in sources()}


def layer_of(module: str) -> int:
    fitting = [
        (len(name), level) for level, names in enumerate(LAYERS) for name in names if f"{module}.".startswith(f"{name}.")
    ]
    return max(fitting)[1]


def imports_of(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports."""
    here = module_name(path)
    package = here if path.name == "__init__.py" else here.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            start = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join([*start, *filter(None, [node.module])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield whole if whole in NAMES else base


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_imports_go_down(path: Path) -> None:
    here = module_name(path)
    upward = [name for name in imports_of(path) if name in NAMES and layer_of(name) > layer_of(here)]
    assert upward == []


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_nothing_imports_a_concrete_backend(path: Path) -> None:
    inside = module_name(path).startswith("cajeta_dot.backends")
    assert inside or [name for name in imports_of(path) if name.startswith("cajeta_dot.backends.")] == []


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_libraries_stay_in_their_package(path: Path) -> None:
    here = module_name(path)
    used = {name.partition(".")[0] for name in imports_of(path)}
    assert [name for name in used & ALONE.keys() if not f"{here}.".startswith(f"{ALONE[name]}.")] == []


def test_the_reader_sees_every_way_to_import(tmp_path: Path) -> None:
    """The test of the test: relative and absolute, of a module and out of one."""
    path = next(path for path in sources() if module_name(path) == "cajeta_dot.cli")
    names = set(imports_of(path))
    assert {"cajeta_dot.cli.files", "cajeta_dot.diagnostics.rules", "os"} <= names
    assert layer_of("cajeta_dot.run.errors") < layer_of("cajeta_dot.reference") < layer_of("cajeta_dot.run.module")
    assert layer_of("cajeta_dot.cli.options") == layer_of("cajeta_dot.cli") > layer_of("cajeta_dot.driver")
