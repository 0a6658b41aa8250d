"""The desired status of each ProductionStackCluster, made from the fleet."""

from datetime import datetime, timedelta

from reporter.hub.document import FleetView, confirmed_at, render_status
from reporter.hub.fleet_cache import RENEWAL_SPACING
from reporter.hub.records import FleetRules
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.rollup.desired import DesiredStatus, ObjectMemory
from reporter.status.object_plan import Basis, DesiredStatuses


class ClusterStatuses(DesiredStatuses[ProductionStackCluster, FleetView]):
    """The statuses that ProductionStackClusters are to have; only a fold, and no time alone, changes them."""

    spacing = RENEWAL_SPACING

    def __init__(self, rules: FleetRules) -> None:
        self.stands = timedelta(seconds=rules.stale)

    def revision(self, view: FleetView) -> object:
        """Return the revision of the fleet with when it was confirmed, which notifies nobody."""
        return view.fleet.revision, view.answered_at

    def basis(
        self, found: ProductionStackCluster, view: FleetView, *, now: datetime
    ) -> Basis | None:
        """
        Return the revision of the cluster, with when it was confirmed.

        None if the cluster is not in the fleet yet, the status of an earlier process still stands with
        all that it says, or the spec has changed since the last fold.
        """
        record, spec = view.fleet.clusters.get(found.metadata.name), found.spec
        if record is None or record.is_carried_over:
            return None
        if (record.label, record.expected_uid) != (spec.cluster_label, spec.cluster_uid):
            return None
        return Basis(record.revision, confirmed_at(record, view, now=now), record.evaluated)

    def make(
        self,
        found: ProductionStackCluster,
        view: FleetView,
        memory: ObjectMemory | None,
        *,
        now: datetime,
    ) -> DesiredStatus:
        """Return the status from the entry of the cluster; nothing of it is remembered."""
        entry = view.cluster(found.metadata.name)
        status = render_status(found, entry, now=now) if entry is not None else None
        return DesiredStatus(None, status)
