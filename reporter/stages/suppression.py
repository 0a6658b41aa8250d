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
from reporter.model.subjects import Key
from reporter.model.words import Reason
from reporter.stages.records import ZERO, Gate, Record


@dataclass(frozen=True, slots=True)
class Outage:
    """
    A source that is *out*, or has not been for *quiet*; accounted until *at*, *blind* since then.
    """

    at: datetime
    out: bool = True
    quiet: timedelta = ZERO
    blind: bool = False


@dataclass(frozen=True, slots=True)
class Silence:
    """
    *outages*: the sources whose rows hold. *by*: every suppressed key with its sources, sorted.

    *of*: the other way round, whom each unsuppressed source at the end of all chains silences.
    """

    outages: Mapping[Key, Outage]
    by: Mapping[Key, tuple[Key, ...]]
    of: Mapping[Key, tuple[Key, ...]] = field(default_factory=dict)

    def lifted(self, before: "Silence") -> frozenset[Key]:
        """
        The keys that were suppressed and are not any more.
        """
        return frozenset(before.by.keys() - self.by.keys())


NONE = Silence({}, {})


def suppress(
    before: Silence, gate: Gate, catalogue: Catalogue, *, now: datetime, settle: timedelta
) -> Silence:
    outages = _outages(before.outages, gate, now=now, settle=settle, sources=_sources(catalogue))
    if not outages:
        return NONE
    reach = _Reach.of(outages, catalogue)
    by = {}
    for key in (*gate.records, *gate.unseen):
        sources = reach.covering(key)
        if sources:
            by[key] = sources
    return Silence(outages, by, _roots(by))


@dataclass(frozen=True, slots=True)
class _Reach:
    """
    Which sources silence a reason everywhere, and which in one namespace, so that nobody asks every source.

    *found*: what was asked before: in an outage ten thousand keys have the same few answers.
    """

    everywhere: Mapping[Reason, list[Key]]
    near: Mapping[tuple[str, Reason], list[Key]]
    found: dict[tuple[str, Reason], tuple[Key, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, sources: Iterable[Key], catalogue: Catalogue) -> "_Reach":
        everywhere: defaultdict[Reason, list[Key]] = defaultdict(list)
        near: defaultdict[tuple[str, Reason], list[Key]] = defaultdict(list)
        rows: defaultdict[Reason, list[Suppression]] = defaultdict(list)
        for row in catalogue.suppressions:
            rows[row.source].append(row)
        for source in sources:
            for row in rows[source.reason]:
                if row.scope is Scope.CLUSTER:
                    everywhere[row.target].append(source)
                else:
                    near[source.subject.namespace, row.target].append(source)
            if source.reason == catalogue.crd_source:
                for target, demanded in catalogue.demanded.items():
                    if source.item in demanded:
                        everywhere[target].append(source)
        return cls(everywhere, near)

    def covering(self, key: Key) -> tuple[Key, ...]:
        """
        The sources of a key, sorted. Never itself: the catalogue refuses such a row.
        """
        place = (key.subject.namespace, key.reason)
        known = self.found.get(place)
        if known is None:
            both = {*self.everywhere.get(key.reason, ()), *self.near.get(place, ())}
            known = self.found[place] = tuple(sorted(both))
        return known


def _roots(by: Mapping[Key, tuple[Key, ...]]) -> Mapping[Key, tuple[Key, ...]]:
    """
    The unsuppressed sources at the end of every chain from a suppressed key, and who they silence.
    """
    ends: dict[tuple[Key, ...], frozenset[Key]] = {}
    silenced: defaultdict[Key, list[Key]] = defaultdict(list)
    for key, sources in by.items():
        if sources not in ends:
            ends[sources] = _ends(sources, by)
        for end in ends[sources]:
            silenced[end].append(key)
    return {end: tuple(keys) for end, keys in silenced.items()}


def _ends(sources: tuple[Key, ...], by: Mapping[Key, tuple[Key, ...]]) -> frozenset[Key]:
    found: set[Key] = set()
    visited: set[Key] = set()
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


def wakes(silence: Silence, *, settle: timedelta) -> datetime | None:
    """
    When the next row lifts by time alone.
    """
    fading = (o for o in silence.outages.values() if not o.out and not o.blind)
    lifting = (o.at + settle - o.quiet for o in fading)
    return min(lifting, default=None)


def _sources(catalogue: Catalogue) -> frozenset[str]:
    rows = {row.source for row in catalogue.suppressions}
    return frozenset(rows | ({catalogue.crd_source} if catalogue.crd_source else set()))


def _outages(
    before: Mapping[Key, Outage],
    gate: Gate,
    *,
    now: datetime,
    settle: timedelta,
    sources: Iterable[str],
) -> Mapping[Key, Outage]:
    after = {}
    wanted = frozenset(sources)
    for key, record in gate.records.items():
        if key.reason in wanted and any(trouble.out for trouble in record.troubles):
            after[key] = Outage(now)
    for key, outage in before.items():
        still = _fading(outage, _blind(gate, key), now=now)
        if key not in after and still.quiet < settle:
            after[key] = still
    return after


def _blind(gate: Gate, key: Key) -> bool:
    record: Record | None = gate.records.get(key)
    return key in gate.unseen or (record is not None and bool(record.unknown))


def _fading(outage: Outage, blind: bool, *, now: datetime) -> Outage:
    """
    One that is not seen to be out at *now*.
    """
    passed = ZERO if outage.out or outage.blind else max(now - outage.at, ZERO)
    after = replace(outage, at=now, quiet=outage.quiet + passed, blind=blind)
    return after if blind else replace(after, out=False)
