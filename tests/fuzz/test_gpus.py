"""Random kernels on a Vulkan device and on the emulator of PTX, held to the reference bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vulkan.devices import driver, fresh, tell_problems

from .programs import make_program
from .running import REFERENCE, Outcome, Setting, differ, run
from .writer import ON_A_GPU

__all__ = ["driver", "fresh", "pytest_terminal_summary"]

pytest_terminal_summary = tell_problems
A_CASE = 10  # programs
EMULATOR, VULKAN = Setting("ptx-emulator"), Setting("spirv", device="vulkan")


def without_signs_of_zeros(outcome: Outcome) -> Outcome:
    """lavapipe takes `x + 0.0` for x although it is told not to (docs/vulkan.md)."""
    arguments = tuple(a + a.dtype.type(0) if getattr(a, "dtype", np.dtype(int)).kind == "f" else a for a in outcome.arguments)
    return outcome._replace(arguments=arguments)


@pytest.mark.parametrize("first", range(0, 60, A_CASE))
@pytest.mark.parametrize("setting", [EMULATOR, VULKAN], ids=["ptx-emulator", "vulkan"])
def test_kernels_agree(setting: Setting, first: int, request: pytest.FixtureRequest) -> None:
    """On the device, no kernel stores behind an array either; the emulator checks every access by itself."""
    if setting.device:
        request.getfixturevalue("fresh")
    for seed in range(first, first + A_CASE):
        program = make_program(seed, ON_A_GPU)
        expected, found = run(program, Setting(REFERENCE)), run(program, setting)
        if setting.device:
            expected, found = without_signs_of_zeros(expected), without_signs_of_zeros(found)
        difference = differ(program, expected, found)
        assert not difference, f"seed {seed} on {setting}: {difference}\n\n{program.text}"
