"""What the user asked about warnings and remarks, and the one place where that changes a severity.

    -w, -Wall               no warnings, or all (as without a flag)
    -W NAME, -Wno-NAME      this one, or not; a remark can be named too
    -Werror, -Wno-error     warnings are errors, or not
    -Werror=NAME            this one is an error, also if it is a remark; -Wno-error=NAME: it stays what it is
    -R NAME, -R all         show this remark, or all; off otherwise, except for those in `ALWAYS`

Of two flags for one name the later wins; one with a name wins over one without. Errors can't be switched.
"""

from __future__ import annotations

from ..record import record
from . import ERROR, REMARK, WARNING, Diagnostic, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ALWAYS = ("R0602", "R0603", "R0605")  # something of the user's is left out, or becomes slow as a whole: never silent
ALL = "all"


@record
class Switches:
    """`shown` and `failing` say yes or no for the names the user gave; the others follow the general flags."""

    shown: Mapping[str, bool]
    failing: Mapping[str, bool]
    quiet: bool = False
    all_failing: bool = False
    all_remarks: bool = False


DEFAULT = Switches({}, {})


class UnknownSwitch(ValueError):
    """A flag that names no warning or remark. `help` offers a near name, if there is one."""

    def __init__(self, message: str, help: str = ""):
        super().__init__(message)
        self.help = help


def read_switches(flags: Iterable[str]) -> Switches:
    """From `-w`, `-W…` and `-R…` as they were written. Raises UnknownSwitch, in words for the user."""
    shown: dict[str, bool] = {}
    failing: dict[str, bool] = {}
    quiet = all_failing = all_remarks = False
    for flag in flags:
        sort, word = flag[:2], flag[2:]
        if flag in ("-w", "-Wall"):
            quiet = flag == "-w"
        elif sort == "-R":
            if word == ALL:
                all_remarks = True
            else:
                shown[_check_name(word, flag, (REMARK,))] = True
        elif word in ("error", "no-error"):
            all_failing = word == "error"
        elif word.startswith(("error=", "no-error=")):
            how, _, name = word.partition("=")
            name = _check_name(name, flag, (WARNING, REMARK))
            failing[name] = how == "error"
            if failing[name]:
                shown[name] = True
        else:
            is_on = word in _names()  # a name may begin with `no-` too
            shown[_check_name(word if is_on else word.removeprefix("no-"), flag, (WARNING, REMARK))] = is_on
    return Switches(shown, failing, quiet, all_failing, all_remarks)


def apply_switches(diagnostics: Sequence[Diagnostic], switches: Switches) -> list[Diagnostic]:
    """Those that are to be shown, with the severity they then have."""
    changed: list[Diagnostic] = []
    for diagnostic in diagnostics:
        severity = _decide(diagnostic, switches)
        if severity == diagnostic.severity:
            changed.append(diagnostic)
        elif severity:
            changed.append(_with_severity(diagnostic, severity))
    return changed


def _decide(diagnostic: Diagnostic, switches: Switches) -> str | None:
    """The new severity; None for what is not shown."""
    name = diagnostic.rule.name
    own = diagnostic.rule.severity
    if own == ERROR:
        return ERROR
    wanted = switches.shown.get(name)
    if own == WARNING:
        if switches.quiet or wanted is False:
            return None
        return ERROR if switches.failing.get(name, switches.all_failing) else WARNING
    if switches.failing.get(name) and wanted:
        return ERROR
    if wanted is None:
        wanted = switches.all_remarks or diagnostic.code in ALWAYS
    return REMARK if wanted else None


def _with_severity(diagnostic: Diagnostic, severity: str) -> Diagnostic:
    from ..record import replace

    return replace(diagnostic, severity=severity)


def _names() -> dict[str, str]:
    from .rules import RULES  # also by code: it is printed beside every message

    return {key: rule.name for rule in RULES.values() for key in (rule.name, rule.code)}


def _check_name(word: str, flag: str, severities: tuple[str, ...]) -> str:
    """The rule's name for a name or a code."""
    from .rules import BY_NAME

    name = _names().get(word)
    if name is None:
        near = nearest(word, (rule.name for rule in BY_NAME.values() if rule.severity in severities))
        raise UnknownSwitch(f"`{flag}` names no {severities[0]}", f"did you mean `{near}`?" if near else "")
    severity = BY_NAME[name].severity
    if severity not in severities:
        raise UnknownSwitch(f"`{flag}` names {'an error' if severity == ERROR else 'a ' + severity}, not a {severities[0]}")
    return name
