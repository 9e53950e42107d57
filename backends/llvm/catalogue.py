"""What the processors of one family can do, by LLVM's names. The tables are the families' own."""

from __future__ import annotations

from cajeta_dot.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@record
class Catalogue:
    """What `-mcpu` and `-mattr` are read by: LLVM ends the process on a processor that it does not know, and mutters about a
    feature.

    family: as messages call it. features: each with those that it brings along. cpus: processors with their features, but for
    what these bring along. forms: features that a form of a dot product or of a lookup may ask for. halves: the one that
    conversions of float16 take, where not all processors have them. tunes: can LLVM time code for each of the processors?
    """

    family: str
    features: Mapping[str, str]
    cpus: Mapping[str, str]
    forms: frozenset[str]
    halves: str = ""
    tunes: bool = True

    def with_implied(self, features: Iterable[str]) -> frozenset[str]:
        """These features and all that they bring along."""
        found: set[str] = set()
        work = list(features)
        while work:
            feature = work.pop()
            if feature not in found:
                found.add(feature)
                work += self.features.get(feature, "").split()
        return frozenset(found)

    def without(self, features: Iterable[str], removed: str) -> frozenset[str]:
        """These features but for one, and for those that bring it along."""
        return frozenset(feature for feature in features if removed not in self.with_implied([feature]))

    def features_of(self, cpu: str) -> frozenset[str]:
        """All that a processor of the table has."""
        return self.with_implied(self.cpus[cpu].split())


def by_processor(rows: Mapping[str, str]) -> dict[str, str]:
    """From features with the processors that have them to each processor with its features."""
    return {name: features for features, names in rows.items() for name in names.split()}
