"""
When a download is slow, and each of the cases in which it only looks so.
"""

from dataclasses import replace
from datetime import timedelta
from math import nan

import pytest

from e2e.stub_exporter import GB, SCENES, Download
from reporter.model.samples import Sample, Scrape, Unread, Window
from reporter.stages.exposition import Malformed, has_family, samples
from reporter.stages.windows import ENGINE, REMAINING, Pace, missed, taken
from tests.builders import NOON, SECOND
from tests.windows import LIFE, MB, RULES, SPEED, a_scrape, a_window, judged, steady


def pace(*speeds: float, every: float = 15) -> Pace:
    return judged(steady(*speeds, every=every)).pace


# ---------------------------------------------------------------- the window


def test_slow_in_every_sample_of_a_full_window_is_slow():
    assert pace(3, 4, 5, 4, 3) is Pace.SLOW


def test_a_window_that_is_half_full_is_not_judged_yet():
    assert pace(3, 4, 5, 4) is Pace.FILLING


def test_a_dip_is_not_slow():
    assert pace(200, 3, 3, 3, 3) is Pace.FAST
    assert pace(200, 3, 3, 3, 200) is Pace.FAST


def test_it_is_slow_once_the_dip_is_as_long_as_the_window():
    assert pace(200, 3, 3, 3, 3, 3) is Pace.SLOW


def test_one_fast_sample_ends_it():
    assert pace(3, 3, 3, 3, 3, 3, 25) is Pace.FAST


def test_exactly_the_limit_is_fast_enough():
    assert pace(20, 20, 20, 20, 20) is Pace.FAST
    assert pace(19.99, 19.99, 19.99, 19.99, 19.99) is Pace.SLOW


