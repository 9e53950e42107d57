"""What a fault is."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One fault. `file` is a path from the root of the project, `test` what pytest calls it."""

    fault: str
    file: str
    old: str
    new: str
    test: str
