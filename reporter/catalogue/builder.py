"""Build the model's catalogue from checked drafts."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from reporter.catalogue.drafts import Draft, Drafts
from reporter.catalogue.entries import Catalogue, CatalogueEntry, HoldDurations, Suppression
from reporter.catalogue.format import Hold, parse_duration
from reporter.catalogue.subject_definitions import SubjectDefinitions
from reporter.model.enums import Reason


def build_catalogue(drafts: Drafts, rules: SubjectDefinitions) -> Catalogue:
    entries = {e.reason: e for e in sorted((_build_entry(d) for d in drafts.all), key=_sort_key)}
    required_crds = {
        Reason(d.reason): d.spec.required_crds(d.parameters)
        for d in drafts.all
        if d.spec is not None
    }
    rows = tuple(
        Suppression(Reason(d.reason), Reason(row.reason), row.scope, row.why, row.enabled)
        for d in drafts.all
        for row in d.entry.suppresses
        if row.reason is not UNSET
    )
    crd_rows = [(Reason(d.reason), r) for d in drafts.all for r in d.entry.suppresses if r.crd_of]
    return Catalogue(
        MappingProxyType(entries),
        rows,
        next((reason for reason, _ in crd_rows), None),
        MappingProxyType(required_crds),
        rules,
        is_missing_crd_enabled=all(row.enabled for _, row in crd_rows),
    )


def _sort_key(entry: CatalogueEntry) -> tuple[int, str, bool, bool, int, str]:
    """
    Order by layer and kind of subject, then rank; entries without a rank follow, the layer's Ready is the last.
    """
    return (
        entry.layer.order,
        entry.subject_kind,
        entry.is_ready_reason,
        entry.orthogonal,
        entry.rank or 0,
        entry.reason,
    )


def _build_entry(draft: Draft) -> CatalogueEntry:
    entry, rule = draft.entry, draft.rule
    probe = "" if entry.probe is UNSET else entry.probe
    remedies: Mapping[str, str] = {} if entry.remedy is UNSET else entry.remedy
    return CatalogueEntry(
        reason=Reason(entry.reason),
        layer=entry.layer,
        type=entry.type,
        owner=entry.owner,
        message_template=entry.message,
        rank=None if entry.rank is UNSET else entry.rank,
        orthogonal=entry.orthogonal,
        probe=probe,
        parameters=draft.parameters,
        holds=build_holds(entry.hold, with_grace=entry.grace),
        settle=None if entry.settle is UNSET else parse_duration(entry.settle),
        window=None if entry.window is UNSET else parse_duration(entry.window),
        waits_for_grace=entry.grace,
        remedies=MappingProxyType(remedies),
        enabled=draft.enabled,
        subject_kind=draft.about[1],
        own_causes=draft.spec.own_causes if draft.spec is not None else frozenset(),
        object_kind=rule.kind.kind if rule is not None and rule.message_field else "",
    )


def build_holds(given: Hold | UnsetType, *, with_grace: bool) -> HoldDurations:
    """
    Return the holds of an entry; absent ones have the model's default.

    *with_grace*: the startup grace governs what is only starting.
    """
    texts: Mapping[str, str | UnsetType] = {} if given is UNSET else msgspec.structs.asdict(given)
    held: dict[str, Any] = {k: parse_duration(t) for k, t in texts.items() if t is not UNSET}
    return replace(HoldDurations(with_grace=with_grace), **held)
