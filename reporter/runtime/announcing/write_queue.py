"""
The writes that are pending in this process: which start now, and which wait for how long.

Reads no clock and does no I/O.
"""

from collections.abc import Callable
from datetime import datetime

from reporter.model.subjects import FindingKey
from reporter.runtime.announcing.write_limits import WriteLimits, retry_at
from reporter.stages.announcing.rate_limit import TokenBucket
from reporter.stages.announcing.schedule import PendingWrite, PublishContext
from reporter.stages.evaluation.evaluation import Evaluation


MAX_CONCURRENT_WRITES = 8


class WriteQueue(WriteLimits[FindingKey]):
    """The pending writes by key, within the limits of writes."""

    def __init__(self, *, now: datetime, jitter: Callable[[], float]) -> None:
        super().__init__(TokenBucket(now), max_in_flight=MAX_CONCURRENT_WRITES, jitter=jitter)
        self._pending: dict[FindingKey, PendingWrite] = {}
        self._finished: set[FindingKey] = set()
        self._scheduled: Evaluation | None = None

    def update(self, context: PublishContext, *, now: datetime) -> None:
        """
        Schedule everything anew after an Evaluation, and after a write only its key, as the last.

        A write that failed keeps its place. A backoff is forgotten once its key is no longer due.
        """
        pending = self._pending
        if context.evaluation is not self._scheduled:
            pending = {write.key: write for write in context.pending_writes(now=now)}
            self._scheduled = context.evaluation
        else:
            for key in self._finished:
                write = context.pending_write(key, now=now)
                if write is None or write.due_at > now:
                    pending.pop(key, None)
                if write is not None:
                    pending[key] = write
        self._pending = pending
        self._finished.clear()
        self.keep_backoffs(lambda key, backoff: key in pending or retry_at(backoff) > now)

    def take_due(self, *, now: datetime) -> tuple[list[FindingKey], datetime | None]:
        """
        Return the keys to write now, which are in flight from here on, and when to look again.
        """
        return self.start_due(
            ((write.key, write.due_at) for write in self._pending.values()), now=now
        )

    def finished(self, key: FindingKey) -> None:
        super().finished(key)
        self._finished.add(key)

    def schedule_anew(self) -> None:
        """Schedule everything at the next update, even if the Evaluation is the same."""
        self._scheduled = None
