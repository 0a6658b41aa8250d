"""The plan by which the leader writes the statuses of the objects of one kind."""

import logging
from collections.abc import Callable, Container
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, Protocol, TypeVar

from reporter.controller.reread_schedule import reread_interval
from reporter.kinds.objects import NamespacedName
from reporter.kinds.productionstack import StatusObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.decoding import Json
from reporter.kube.errors import Conflict, KubeError, WriteFailure, failure_of
from reporter.kube.leader_writer import (
    AfterTry,
    Attempt,
    DueWrites,
    LeaderWriter,
    WriteFailures,
    WritePlan,
)
from reporter.kube.object_client import ObjectClient
from reporter.kube.write_limits import MAX_PAUSE, WriteRate
from reporter.model.object_status import WriteObjectResult
from reporter.rollup.desired import (
    change_due_at,
    is_outdated,
    renewal_due_at,
)
from reporter.store.written_objects import WrittenObjectStore


DEFAULT_RATE = WriteRate(2.0, 20.0, in_flight=4)

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=StatusObject)
T_contra = TypeVar("T_contra", bound=StatusObject, contravariant=True)


class PendingObject(NamedTuple):
    """
    One object to write; the first in order is the most important.

    *is_renewal*: only its time of evaluation is to be written.
    """

    is_renewal: bool
    due_at: datetime
    name: NamespacedName


class ObjectWrite(NamedTuple):
    """
    The status to write: *desired* is all of it but for times of evaluation.

    *patch*: the JSON merge patch that leads there from the status of the object.
    """

    desired: Json
    patch: Json


# --------------------------------------------------------------------
# The statuses that were written, which decide what is due of an object: a change or a renewal.


class _Written(NamedTuple):
    status: Json | None
    desired: Json


class WrittenStatuses:
    """
    The last write of each object, with what the API server made of it.

    The CRD of an earlier release drops fields that it does not have. Without this they would be
    written again and again.
    """

    def __init__(self) -> None:
        self._by_name: dict[NamespacedName, _Written] = {}

    def keep_only(self, existing: Container[NamespacedName]) -> None:
        """Forget the writes of objects that were deleted: those not in *existing*."""
        self._by_name = {name: each for name, each in self._by_name.items() if name in existing}

    def add(self, name: NamespacedName, after: StatusObject, desired: Json) -> bool:
        """Remember what the API server made of a write; return whether it is what was written."""
        self._by_name[name] = _Written(after.status, desired)
        return not is_outdated(after, desired)

    def pend(
        self,
        name: NamespacedName,
        found: StatusObject,
        desired: Json,
        *,
        interval: timedelta,
        evaluated_at: datetime | None,
        now: datetime,
    ) -> PendingObject:
        """
        Return the object with when to write it: as a change if its status is outdated, else as a renewal.

        *interval*: between two renewals of its time of evaluation. *evaluated_at*: the moment of the last
        evaluation; None before the first one.
        """
        is_done = self._by_name.get(name) == _Written(found.status, desired)
        if is_outdated(found, desired) and not is_done:
            return PendingObject(False, change_due_at(found, desired, now=now), name)
        due_at = renewal_due_at(found, interval, evaluated_at=evaluated_at, now=now)
        return PendingObject(True, due_at, name)


class PendingPatches(Protocol[T_contra]):
    """
    The source of the statuses that the objects of one kind are to have, for a StatusObjectPlan.
    """

    async def find_pending(self, *, now: datetime) -> tuple[list[PendingObject], datetime | None]:
        """
        Return the objects to write now or later, and the moment from which time alone changes that.

        The moment is None if only a change of an object or of its subjects can.
        """
        ...

    def make_write(
        self, name: NamespacedName, found: T_contra, *, now: datetime
    ) -> ObjectWrite | None:
        """Return the write of the object *found* as of now; None leaves its status as it is."""
        ...

    def written(self, name: NamespacedName, after: T_contra, desired: Json) -> bool:
        """
        Remember the object *after* a write of *desired*, as the API server answered.

        Return False if the API server dropped a part, as the CRD of an earlier release makes it do.
        """
        ...

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """
        Call *on_change* whenever *find_pending* may have another answer, unless an object itself changed.
        """
        ...


class StatusWrite(NamedTuple, Generic[T]):
    """A write of the object *found*. *version*: the API version to use."""

    found: T
    version: str
    content: ObjectWrite


class _Changed(NamedTuple, Generic[T]):
    """An object that somebody changed since the watch showed it. *until*: when it is tried again."""

    found: T
    until: datetime


