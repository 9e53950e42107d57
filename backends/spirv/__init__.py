"""The target `spirv`: kernels as SPIR-V for Vulkan compute shaders, written as text without LLVM.

One module holds all kernels of a program, an entry point each. How to call them is in `interface`, or as JSON by the
output kind `reflect`.
"""

from __future__ import annotations

from cajeta_dot.backends import Artifact, TargetInfo
from cajeta_dot.collector import PAUSED_COLLECTOR
from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends import Choice, DeviceBackend, DeviceInfo, Loaded, Options
    from cajeta_dot.backends.spirv.module import Environment
    from cajeta_dot.backends.spirv.plan import Instance
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

SPIRV = TargetInfo(
    "spirv",
    "SPIR-V for Vulkan compute; --target-env vulkan1.1 (default), vulkan1.2, vulkan1.3",
    kinds=("spirv-asm", "spirv", "reflect"),
    dot="OpSDot, OpUDot, OpSUDot",
    devices=("vulkan",),
)


@record
class Written:
    """A program as SPIR-V text, and what its functions' arrays became."""

    text: str
    instances: Sequence[Instance]
    environment: Environment
    choices: tuple[Choice, ...]


class SpirvBackend:
    """The only target that emits no LLVM IR."""

    name = "spirv"

    def targets(self) -> Sequence[TargetInfo]:
        return (SPIRV,)

    def missing(self, target: str) -> str:
        """Only a device runs its code, and what that lacks is known when it is opened."""
        return "a device"

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """As the protocol says; reports what Vulkan can't do exactly."""
        with PAUSED_COLLECTOR:
            return self._emit(program, kind, options, reporter)

    def _emit(self, program: Program, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        written = write(program, options, reporter)
        if written is None:
            return None
        if kind == "reflect":
            from cajeta_dot.backends.spirv.reflect import reflect

            content = reflect(written.text, written.instances, written.environment, options)
            return Artifact(kind, content, written.choices)
        if kind == "spirv":
            from cajeta_dot.backends.spirv.assemble import assemble

            return Artifact(kind, assemble(written.text), written.choices)
        symbols = {function: function.symbol for function in program.functions if function.kind == "kernel"}
        return Artifact(kind, written.text, written.choices, symbols)

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """On a Vulkan device. Reports that there is none, what it lacks, and that none was named."""
        if not options.device:
            from cajeta_dot.diagnostics.rules import FEATURE_MISSING

            reporter.report(FEATURE_MISSING, f"target `{target}` runs on a device only, and none is named", None)
            return None
        from cajeta_dot.backends.vulkan import load

        return load(program, options, reporter)

    def list_devices(self, kind: str) -> Sequence[DeviceInfo]:
        from cajeta_dot.backends.vulkan import list_devices

        return list_devices()


def write(program: Program, options: Options, reporter: Reporter, watch_loops: bool = False) -> Written | None:
    """The text for all kernels of a program; None after an error was reported. `watch_loops`: see `translate`."""
    environment = _find_environment(options.target_env, reporter)
    if environment is None:
        return None
    from cajeta_dot.backends.spirv.support import report_inexact, report_unsupported
    from cajeta_dot.passes.expand import expand
    from cajeta_dot.passes.narrow_indexes import narrow_indexes
    from cajeta_dot.passes.remainders import expand_remainders

    expanded = expand_remainders(expand(program))
    if not options.checks:  # a check looks at the whole index
        expanded = narrow_indexes(expanded)
    report_unsupported(expanded, reporter)
    if reporter.failed:
        return None
    report_inexact(expanded, reporter)
    from cajeta_dot.backends.spirv.choices import list_choices, remark_expanded
    from cajeta_dot.backends.spirv.translate import translate
    from cajeta_dot.backends.spirv.validate import validate

    text, instances = translate(expanded, environment, options, watch_loops)
    validate(text)
    choices = list_choices(expanded, options.int_dot)
    remark_expanded(choices, reporter)
    return Written(text, instances, environment, choices)


def _find_environment(name: str, reporter: Reporter) -> Environment | None:
    from cajeta_dot.backends.spirv.module import DEFAULT_ENVIRONMENT, ENVIRONMENTS

    name = name or DEFAULT_ENVIRONMENT
    if name not in ENVIRONMENTS:
        from cajeta_dot.diagnostics import Help, nearest
        from cajeta_dot.diagnostics.rules import UNKNOWN_TARGET

        near = nearest(name, ENVIRONMENTS)
        help = Help(f"did you mean `{near}`?" if near else f"there are {', '.join(ENVIRONMENTS)}")
        reporter.report(UNKNOWN_TARGET, f"no target environment `{name}`", None, helps=[help])
    return ENVIRONMENTS.get(name)


backend: DeviceBackend = SpirvBackend()
