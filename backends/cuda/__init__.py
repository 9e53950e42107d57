"""CUDA devices: how the target `nvptx` runs from Python, through NVIDIA's cuda-bindings (the extra `cuda`).

The driver compiles the PTX when a module is loaded. Arrays are copied to the device for each launch, and those that the
kernel writes are copied back. There are no checks: an access outside an array is undefined.
"""

from __future__ import annotations

from cajeta_dot.backends import DeviceInfo, Loaded, NoDevice
from cajeta_dot.backends.cuda.device import CudaError, Device, find_devices
from cajeta_dot.backends.cuda.programs import DeviceProgram
from cajeta_dot.backends.devices import split_name
from cajeta_dot.diagnostics import Help
from cajeta_dot.diagnostics.rules import FEATURE_MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program


def load(program: Program, ptx: str, exports: Mapping[Function, str], device: str, reporter: Reporter) -> Loaded | None:
    """The kernels of a program on the device of that name; `exports` are their names in the PTX. Reports what goes wrong."""
    try:
        found = choose(split_name(device)[1])
        owner = DeviceProgram(program, found, ptx, exports)
    except NoDevice as error:
        reporter.report(FEATURE_MISSING, error.message, None, helps=[Help(error.help)] if error.help else [])
        return None
    except CudaError as error:
        reporter.report(FEATURE_MISSING, f"the CUDA device can't be used: {error}", None)
        return None
    return owner.load()


def choose(wish: str) -> Device:
    """The device for an index or a part of a name; the first one for nothing in particular. Raises NoDevice."""
    devices = find_devices()
    offer = "there are " + ", ".join(f"`{device.title}`" for device in devices)
    if not wish or (wish.isascii() and wish.isdigit()):
        if int(wish or 0) < len(devices):
            return devices[int(wish or 0)]
        raise NoDevice(f"no CUDA device `{wish}`", offer)
    fitting = [device for device in devices if wish.lower() in device.name.lower()]
    if len(fitting) != 1:
        raise NoDevice(f"`{wish}` fits {len(fitting)} CUDA devices" if fitting else f"no CUDA device `{wish}`", offer)
    return fitting[0]


def list_devices() -> list[DeviceInfo]:
    """What `cajetac devices` shows. Raises NoDevice."""
    return [device.describe() for device in find_devices()]
