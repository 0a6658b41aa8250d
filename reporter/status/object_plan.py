"""The plan by which the leader writes the statuses of the objects of one kind."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
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
from reporter.process.subscribers import Subscribers
from reporter.rollup.desired import (
    DesiredStatus,
    ObjectMemory,
    change_due_at,
    evaluation_interval,
    is_outdated,
    make_patch,
    renewal_due_at,
    share_values,
)
from reporter.status.agenda import Agenda, Pending
from reporter.store.written_objects import WrittenObjectStore


DEFAULT_RATE = WriteRate(2.0, 20.0, in_flight=4)

OBJECTS_BETWEEN_YIELDS = 50

ABOUT = 0.01
"""The share by which an interval of renewals may differ from that of the objects that there are."""

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=StatusObject)
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


# --------------------------------------------------------------------
# The statuses that objects are to have.


class ViewSource(Protocol[V_co]):
    """The source of what the statuses of a kind are made from, such as the cache of the roll-up."""

    def view(self) -> V_co:
        """Return what is known at this moment; later changes leave it as it is."""
        ...

    @property
    def changes(self) -> Subscribers[[]]:
        """The subscribers to notify after each change of what is known."""
        ...


class Basis(NamedTuple):
    """
    The part of a view that the status of one object rests on.

    *revision*: equal as long as the same status is desired, if time and the object itself do not change.
    *evaluated_at*: the moment of the last evaluation; None before the first one. *reported*: the Unix
    time of it that the status shows; None if it shows none.
    """

    revision: object
    evaluated_at: datetime | None
    reported: float | None = None


class DesiredStatuses(ABC, Generic[T, V]):
    """
    The decision about the status of each object of a kind, for a StatusObjectPlan.

    *spacing*: the mean time between two renewals, of whatever object. *stands*: how long a status
    remains right without a new evaluation.
    """

    spacing: timedelta
    stands: timedelta

    @abstractmethod
    def revision(self, view: V) -> object:
        """
        Return a value that differs whenever the basis of an object may, unless time or that object changed it.
        """

    @abstractmethod
    def basis(self, found: T, view: V, *, now: datetime) -> Basis | None:
        """Return what the status of an object rests on; None leaves its status as it is."""

    @abstractmethod
    def make(
        self, found: T, view: V, memory: ObjectMemory | None, *, now: datetime
    ) -> DesiredStatus:
        """
        Return the status of an object that has a basis.

        It is kept until the basis has another revision, the object changes or its deadline is over.
        *memory*: that of the last call; None for the first.
        """


class _Look(NamedTuple, Generic[T]):
    """The last look at the object *found*."""

    found: T
    basis: Basis
    desired: DesiredStatus

    def still_holds(self, found: T, basis: Basis, *, now: datetime) -> bool:
        """Return whether the same status is desired as of *now*, so that it need not be made again."""
        if self.found is not found or self.basis.revision != basis.revision:
            return False
        return self.desired.deadline is None or now < self.desired.deadline


# --------------------------------------------------------------------
# Writes.


class _Planned(NamedTuple):
    """
    The state of all that a plan was made from. *objects*, *statuses*: their revisions.

    *interval*: between renewals of an object.
    """

    objects: int
    statuses: object
    interval: timedelta
    at: datetime

    def is_continued_by(self, after: "_Planned") -> bool:
        """Return whether nothing but objects differs *after* it, and the clock was not set back."""
        is_same = (self.statuses, self.interval) == (after.statuses, after.interval)
        return is_same and self.at <= after.at


class StatusWrite(NamedTuple, Generic[T]):
    """
    A write of the object *found*. *version*: the API version to use.

    *desired*: all of the status but for times of evaluation. *patch*: the JSON merge patch that leads
    there from the status of the object.
    """

    found: T
    version: str
    desired: Json
    patch: Json


async def write_status(client: ObjectClient[T], write: StatusWrite[T]) -> T:
    """Patch the status subresource, and return the object as it is then. Raises KubeErrors."""
    return await client.patch(write.found, write.patch, version=write.version)


class _Written(NamedTuple):
    """The status that the API server made of a write of the *desired* one."""

    status: Json | None
    desired: Json


class _Changed(NamedTuple, Generic[T]):
    """An object that somebody changed since the watch showed it. *until*: when it is tried again."""

    found: T
    until: datetime


class StatusObjectPlan(WritePlan[NamespacedName, StatusWrite[T], T], Generic[T, V]):
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
        source: ViewSource[V],
        statuses: DesiredStatuses[T, V],
        *,
        kind: ResourceKind,
        count_write: Callable[[WriteObjectResult], None],
        rate: WriteRate = DEFAULT_RATE,
    ) -> None:
        self._objects, self._source, self._statuses = objects, source, statuses
        self._kind, self._count_write, self.rate = kind, count_write, rate
        self._looks: dict[NamespacedName, _Look[T]] = {}
        self._agenda = Agenda()
        # None before the first plan, during one, and after one that was not finished.
        self._planned: _Planned | None = None
        self._finished: set[NamespacedName] = set()
        # The CRD of an earlier release drops fields that it does not have. Without its last write
        # an object would be written again and again.
        self._written: dict[NamespacedName, _Written] = {}
        self._changed: dict[NamespacedName, _Changed[T]] = {}
        self._is_pruned = False
        quiet = {WriteFailure.CONFLICT, WriteFailure.GONE, WriteFailure.THROTTLED}
        self._failures: WriteFailures[NamespacedName] = WriteFailures("status objects", quiet)

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* after each change of an object, or of what its status is made from."""
        self._objects.changes.subscribe(on_change)
        self._source.changes.subscribe(on_change)

    def count_failing(self, writer: LeaderWriter[NamespacedName, StatusWrite[T], T]) -> int:
        """
        Return the number of objects whose last write failed; all of them after a fault of the writer.
        """
        return len(self._objects.objects if writer.is_faulty else self._failures.keys)

    async def find_due(self, *, now: datetime) -> DueWrites[NamespacedName]:
        """
        Return the objects to write now, the most important first, and when to look at others again.

        An object in conflict waits until the watch shows the change of the other writer, or for a pause.
        """
        await self._look_again(now=now)
        objects, agenda = self._objects.objects, self._agenda
        # Once the watch has shown the change of somebody else, nothing needs to wait.
        self._changed = {
            name: each for name, each in self._changed.items() if objects.get(name) is each.found
        }
        # A write that ended during this plan may have been the one that is due.
        waiting = {
            each.name: min(each.due_at, now)
            for each in sorted(agenda.due.values())
            if each.name not in self._finished
        }
        for name, changed in self._changed.items():
            if name in waiting:
                waiting[name] = max(waiting[name], changed.until)
        self._failures.keep_only(objects)
        return DueWrites(waiting, agenda.next_time)

    async def _look_again(self, *, now: datetime) -> None:
        """
        Look at the objects that may have to be written at another time than at the last look.

        Other tasks run in between, as there may be thousands of objects.
        """
        objects, view = self._objects.objects, self._source.view()
        revision, interval = self._statuses.revision(view), self._interval_to_plan_with()
        begun = _Planned(self._objects.revision, revision, interval, now)
        for number, name in enumerate(self._begin(begun, objects), start=1):
            self._schedule(name, objects.get(name), view, interval, now=now)
            if not number % OBJECTS_BETWEEN_YIELDS:
                await asyncio.sleep(0)
        self._planned = begun

    def _begin(
        self, begun: _Planned, objects: Mapping[NamespacedName, T]
    ) -> Collection[NamespacedName]:
        """
        Return the objects to look at: all of them, unless only objects have changed since the last plan.

        Then it is those, the ones whose write has ended, and those whose time has come.
        """
        before, self._planned = self._planned, None
        finished, self._finished = self._finished, set()
        if before is not None and before.is_continued_by(begun):
            changed = self._objects.changed_since(before.objects)
            if changed is not None:
                return changed | finished | self._agenda.pop_reached(now=begun.at)
        self._agenda = Agenda()
        self._looks = {name: each for name, each in self._looks.items() if name in objects}
        self._written = {name: each for name, each in self._written.items() if name in objects}
        return tuple(objects)

    def _schedule(
        self, name: NamespacedName, found: T | None, view: V, interval: timedelta, *, now: datetime
    ) -> None:
        """
        Put an object on the agenda, or forget one that is gone. Without a status to write, no failure counts.
        """
        look, pending, deadline = None, None, None
        if found is None:
            self._looks.pop(name, None)
            self._written.pop(name, None)
        else:
            look = self._look(name, found, view, now=now)
        if look is not None:
            deadline = look.desired.deadline
            if look.desired.status is not None:
                pending = self._pend(name, look, look.desired.status, interval, now=now)
        if pending is None:
            self._failures.remove(name)
        self._agenda.put(name, pending, deadline, now=now)

    def _interval_to_plan_with(self) -> timedelta:
        """Return that of the last plan while it is about right, as another one changes all renewals."""
        interval, before = self._renewal_interval(), self._planned
        if before is not None and abs(interval - before.interval) <= before.interval * ABOUT:
            return before.interval
        return interval

    def _renewal_interval(self) -> timedelta:
        return evaluation_interval(len(self._objects.objects), spacing=self._statuses.spacing)

    def _look(self, name: NamespacedName, found: T, view: V, *, now: datetime) -> _Look[T] | None:
        """
        Return what an object is to have as of now, made again only if the last look does not hold.

        None leaves its status as it is.
        """
        basis = self._statuses.basis(found, view, now=now)
        if basis is None:
            return None
        before = self._looks.get(name)
        if before is not None and before.still_holds(found, basis, now=now):
            desired = before.desired
        else:
            memory = before.desired.memory if before is not None else None
            desired = share_values(
                self._statuses.make(found, view, memory, now=now), found.status or {}
            )
        look = self._looks[name] = _Look(found, basis, desired)
        return look

    def _pend(
        self,
        name: NamespacedName,
        look: _Look[T],
        desired: Json,
        interval: timedelta,
        *,
        now: datetime,
    ) -> Pending:
        """
        Return the object with when to write it: as a change if its status is outdated, else as a renewal.
        """
        found = look.found
        is_done = self._written.get(name) == _Written(found.status, desired)
        if is_outdated(found, desired) and not is_done:
            return Pending(False, change_due_at(found, desired, now=now), name)
        evaluated_at = look.basis.evaluated_at
        due_at = renewal_due_at(found, interval, evaluated_at=evaluated_at, now=now)
        return Pending(True, due_at, name)

    def render(self, name: NamespacedName, *, now: datetime) -> StatusWrite[T] | AfterTry:
        """
        Return the write of an object as of now.

        DONE if the object was deleted, its CRD is not served, or its status is to stay as it is.
        """
        found, version = self._objects.objects.get(name), self._objects.served_version(self._kind)
        if found is None or version is None:
            return AfterTry.DONE
        look = self._look(name, found, self._source.view(), now=now)
        if look is None or look.desired.status is None:
            return AfterTry.DONE
        patch = make_patch(
            found,
            look.desired.status,
            evaluated_at=look.basis.evaluated_at,
            interval=self._renewal_interval(),
            stands=self._statuses.stands,
            reported=look.basis.reported,
        )
        return StatusWrite(found, version, look.desired.status, patch)

    def written(self, attempt: Attempt[NamespacedName, StatusWrite[T]], result: T) -> AfterTry:
        """
        Count a success, and store the answer of the API server ahead of the watch.

        Log once if the CRD drops a part of the status.
        """
        write = attempt.write
        self._count_write(WriteObjectResult.WRITTEN)
        self._failures.remove(attempt.key)
        if is_outdated(result, write.desired):
            self._written[attempt.key] = _Written(result.status, write.desired)
            self._report_pruned()
        else:
            self._written.pop(attempt.key, None)
        self._objects.written(write.found, result)
        return AfterTry.DONE

    def _report_pruned(self) -> None:
        if not self._is_pruned:
            self._is_pruned = True
            logger.warning(
                "the CRD of status objects drops a part of what is written; is it of an earlier"
                " release? The CRD of this one is in the chart"
            )

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

    def finished(self, key: NamespacedName) -> None:
        """Let the next plan look at the object again."""
        self._finished.add(key)

    def on_fault(self) -> None:
        """Count a fault of this program, as one write with the result FAILED."""
        self._count_write(WriteObjectResult.FAILED)

    def stand_down(self) -> None:
        """Forget conflicts and failures: the next term of leadership begins without them."""
        self._changed.clear()
        self._failures.keep_only(())
