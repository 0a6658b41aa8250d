"""
The wanted status of each object, looked at again only if it or what it is about has changed.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from reporter.model.enums import Layer
from reporter.model.kinds.base.objects import NamespacedName
from reporter.model.kinds.productionstack.statuses import ProductionStackStatus, StatusScope
from reporter.runtime.rollup.object_queue import ObjectWrite, PendingObject
from reporter.stages.rollup.document import StatusView
from reporter.stages.rollup.objects.answers import AnswerRules
from reporter.stages.rollup.objects.wanted import (
    Json,
    ObjectLook,
    change_due_at,
    evaluation_interval,
    is_outdated,
    look_at,
    make_patch,
    renewal_due_at,
)
from reporter.stages.rollup.records import RollUp
from reporter.stages.store.written_objects import WrittenObjectStore


OBJECTS_BETWEEN_YIELDS = 50


Revision: TypeAlias = tuple[int, Mapping[Layer, str]]


class _Kept(NamedTuple):
    found: ProductionStackStatus
    revision: Revision
    look: ObjectLook


class _Written(NamedTuple):
    status: Json | None
    wanted: Json


class ObjectLooks:
    """
    The last look at each object.
    """

    def __init__(
        self, objects: WrittenObjectStore[ProductionStackStatus], rules: AnswerRules
    ) -> None:
        self._objects, self._rules = objects, rules
        self._kept: dict[NamespacedName, _Kept] = {}
        self._written: dict[NamespacedName, _Written] = {}

    async def find_pending(
        self, view: StatusView, *, now: datetime
    ) -> tuple[list[PendingObject], datetime | None]:
        """
        Return the objects to write, now or later, and when time alone changes what they are to have.

        Before the first pass there are none: a status of an earlier process is still the best known.
        """
        objects = dict(self._objects.objects)
        self._kept = {name: each for name, each in self._kept.items() if name in objects}
        self._written = {name: each for name, each in self._written.items() if name in objects}
        if not view.rollup.revision:
            return [], None
        pending: list[PendingObject] = []
        deadlines: list[datetime] = []
        interval = evaluation_interval(len(objects))
        for number, (name, found) in enumerate(objects.items(), start=1):
            look = self.look(name, found, view, now=now)
            if look.deadline is not None:
                deadlines.append(look.deadline)
            if look.wanted is not None:
                is_change = self._is_change(name, found, look.wanted)
                evaluated_at = view.rollup.evaluated_at
                due_at = (
                    change_due_at(found, look.wanted, now=now)
                    if is_change
                    else renewal_due_at(found, interval, evaluated_at=evaluated_at, now=now)
                )
                pending.append(PendingObject(not is_change, due_at, name))
            if not number % OBJECTS_BETWEEN_YIELDS:
                await asyncio.sleep(0)
        return pending, min(deadlines, default=None)

    def look(
        self,
        name: NamespacedName,
        found: ProductionStackStatus,
        view: StatusView,
        *,
        now: datetime,
    ) -> ObjectLook:
        """
        Return the status that an object is to have.
        """
        kept, revision = self._kept.get(name), _revision_of(found, view.rollup)
        if (
            kept is not None
            and kept.found is found
            and kept.revision == revision
            and (kept.look.deadline is None or now < kept.look.deadline)
        ):
            return kept.look
        memory = kept.look.memory if kept is not None else None
        look = look_at(found, view, self._rules, memory, now=now)
        self._kept[name] = _Kept(found, revision, look)
        return look

    def written(self, name: NamespacedName, after: ProductionStackStatus, wanted: Json) -> bool:
        """
        Remember what the API server made of a write; return whether it is what was written.

        The CRD of an earlier release drops fields that it does not have. Without this they would be
        written again and again.
        """
        self._written[name] = _Written(after.status, wanted)
        return not is_outdated(after, wanted)

    def _is_change(self, name: NamespacedName, found: ProductionStackStatus, wanted: Json) -> bool:
        is_done = self._written.get(name) == _Written(found.status, wanted)
        return is_outdated(found, wanted) and not is_done


def _revision_of(found: ProductionStackStatus, rollup: RollUp) -> Revision:
    """
    Return what changes with what the object is about, and with what cannot be listed.
    """
    record = rollup.namespaces.get(found.metadata.namespace)
    number = rollup.revision
    if record is not None and found.spec.scope is StatusScope.NAMESPACE:
        number = record.revision
    return number, rollup.evaluation.known_subjects.unknown_layers


class RollUpSource(Protocol):
    def view(self) -> StatusView: ...

    async def next_change(self) -> None: ...


class RollUpLooks:
    """
    The wanted status of each object, from the roll-up of this moment.
    """

    def __init__(
        self,
        objects: WrittenObjectStore[ProductionStackStatus],
        rollups: RollUpSource,
        rules: AnswerRules,
    ) -> None:
        self._looks, self._rollups = ObjectLooks(objects, rules), rollups
        self.next_change, self.written = rollups.next_change, self._looks.written

    async def find_pending(self, *, now: datetime) -> tuple[list[PendingObject], datetime | None]:
        return await self._looks.find_pending(self._rollups.view(), now=now)

    def make_write(
        self, name: NamespacedName, found: ProductionStackStatus, *, now: datetime
    ) -> ObjectWrite | None:
        view = self._rollups.view()
        wanted = self._looks.look(name, found, view, now=now).wanted
        if wanted is None:
            return None
        evaluated_at = view.rollup.evaluated_at
        return ObjectWrite(wanted, make_patch(found, wanted, evaluated_at=evaluated_at))
