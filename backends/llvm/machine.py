"""What the writers must know of a target: how LLVM calls it, and what it can do. Tables of machines are the backends' own."""

from __future__ import annotations

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from cajeta_dot.backends.llvm.conversions import Halves
    from cajeta_dot.backends.llvm.gpu import Gpu


@record
class Machine:
    """A processor that code is written for.

    target: what the user calls it. triple, layout, cpu, features: LLVM's words; the layout is that of the triple.
    forms: the features that dot products may use, and `family` whose instructions those are.
    halves: what it knows of float16. gpu: how it is written for if it is one, where kernels are one work item each and arrays
    lie in global memory. bytes_in_words: it has no byte lanes, so four bytes are worked on as one word (`words`).
    flags: metadata nodes about the whole module. size_bits: of C's size_t. mask_lanes: of the longest mask that LLVM can reduce
    to one boolean without failing.
    lacks: (opcode, kind of element) -> what a message calls it, for what it can't do exactly.
    clamps: dot products may take a form that is not exact. tune: the processor that code is timed for, if it is another.
    kernel_attributes: what is said of each kernel.
    """

    target: str
    triple: str
    layout: str
    cpu: str
    features: tuple[str, ...]
    family: str
    forms: frozenset[str]
    halves: Halves
    gpu: Gpu | None = None
    bytes_in_words: bool = False
    flags: tuple[str, ...] = ()
    size_bits: int = 64
    mask_lanes: int = 256
    lacks: Mapping[tuple[str, str], str] = {}
    clamps: bool = False
    tune: str = ""
    kernel_attributes: str = ""

    @property
    def is_gpu(self) -> bool:
        """Is each work item a call of its own?"""
        return self.gpu is not None

    @property
    def needs_plain_names(self) -> bool:
        """Must exported names be without dots and letters beyond ASCII?"""
        return self.gpu is not None and self.gpu.plain_names

    @property
    def size_type(self) -> str:
        """C's size_t, as LLVM spells it."""
        return f"i{self.size_bits}"

    @property
    def needs_alignment(self) -> bool:
        """Would it trap at a vector in memory that is not aligned like its size?"""
        return self.gpu is not None and self.gpu.aligned

    @property
    def stack_space(self) -> str:
        """The address space of locals as LLVM spells it; empty for the usual one."""
        return f"addrspace({self.gpu.stack})" if self.gpu and self.gpu.stack else ""

    @property
    def register(self) -> int:
        """Bytes of a vector register."""
        return 64 if "avx512f" in self.features else 32 if "avx2" in self.features else 16

    @property
    def feature_string(self) -> str:
        """As LLVM's target machines take it."""
        return ",".join(f"+{feature}" for feature in self.features)

    @property
    def attributes(self) -> str:
        """What every function of a module says of the processor."""
        features = f' "target-features"="{self.feature_string}"' if self.features else ""
        # Items that meet at a barrier in a function must be those that call it together.
        convergent = "convergent " if self.is_gpu else ""
        tuned = f' "tune-cpu"="{self.tune}"' if self.tune else ""
        words = " ".join([f'"target-cpu"="{self.cpu}"{features}{tuned}', *(self.gpu.attributes if self.gpu else ())])
        return f"{convergent}nounwind {words}"
