"""What the caller of a kernel has to provide: the bindings of its arrays and its block of push constants.

Arrays are storage buffers of descriptor set 0; the binding is the place among the kernel's array parameters. The push
constants follow the order of all parameters: a scalar has its value there, an array its number of elements as a `uint`, each
at the next multiple of its size. Scalars of less than 32 bits take four bytes of which only the low ones count; a boolean is
true unless all four are zero. An array of booleans is one of bytes, of which 0 is false; what is stored is 0 or 1. Shared
arrays need nothing but room in the device's shared memory, of which Vulkan promises 16 KiB. `cajetac --emit=reflect` tells all
this of a program.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.lanes import word_of
from cajeta_dot.record import record
from cajeta_dot.types import BOOL, UINT8, Array, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Function, Program, Value

DESCRIPTOR_SET = 0
PUSH_CONSTANT_LIMIT = 128  # bytes; what every Vulkan device has at least


@record
class Member:
    """One push constant: a scalar parameter, or the length of an array. `word` is its type in the module."""

    param: Value
    word: str
    offset: int
    size: int

    @property
    def name(self) -> str:
        return f"{self.param.attr}_length" if isinstance(self.param.type, Array) else self.param.attr


class Memory:
    """An array as a variable of the module: an array parameter of a kernel, or a shared array, whose `count` is known.

    `written`: some access stores to it, perhaps in a helper. `narrow`: it is stored to in parts of 32-bit words; then the
    elements of a buffer are 8- or 16-bit memory of their own, and those of a shared array, for which Vulkan has no such
    memory, take a register each. Otherwise elements of less than 32 bits share `uint`s; where there may be no narrow memory,
    `merged` says that parts of them are stored by atomic operations. `exchanged`: there is a barrier in
    the kernel, behind which the items of a workgroup see what the others have stored. `length` is the place of a buffer's
    push constant. `variable` is the id.
    """

    __slots__ = ("binding", "count", "element", "exchanged", "length", "merged", "name", "narrow", "variable", "written")

    def __init__(self, name: str, element: Scalar, binding: int = 0, length: int = 0, count: int | None = None):
        self.name, self.element, self.binding, self.length, self.count = name, element, binding, length, count
        self.written = self.narrow = self.merged = self.exchanged = False
        self.variable = ""

    @property
    def is_shared(self) -> bool:
        return self.count is not None

    @property
    def storage(self) -> str:
        return "Workgroup" if self.is_shared else "StorageBuffer"

    @property
    def each(self) -> int:
        """How many elements share a word of memory, if they do."""
        return max(32 // self.element.bits, 1) if self.element.is_number else 1

    @property
    def is_split(self) -> bool:
        """Do elements share words?"""
        return self.each > 1 and not self.narrow

    @property
    def cells(self) -> int:
        """How many elements of its own a shared array has in memory; 0 for a buffer."""
        return -(-(self.count or 0) // (self.each if self.is_split else 1))

    @property
    def shared_bytes(self) -> int:
        """What a shared array takes, a boolean as much as a word."""
        return self.cells * (8 if self.element.bits == 64 else 4)

    @property
    def word(self) -> str:
        """The type of what lies in memory."""
        if self.is_split:
            return "uint"
        if self.each > 1 and not self.is_shared:
            return {8: "uchar", 16: "ushort"}[self.element.bits]
        return word_of(self.element)


def lay_out(kernel: Function) -> list[Member]:
    """The push constants of a kernel."""
    members: list[Member] = []
    end = 0
    for param in kernel.params:
        word = _word_of_param(param)
        size = 8 if word in ("long", "ulong", "double") else 4
        offset = -(-end // size) * size
        members.append(Member(param, word, offset, size))
        end = offset + size
    return members


def size_of_block(members: list[Member]) -> int:
    """Bytes of all push constants together."""
    return members[-1].offset + members[-1].size if members else 0


def list_buffers(kernel: Function) -> dict[Value, Memory]:
    """The array parameters of a kernel, in order; what is done to them is not known yet."""
    buffers: dict[Value, Memory] = {}
    for place, param in enumerate(kernel.params):
        if isinstance(param.type, Array):
            element = param.type.element if param.type.element.is_number else UINT8  # Vulkan has no booleans in buffers
            buffers[param] = Memory(param.attr, element, binding=len(buffers), length=place)
    return buffers


def watch_binding(program: Program) -> int:
    """Where the counter of loops is bound that `translate` adds on demand: behind the arrays of every kernel."""
    kernels = (function for function in program.functions if function.kind == "kernel")
    return max((len(list_buffers(kernel)) for kernel in kernels), default=0)


def _word_of_param(param: Value) -> str:
    if not isinstance(param.type, Scalar) or param.type.kind == BOOL or (param.type.is_float and param.type.bits == 16):
        return "uint"
    return word_of(param.type)
