"""
Checks of the evaluated reasons: those that check nothing with these flags, and those that miss a kind.
"""

from collections.abc import Collection, Iterator, Mapping

from reporter.catalogue.entries import Catalogue, CatalogueEntry, ProbeSpec
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import DetailSource, Reason


def find_idle_reasons(
    catalogue: Catalogue, specs: Mapping[str, ProbeSpec], flags: Mapping[str, str]
) -> Mapping[Reason, str]:
    """Return the evaluated reasons that check nothing with these flags, with what to set."""
    evaluated = (entry for entry in catalogue.entries.values() if entry.is_evaluated)
    whys = {e.reason: specs[e.probe].why_not_checked(e.parameters, flags) for e in evaluated}
    return {reason: why for reason, why in whys.items() if why}


def reasons_unknown_without(
    kind: ResourceKind,
    catalogue: Catalogue,
    specs: Mapping[str, ProbeSpec],
    sources: Collection[DetailSource],
) -> frozenset[Reason]:
    """Return the reasons that are Unknown while objects of this kind cannot be read."""
    return frozenset(
        entry.reason
        for entry, spec in _called(catalogue, specs, sources)
        if kind in (*spec.required_kinds, *subject_kinds(entry, catalogue))
    )


def reasons_partly_unknown_without(
    kind: ResourceKind,
    catalogue: Catalogue,
    specs: Mapping[str, ProbeSpec],
    sources: Collection[DetailSource],
) -> frozenset[Reason]:
    """
    Return the further reasons that are Unknown for those subjects that depend on such objects.
    """
    consulting = frozenset(
        entry.reason
        for entry, spec in _called(catalogue, specs, sources)
        if kind in spec.consulted_kinds
    )
    return consulting - reasons_unknown_without(kind, catalogue, specs, sources)


def reasons_with_less_detail_without(
    kind: ResourceKind,
    catalogue: Catalogue,
    specs: Mapping[str, ProbeSpec],
    sources: Collection[DetailSource],
) -> frozenset[Reason]:
    """
    Return the reasons that are evaluated without such objects, but lose what these would add.
    """
    reading = frozenset(
        entry.reason
        for entry, spec in _called(catalogue, specs, sources)
        if kind in spec.watched_kinds(sources)
    )
    unknown = reasons_unknown_without(kind, catalogue, specs, sources)
    return reading - unknown - reasons_partly_unknown_without(kind, catalogue, specs, sources)


def _called(
    catalogue: Catalogue, specs: Mapping[str, ProbeSpec], sources: Collection[DetailSource]
) -> Iterator[tuple[CatalogueEntry, ProbeSpec]]:
    """Yield the evaluated entries whose probes are called with these sources switched on."""
    for entry in catalogue.entries.values():
        if entry.is_evaluated and specs[entry.probe].is_called(sources):
            yield entry, specs[entry.probe].bound(entry.parameters)


def subject_kinds(entry: CatalogueEntry, catalogue: Catalogue) -> tuple[ResourceKind, ...]:
    """Return the kinds without which the subjects of a reason are not all known."""
    rules = catalogue.subject_definitions
    return rules.deciding_kinds(rules.find(entry.layer, entry.subject_kind))


def describe_purpose(
    kind: ResourceKind,
    entry: CatalogueEntry,
    spec: ProbeSpec,
    about: Collection[ResourceKind],
) -> str:
    """
    Return the reason of an entry, with a mark if the kind is needed for a part or for detail alone.

    *about*: the kinds without which its subjects are not all known.
    """
    if kind in (*spec.required_kinds, *about):
        return entry.reason
    if kind in spec.consulted_kinds:
        return f"{entry.reason} (in part)"
    return f"{entry.reason} (detail)"
