"""Kernels and host methods of one text, run on every target of this machine and, their rows expanded, in the interpreter.

On targets of GPUs, which have no host methods, methods are asked about as kernels.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from cajeta_dot import driver
from cajeta_dot.passes.expand import expand
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference import execute
from cajeta_dot.reference.flow import translate
from cajeta_dot.run.compile import compile as compile_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Launch = Callable[[str, Sequence[Any], int], None]

EXPANSION = "expansion"  # core opcodes in the interpreter
_CLAMPING = ("x86-maddubs",)  # not exact, and says so
# Of the tiers of x86 these are asked everything, the others what they do in a way of their own: products of bytes.
_ASKED_EVERYTHING = ("x86-vnni", "x86-avx2", "x86-scalar")
GPU_TARGETS = ("ptx-emulator",)
# Every level of optimization is somebody's.
_OPTIMIZE = {"x86-scalar": 0, "x86-avx2": 1}


def as_kernel(text: str, name: str) -> str:
    """The text with one host method made a kernel; the others may still be called."""
    made, count = re.subn(rf"\bstatic void {name}\(", f"@Kernel static void {name}(", text)
    assert count == 1, name
    return made


def find_targets() -> list[str]:
    """Those whose code this machine can run, each once, and the expansion."""
    names = [
        info.name
        for backend, info in driver.all_targets()
        if info.runs and info.name not in ("native", *_CLAMPING) and not backend.missing(info.name)
    ]
    return [EXPANSION, *names]


EVERY_TARGET = find_targets()
TARGETS = [name for name in EVERY_TARGET if name in _ASKED_EVERYTHING or not name.startswith("x86-")]


@cache
def load(target: str, text: str) -> Launch:
    """launch(name, arguments, items): one workgroup of so many work items, or a host method that gets their number last.

    Checks are off.
    """
    if target == EXPANSION:
        return _load_expansion(text)
    module = compile_text(text, target=target, checks=False, num_threads=1, optimize=_OPTIMIZE.get(target, 2))

    def launch(name: str, arguments: Sequence[Any], items: int) -> None:
        function = module[name]
        if function.kind == "kernel" and len(function.parameters) == len(arguments):
            function(*arguments, grid=1, block=items)
        elif function.kind == "kernel":
            function(*arguments, items, grid=1, block=1)
        else:
            function(*arguments, items)

    return launch


def _load_expansion(text: str) -> Launch:
    source, reporter = driver.decode("oracle.cj", text.encode())
    program = driver.check_source(source, reporter)
    assert program, [(found.code, found.message) for found in reporter.found if found.severity == "error"]
    core = expand(program)
    verify(core)
    codes = translate(core, False)

    def launch(name: str, arguments: Sequence[Any], items: int) -> None:
        function = core.names[name]
        if function.kind == "kernel":
            execute.launch(codes[function], arguments, (1, 1, 1), (items, 1, 1))
        else:
            execute.call(codes[function], [*arguments, items])

    return launch
