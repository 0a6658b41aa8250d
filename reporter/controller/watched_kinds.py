"""The kinds and CRDs that the enabled reasons read."""

from collections.abc import Collection, Iterator

from reporter.catalogue.entries import Catalogue, CatalogueEntry
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import DetailSource


NO_SOURCES: frozenset[DetailSource] = frozenset()
ALL_KINDS = (*DEFAULT_KINDS, *OPTIONAL_KINDS)


def kinds_to_watch(
    catalogue: Catalogue, sources: Collection[DetailSource] = NO_SOURCES
) -> tuple[ResourceKind, ...]:
    """Return the kinds that the evaluated reasons read, in the order in which to list them."""
    wanted = {
        kind.table: kind
        for entry in catalogue.entries.values()
        if entry.is_evaluated
        for kind in _kinds_of(entry, catalogue, sources)
    }
    known = tuple(kind for kind in ALL_KINDS if kind.table in wanted)
    return (*known, *(wanted[name] for name in sorted(wanted) if wanted[name].is_declared))


def _kinds_of(
    entry: CatalogueEntry, catalogue: Catalogue, sources: Collection[DetailSource]
) -> Iterator[ResourceKind]:
    """
    Yield the kinds that a reason reads, and the one that makes its subjects, with its namespaces.
    """
    spec = SPECS[entry.probe].bound(entry.parameters)
    yield from spec.watched_kinds(sources)
    made_by = catalogue.subject_definitions.find(entry.layer, entry.subject_kind)
    if made_by is not None and spec.is_called(sources):
        yield from (NAMESPACES, made_by.kind)


def crds_to_track(
    catalogue: Catalogue, sources: Collection[DetailSource] = NO_SOURCES
) -> frozenset[str]:
    """
    Return the CRDs whose presence matters: those that reasons are about, and those that are read.
    """
    observed = {
        crd
        for entry in catalogue.entries.values()
        if entry.is_evaluated
        for crd in SPECS[entry.probe].observed_crds(entry.parameters)
    }
    read = kinds_to_watch(catalogue, sources)
    return frozenset(observed | {kind.group_resource for kind in read if not kind.is_built_in})
