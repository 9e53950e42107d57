"""The target `spirv`: kernels as SPIR-V for Vulkan compute shaders, written as text without LLVM.

One module holds all kernels of a program, an entry point each. How to call them is in `interface`, or as JSON by the
output kind `reflect`.
"""

from __future__ import annotations

from cajeta_dot.backends import Artifact, TargetInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends import Backend, Loaded, Options
    from cajeta_dot.backends.spirv.module import Environment
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

SPIRV = TargetInfo(
    "spirv",
    "SPIR-V for Vulkan compute; --target-env vulkan1.1 (default), vulkan1.2, vulkan1.3",
    kinds=("spirv-asm", "spirv", "reflect"),
    dot="OpSDot, OpUDot, OpSUDot",
)


class SpirvBackend:
    """The only target that emits no LLVM IR."""

    name = "spirv"

    def targets(self) -> Sequence[TargetInfo]:
        return (SPIRV,)

    def missing(self, target: str) -> str:
        return "a loader: its code is run by Vulkan programs"

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """As the protocol says; reports what Vulkan can't do exactly."""
        environment = _find_environment(options.target_env, reporter)
        if environment is None:
            return None
        from cajeta_dot.backends.spirv.support import report_inexact, report_unsupported
        from cajeta_dot.passes.expand import expand

        expanded = expand(program)
        report_unsupported(expanded, reporter)
        if reporter.failed:
            return None
        report_inexact(expanded, reporter)
        from cajeta_dot.backends.spirv.choices import list_choices
        from cajeta_dot.backends.spirv.reflect import reflect
        from cajeta_dot.backends.spirv.translate import translate
        from cajeta_dot.backends.spirv.validate import validate

        text, instances = translate(expanded, environment, options)
        validate(text)
        choices = list_choices(expanded, options.int_dot)
        if kind == "reflect":
            return Artifact(kind, reflect(text, instances, environment, options), choices)
        if kind == "spirv":
            from cajeta_dot.backends.spirv.assemble import assemble

            return Artifact(kind, assemble(text), choices)
        return Artifact(kind, text, choices)

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """Reports that this process can't run the target's code."""
        from cajeta_dot.diagnostics.rules import FEATURE_MISSING

        reporter.report(FEATURE_MISSING, f"target `{target}` can't be run from here: it makes text for Vulkan programs", None)


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


backend: Backend = SpirvBackend()
