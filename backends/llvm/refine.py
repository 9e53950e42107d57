"""`-mcpu` and `-mattr`: a machine made from one of a table, or an error that names what is not known.

A processor is what code is tuned for where LLVM can, and what `native` then stands for instead of this machine. A target keeps
to its own features whatever the processor has; features are added and taken away by name, with what they bring along and what
needs them.
"""

from __future__ import annotations

from cajeta_dot.diagnostics import Help, nearest
from cajeta_dot.diagnostics.rules import TARGET_TOO_OLD, UNKNOWN_TARGET
from cajeta_dot.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cajeta_dot.backends import Options
    from cajeta_dot.backends.llvm.catalogue import Catalogue
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.diagnostics import Reporter


def check_names(options: Options, catalogue: Catalogue, target: str, reporter: Reporter) -> bool:
    """Reports a processor or a feature that the catalogue doesn't have."""
    if options.cpu and options.cpu not in catalogue.cpus:
        _report(f"{catalogue.family} processor", options.cpu, catalogue.cpus, target, reporter)
    for change in _changes(options):
        if change[:1] not in ("+", "-"):
            help = Help(f"write `+{change}` for with it, `-{change}` for without")
            reporter.report(UNKNOWN_TARGET, f"`{change}` does not say whether a feature is added", None, helps=[help])
        elif change[1:] not in catalogue.features:
            _report(f"{catalogue.family} feature", change[1:], catalogue.features, target, reporter)
    return not reporter.failed


def _report(what: str, name: str, known: Iterable[str], target: str, reporter: Reporter) -> None:
    near = nearest(name, known)
    offer = f"did you mean `{near}`? " if near else ""
    help = Help(f"{offer}`cajetac targets {target}` lists them")
    reporter.report(UNKNOWN_TARGET, f"no {what} `{name}`", None, helps=[help])


def _changes(options: Options) -> list[str]:
    return [word for part in options.features.split(",") if (word := part.strip())]


def change_features(features: Iterable[str], options: Options, catalogue: Catalogue) -> frozenset[str]:
    """These features as the user wants them; of two wishes for one the later counts."""
    changed = frozenset(features)
    for change in _changes(options):
        name = change[1:]
        changed = changed | catalogue.with_implied([name]) if change[0] == "+" else catalogue.without(changed, name)
    return changed


def refine(machine: Machine, options: Options, catalogue: Catalogue, reporter: Reporter) -> Machine | None:
    """The machine for the processor, with other features; None after an error. The names have been checked."""
    if options.cpu:
        has = catalogue.features_of(options.cpu)
        lacking = [feature for feature in machine.features if feature not in has]
        if lacking:
            help = Help(f"choose another processor, or `--target native -mcpu={options.cpu}` for the best that it has")
            message = f"`{machine.target}` needs `{lacking[0]}`, which `{options.cpu}` lacks"
            reporter.report(TARGET_TOO_OLD, message, None, helps=[help])
            return None
        if catalogue.tunes:
            machine = replace(machine, tune=options.cpu)
    if not options.features:
        return machine
    features = change_features(machine.features, options, catalogue)
    forms = change_features(machine.forms, options, catalogue) & catalogue.forms
    in_order = tuple(feature for feature in catalogue.features if feature in features)
    halves = machine.halves
    if catalogue.halves:
        halves = catalogue.halves if catalogue.halves in features else "none"
    return replace(machine, features=in_order, forms=forms, halves=halves)
