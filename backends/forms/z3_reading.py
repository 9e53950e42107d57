"""The algebra as z3 bit-vector terms.

A lane is one of two things: a bit-vector, or a `Sum`, an exact integer that is equal to the lane modulo 2^bits. A Sum keeps
its summands apart, each over few inputs and each with bounds. That is the whole trick: a lane read as a number stays a Sum as
long as the bounds show that nothing was lost, a clamp the bounds rule out disappears, and `prove` may look at the summands one
by one. What the bounds can't show becomes a single summand over all its inputs: slower to prove, never wrong.
"""

from __future__ import annotations

import z3

from cajeta_dot.backends.forms.algebra import Vector
from cajeta_dot.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from cajeta_dot.backends.forms.algebra import Instruction, Lanes, Op, Shift

    Lane: TypeAlias = "z3.BitVecRef | Sum"
    Term = tuple[Lane, ...]


def resize(term: z3.BitVecRef, bits: int) -> z3.BitVecRef:
    """The signed number in a term of another width."""
    extra = bits - term.size()
    return z3.SignExt(extra, term) if extra > 0 else z3.Extract(bits - 1, 0, term) if extra < 0 else term


def signed_width(low: int, high: int) -> int:
    return max((~low if low < 0 else low).bit_length(), (~high if high < 0 else high).bit_length()) + 1


@record
class Summand:
    """`factor` times the signed numbers in `terms`, whose product lies between `low` and `high`."""

    factor: int
    terms: tuple[z3.BitVecRef, ...]
    low: int
    high: int

    @property
    def bounds(self) -> tuple[int, int]:
        ends = (self.factor * self.low, self.factor * self.high)
        return min(ends), max(ends)

    def scale(self, factor: int) -> Summand:
        return replace(self, factor=self.factor * factor)

    def times(self, other: Summand) -> Summand:
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Summand(self.factor * other.factor, self.terms + other.terms, min(corners), max(corners))

    def modulo(self, bits: int) -> z3.BitVecRef:
        product: z3.BitVecRef = z3.BitVecVal(self.factor, bits)
        for term in self.terms:
            product = product * resize(term, bits)
        return product


@record
class Sum:
    """An exact integer."""

    constant: int
    summands: tuple[Summand, ...] = ()

    @property
    def low(self) -> int:
        return self.constant + sum(s.bounds[0] for s in self.summands)

    @property
    def high(self) -> int:
        return self.constant + sum(s.bounds[1] for s in self.summands)

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.constant + other.constant, self.summands + other.summands)

    def __mul__(self, other: Sum) -> Sum:
        scaled = [s.scale(n) for a, n in ((self, other.constant), (other, self.constant)) if n for s in a.summands]
        products = [a.times(b) for a in self.summands for b in other.summands]
        return Sum(self.constant * other.constant, (*scaled, *products))

    def modulo(self, bits: int) -> z3.BitVecRef:
        """The low bits. Adding and multiplying commute with that, so every number may be cut down first."""
        total: z3.BitVecRef = z3.BitVecVal(self.constant, bits)
        for s in self.summands:
            total = total + s.modulo(bits)
        return total

    def clamp(self, bits: int) -> Sum:
        low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        if low <= self.low and self.high <= high:
            return self
        width = max(signed_width(self.low, self.high), bits)
        whole, least, most = self.modulo(width), z3.BitVecVal(low, width), z3.BitVecVal(high, width)
        clamped = z3.If(whole < least, least, z3.If(whole > most, most, whole))
        bounds = (min(max(end, low), high) for end in (self.low, self.high))
        return Sum(0, (Summand(1, (resize(clamped, bits),), *bounds),))


def word(lane: Lane, bits: int) -> z3.BitVecRef:
    return lane.modulo(bits) if isinstance(lane, Sum) else lane


@record
class Canonical:
    """A term, how it prints, and the variable behind each of its names."""

    term: z3.BitVecRef
    text: str
    names: dict[str, z3.BitVecRef]


def satisfiable(solver: z3.Solver, *more: z3.BoolRef) -> bool:
    """Whether some inputs satisfy the solver. Never guesses."""
    answer = solver.check(*more)
    if answer == z3.unknown:
        raise TimeoutError("z3 gave up")
    return answer == z3.sat


