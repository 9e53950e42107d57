"""Versions of what the compiler is made of. Nothing of it is imported: that would take as long as to compile a file."""

from __future__ import annotations

import os
import sys

from ..version import __version__

LLVM_VERSION = "22.1.0"  # of the llvmlite that pyproject.toml allows; a test asks llvmlite


def write_version() -> str:
    """One line each."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"cajetac {__version__}\nLLVM {LLVM_VERSION}\nllvmlite {find_version('llvmlite')}\nPython {python}\n"


def find_version(distribution: str) -> str:
    """From the name of the folder that says what is installed; `none` if nothing is."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:  # not a folder
            continue
        for name in names:
            if name.startswith(distribution + "-") and name.endswith(".dist-info"):
                return name.removeprefix(distribution + "-").removesuffix(".dist-info")
    return "none"
