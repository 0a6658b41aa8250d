"""Render what a cluster reports and why it is Unknown: times, causes with what to do, what blocks."""

from collections.abc import Mapping
from datetime import UTC, datetime

from reporter.hub.records import Content
from reporter.model.fleet_answers import ReportedBlocking
from reporter.model.fleet_status import FleetBlocking, FleetCode


MAX_TIME = 253_402_300_799
"""The last second of the year 9999, which is the last of datetime."""


def to_time(seconds: float | None) -> datetime | None:
    """
    Return a Unix time that a cluster reports; None for what is none. Clocks may have any time.
    """
    if seconds is None or not 0 <= seconds <= MAX_TIME:
        return None
    return datetime.fromtimestamp(seconds, UTC)


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
        "Series with the cluster label {label} are there, and have not changed yet.",
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


def describe_code(code: FleetCode, content: Content, label: str) -> tuple[str, str]:
    """Return the message and the remedy."""
    message, remedy = _SEVERAL_LABELS if content.other_labels else _TEXTS[code]
    uids = ", ".join(content.other_uids) or "unknown"
    labels = ", ".join(content.other_labels)
    return message.format(label=label, uids=uids, labels=labels), remedy


def reported_blocking(found: ReportedBlocking) -> FleetBlocking:
    return FleetBlocking(
        reason=found.reason,
        code=found.code,
        actionability=found.actionability,
        stalled=found.stalled,
        silenced_until=to_time(found.silenced_until or None),
    )
