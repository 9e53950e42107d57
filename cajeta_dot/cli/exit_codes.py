"""How `cajetac` ends: what scripts and build systems look at."""

from __future__ import annotations

SUCCESS = 0  # warnings are allowed
SOURCE_ERRORS = 1  # also warnings under -Werror, and what a kernel does wrong while it runs
MISUSE = 2  # of the command line
LACKING = 3  # no such device, tool or feature on this machine
INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # as a shell says of what SIGINT ended
