"""Indexes as a sum of terms and a constant, so that accesses which differ by a constant only can be told from their ends.

Two values with one key are equal wherever both are computed in one turn of a loop. All of it is modulo 2^bits.
"""

from __future__ import annotations

from cajeta_dot.ir import Value, is_pure
from cajeta_dot.types import Array, Scalar, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from cajeta_dot.passes.counted import Facts

    Terms = dict[int, int]  # number of a value -> how many times it is added

MAX_DEPTH = 60
MAX_SPREAD = 1 << 20  # between the constants of accesses that are told from their ends


class Numbering:
    """Numbers for the values of a loop: equal values get one number, if that is easy to see."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self._numbers: dict[Value, int] = {}
        self._known: dict[Hashable, int] = {}

    def number(self, value: Value, depth: int = 0) -> int:
        if value not in self._numbers:
            shape = self._describe(value, depth) if value in self.facts.own and depth < MAX_DEPTH else value
            self._numbers[value] = self._known.setdefault(shape, len(self._known))
        return self._numbers[value]

    def _describe(self, value: Value, depth: int) -> Hashable:
        if value.op == "get":
            stays = value.attr is self.facts.counter or value.attr not in self.facts.sets
            return ("get", value.attr) if stays else value
        if not is_pure(value):
            return value
        return value.op, value.type, repr(value.attr), tuple([self.number(arg, depth + 1) for arg in value.args])

    def split(self, value: Value, depth: int = 0) -> tuple[int, Terms]:
        """A constant, and what is added to it."""
        if value.op == "const" and isinstance(value.attr, int):
            return value.attr, {}
        if depth < MAX_DEPTH and value in self.facts.own and value.op in ("add", "sub", "mul", "shl"):
            (a, x), (b, y) = (self.split(arg, depth + 1) for arg in value.args)
            if value.op in ("add", "sub"):
                sign = 1 if value.op == "add" else -1
                return a + sign * b, {n: x.get(n, 0) + sign * y.get(n, 0) for n in (*x, *y)}
            if value.op == "shl" and not y and 0 <= b < 64:
                return a << b, {n: times << b for n, times in x.items()}
            if value.op == "mul" and not (x and y):
                factor = b if x else a
                return a * b, {n: times * factor for n, times in (x or y).items()}
        return 0, {self.number(value): 1}


def find_spreads(facts: Facts, accesses: Iterable[Value]) -> list[tuple[Value, int]]:
    """Of accesses that are equal but for a constant in their indexes, the first, and how far behind it the last is: if that
    spread is inside, all are. Where it may not be whole, because an index may have wrapped, the last is there as well."""
    numbering = Numbering(facts)
    groups: dict[Hashable, list[tuple[int, Value]]] = {}
    for access in accesses:
        array, index = access.args[:2]
        assert isinstance(array.type, Array)
        assert isinstance(index.type, Scalar)
        constant, terms = numbering.split(index)
        mask = (1 << index.type.bits) - 1
        constant = index.type.wrap(constant)
        lanes = lanes_of(access.type if access.op == "load" else access.args[2].type)
        key = numbering.number(array), index.type, lanes, frozenset((n, t & mask) for n, t in terms.items() if t & mask)
        groups.setdefault(key, []).append((constant, access))
    found: list[tuple[Value, int]] = []
    for group in groups.values():
        group.sort(key=lambda pair: pair[0])
        (low, first), (high, last) = group[0], group[-1]
        assert isinstance(first.args[1].type, Scalar)
        if high - low > MAX_SPREAD:
            found += [(access, 0) for _, access in group]
        elif first.args[1].type.bits == 64:
            found.append((first, high - low))
        else:  # the last may have wrapped
            found += [(access, 0) for access in ([first] if high == low else [first, last])]
    return found
