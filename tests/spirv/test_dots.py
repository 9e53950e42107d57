"""The dot family on edge bytes, against sums of products written out here, in both forms and for every environment."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.types import INT8, INT32, UINT8, Scalar, Vector

from .kernels import Compiled, Operation, make_program, numpy_type, untouched

if TYPE_CHECKING:
    from cajeta_dot.backends.vulkan.device import Device

EDGES = (0, 1, 127, 128, 255)
ACCUMULATORS = (0, 1, -1, 2**31 - 1, -(2**31), 123456789)
SIGNS = [(a, b) for a in (INT8, UINT8) for b in (INT8, UINT8)]
OPCODES = {
    (INT8, INT8): ("OpSDot %int", "OpUDot", "OpSUDot"),
    (UINT8, UINT8): ("OpUDot %uint", "OpSDot", "OpSUDot"),
    (UINT8, INT8): ("OpSUDot %int", "OpUDot", "OpSDot"),
    (INT8, UINT8): ("OpSUDot %int", "OpUDot", "OpSDot"),
}


def wrap(total: int) -> int:
    """As int32."""
    return (total + 2**31) % 2**32 - 2**31


def draw_pairs(lanes: int, items: int) -> list[tuple[list[int], list[int]]]:
    """Rows of bytes for two operands: every edge times every edge in all lanes, then mixtures of edges."""
    rng = np.random.default_rng(lanes)
    uniform = [([a] * lanes, [b] * lanes) for a, b in itertools.product(EDGES, EDGES)]
    mixed = rng.choice(EDGES, (items, 2, lanes)).tolist()
    return [*uniform, *((row[0], row[1]) for row in mixed)][:items]


@pytest.mark.parametrize("int_dot", [True, False], ids=["opcode", "bit fields"])
@pytest.mark.parametrize("lanes", [4, 16, 64])
@pytest.mark.parametrize(("w", "x"), SIGNS, ids=str)
def test_products_are_exact_and_wrap(w: Scalar, x: Scalar, lanes: int, int_dot: bool, engine: Device | None) -> None:
    pairs = draw_pairs(lanes, 64 if engine else 32)
    for groups in {lanes // 4, 1}:
        types = Vector(w, lanes), Vector(x, lanes), Vector(INT32, groups)
        program = make_program(Operation("dot", types[2], types).make())
        compiled, kernel = Compiled(program, int_dot=int_dot), program.functions[0]
        weights, activations = (
            np.array([pair[side] for pair in pairs], np.uint8).ravel().view(numpy_type(element))
            for side, element in enumerate((w, x))
        )
        acc = np.resize(np.array(ACCUMULATORS, np.int32), len(pairs) * groups)
        found = untouched(len(acc), np.int32)
        arguments = [weights, activations, acc, found, len(pairs)]
        compiled.execute(engine, kernel, arguments)
        products = [int(a) * int(b) for a, b in zip(weights, activations, strict=True)]
        each = lanes // groups
        wanted = [wrap(int(start) + sum(products[each * k : each * (k + 1)])) for k, start in enumerate(acc)]
        assert found.tolist() == wanted


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize(("w", "x"), SIGNS, ids=str)
def test_opcode_follows_the_signs(w: Scalar, x: Scalar, environment: str) -> None:
    operation = Operation("dot", Vector(INT32, 2), (Vector(w, 8), Vector(x, 8), Vector(INT32, 2)))
    compiled = Compiled(make_program(operation.make()), environment)
    wanted, *others = OPCODES[w, x]
    assert compiled.text.count(wanted) == 2
    assert compiled.text.count("PackedVectorFormat4x8Bit") == 2
    assert not any(other in compiled.text for other in (*others, "AccSat"))
    assert ("SPV_KHR_integer_dot_product" in compiled.text) == (environment != "vulkan1.3")
    assert compiled.spirv


def test_signed_operand_comes_first() -> None:
    """Weights are the first operand of the source; OpSUDot wants the signed one there, whichever that is."""
    for w, x in ((UINT8, INT8), (INT8, UINT8)):
        operation = Operation("dot", Vector(INT32, 1), (Vector(w, 4), Vector(x, 4), Vector(INT32, 1)))
        words = [line.split() for line in Compiled(make_program(operation.make())).text.splitlines()]
        made = {line[0]: line[2:] for line in words if len(line) > 2 and line[1] == "="}
        dot = next(line for line in made.values() if line[0] == "OpSUDot")
        first, second = (made[operand] for operand in dot[2:4])
        assert first[:2] == ["OpBitcast", "%int"]
        arrays = [made[loaded[2]][2] for loaded in (made[first[2]], second)]  # OpLoad of an OpAccessChain
        assert arrays == (["%p0", "%p1"] if w == INT8 else ["%p1", "%p0"])


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_bit_fields_need_nothing(environment: str) -> None:
    operation = Operation("dot", Vector(INT32, 4), (Vector(UINT8, 16), Vector(INT8, 16), Vector(INT32, 4)))
    compiled = Compiled(make_program(operation.make()), environment, int_dot=False)
    capabilities = [line for line in compiled.text.splitlines() if line.startswith(("OpCapability", "OpExtension"))]
    assert capabilities == ["OpCapability Shader"]
    assert "Dot" not in compiled.text
    assert compiled.spirv
