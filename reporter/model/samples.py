"""
What the pages of pods said and when.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, unique
from math import isnan

from reporter.model.objects import Pod


@unique
class ScrapeResult(StrEnum):
    """
    How one attempt to read a pod's page ended.
    """

    READ = "read"
    REFUSED = "refused"  # nothing listens at the port
    UNREACHABLE = "unreachable"  # no connection: no route to it, or packets are dropped
    TIMED_OUT = "timed_out"  # connected, but no whole page in time
    FAILED = "failed"  # an answer other than 200, or none
    UNUSABLE = "unusable"  # a redirect, too large, compressed, or no page of metrics
    FORBIDDEN = "forbidden"  # the API server does not let us through to pods
    BARRED = "barred"  # an address that is never read


@dataclass(frozen=True, slots=True)
class Sample:
    """
    One line of a page in the Prometheus text format, without its timestamp and exemplar.
    """

    name: str
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Scrape:
    """
    The wanted samples of one page. *engine*: whether it has families of vLLM's engine.
    """

    at: datetime
    samples: tuple[Sample, ...] = ()
    engine: bool = False

    def highest(self, name: str) -> float | None:
        """
        Of all series of that name, as a process of many has one for each; None if none is a number.
        """
        values = (sample.value for sample in self.samples if sample.name == name)
        return max((value for value in values if not isnan(value)), default=None)


@dataclass(frozen=True, slots=True)
class Unread:
    """
    An attempt that brought no page.
    """

    at: datetime
    why: str


@dataclass(frozen=True, slots=True)
class Life:
    """
    One run of a pod's containers: neither a replaced pod nor a restarted one has its past.
    """

    uid: str
    restarts: int

    @classmethod
    def of(cls, pod: Pod) -> "Life":
        statuses = pod.status.container_statuses or ()
        return cls(pod.metadata.uid, sum(status.restart_count for status in statuses))


@dataclass(frozen=True, slots=True)
class Window:
    """
    What one life of a pod has said of late, oldest first.

    *risen*: when each metric was first above zero in this life. *unread*: the last attempt,
    if it brought no page.
    """

    life: Life
    scrapes: tuple[Scrape, ...] = ()
    risen: Mapping[str, datetime] = field(default_factory=dict)
    unread: Unread | None = None
