"""What a backend is, and where installed ones are found: the entry-point group `cajeta_dot.backends`.

A backend knows target names and turns a checked program into text or bytes. Those whose code this machine can run also
give a loader. Nothing in the compiler imports a backend by name; a target is found through `find_target`.
"""

from __future__ import annotations

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn, Protocol

    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.source import Source

GROUP = "cajeta_dot.backends"
DEFAULT_BLOCK = (64, 1, 1)


@record
class Options:
    """What the user may ask of every target. Unknown to a target: ignored, unless its backend reports it.

    checks: run-time errors for accesses outside arrays, zero divisors and bad lane indexes; in SPIR-V, which can't raise
    them, accesses outside arrays read zeros and store nothing. optimize: 0..3.
    gpu_arch, target_env, ptx_version: see `reference/cli.md`; empty is the target's default. block: items of a workgroup on
    GPUs; any but the default is a promise to nvptx that no launch has more.
    fallback: expand what the architecture lacks instead of refusing. int_dot: may the spirv target use its dot opcodes.
    split_accumulators: may CPU targets gather a loop's sum of dots in several parts, and widen its four-lane dots.
    narrow_memory: may it use memory of 8 and 16 bits. device: what runs the code if not this processor: one of the target's
    `devices`, alone or with the index or a part of the name of one, such as `vulkan:1`.
    exact_zeros: tell SPIR-V's drivers to keep the sign of zeros, which takes a device that can.
    cpu: the processor that code is for; features: changes to what the target has, as `+avxvnni,-avx512vnni`.
    debug_lines: say which line of the source an instruction comes from.
    """

    checks: bool = False
    optimize: int = 2
    gpu_arch: str = ""
    target_env: str = ""
    block: tuple[int, int, int] = DEFAULT_BLOCK
    fallback: bool = False
    int_dot: bool = True
    split_accumulators: bool = True
    debug_lines: bool = False
    narrow_memory: bool = True
    exact_zeros: bool = False
    device: str = ""
    cpu: str = ""
    features: str = ""
    ptx_version: str = ""


@record
class Choice:
    """What one operation became: offsets in the source, `form` as the table names it, whether the result is exact.

    operation: `dot`, or `lookup`, which has no signs. signs: of weights and activations, as `us`. why: what the next better
    form would have needed, empty if there is none.
    """

    start: int
    end: int
    function: str
    operation: str
    lanes: int
    signs: str
    form: str
    instruction: str
    why: str
    exact: bool = True


@record
class TargetInfo:
    """A name that `--target` takes. `kinds` are what it can emit, its default first; `runs` if Python can call its code.

    `devices` are the kinds of devices that run it where the option `device` names one; the backend is a `DeviceBackend` then.
    cpus, architectures, features: the names that `-mcpu`, `--gpu-arch` and `-mattr` take for it; none where it ignores them.
    joins: the kinds of which one output can hold several targets of its backend; `emit` is then given their names with commas
    between them. keeps: what `load` made can be kept for later processes; the backend is a `KeepingBackend` then.
    """

    name: str
    summary: str
    kinds: tuple[str, ...]
    runs: bool = False
    aliases: tuple[str, ...] = ()
    dot: str = ""
    devices: tuple[str, ...] = ()
    cpus: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    keeps: bool = False


@record
class DeviceInfo:
    """A device as `cajetac devices` shows it: `kind:index` names it. `missing` is what keeps it from being used, or empty.

    `elements`: which memory and types it has beside 32 bits (8-bit, 16-bit, float16, int64, float64). `dot`: whether integer
    dot products are advertised and accelerated, and what the self-test says of them, if there is one. `features` and
    `limits` are under the names that the API gives them.
    """

    kind: str
    index: int
    name: str
    type: str
    version: str
    missing: str
    elements: Mapping[str, bool]
    features: Mapping[str, bool]
    dot: Mapping[str, bool | str]
    limits: Mapping[str, int | list[int]]


