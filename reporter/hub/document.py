"""Render the fleet as published: texts and ages, of as much of it as was asked for."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from reporter.hub.records import Fleet, FleetRecord, FleetRules
from reporter.hub.render import describe_code, reported_blocking, to_time
from reporter.model.fleet_status import (
    FLEET_SCOPE,
    MAX_NAMESPACES,
    MAX_PACKAGES,
    ClusterEntry,
    DroppedEntry,
    FleetBlocking,
    FleetCode,
    FleetDocument,
    FleetNamespace,
    FleetPackage,
    FleetStatus,
    QueryEntry,
    UnknownCount,
)
from reporter.model.states import COUNTED_STATES, Mode, State
from reporter.model.status_document import SCHEMA_VERSION, Counts


ANY_STATE: Collection[State] = frozenset(COUNTED_STATES)
NO_CLUSTERS = "no cluster is answered for"


class FleetMoment(NamedTuple):
    """
    The moment at which the fleet is shown.

    *seconds*: of the clock of the fold. *answered_at*: when the last complete answer came.
    """

    seconds: float
    answered_at: datetime | None


class FleetView(Struct, frozen=True):
    """
    The fleet at one moment. *why*: why its clusters are not known at all, or empty.

    *not_leading*: why this process can answer nothing, as another one asks; or empty.
    *revision*: changes with all that is shown, but for ages.
    """

    fleet: Fleet
    rules: FleetRules
    moment: FleetMoment
    queries: tuple[QueryEntry, ...] = ()
    why: str = ""
    not_leading: str = ""
    revision: int = 0

    def document(self, *clusters: ClusterEntry) -> FleetDocument:
        return FleetDocument(
            schema=SCHEMA_VERSION,
            scope=FLEET_SCOPE,
            mode=Mode.WATCHING,
            evaluated_at=self.moment.answered_at,
            fleet=self.summary(),
            clusters=clusters,
        )

    def names(self, states: Collection[State] = ANY_STATE) -> list[str]:
        clusters = self.fleet.clusters.items()
        return sorted(name for name, each in clusters if each.content.state in states)

    def summary(self) -> FleetStatus:
        contents = [each.content for each in self.fleet.clusters.values()]
        states = Counter(each.state for each in contents)
        codes = Counter(each.code for each in contents if each.code is not None)
        packages = list(_sum_packages(self.fleet.clusters.values()))
        why = self.why or ("" if contents else NO_CLUSTERS)
        return FleetStatus(
            state=State.UNKNOWN if why else _worst(states),
            why=why,
            engage=self.rules.engage,
            counts=Counts.of(states),
            unknown=tuple(
                UnknownCount(code=code, clusters=codes[code]) for code in FleetCode if codes[code]
            ),
            packages=tuple(packages[:MAX_PACKAGES]),
            package_count=len(packages),
            dropped=tuple(
                DroppedEntry(why=why, series=each.series, names=each.names)
                for why, each in sorted(self.fleet.dropped.items())
            ),
            queries=self.queries,
        )

    def cluster(self, name: str) -> ClusterEntry | None:
        record = self.fleet.clusters.get(name)
        if record is None:
            return None
        content, now = record.content, self.moment.seconds
        return ClusterEntry(
            name=name,
            label=record.label,
            state=content.state,
            last_known=content.last_known,
            blocking=_blocking(record, now),
            uid=content.uid,
            other_uids=content.other_uids,
            other_labels=content.other_labels,
            version=content.version,
            evaluated_at=to_time(record.evaluated),
            heard_seconds_ago=None if record.heard is None else max(int(now - record.heard), 0),
            in_state_seconds=max(int(now - record.since), 0),
            skew_seconds=round(record.skew.seconds, 1) if record.skew is not None else None,
            skewed=content.skewed,
            inference_sets=Counts.as_known(content.counts),
            replicas=content.replicas,
            namespaces=tuple(_namespaces(record)),
            namespace_count=len(content.namespaces),
            packages=tuple(_sum_packages([record]))[:MAX_PACKAGES],
        )

    def clusters(self, states: Collection[State] = ANY_STATE) -> Iterator[ClusterEntry]:
        for name in self.names(states):
            found = self.cluster(name)
            if found is not None:
                yield found


def _worst(states: Collection[State]) -> State:
    """Return the worst state; what is being deleted is no answer about health."""
    return max(states, key=lambda each: (each is not State.TERMINATING, each.severity))


def _blocking(record: FleetRecord, now: float) -> FleetBlocking | None:
    content = record.content
    if content.code is not None:
        message, remedy = describe_code(content.code, content, record.label)
        return FleetBlocking(
            code=content.code, message=message, remedy=remedy, actionability="platform"
        )
    if content.blocking is not None:
        return reported_blocking(content.blocking)
    if content.state is State.CURRENT:
        return None
    why = (
        "The cluster does not report what blocks it."
        if content.trouble_known
        else "The query for what blocks it has no complete answer."
    )
    return FleetBlocking(code="NotReported", message=why)


def _namespaces(record: FleetRecord) -> Iterator[FleetNamespace]:
    for each in record.content.namespaces[:MAX_NAMESPACES]:
        blocking = reported_blocking(each.blocking) if each.blocking is not None else None
        yield FleetNamespace(name=each.name, state=each.state or State.UNKNOWN, blocking=blocking)


def _sum_packages(records: Iterable[FleetRecord]) -> Iterator[FleetPackage]:
    """Yield the sums by package, revision and state. Those of an Unknown cluster are Unknown."""
    sums: defaultdict[tuple[str, str, State], int] = defaultdict(int)
    for record in records:
        is_known = record.content.code is None
        for each in record.content.packages:
            state = each.state if is_known else State.UNKNOWN
            sums[each.package, each.revision, state] += each.namespaces
    for (package, revision, state), number in sorted(sums.items()):
        yield FleetPackage(name=package, revision=revision, state=state, namespaces=number)
