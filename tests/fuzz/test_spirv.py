"""Random kernels as SPIR-V text, run by our own interpreter of SPIR-V, which refuses what Vulkan leaves undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.spirv.kernels import Compiled, arrays_of, check_text, push_constants

from .programs import Program, make_program
from .running import FILE, REFERENCE, Outcome, Setting, differ, run
from .writer import ON_A_GPU

if TYPE_CHECKING:
    from cajeta_dot.ir import Function


def interpret(compiled: Compiled, kernel: Function, program: Program) -> Outcome:
    assert program.grid
    arguments = tuple(a.copy() if hasattr(a, "copy") else a for a in program.arguments)
    arrays, push = arrays_of(arguments), push_constants(kernel, arguments)
    for place, content in compiled.interpreter.run(kernel.symbol, arrays, push, program.grid).items():
        arrays[place].view(np.uint8)[...] = np.frombuffer(content, np.uint8)[: arrays[place].nbytes]
    return Outcome(arguments, None, "")


@pytest.mark.parametrize(("int_dot", "seeds"), [(True, range(16)), (False, range(16, 28))], ids=["opcode", "bit fields"])
def test_kernels_agree(int_dot: bool, seeds: range) -> None:
    """Every fifth is also held to the rules by spirv-val."""
    for seed in seeds:
        program = make_program(seed, ON_A_GPU)
        source = check_text(program.text, FILE)
        compiled = Compiled(source, block=program.block, int_dot=int_dot)
        found = interpret(compiled, source.names[program.entry], program)
        difference = differ(program, run(program, Setting(REFERENCE)), found)
        assert not difference, f"seed {seed}: {difference}\n\n{program.text}"
        assert seed % 5 or compiled.spirv