@record
class HostInfo:
    """This machine as `cajetac --print-host` shows it: what the processor is called, those of its features that a target asks
    for, the target that `native` stands for here, and why it is that one."""

    name: str
    architecture: str
    features: tuple[str, ...]
    target: str
    why: str


class NoDevice(Exception):
    """There is no loader or driver, no device of that name, or none that can be used. `help` says how to go on."""

    def __init__(self, message: str, help: str = ""):
        super().__init__(message)
        self.message, self.help = message, help


@record
class Artifact:
    """One output: text, or bytes for binary kinds. `symbols`: what the program's entries are called in it."""

    kind: str
    content: str | bytes
    choices: tuple[Choice, ...] = ()
    symbols: Mapping[Function, str] = {}


if TYPE_CHECKING:

    class Entry(Protocol):
        """A loaded kernel or host method. Arrays are C-contiguous numpy arrays whose types have been checked."""

        def launch(
            self, arguments: Sequence[Any], grid: tuple[int, int, int], block: tuple[int, int, int], threads: int
        ) -> None:
            """Run a kernel. Raises KernelError for the first work item that faulted, after all others are done."""
            ...

        def call(self, arguments: Sequence[Any]) -> Any:
            """Call a host method: a Python number, a bool or None."""
            ...

    # Arguments as they are given, the first workgroup, the end: True after it has run, False if `launch` must be asked with
    # checked arguments, or what `fail` takes.
    Short = Callable[[tuple[object, ...], int, int], bool | bytes]

    class ShortEntry(Entry, Protocol):
        """One that can look at arguments itself, and quicker."""

        def shorten(
            self,
            grid: tuple[int, int, int],
            block: tuple[int, int, int],
            threads: int,
            written: frozenset[int],
            keep: bool,
        ) -> Short | None:
            """A kernel's launch of one extent; None if there is no quicker way. `written`: which arrays it may write. `keep`:
            may code for it be kept for later processes?"""
            ...

        def fail(self, fault: bytes) -> NoReturn:
            """Raises KernelError for the fault that a quick launch ended with."""
            ...

    class Backend(Protocol):
        """One family of targets."""

        name: str

        def targets(self) -> Sequence[TargetInfo]:
            """All its targets. Cheap: it is asked on every start that names a target."""
            ...

        def missing(self, target: str) -> str:
            """What this machine lacks to run the target's code, in words; empty if nothing."""
            ...

        def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
            """The output, or None after an error was reported."""
            ...

        def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
            """Code that this machine can run, or None after an error was reported."""
            ...

    class HostBackend(Backend, Protocol):
        """The one of the target `native`."""

        def describe_host(self) -> HostInfo:
            """This machine, and what was chosen for it."""
            ...

    class DeviceBackend(Backend, Protocol):
        """One whose targets have devices. `load` looks at the option `device`."""

        def list_devices(self, kind: str) -> Sequence[DeviceInfo]:
            """What this machine has of a kind, each device tested. Raises NoDevice where nothing can be asked."""
            ...

    class KeepingBackend(Backend, Protocol):
        """One whose code can be kept."""

        def fingerprint(self) -> str:
            """What its code depends on beside the program, the target, the options and this package: this machine, libraries.
            Empty if that can't be told."""
            ...

        def reload(self, kept: Any, source: Source, functions: Sequence[Function]) -> Mapping[Function, Entry]:
            """Entries from what `Loaded.kept` was, for functions in the order of the file, whose bodies may be missing. Raises
            ValueError, LookupError or OSError where that can't be."""
            ...


@record
class Loaded:
    """A program in memory: an entry for each kernel and host method, by function. `kept`: see `KeepingBackend`; numbers, texts,
    bytes and tuples of these."""

    entries: Mapping[Function, Entry]
    choices: tuple[Choice, ...] = ()
    kept: Any = None


def discover() -> dict[str, Backend]:
    """The installed backends by entry-point name. Raises RuntimeError where none is installed."""
    from importlib.metadata import entry_points

    found = {point.name: point.load() for point in entry_points(group=GROUP)}
    if not found:
        raise RuntimeError("no backends found: run `pip install -e .` (a checkout alone has no entry points)")
    return found
