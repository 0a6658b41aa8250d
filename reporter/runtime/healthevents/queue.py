"""
The writes of the store that start now, and those that wait.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from reporter.kube.wire.errors import KubeError, Throttled, Unreachable
from reporter.model.kinds.productionstack.health_events import HealthEvent
from reporter.runtime.healthevents.writer import Write
from reporter.runtime.rollup.object_queue import ObjectQueue, PendingObject
from reporter.stages.announcing.rate_limit import TokenBucket
from reporter.stages.healthevents.plan import Plan
from reporter.stages.healthevents.writes import Create, Patch


WRITES_PER_SECOND, BURST = 5.0, 20.0

_STEP = timedelta(microseconds=1)


class StoreQueue(ObjectQueue):
    """
    The objects in flight, the back-offs after failures and a token bucket of its own.
    """

    def __init__(self, *, now: datetime, jitter: Callable[[], float]) -> None:
        super().__init__(now=now, jitter=jitter)
        self._bucket = TokenBucket(now, WRITES_PER_SECOND, BURST, BURST)

    def take(self, plan: Plan, *, now: datetime) -> tuple[list[Write], datetime | None]:
        """
        Return the writes to start now, and when to look again. Those before are more important.
        """
        writes = writes_of(plan)
        # The queue takes what is due longest first.
        first = now - len(writes) * _STEP
        pending = [
            PendingObject(False, first + place * _STEP, ("", name))
            for place, name in enumerate(writes)
        ]
        self.keep_only({each.name: each for each in pending})
        due, wake_at = self.take_due(pending, now=now)
        return [writes[name] for _, name in due], wake_at

    def write_finished(self, name: str) -> None:
        self.finished(("", name))

    def write_succeeded(self, name: str) -> None:
        self.succeeded(("", name))

    def write_failed(self, name: str, err: KubeError | None, *, now: datetime) -> None:
        """
        Let a write wait; None: it ended with the lease, or found an object that is not shown yet.
        """
        asked = err.retry_after if isinstance(err, Throttled | Unreachable) else None
        self.failed(("", name), now=now, retry_after=asked)


def writes_of(plan: Plan) -> Mapping[str, Write]:
    """
    Return the writes of a plan by name: new episodes first, then changes, then deletions.
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
