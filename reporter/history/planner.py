"""The plan of the store, made from the episodes and objects of this moment."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

from reporter.announcing.announcements import Announcements
from reporter.announcing.rate_limit import TokenBucket
from reporter.announcing.write_queue import WriteLimits
from reporter.history.capacity import StorePlace
from reporter.history.ends import Ends
from reporter.history.plan import Plan, PlanInput, make_plan
from reporter.history.wanted import NameFunc, WantedCache
from reporter.history.writer import Write
from reporter.history.writes import Create, Json, Patch, PlanMemory
from reporter.kinds.health_events import HealthEvent, StoreLimits
from reporter.kinds.objects import NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.errors import KubeError, Throttled, Unreachable
from reporter.model.observations import NotServed, NotSynced, WatchState


# --------------------------------------------------------------------
# The writes of the store that start now, and those that wait.


MAX_CONCURRENT_WRITES = 4
WRITES_PER_SECOND, BURST = 5.0, 20.0


class StoreQueue(WriteLimits[str]):
    """The limits of writes of HealthEvents, by the name of the object."""

    def __init__(self, *, now: datetime, jitter: Callable[[], float]) -> None:
        bucket = TokenBucket(now, WRITES_PER_SECOND, BURST, BURST)
        super().__init__(bucket, max_in_flight=MAX_CONCURRENT_WRITES, jitter=jitter)

    def take(self, plan: Plan, *, now: datetime) -> tuple[list[Write], datetime | None]:
        """
        Return the writes to start now, which are in flight from here on, and when to look again.
        """
        writes = writes_of(plan)
        self.keep_backoffs(lambda name, _: name in writes)
        due, wake_at = self.start_due(((name, now) for name in writes), now=now)
        return [writes[name] for name in due], wake_at

    def write_failed(self, name: str, err: KubeError | None, *, now: datetime) -> None:
        """Let a write wait; None: it found an object that is not shown yet."""
        asked = err.retry_after if isinstance(err, Throttled | Unreachable) else None
        self.failed(name, now=now, retry_after=asked)


def writes_of(plan: Plan) -> Mapping[str, Write]:
    """
    Return the writes of a plan by name, the most important first: new episodes, changes, deletions.
    """
    writes: tuple[Write, ...] = (*plan.creates, *plan.patches, *plan.deletes)
    return {name_of(each): each for each in writes}


def name_of(write: Write) -> str:
    match write:
        case Create():
            return write.name
        case Patch():
            return write.found.metadata.name
        case HealthEvent():
            return write.metadata.name


class HeldObjects(Protocol):
    """The objects of this program in the cluster, as a watch shows them."""

    @property
    def watch_state(self) -> WatchState: ...

    @property
    def objects(self) -> Mapping[NamespacedName, HealthEvent]: ...

    @property
    def undecodable(self) -> frozenset[NamespacedName]: ...

    @property
    def unfit(self) -> frozenset[str]:
        """The objects that are not as they were meant."""

    def served_version(self, kind: ResourceKind, /) -> str | None: ...

    def subscribe(self, on_change: Callable[[], None]) -> None: ...


class StorePlanner:
    """
    Makes plans for one backend.

    *name_of*: returns the name of the object of an Event and a node; "" if none is kept.
    *has_course*: objects show other causes and suffixes of their episodes. *dropped*: returns the
    silences that the CRD has no field for, by object.
    """

    def __init__(
        self,
        objects: HeldObjects,
        announcements: Announcements,
        limits: StoreLimits,
        name_of: NameFunc,
        *,
        has_course: bool = True,
        dropped: Callable[[], Mapping[str, Json]] = dict,
    ) -> None:
        self._objects, self._announcements = objects, announcements
        self._limits, self._name_of = limits, name_of
        self._has_course, self._dropped = has_course, dropped
        self._wanted = WantedCache(name_of)
        self._memory = PlanMemory()

    def plan(self, creating: Mapping[str, str], *, now: datetime) -> Plan | None:
        """
        Return what is to be written; None before the objects were listed, or all was evaluated once.

        *creating*: the node of each object that is being created.
        """
        objects, announcements = self._objects, self._announcements
        if isinstance(objects.watch_state, NotSynced | NotServed) or not announcements.is_complete:
            return None
        context = announcements.publish_context()
        if context.evaluation.evaluated_at is None:
            return None
        held = {name: each for (_, name), each in objects.objects.items()}
        unread = {name: "" for _, name in objects.undecodable}
        given = PlanInput(
            self._wanted.update(context),
            held,
            Ends(context),
            self._limits,
            context.settings.delays.settle,
            [StorePlace(*each) for each in {**unread, **creating}.items() if each[0] not in held],
            has_course=self._has_course,
            dropped=self._dropped(),
            unfit=objects.unfit,
        )
        plan = make_plan(given, self._memory, now=now)
        self._memory = plan.memory
        return plan

    def forget(self) -> None:
        """Forget what was seen: another process leads from now on."""
        self._memory = PlanMemory()
        self._wanted = WantedCache(self._name_of)
