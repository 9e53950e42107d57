"""`cajetac devices`: what --device takes, what each device can do, and whether it multiplies as it says."""

from __future__ import annotations

from ..diagnostics.rules import FEATURE_MISSING, USAGE
from ..driver import list_devices as find_devices
from .commands import write_table
from .exit_codes import LACKING
from .messages import Refusal
from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cajeta_dot.backends import DeviceInfo

ELEMENTS = ("8-bit", "16-bit", "float16", "int64", "float64")


def list_devices(session: Session) -> int | None:
    """All of them. Where there is none, why."""
    if session.arguments.words:
        raise Refusal(USAGE, f"`cajetac devices` takes no file, found `{session.arguments.words[0]}`")
    try:
        found, problems = find_devices()
    except RuntimeError as error:  # no backend is installed
        raise Refusal(USAGE, str(error)) from error
    if found or not problems:
        session.answer(_write_devices(found), [_describe(device) for device in found])
        return None
    for problem in problems:
        session.messages.refuse(Refusal(FEATURE_MISSING, problem.message, problem.help))
    return LACKING


def _write_devices(found: list[DeviceInfo]) -> str:
    head = ("device", "name", "type", "version", "int dot", *ELEMENTS)
    rows = [
        (
            f"{device.kind}:{device.index}",
            device.name,
            device.type,
            device.version,
            f"needs {device.missing}" if device.missing else _tell_dot(device),
            *("yes" if device.elements[word] else "no" for word in ELEMENTS),
        )
        for device in found
    ]
    limits = "".join(f"\n{device.kind}:{device.index}\n" + _write_limits(device) for device in found)
    faults = "".join(f"\n{device.kind}:{device.index}: {device.dot['test']}\n" for device in found if _has_fault(device))
    return write_table(head, rows) + limits + faults


def _tell_dot(device: DeviceInfo) -> str:
    if not device.dot["advertised"]:
        return "no"
    if _has_fault(device):
        return "computes wrong, not used"
    speed = "accelerated" if device.dot["accelerated"] else "emulated"
    return f"{speed}, tested" if device.dot["test"] else speed


def _has_fault(device: DeviceInfo) -> bool:
    return bool(device.dot["advertised"]) and device.dot["test"] not in ("", "passed")


def _write_limits(device: DeviceInfo) -> str:
    width = max(map(len, device.limits), default=0)
    numbers = {name: " x ".join(map(str, n)) if isinstance(n, list) else str(n) for name, n in device.limits.items()}
    return "".join(f"  {name:<{width}}  {number}\n" for name, number in numbers.items())


def _describe(device: DeviceInfo) -> dict[str, Any]:
    return {
        "device": f"{device.kind}:{device.index}",
        "kind": device.kind,
        "index": device.index,
        "name": device.name,
        "type": device.type,
        "version": device.version,
        "missing": device.missing,
        "int_dot": dict(device.dot),
        "elements": dict(device.elements),
        "features": dict(device.features),
        "limits": dict(device.limits),
    }
