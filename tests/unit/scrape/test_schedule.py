"""The moments at which pages are read."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.scrape.schedule import LastOutcome, ScrapeSchedule, ScrapeSlot, next_scrape_time
from reporter.scrape.scrapes import MetricsPage


INTERVAL = timedelta(seconds=15)


def scrape_all(schedule, *, begin: float, end: float, failing=frozenset(), step: float = 0.25):
    """Return when each page is read if reading takes no time."""
    found, now = [], begin
    while now <= end:
        for slot in schedule.pop_due(now):
            found.append((now, slot.page.pod))
            schedule.reschedule(slot, failed=slot.page.pod in failing, now=now)
        now += step
    return found


def uids_of(*names: str, uid: str = "uid") -> dict[MetricsPage, str]:
    return {MetricsPage("team", name, 5000): f"{uid}-{name}" for name in names}


def times(found, name: str = "a") -> list[float]:
    return [at for at, each in found if each == name]


def test_every_pod_is_read_once_an_interval():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a", "b", "c"), now=1000)
    found = scrape_all(schedule, begin=1000, end=1150)
    assert Counter(name for _, name in found) == {"a": 10, "b": 10, "c": 10}
    assert {b - a for a, b in pairwise(times(found))} == {15.0}


def test_pods_are_spread_over_the_interval():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of(*(f"p{n}" for n in range(2000))), now=1000)
    seconds = Counter(int(at) for at, _ in scrape_all(schedule, begin=1000, end=1014.9))
    assert len(seconds) == 15
    assert max(seconds.values()) < 200


def test_pods_share_moments_and_keep_them():
    moments = {next_scrape_time(f"uid-{n}", after=1000, interval=15) for n in range(5000)}
    assert sorted(moments) == [1000 + 0.5 * (n + 1) for n in range(30)]
    for uid in ("a", "b", "c"):
        first = next_scrape_time(uid, after=1000, interval=15)
        assert next_scrape_time(uid, after=first, interval=15) == first + 15


def test_an_interval_may_be_shorter_than_the_time_between_moments():
    assert next_scrape_time("a", after=10, interval=0.1) == pytest.approx(10.1)


def test_a_failing_page_is_read_less_and_less_often_but_every_four_intervals():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a"), now=1000)
    found = times(scrape_all(schedule, begin=1000, end=1400, failing={"a"}))
    gaps = [b - a for a, b in pairwise(found)]
    assert gaps == [15, 30, *[60] * (len(gaps) - 2)]
    assert len(gaps) > 4


def costs(schedule: ScrapeSchedule, slot: ScrapeSlot, *, too_costly: bool, now: float) -> float:
    """Return the intervals until the page is read again."""
    schedule.reschedule(slot, failed=too_costly, too_costly=too_costly, now=now)
    due = schedule.next_due()
    assert due is not None
    schedule.pop_due(due)
    return (due - now) / INTERVAL.total_seconds()


def test_a_page_that_costs_too_much_is_read_ever_less_often_up_to_a_limit():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a"), now=1000)
    due = schedule.next_due()
    assert due is not None
    (slot,) = schedule.pop_due(due)
    gaps = []
    for _ in range(8):
        gaps.append(round(costs(schedule, slot, too_costly=True, now=due)))
        due += gaps[-1] * INTERVAL.total_seconds()
    assert gaps == [2, 4, 8, 16, 32, 32, 32, 32]
    gaps = [round(costs(schedule, slot, too_costly=False, now=due)) for _ in range(8)]
    assert gaps == [32, 32, 32, 16, 8, 4, 2, 1]


def test_a_page_that_costs_too_much_every_other_time_is_read_every_other_interval():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a"), now=1000)
    due = schedule.next_due()
    assert due is not None
    (slot,) = schedule.pop_due(due)
    gaps = [round(costs(schedule, slot, too_costly=n % 2 == 0, now=due)) for n in range(6)]
    assert gaps == [2, 1] * 3


def test_a_page_that_succeeds_again_is_read_as_often_as_before():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a"), now=1000)
    scrape_all(schedule, begin=1000, end=1200, failing={"a"})
    found = times(scrape_all(schedule, begin=1200, end=1400))
    assert {b - a for a, b in pairwise(found)} == {15.0}


def test_a_page_that_is_no_target_any_more_is_not_read():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a", "b"), now=1000)
    schedule.set_targets(uids_of("b"), now=1001)
    assert {name for _, name in scrape_all(schedule, begin=1001, end=1100)} == {"b"}


def test_a_replaced_pod_has_a_schedule_of_its_own():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a"), now=1000)
    schedule.set_targets(uids_of("a", uid="new"), now=1001)
    assert len(scrape_all(schedule, begin=1001, end=1075.9)) == 5


def test_a_pod_that_is_being_read_is_not_read_twice_at_once():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a"), now=1000)
    (slot,) = schedule.pop_due(1015)
    schedule.set_targets(uids_of("a"), now=1016)
    assert (schedule.pop_due(1100), schedule.next_due()) == ([], None)
    schedule.reschedule(slot, failed=False, now=1100)
    due = schedule.next_due()
    assert due is not None
    assert 1100 < due <= 1115


def test_a_scrape_that_ends_after_its_pod_was_replaced_changes_nothing():
    schedule = ScrapeSchedule(INTERVAL)
    schedule.set_targets(uids_of("a"), now=1000)
    (slot,) = schedule.pop_due(1015)
    schedule.set_targets(uids_of("a", uid="new"), now=1016)
    before = schedule.next_due()
    schedule.reschedule(slot, failed=True, now=1017)
    assert schedule.next_due() == before


@given(
    st.text(max_size=40),
    st.floats(min_value=0, max_value=1e7),
    st.floats(min_value=0.05, max_value=1000),
)
def test_the_next_moment_is_later_and_within_an_interval(uid, now, interval):
    due = next_scrape_time(uid, after=now, interval=interval)
    assert now < due <= now + interval * 1.001 + 1e-6


def test_the_last_outcome_is_new_until_the_first_scrape():
    schedule, outcomes = ScrapeSchedule(INTERVAL), []
    schedule.set_targets(uids_of("a"), now=0)
    for now, failed in enumerate((True, True, False, False, True, True), start=1):
        (slot,) = schedule.pop_due(now * 1000.0)
        outcomes.append(slot.last_outcome)
        schedule.reschedule(slot, failed=failed, now=now * 1000.0)
    assert outcomes == [
        LastOutcome.NEW,
        *[LastOutcome.FAILED] * 2,
        *[LastOutcome.SUCCEEDED] * 2,
        LastOutcome.FAILED,
    ]


def test_the_youngest_new_page_goes_first_and_failed_ones_last():
    schedule = ScrapeSchedule(INTERVAL)
    names: list[str] = []
    for now, name in enumerate(("failed", "old", "new", "newest")):
        schedule.set_targets(uids_of(*names, name), now=now / 1000)
        names.append(name)
        if name == "failed":
            schedule.reschedule(*schedule.pop_due(15), failed=True, now=0)
    ranks = {slot.page.pod: slot.priority for slot in schedule.pop_due(100)}
    assert ranks["newest"] < ranks["new"] < ranks["old"] < ranks["failed"]


def test_fewer_failures_go_first_up_to_a_limit():
    def failed(times: int, seen: float) -> tuple[float, float]:
        return ScrapeSlot(
            MetricsPage("team", "a", 5000), "uid", seen, None, times, LastOutcome.FAILED
        ).priority

    assert failed(1, 0) < failed(2, 7) < failed(3, 0) == failed(4, 0) == failed(1000, 9)


def test_pages_are_counted_by_the_outcome_of_their_last_attempt():
    schedule = ScrapeSchedule(timedelta(seconds=15))
    assert schedule.count_pages() == dict.fromkeys(LastOutcome, 0)
    schedule.set_targets(uids_of("a", "b", "c"), now=0.0)
    first, second = schedule.pop_due(15.0)[:2]
    schedule.reschedule(first, failed=False, now=15.0)
    schedule.reschedule(second, failed=True, now=15.0)
    assert schedule.count_pages() == dict.fromkeys(LastOutcome, 1)
    schedule.set_targets({}, now=20.0)
    assert schedule.count_pages() == dict.fromkeys(LastOutcome, 0)
