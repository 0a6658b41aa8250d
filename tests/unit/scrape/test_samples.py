"""The history of a pod's scrapes."""

from datetime import timedelta
from math import nan

import pytest

from reporter.scrape.samples import (
    OWN_LIMITS,
    ContainerRun,
    FailedScrape,
    PageSamples,
    Sample,
    ScrapedMetrics,
    ScrapeHistory,
    ScrapeResult,
    add_scrape,
    add_scrape_failure,
    keep_latest,
)
from tests.support.builders import MINUTE, NOON, SECOND


def test_a_history_keeps_the_highest_value_of_each_name_and_no_labels():
    series = [Sample("speed", {"pid": str(n), "of": "x" * 100}, float(n)) for n in range(1000)]
    scrape = ScrapedMetrics(
        NOON,
        PageSamples.from_samples([Sample("speed", {}, nan), *series, Sample("left", {}, nan)]),
    )
    history = add_scrape(
        ScrapeHistory(ContainerRun("uid", 0)), scrape, retention=timedelta(minutes=1)
    )
    assert history.scrapes == (
        ScrapedMetrics(NOON, PageSamples.from_samples([Sample("speed", {}, 999.0)])),
    )
    assert history.scrapes[0].max_value("left") is scrape.max_value("left") is None
    assert history.first_positive == {"speed": NOON}


NEW = ScrapeHistory(ContainerRun("uid", 0))


def after_failures(*seconds: int, others_read=True, history=NEW, result=ScrapeResult.FAILED):
    """
    Return the history after failures at these seconds; *others_read*: another page just before each.
    """
    for at in seconds:
        moment = NOON + at * SECOND
        read = moment - SECOND if others_read else NOON - MINUTE
        failure = FailedScrape(moment, "no answer", result)
        history = add_scrape_failure(history, failure, last_read_at=read)
    return history


def counted(history: ScrapeHistory) -> tuple[int, timedelta]:
    assert history.last_failure is not None
    return history.last_failure.failures, history.last_failure.lasted


def test_failures_in_a_row_are_counted_with_the_time_that_they_last():
    assert counted(after_failures(0)) == (1, timedelta(0))
    assert counted(after_failures(0, 15, 45, 105)) == (4, 105 * SECOND)


def test_a_page_that_was_read_ends_the_row():
    failing = after_failures(0, 15)
    for read in (
        keep_latest(failing, ScrapedMetrics(NOON + 30 * SECOND)),
        add_scrape(failing, ScrapedMetrics(NOON + 30 * SECOND), retention=MINUTE),
    ):
        assert counted(after_failures(45, history=read)) == (1, timedelta(0))


def test_failures_between_which_no_page_was_read_do_not_count():
    alone = after_failures(0, 15, 30, 45, others_read=False)
    assert counted(alone) == (1, timedelta(0))
    assert not alone.last_failure.others_read
    together = after_failures(60, 120, history=alone)
    assert counted(together) == (3, 75 * SECOND)
    assert together.last_failure.others_read


def test_a_process_that_never_read_a_page_counts_one_failure():
    history = NEW
    for at in range(5):
        history = add_scrape_failure(history, FailedScrape(NOON + at * MINUTE, "no answer"))
    assert counted(history) == (1, timedelta(0))


@pytest.mark.parametrize("result", sorted(OWN_LIMITS))
def test_failures_for_limits_of_the_reader_do_not_count_for_those_of_the_pod(result):
    limited = after_failures(0, 15, 30, result=result)
    assert counted(after_failures(45, history=limited)) == (1, timedelta(0))
    assert counted(after_failures(45, 60, history=limited)) == (2, 15 * SECOND)
