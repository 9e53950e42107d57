"""What the tests of the interpreter share: running one operation, and one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cajeta_dot.ir import Builder, Function, Program, Return, Value
from cajeta_dot.passes.verify import verify
from cajeta_dot.reference.execute import call
from cajeta_dot.reference.flow import translate
from cajeta_dot.source import Source
from cajeta_dot.types import Type

# Opcode, type of the result, operands as (type, content); attr and checks by name. The result.
Evaluate = Callable[..., Any]


@pytest.fixture
def evaluate() -> Evaluate:
    """Runs one operation through verifier, translation and interpreter."""

    def run(op: str, result: Type, *operands: tuple[Type, Any], attr: Any = None, checks: bool = True) -> Any:
        params = [Value("param", type, attr=f"p{place}") for place, (type, _) in enumerate(operands)]
        function = Function("T.f", "f", "host", params, result)
        b = Builder(function.body)
        function.body.append(Return(b.emit(op, result, *params, attr=attr)))
        program = Program(Source("t.cj", ""), [function], {})
        verify(program)
        return call(translate(program, checks)[function], [content for _, content in operands])

    return run
