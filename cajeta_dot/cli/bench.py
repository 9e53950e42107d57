"""`cajetac bench`: one kernel on every target that this machine can run, timed in turns, its results compared.

Times are those of the calling thread's processor in one thread, so that a busy machine disturbs little; a target's number is
the median of the rounds. Each target gets arguments of its own, made from the command line alike.
"""

from __future__ import annotations

from ..diagnostics import CompileError
from ..diagnostics.rules import FEATURE_MISSING, USAGE
from ..driver import NATIVE, all_targets
from .call import HERE, compile_for, read_arguments, read_launch
from .exit_codes import LACKING, SOURCE_ERRORS
from .files import write_whole
from .messages import Refusal
from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..run.functions import Function
    from ..run.module import Module

ROUNDS = 15
ROUND_SECONDS = 0.02  # of one target, at least
PATIENCE = 1.0  # seconds without a word


class Timed:
    """One target: its module and function, arguments, and what was measured. `same`: results are those of the first."""

    def __init__(self, module: Module, function: Function, arguments: list[Any], launch: dict[str, Any]):
        self.module, self.function, self.arguments, self.launch = module, function, arguments, launch
        self.repeats, self.same = 1, True
        self.seconds: list[float] = []

    def run(self) -> Any:
        return self.function(*self.arguments, **self.launch)

    def time(self) -> None:
        """One round."""
        from time import thread_time

        begun = thread_time()
        for _ in range(self.repeats):
            self.run()
        self.seconds.append((thread_time() - begun) / self.repeats)

    @property
    def median(self) -> float:
        from statistics import median

        return median(self.seconds)

    @property
    def instructions(self) -> str:
        """What dots became, each once; those of other functions of the file count as well."""
        return ", ".join(dict.fromkeys(choice.instruction for choice in self.module.choices))


def bench(session: Session) -> int | None:
    """Compiles, runs, compares, times, and prints a table."""
    from ..run.errors import KernelError

    files = session.need_files()
    session.refuse_overwriting(filter(None, [session.arguments.get("plot")]))
    rounds = _read_rounds(session)
    made = _compile_all(session, files)
    if isinstance(made, int) or made is None:
        return made
    talker = _Talker(session)
    try:
        _compare(made, talker)
        for number in range(rounds):
            talker.tell(f"round {number + 1} of {rounds}")
            for timed in made:
                timed.time()
    except KernelError as error:
        session.messages.show_fault(error)
        return SOURCE_ERRORS
    except (TypeError, ValueError, OverflowError) as error:
        raise Refusal(USAGE, str(error)) from error
    made.sort(key=lambda timed: timed.median)
    _answer(session, made)
    return None


def _read_rounds(session: Session) -> int:
    rounds = session.arguments.get("rounds", ROUNDS)
    if rounds < 1:
        raise Refusal(USAGE, f"`--rounds` takes 1 or more, found {rounds}")
    return rounds


def _compile_all(session: Session, files: Sequence[str]) -> list[Timed] | int | None:
    """An entry for every target that was named, or for all that run here; an exit code where that can't be."""
    made: list[Timed] = []
    for name in _find_targets(session):
        try:
            module = compile_for(session, files, name, num_threads=1)
        except CompileError as error:
            session.show(error.diagnostics)
            return LACKING if any(d.rule is FEATURE_MISSING for d in error.diagnostics) else None
        if not made:
            session.show(module.diagnostics)
            if session.messages.errors:
                return None
        function = session.find_entry(module.functions)
        arguments = read_arguments(function.parameters, session.arguments.get("arguments", ()))
        made.append(Timed(module, function, arguments, read_launch(session, function)))
    return made


def _find_targets(session: Session) -> list[str]:
    """Those that --target names; else all that this processor runs as they are: neither interpreted nor emulated."""
    if "target" in session.arguments.values:
        targets = [info for _, info in session.resolve_targets()]
        for info in targets:
            if not info.runs:
                raise Refusal(FEATURE_MISSING, f"`{info.name}` makes code to run elsewhere", HERE)
        return [info.name for info in targets]
    machine_code = [(backend, info) for backend, info in all_targets() if info.runs and "obj" in info.kinds]
    return [info.name for backend, info in machine_code if info.name != NATIVE and not backend.missing(info.name)]


def _compare(made: list[Timed], talker: _Talker) -> None:
    """Runs each once: is what it writes and returns what the first does? And how often fits it into a round?"""
    from time import thread_time

    first: list[bytes] = []
    for timed in made:
        talker.tell(f"running {timed.module.target}")
        value = timed.run()
        left = [repr(value).encode(), *(a.tobytes() for a in timed.arguments if hasattr(a, "tobytes"))]
        first = first or left
        timed.same = left == first
        begun = thread_time()
        timed.run()
        timed.repeats = max(1, int(ROUND_SECONDS / max(thread_time() - begun, 1e-7)))


class _Talker:
    """Says on stderr what is going on, if it takes long."""

    def __init__(self, session: Session):
        from time import perf_counter

        self.session, self.clock = session, perf_counter
        self.said = perf_counter()

    def tell(self, text: str) -> None:
        now = self.clock()
        if now - self.said >= PATIENCE:
            self.said = now
            self.session.messages.tell(text)


def _answer(session: Session, made: list[Timed]) -> None:
    best = made[0].median
    rows = [("target", "median", "best", "times", "")]
    for timed in made:
        note = timed.instructions if timed.same else f"{timed.instructions} (the result differs)"
        numbers = _say_time(timed.median), _say_time(min(timed.seconds)), f"{timed.median / best:.2f}"
        rows.append((timed.module.target, *numbers, note))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    text = "".join(
        "  ".join([row[0].ljust(widths[0]), *(row[c].rjust(widths[c]) for c in (1, 2, 3)), row[4]]).rstrip() + "\n"
        for row in rows
    )
    plot = session.arguments.get("plot")
    if plot is not None:
        from .plot import draw_bars

        title = f"{made[0].function.name}, median of {len(made[0].seconds)} rounds"
        bars = [(timed.module.target, timed.median, _say_time(timed.median)) for timed in made]
        write_whole(plot, draw_bars(title, bars))
    session.answer(text, [_describe(timed) for timed in made])


def _describe(timed: Timed) -> dict[str, Any]:
    return {
        "target": timed.module.target,
        "kernel": timed.function.name,
        "median_us": round(1e6 * timed.median, 3),
        "best_us": round(1e6 * min(timed.seconds), 3),
        "rounds": len(timed.seconds),
        "runs_in_a_round": timed.repeats,
        "instructions": timed.instructions,
        "same_result": timed.same,
    }


def _say_time(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.2f} ms"
