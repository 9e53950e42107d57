"""The arithmetic of one scalar or lane: the opcodes of the IR on registers.

Operands are registers as `lanes` describes them. A result's low bits are right; `calculate` extends them to a register
again, lanes that are about to be packed do without (`calculate_low`). Where SPIR-V leaves a case undefined (a zero divisor,
MIN/-1, ties of Round, `OpSRem` of negative operands, NaN in its own minimum) the case is made here.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.fused import fuse
from cajeta_dot.backends.spirv.half import round_to_half
from cajeta_dot.backends.spirv.lanes import normalise, word_of
from cajeta_dot.ir import COMPARISONS
from cajeta_dot.types import UINT64, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.backends.spirv.code import Code

_BOOLEAN = {
    "and": "OpLogicalAnd",
    "or": "OpLogicalOr",
    "xor": "OpLogicalNotEqual",
    "not": "OpLogicalNot",
    "eq": "OpLogicalEqual",
    "ne": "OpLogicalNotEqual",
}
_INTEGER = {
    "add": "OpIAdd",
    "sub": "OpISub",
    "mul": "OpIMul",
    "and": "OpBitwiseAnd",
    "or": "OpBitwiseOr",
    "xor": "OpBitwiseXor",
    "not": "OpNot",
    "neg": "OpSNegate",
    "shl": "OpShiftLeftLogical",
    "eq": "OpIEqual",
    "ne": "OpINotEqual",
}
_SIGNED = {
    "shr": "OpShiftRightArithmetic",
    "lt": "OpSLessThan",
    "le": "OpSLessThanEqual",
    "gt": "OpSGreaterThan",
    "ge": "OpSGreaterThanEqual",
}
_UNSIGNED = {
    "shr": "OpShiftRightLogical",
    "lt": "OpULessThan",
    "le": "OpULessThanEqual",
    "gt": "OpUGreaterThan",
    "ge": "OpUGreaterThanEqual",
}
_FLOAT = {
    "add": "OpFAdd",
    "sub": "OpFSub",
    "mul": "OpFMul",
    "div": "OpFDiv",
    "neg": "OpFNegate",
    "eq": "OpFOrdEqual",
    "ne": "OpFUnordNotEqual",
    "lt": "OpFOrdLessThan",
    "le": "OpFOrdLessThanEqual",
    "gt": "OpFOrdGreaterThan",
    "ge": "OpFOrdGreaterThanEqual",
}
_EXTENDED = {"floor": "Floor", "ceil": "Ceil", "trunc": "Trunc", "sqrt": "Sqrt", "abs": "FAbs"}
# Integer results that are extended as their operands are; everything else may leave the width of its type.
_KEEPS_WIDTH = frozenset({"and", "or", "xor", "shr", "min", "max", "rem", *COMPARISONS})
# Float operations whose result on values of float16 may be none.
_ROUNDS = frozenset({"add", "sub", "mul", "div", "sqrt"})


def calculate(code: Code, op: str, element: Scalar, *operands: str) -> str:
    """One operation of the IR on operands of one type; comparisons give a bool."""
    result = calculate_low(code, op, element, *operands)
    return result if op in _KEEPS_WIDTH or not element.is_integer else normalise(code, element, result)


def calculate_low(code: Code, op: str, element: Scalar, *operands: str) -> str:
    """The same, but an integer result of less than 32 bits may have any upper bits."""
    if op in _PATTERNS:
        result = _PATTERNS[op](code, element, *operands)
        if result:
            return result
    result = code.op(_opcode_of(op, element), _result_word(op, element), *operands)
    return round_to_half(code, result) if _is_half(element) and op in _ROUNDS else result


def _opcode_of(op: str, element: Scalar) -> str:
    if not element.is_number:
        return _BOOLEAN[op]
    if element.is_float:
        return _FLOAT[op]
    return _INTEGER.get(op) or (_SIGNED if element.is_signed else _UNSIGNED)[op]


def _result_word(op: str, element: Scalar) -> str:
    return "bool" if op in COMPARISONS else word_of(element)


def _is_half(element: Scalar) -> bool:
    return element.is_float and element.bits == 16


def _integer(code: Code, element: Scalar, number: int) -> str:
    return code.module.integer(word_of(element), number)


# ---- patterns: each gives a result, or none where the plain opcode is right


def _divide(code: Code, element: Scalar, a: str, b: str) -> str:
    if element.is_float:
        return ""
    quotient = _quotient(code, element, a, _safe_divisor(code, element, a, b))
    if _is_safe(code, b):
        return quotient
    is_zero = code.op("OpIEqual", "bool", b, _integer(code, element, 0))
    return code.select(is_zero, _integer(code, element, 0), quotient)


def _remainder(code: Code, element: Scalar, a: str, b: str) -> str:
    """a - a/b * b: the divisor 1 that stands for the undefined cases gives 0, as it shall."""
    divisor = _safe_divisor(code, element, a, b)
    word = word_of(element)
    return code.op("OpISub", word, a, code.op("OpIMul", word, _quotient(code, element, a, divisor), divisor))


def _quotient(code: Code, element: Scalar, a: str, b: str) -> str:
    return code.op("OpSDiv" if element.is_signed else "OpUDiv", word_of(element), a, b)


def _is_safe(code: Code, divisor: str) -> bool:
    """Is it a constant that divides every number?"""
    return code.module.integers.get(divisor, 0) not in (0, -1)


def _safe_divisor(code: Code, element: Scalar, a: str, b: str) -> str:
    """The divisor, or 1 where it is 0 or the quotient does not fit the register."""
    if _is_safe(code, b):
        return b
    unsafe = code.op("OpIEqual", "bool", b, _integer(code, element, 0))
    if element.is_signed and element.bits >= 32:
        is_least = code.op("OpIEqual", "bool", a, _integer(code, element, element.low))
        is_minus_one = code.op("OpIEqual", "bool", b, _integer(code, element, -1))
        unsafe = code.op("OpLogicalOr", "bool", unsafe, code.op("OpLogicalAnd", "bool", is_least, is_minus_one))
    return code.select(unsafe, _integer(code, element, 1), b)


def _choose(op: str) -> Callable[[Code, Scalar, str, str], str]:
    def choose(code: Code, element: Scalar, a: str, b: str) -> str:
        """The first operand where it comes before the second, or the second is no number."""
        first = calculate(code, op, element, a, b)
        if element.is_float:
            first = code.op("OpLogicalOr", "bool", first, code.op("OpFUnordNotEqual", "bool", b, b))
        return code.select(first, a, b)

    return choose


def _order(op: str) -> Callable[[Code, Scalar, str, str], str]:
    def order(code: Code, element: Scalar, a: str, b: str) -> str:
        """Signed integers of 64 bits with their signs turned around, as unsigned ones: Mesa 22.3 takes an order of a number
        that was widened to them and a constant for the opposite one."""
        if not element.is_signed or element.bits < 64:
            return ""
        sign = _integer(code, UINT64, 1 << 63)
        turned = [code.op("OpBitwiseXor", "ulong", code.cast(side, "ulong"), sign) for side in (a, b)]
        return code.op(_UNSIGNED[op], "bool", *turned)

    return order


def _absolute(code: Code, element: Scalar, a: str) -> str:
    if element.is_float:
        return _extend_glsl("abs")(code, element, a)
    if not element.is_signed:
        return a
    negative = calculate(code, "lt", element, a, _integer(code, element, 0))
    return code.select(negative, code.op("OpSNegate", word_of(element), a), a)


def _extend_glsl(op: str) -> Callable[[Code, Scalar, str], str]:
    def emit(code: Code, element: Scalar, a: str) -> str:
        result = code.extended(_EXTENDED[op], word_of(element), a)
        return round_to_half(code, result) if _is_half(element) and op in _ROUNDS else result

    return emit


def _round(code: Code, element: Scalar, a: str) -> str:
    """Away from zero where the part cut off is a half or more; GLSL's Round may do either on a tie."""
    word = word_of(element)
    cut = code.extended("Trunc", word, a)
    rest = code.extended("FAbs", word, code.op("OpFSub", word, a, cut))
    one, half, zero = (code.module.floating(word, number) for number in (1.0, 0.5, 0.0))
    away = code.select(code.op("OpFOrdLessThan", "bool", a, zero), code.module.floating(word, -1.0), one)
    up = code.op("OpFOrdGreaterThanEqual", "bool", rest, half)
    return code.select(up, code.op("OpFAdd", word, cut, away), cut)


