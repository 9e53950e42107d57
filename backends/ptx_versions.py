"""The architectures that LLVM writes PTX for, and the lowest version of PTX that has each.

Source: the PTX ISA manual, "Release History"; LLVM ends the process where an architecture is newer than the version.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.diagnostics import Reporter

# In the order of their making. Letters: a for one chip's own instructions, f for those of a family.
LOWEST_VERSIONS = {
    "sm_50": "4.0", "sm_52": "4.1", "sm_53": "4.2", "sm_60": "5.0", "sm_61": "5.0", "sm_62": "5.0", "sm_70": "6.0",
    "sm_72": "6.1", "sm_75": "6.3", "sm_80": "7.0", "sm_86": "7.1", "sm_87": "7.4", "sm_88": "9.0", "sm_89": "7.8",
    "sm_90": "7.8", "sm_90a": "8.0", "sm_100": "8.6", "sm_100a": "8.6", "sm_100f": "8.8", "sm_101": "8.6", "sm_101a": "8.6",
    "sm_101f": "8.8", "sm_103": "8.8", "sm_103a": "8.8", "sm_103f": "8.8", "sm_110": "9.0", "sm_110a": "9.0",
    "sm_110f": "9.0", "sm_120": "8.7", "sm_120a": "8.7", "sm_120f": "8.8", "sm_121": "8.8", "sm_121a": "8.8",
    "sm_121f": "8.8",
}  # fmt: skip
VERSIONS = (
    "4.0", "4.1", "4.2", "4.3", "5.0", "6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "7.0", "7.1", "7.2", "7.3", "7.4", "7.5",
    "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8", "9.0",
)  # fmt: skip


def choose_version(architecture: str, wanted: str, reporter: Reporter) -> str | None:
    """What stands in the text: what is wanted, or the lowest version that has the architecture, of which every driver that
    knows the architecture knows enough. None after an error."""
    from cajeta_dot.diagnostics import Help, nearest
    from cajeta_dot.diagnostics.rules import TARGET_TOO_OLD, UNKNOWN_TARGET

    lowest = LOWEST_VERSIONS[architecture]
    if not wanted:
        return lowest
    if wanted not in VERSIONS:
        near = nearest(wanted, VERSIONS)
        offer = f"did you mean `{near}`?" if near else f"there are {', '.join(VERSIONS)}"
        reporter.report(UNKNOWN_TARGET, f"no PTX version `{wanted}`", None, helps=[Help(offer)])
        return None
    if VERSIONS.index(wanted) < VERSIONS.index(lowest):
        message = f"`{architecture}` needs PTX {lowest} or later, found `{wanted}`"
        reporter.report(TARGET_TOO_OLD, message, None, helps=[Help(f"`--ptx-version {lowest}`, or leave it out")])
        return None
    return wanted
