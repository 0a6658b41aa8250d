"""The state of a download, from the speeds in its window."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.resources.downloads import DownloadState
from reporter.scrape.samples import ScrapeHistory, add_scrape
from tests.support.builders import NOON
from tests.support.downloads import (
    CONTAINER_RUN,
    RULES,
    a_scrape_history,
    a_scrape_result,
    a_steady_history,
    evaluate_download,
)


def pace(*speeds: float, every: float = 15) -> DownloadState:
    return evaluate_download(a_steady_history(*speeds, every=every)).state


def test_slow_in_every_sample_of_a_full_window_is_slow():
    assert pace(3, 4, 5, 4, 3) is DownloadState.SLOW


def test_a_half_full_window_is_not_evaluated():
    assert pace(3, 4, 5, 4) is DownloadState.SLOW_SO_FAR


def test_a_dip_is_not_slow():
    assert pace(200, 3, 3, 3, 3) is DownloadState.FAST
    assert pace(200, 3, 3, 3, 200) is DownloadState.FAST


def test_a_download_is_slow_once_the_dip_is_as_long_as_the_window():
    assert pace(200, 3, 3, 3, 3, 3) is DownloadState.SLOW


def test_one_fast_sample_ends_a_slow_download():
    assert pace(3, 3, 3, 3, 3, 3, 25) is DownloadState.FAST


def test_exactly_the_limit_is_fast_enough():
    assert pace(20, 20, 20, 20, 20) is DownloadState.FAST
    assert pace(19.99, 19.99, 19.99, 19.99, 19.99) is DownloadState.SLOW


@pytest.mark.parametrize("every", [1, 7, 13, 15, 20, 29, 30, 35])
def test_the_window_fills_at_any_interval(every):
    rules = replace(RULES, scrape_interval=timedelta(seconds=every))
    needed = -(-60 // every) + 1
    windows = [a_steady_history(*[3] * count, every=every) for count in range(1, needed + 4)]
    found = [evaluate_download(window, rules).state for window in windows]
    assert found == [DownloadState.SLOW_SO_FAR] * (needed - 1) + [DownloadState.SLOW] * 4


def test_the_window_fills_when_ticks_are_late_or_early():
    times = [0, 14.2, 31.7, 44.1, 59.9, 76.3, 90.0, 104.4]
    paces = [
        evaluate_download(
            a_scrape_history(*(a_scrape_result(at, 3) for at in times[:count]))
        ).state
        for count in (5, 6, 7, 8)
    ]
    assert paces == [
        DownloadState.SLOW_SO_FAR,
        DownloadState.SLOW,
        DownloadState.SLOW,
        DownloadState.SLOW,
    ]


def test_nobody_knows_what_was_while_nothing_was_read():
    slow = [a_scrape_result(at, 3) for at in (0, 15, 30)]
    after = [a_scrape_result(at, 3) for at in (90, 105, 120)]
    assert evaluate_download(a_scrape_history(*slow, *after)).state is DownloadState.SLOW_SO_FAR
    assert (
        evaluate_download(
            a_scrape_history(*slow, *after, a_scrape_result(135, 3), a_scrape_result(150, 3))
        ).state
        is DownloadState.SLOW
    )


def test_one_page_that_was_missed_does_not_start_the_window_anew():
    assert (
        evaluate_download(
            a_scrape_history(*(a_scrape_result(at, 3) for at in (0, 15, 45, 60)))
        ).state
        is DownloadState.SLOW
    )


def test_what_is_older_than_the_window_is_forgotten_but_for_one():
    window = a_steady_history(*[3] * 100)
    assert [(each.scraped_at - NOON).seconds for each in window.scrapes] == [
        1425,
        1440,
        1455,
        1470,
        1485,
    ]


def test_a_clock_set_back_leaves_no_samples_of_the_future():
    window = a_scrape_history(*(a_scrape_result(at, 3) for at in (0, 15, 30, 45, 20)))
    assert [(each.scraped_at - NOON).seconds for each in window.scrapes] == [0, 15, 20]


def test_zero_before_the_first_byte_is_not_slow():
    assert pace(*[0] * 20) is DownloadState.NOT_STARTED


def test_the_gauges_as_they_are_before_their_first_value_are_not_slow():
    assert (
        evaluate_download(a_scrape_history(a_scrape_result(0, 0, 0))).state
        is DownloadState.FINISHED
    )
    assert (
        evaluate_download(
            a_scrape_history(a_scrape_result(0, 0, 0), a_scrape_result(15, 0, -1))
        ).state
        is DownloadState.NOT_STARTED
    )


def test_the_window_begins_with_the_first_byte():
    assert pace(0, 0, 0, 0, 3, 3, 3, 3) is DownloadState.FAST
    assert pace(0, 0, 0, 0, 3, 3, 3, 3, 3) is DownloadState.SLOW


def test_a_streamed_model_is_never_slow():
    window = ScrapeHistory(CONTAINER_RUN)
    for at in range(0, 7200, 15):
        window = add_scrape(window, a_scrape_result(at, 0, -1), retention=RULES.window)
        assert evaluate_download(window).state is DownloadState.NOT_STARTED


def test_a_speed_that_is_frozen_after_the_last_byte_is_not_slow():
    done = [a_scrape_result(at, 3, 0) for at in range(75, 400, 15)]
    assert evaluate_download(
        a_scrape_history(*(a_scrape_result(at, 3) for at in range(0, 75, 15)), *done)
    ).state is (DownloadState.FINISHED)


def test_a_download_is_over_once_the_engine_has_families_of_its_own():
    slow = [a_scrape_result(at, 3) for at in range(0, 75, 15)]
    assert (
        evaluate_download(a_scrape_history(*slow, a_scrape_result(75, 3, engine=True))).state
        is DownloadState.FINISHED
    )
    assert (
        evaluate_download(a_scrape_history(a_scrape_result(0, None, engine=True))).state
        is DownloadState.FINISHED
    )


def test_cached_weights_are_finished_at_once():
    assert (
        evaluate_download(
            a_scrape_history(a_scrape_result(0, 0, 0), a_scrape_result(15, 0, 0))
        ).state
        is DownloadState.FINISHED
    )


def test_a_window_across_an_end_of_a_download_is_not_slow():
    early = [a_scrape_result(at, 3, 0) for at in (0, 15)]
    later = [a_scrape_result(at, 3) for at in (30, 45, 60, 75)]
    assert evaluate_download(a_scrape_history(*early, *later)).state is DownloadState.FAST


def test_nothing_that_arrives_in_mid_download_is_a_stall():
    assert pace(300, 300, 0, 0, 0, 0) is DownloadState.FAST
    assert pace(300, 300, 0, 0, 0, 0, 0) is DownloadState.STALLED


def test_a_stall_goes_on_when_the_last_byte_has_left_the_window():
    assert pace(300, *[0] * 200) is DownloadState.STALLED


def test_a_stall_before_the_first_byte_of_a_known_size_counts():
    scrapes = [a_scrape_result(at, 0, 500) for at in range(0, 75, 15)]
    assert evaluate_download(a_scrape_history(*scrapes)).state is DownloadState.STALLED


def test_now_and_then_a_byte_is_slow_and_no_stall():
    assert pace(300, 0, 0, 0.1, 0, 0, 0) is DownloadState.SLOW
