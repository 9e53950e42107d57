"""`-mcpu` and `-mattr` for the x86 targets: a machine made from one of the table, or an error that names what is not known.

A processor is what code is tuned for, and what `native` then stands for instead of this machine. A target keeps to its own
features whatever the processor has; features are added and taken away by name, with what they bring along and what needs them.
"""

from __future__ import annotations

from cajeta_dot.backends.x86_features import CPUS, FEATURES, features_of, with_implied, without
from cajeta_dot.diagnostics import Help, nearest
from cajeta_dot.diagnostics.rules import TARGET_TOO_OLD, UNKNOWN_TARGET
from cajeta_dot.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cajeta_dot.backends import Options
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.diagnostics import Reporter


def check_names(options: Options, target: str, reporter: Reporter) -> bool:
    """Reports a processor or a feature that the tables don't have."""
    if options.cpu and options.cpu not in CPUS:
        _report("processor", options.cpu, CPUS, target, reporter)
    for change in _changes(options):
        if change[:1] not in ("+", "-"):
            help = Help(f"write `+{change}` for with it, `-{change}` for without")
            reporter.report(UNKNOWN_TARGET, f"`{change}` does not say whether a feature is added", None, helps=[help])
        elif change[1:] not in FEATURES:
            _report("feature", change[1:], FEATURES, target, reporter)
    return not reporter.failed


def _report(what: str, name: str, known: Iterable[str], target: str, reporter: Reporter) -> None:
    near = nearest(name, known)
    offer = f"did you mean `{near}`? " if near else ""
    help = Help(f"{offer}`cajetac targets {target}` lists them")
    reporter.report(UNKNOWN_TARGET, f"no x86 {what} `{name}`", None, helps=[help])


def _changes(options: Options) -> list[str]:
    return [word for part in options.features.split(",") if (word := part.strip())]


def change_features(features: Iterable[str], options: Options) -> frozenset[str]:
    """These features as the user wants them; of two wishes for one the later counts."""
    changed = frozenset(features)
    for change in _changes(options):
        changed = changed | with_implied([change[1:]]) if change[0] == "+" else without(changed, change[1:])
    return changed


def refine(machine: Machine, options: Options, reporter: Reporter) -> Machine | None:
    """The machine for the processor, with other features; None after an error. The names have been checked."""
    if options.cpu:
        has = features_of(options.cpu)
        lacking = [feature for feature in machine.features if feature not in has]
        if lacking:
            help = Help(f"choose another processor, or `--target native -mcpu={options.cpu}` for the best that it has")
            message = f"`{machine.target}` needs `{lacking[0]}`, which `{options.cpu}` lacks"
            reporter.report(TARGET_TOO_OLD, message, None, helps=[help])
            return None
        machine = replace(machine, tune=options.cpu)
    if not options.features:
        return machine
    features = change_features(machine.features, options)
    forms = change_features(machine.forms, options) & FORM_FEATURES
    in_order = tuple(feature for feature in FEATURES if feature in features)
    return replace(machine, features=in_order, forms=forms, halves="f16c" if "f16c" in features else "none")


# What a form of a dot product or of a lookup may ask for.
FORM_FEATURES = frozenset(["sse2", "ssse3", "avx2", "avx512bw", "avx512vl", "avx512vnni", "avxvnni", "avxvnniint8", "avx10.2"])
