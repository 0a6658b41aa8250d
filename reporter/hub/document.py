"""Render the fleet as published, or a part of it, and the status of ProductionStackClusters."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from reporter.hub.query_results import PackageKey
from reporter.hub.records import Fleet, FleetRecord, FleetRules
from reporter.hub.series import to_time
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.model import fleet_status
from reporter.model.enums import Engage, Layer
from reporter.model.fleet_object_status import MAX_PACKAGES, ClusterObjectStatus
from reporter.model.fleet_status import (
    ClusterEntry,
    FleetBlocking,
    FleetCode,
    FleetDocument,
    FleetPackage,
    FleetStatus,
)
from reporter.model.object_status import AVAILABLE, ObjectBlocking, SetCounts
from reporter.model.states import ANY_STATE, Actionability, Mode, State
from reporter.model.status_document import SCHEMA_VERSION, Counts
from reporter.rollup.answers import ObjectAnswer
from reporter.rollup.conditions import make_conditions


NO_CLUSTERS = "no cluster is answered for"
NOT_REMEMBERED = (
    "those that reported before this hub began cannot be read, so that some may be missing"
)


class FleetView(Struct, frozen=True):
    """
    The fleet at one moment.

    *seconds*: of the clock of the fold. *answered_at*: when the last complete answer came.
    *why*: why its clusters are not known at all, or empty.
    *not_leading*: why this process can answer nothing, as another one asks; or empty.
    *revision*: changes with all that is shown, but for ages.
    """

    fleet: Fleet
    rules: FleetRules
    seconds: float
    answered_at: datetime | None
    queries: tuple[fleet_status.QueryEntry, ...] = ()
    why: str = ""
    not_leading: str = ""
    revision: int = 0

    @property
    def why_incomplete(self) -> str:
        """The cause for which clusters may be missing among those that are shown; empty if none can be."""
        forgets = self.rules.engage is Engage.SEEN and not self.fleet.remembers
        return self.why or (NOT_REMEMBERED if forgets else "")

    def document(self, *clusters: ClusterEntry) -> FleetDocument:
        """
        Return the document of /status/v1 with the summary of the whole fleet, and *clusters* alone.
        """
        return FleetDocument(
            schema=SCHEMA_VERSION,
            scope=fleet_status.FLEET_SCOPE,
            mode=Mode.WATCHING,
            evaluated_at=self.answered_at,
            fleet=self.summary(),
            clusters=clusters,
        )

    def names(self, states: Collection[State] = ANY_STATE) -> list[str]:
        """Return the sorted names of the clusters in one of *states*; all by default."""
        clusters = self.fleet.clusters.items()
        return sorted(name for name, each in clusters if each.content.state in states)

    def summary(self) -> FleetStatus:
        """
        Return the counts over all clusters, with their worst state.

        Unknown, with *why*, while the clusters are not known or there is none.
        """
        contents = [each.content for each in self.fleet.clusters.values()]
        states = Counter(each.state for each in contents)
        codes = Counter(each.code for each in contents if each.code is not None)
        packages = _sum_packages(self.fleet.clusters.values())
        why = self.why_incomplete or ("" if contents else NO_CLUSTERS)
        return FleetStatus(
            state=State.UNKNOWN if why else _worst(states),
            why=why,
            engage=self.rules.engage,
            counts=Counts.of(states),
            unknown=tuple(
                fleet_status.UnknownCount(code=code, clusters=codes[code])
                for code in FleetCode
                if codes[code]
            ),
            packages=packages[: fleet_status.MAX_PACKAGES],
            package_count=len(packages),
            dropped=tuple(each for _, each in sorted(self.fleet.dropped.items())),
            queries=self.queries,
        )

    def cluster(self, name: str) -> ClusterEntry | None:
        """
        Return the entry of a cluster by its name in the fleet; None if the hub does not answer for it.
        """
        record = self.fleet.clusters.get(name)
        if record is None:
            return None
        content, now = record.content, self.seconds
        return ClusterEntry(
            name=name,
            label=record.label,
            state=content.state,
            last_known=content.last_known,
            blocking=_blocking(record),
            uid=content.uid,
            other_uids=content.other_uids,
            other_labels=content.other_labels,
            version=content.version,
            evaluated_at=to_time(record.evaluated),
            last_update_age_seconds=None
            if record.last_update is None
            else max(int(now - record.last_update), 0),
            in_state_seconds=max(int(now - record.since), 0),
            skew_seconds=round(record.skew.seconds, 1) if record.skew is not None else None,
            skewed=content.skewed,
            inference_sets=Counts.as_known(content.counts),
            replicas=content.replicas,
            unobserved=content.unobserved,
            namespaces=content.namespaces[: fleet_status.MAX_NAMESPACES],
            namespace_count=len(content.namespaces),
            packages=_sum_packages([record])[: fleet_status.MAX_PACKAGES],
        )


def _worst(states: Collection[State]) -> State:
    """Return the worst state; what is being deleted is no answer about health."""
    return max(states, key=lambda each: (each is not State.TERMINATING, each.severity))


def _blocking(record: FleetRecord) -> FleetBlocking | None:
    content = record.content
    if content.code is not None:
        message, remedy = _describe(content.code, record)
        return FleetBlocking(
            code=content.code, message=message, remedy=remedy, actionability="platform"
        )
    if content.blocking is not None or content.state is State.CURRENT:
        return content.blocking
    why = (
        "The cluster does not report what blocks it."
        if content.trouble_known
        else "The query for what blocks it has no complete answer."
    )
    return FleetBlocking(code="NotReported", message=why)


def _sum_packages(records: Iterable[FleetRecord]) -> tuple[FleetPackage, ...]:
    """Return the sums by package, revision and state. Those of an Unknown cluster are Unknown."""
    sums: defaultdict[PackageKey, int] = defaultdict(int)
    for record in records:
        is_known = record.content.code is None
        for (package, revision, state), number in record.content.packages.items():
            sums[package, revision, state if is_known else State.UNKNOWN] += number
    return tuple(
        FleetPackage(name=package, revision=revision, state=state, namespaces=number)
        for (package, revision, state), number in sorted(sums.items())
    )


_TEXTS: Mapping[FleetCode, tuple[str, str]] = {
    FleetCode.NOT_ASKED: (
        "No query about the clusters has succeeded since the hub started.",
        "See the log of the hub.",
    ),
    FleetCode.NEVER_REPORTED: (
        "No series with the cluster label {label} was ever seen.",
        "Check clusterLabel, and in the cluster the external label, remote write, --rollup-metrics.",
    ),
    FleetCode.NOT_CONFIRMED: (
        "No change of the series with the cluster label {label} was seen yet.",
        "Wait for the next scrape of the cluster.",
    ),
    FleetCode.SILENT: (
        "The cluster has not reported an evaluation for longer than the stale time.",
        "Check the cluster, its reporter, and the way of its metrics to the engine.",
    ),
    FleetCode.ENGINE_UNAVAILABLE: (
        "The metrics engine gives no complete answer, so nothing is known of the cluster.",
        "Check the engine; the log of the hub has its answers.",
    ),
    FleetCode.DUPLICATE_CLUSTER: (
        "The cluster label {label} has series of the clusters with the UIDs {uids}.",
        "Give each cluster a label of its own; clusterUID names the one that is meant.",
    ),
    FleetCode.NO_CLUSTER_UID: (
        "The reporter of the cluster does not know the UID of the namespace kube-system.",
        "Let it list Namespaces; without the UID a second cluster would not be noticed.",
    ),
    FleetCode.NO_STATE: (
        "The series of the cluster have no state, or several.",
        "Check that the labels of its targets differ, and that no relabelling drops its series.",
    ),
    FleetCode.PAUSED: (
        "The hub does not answer for the cluster: its object is paused.",
        "Set paused to false.",
    ),
}


_SEVERAL_LABELS = (
    "The cluster with the UID {uids} has the cluster labels {labels}, so at least one is wrong.",
    "Give its agents one label; clusterUID names the object that is meant.",
)


def _describe(code: FleetCode, record: FleetRecord) -> tuple[str, str]:
    """Return the message and the remedy."""
    content = record.content
    message, remedy = _SEVERAL_LABELS if content.other_labels else _TEXTS[code]
    uids = ", ".join(content.other_uids) or "unknown"
    labels = ", ".join(content.other_labels)
    return message.format(label=record.label, uids=uids, labels=labels), remedy


# ---------------------------------------------------------------- objects


def render_status(
    found: ProductionStackCluster, entry: ClusterEntry, *, now: datetime
) -> dict[str, Any]:
    """
    Return the desired status of an object as decoded JSON, without the times that make_patch adds.
    """
    generation = found.metadata.generation
    counts = entry.inference_sets
    blocking = _object_blocking(entry.blocking) if entry.blocking is not None else None
    unobserved = entry.unobserved.describe() if entry.unobserved is not None else None
    conditions = make_conditions(
        ObjectAnswer(entry.state, blocking=blocking, unobserved=unobserved),
        found.status or {},
        generation=generation,
        now=now,
    )
    status = ClusterObjectStatus(
        observed_generation=generation,
        state=entry.state,
        last_known=entry.last_known,
        conditions=tuple(each for each in conditions if each.type != AVAILABLE),
        blocking=entry.blocking,
        cluster_uid=entry.uid,
        reporter_version=entry.version,
        inference_sets=SetCounts.of(counts.by_state()) if counts is not None else None,
        replicas=entry.replicas,
        namespaces_not_current=entry.namespace_count,
        packages=entry.packages[:MAX_PACKAGES],
        clock_skewed=entry.skewed,
    )
    rendered: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(status))
    return rendered


def _object_blocking(blocking: FleetBlocking) -> ObjectBlocking:
    actionabilities = {each.value: each for each in Actionability}
    return ObjectBlocking(
        reason=blocking.reason or blocking.code,
        code=blocking.code,
        layer=Layer.CLUSTER,
        message=blocking.message,
        remedy=blocking.remedy,
        actionability=actionabilities.get(blocking.actionability, Actionability.PLATFORM),
        stalled=blocking.stalled,
    )


def confirmed_at(record: FleetRecord, view: FleetView, *, now: datetime) -> datetime | None:
    """
    Return the time of the answer that a status rests on; None if that was of an earlier process.

    Answers in which nothing has changed confirm no state of a cluster. If they did, a hub that starts
    again and again would keep the state of a cluster that is gone.
    """
    if record.content.code is not None:
        return view.answered_at
    if record.is_carried_over or record.last_update is None:
        return None
    return now - timedelta(seconds=max(view.seconds - record.last_update, 0.0))
