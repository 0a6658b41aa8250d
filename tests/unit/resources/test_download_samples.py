"""
The samples of a download: pages without the metric, several processes, and the values reported.
"""

from datetime import timedelta
from math import nan

import pytest
from msgspec.structs import replace

from reporter.resources.downloads import REMAINING_SECONDS_METRIC, DownloadState
from reporter.scrape.samples import (
    FailedScrape,
    PageSamples,
    Sample,
    ScrapedMetrics,
    ScrapeHistory,
    add_scrape,
    add_scrape_failure,
)
from tests.support.builders import NOON, SECOND
from tests.support.downloads import (
    CONTAINER_RUN,
    MB,
    RULES,
    SPEED,
    a_scrape_history,
    a_scrape_result,
    a_steady_history,
    evaluate_download,
)
from tests.support.stubs.exporter import GB


def test_a_page_without_the_metric_is_no_download():
    assert (
        evaluate_download(a_scrape_history(a_scrape_result(0, None))).state
        is DownloadState.NO_METRIC
    )
    assert evaluate_download(ScrapeHistory(CONTAINER_RUN)).state is DownloadState.NOT_SCRAPED


def test_of_many_processes_the_one_that_downloads_counts():
    at = NOON
    many = (
        Sample(SPEED, {"pid": "1"}, 0.0),
        Sample(SPEED, {"pid": "2"}, 300 * MB),
        Sample(SPEED, {"pid": "3"}, nan),
        Sample(REMAINING_SECONDS_METRIC, {"pid": "1"}, -1.0),
        Sample(REMAINING_SECONDS_METRIC, {"pid": "2"}, 20.0),
    )
    found = evaluate_download(a_scrape_history(ScrapedMetrics(at, PageSamples.from_samples(many))))
    assert (found.state, found.speed, found.remaining_time) == (
        DownloadState.FAST,
        300 * MB,
        20 * SECOND,
    )


def test_what_is_no_number_is_no_speed():
    assert (
        evaluate_download(a_scrape_history(a_scrape_result(0, nan, -1))).state
        is DownloadState.NO_METRIC
    )


def test_another_metric_can_be_named_that_has_no_remaining_time():
    rules = replace(RULES, speed_metric="download_rate")
    page = PageSamples.from_samples([Sample("download_rate", {}, 1 * MB)])
    scrapes = [ScrapedMetrics(NOON + at * SECOND, page) for at in range(0, 75, 15)]
    found = evaluate_download(a_scrape_history(*scrapes), rules)
    assert (found.state, found.remaining_time, found.remaining_bytes) == (
        DownloadState.SLOW,
        None,
        None,
    )


def test_a_missed_page_leaves_what_was_read_and_the_next_one_heals_it():
    window = add_scrape_failure(
        a_steady_history(3, 3), FailedScrape(NOON + 30 * SECOND, "refused")
    )
    assert (len(window.scrapes), window.last_failure and window.last_failure.why) == (2, "refused")
    assert add_scrape(window, a_scrape_result(45, 3), retention=RULES.window).last_failure is None


def test_a_download_has_its_lowest_and_present_speed_and_the_remaining_time():
    found = evaluate_download(a_steady_history(4, 3.5, 3.1, 3.2, 3.4))
    assert (found.lowest_speed, found.speed) == (3.1 * MB, 3.4 * MB)
    assert found.remaining_time == timedelta(seconds=1000)
    assert found.remaining_bytes == pytest.approx(3.4 * GB)
    assert found.slow_since == NOON
