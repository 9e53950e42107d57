"""Running a text's method `f` in the interpreter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cajeta_dot.check import check_unit
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.ir import Program
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference.execute import call
from cajeta_dot.reference.flow import translate
from cajeta_dot.run.errors import KernelError
from cajeta_dot.source import Source
from cajeta_dot.syntax import parse_source

from .programs import ARRAYS, SIZE


class Outcome(NamedTuple):
    """What a run left behind: the result or the error in words, and all arrays."""

    result: int | str
    arrays: list[list[int]]


def compile_text(text: str) -> Program:
    """A checked and verified program. The text must have no error."""
    source = Source("random.cj", text)
    reporter = Reporter(source)
    unit = parse_source(source, reporter)
    program = check_unit(unit, source, reporter) if unit and not reporter.failed else None
    assert program, [(found.code, found.message) for found in reporter.found if found.severity == "error"]
    verify(program)
    return program


def run(program: Program, numbers: tuple[int, int], checks: bool) -> Outcome:
    """One call on arrays whose bytes follow from the numbers."""
    random = np.random.default_rng(abs(numbers[0]) + numbers[1])
    edges = np.array([0, 1, 127, 128, 255, 200, 15, 240], np.uint8)
    arrays = [random.choice(edges, SIZE * np.dtype(kind).itemsize).view(kind) for kind in ARRAYS.values()]
    code = translate(program, checks)[program.names["f"]]
    try:
        result = call(code, [*arrays, *numbers])
    except KernelError as error:
        result = str(error)
    return Outcome(result, [array.tolist() for array in arrays])
