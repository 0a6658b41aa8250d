"""
The HealthEvents that are to be created, resolved and deleted now, as one plan of the writer of a leader.

It only follows the episodes: no Event waits for it, whatever becomes of its writes.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

from reporter.announcing.announcements import Announcements
from reporter.history.capacity import StorePlace
from reporter.history.desired import DesiredCache
from reporter.history.ends import EndFinder
from reporter.history.existing import Create, Patch, PlanInput, PlanMemory
from reporter.history.plan import Plan, make_plan
from reporter.history.writer import EpisodeBackend, PlannedWrite, Write
from reporter.kinds.health_events import HealthEvent, StoreLimit, StoreLimits, StoreWriteResult
from reporter.kube.errors import Conflict, KubeError, WriteFailure, failure_of
from reporter.kube.leader_writer import AfterTry, Attempt, DueWrites, WriteFailures, WritePlan
from reporter.kube.write_limits import WriteRate
from reporter.model.observations import NotServed, NotSynced, Watching


QUIET = frozenset({WriteFailure.CONFLICT, WriteFailure.THROTTLED})


class StoreReport(Protocol):
    """Shows others what became of the store's writes, for the metrics."""

    def count_store_write(self, result: StoreWriteResult, /) -> None:
        """Count a write to the store by its result, a failure included."""

    def count_rejected(self, limit: StoreLimit, /) -> None:
        """Count an episode for which a limit has no place, once until it gets one."""


class StorePlan(WritePlan[str, PlannedWrite, StoreWriteResult]):
    """
    The writes of one backend, by the name of the object.

    *on_rejections* is called when the objects change that the limits have no place for.
    """

    operation = "write HealthEvent"
    rate = WriteRate(5.0, 20.0, in_flight=4)
    pause = 0.5
    fault = "HealthEvents cannot be written"

    def __init__(
        self,
        backend: EpisodeBackend,
        announcements: Announcements,
        limits: StoreLimits,
        *,
        report: StoreReport,
        on_rejections: Callable[[Mapping[str, StoreLimit]], None] = lambda _: None,
    ) -> None:
        self._backend, self._announcements, self._limits = backend, announcements, limits
        self._report, self._on_rejections = report, on_rejections
        self._desired, self._memory = DesiredCache(backend.name_of), PlanMemory()
        self._writes: Mapping[str, Write] = {}
        self._creating: dict[str, str] = {}
        self._rejected: dict[str, StoreLimit] = {}
        self._failures: WriteFailures[str] = WriteFailures("HealthEvents", QUIET)

    @property
    def is_up(self) -> bool:
        """Return whether the objects are watched and the last write of each has succeeded."""
        return isinstance(self._backend.objects.watch_state, Watching) and not self._failures.keys

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* when an object or an episode has changed."""
        self._backend.objects.changes.subscribe(on_change)
        self._announcements.changes.subscribe(on_change)

    async def find_due(self, *, now: datetime) -> DueWrites[str]:
        """
        Return the writes that are due at once; none before all is listed and evaluated once.

        An object without a place is reported, not written. The deadline is that of retention and pauses.
        """
        plan = self.make(now=now)
        if plan is None:
            return DueWrites({})
        self._writes = writes_of(plan)
        self._failures.keep_only(self._writes)
        self._note_rejections({each.name: each.limit for each in plan.rejections})
        return DueWrites(dict.fromkeys(self._writes, now), plan.deadline)

    def make(self, *, now: datetime) -> Plan | None:
        """
        Return what is to be written; None before the objects were listed, or all was evaluated once.
        """
        backend, objects = self._backend, self._backend.objects
        if isinstance(objects.watch_state, NotSynced | NotServed):
            return None
        context = self._announcements.publish_context()
        if not self._announcements.is_complete or context.evaluation.evaluated_at is None:
            return None
        existing = {name: each for (_, name), each in objects.objects.items()}
        places = {**{name: "" for _, name in objects.undecodable}, **self._creating}
        given = PlanInput(
            self._desired.update(context),
            existing,
            EndFinder(context),
            self._limits,
            context.settings.delays.settle,
            [StorePlace(*each) for each in places.items() if each[0] not in existing],
            has_course=backend.has_course,
            dropped=backend.dropped,
            unfit=objects.unfit,
        )
        plan = make_plan(given, self._memory, now=now)
        self._memory = plan.memory
        return plan

    def _note_rejections(self, rejected: dict[str, StoreLimit]) -> None:
        """Count what the limits have no place for, once until it has one."""
        for name in rejected.keys() - self._rejected.keys():
            self._report.count_rejected(rejected[name])
        if rejected != self._rejected:
            self._rejected = rejected
            self._on_rejections(rejected)

    def render(self, name: str, *, now: datetime) -> PlannedWrite | AfterTry:
        """
        Return the write with the API version to use; DONE if the CRD is not served any more.

        A new object counts as a place that is taken from now on, as the watch does not show it at once.
        """
        write = self._writes[name]
        version = self._backend.objects.served_version(self._backend.kind)
        if version is None:
            return AfterTry.DONE
        if isinstance(write, Create):
            self._creating[name] = write.node
        return PlannedWrite(write, version)

    def written(self, attempt: Attempt[str, PlannedWrite], result: StoreWriteResult) -> AfterTry:
        """
        Count the write. An object that was there already is looked at again once the watch shows it.
        """
        self._report.count_store_write(result)
        self._failures.remove(attempt.key)
        # What was found is not shown by the watch yet.
        return AfterTry.RETRY if result is StoreWriteResult.FOUND else AfterTry.DONE

    def failed(self, attempt: Attempt[str, PlannedWrite], err: KubeError) -> AfterTry:
        """
        Count and log the failure, which is tried again.

        A Conflict is not logged, as the watch will show the newer object.
        """
        self._report.count_store_write(StoreWriteResult(failure_of(err)))
        self._failures.add(attempt.key, err, "a HealthEvent")
        if isinstance(err, Conflict):
            self._failures.remove(attempt.key)
        return AfterTry.RETRY

    def finished(self, key: str) -> None:
        """
        Give up the place reserved for a new object: the watch shows it, or it was not created.
        """
        self._creating.pop(key, None)

    def on_fault(self) -> None:
        """Count the fault of this program as a write that failed."""
        self._report.count_store_write(StoreWriteResult.FAILED)

    def stand_down(self) -> None:
        """Forget the memory of this leader and withdraw what the limits had rejected."""
        self._desired, self._memory = DesiredCache(self._backend.name_of), PlanMemory()
        self._creating.clear()
        self._failures.keep_only(())
        self._note_rejections({})


def writes_of(plan: Plan) -> Mapping[str, Write]:
    """
    Return the writes of a plan by name, the most important first: new episodes, changes, deletions.
    """
    writes: tuple[Write, ...] = (*plan.creates, *plan.patches, *plan.deletes)
    return {_name_of(each): each for each in writes}


def _name_of(write: Write) -> str:
    match write:
        case Create():
            return write.name
        case Patch():
            return write.found.metadata.name
        case HealthEvent():
            return write.metadata.name
