"""The writes of the store that start now, and those that wait."""

from collections.abc import Callable, Mapping
from datetime import datetime

from reporter.kube.errors import KubeError, Throttled, Unreachable
from reporter.model.kinds.productionstack.health_events import HealthEvent
from reporter.runtime.announcing.write_limits import WriteLimits
from reporter.runtime.healthevents.writer import Write
from reporter.stages.announcing.rate_limit import TokenBucket
from reporter.stages.healthevents.plan import Plan
from reporter.stages.healthevents.writes import Create, Patch


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