@pytest.mark.parametrize("every", [1, 7, 13, 15, 20, 29, 30, 35])
def test_the_window_fills_at_any_interval(every):
    rules = replace(RULES, interval=timedelta(seconds=every))
    needed = -(-60 // every) + 1
    windows = [steady(*[3] * count, every=every) for count in range(1, needed + 4)]
    found = [judged(window, rules).pace for window in windows]
    assert found == [Pace.FILLING] * (needed - 1) + [Pace.SLOW] * 4


def test_the_window_fills_when_ticks_are_late_or_early():
    times = [0, 14.2, 31.7, 44.1, 59.9, 76.3, 90.0, 104.4]
    paces = [
        judged(a_window(*(a_scrape(at, 3) for at in times[:count]))).pace for count in (5, 6, 7, 8)
    ]
    assert paces == [Pace.FILLING, Pace.SLOW, Pace.SLOW, Pace.SLOW]


def test_nobody_knows_what_was_while_nothing_was_read():
    slow = [a_scrape(at, 3) for at in (0, 15, 30)]
    after = [a_scrape(at, 3) for at in (90, 105, 120)]
    assert judged(a_window(*slow, *after)).pace is Pace.FILLING
    assert judged(a_window(*slow, *after, a_scrape(135, 3), a_scrape(150, 3))).pace is Pace.SLOW


def test_one_page_that_was_missed_does_not_start_the_window_anew():
    assert judged(a_window(*(a_scrape(at, 3) for at in (0, 15, 45, 60)))).pace is Pace.SLOW


def test_what_is_older_than_the_window_is_forgotten_but_for_one():
    window = steady(*[3] * 100)
    assert [(each.at - NOON).seconds for each in window.scrapes] == [1425, 1440, 1455, 1470, 1485]


def test_a_clock_set_back_leaves_no_samples_of_the_future():
    window = a_window(*(a_scrape(at, 3) for at in (0, 15, 30, 45, 20)))
    assert [(each.at - NOON).seconds for each in window.scrapes] == [0, 15, 20]


# ---------------------------------------------------------------- what only looks slow


def test_zero_before_the_first_byte_is_not_slow():
    assert pace(*[0] * 20) is Pace.NOT_BEGUN


def test_the_gauges_as_they_are_before_their_first_value_are_not_slow():
    assert judged(a_window(a_scrape(0, 0, 0))).pace is Pace.FINISHED
    assert judged(a_window(a_scrape(0, 0, 0), a_scrape(15, 0, -1))).pace is Pace.NOT_BEGUN


def test_the_window_begins_with_the_first_byte():
    assert pace(0, 0, 0, 0, 3, 3, 3, 3) is Pace.FAST
    assert pace(0, 0, 0, 0, 3, 3, 3, 3, 3) is Pace.SLOW


def test_a_streamed_model_is_never_slow():
    window = Window(LIFE)
    for at in range(0, 7200, 15):
        window = taken(window, a_scrape(at, 0, -1), keep=RULES.span)
        assert judged(window).pace is Pace.NOT_BEGUN


def test_a_speed_that_is_frozen_after_the_last_byte_is_not_slow():
    done = [a_scrape(at, 3, 0) for at in range(75, 400, 15)]
    assert judged(a_window(*(a_scrape(at, 3) for at in range(0, 75, 15)), *done)).pace is (
        Pace.FINISHED
    )


def test_it_is_over_once_the_engine_has_families_of_its_own():
    slow = [a_scrape(at, 3) for at in range(0, 75, 15)]
    assert judged(a_window(*slow, a_scrape(75, 3, engine=True))).pace is Pace.FINISHED
    assert judged(a_window(a_scrape(0, None, engine=True))).pace is Pace.FINISHED


def test_cached_weights_are_finished_at_once():
    assert judged(a_window(a_scrape(0, 0, 0), a_scrape(15, 0, 0))).pace is Pace.FINISHED


def test_a_window_across_an_end_of_a_download_is_not_slow():
    early = [a_scrape(at, 3, 0) for at in (0, 15)]
    later = [a_scrape(at, 3) for at in (30, 45, 60, 75)]
    assert judged(a_window(*early, *later)).pace is Pace.FAST


# ---------------------------------------------------------------- stalls


def test_nothing_that_arrives_in_mid_download_is_a_stall():
    assert pace(300, 300, 0, 0, 0, 0) is Pace.FAST
    assert pace(300, 300, 0, 0, 0, 0, 0) is Pace.STALLED


def test_a_stall_goes_on_when_the_last_byte_has_left_the_window():
    assert pace(300, *[0] * 200) is Pace.STALLED


def test_a_stall_before_the_first_byte_of_a_known_size_counts():
    scrapes = [a_scrape(at, 0, 500) for at in range(0, 75, 15)]
    assert judged(a_window(*scrapes)).pace is Pace.STALLED


def test_now_and_then_a_byte_is_slow_and_no_stall():
    assert pace(300, 0, 0, 0.1, 0, 0, 0) is Pace.SLOW


# ---------------------------------------------------------------- odd pages


def test_a_page_without_the_metric_says_nothing():
    assert judged(a_window(a_scrape(0, None))).pace is Pace.ABSENT
    assert judged(Window(LIFE)).pace is Pace.UNREAD


def test_of_many_processes_the_one_that_downloads_counts():
    at = NOON
    many = (
        Sample(SPEED, {"pid": "1"}, 0.0),
        Sample(SPEED, {"pid": "2"}, 300 * MB),
        Sample(SPEED, {"pid": "3"}, nan),
        Sample(REMAINING, {"pid": "1"}, -1.0),
        Sample(REMAINING, {"pid": "2"}, 20.0),
    )
    found = judged(a_window(Scrape(at, many)))
    assert (found.pace, found.speed, found.remaining) == (Pace.FAST, 300 * MB, 20 * SECOND)


def test_what_is_no_number_is_no_speed():
    assert judged(a_window(a_scrape(0, nan, -1))).pace is Pace.ABSENT


def test_another_metric_can_be_named_that_has_no_remaining_time():
    rules = replace(RULES, speed="download_rate")
    scrapes = [
        Scrape(NOON + at * SECOND, (Sample("download_rate", {}, 1 * MB),))
        for at in range(0, 75, 15)
    ]
    found = judged(a_window(*scrapes), rules)
    assert (found.pace, found.remaining, found.left) == (Pace.SLOW, None, None)


def test_a_missed_page_leaves_what_was_read_and_the_next_one_heals_it():
    window = missed(steady(3, 3), Unread(NOON + 30 * SECOND, "refused"))
    assert (len(window.scrapes), window.unread and window.unread.why) == (2, "refused")
    assert taken(window, a_scrape(45, 3), keep=RULES.span).unread is None


# ---------------------------------------------------------------- what is told of it


def test_worst_and_present_speed_and_what_remains_are_told():
    found = judged(steady(4, 3.5, 3.1, 3.2, 3.4))
    assert (found.worst, found.speed) == (3.1 * MB, 3.4 * MB)
    assert found.remaining == timedelta(seconds=1000)
    assert found.left == pytest.approx(3.4 * GB)
    assert found.since == NOON


# ---------------------------------------------------------------- whole downloads


def played(scene: Download, seconds: int) -> list[Pace]:
    """
    What is judged at each scrape of a scene.
    """
    window, found = Window(LIFE), []
    for at in range(5, seconds, 15):
        page = scene(at)
        assert page is not None
        said = samples(page, (SPEED, REMAINING))
        assert not isinstance(said, Malformed)
        scrape = Scrape(NOON + at * SECOND, said, engine=has_family(page, ENGINE))
        window = taken(window, scrape, keep=RULES.span)
        found.append(judged(window).pace)
    return found


@pytest.mark.parametrize("scene", ["cold", "fast", "dip", "half", "streaming", "finished"])
def test_no_download_that_is_well_is_ever_slow(scene):
    found = played(SCENES[scene], 900)
    assert len(found) == 60
    assert not any(each.slow for each in found)


@pytest.mark.parametrize(
    ("scene", "expected"),
    [("slow", Pace.SLOW), ("slow-of-unknown-size", Pace.SLOW), ("stall", Pace.STALLED)],
)
def test_a_download_that_is_not_is_slow_from_its_first_full_window_on(scene, expected):
    found = played(SCENES[scene], 900)
    first = next(number for number, each in enumerate(found) if each.slow)
    assert first <= 8
    assert set(found[first + 1 :]) == {expected}
