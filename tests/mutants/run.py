"""Puts each fault of the table into the compiler and runs its test, which must fail: `python -m tests.mutants.run [WORD...]`.

Every fault is tried in a child of this process, which has imported what takes long and nothing of the project: the child
imports the project with one text replaced, in memory. The tests must pass without a fault; that is tried first, unless
`--only` says that somebody does so anyway.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.mutants.table import MUTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.mutants.mutant import Mutant

ROOT = Path(__file__).parents[2]
ONLY = "--only"
PASSED, FAILED = 0, 1  # what pytest ends with if all tests passed, or some did not


class Verdict(NamedTuple):
    """`caught` if the test failed, or the process ended. `how` says it in words."""

    area: str
    mutant: Mutant
    caught: bool
    how: str


def import_slow_libraries() -> None:
    """Once, for all children."""
    import hypothesis
    import llvmlite.binding
    import numpy
    import pytest
    import z3

    assert hypothesis
    assert llvmlite.binding
    assert numpy
    assert pytest
    assert z3
    assert not [name for name in sys.modules if name.startswith("cajeta_dot")], "the project must be imported by the children"


def plant(mutant: Mutant) -> None:
    """From now on the file is imported with its fault. Raises ValueError where its text is not there once."""
    path = ROOT / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file} has {text.count(mutant.old)} times: {mutant.old}")
    code = compile(text.replace(mutant.old, mutant.new), str(path), "exec")
    original = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> Any:
        is_it = Path(self.get_filename(fullname)).resolve() == path.resolve()
        return code if is_it else original(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def run_tests(tests: Sequence[str], mutant: Mutant | None = None) -> int:
    """What pytest ends with in a child; minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _run_here(tests, mutant)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run_here(tests: Sequence[str], mutant: Mutant | None) -> int:
    import pytest

    sys.dont_write_bytecode = True
    faulthandler.disable()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    if mutant:
        plant(mutant)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler", "--rootdir", str(ROOT)]
    return int(pytest.main([*options, *(str(ROOT / test) for test in tests)]))


def select(words: Sequence[str]) -> list[tuple[str, Mutant]]:
    """The faults whose area or name has one of the words; without words all."""
    return [
        (area, mutant)
        for area, mutants in MUTANTS.items()
        for mutant in mutants
        if not words or any(word in f"{area} {mutant.fault}" for word in words)
    ]


def find_failing(mutants: Sequence[tuple[str, Mutant]]) -> list[str]:
    """The tests that fail although there is no fault."""
    tests = sorted({mutant.test for _, mutant in mutants})
    return [] if run_tests(tests) == PASSED else [test for test in tests if run_tests([test]) != PASSED]


def try_all(mutants: Sequence[tuple[str, Mutant]]) -> Iterator[Verdict]:
    for area, mutant in mutants:
        code = run_tests([mutant.test], mutant)
        how = "fails" if code == FAILED else f"ends by signal {-code}" if code < 0 else f"NOT CAUGHT (pytest ends with {code})"
        yield Verdict(area, mutant, code == FAILED or code < 0, how)


def main(words: Sequence[str]) -> int:
    """Prints a line for each fault. The exit status is 1 if one was not caught."""
    import_slow_libraries()
    mutants = select([word for word in words if word != ONLY])
    failing = [] if ONLY in words else find_failing(mutants)
    if failing:
        print("without a fault these fail:", *failing)
        return 1
    missed = 0
    print(f"{'in':15} {'fault':42} caught by")
    for verdict in try_all(mutants):
        missed += not verdict.caught
        print(f"{verdict.area:15} {verdict.mutant.fault:42} {verdict.mutant.test} {verdict.how}", flush=True)
    print(f"{missed} of {len(mutants)} not caught" if missed else f"all {len(mutants)} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError), tempfile.TemporaryDirectory(prefix="cajeta-mutants-") as folder:
        tempfile.tempdir = folder  # a child that a signal ends leaves its files behind
        sys.exit(main(sys.argv[1:]))
