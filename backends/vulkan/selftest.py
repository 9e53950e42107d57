"""The kernels with which a driver is tried, and what must come out: all four sign mixes of dot products, with edge bytes in
every lane and accumulators at both ends of int32, and a long loop. What must come out is computed here from the products.
"""

from __future__ import annotations

from cajeta_dot.ir import Builder, Function, If, Loop, Program, Slot, Value
from cajeta_dot.source import Source
from cajeta_dot.types import INT8, INT32, UINT8, UINT32, VOID, Array, Scalar, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Numbers = NDArray[Any]

EDGES = (0, 1, 127, 128, 255)
ACCUMULATORS = (0, 1, -1, 2**31 - 1, -(2**31))
# Signs of the two operands -> the opcode that computes them.
MIXES = {"us": "OpSUDot", "su": "OpSUDot", "ss": "OpSDot", "uu": "OpUDot"}
_TYPES = {"u": UINT8, "s": INT8}
_STEP = 389  # has no factor in common with the number of words: pairs every word with a different one


LONG = 100_000  # steps of the loop


def make_dots() -> Program:
    """The kernel `test(out, w, x, acc, items)`; the results of the four mixes follow each other in `out`."""
    arrays = [_param(name, Array(element, "array")) for name, element in (("out", INT32), ("w", UINT8), ("x", UINT8))]
    out, w, x = arrays
    acc, items = _param("acc", Array(INT32, "array")), _param("items", UINT32)
    kernel = Function("SelfTest.test", "test", "kernel", [*arrays, acc, items], VOID)
    b = Builder(kernel.body)
    item = b.emit("coordinate", UINT32, attr="global.x")
    kernel.body.append(branch := If(b.compare("lt", item, items), [], []))
    b = Builder(branch.then)
    index = b.binary("mul", item, b.const(UINT32, 4))
    words = [b.load(array, index, Vector(UINT8, 4)) for array in (w, x)]
    start = b.load(acc, item, INT32)
    for place, signs in enumerate(MIXES):
        first, second = (b.reinterpret(word, Vector(_TYPES[sign], 4)) for word, sign in zip(words, signs, strict=True))
        offset = b.binary("mul", items, b.const(UINT32, place))
        b.store(out, b.binary("add", offset, item), b.scalar_dot(first, second, start))
    return Program(Source("self-test", ""), [kernel], {"test": kernel})


def make_loop() -> Program:
    """The kernel `test(out, ones, steps)`: adds elements of `ones`, which it finds by the sum so far, until that is `steps`."""
    out, ones = (_param(name, Array(INT32, "array")) for name in ("out", "ones"))
    steps = _param("steps", INT32)
    kernel = Function("SelfTest.test", "test", "kernel", [out, ones, steps], VOID)
    total = Slot("total", INT32)
    kernel.slots.append(total)
    b = Builder(kernel.body)
    first = b.compare("eq", b.emit("coordinate", UINT32, attr="global.x"), b.const(UINT32, 0))
    kernel.body.append(branch := If(first, [], []))
    b = Builder(branch.then)
    b.set(total, b.const(INT32, 0))
    test, body = Builder([]), Builder([])
    more = test.compare("lt", test.get(total), steps)
    index = body.binary("and", body.get(total), body.const(INT32, 3))
    body.set(total, body.binary("add", body.get(total), body.load(ones, index, INT32)))
    branch.then.append(Loop(test.block, more, body.block, []))
    b.store(out, b.const(INT32, 0), b.get(total))
    return Program(Source("self-test", ""), [kernel], {"test": kernel})


def _param(name: str, type: Array | Scalar) -> Value:
    return Value("param", type, attr=name)


def make_operands() -> tuple[Numbers, Numbers, Numbers]:
    """Bytes of both sides and an accumulator for each item."""
    import numpy as np

    edges = np.array(EDGES, np.uint8)
    words = edges[np.indices((len(EDGES),) * 4).reshape(4, -1).T]
    others = words[np.arange(len(words)) * _STEP % len(words)]
    return words.reshape(-1), others.reshape(-1), np.resize(np.array(ACCUMULATORS, np.int32), len(words))


def expect(signs: str, w: Numbers, x: Numbers, acc: Numbers) -> Numbers:
    """What a mix has to give, by products of integers that are wide enough for all."""
    import numpy as np

    sides = [side.view(np.int8 if sign == "s" else np.uint8).astype(np.int64) for side, sign in zip((w, x), signs, strict=True)]
    total = (sides[0] * sides[1]).reshape(-1, 4).sum(1) + acc
    return total.astype(np.int32)  # keeps the low bits


def find_fault(found: Numbers) -> str:
    """What is wrong with the results of the kernel: the first of them, in words, or nothing."""
    w, x, acc = make_operands()
    results = found.reshape(len(MIXES), -1)
    for (signs, opcode), row in zip(MIXES.items(), results, strict=True):
        wanted = expect(signs, w, x, acc)
        wrong = (row != wanted).nonzero()[0]
        if len(wrong):
            at = int(wrong[0])
            a, b = (side[4 * at : 4 * at + 4].tolist() for side in (w, x))
            return f"{opcode} ({signs}) of bytes {a} and {b} onto {acc[at]} gives {row[at]} instead of {wanted[at]}"
    return ""
