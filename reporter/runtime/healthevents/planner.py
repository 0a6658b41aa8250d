"""The plan of the store, made from the episodes and objects of this moment."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

from reporter.model.kinds.base.objects import NamespacedName
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.health_event_writes import StoreLimits
from reporter.model.kinds.productionstack.health_events import HealthEvent
from reporter.model.observations import NotServed, NotSynced, WatchState
from reporter.runtime.announcing.announcements import Announcements
from reporter.stages.healthevents.capacity import StorePlace
from reporter.stages.healthevents.ends import Ends
from reporter.stages.healthevents.plan import Plan, PlanInput, make_plan
from reporter.stages.healthevents.wanted import NameFunc, WantedCache
from reporter.stages.healthevents.writes import Json, PlanMemory


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
