"""What the writers must know of a target: how LLVM calls it, and what it can do. Tables of machines are the backends' own."""

from __future__ import annotations

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from cajeta_dot.backends.llvm.conversions import Halves


@record
class Machine:
    """A processor that code is written for.

    target: what the user calls it. triple, layout, cpu, features: LLVM's words; the layout is that of the triple.
    forms: the features that dot products may use, and `family` whose instructions those are.
    halves: what it knows of float16. is_gpu: kernels are one work item each, and arrays lie in global memory.
    bytes_in_words: it has no byte lanes, so four bytes are worked on as one word (`words`).
    lacks: (opcode, kind of element) -> what a message calls it, for what it can't do exactly.
    clamps: dot products may take a form that is not exact. tune: the processor that code is timed for, if it is another.
    """

    target: str
    triple: str
    layout: str
    cpu: str
    features: tuple[str, ...]
    family: str
    forms: frozenset[str]
    halves: Halves
    is_gpu: bool = False
    bytes_in_words: bool = False
    lacks: Mapping[tuple[str, str], str] = {}
    clamps: bool = False
    tune: str = ""

    @property
    def feature_string(self) -> str:
        """As LLVM's target machines take it."""
        return ",".join(f"+{feature}" for feature in self.features)

    @property
    def attributes(self) -> str:
        """What every function of a module says of the processor."""
        features = f' "target-features"="{self.feature_string}"' if self.features else ""
        tuned = f' "tune-cpu"="{self.tune}"' if self.tune else ""
        return f'nounwind "target-cpu"="{self.cpu}"{features}{tuned}'
