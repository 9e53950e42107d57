"""`python -m cajeta_dot`: the same as `cajetac`."""

from __future__ import annotations

from cajeta_dot.cli import main

main()
