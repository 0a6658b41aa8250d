"""
Checks of the evaluated reasons: those that check nothing with these flags, and those that miss a kind.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from reporter.catalogue.entries import Catalogue, CatalogueEntry, ProbeSpec
from reporter.evaluation.registry import SPECS
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import DetailSource, Reason


def find_unchecked(
    catalogue: Catalogue, specs: Mapping[str, ProbeSpec], flags: Mapping[str, str]
) -> Mapping[Reason, str]:
    """Return the evaluated reasons that check nothing with these flags, with what to set."""
    evaluated = (entry for entry in catalogue.entries.values() if entry.is_evaluated)
    whys = {e.reason: specs[e.probe].why_unchecked(e.parameters, flags) for e in evaluated}
    return {reason: why for reason, why in whys.items() if why}


class ReasonsWithout(NamedTuple):
    """
    The reasons that a kind is missing for, while none of its objects can be read.

    *unknown*: those that are Unknown without it. *unknown_in_part*: those that are Unknown for the subjects
    that depend on such objects. *less_detail*: those that are evaluated all the same, without what it adds.
    """

    unknown: frozenset[Reason] = frozenset()
    unknown_in_part: frozenset[Reason] = frozenset()
    less_detail: frozenset[Reason] = frozenset()


def reasons_without(
    kind: ResourceKind, catalogue: Catalogue, sources: Collection[DetailSource]
) -> ReasonsWithout:
    """Return the reasons that miss a kind, of those evaluated with these sources switched on."""
    unknown, in_part, less_detail = set(), set(), set()
    for entry in catalogue.entries.values():
        if not entry.is_evaluated or not SPECS[entry.probe].is_called(sources):
            continue
        spec = SPECS[entry.probe].bound(entry.parameters)
        if kind in (*spec.required_kinds, *subject_kinds(entry, catalogue)):
            unknown.add(entry.reason)
        elif kind in spec.consulted_kinds:
            in_part.add(entry.reason)
        elif kind in spec.watched_kinds(sources):
            less_detail.add(entry.reason)
    return ReasonsWithout(frozenset(unknown), frozenset(in_part), frozenset(less_detail))


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
