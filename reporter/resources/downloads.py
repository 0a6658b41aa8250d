"""
Tell from the scrape history of a pod whether its model download is slow.

KAITO's pods report two gauges (presets/workspace/inference/vllm/inference_api.py): the speed, a
mean over ten seconds, and the remaining seconds. Before the first byte, always for a streamed
model, and while nothing arrives, the speed is 0 and the remaining seconds are -1. After the last
byte the remaining seconds are 0 and the speed keeps its last value.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum, unique

from msgspec import Struct

from reporter.scrape.samples import ScrapedMetrics, ScrapeHistory


REMAINING_SECONDS_METRIC = "kaito_model_download_remaining_seconds"
ENGINE_METRIC_PREFIX = "vllm:"
"""The prefix of vLLM's own metric families, which appear once the model is loaded."""

MEGABYTE = 1e6

SCRAPE_TOLERANCE = timedelta(seconds=10)
"""
The delay beyond two intervals up to which a sample still follows the one before without a gap.
"""


class DownloadRules(Struct, frozen=True):
    """
    The rules by which a download is slow.

    *slow_below*: bytes a second. *window*: a download is slow after it was slow for this long.
    """

    speed_metric: str
    window: timedelta
    scrape_interval: timedelta
    slow_below: float

    @property
    def max_gap(self) -> timedelta:
        """The longest distance of two samples between which the download counts as observed."""
        return 2 * self.scrape_interval + SCRAPE_TOLERANCE


@unique
class DownloadState(StrEnum):
    """The state of a download by its scrape history."""

    NOT_SCRAPED = "unread"  # no page was read in this run
    NO_METRIC = "absent"  # the page lacks the speed
    SLOW_SO_FAR = "filling"  # slow so far, but not for as long as the window
    NOT_STARTED = "not begun"
    FAST = "fast"
    FINISHED = "finished"
    SLOW = "slow"
    STALLED = "stalled"  # slow, and nothing arrived at all

    @property
    def is_slow(self) -> bool:
        """True if it was slow for the whole window, whether or not bytes still arrive."""
        return self in {DownloadState.SLOW, DownloadState.STALLED}


class Download(Struct, frozen=True):
    """
    The download of one pod; speeds are in bytes a second.

    *sampled_at*: time of the newest sample. *slow_since*: time of the oldest sample of those that
    are slow up to the newest. *lowest_speed*: of these. *remaining_time*: at the current speed.
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
        The bytes that have not arrived; None while the pod does not report the remaining time.
        """
        return (
            None
            if self.remaining_time is None
            else self.remaining_time.total_seconds() * self.speed
        )


def evaluate_download(history: ScrapeHistory, rules: DownloadRules) -> Download:
    """Evaluate the pages that were read, whether or not the last attempt succeeded."""
    if not history.scrapes:
        return Download(DownloadState.NOT_SCRAPED)
    newest = history.scrapes[-1]
    # When the first byte arrived, or the remaining time was first known.
    names = {rules.speed_metric, REMAINING_SECONDS_METRIC}
    moments = [history.first_positive[name] for name in names & history.first_positive.keys()]
    started_at = min(moments, default=None)
    slow = list(_slow_scrapes(history, rules, started_at=started_at))
    speeds = [_reported_speed(scrape, rules) or 0.0 for scrape in slow]
    return Download(
        state=_download_state(history, rules, slow, started_at=started_at),
        sampled_at=newest.scraped_at,
        slow_since=slow[-1].scraped_at if slow else None,
        speed=_reported_speed(newest, rules) or 0.0,
        lowest_speed=min(speeds, default=0.0),
        remaining_time=_reported_remaining_time(newest),
    )


def _download_state(
    history: ScrapeHistory,
    rules: DownloadRules,
    slow: list[ScrapedMetrics],
    *,
    started_at: datetime | None,
) -> DownloadState:
    """*slow*: the uninterrupted slow scrapes up to the newest one, newest first."""
    newest = history.scrapes[-1]
    if _is_finished(newest):
        return DownloadState.FINISHED
    if _reported_speed(newest, rules) is None:
        return DownloadState.NO_METRIC
    if started_at is None:
        return DownloadState.NOT_STARTED
    if slow and newest.scraped_at - slow[-1].scraped_at >= rules.window:
        arriving = any(_reported_speed(scrape, rules) for scrape in slow)
        return DownloadState.SLOW if arriving else DownloadState.STALLED
    return (
        DownloadState.SLOW_SO_FAR
        if slow and not _was_fast_before(history, slow, rules)
        else DownloadState.FAST
    )


def _slow_scrapes(
    history: ScrapeHistory, rules: DownloadRules, *, started_at: datetime | None
) -> Iterator[ScrapedMetrics]:
    after = history.scrapes[-1]
    for scrape in reversed(history.scrapes):
        speed = _reported_speed(scrape, rules)
        early = started_at is None or scrape.scraped_at < started_at
        if early or _is_finished(scrape) or speed is None or speed >= rules.slow_below:
            return
        if after.scraped_at - scrape.scraped_at > after.longest_gap(rules.max_gap):
            return
        yield scrape
        after = scrape


def _was_fast_before(
    history: ScrapeHistory, slow: list[ScrapedMetrics], rules: DownloadRules
) -> bool:
    """Return whether a scrape directly precedes the slow ones; it was not slow then."""
    before = [
        scrape.scraped_at for scrape in history.scrapes if scrape.scraped_at < slow[-1].scraped_at
    ]
    return bool(before) and slow[-1].scraped_at - before[-1] <= slow[-1].longest_gap(rules.max_gap)


def _reported_speed(scrape: ScrapedMetrics, rules: DownloadRules) -> float | None:
    """Return None if the speed is missing or negative."""
    speed = scrape.max_value(rules.speed_metric)
    return speed if speed is not None and speed >= 0 else None


def _is_finished(scrape: ScrapedMetrics) -> bool:
    loaded = ENGINE_METRIC_PREFIX in scrape.present_prefixes
    return loaded or scrape.max_value(REMAINING_SECONDS_METRIC) == 0


def _reported_remaining_time(scrape: ScrapedMetrics) -> timedelta | None:
    remaining = scrape.max_value(REMAINING_SECONDS_METRIC) or 0.0
    limit = timedelta.max.total_seconds()
    return timedelta(seconds=remaining) if 0 < remaining < limit else None
