"""One file's part of a program of several: what it calls in other files comes along, but can't be called from outside."""

from __future__ import annotations

from cajeta_dot.ir import Program

from .rewrite import rewrite


def separate(program: Program) -> Program:
    """A copy in which host methods without a name are helpers, so that no two outputs export one symbol."""
    named = set(program.names.values())
    copied = rewrite(program, lambda builder, value, args: None)
    for old, new in zip(program.functions, copied.functions, strict=True):
        if old.kind == "host" and old not in named:
            new.kind = "device"
    return copied
