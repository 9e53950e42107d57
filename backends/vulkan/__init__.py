"""Vulkan devices: how the target `spirv` runs from Python. ctypes and the system's Vulkan loader, nothing else.

A driver is not believed in two things that drivers are known to get wrong: see `trials`.
"""

from __future__ import annotations

from cajeta_dot.backends import Loaded, NoDevice
from cajeta_dot.backends.devices import split_name
from cajeta_dot.backends.spirv import write
from cajeta_dot.backends.spirv.plan import reachable
from cajeta_dot.backends.vulkan import physical, trials
from cajeta_dot.backends.vulkan.api import VulkanError
from cajeta_dot.backends.vulkan.device import open_device, open_physical
from cajeta_dot.backends.vulkan.fitting import fit_options, report_missing
from cajeta_dot.backends.vulkan.physical import DOT
from cajeta_dot.backends.vulkan.programs import DeviceProgram
from cajeta_dot.diagnostics import Help, Reporter
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Loop, walk
from cajeta_dot.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends import DeviceInfo, Options
    from cajeta_dot.backends.vulkan.physical import Physical
    from cajeta_dot.ir import Program


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
    written = fitting and write(program, fitting, reporter)
    if not fitting or not written or report_missing(program, written, device, reporter):
        return None
    title = device.physical.title
    reason = "" if fitting.int_dot or not options.int_dot else f"`{title}` lacks {DOT}"
    if fitting.int_dot and written.choices and (fault := trials.find_dot_fault(device)):
        reason = f"the driver of `{title}` computes wrong dot products"
        reporter.report(r.SCALARIZED, f"`dot` is expanded: {reason}", None, notes=[f"its self-test: {fault}"])
        fitting = replace(fitting, int_dot=False)
    watch = has_loops(program) and trials.ends_loops_early(device)
    if watch or reason:
        written = write(program, fitting, Reporter(program.source), watch) or written
    choices = tuple(replace(choice, why=reason) for choice in written.choices) if reason else written.choices
    return Loaded(DeviceProgram(program, device, fitting, written, watch).load().entries, choices)


def has_loops(program: Program) -> bool:
    """In its kernels and what they call."""
    return any(isinstance(item, Loop) for function in reachable(program) for item in walk(function.body))


def list_devices() -> list[DeviceInfo]:
    """All of them, each with the result of its self-test. Raises NoDevice where there is none."""
    return [found.describe(_tell_test(found)) for found in physical.find_devices()]


def _tell_test(found: Physical) -> str:
    if found.missing or DOT not in found.features:
        return ""
    try:
        fault = trials.find_dot_fault(open_physical(found))
    except VulkanError as error:
        return f"the device can't be opened: {error}"
    return fault or "passed"
