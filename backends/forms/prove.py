"""Proves that a form equals its definition for all inputs, or shows inputs for which it doesn't.

A form is run once over the z3 reading, on variables for every byte and every accumulator of the vector. For each result lane
the difference from the definition is a sum of terms modulo 2^32. Terms that share an input are put together; the groups then
depend on different inputs, each free within its own limit, so their sum is 0 for all inputs exactly if each group is a constant
and the constants add up to 0. Each group is one question to z3, mostly about one weight and one activation: 2^16 cases, not
2^96. Groups equal up to the names of their inputs are asked once. Which byte belongs to which lane, and that padding is not
looked at, is part of what is proved: a wrong byte or a padded one would be an input left over.

Taken on trust: z3, the arithmetic of bounds, and the declarations of the instructions.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import z3

from cajeta_dot.backends.forms.algebra import by_registers, into_one_lane
from cajeta_dot.backends.forms.forms import FORMS
from cajeta_dot.backends.forms.numpy_reading import evaluate
from cajeta_dot.backends.forms.z3_reading import Sum, Z3Reading, satisfiable
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from cajeta_dot.backends.forms.algebra import Lowering, T, Vector
    from cajeta_dot.backends.forms.forms import Form

WIDTHS = (4, 8, 12, 16, 20, 32, 48, 64, 128)


@record
class CounterExample:
    """Inputs other than 0 (bytes as stored), and what one lane of the form and of the definition is, as numpy computes both."""

    inputs: dict[str, int]
    lane: int
    form: int
    definition: int

    def __str__(self) -> str:
        given = " ".join(f"{name}={value}" for name, value in self.inputs.items()) or "all 0"
        return f"{given}: lane {self.lane} is {self.form}, not {self.definition}"


@record
class Answer:
    """What z3 said of a term: its value for inputs that are all 0, and inputs for which it is something else, if any."""

    at_zero: int
    elsewhere: z3.ModelRef | None


class Prover:
    """Compares one form with its definition. Answers are kept: another width asks mostly the same."""

    def __init__(self, form: Form):
        self.form = form
        self.reading = Z3Reading({"w": form.w_max, "x": form.x_max})
        self.answers: dict[str, Answer] = {}

    def refute(self, width: int, registers: Sequence[int], *, one_lane: bool = False) -> CounterExample | None:
        """Inputs on which the form is wrong, on vectors of `width` bytes; None proves that it is right.

        one_lane: the accumulator is one lane that takes all products.
        """

        def write_definition(w: Vector[T], x: Vector[T], acc: Vector[T], /) -> Vector[T]:
            return self.form.means(acc, w, x)

        adapt = into_one_lane if one_lane else by_registers
        lower, define = adapt(self.form.lower, registers), adapt(write_definition, (4,))
        w, x = (self.reading.vector(name, 8, width) for name in "wx")
        acc = self.reading.vector("a", 32, 1 if one_lane else width // 4)
        for lane, (got, want) in enumerate(zip(lower(w, x, acc).term, define(w, x, acc).term, strict=True)):
            difference = self.reading.integer(got, 32) + self.reading.integer(want, 32) * Sum(-1)
            values = self._find_nonzero(difference)
            if values is not None:
                return _confirm(lower, define, values, width, acc.lanes, lane)
        return None

    def _find_nonzero(self, difference: Sum) -> dict[str, int] | None:
        """Inputs that make the sum other than 0 modulo 2^32; those not named are 0."""
        total = difference.constant
        elsewhere: dict[str, int] | None = None
        for group in self._group(difference):
            question = self.reading.canonicalize(group.modulo(32))
            if question.text not in self.answers:
                self.answers[question.text] = self._ask(question.term)
            answer = self.answers[question.text]
            total += answer.at_zero
            model = answer.elsewhere
            if model and elsewhere is None:
                names = question.names.items()
                found = {v.decl().name(): model.eval(z3.BitVec(name, v.size()), True) for name, v in names}
                elsewhere = {name: number.as_long() for name, number in found.items()}
        return {} if total % 2**32 else elsewhere

    def _ask(self, term: z3.BitVecRef) -> Answer:
        variables = self.reading.inputs(term)
        zeros = {name: (v, z3.BitVecVal(0, v.size())) for name, v in variables.items()}
        at_zero = z3.simplify(z3.substitute(term, *zeros.values()))
        assert isinstance(at_zero, z3.BitVecNumRef)
        for free in ("#0", "#"):  # a counter-example in few inputs is found sooner and read sooner
            solver = self.reading.solver(variables)
            fixed = [pair for name, pair in zeros.items() if free not in name]
            solver.add(z3.simplify(z3.substitute(term, *fixed)) != at_zero)
            if satisfiable(solver):
                return Answer(at_zero.as_long(), solver.model())
        return Answer(at_zero.as_long(), None)

    def _group(self, total: Sum) -> list[Sum]:
        """The summands, those with inputs in common together."""
        groups: list[tuple[frozenset[str], Sum]] = []
        for summand in total.summands:
            names, group = frozenset(self.reading.inputs(summand.modulo(32))), Sum(0, (summand,))
            for others, members in [g for g in groups if g[0] & names]:
                groups.remove((others, members))
                names, group = names | others, members + group
            groups.append((names, group))
        return [group for _, group in groups]


def _confirm(lower: Lowering, define: Lowering, values: dict[str, int], width: int, lanes: int, lane: int) -> CounterExample:
    """The counter-example computed by numpy, which knows nothing of z3."""

    def fill(letter: str, count: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[np.unsignedinteger[Any]]:
        return np.array([[values.get(f"{letter}{i}", 0) for i in range(count)]], dtype)

    w, x, acc = fill("w", width, np.uint8), fill("x", width, np.uint8), fill("a", lanes, np.uint32)
    got, want = evaluate(lower, w, x, acc), evaluate(define, w, x, acc)
    named = {
        name: (value ^ 2**31) - 2**31 if name[0] == "a" else value for name, value in values.items() if value and name[0] != "?"
    }
    return CounterExample(named, lane, int(got[0, lane]), int(want[0, lane]))


def main() -> int:
    """Print what is proved of every form, and how fast. The exit status is 1 if a form is wrong."""
    wrong = 0
    print(f"{'form':34} {'registers':>10} {'one register':>13} {'all widths':>11} {'one lane':>10}  verdict")
    for form in FORMS:
        registers = form.registers()
        cases = {
            "one register": [(registers[-1], registers[-1:], False)],
            "all widths": [(width, registers, False) for width in WIDTHS],
            "one lane": [(width, registers, True) for width in WIDTHS],
        }
        print(f"{form.full_name:34} {','.join(map(str, registers)):>10} ", end="")
        found: CounterExample | None = None
        prover = Prover(form)
        for name, questions in cases.items():
            start = time.perf_counter()
            for width, sizes, one_lane in questions:
                found = found or prover.refute(width, sizes, one_lane=one_lane)
            print(f"{time.perf_counter() - start:{len(name)}.2f} s ", end="", flush=True)
        wrong += found is not None
        print(f" REFUTED {found}" if found else " proved" if form.exact else f" proved as {form.means.name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
