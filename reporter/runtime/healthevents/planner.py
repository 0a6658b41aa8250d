"""
The plan of the store, made from the episodes and objects of this moment.
"""

from collections.abc import Mapping
from datetime import datetime

from reporter.model.kinds.productionstack.health_event_writes import StoreLimits
from reporter.model.kinds.productionstack.health_events import HealthEvent
from reporter.model.observations import NotServed, NotSynced
from reporter.runtime.announcing.announcements import Announcements
from reporter.stages.healthevents.capacity import StorePlace
from reporter.stages.healthevents.ends import Ends
from reporter.stages.healthevents.plan import Plan, PlanInput, make_plan
from reporter.stages.healthevents.wanted import NameFunc, WantedCache
from reporter.stages.healthevents.writes import PlanMemory
from reporter.stages.store.written_objects import WrittenObjectStore


class StorePlanner:
    """
    *name_of*: returns the name of the object of an Event and a node.
    """

    def __init__(
        self,
        objects: WrittenObjectStore[HealthEvent],
        announcements: Announcements,
        limits: StoreLimits,
        name_of: NameFunc,
    ) -> None:
        self._objects, self._announcements = objects, announcements
        self._limits, self._name_of = limits, name_of
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
        )
        plan = make_plan(given, self._memory, now=now)
        self._memory = plan.memory
        return plan

    def forget(self) -> None:
        """
        Forget what was seen: another process leads from now on.
        """
        self._memory = PlanMemory()
        self._wanted = WantedCache(self._name_of)
