"""
Silence what merely follows from an upstream that is out.

A row holds while its source is out, also while that is still held, and lifts once the source has
not been out for the settle. What cannot be seen changes nothing. A suppressed source still suppresses.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from reporter.model.entries import Catalogue, Scope, Suppression
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey
from reporter.stages.evaluation.clocks import ZERO, FindingState, Gate


@dataclass(frozen=True, slots=True)
class Outage:
    """
    A source that is *out*, or has not been for *quiet*; accounted until *at*, *blind* since then.
    """

    as_of: datetime
    is_out: bool = True
    recovered_for: timedelta = ZERO
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Suppressions:
    """
    *outages*: the sources whose rows hold. *by*: every suppressed key with its sources, sorted.

    *of*: the other way round, whom each unsuppressed source at the end of all chains silences.
    """

    outages: Mapping[FindingKey, Outage]
    suppressed_by: Mapping[FindingKey, tuple[FindingKey, ...]]
    suppresses: Mapping[FindingKey, tuple[FindingKey, ...]] = field(default_factory=dict)

    def lifted(self, before: "Suppressions") -> frozenset[FindingKey]:
        """
        The keys that were suppressed and are not any more.
        """
        return frozenset(before.suppressed_by.keys() - self.suppressed_by.keys())


NO_SUPPRESSIONS = Suppressions({}, {})


def suppress(
    before: Suppressions, gate: Gate, catalogue: Catalogue, *, now: datetime, settle: timedelta
) -> Suppressions:
    outages = _update_outages(
        before.outages, gate, now=now, settle=settle, sources=_source_reasons(catalogue)
    )
    if not outages:
        return NO_SUPPRESSIONS
    reach = _SourceIndex.build(outages, catalogue)
    by = {}
    for key in (*gate.finding_states, *gate.unknown_states):
        sources = reach.sources_of(key)
        if sources:
            by[key] = sources
    return Suppressions(outages, by, _suppressed_by_root(by))


@dataclass(frozen=True, slots=True)
class _SourceIndex:
    """
    Which sources silence a reason everywhere, and which in one namespace, so that nobody asks every source.

    *found*: what was asked before: in an outage ten thousand keys have the same few answers.
    """

    cluster_wide: Mapping[Reason, list[FindingKey]]
    by_namespace: Mapping[tuple[str, Reason], list[FindingKey]]
    cache: dict[tuple[str, Reason], tuple[FindingKey, ...]] = field(default_factory=dict)

    @classmethod
    def build(cls, sources: Iterable[FindingKey], catalogue: Catalogue) -> "_SourceIndex":
        everywhere: defaultdict[Reason, list[FindingKey]] = defaultdict(list)
        near: defaultdict[tuple[str, Reason], list[FindingKey]] = defaultdict(list)
        rows: defaultdict[Reason, list[Suppression]] = defaultdict(list)
        for row in catalogue.suppressions:
            rows[row.source].append(row)
        for source in sources:
            for row in rows[source.reason]:
                if row.scope is Scope.CLUSTER:
                    everywhere[row.target].append(source)
                else:
                    near[source.subject.namespace, row.target].append(source)
            if source.reason == catalogue.missing_crd_reason:
                for target, demanded in catalogue.required_crds_by_reason.items():
                    if source.item in demanded:
                        everywhere[target].append(source)
        return cls(everywhere, near)

    def sources_of(self, key: FindingKey) -> tuple[FindingKey, ...]:
        """
        The sources of a key, sorted. Never itself: the catalogue refuses such a row.
        """
        place = (key.subject.namespace, key.reason)
        known = self.cache.get(place)
        if known is None:
            both = {*self.cluster_wide.get(key.reason, ()), *self.by_namespace.get(place, ())}
            known = self.cache[place] = tuple(sorted(both))
        return known


def _suppressed_by_root(
    by: Mapping[FindingKey, tuple[FindingKey, ...]],
) -> Mapping[FindingKey, tuple[FindingKey, ...]]:
    """
    The unsuppressed sources at the end of every chain from a suppressed key, and who they silence.
    """
    ends: dict[tuple[FindingKey, ...], frozenset[FindingKey]] = {}
    silenced: defaultdict[FindingKey, list[FindingKey]] = defaultdict(list)
    for key, sources in by.items():
        if sources not in ends:
            ends[sources] = _find_roots(sources, by)
        for end in ends[sources]:
            silenced[end].append(key)
    return {end: tuple(keys) for end, keys in silenced.items()}


def _find_roots(
    sources: tuple[FindingKey, ...], by: Mapping[FindingKey, tuple[FindingKey, ...]]
) -> frozenset[FindingKey]:
    found: set[FindingKey] = set()
    visited: set[FindingKey] = set()
    left = list(sources)
    while left:
        source = left.pop()
        if source not in visited:
            visited.add(source)
            upstream = by.get(source, ())
            left += upstream
            if not upstream:
                found.add(source)
    return frozenset(found)


def next_suppression_deadline(silence: Suppressions, *, settle: timedelta) -> datetime | None:
    """
    When the next row lifts by time alone.
    """
    fading = (o for o in silence.outages.values() if not o.is_out and not o.is_unknown)
    lifting = (o.as_of + settle - o.recovered_for for o in fading)
    return min(lifting, default=None)


def _source_reasons(catalogue: Catalogue) -> frozenset[str]:
    rows = {row.source for row in catalogue.suppressions}
    return frozenset(
        rows | ({catalogue.missing_crd_reason} if catalogue.missing_crd_reason else set())
    )


def _update_outages(
    before: Mapping[FindingKey, Outage],
    gate: Gate,
    *,
    now: datetime,
    settle: timedelta,
    sources: Iterable[str],
) -> Mapping[FindingKey, Outage]:
    after = {}
    wanted = frozenset(sources)
    for key, record in gate.finding_states.items():
        if key.reason in wanted and any(trouble.is_out for trouble in record.troubles):
            after[key] = Outage(now)
    for key, outage in before.items():
        still = _advance_outage(outage, _is_unknown(gate, key), now=now)
        if key not in after and still.recovered_for < settle:
            after[key] = still
    return after


def _is_unknown(gate: Gate, key: FindingKey) -> bool:
    record: FindingState | None = gate.finding_states.get(key)
    return key in gate.unknown_states or (record is not None and bool(record.why_unknown))


def _advance_outage(outage: Outage, blind: bool, *, now: datetime) -> Outage:
    """
    One that is not seen to be out at *now*.
    """
    passed = ZERO if outage.is_out or outage.is_unknown else max(now - outage.as_of, ZERO)
    after = replace(
        outage, as_of=now, recovered_for=outage.recovered_for + passed, is_unknown=blind
    )
    return after if blind else replace(after, is_out=False)
