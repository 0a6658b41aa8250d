"""
The statuses to write: which start now, and which wait for how long.

Reads no clock and does no I/O. Changes go before renewed times of evaluation.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from reporter.model.kinds.base.objects import NamespacedName
from reporter.runtime.announcing.write_limits import WriteLimits
from reporter.stages.announcing.rate_limit import TokenBucket
from reporter.stages.rollup.objects.wanted import Json


MAX_CONCURRENT_WRITES = 4


class WriteRate(NamedTuple):
    """The writes a second on average, and at once."""

    per_second: float = 2.0
    burst: float = 20.0


DEFAULT_RATE = WriteRate()


class PendingObject(NamedTuple):
    """
    One object to write; the first in order is the most important.

    *is_renewal*: only its time of evaluation is to be written.
    """

    is_renewal: bool
    due_at: datetime
    name: NamespacedName


class ObjectWrite(NamedTuple):
    """A status to write, whole and as a patch."""

    wanted: Json
    patch: Json


class ObjectQueue(WriteLimits[NamespacedName]):
    """The limits of writes of statuses."""

    def __init__(
        self, *, now: datetime, jitter: Callable[[], float], rate: WriteRate = DEFAULT_RATE
    ) -> None:
        bucket = TokenBucket(now, rate.per_second, rate.burst, rate.burst)
        super().__init__(bucket, max_in_flight=MAX_CONCURRENT_WRITES, jitter=jitter)

    def take_due(
        self, pending: Iterable[PendingObject], *, now: datetime
    ) -> tuple[list[NamespacedName], datetime | None]:
        """
        Return the objects to write now, which are in flight from here on, and when to look again.
        """
        return self.start_due(((each.name, each.due_at) for each in sorted(pending)), now=now)

    def keep_only(self, existing: Mapping[NamespacedName, object]) -> None:
        """Forget the back-offs of objects that are not there any longer."""
        self.keep_backoffs(lambda name, _: name in existing)
