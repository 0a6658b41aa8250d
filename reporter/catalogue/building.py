"""
Checked drafts to the model's entries.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import UNSET, UnsetType

from reporter.catalogue.drafts import Draft, Drafts, Known
from reporter.catalogue.durations import span
from reporter.catalogue.format import Hold
from reporter.model.entries import Catalogue, Entry, Holds, Suppression
from reporter.model.words import Reason


def built(drafts: Drafts, known: Known) -> Catalogue:
    entries = {e.reason: e for e in sorted((_entry(d, known) for d in drafts.all), key=_order)}
    demanded = {
        Reason(d.reason): d.spec.demands(d.parameters) for d in drafts.all if d.spec is not None
    }
    rows = tuple(
        Suppression(Reason(d.reason), Reason(row.reason), row.scope, row.why)
        for d in drafts.all
        for row in d.entry.suppresses
        if row.reason is not UNSET
    )
    sources = (Reason(d.reason) for d in drafts.all if any(r.crd_of for r in d.entry.suppresses))
    return Catalogue(
        MappingProxyType(entries), rows, next(sources, None), MappingProxyType(demanded)
    )


def _order(entry: Entry) -> tuple[int, bool, bool, int, str]:
    """
    By layer and rank, then those without one, the Ready last.
    """
    return (entry.layer.order, entry.ready, entry.orthogonal, entry.rank or 0, entry.reason)


def _entry(draft: Draft, known: Known) -> Entry:
    entry = draft.entry
    probe = "" if entry.probe is UNSET else entry.probe
    remedies: Mapping[str, str] = {} if entry.remedy is UNSET else entry.remedy
    return Entry(
        reason=Reason(entry.reason),
        layer=entry.layer,
        type=entry.type,
        owner=entry.owner,
        message=entry.message,
        rank=None if entry.rank is UNSET else entry.rank,
        orthogonal=entry.orthogonal,
        probe=probe,
        parameters=draft.parameters,
        holds=holds(entry.hold),
        settle=None if entry.settle is UNSET else span(entry.settle),
        grace=entry.grace,
        remedies=MappingProxyType(remedies),
        enabled=draft.enabled,
        pending=probe in known.pending,
    )


def holds(given: Hold | UnsetType) -> Holds:
    """
    What is not given has the model's default.
    """
    if given is UNSET:
        return Holds()
    default = Holds()
    return Holds(
        declared=default.declared if given.declared is UNSET else span(given.declared),
        failed=default.failed if given.failed is UNSET else span(given.failed),
        lost=default.lost if given.lost is UNSET else span(given.lost),
        starting=default.starting if given.starting is UNSET else span(given.starting),
    )
