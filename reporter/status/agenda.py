"""The objects whose status is to be written, and the times at which others may have to be. Pure."""

from datetime import UTC, datetime
from heapq import heappop, heappush
from typing import NamedTuple

from reporter.kinds.objects import NamespacedName


AT_ONCE = datetime.max.replace(tzinfo=UTC)
"""The time of a write that is due whenever it is looked at; those that were due earlier have priority."""


class Pending(NamedTuple):
    """
    One object to write; the first in order is the most important.

    *is_renewal*: only its time of evaluation is to be written.
    """

    is_renewal: bool
    due_at: datetime
    name: NamespacedName


class Agenda:
    """The objects to write now, which are *due*, and the times at which to look at others again."""

    def __init__(self) -> None:
        self.due: dict[NamespacedName, Pending] = {}
        self._times: dict[NamespacedName, datetime] = {}
        # A heap. An object with another time since has two entries, of which one counts.
        self._queue: list[tuple[datetime, NamespacedName]] = []

    def put(
        self,
        name: NamespacedName,
        pending: Pending | None,
        deadline: datetime | None,
        *,
        now: datetime,
    ) -> None:
        """Replace what is known of an object. *deadline*: when time alone may change it."""
        self.due.pop(name, None)
        times = [] if deadline is None else [deadline]
        if pending is not None and pending.due_at > now:
            times.append(pending.due_at)
        elif pending is not None:
            is_overdue = pending.due_at < now
            self.due[name] = pending if is_overdue else pending._replace(due_at=AT_ONCE)
        if not times:
            self._times.pop(name, None)
        elif self._times.get(name) != min(times):
            self._times[name] = min(times)
            heappush(self._queue, (min(times), name))

    def pop_reached(self, *, now: datetime) -> set[NamespacedName]:
        """Return the objects whose time has come."""
        reached = set()
        while self._queue and self._queue[0][0] <= now:
            at, name = heappop(self._queue)
            if self._times.get(name) == at:
                del self._times[name]
                reached.add(name)
        return reached

    @property
    def next_time(self) -> datetime | None:
        """The time of the next object to look at again, or an earlier one."""
        return self._queue[0][0] if self._queue else None
