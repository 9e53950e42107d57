"""The Vulkan device of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cajeta_dot.backends.vulkan import device as devices
from cajeta_dot.backends.vulkan import physical
from cajeta_dot.backends.vulkan.api import Limits

from .devices import GuardedDevice, device, skip_without_driver, tell_problems

__all__ = ["device"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tell_problems(terminalreporter)


@pytest.fixture
def driver() -> None:
    """What the loader finds. A module that wants another driver has a fixture of this name."""
    skip_without_driver()


@pytest.fixture
def fresh(driver: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[Any, Any]]:
    """No device is open yet; those that are opened have guard words behind their buffers, and are closed behind the test."""
    known: dict[Any, Any] = {}
    monkeypatch.setattr(devices, "Device", GuardedDevice)
    monkeypatch.setattr(devices, "_devices", known)
    yield known
    for opened in known.values():
        if not opened.lost:
            opened.close()


@pytest.fixture
def limits(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The device's own, which a test may change."""
    found = physical.choose("")
    copy: Any = Limits.from_buffer_copy(found.limits)
    monkeypatch.setattr(found, "limits", copy)
    return copy
