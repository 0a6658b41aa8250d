"""Samples read from the metrics pages of pods, and the recent history of each."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum, unique
from math import isnan
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.kinds.core import Pod
from reporter.scrape.readings import EngineReadings


@unique
class ScrapeResult(StrEnum):
    """The outcome of one attempt to read the metrics page of a pod."""

    READ = "read"
    REFUSED = "refused"  # nothing listens at the port
    UNREACHABLE = "unreachable"  # no connection: no route to it, or packets are dropped
    TIMED_OUT = "timed_out"  # connected, but no whole page in time
    FAILED = "failed"  # an answer other than 200, or none
    UNUSABLE = "unusable"  # a redirect, compressed, or not a metrics page
    TOO_COSTLY = "too_costly"  # more bytes, lines, samples or time than reading a page may cost
    FORBIDDEN = "forbidden"  # RBAC denies the API server's proxy to pods
    BARRED = "barred"  # an address that is never read


COUNT_SUFFIX = "_count"
"""The suffix of the one sample that is read of a histogram or summary: how many values it has observed."""

NOT_APART = timedelta(0)

OWN_LIMITS = frozenset({ScrapeResult.TOO_COSTLY, ScrapeResult.FORBIDDEN, ScrapeResult.BARRED})
"""
The results that are limits or missing permissions of the reader, and say nothing about the pod.
"""


class ScrapeError(Exception):
    """No usable page; *result* is the class of failure, *why* the text for people."""

    def __init__(self, result: ScrapeResult, why: str) -> None:
        super().__init__(why)
        self.result = result
        self.why = why


class Sample(Struct, frozen=True):
    """One line of the Prometheus text format, without its timestamp and exemplar."""

    name: str
    labels: Mapping[str, str]
    value: float


class ScrapedSeries(NamedTuple):
    """The name and the labels of a time series, which identify it."""

    name: str
    labels: Mapping[str, str]


T = TypeVar("T")


class SeriesList:
    """The series of a page, in its order. A page has the same ones each time, so pages share the list."""

    __slots__ = ("_derived", "entries")

    def __init__(self, series: Iterable[ScrapedSeries] = ()) -> None:
        self.entries: Sequence[ScrapedSeries] = tuple(series)
        self._derived: dict[Hashable, Any] = {}

    def derive(self, key: Hashable, make: Callable[[Sequence[ScrapedSeries]], T]) -> T:
        """Return what *make* makes of the series. It is called once for each *key*."""
        if key not in self._derived:
            self._derived[key] = make(self.entries)
        found: T = self._derived[key]
        return found


class PageSamples(Struct, frozen=True, eq=False):
    """The samples of one page: the *values* of some series."""

    series: SeriesList
    values: Sequence[float]

    @classmethod
    def from_samples(cls, samples: Iterable[Sample]) -> "PageSamples":
        """Return the same samples, of a list of series of their own."""
        every = tuple(samples)
        series = SeriesList(ScrapedSeries(each.name, each.labels) for each in every)
        return cls(series, tuple(each.value for each in every))

    def __iter__(self) -> Iterator[Sample]:
        for (name, labels), value in zip(self.series.entries, self.values, strict=True):
            yield Sample(name, labels, value)

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageSamples) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self.values))


NO_SAMPLES = PageSamples(SeriesList(), ())


class ScrapedMetrics(Struct, frozen=True):
    """
    The samples of one page that one scrape asked for.

    *present_prefixes*: those of the scrape's prefixes with which the name of some family begins.
    *apart*: how far apart the pages of the pod are read, where that is more than the interval.
    """

    scraped_at: datetime
    samples: PageSamples = NO_SAMPLES
    present_prefixes: frozenset[str] = frozenset()
    apart: timedelta = NOT_APART

    def longest_gap(self, usual: timedelta) -> timedelta:
        """
        Return the longest distance from the page before within which the pod counts as observed.

        *usual*: that of pages that are read every interval.
        """
        return max(usual, 2 * self.apart)

    def max_value(self, name: str) -> float | None:
        """
        Return the highest value of all series of this name; None if none is a number.

        A server of several processes has one series for each of them.
        """
        values = (sample.value for sample in self.samples if sample.name == name)
        return max((value for value in values if not isnan(value)), default=None)


class FailedScrape(Struct, frozen=True):
    """
    An attempt that brought no usable page.

    *failures*, *since*: the attempts in a row that failed, and the first of them. Only those count
    between which some other page was read: what fails with all others is no fault of this pod. Nor do
    those of OWN_LIMITS count.
    *others_read*: another page was read since the attempt before.
    """

    failed_at: datetime
    why: str
    result: ScrapeResult = ScrapeResult.FAILED
    failures: int = 1
    since: datetime | None = None
    others_read: bool = True

    @property
    def lasted(self) -> timedelta:
        """The time from the first of *failures* to the last."""
        return self.failed_at - (self.since or self.failed_at)


class ContainerRun(Struct, frozen=True):
    """One run of a pod's containers; a replaced pod or a restarted container begins another."""

    pod_uid: str
    restart_count: int

    @classmethod
    def of_pod(cls, pod: Pod) -> "ContainerRun":
        """Return the present run of a pod, by its UID and the restarts of its main containers."""
        return cls(pod.metadata.uid, _count_restarts(pod))

    def is_of(self, pod: Pod) -> bool:
        """Return whether this is the present run of a pod."""
        return self.pod_uid == pod.metadata.uid and self.restart_count == _count_restarts(pod)


