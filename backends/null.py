"""The backend to copy: the target `null`, which lists what a program's entries are and what they take.

A backend is any object that `Backend` in `cajeta_dot/backends/__init__.py` describes, named by an entry point of the group
`cajeta_dot.backends`. It may live in a distribution of its own; this one is declared in `pyproject.toml` as

    [project.entry-points."cajeta_dot.backends"]
    null = "cajeta_dot.backends.null:backend"

To make a real one, copy this file and then

1. name your targets in `targets()`. It is asked on every start, so import what is heavy in `emit`, not up here;
2. let `emit` walk the program: `expand` turns methods and built-ins into the core opcodes of `cajeta_dot.ir`, each a few
   lines to lower. A dot product is one opcode there, and `backends/forms` has its lowerings with proofs;
3. if this machine can run the code, set `runs` and give a `Loaded` from `load`, with an entry for each function;
4. add the target's name to the tests' list of targets: every sample and every operation then runs on it.
"""

from __future__ import annotations

from cajeta_dot.backends import Artifact, TargetInfo
from cajeta_dot.ir import Value, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends import Backend, Loaded, Options
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program

# One row for each name that --target takes. Kinds: what --emit takes, the default first.
TARGETS = (TargetInfo("null", "lists the entries of a program; a backend to copy", kinds=("text",)),)


class NullBackend:
    """One family of targets. It holds no state: two compilations know nothing of each other."""

    name = "null"

    def targets(self) -> Sequence[TargetInfo]:
        return TARGETS

    def missing(self, target: str) -> str:
        """Only asked where `runs` is set. Empty: this machine lacks nothing."""
        return ""

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact:
        """The program has been checked and verified. What the target can't do goes to the reporter, as E06xx, with a label
        from the `start` and `end` of the value at fault, and the result is None. Here there is nothing to refuse."""
        return Artifact(kind, "".join(list_entry(function) for function in program.entries))

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """Never called: `runs` is not set."""
        raise NotImplementedError(f"{target} makes nothing that runs")


def list_entry(function: Function) -> str:
    """A head line, and one for each parameter. Equal programs give equal text: no paths, times or hash order."""
    operations = sum(isinstance(item, Value) for item in walk(function.body))
    head = f"{function.kind} {function.name}: {operations} operations\n"
    return head + "".join(f"    {parameter.type} {parameter.attr}\n" for parameter in function.params)


# What the entry point names. The annotation lets the type checker compare the class with the protocol.
backend: Backend = NullBackend()
