"""The Vulkan device of the tests that run on a driver, and the line that says so where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .vulkan import VulkanError, open_device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .vulkan import Device

_HINT = "on Debian: apt-get install mesa-vulkan-drivers libvulkan1"
_problems: set[str] = set()


@pytest.fixture(scope="session")
def device() -> Iterator[Device]:
    """A device; tests that ask for it are skipped where there is none."""
    try:
        with open_device() as found:
            yield found
    except (OSError, VulkanError) as error:
        _problems.add(str(error))
        pytest.skip(f"no Vulkan driver ({error}); {_HINT}")


@pytest.fixture(params=["interpreter", "driver"])
def engine(request: pytest.FixtureRequest) -> Device | None:
    """What executes SPIR-V: a device, or None for our own interpreter."""
    return request.getfixturevalue("device") if request.param == "driver" else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for problem in sorted(_problems):
        terminalreporter.write_line(f"SPIR-V WAS NOT RUN ON A DRIVER: {problem}; {_HINT}", red=True, bold=True)