class StatusObjectPlan(WritePlan[NamespacedName, StatusWrite[T], T]):
    """
    The plan that writes the status of each object of a kind that is outdated, or due to be renewed.

    *count_write* is called with the result of every request to write a status.
    """

    operation = "write status of"
    pause = 0.2
    fault = "status objects cannot be written"

    def __init__(
        self,
        objects: WrittenObjectStore[T],
        patches: PendingPatches[T],
        client: ObjectClient[T],
        *,
        kind: ResourceKind,
        count_write: Callable[[WriteObjectResult], None],
        rate: WriteRate = DEFAULT_RATE,
    ) -> None:
        self._objects, self._patches, self._kind = objects, patches, kind
        self._client, self._count_write, self.rate = client, count_write, rate
        self._changed: dict[NamespacedName, _Changed[T]] = {}
        self._is_pruned = False
        quiet = {WriteFailure.CONFLICT, WriteFailure.GONE, WriteFailure.THROTTLED}
        self._failures: WriteFailures[NamespacedName] = WriteFailures("status objects", quiet)

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* after each change of an object, or of what its status is made from."""
        self._objects.subscribe(on_change)
        self._patches.subscribe(on_change)

    def count_failing(self, writer: LeaderWriter[NamespacedName, StatusWrite[T], T]) -> int:
        """
        Return the number of objects whose last write failed; all of them after a fault of the writer.
        """
        return len(self._objects.objects if writer.is_faulty else self._failures.keys)

    async def find_due(self, *, now: datetime) -> DueWrites[NamespacedName]:
        """
        Return the outdated objects with the time of each write, the most important first.

        An object in conflict waits until the watch shows the change of the other writer, or for a pause.
        """
        pending, deadline = await self._patches.find_pending(now=now)
        objects = self._objects.objects
        # Once the watch has shown the change of somebody else, nothing needs to wait.
        self._changed = {
            name: each for name, each in self._changed.items() if objects.get(name) is each.found
        }
        waiting = {}
        for each in sorted(pending):
            changed = self._changed.get(each.name)
            waiting[each.name] = max(each.due_at, changed.until) if changed else each.due_at
        self._failures.keep_only(waiting)
        return DueWrites(waiting, deadline)

    def render(self, name: NamespacedName, *, now: datetime) -> StatusWrite[T] | AfterTry:
        """
        Return the write of an object as of now.

        DONE if the object was deleted, its CRD is not served, or its status is to stay as it is.
        """
        found, version = self._objects.objects.get(name), self._objects.served_version(self._kind)
        if found is None or version is None:
            return AfterTry.DONE
        content = self._patches.make_write(name, found, now=now)
        return AfterTry.DONE if content is None else StatusWrite(found, version, content)

    async def write(self, write: StatusWrite[T]) -> T:
        """Patch the status subresource, and return the object as it is then. Raises KubeErrors."""
        return await self._client.patch(write.found, write.content.patch, version=write.version)

    def written(self, attempt: Attempt[NamespacedName, StatusWrite[T]], result: T) -> AfterTry:
        """
        Count a success, and store the answer of the API server ahead of the watch.

        Log once if the CRD drops a part of the status.
        """
        write = attempt.write
        self._count_write(WriteObjectResult.WRITTEN)
        self._failures.remove(attempt.key)
        is_whole = self._patches.written(attempt.key, result, write.content.desired)
        if not is_whole and not self._is_pruned:
            self._is_pruned = True
            logger.warning(
                "the CRD of status objects drops a part of what is written; is it of an earlier"
                " release? The CRD of this one is in the chart"
            )
        self._objects.written(write.found, result)
        return AfterTry.DONE

    def failed(self, attempt: Attempt[NamespacedName, StatusWrite[T]], err: KubeError) -> AfterTry:
        """
        Count a failure, and return RETRY; a conflict is DONE.

        After a conflict the object is due again after a pause that depends on its age, or once the watch
        shows the change.
        """
        self._count_write(WriteObjectResult(failure_of(err)))
        self._failures.add(attempt.key, err, "the status of {}/{}".format(*attempt.key))
        if not isinstance(err, Conflict):
            return AfterTry.RETRY
        # A conflict is no fault, so the pause does not grow.
        found, now = attempt.write.found, attempt.at
        pause = reread_interval(now - (found.metadata.creation_timestamp or now))
        self._changed[attempt.key] = _Changed(found, now + min(pause, MAX_PAUSE))
        return AfterTry.DONE

    def on_fault(self) -> None:
        """Count a fault of this program, as one write with the result FAILED."""
        self._count_write(WriteObjectResult.FAILED)

    def stand_down(self) -> None:
        """Forget conflicts and failures: the next term of leadership begins without them."""
        self._changed.clear()
        self._failures.keep_only(())
