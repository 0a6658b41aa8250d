"""
Put together what is shown of a cluster: what stands while nothing new is known, and what does not.
"""

from typing import NamedTuple

from reporter.hub.cluster_verdict import Judgement
from reporter.hub.records import Content, Sighting
from reporter.model.fleet_answers import ClusterTrouble, PackageCount
from reporter.model.fleet_status import FleetCode
from reporter.model.states import State


NO_TROUBLE = ClusterTrouble()

MIXED = frozenset({FleetCode.DUPLICATE_CLUSTER, FleetCode.NO_CLUSTER_UID, FleetCode.PAUSED})
"""
The codes with which packages under the label may be those of another cluster, or of no account.
"""


class Detail(NamedTuple):
    """
    The trouble of the source that counts, and the packages under the label. None: not answered.
    """

    trouble: ClusterTrouble | None
    packages: tuple[PackageCount, ...] | None


def update_content(
    before: Content, judgement: Judgement, chosen: Sighting | None, detail: Detail
) -> Content:
    """Return what is shown after a round."""
    if judgement.state is None:
        return before
    packages = before.packages if detail.packages is None else detail.packages
    report = chosen.report if chosen is not None else None
    shown = Content(
        judgement.state,
        _last_known(before, judgement),
        judgement.code,
        uid=report.uid if report is not None else before.uid,
        other_uids=judgement.other_uids,
        other_labels=judgement.other_labels,
        version=report.version if report is not None else before.version,
        packages=() if judgement.code in MIXED else packages,
    )
    if judgement.code is not None or report is None:
        return shown
    shown = shown._replace(counts=report.counts, replicas=report.replicas)
    return _with_trouble(before, shown, detail.trouble)


def _last_known(before: Content, judgement: Judgement) -> State | None:
    if judgement.state is not State.UNKNOWN:
        return None
    return before.last_known if before.state is State.UNKNOWN else before.state


def _with_trouble(before: Content, shown: Content, trouble: ClusterTrouble | None) -> Content:
    """Add what blocks; what was known before stays while the cluster is in the same state."""
    if trouble is not None:
        blocking = trouble.blocking if shown.state is not State.CURRENT else None
        return shown._replace(blocking=blocking, namespaces=trouble.namespaces, trouble_known=True)
    if before.state is shown.state and before.code is None:
        return shown._replace(
            blocking=before.blocking,
            namespaces=before.namespaces,
            trouble_known=before.trouble_known,
        )
    return shown
