"""Every fault of the table is found by its test. That the tests pass without one is what the rest of the suite says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import child_environment

from .run import ONLY
from .table import MUTANTS

ROOT = Path(__file__).parents[2]
ALL = [mutant for mutants in MUTANTS.values() for mutant in mutants]


def test_the_table_is_as_it_says() -> None:
    assert len(ALL) >= 20
    assert len({mutant.fault for mutant in ALL}) == len(ALL)
    assert all(len(mutants) >= 5 for mutants in MUTANTS.values())
    for mutant in ALL:
        assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1, mutant
        assert mutant.old != mutant.new, mutant
        assert (ROOT / mutant.test.partition("::")[0]).exists(), mutant


def test_every_fault_is_caught() -> None:
    command = [sys.executable, "-m", "tests.mutants.run", ONLY]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=child_environment())
    assert done.stdout.count(" fails\n") + done.stdout.count(" ends by signal ") == len(ALL), done.stdout + done.stderr
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_fault_that_is_none_is_not_caught() -> None:
    """The test of the test of the tests: a change of nothing, and a text that is not there."""
    script = """
from tests.mutants.run import import_slow_libraries, run_tests
from tests.mutants.table import BOUNDS, RULES, Mutant
import_slow_libraries()
test = RULES.format("and")
print(run_tests([test], Mutant("none", BOUNDS, "return 0, min(limits)", "return 0, min(limits[::-1])", test)))
print(run_tests([test], Mutant("none", BOUNDS, "nowhere to be found", "", test)))
print(run_tests([test]))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=child_environment())
    assert done.stdout.split() == ["0", "70", "0"]
