"""
The desired status of each ProductionStackCluster, rendered again only if it or its cluster has changed.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from reporter.hub.document import FleetView, confirmed_at, render_status
from reporter.hub.fleet_cache import RENEWAL_SPACING, FleetCache
from reporter.kinds.objects import NamespacedName
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.kube.decoding import Json
from reporter.rollup.desired import evaluation_interval, make_patch
from reporter.status.object_plan import ObjectWrite, PendingObject, WrittenStatuses
from reporter.status.roll_up_patches import OBJECTS_BETWEEN_YIELDS
from reporter.store.written_objects import WrittenObjectStore


class _Kept(NamedTuple):
    found: ProductionStackCluster
    revision: int
    desired: Json


class FleetPatches:
    """
    The desired status of each object, as of the last look at the fleet.

    There is none before the first round, and while the status of an earlier process stands.
    """

    def __init__(
        self, objects: WrittenObjectStore[ProductionStackCluster], fleet: FleetCache
    ) -> None:
        self._objects, self._fleet = objects, fleet
        self._kept: dict[NamespacedName, _Kept] = {}
        self._written = WrittenStatuses()

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* after each change of the fleet; the plan follows the objects itself."""
        self._fleet.subscribe(on_change)

    def written(self, name: NamespacedName, after: ProductionStackCluster, desired: Json) -> bool:
        """
        Remember the object *after* a write. Return False if its CRD has dropped a part of *desired*.
        """
        return self._written.add(name, after, desired)

    async def find_pending(self, *, now: datetime) -> tuple[list[PendingObject], datetime | None]:
        """
        Return the objects to write, now or later, and None: only a fold, and no time alone, changes them.
        """
        objects = dict(self._objects.objects)
        self._kept = {name: each for name, each in self._kept.items() if name in objects}
        self._written.keep_only(objects)
        view, pending = self._fleet.view(), []
        interval = evaluation_interval(len(objects), spacing=RENEWAL_SPACING)
        for number, (name, found) in enumerate(objects.items(), start=1):
            desired = self._look(name, found, view, now=now)
            if desired is not None:
                record = view.fleet.clusters[name[1]]
                evaluated_at = confirmed_at(record, view, now=now)
                due = self._written.pend(
                    name, found, desired, interval=interval, evaluated_at=evaluated_at, now=now
                )
                pending.append(due)
            if not number % OBJECTS_BETWEEN_YIELDS:
                await asyncio.sleep(0)
        return pending, None

    def _look(
        self,
        name: NamespacedName,
        found: ProductionStackCluster,
        view: FleetView,
        *,
        now: datetime,
    ) -> Json | None:
        record = view.fleet.clusters.get(name[1])
        if record is None or record.is_carried_over:
            return None  # the status that is there stands, with all that it says
        spec = found.spec
        if (record.label, record.expected_uid) != (spec.cluster_label, spec.cluster_uid):
            return None  # the spec changed a moment ago
        kept = self._kept.get(name)
        if kept is not None and kept.found is found and kept.revision == record.revision:
            return kept.desired
        entry = view.cluster(name[1])
        if entry is None:
            return None
        desired = render_status(found, entry, now=now)
        self._kept[name] = _Kept(found, record.revision, desired)
        return desired

    def make_write(
        self, name: NamespacedName, found: ProductionStackCluster, *, now: datetime
    ) -> ObjectWrite | None:
        """
        Return the status for the object *found* and its patch, from the fleet of this moment.

        None leaves its status as it is: the cluster is not in the fleet yet, the status of an earlier
        process still stands, or the spec has changed since the last fold.
        """
        view = self._fleet.view()
        desired = self._look(name, found, view, now=now)
        record = view.fleet.clusters.get(name[1])
        if desired is None or record is None:
            return None
        patch = make_patch(
            found,
            desired,
            evaluated_at=confirmed_at(record, view, now=now),
            interval=evaluation_interval(len(self._objects.objects), spacing=RENEWAL_SPACING),
            stands=timedelta(seconds=view.rules.stale),
            reported=record.evaluated,
        )
        return ObjectWrite(desired, patch)
