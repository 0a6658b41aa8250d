"""
What the pages of pods said and when.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, unique
from math import isnan

from reporter.model.kinds.core.pods import Pod


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
class ScrapedMetrics:
    """
    The wanted samples of one page. *engine*: whether it has families of vLLM's engine.
    """

    scraped_at: datetime
    samples: tuple[Sample, ...] = ()
    has_engine_metrics: bool = False

    def max_value(self, name: str) -> float | None:
        """
        Of all series of that name, as a process of many has one for each; None if none is a number.
        """
        values = (sample.value for sample in self.samples if sample.name == name)
        return max((value for value in values if not isnan(value)), default=None)


@dataclass(frozen=True, slots=True)
class FailedScrape:
    """
    An attempt that brought no page.
    """

    failed_at: datetime
    why: str


@dataclass(frozen=True, slots=True)
class ContainerRun:
    """
    One run of a pod's containers: neither a replaced pod nor a restarted one has its past.
    """

    pod_uid: str
    restart_count: int

    @classmethod
    def of_pod(cls, pod: Pod) -> "ContainerRun":
        statuses = pod.status.container_statuses or ()
        return cls(pod.metadata.uid, sum(status.restart_count for status in statuses))


@dataclass(frozen=True, slots=True)
class ScrapeHistory:
    """
    What one life of a pod has said of late, oldest first.

    *risen*: when each metric was first above zero in this life. *unread*: the last attempt,
    if it brought no page.
    """

    run: ContainerRun
    scrapes: tuple[ScrapedMetrics, ...] = ()
    first_positive: Mapping[str, datetime] = field(default_factory=dict)
    last_failure: FailedScrape | None = None
