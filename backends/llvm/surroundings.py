"""What compiled code depends on beside its program and options: the LLVM that makes it and the machine it is made for.

It is told without LLVM, which takes longer to import than code that was kept to be loaded.
"""

from __future__ import annotations

import os
from importlib.machinery import PathFinder

from cajeta_dot.backends.llvm.host import FEATURES_VARIABLE, SCALAR_VARIABLE, find_architecture

_PROCESSORS = "/proc/cpuinfo"  # Linux: one paragraph for each processor, and some about all
_ENOUGH = 8192  # bytes: the first paragraph; all of them take the system long to write where there are hundreds
# Words before the colon: which processor it is, and what it can do.
_ON_X86 = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
_ON_ARM = ("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features")


def describe_surroundings() -> str:
    """Empty where the processor or LLVM can't be told."""
    processor, library = _describe_processor(), _describe_library()
    if not processor or not library:
        return ""
    wishes = [f"{name}={os.environ.get(name)}" for name in (FEATURES_VARIABLE, SCALAR_VARIABLE)]
    return "\n".join([find_architecture(), *wishes, *processor, *library])


def _describe_processor() -> list[str]:
    try:
        with open(_PROCESSORS, "rb", 0) as file:
            text = file.read(_ENOUGH).decode(errors="replace")
    except OSError:
        return []
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return [f"{word.strip()}:{content}" for word, _, content in lines if word.strip() in _ON_X86 + _ON_ARM]


def _describe_library() -> list[str]:
    """Its files, by size and time."""
    found = PathFinder.find_spec("llvmlite")
    folder = os.path.join(os.path.dirname(found.origin), "binding") if found and found.origin else ""
    try:
        with os.scandir(folder) as items:
            return sorted(
                f"{item.path} {item.stat().st_size} {item.stat().st_mtime_ns}"
                for item in items
                if item.name.startswith(("libllvmlite", "llvmlite"))
            )
    except OSError:
        return []
