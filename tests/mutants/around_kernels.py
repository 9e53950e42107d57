"""Faults in what is around compiled kernels: where they are kept, and how they are called. See `table.py`."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

KEPT = "tests/api/test_cache.py"
IN_THE_CACHE = (
    Mutant(
        "options not in the key",
        "cajeta_dot/run/cache.py",
        "info.name, asked, own",
        "info.name, own",
        f"{KEPT}::test_all_that_counts_is_in_the_key[without checks]",
    ),
    Mutant(
        "constants not in the key",
        "cajeta_dot/run/cache.py",
        "sorted(values.items())",
        "[]",
        "tests/check/test_define.py::test_it_is_kept_apart_and_travels_along",
    ),
    Mutant(
        "environment not in the key",
        "backends/llvm/surroundings.py",
        "*wishes, ",
        "",
        f"{KEPT}::test_all_that_counts_is_in_the_key[no vectors]",
    ),
    Mutant(
        "check sum not looked at",
        "cajeta_dot/store.py",
        " or data[len(head) : start] != check_sum(data[start:])",
        "",
        f"{KEPT}::test_bad_files_are_as_if_they_were_not_there",
    ),
    Mutant(
        "key not compared",
        "cajeta_dot/store.py",
        "data[: len(head)] != head or ",
        "",
        f"{KEPT}::test_a_file_of_another_key_is_not_taken",
    ),
    Mutant(
        "files of others trusted",
        "cajeta_dot/store.py",
        "0o022",
        "0",
        f"{KEPT}::test_a_file_that_others_may_write_is_not_trusted",
    ),
    Mutant(
        "use not remembered",
        "cajeta_dot/run/cache.py",
        "        store.touch(self.path)\n",
        "",
        f"{KEPT}::test_what_was_used_longest_ago_makes_room",
    ),
)

CALLS = "backends/llvm/calls.py"
REFUSED = "tests/api/test_short_calls.py::test_refusals_are_the_same[{}-1]"
IN_SHORT_CALLS = (
    Mutant(
        "arrays that share memory taken",
        CALLS,
        "for a, b in combinations(arrays, 2):",
        "for a, b in ():",
        REFUSED.format("part of it"),
    ),
    Mutant("a read-only array written", CALLS, "(_WRITEABLE if written else 0)", "0", REFUSED.format("read-only")),
    Mutant("a number cut off", CALLS, "if type.high < (1 << 63) - 1:", "if type.high < 0:", REFUSED.format("too large")),
    Mutant(
        "an array that is not contiguous taken",
        CALLS,
        "wanted = _CONTIGUOUS | _ALIGNED",
        "wanted = _ALIGNED",
        REFUSED.format("not contiguous"),
    ),
    Mutant(
        "any fault raised, not the first",
        CALLS,
        "return min(faults, key=_place_fault)",
        "return max(faults, key=_place_fault)",
        "tests/api/test_short_calls.py::test_of_several_faults_the_first_is_told",
    ),
)
