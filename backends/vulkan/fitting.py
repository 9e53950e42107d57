"""Which code fits a device: what can be done without is left out, what can't is reported at its place."""

from __future__ import annotations

from cajeta_dot.backends.spirv.listing import Listing
from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.backends.spirv.plan import reachable
from cajeta_dot.backends.vulkan.physical import DOT, ZEROS
from cajeta_dot.diagnostics import Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import values_in
from cajeta_dot.record import replace
from cajeta_dot.types import Array, Scalar, Vector, element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends import Options
    from cajeta_dot.backends.spirv import Written
    from cajeta_dot.backends.vulkan.device import Device
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Program

# Capability that a program can't do without -> the feature of the device, which types of 64 bits need it, what they are.
_NEEDED = {
    "Int64": ("shaderInt64", "su", "integers of 64 bits need"),
    "Float64": ("shaderFloat64", "f", "`float64` needs"),
}
_NARROW = ("storageBuffer8BitAccess", "storageBuffer16BitAccess")


def fit_options(options: Options, device: Device, reporter: Reporter) -> Options | None:
    """What is asked for, without what the device lacks and the code can do without. Reports an API that is too new."""
    has, version = device.features, device.physical.version
    newest = f"vulkan{version[0]}.{version[1]}"
    if options.target_env in ENVIRONMENTS and options.target_env > newest:
        message = f"`{device.physical.title}` has Vulkan {version[0]}.{version[1]}, `{options.target_env}` is newer"
        reporter.report(r.FEATURE_MISSING, message, None)
        return None
    narrow = options.narrow_memory and has.issuperset(_NARROW)
    int_dot = options.int_dot and DOT in has
    return replace(
        options, target_env=options.target_env or newest, narrow_memory=narrow, int_dot=int_dot, exact_zeros=ZEROS in has
    )


def report_missing(program: Program, written: Written, device: Device, reporter: Reporter) -> bool:
    """Features and room that the program needs and the device has not; was there something?"""
    limits, title = device.physical.limits, device.physical.title
    for capability in sorted(Listing(written.text).capabilities & _NEEDED.keys()):
        feature, kinds, need = _NEEDED[capability]
        if feature not in device.features:
            label = _find_wide(program, kinds)
            reporter.report(r.FEATURE_MISSING, f"{need} `{feature}`, which `{title}` lacks", label)
    for kernel in (instance for instance in written.instances if instance.kernel is instance.function):
        label = Label(kernel.function.start, kernel.function.end)
        memories = dict.fromkeys(kernel.arrays.values())
        buffers = sum(not memory.is_shared for memory in memories)
        if buffers > limits.storage_buffers:
            message = f"a kernel on `{title}` has at most {limits.storage_buffers} arrays, found {buffers}"
            reporter.report(r.FEATURE_MISSING, message, label, notes=["maxPerStageDescriptorStorageBuffers"])
        shared = sum(memory.shared_bytes for memory in memories)
        if shared > limits.shared_memory:
            message = f"a kernel on `{title}` has at most {limits.shared_memory} bytes of shared arrays, found {shared}"
            reporter.report(r.FEATURE_MISSING, message, label, notes=["maxComputeSharedMemorySize"])
    return reporter.failed


def _find_wide(program: Program, kinds: str) -> Label | None:
    """The first place that asks for 64 bits of such a kind, in kernels and what they call."""
    for function in reachable(program):
        for value in (*function.params, *values_in(function.body)):
            type = value.type.element if isinstance(value.type, Array) else value.type
            if isinstance(type, (Scalar, Vector)) and value.end:
                element = element_of(type)
                wide = element.bits == 64 or value.op == "fma"  # which is computed in float64
                if wide and element.kind in kinds:
                    return Label(value.start, value.end)
    return None
