"""The Vulkan device of these tests."""

from __future__ import annotations

from typing import Any

import pytest

from cajeta_dot.backends.vulkan import physical
from cajeta_dot.backends.vulkan.api import Limits

from .devices import device, driver, fresh, tell_problems

__all__ = ["device", "driver", "fresh"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tell_problems(terminalreporter)


@pytest.fixture
def limits(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The device's own, which a test may change."""
    found = physical.choose("")
    copy: Any = Limits.from_buffer_copy(found.limits)
    monkeypatch.setattr(found, "limits", copy)
    return copy
