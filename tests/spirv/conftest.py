"""The Vulkan device of the tests that run on a driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.vulkan.devices import device, tell_problems

if TYPE_CHECKING:
    from cajeta_dot.backends.vulkan.device import Device

__all__ = ["device"]


@pytest.fixture(params=["interpreter", "driver"])
def engine(request: pytest.FixtureRequest) -> Device | None:
    """What executes SPIR-V: a device, or None for our own interpreter."""
    return request.getfixturevalue("device") if request.param == "driver" else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tell_problems(terminalreporter)
