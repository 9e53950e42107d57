"""`%` of floats as integer arithmetic, for machines that have no exact one: the remainder of two floats is always a float, so
nothing is rounded.

    x = mx * 2^n and y = my, counted in units of y's last place: x % y is ((mx % my) * 2^n) % my, a few bits of n at a time.
"""

from __future__ import annotations

import math

from cajeta_dot.ir import Builder, Function, If, Loop, Program, Return, Slot, Value
from cajeta_dot.types import FLOAT16, FLOAT32, FLOAT64, UINT32, UINT64, Scalar, Vector, element_of

from .rewrite import rewrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.ir import Block

_FRACTIONS = {32: 23, 64: 52}  # bits of the fraction


def expand_remainders(program: Program) -> Program:
    """A copy of the program in which `rem` of floats is a call; what is called stands in front of all other functions."""
    made: dict[Scalar, Function] = {}

    def call(builder: Builder, a: Value, b: Value) -> Value:
        type = element_of(a.type)
        if type == FLOAT16:  # every remainder of halves is a half
            wide = call(builder, builder.convert(a, FLOAT32), builder.convert(b, FLOAT32))
            return builder.convert(wide, FLOAT16)
        if type not in made:
            made[type] = _write_remainder(type)
        return builder.emit("call", type, a, b, attr=made[type])

    def replace(builder: Builder, value: Value, args: tuple[Value, ...]) -> Value | None:
        if value.op != "rem" or not element_of(value.type).is_float:
            return None
        if not isinstance(value.type, Vector):
            return call(builder, *args)
        lanes = [call(builder, *(builder.extract(arg, lane) for arg in args)) for lane in range(value.type.lanes)]
        return builder.emit("build", value.type, *lanes)

    copy = rewrite(program, replace)
    return Program(copy.source, [*made.values(), *copy.functions], copy.names)


def _write_remainder(type: Scalar) -> Function:
    number = {FLOAT32: UINT32, FLOAT64: UINT64}[type]
    params = [Value("param", type, attr=name) for name in ("dividend", "divisor")]
    function = Function(f"% of {type}", f"cajeta.rem{type.bits}", "device", params, type)
    _Writer(function, type, number).write(*params)
    return function


class _Writer:
    """The body of one remainder. `number` is the integer type that holds a float's bits."""

    def __init__(self, function: Function, type: Scalar, number: Scalar):
        self.function, self.type, self.number = function, type, number
        self.fraction = _FRACTIONS[type.bits]
        self.hidden = 1 << self.fraction
        self.infinity = ((1 << type.bits - 1 - self.fraction) - 1) << self.fraction
        self.sign = 1 << type.bits - 1

    def write(self, dividend: Value, divisor: Value) -> None:
        b = Builder(self.function.body)
        bits = b.reinterpret(dividend, self.number)
        sign, x = self._and(b, bits, self.sign), self._and(b, bits, self.sign - 1)
        y = self._and(b, b.reinterpret(divisor, self.number), self.sign - 1)
        no_number = b.binary("or", self._compare(b, "eq", y, 0), self._compare(b, "ge", x, self.infinity))
        no_number = b.binary("or", no_number, self._compare(b, "gt", y, self.infinity))
        self._return_if(no_number, b, lambda inner: inner.const(self.type, math.nan))
        self._return_if(b.compare("lt", x, y), b, lambda inner: dividend)
        rest, exponent = self._divide(b, x, y)
        self._return_if(self._compare(b, "eq", b.get(rest), 0), b, lambda inner: inner.reinterpret(sign, self.type))
        self._normalise(b, rest, exponent)
        m = b.get(rest)
        normal = b.binary("or", self._sub(b, m, self.hidden), b.binary("shl", b.get(exponent), self._const(b, self.fraction)))
        magnitude = b.select(self._compare(b, "lt", m, self.hidden), m, normal)
        self.function.body.append(Return(b.reinterpret(b.binary("or", magnitude, sign), self.type)))

    def _divide(self, b: Builder, x: Value, y: Value) -> tuple[Slot, Slot]:
        """The remainder of the significands, in units of y's last place, and y's exponent."""
        (x_significand, x_exponent), (y_significand, y_exponent) = self._take_apart(b, x), self._take_apart(b, y)
        rest, distance, exponent = (self._slot(name) for name in ("rest", "distance", "exponent"))
        b.set(rest, b.binary("rem", x_significand, y_significand))
        b.set(distance, b.binary("sub", x_exponent, y_exponent))
        b.set(exponent, y_exponent)
        test, body = self._loop(b)
        condition = self._compare(test, "gt", test.get(distance), 0)
        room = self.type.bits - 1 - self.fraction  # a significand can be shifted so far
        step = body.binary("min", body.get(distance), self._const(body, room))
        body.set(rest, body.binary("rem", body.binary("shl", body.get(rest), step), y_significand))
        body.set(distance, body.binary("sub", body.get(distance), step))
        b.block.append(Loop(test.block, condition, body.block, []))
        return rest, exponent

    def _normalise(self, b: Builder, rest: Slot, exponent: Slot) -> None:
        """Up to the place of the hidden bit, unless the number is too small to have one."""
        test, body = self._loop(b)
        condition = test.binary(
            "and",
            self._compare(test, "lt", test.get(rest), self.hidden),
            self._compare(test, "gt", test.get(exponent), 1),
        )
        body.set(rest, body.binary("shl", body.get(rest), self._const(body, 1)))
        body.set(exponent, self._sub(body, body.get(exponent), 1))
        b.block.append(Loop(test.block, condition, body.block, []))

    def _take_apart(self, b: Builder, x: Value) -> tuple[Value, Value]:
        """Significand and exponent; numbers without a hidden bit have the exponent 1 like the least that have one."""
        exponent = b.binary("shr", x, self._const(b, self.fraction))
        low = self._and(b, x, self.hidden - 1)
        full = b.binary("or", low, self._const(b, self.hidden))
        small = self._compare(b, "eq", exponent, 0)
        return b.select(small, low, full), b.binary("max", exponent, self._const(b, 1))

    # ---- spelling

    def _slot(self, name: str) -> Slot:
        slot = Slot(name, self.number)
        self.function.slots.append(slot)
        return slot

    def _loop(self, b: Builder) -> tuple[Builder, Builder]:
        test: Block = []
        body: Block = []
        return Builder(test, b.start, b.end), Builder(body, b.start, b.end)

    def _return_if(self, condition: Value, b: Builder, result: Callable[[Builder], Value]) -> None:
        then: Block = []
        value = result(Builder(then))
        then.append(Return(value))
        b.block.append(If(condition, then, []))

    def _const(self, b: Builder, content: int) -> Value:
        return b.const(self.number, content)

    def _and(self, b: Builder, a: Value, mask: int) -> Value:
        return b.binary("and", a, self._const(b, mask))

    def _sub(self, b: Builder, a: Value, content: int) -> Value:
        return b.binary("sub", a, self._const(b, content))

    def _compare(self, b: Builder, op: str, a: Value, content: int) -> Value:
        return b.compare(op, a, self._const(b, content))
