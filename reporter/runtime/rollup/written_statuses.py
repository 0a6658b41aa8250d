"""The statuses that were written, which decide what is due of an object: a change or a renewal."""

from collections.abc import Container
from datetime import datetime, timedelta
from typing import NamedTuple

from reporter.model.kinds.base.objects import NamespacedName
from reporter.model.kinds.productionstack.status_object import StatusObject
from reporter.runtime.rollup.object_queue import PendingObject
from reporter.stages.rollup.objects.wanted import (
    Json,
    change_due_at,
    is_outdated,
    renewal_due_at,
)


class _Written(NamedTuple):
    status: Json | None
    wanted: Json


class WrittenStatuses:
    """
    The last write of each object, with what the API server made of it.

    The CRD of an earlier release drops fields that it does not have. Without this they would be
    written again and again.
    """

    def __init__(self) -> None:
        self._by_name: dict[NamespacedName, _Written] = {}

    def keep_only(self, existing: Container[NamespacedName]) -> None:
        self._by_name = {name: each for name, each in self._by_name.items() if name in existing}

    def add(self, name: NamespacedName, after: StatusObject, wanted: Json) -> bool:
        """Remember what the API server made of a write; return whether it is what was written."""
        self._by_name[name] = _Written(after.status, wanted)
        return not is_outdated(after, wanted)

    def pend(
        self,
        name: NamespacedName,
        found: StatusObject,
        wanted: Json,
        *,
        interval: timedelta,
        evaluated_at: datetime | None,
        now: datetime,
    ) -> PendingObject:
        """
        Return when to write the object. *interval*: between two renewals of its time of evaluation.
        """
        is_done = self._by_name.get(name) == _Written(found.status, wanted)
        if is_outdated(found, wanted) and not is_done:
            return PendingObject(False, change_due_at(found, wanted, now=now), name)
        due_at = renewal_due_at(found, interval, evaluated_at=evaluated_at, now=now)
        return PendingObject(True, due_at, name)
