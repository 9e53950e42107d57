"""The Vulkan device of these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .devices import device, tell_problems

if TYPE_CHECKING:
    import pytest

__all__ = ["device"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tell_problems(terminalreporter)
