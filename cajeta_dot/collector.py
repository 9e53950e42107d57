"""The garbage collector rests while anything is compiled: it would walk a growing tree again and again, and find nothing."""

from __future__ import annotations

import gc
from _thread import allocate_lock  # `threading` would have to be imported first


class _PausedCollector:
    """`with PAUSED_COLLECTOR:` in any thread, also inside one another. Leaves the collector as it was."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.inside = 0
        self.was_enabled = False

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.was_enabled = gc.isenabled()
                gc.disable()
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0 and self.was_enabled:
                gc.enable()


PAUSED_COLLECTOR = _PausedCollector()
