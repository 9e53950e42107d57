"""The target `reference`: programs run by the interpreter on exact integers. What other targets are held to."""

from __future__ import annotations

from cajeta_dot.backends import Artifact, Loaded, TargetInfo
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from cajeta_dot.backends import Backend, Options
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program
    from cajeta_dot.reference.flow import Code

REFERENCE = TargetInfo(
    "reference",
    "the reference interpreter: exact integers, one work item after another",
    kinds=("ir",),
    runs=True,
    dot="exact integers",
)


@record
class InterpretedEntry:
    """A kernel or host method of a loaded program."""

    code: Code

    def launch(self, arguments: Sequence[Any], grid: tuple[int, int, int], block: tuple[int, int, int], threads: int) -> None:
        """As the protocol says; there is never more than one thread."""
        from cajeta_dot.reference.execute import launch

        launch(self.code, arguments, grid, block)

    def call(self, arguments: Sequence[Any]) -> Any:
        """As the protocol says."""
        from cajeta_dot.reference.execute import call

        return call(self.code, arguments)


class ReferenceBackend:
    """The only backend that takes methods as they are: it runs the meaning of their rows."""

    name = "reference"

    def targets(self) -> Sequence[TargetInfo]:
        return (REFERENCE,)

    def missing(self, target: str) -> str:
        return ""

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        from cajeta_dot.passes.print import print_program

        return Artifact(kind, print_program(program))

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        from cajeta_dot.reference.flow import translate

        codes = translate(program, options.checks)
        return Loaded({function: InterpretedEntry(codes[function]) for function in program.entries})


backend: Backend = ReferenceBackend()
