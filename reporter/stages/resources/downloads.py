"""
Whether a download is slow, told from all that a pod said of it within a window.

What KAITO's pods say (presets/workspace/inference/vllm/inference_api.py): the speed is a mean over
ten seconds. Before the first byte, for a streamed model for ever, and while nothing arrives, speed
is 0 and what remains is -1; when all is there, what remains is 0 and the speed stays as it last was.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum, unique

from reporter.model.samples import FailedScrape, ScrapedMetrics, ScrapeHistory


REMAINING_SECONDS_METRIC = "kaito_model_download_remaining_seconds"
ENGINE_METRIC_PREFIX = "vllm:"
"""
How the families of vLLM's engine begin; they are there once the model is loaded.
"""

MEGABYTE = 1e6

SCRAPE_TOLERANCE = timedelta(seconds=10)
"""
How much later than two intervals a sample may be and still be the next one.
"""


@dataclass(frozen=True, slots=True)
class DownloadRules:
    """
    *speed*: name of the metric. *slow_below*: bytes a second. *interval*: between two scrapes.
    """

    speed_metric: str
    window: timedelta
    scrape_interval: timedelta
    slow_below: float

    @property
    def max_gap(self) -> timedelta:
        """
        Of two samples further apart, nobody knows what was between them.
        """
        return 2 * self.scrape_interval + SCRAPE_TOLERANCE


@unique
class DownloadState(StrEnum):
    """
    What a window says of a download.
    """

    NOT_SCRAPED = "unread"  # no page was read in this life
    NO_METRIC = "absent"  # its page does not tell the speed
    SLOW_SO_FAR = "filling"  # slow so far, but not for as long as the window
    NOT_STARTED = "not begun"
    FAST = "fast"
    FINISHED = "finished"
    SLOW = "slow"
    STALLED = "stalled"  # slow, and nothing arrived at all

    @property
    def is_known(self) -> bool:
        return self not in {
            DownloadState.NOT_SCRAPED,
            DownloadState.NO_METRIC,
            DownloadState.SLOW_SO_FAR,
        }

    @property
    def is_slow(self) -> bool:
        return self in {DownloadState.SLOW, DownloadState.STALLED}


@dataclass(frozen=True, slots=True)
class Download:
    """
    *at*: of the newest sample, *since*: of the oldest of those that are slow without a break.

    *speed*, *worst*: now and the lowest of these, in bytes a second. *remaining*: at this speed.
    """

    state: DownloadState
    sampled_at: datetime | None = None
    slow_since: datetime | None = None
    speed: float = 0.0
    lowest_speed: float = 0.0
    remaining_time: timedelta | None = None

    @property
    def remaining_bytes(self) -> float | None:
        """
        Bytes that have not arrived, as far as that can be told.
        """
        return (
            None
            if self.remaining_time is None
            else self.remaining_time.total_seconds() * self.speed
        )


def add_scrape(
    window: ScrapeHistory, scrape: ScrapedMetrics, *, retention: timedelta
) -> ScrapeHistory:
    """
    The window with one more scrape.

    Of those older than *keep* the youngest stays, so that a window is full at any tick.
    """
    before = [each for each in window.scrapes if each.scraped_at < scrape.scraped_at]
    old = sum(each.scraped_at <= scrape.scraped_at - retention for each in before)
    positive = {sample.name for sample in scrape.samples if sample.value > 0}
    risen = dict.fromkeys(positive - window.first_positive.keys(), scrape.scraped_at)
    return replace(
        window,
        scrapes=(*before[max(old - 1, 0) :], scrape),
        first_positive={**window.first_positive, **risen},
        last_failure=None,
    )


def add_scrape_failure(window: ScrapeHistory, unread: FailedScrape) -> ScrapeHistory:
    return replace(window, last_failure=unread)


def evaluate_download(window: ScrapeHistory, rules: DownloadRules) -> Download:
    """
    What the pages that were read say, whether or not the last attempt brought one.
    """
    if not window.scrapes:
        return Download(DownloadState.NOT_SCRAPED)
    newest, began = window.scrapes[-1], _download_started_at(window, rules)
    slow = list(_slow_scrapes(window, rules, began=began))
    speeds = [_reported_speed(scrape, rules) or 0.0 for scrape in slow]
    return Download(
        state=_download_state(window, rules, slow, began=began),
        sampled_at=newest.scraped_at,
        slow_since=slow[-1].scraped_at if slow else None,
        speed=_reported_speed(newest, rules) or 0.0,
        lowest_speed=min(speeds, default=0.0),
        remaining_time=_reported_remaining_time(newest),
    )


def _download_state(
    window: ScrapeHistory,
    rules: DownloadRules,
    slow: list[ScrapedMetrics],
    *,
    began: datetime | None,
) -> DownloadState:
    """
    *slow*: the scrapes without a break up to the newest, that one first.
    """
    newest = window.scrapes[-1]
    if _is_finished(newest):
        return DownloadState.FINISHED
    if _reported_speed(newest, rules) is None:
        return DownloadState.NO_METRIC
    if began is None:
        return DownloadState.NOT_STARTED
    if slow and newest.scraped_at - slow[-1].scraped_at >= rules.window:
        arriving = any(_reported_speed(scrape, rules) for scrape in slow)
        return DownloadState.SLOW if arriving else DownloadState.STALLED
    return (
        DownloadState.SLOW_SO_FAR
        if slow and not _was_fast_before(window, slow, rules)
        else DownloadState.FAST
    )


def _slow_scrapes(
    window: ScrapeHistory, rules: DownloadRules, *, began: datetime | None
) -> Iterator[ScrapedMetrics]:
    after = window.scrapes[-1].scraped_at
    for scrape in reversed(window.scrapes):
        speed = _reported_speed(scrape, rules)
        early = began is None or scrape.scraped_at < began
        if early or _is_finished(scrape) or speed is None or speed >= rules.slow_below:
            return
        if after - scrape.scraped_at > rules.max_gap:
            return
        yield scrape
        after = scrape.scraped_at


def _was_fast_before(
    window: ScrapeHistory, slow: list[ScrapedMetrics], rules: DownloadRules
) -> bool:
    """
    Whether the scrape right before the slow ones is known, and so was not slow.
    """
    before = [
        scrape.scraped_at for scrape in window.scrapes if scrape.scraped_at < slow[-1].scraped_at
    ]
    return bool(before) and slow[-1].scraped_at - before[-1] <= rules.max_gap


def _download_started_at(window: ScrapeHistory, rules: DownloadRules) -> datetime | None:
    """
    When the first byte arrived, or what remains was first known.
    """
    moments = [
        window.first_positive[name]
        for name in (rules.speed_metric, REMAINING_SECONDS_METRIC)
        if name in window.first_positive
    ]
    return min(moments, default=None)


def _reported_speed(scrape: ScrapedMetrics, rules: DownloadRules) -> float | None:
    """
    None if it is not told; there is no negative speed.
    """
    told = scrape.max_value(rules.speed_metric)
    return told if told is not None and told >= 0 else None


def _is_finished(scrape: ScrapedMetrics) -> bool:
    return scrape.has_engine_metrics or scrape.max_value(REMAINING_SECONDS_METRIC) == 0


def _reported_remaining_time(scrape: ScrapedMetrics) -> timedelta | None:
    remaining = scrape.max_value(REMAINING_SECONDS_METRIC) or 0.0
    limit = timedelta.max.total_seconds()
    return timedelta(seconds=remaining) if 0 < remaining < limit else None
