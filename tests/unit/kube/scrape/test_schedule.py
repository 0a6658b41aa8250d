"""
When pods are read.
"""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reporter.kube.scrape.schedule import LastOutcome, ScrapeSchedule, ScrapeSlot, next_scrape_time
from reporter.model.scrapes import MetricsPage


INTERVAL = timedelta(seconds=15)


def turns(rounds, *, begin: float, end: float, failing=frozenset(), step: float = 0.25):
    """
    Who is read when, if a page takes no time.
    """
    found, now = [], begin
    while now <= end:
        for turn in rounds.pop_due(now):
            found.append((now, turn.page.pod))
            rounds.reschedule(turn, failed=turn.page.pod in failing, now=now)
        now += step
    return found


def of(*names: str, uid: str = "uid") -> dict[MetricsPage, str]:
    return {MetricsPage("team", name, 5000): f"{uid}-{name}" for name in names}


def times(found, name: str = "a") -> list[float]:
    return [at for at, each in found if each == name]


def test_every_pod_is_read_once_an_interval():
    rounds = ScrapeSchedule(INTERVAL)
    rounds.set_targets(of("a", "b", "c"), now=1000)
    found = turns(rounds, begin=1000, end=1150)
    assert Counter(name for _, name in found) == {"a": 10, "b": 10, "c": 10}
    assert {b - a for a, b in pairwise(times(found))} == {15.0}


def test_pods_are_spread_over_the_interval():
    rounds = ScrapeSchedule(INTERVAL)
    rounds.set_targets(of(*(f"p{n}" for n in range(2000))), now=1000)
    seconds = Counter(int(at) for at, _ in turns(rounds, begin=1000, end=1014.9))
    assert len(seconds) == 15
    assert max(seconds.values()) < 200


def test_who_fails_is_read_less_and_less_often_but_in_four_intervals_at_the_latest():
    rounds = ScrapeSchedule(INTERVAL)
    rounds.set_targets(of("a"), now=1000)
    found = times(turns(rounds, begin=1000, end=1400, failing={"a"}))
    gaps = [b - a for a, b in pairwise(found)]
    assert gaps == [15, 30, *[60] * (len(gaps) - 2)]
    assert len(gaps) > 4


def test_who_answers_again_is_read_as_often_as_before():
    rounds = ScrapeSchedule(INTERVAL)
    rounds.set_targets(of("a"), now=1000)
    turns(rounds, begin=1000, end=1200, failing={"a"})
    found = times(turns(rounds, begin=1200, end=1400))
    assert {b - a for a, b in pairwise(found)} == {15.0}


def test_who_is_no_target_any_more_is_not_read():
    rounds = ScrapeSchedule(INTERVAL)
    rounds.set_targets(of("a", "b"), now=1000)
    rounds.set_targets(of("b"), now=1001)
    assert {name for _, name in turns(rounds, begin=1001, end=1100)} == {"b"}


def test_a_replaced_pod_has_turns_of_its_own_and_none_of_the_old_ones():
    rounds = ScrapeSchedule(INTERVAL)
    rounds.set_targets(of("a"), now=1000)
    rounds.set_targets(of("a", uid="new"), now=1001)
    assert len(turns(rounds, begin=1001, end=1075.9)) == 5


def test_a_pod_that_is_being_read_is_not_read_twice_at_once():
    rounds = ScrapeSchedule(INTERVAL)
    rounds.set_targets(of("a"), now=1000)
    (turn,) = rounds.pop_due(1015)
    rounds.set_targets(of("a"), now=1016)
    assert (rounds.pop_due(1100), rounds.next_due()) == ([], None)
    rounds.reschedule(turn, failed=False, now=1100)
    due = rounds.next_due()
    assert due is not None
    assert 1100 < due <= 1115


def test_what_ends_after_its_pod_was_replaced_changes_nothing():
    rounds = ScrapeSchedule(INTERVAL)
    rounds.set_targets(of("a"), now=1000)
    (turn,) = rounds.pop_due(1015)
    rounds.set_targets(of("a", uid="new"), now=1016)
    before = rounds.next_due()
    rounds.reschedule(turn, failed=True, now=1017)
    assert rounds.next_due() == before


@given(
    st.text(max_size=40),
    st.floats(min_value=0, max_value=1e7),
    st.floats(min_value=0.05, max_value=1000),
)
def test_the_next_moment_is_later_and_within_an_interval(uid, now, interval):
    due = next_scrape_time(uid, after=now, interval=interval)
    assert now < due <= now + interval * 1.001 + 1e-6


def test_a_pod_is_trusted_while_it_was_read_at_its_last_turn():
    rounds, trust = ScrapeSchedule(INTERVAL), []
    rounds.set_targets(of("a"), now=0)
    for now, failed in enumerate((True, True, False, False, True, True), start=1):
        (turn,) = rounds.pop_due(now * 1000.0)
        trust.append(turn.last_outcome)
        rounds.reschedule(turn, failed=failed, now=now * 1000.0)
    assert trust == [
        LastOutcome.NEW,
        *[LastOutcome.FAILED] * 2,
        *[LastOutcome.SUCCEEDED] * 2,
        LastOutcome.FAILED,
    ]


def test_who_was_seen_last_goes_first_and_who_failed_before_goes_behind():
    rounds = ScrapeSchedule(INTERVAL)
    names: list[str] = []
    for now, name in enumerate(("failed", "old", "new", "newest")):
        rounds.set_targets(of(*names, name), now=now / 1000)
        names.append(name)
        if name == "failed":
            rounds.reschedule(*rounds.pop_due(15), failed=True, now=0)
    ranks = {turn.page.pod: turn.priority for turn in rounds.pop_due(100)}
    assert ranks["newest"] < ranks["new"] < ranks["old"] < ranks["failed"]


def test_who_failed_less_goes_first_but_at_last_all_that_fail_are_equal():
    def failed(times: int, seen: float) -> tuple[float, float]:
        return ScrapeSlot(
            MetricsPage("team", "a", 5000), "uid", seen, None, times, LastOutcome.FAILED
        ).priority

    assert failed(1, 0) < failed(2, 7) < failed(3, 0) == failed(4, 0) == failed(1000, 9)
