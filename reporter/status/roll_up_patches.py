"""The desired status of each object, looked at again only if it or what it is about has changed."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol, TypeAlias

from reporter.kinds.objects import NamespacedName
from reporter.kinds.productionstack import ProductionStackStatus, StatusScope
from reporter.kube.decoding import Json
from reporter.model.subjects import Subject
from reporter.rollup.desired import (
    DesiredStatus,
    evaluation_interval,
    make_desired,
    make_patch,
)
from reporter.rollup.document import StatusView
from reporter.rollup.records import RollUp
from reporter.status.object_plan import ObjectWrite, PendingObject, WrittenStatuses
from reporter.store.written_objects import WrittenObjectStore


OBJECTS_BETWEEN_YIELDS = 50


Revision: TypeAlias = tuple[int, Mapping[Subject, str], tuple[str, ...]]


class _Kept(NamedTuple):
    found: ProductionStackStatus
    revision: Revision
    desired: DesiredStatus


class RollUpSource(Protocol):
    """The cache of the roll-up, as far as the writer of ProductionStackStatuses needs it."""

    def view(self) -> StatusView:
        """Return the roll-up of this moment with its rules, which later passes do not change."""
        ...

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* after each change of the roll-up, from now on."""
        ...


class RollUpPatches:
    """
    The statuses that ProductionStackStatuses are to have, made from the roll-up of this moment.

    *release_namespace*: the only one whose objects may ask about the cluster. *resync*: the longest time
    between two evaluations.
    """

    def __init__(
        self,
        objects: WrittenObjectStore[ProductionStackStatus],
        rollups: RollUpSource,
        release_namespace: str,
        *,
        resync: timedelta,
    ) -> None:
        self._objects, self._rollups = objects, rollups
        self._release_namespace, self._resync = release_namespace, resync
        self._kept: dict[NamespacedName, _Kept] = {}
        self._written = WrittenStatuses()

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* after each change of the roll-up; the plan follows the objects itself."""
        self._rollups.subscribe(on_change)

    def written(self, name: NamespacedName, after: ProductionStackStatus, desired: Json) -> bool:
        """
        Remember the object *after* a write of *desired*. Return False if its CRD dropped a part of it.
        """
        return self._written.add(name, after, desired)

    async def find_pending(self, *, now: datetime) -> tuple[list[PendingObject], datetime | None]:
        """
        Return the objects to write, now or later, and when time alone changes what they are to have.

        Before the first pass there are none: a status of an earlier process is still the best known.
        """
        view = self._rollups.view()
        objects = dict(self._objects.objects)
        self._kept = {name: each for name, each in self._kept.items() if name in objects}
        self._written.keep_only(objects)
        if not view.rollup.revision:
            return [], None
        pending: list[PendingObject] = []
        deadlines: list[datetime] = []
        interval, evaluated_at = evaluation_interval(len(objects)), view.rollup.evaluated_at
        for number, (name, found) in enumerate(objects.items(), start=1):
            desired = self.desired_of(name, found, view, now=now)
            if desired.deadline is not None:
                deadlines.append(desired.deadline)
            if desired.status is not None:
                due = self._written.pend(
                    name,
                    found,
                    desired.status,
                    interval=interval,
                    evaluated_at=evaluated_at,
                    now=now,
                )
                pending.append(due)
            if not number % OBJECTS_BETWEEN_YIELDS:
                await asyncio.sleep(0)
        return pending, min(deadlines, default=None)

    def desired_of(
        self,
        name: NamespacedName,
        found: ProductionStackStatus,
        view: StatusView,
        *,
        now: datetime,
    ) -> DesiredStatus:
        """
        Return the status that a ProductionStackStatus is to have, from *view*.

        The last one is kept, and returned again while the object and its subjects have not changed and
        its deadline is not over.
        """
        kept, revision = self._kept.get(name), _revision_of(found, view.rollup)
        if (
            kept is not None
            and kept.found is found
            and kept.revision == revision
            and (kept.desired.deadline is None or now < kept.desired.deadline)
        ):
            return kept.desired
        memory = kept.desired.memory if kept is not None else None
        desired = make_desired(found, view, self._release_namespace, memory, now=now)
        self._kept[name] = _Kept(found, revision, desired)
        return desired

    def make_write(
        self, name: NamespacedName, found: ProductionStackStatus, *, now: datetime
    ) -> ObjectWrite | None:
        """
        Return the status for the object *found* and its patch, from the roll-up of this moment.

        None before the object can be judged: the status that it has is then left as it is.
        """
        view = self._rollups.view()
        desired = self.desired_of(name, found, view, now=now).status
        if desired is None:
            return None
        patch = make_patch(
            found,
            desired,
            evaluated_at=view.rollup.evaluated_at,
            interval=evaluation_interval(len(self._objects.objects)),
            stands=self._resync,
        )
        return ObjectWrite(desired, patch)


def _revision_of(found: ProductionStackStatus, rollup: RollUp) -> Revision:
    """
    Return a value that changes with the desired status, if time and the object itself do not.

    It has the revision of what the object is about, what cannot be listed and why, and missing permissions.
    """
    record = rollup.namespaces.get(found.metadata.namespace)
    number = rollup.revision
    if record is not None and found.spec.scope is StatusScope.NAMESPACE:
        number = record.revision
    return number, rollup.evaluation.known_subjects.unknown, rollup.missing_rights
