"""The target `native`: the best of the targets that this machine can run, chosen anew each time."""

from __future__ import annotations

from cajeta_dot.backends import HostInfo, Options, TargetInfo, aarch64, x86
from cajeta_dot.backends.aarch64_features import AARCH64
from cajeta_dot.backends.llvm.host import find_architecture
from cajeta_dot.backends.llvm.processors import KINDS, Processors, Tier, refuse_missing
from cajeta_dot.backends.x86_features import X86
from cajeta_dot.diagnostics import Reporter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from cajeta_dot.backends import Artifact, Entry, HostBackend, Loaded
    from cajeta_dot.backends.llvm.catalogue import Catalogue
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.source import Source

_SUMMARY = "the best of the x86 or AArch64 targets that this machine has"
_FAMILIES: dict[str, tuple[Processors, tuple[Tier, ...], Catalogue]] = {
    "x86_64": (x86.backend, x86.TIERS, X86),
    "aarch64": (aarch64.backend, aarch64.TIERS, AARCH64),
}
_CPUS, _FEATURES = (*X86.cpus, *AARCH64.cpus), (*X86.features, *AARCH64.features)
NATIVE = TargetInfo("native", _SUMMARY, KINDS, True, dot="as that target's", cpus=_CPUS, features=_FEATURES, keeps=True)


class NativeBackend:
    """One target, which stands for another."""

    name = "native"

    def targets(self) -> Sequence[TargetInfo]:
        return (NATIVE,)

    def missing(self, target: str) -> str:
        """What this machine lacks, as a message names it."""
        from cajeta_dot.backends.llvm.host import detect_host

        return "" if detect_host().architecture in _FAMILIES else "an x86-64 or AArch64 processor"

    def emit(self, program: Program, target: str, kind: str, options: Options, reporter: Reporter) -> Artifact | None:
        """As the protocol says; on another machine, for any x86-64."""
        found = resolve(options, reporter)
        return found and found[0].emit(program, found[1].info.name, kind, options, reporter)

    def load(self, program: Program, target: str, options: Options, reporter: Reporter) -> Loaded | None:
        """As the protocol says."""
        if refuse_missing(target, self.missing(target), reporter):
            return None
        found = resolve(options, reporter)
        return found and found[0].load(program, found[1].info.name, options, reporter)

    def fingerprint(self) -> str:
        """As the protocol says. What the target stands for follows from it and the options."""
        return self._family.fingerprint()

    def reload(self, kept: Any, source: Source, functions: Sequence[Function]) -> Mapping[Function, Entry]:
        """As the protocol says."""
        return self._family.reload(kept, source, functions)

    @property
    def _family(self) -> Processors:
        return _FAMILIES.get(find_architecture(), _FAMILIES["x86_64"])[0]

    def describe_host(self) -> HostInfo:
        """As the protocol says. Of the better targets it is told what this machine lacks for the one that comes next."""
        from cajeta_dot.backends.llvm.host import FEATURES_VARIABLE, SCALAR_VARIABLE, detect_host, is_scalar_wanted

        host = detect_host()
        _, tiers, _ = _FAMILIES.get(host.architecture, _FAMILIES["x86_64"])
        asked = dict.fromkeys(feature for tier in tiers for feature in tier.machine.features)
        found = resolve(Options(), Reporter(None))
        assert found  # nothing was wished for that could be refused
        chosen = found[1]
        better = tiers[: tiers.index(chosen)]
        if host.doubt:
            why = host.doubt
        elif is_scalar_wanted():
            why = f"{SCALAR_VARIABLE} asks for it"
        elif better:
            lacking = next(f for f in better[-1].machine.features if f not in host.features)
            why = f"`{better[-1].info.name}` needs `{lacking}`"
        else:
            why = "it is the best there is"
        name = host.name or f"as {FEATURES_VARIABLE} says"
        return HostInfo(name, host.architecture, tuple(f for f in asked if f in host.features), chosen.info.name, why)


def resolve(options: Options, reporter: Reporter) -> tuple[Processors, Tier] | None:
    """What `native` is here, or for a processor that is named; None after an error.

    Where this machine can't be told, it is the least that every machine has, as is said aloud.
    """
    from cajeta_dot.backends.llvm.host import detect_host, is_scalar_wanted

    host = detect_host()
    family = _FAMILIES.get(host.architecture, _FAMILIES["x86_64"])
    family = next((one for one in _FAMILIES.values() if options.cpu in one[2].cpus), family)
    backend, tiers, catalogue = family
    least, features = tiers[-1], host.features
    if options.cpu or options.features:
        from cajeta_dot.backends.llvm.refine import change_features, check_names

        if not check_names(options, catalogue, NATIVE.name, reporter):
            return None
        features = change_features(catalogue.features_of(options.cpu) if options.cpu else features, options, catalogue)
    if host.doubt and not options.cpu:
        from cajeta_dot.diagnostics.rules import HOST_IN_DOUBT

        reporter.report(HOST_IN_DOUBT, f"`native` is `{least.info.name}`: {host.doubt}", None)
        return backend, least
    if is_scalar_wanted():
        return backend, least
    return backend, next(tier for tier in tiers if features.issuperset(tier.machine.features))


backend: HostBackend = NativeBackend()