def _count_restarts(pod: Pod) -> int:
    # A loop, as a pass comes here for each page of each pod.
    restarts = 0
    for status in pod.status.container_statuses or ():
        restarts += status.restart_count
    return restarts


class ScrapeHistory(Struct, frozen=True):
    """
    The recent scrapes of one container run, oldest first.

    *first_positive*: when each metric was first above zero in this run. *last_failure*: the last
    attempt, if it failed. *engines*: the few numbers that are kept instead of scrapes of a server
    that runs for days.
    """

    run: ContainerRun
    scrapes: tuple[ScrapedMetrics, ...] = ()
    first_positive: Mapping[str, datetime] = field(default_factory=dict)
    last_failure: FailedScrape | None = None
    engines: EngineReadings | None = None


def add_scrape(
    history: ScrapeHistory, scrape: ScrapedMetrics, *, retention: timedelta
) -> ScrapeHistory:
    """
    Append a scrape and drop those older than *retention*, except the youngest of these.

    The one kept beyond the retention makes the window full whatever the distance of two scrapes.
    Of each name the highest value is kept: a pod may send a thousand series with long labels.
    """
    scrape = _keep_highest(scrape)
    before = [each for each in history.scrapes if each.scraped_at < scrape.scraped_at]
    expired = sum(each.scraped_at <= scrape.scraped_at - retention for each in before)
    positive = {sample.name for sample in scrape.samples if sample.value > 0}
    new_positive = dict.fromkeys(positive - history.first_positive.keys(), scrape.scraped_at)
    return replace(
        history,
        scrapes=(*before[max(expired - 1, 0) :], scrape),
        first_positive={**history.first_positive, **new_positive},
        last_failure=None,
    )


def _keep_highest(scrape: ScrapedMetrics) -> ScrapedMetrics:
    highest = {name: scrape.max_value(name) for name in {each.name for each in scrape.samples}}
    samples = (
        Sample(name, {}, value) for name, value in sorted(highest.items()) if value is not None
    )
    return replace(scrape, samples=PageSamples.from_samples(samples))


def add_scrape_failure(
    history: ScrapeHistory, failure: FailedScrape, *, last_read_at: datetime | None = None
) -> ScrapeHistory:
    """
    Return the history with a failed attempt. FailedScrape says which attempts in a row count.

    *last_read_at*: when the page of any pod was last read; None if none was.
    """
    before, since = history.last_failure, failure.failed_at
    if before is None:
        return replace(history, last_failure=replace(failure, since=since))
    others_read = last_read_at is not None and last_read_at >= before.failed_at
    counted = replace(failure, since=since, others_read=others_read)
    if others_read and before.result not in OWN_LIMITS:
        counted = replace(counted, failures=before.failures + 1, since=before.since)
    return replace(history, last_failure=counted)


def keep_latest(history: ScrapeHistory, scrape: ScrapedMetrics) -> ScrapeHistory:
    """Replace the history by its newest scrape."""
    return replace(history, scrapes=(scrape,), last_failure=None)
