"""Build scrape histories from the speeds that a pod reported."""

from datetime import timedelta

from reporter.resources import downloads
from reporter.resources.downloads import (
    ENGINE_METRIC_PREFIX,
    REMAINING_SECONDS_METRIC,
    Download,
    DownloadRules,
)
from reporter.scrape.samples import (
    ContainerRun,
    PageSamples,
    Sample,
    ScrapedMetrics,
    ScrapeHistory,
    add_scrape,
)
from tests.support.builders import NOON


SPEED = "kaito_model_download_speed_bytes_per_second"
MB = 1e6
RULES = DownloadRules(
    speed_metric=SPEED,
    window=timedelta(seconds=60),
    scrape_interval=timedelta(seconds=15),
    slow_below=20 * MB,
)
CONTAINER_RUN = ContainerRun("uid-1", 0)


def a_scrape_result(
    at: float, speed: float | None, remaining: float | None = None, *, engine: bool = False
) -> ScrapedMetrics:
    """
    A scrape *at* seconds after noon, *speed* in MB/s; without *remaining* that follows from it.
    """
    if remaining is None and speed is not None:
        remaining = 1000.0 if speed > 0 else -1.0
    gauges = {SPEED: None if speed is None else speed * MB, REMAINING_SECONDS_METRIC: remaining}
    samples = PageSamples.from_samples(
        Sample(name, {}, value) for name, value in gauges.items() if value is not None
    )
    present = frozenset({ENGINE_METRIC_PREFIX} if engine else ())
    return ScrapedMetrics(NOON + timedelta(seconds=at), samples, present)


def a_scrape_history(
    *scrapes: ScrapedMetrics, run: ContainerRun = CONTAINER_RUN, span: timedelta = RULES.window
) -> ScrapeHistory:
    window = ScrapeHistory(run)
    for each in scrapes:
        window = add_scrape(window, each, retention=span)
    return window


def a_steady_history(*speeds: float, every: float = 15, begin: float = 0) -> ScrapeHistory:
    """A history of scrapes in equal intervals, *speeds* in MB/s."""
    return a_scrape_history(
        *(a_scrape_result(begin + n * every, speed) for n, speed in enumerate(speeds))
    )


def evaluate_download(window: ScrapeHistory, rules: DownloadRules = RULES) -> Download:
    return downloads.evaluate_download(window, rules)
