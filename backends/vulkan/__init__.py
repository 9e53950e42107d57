"""Vulkan devices: how the target `spirv` runs from Python. ctypes and the system's Vulkan loader, nothing else.

`load` decides what of the program's options fits the device, and asks the device's features where the program needs them.
"""

from __future__ import annotations

from cajeta_dot.backends import Loaded, NoDevice, Options
from cajeta_dot.backends.devices import split_name
from cajeta_dot.backends.spirv import write
from cajeta_dot.backends.spirv.listing import Listing
from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.backends.spirv.plan import reachable
from cajeta_dot.backends.vulkan import physical, selftest
from cajeta_dot.backends.vulkan.api import VulkanError
from cajeta_dot.backends.vulkan.device import open_device, open_physical
from cajeta_dot.backends.vulkan.physical import DOT
from cajeta_dot.backends.vulkan.programs import DeviceProgram
from cajeta_dot.diagnostics import Help, Label, Reporter
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Value, walk
from cajeta_dot.record import replace
from cajeta_dot.run.errors import DeviceError
from cajeta_dot.types import Array, Scalar, Vector, element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from cajeta_dot.backends import DeviceInfo
    from cajeta_dot.backends.spirv import Written
    from cajeta_dot.backends.vulkan.device import Device
    from cajeta_dot.backends.vulkan.physical import Physical
    from cajeta_dot.ir import Program

# Capability that a program can't do without -> the feature of the device, which types of 64 bits need it, what they are.
_NEEDED = {
    "Int64": ("shaderInt64", "su", "integers of 64 bits need"),
    "Float64": ("shaderFloat64", "f", "`float64` needs"),
}
_NARROW = ("storageBuffer8BitAccess", "storageBuffer16BitAccess")


def load(program: Program, options: Options, reporter: Reporter) -> Loaded | None:
    """The kernels on the device that `options.device` names. Reports what there is not, and what the device lacks."""
    try:
        device = open_device(split_name(options.device)[1])
    except NoDevice as error:
        reporter.report(r.FEATURE_MISSING, error.message, None, helps=[Help(error.help)] if error.help else [])
        return None
    except VulkanError as error:
        reporter.report(r.FEATURE_MISSING, f"the Vulkan device can't be opened: {error}", None)
        return None
    fitting = fit_options(options, device, reporter)
    if fitting is None:
        return None
    written = write(program, fitting, reporter)
    reason = "" if fitting.int_dot or not options.int_dot else f"`{device.physical.title}` lacks {DOT}"
    if written and fitting.int_dot and written.choices and (fault := find_dot_fault(device)):
        reason = f"the driver of `{device.physical.title}` computes wrong dot products"
        reporter.report(r.SCALARIZED, f"`dot` is expanded: {reason}", None, notes=[f"its self-test: {fault}"])
        fitting = replace(fitting, int_dot=False)
        written = write(program, fitting, Reporter(program.source))
    if written is None or _report_missing(program, written, device, reporter):
        return None
    choices = tuple(replace(choice, why=reason) for choice in written.choices) if reason else written.choices
    return Loaded(DeviceProgram(program, device, fitting, written).load().entries, choices)


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
    return replace(options, target_env=options.target_env or newest, narrow_memory=narrow, int_dot=int_dot)


def _report_missing(program: Program, written: Written, device: Device, reporter: Reporter) -> bool:
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
        for value in (*function.params, *(item for item in walk(function.body) if isinstance(item, Value))):
            type = value.type.element if isinstance(value.type, Array) else value.type
            if isinstance(type, (Scalar, Vector)) and value.end:
                element = element_of(type)
                if element.bits == 64 and element.kind in kinds:
                    return Label(value.start, value.end)
    return None


# ---- the self-test


def find_dot_fault(device: Device) -> str:
    """What is wrong with the device's dot products, or nothing. Found out once for each device."""
    if device.dot_fault is None:
        try:
            device.dot_fault = selftest.find_fault(_run_test(device))
        except DeviceError as error:
            device.dot_fault = error.what
    return device.dot_fault


def _run_test(device: Device) -> NDArray[Any]:
    """What the kernel of the self-test gives. Raises DeviceError."""
    import numpy as np

    program = selftest.make_program()
    w, x, acc = selftest.make_operands()
    found = np.zeros(len(selftest.MIXES) * len(acc), np.int32)
    options = fit_options(Options(), device, Reporter(None))
    written = options and write(program, options, Reporter(program.source))
    if not options or not written:
        raise AssertionError("the self-test is not supported")
    (entry,) = DeviceProgram(program, device, options, written).load().entries.values()
    items = options.block[0]
    entry.launch([found, w, x, acc, len(acc)], (-(-len(acc) // items), 1, 1), options.block, 1)
    return found


# ---- what there is


def list_devices() -> list[DeviceInfo]:
    """All of them, each with the result of its self-test. Raises NoDevice where there is none."""
    return [found.describe(_tell_test(found)) for found in physical.find_devices()]


def _tell_test(found: Physical) -> str:
    if found.missing or DOT not in found.features:
        return ""
    try:
        fault = find_dot_fault(open_physical(found))
    except VulkanError as error:
        return f"the device can't be opened: {error}"
    return fault or "passed"
