"""The algebra written down as LLVM IR text. A term is an operand as LLVM spells it: `%v3` or a constant.

One lane is written as a scalar, never as a vector of one: `i32`, not `<1 x i32>`. So words are scalars to `dp4a`, and a
lowering that takes lanes one by one needs no vector.
"""

from __future__ import annotations

from cajeta_dot.backends.forms.algebra import halve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends.forms.algebra import Encoding, Instruction, Op, Shift, Vector

    Operand = tuple[str, str]  # a type and a value


def spell_type(bits: int, lanes: int) -> str:
    """LLVM's type for so many lanes of integers."""
    return f"i{bits}" if lanes == 1 else f"<{lanes} x i{bits}>"


def spell_scalable(bits: int, lanes: int) -> str:
    """RISC-V's type for as many registers as it takes where one has 128 bits, the least that the V extension asks for.

    LLVM counts 64 bits as one `vscale`, so that there it is 2.
    """
    return f"<vscale x {lanes // 2} x i{bits}>"


def spell(v: Vector[str]) -> str:
    """A type and a value."""
    return f"{spell_type(v.bits, v.lanes)} {v.term}"


class LlvmReading:
    """Writes into the middle of somebody's function.

    lines: one instruction each, without indentation, is appended. new_name: makes names of values, `%` included, that are
    new in the function. declarations: the intrinsics used, name -> `declare` line.
    """

    def __init__(self, lines: list[str], new_name: Callable[[], str], declarations: dict[str, str]):
        self.lines, self.new_name, self.declarations = lines, new_name, declarations

    def write(self, text: str) -> str:
        """An instruction that makes a value, and the value's name."""
        name = self.new_name()
        self.lines.append(f"{name} = {text}")
        return name

    def splat(self, value: int, bits: int, lanes: int, /) -> str:
        signed = (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        if lanes == 1:
            return str(signed)
        return f"splat (i{bits} {signed})" if signed else "zeroinitializer"

    def combine(self, op: Op, a: Vector[str], b: Vector[str], /) -> str:
        return self.write(f"{op} {spell(a)}, {b.term}")

    def shift(self, shift: Shift, a: Vector[str], count: int, /) -> str:
        return self.write(f"{shift} {spell(a)}, {self.splat(count, a.bits, a.lanes)}")

    def bitcast(self, a: Vector[str], bits: int, /) -> str:
        return self.write(f"bitcast {spell(a)} to {spell_type(bits, a.size // bits)}")

    def extend(self, a: Vector[str], bits: int, signed: bool, /) -> str:
        return self.write(f"{'sext' if signed else 'zext'} {spell(a)} to {spell_type(bits, a.lanes)}")

    def shuffle(self, a: Vector[str], b: Vector[str], picks: Sequence[int | None], /) -> str:
        if a.lanes == 1 or len(picks) == 1:
            return self._build(a.bits, [None if p is None else self._extract(a, b, p) for p in picks])
        mask = ", ".join("i32 poison" if p is None else f"i32 {p}" for p in picks)
        return self.write(f"shufflevector {spell(a)}, {spell(b)}, <{len(picks)} x i32> <{mask}>")

    def _extract(self, a: Vector[str], b: Vector[str], pick: int) -> str:
        """One lane of two vectors end to end."""
        source, lane = (a, pick) if pick < a.lanes else (b, pick - a.lanes)
        return source.term if source.lanes == 1 else self.write(f"extractelement {spell(source)}, i64 {lane}")

    def _build(self, bits: int, lanes: Sequence[str | None]) -> str:
        """A vector of scalars."""
        if len(lanes) == 1:
            return "poison" if lanes[0] is None else lanes[0]
        whole = "poison"
        for lane, term in enumerate(lanes):
            if term is not None:
                whole = self.write(f"insertelement {spell_type(bits, len(lanes))} {whole}, i{bits} {term}, i64 {lane}")
        return whole

    def execute(self, instruction: Instruction, operands: Sequence[Vector[str]], lanes: int, /) -> str:
        encoding = instruction.encodings[instruction.result * lanes]
        fixed = result = spell_type(instruction.result, lanes)
        if encoding.passing == "halves":
            operands = halve(*operands)
        passed = [self._pass(v, encoding) for v in operands]
        if encoding.passing == "scalable":
            result = spell_scalable(instruction.result, lanes)
        ordered = [_split(k) if isinstance(k, str) else passed[k] for k in encoding.order or range(len(passed))]
        made = self.call(result, encoding.intrinsic, *ordered)
        if result == fixed:
            return made
        return self.call(fixed, f"llvm.vector.extract.{suffix(fixed)}.{suffix(result)}", (result, made), ("i64", "0"))

    def _pass(self, v: Vector[str], encoding: Encoding) -> Operand:
        if encoding.passing == "words":
            v = v.as_lanes(32)
        fixed = spell_type(v.bits, v.lanes), v.term
        if encoding.passing != "scalable":
            return fixed
        whole = spell_scalable(v.bits, v.lanes)
        name = f"llvm.vector.insert.{suffix(whole)}.{suffix(fixed[0])}"
        return whole, self.call(whole, name, (whole, "poison"), fixed, ("i64", "0"))

    def call(self, result: str, function: str, *operands: Operand) -> str:
        """Call an intrinsic."""
        self.declarations[function] = f"declare {result} @{function}({', '.join(type for type, _ in operands)})"
        return self.write(f"call {result} @{function}({', '.join(f'{type} {term}' for type, term in operands)})")


def _split(argument: str) -> Operand:
    """An argument that is not an operand, such as `i1 false`."""
    type, _, value = argument.partition(" ")
    return type, value


def suffix(type: str) -> str:
    """A vector type in the name of an intrinsic: `v4i32` for `<4 x i32>`, `nxv2i32` for `<vscale x 2 x i32>`."""
    shape = type.strip("<>").replace(" x ", "")
    return shape.replace("vscale", "nxv") if "vscale" in shape else f"v{shape}"