class Z3Reading:
    """`limits` bounds input variables by the first letter of their name: a form's precondition."""

    def __init__(self, limits: Mapping[str, int]):
        self.limits = limits
        self._unknowns = 0
        self._bounds: dict[tuple[str, bool], tuple[int, int]] = {}
        self._inputs: dict[int, tuple[z3.BitVecRef, dict[str, z3.BitVecRef]]] = {}
        self._canonical: dict[int, tuple[z3.BitVecRef, Canonical]] = {}

    def vector(self, name: str, bits: int, lanes: int) -> Vector[Term]:
        return Vector(self, tuple(z3.BitVec(f"{name}{i}", bits) for i in range(lanes)), bits, lanes)

    def unknown(self, bits: int) -> z3.BitVecRef:
        """A value about which nothing is known."""
        self._unknowns += 1
        return z3.BitVec(f"?{self._unknowns}", bits)

    def solver(self, variables: Mapping[str, z3.BitVecRef]) -> z3.Solver:
        """A solver that knows the precondition on these variables."""
        solver = z3.SolverFor("QF_BV")
        solver.set("timeout", 60_000)  # milliseconds; real questions take less than one second
        for name, v in variables.items():
            if name[0] in self.limits:
                solver.add(z3.ULE(v, self.limits[name[0]]))
        return solver

    # ---- terms and their variables. What was asked before is remembered with its term, so that no other can get its id.

    def inputs(self, term: z3.BitVecRef) -> dict[str, z3.BitVecRef]:
        """The variables of a term, by name."""
        if term.get_id() not in self._inputs:
            found: dict[str, z3.BitVecRef] = {}
            seen: set[int] = set()
            todo: list[z3.ExprRef] = [term]
            while todo:
                t = todo.pop()
                if t.get_id() not in seen:
                    seen.add(t.get_id())
                    todo += t.children()
                    if isinstance(t, z3.BitVecRef) and t.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                        found[t.decl().name()] = t
            self._inputs[term.get_id()] = term, found
        return self._inputs[term.get_id()][1]

    def canonicalize(self, term: z3.BitVecRef) -> Canonical:
        """The term with its variables numbered from 0 for each letter.

        What holds of the one holds of the other: variables are free, and a limit depends on the letter only. Names tell the
        width, so that terms that print alike are alike.
        """
        if term.get_id() not in self._canonical:
            names: dict[str, z3.BitVecRef] = {}
            pairs: list[tuple[z3.BitVecRef, z3.BitVecRef]] = []
            for old, v in sorted(self.inputs(term).items(), key=lambda item: (len(item[0]), item[0])):
                new = f"{old[0]}{v.size()}#{sum(name[0] == old[0] for name in names)}"
                names[new] = v
                pairs.append((v, z3.BitVec(new, v.size())))
            canonical = z3.substitute(term, *pairs)
            self._canonical[term.get_id()] = term, Canonical(canonical, canonical.sexpr(), names)
        return self._canonical[term.get_id()][1]

    # ---- the operations

    def splat(self, value: int, bits: int, lanes: int, /) -> Term:
        return (Sum(value),) * lanes

    def combine(self, op: Op, a: Vector[Term], b: Vector[Term], /) -> Term:
        return tuple(self._combine(op, a.bits, p, q) for p, q in zip(a.term, b.term, strict=True))

    def _combine(self, op: Op, bits: int, a: Lane, b: Lane) -> Lane:
        match op:
            case "add":
                return self.integer(a, bits) + self.integer(b, bits)
            case "sub":
                return self.integer(a, bits) + self.integer(b, bits) * Sum(-1)
            case "mul":
                return self.integer(a, bits) * self.integer(b, bits)
            case "and":
                return z3.simplify(word(a, bits) & word(b, bits))
            case "xor":
                return z3.simplify(word(a, bits) ^ word(b, bits))

    def shift(self, shift: Shift, a: Vector[Term], count: int, /) -> Term:
        return tuple(self._shift(shift, lane, a.bits, count) for lane in a.term)

    def _shift(self, shift: Shift, lane: Lane, bits: int, count: int) -> Lane:
        if shift == "shl" and isinstance(lane, Sum):
            return lane * Sum(2**count)
        kept = word(lane, bits)
        match shift:
            case "shl":
                return z3.simplify(z3.Concat(z3.Extract(bits - 1 - count, 0, kept), z3.BitVecVal(0, count)))
            case "lshr":
                return z3.simplify(z3.ZeroExt(count, z3.Extract(bits - 1, count, kept)))
            case "ashr":
                return z3.simplify(z3.SignExt(count, z3.Extract(bits - 1, count, kept)))

    def bitcast(self, a: Vector[Term], bits: int, /) -> Term:
        words = [word(lane, a.bits) for lane in a.term]
        if bits < a.bits:
            return tuple(z3.simplify(z3.Extract(k + bits - 1, k, w)) for w in words for k in range(0, a.bits, bits))
        per = bits // a.bits
        return tuple(z3.simplify(z3.Concat(*reversed(words[i : i + per]))) for i in range(0, len(words), per))

    def extend(self, a: Vector[Term], bits: int, signed: bool, /) -> Term:
        return tuple(self.number(lane, a.bits, signed) for lane in a.term)

    def shuffle(self, a: Vector[Term], b: Vector[Term], picks: Sequence[int | None], /) -> Term:
        both = a.term + b.term
        return tuple(self.unknown(a.bits) if p is None else both[p] for p in picks)

    def execute(self, instruction: Instruction, operands: Sequence[Vector[Term]], lanes: int, /) -> Term:
        pairs = list(zip(instruction.operands, operands, strict=True))
        groups = ([(d, v.term[j * d.per : (j + 1) * d.per]) for d, v in pairs] for j in range(lanes))
        return tuple(self._meaning(instruction, group) for group in groups)

    def _meaning(self, instruction: Instruction, groups: Sequence[tuple[Lanes, Term]]) -> Lane:
        value = instruction.meaning([[self.number(lane, d.bits, d.signed) for lane in group] for d, group in groups])
        limited = [(word(lane, d.bits), d.at_most) for d, group in groups for lane in group if d.at_most is not None]
        doubtful = [z3.ULE(v, most) for v, most in limited if self.bounds(v, False)[1] > most]
        if not doubtful:
            return value
        return z3.If(z3.And(*doubtful), value.modulo(instruction.result), self.unknown(instruction.result))

    # ---- lanes as numbers

    def integer(self, lane: Lane, bits: int) -> Sum:
        """Some integer equal to the lane modulo 2^bits."""
        return lane if isinstance(lane, Sum) else self.number(lane, bits, True)

    def number(self, lane: Lane, bits: int, signed: bool | None) -> Sum:
        """The integer a lane holds, or one equal to it modulo 2^bits if nobody asks for its sign."""
        if signed is None:
            return self.integer(lane, bits)
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        if isinstance(lane, Sum) and low <= lane.low and lane.high <= high:
            return lane
        term = z3.simplify(word(lane, bits))
        if isinstance(term, z3.BitVecNumRef):
            return Sum(term.as_signed_long() if signed else term.as_long())
        low, high = self.bounds(term, signed)
        whole = term if signed else z3.ZeroExt(1, term)
        return Sum(0, (Summand(1, (z3.simplify(resize(whole, signed_width(low, high))),), low, high),))

    def bounds(self, term: z3.BitVecRef, signed: bool) -> tuple[int, int]:
        """The least and the greatest number a term can be, asked of z3 bit by bit if it has few inputs."""
        bits = term.size()
        bias = 2 ** (bits - 1) if signed else 0  # adding it turns signed order into unsigned order
        if sum(v.size() for v in self.inputs(term).values()) > 16:
            return -bias, 2**bits - 1 - bias
        canonical = self.canonicalize(term)
        key = (canonical.text, signed)
        if key not in self._bounds:
            ordered = canonical.term ^ z3.BitVecVal(bias, bits)
            solver = self.solver(self.inputs(canonical.term))
            least = 2**bits - 1 - self._greatest(solver, ~ordered)
            self._bounds[key] = (least - bias, self._greatest(solver, ordered) - bias)
        return self._bounds[key]

    def _greatest(self, solver: z3.Solver, term: z3.BitVecRef) -> int:
        greatest = 0
        solver.push()
        for bit in reversed(range(term.size())):
            one = z3.Extract(bit, bit, term) == 1
            possible = satisfiable(solver, one)
            solver.add(one if possible else z3.Not(one))
            greatest |= possible << bit
        solver.pop()
        return greatest
