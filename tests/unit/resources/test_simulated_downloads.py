"""The state of whole simulated downloads, from the first page to the last."""

import pytest

from reporter.resources.downloads import (
    ENGINE_METRIC_PREFIX,
    REMAINING_SECONDS_METRIC,
    DownloadState,
)
from reporter.scrape.exposition import MalformedExposition
from reporter.scrape.samples import ScrapedMetrics, ScrapeHistory, add_scrape
from reporter.stories.metrics_pages import has_family, parse_samples
from tests.support.builders import NOON, SECOND
from tests.support.downloads import CONTAINER_RUN, RULES, SPEED, evaluate_download
from tests.support.stubs.exporter import SIMULATED_DOWNLOADS, SimulatedDownload


def played(download: SimulatedDownload, seconds: int) -> list[DownloadState]:
    """Return the state after each scrape of a download."""
    window, found = ScrapeHistory(CONTAINER_RUN), []
    for at in range(5, seconds, 15):
        page = download(at)
        assert page is not None
        samples = parse_samples(page, (SPEED, REMAINING_SECONDS_METRIC))
        assert not isinstance(samples, MalformedExposition)
        loaded = has_family(page, ENGINE_METRIC_PREFIX)
        present = frozenset({ENGINE_METRIC_PREFIX} if loaded else ())
        scrape = ScrapedMetrics(NOON + at * SECOND, samples, present)
        window = add_scrape(window, scrape, retention=RULES.window)
        found.append(evaluate_download(window).state)
    return found


@pytest.mark.parametrize("download", ["cold", "fast", "dip", "half", "streaming", "finished"])
def test_no_download_that_is_well_is_ever_slow(download):
    found = played(SIMULATED_DOWNLOADS[download], 900)
    assert len(found) == 60
    assert not any(each.is_slow for each in found)


@pytest.mark.parametrize(
    ("download", "expected"),
    [
        ("slow", DownloadState.SLOW),
        ("slow-of-unknown-size", DownloadState.SLOW),
        ("stall", DownloadState.STALLED),
    ],
)
def test_a_download_that_is_not_is_slow_from_its_first_full_window_on(download, expected):
    found = played(SIMULATED_DOWNLOADS[download], 900)
    first = next(number for number, each in enumerate(found) if each.is_slow)
    assert first <= 8
    assert set(found[first + 1 :]) == {expected}
