"""
Silence what merely follows from an upstream that is out.

A row holds while its source is out, also while that is still held, and lifts once the source has
not been out for the settle. What cannot be seen changes nothing. A suppressed source still suppresses.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from reporter.model.entries import Catalogue, Scope
from reporter.model.subjects import Key
from reporter.stages.records import ZERO, Gate, Record


@dataclass(frozen=True, slots=True)
class Outage:
    """
    A source that is *out*, or has not been for *quiet*; accounted until *at*.
    """

    at: datetime
    out: bool = True
    quiet: timedelta = ZERO


@dataclass(frozen=True, slots=True)
class Silence:
    """
    *outages*: the sources whose rows hold. *by*: every suppressed key with its sources, sorted.
    """

    outages: Mapping[Key, Outage]
    by: Mapping[Key, tuple[Key, ...]]

    def lifted(self, before: "Silence") -> frozenset[Key]:
        """
        The keys that were suppressed and are not any more.
        """
        return frozenset(before.by.keys() - self.by.keys())

    def roots(self, key: Key) -> frozenset[Key]:
        """
        The unsuppressed sources at the end of every chain from a suppressed key.
        """
        found: set[Key] = set()
        visited: set[Key] = set()
        left = list(self.by.get(key, ()))
        while left:
            source = left.pop()
            if source in visited:
                continue
            visited.add(source)
            upstream = self.by.get(source, ())
            left += upstream
            if not upstream:
                found.add(source)
        return frozenset(found)


NONE = Silence({}, {})


def suppress(
    before: Silence, gate: Gate, catalogue: Catalogue, *, now: datetime, settle: timedelta
) -> Silence:
    outages = _outages(before.outages, gate, now=now, settle=settle, sources=_sources(catalogue))
    if not outages:
        return Silence({}, {})
    by = {}
    for key in gate.records.keys() | gate.unseen.keys():
        sources = tuple(sorted(s for s in outages if s != key and _covers(s, key, catalogue)))
        if sources:
            by[key] = sources
    return Silence(outages, by)


def wakes(silence: Silence, *, settle: timedelta) -> datetime | None:
    """
    When the next row lifts by time alone.
    """
    lifting = (o.at + settle - o.quiet for o in silence.outages.values() if not o.out)
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
    if blind:
        return replace(outage, at=now)
    passed = ZERO if outage.out else max(now - outage.at, ZERO)
    return Outage(now, out=False, quiet=outage.quiet + passed)


def _covers(source: Key, target: Key, catalogue: Catalogue) -> bool:
    if source.reason == catalogue.crd_source:
        return source.item in catalogue.demands(target.reason)
    return any(
        row.source == source.reason
        and row.target == target.reason
        and (row.scope is Scope.CLUSTER or source.subject.namespace == target.subject.namespace)
        for row in catalogue.suppressions
    )
