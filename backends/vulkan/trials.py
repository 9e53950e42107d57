"""What is asked of a driver before it is believed, once for each device: that it multiplies as it says, and that loops end
only where the program ends them. Some drivers advertise integer dot products, even as fast, and compute them wrong; lavapipe
leaves loops after 65535 steps in all, without a word.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from cajeta_dot.backends import Options
from cajeta_dot.backends.spirv import write
from cajeta_dot.backends.vulkan import selftest
from cajeta_dot.backends.vulkan.fitting import fit_options
from cajeta_dot.backends.vulkan.programs import DeviceProgram
from cajeta_dot.diagnostics import Reporter
from cajeta_dot.run.errors import DeviceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from cajeta_dot.backends.vulkan.device import Device
    from cajeta_dot.ir import Program


def find_dot_fault(device: Device) -> str:
    """What is wrong with the device's dot products, or nothing."""
    if device.dot_fault is None:
        w, x, acc = selftest.make_operands()
        found = np.zeros(len(selftest.MIXES) * len(acc), np.int32)
        try:
            run(device, selftest.make_dots(), [found, w, x, acc, len(acc)], len(acc))
            device.dot_fault = selftest.find_fault(found)
        except DeviceError as error:
            device.dot_fault = error.what
    return device.dot_fault


def ends_loops_early(device: Device) -> bool:
    """Does the driver leave a long loop before its condition does? Also if it can't be tried."""
    if device.loop_fault is None:
        found = np.zeros(1, np.int32)
        with suppress(DeviceError):  # whatever it was, the loop has not been seen to end
            run(device, selftest.make_loop(), [found, np.ones(4, np.int32), selftest.LONG], 1)
        device.loop_fault = bool(found[0] != selftest.LONG)
    return device.loop_fault


def run(device: Device, program: Program, arguments: Sequence[Any], items: int) -> None:
    """The only kernel of a program. Raises DeviceError."""
    options = fit_options(Options(), device, Reporter(None))
    written = options and write(program, options, Reporter(program.source))
    if not options or not written:
        raise AssertionError("a trial is not supported")
    (entry,) = DeviceProgram(program, device, options, written).load().entries.values()
    entry.launch(arguments, (-(-items // options.block[0]), 1, 1), options.block, 1)