def _count_ones(code: Code, element: Scalar, a: str) -> str:
    """Vulkan counts in 32 bits only."""
    word = word_of(element)
    if element.bits == 64:
        counts = [code.op("OpBitCount", "uint", half) for half in _halves(code, a)]
        total = code.op("OpUConvert", "ulong", code.op("OpIAdd", "uint", *counts))
        return code.cast(total, word)
    return code.op("OpBitCount", word, _as_unsigned(code, element, a))


def _reverse_bits(code: Code, element: Scalar, a: str) -> str:
    word = word_of(element)
    if element.bits == 64:
        low, high = (code.op("OpBitReverse", "uint", half) for half in _halves(code, a))
        pair = code.typed("OpCompositeConstruct", code.module.vector("uint", 2), high, low)
        return code.op("OpBitcast", word, pair)
    turned = code.op("OpBitReverse", "uint", code.cast(a, "uint"))
    return code.cast(code.shift_right(turned, 32 - element.bits), word)


def _halves(code: Code, a: str) -> list[str]:
    pair = code.typed("OpBitcast", code.module.vector("uint", 2), a)
    return [code.op("OpCompositeExtract", "uint", pair, str(place)) for place in (0, 1)]


def _as_unsigned(code: Code, element: Scalar, a: str) -> str:
    """The bits of an integer without the copies of its sign."""
    if element.is_signed and element.bits < 32:
        return code.field(a, 0, element.bits, False)
    return a


def _rotate(near: str, far: str) -> Callable[[Code, Scalar, str, str], str]:
    def rotate(code: Code, element: Scalar, a: str, count: str) -> str:
        """Both counts modulo the width: where they are 0 the two parts are the same bits."""
        word = word_of(element)
        modulus = _integer(code, element, element.bits - 1)
        forth = code.op("OpBitwiseAnd", word, count, modulus)
        back = code.op("OpBitwiseAnd", word, code.op("OpSNegate", word, count), modulus)
        bits = _as_unsigned(code, element, a)
        return code.op("OpBitwiseOr", word, code.op(near, word, bits, forth), code.op(far, word, bits, back))

    return rotate


_PATTERNS: dict[str, Callable[..., str]] = {
    "div": _divide,
    "rem": _remainder,
    "min": _choose("lt"),
    "max": _choose("gt"),
    "abs": _absolute,
    **{op: _order(op) for op in ("lt", "le", "gt", "ge")},
    "floor": _extend_glsl("floor"),
    "ceil": _extend_glsl("ceil"),
    "trunc": _extend_glsl("trunc"),
    "sqrt": _extend_glsl("sqrt"),
    "fma": fuse,
    "round": _round,
    "count_ones": _count_ones,
    "reverse_bits": _reverse_bits,
    "rotate_left": _rotate("OpShiftLeftLogical", "OpShiftRightLogical"),
    "rotate_right": _rotate("OpShiftRightLogical", "OpShiftLeftLogical"),
}
