"""The object that is looked at next, and the moment."""

from itertools import pairwise

import pytest

from reporter.controller.reread_schedule import (
    CONFIRM_AFTER,
    READS_PER_MINUTE,
    SPACING,
    next_read,
    track_nothing,
)
from reporter.kinds.apps import DEPLOYMENTS
from reporter.model.observations import WatchLost
from tests.support.builders import NOON, a_deployment
from tests.unit.controller.looking import BBR, HEALED, Looking, ref, secs


# ---------------------------------------------------------------- when


def test_nothing_is_looked_at_while_nothing_waits():
    looking = Looking(a_deployment("bbr"))
    looking.state = track_nothing(looking.state)
    assert looking.next is None


@pytest.mark.parametrize(
    ("age", "wait"), [(0, 1), (59, 1), (60, 15), (299, 15), (300, 60), (600, 300), (86400, 300)]
)
def test_the_first_look_follows_by_the_age_of_the_object(age, wait):
    looking = Looking(a_deployment("bbr", created_at=NOON - secs(age)))
    looking.track(BBR)
    assert looking.next == ("bbr", wait)


def test_an_event_begins_the_wait_anew():
    looking = Looking(a_deployment("bbr", ready=0))
    looking.track(BBR)
    looking.store.upsert(DEPLOYMENTS, a_deployment("bbr", ready=1))
    looking.track(BBR, after=200)
    assert looking.next == ("bbr", 300)
    looking.track(BBR, after=100)
    assert looking.next == ("bbr", 200)


def test_a_look_begins_the_wait_anew_by_the_age_then():
    unready = a_deployment("bbr", ready=0, created_at=NOON - secs(59))
    looking = Looking(unready)
    looking.track(BBR)
    looking.look(unready)
    looking.track(BBR)
    assert looking.next == ("bbr", 15)


def test_the_age_of_a_missing_object_counts_from_when_it_was_first_missed():
    looking = Looking()
    looking.track(BBR)
    assert looking.next == ("bbr", 1)
    looking.track(BBR, after=61)
    looking.look(None)
    looking.track(BBR)
    assert looking.next == ("bbr", 15)


def test_what_no_longer_waits_is_forgotten():
    looking = Looking(a_deployment("bbr", ready=0, created_at=NOON))
    looking.track(BBR)
    looking.look(HEALED)
    looking.state = track_nothing(looking.state)
    assert looking.next is None
    assert not looking.state.mismatches
    looking.track(BBR)
    assert looking.next == ("bbr", SPACING.total_seconds())


def test_objects_without_an_open_watch_and_of_kinds_that_are_not_watched_do_not_wait():
    looking = Looking(a_deployment("bbr"))
    looking.store.set_watch_state(DEPLOYMENTS, WatchLost(NOON, "cut"))
    looking.track(BBR, ref("s1", "secrets"), ref("", "pods"))
    assert looking.next is None


def test_a_clock_that_is_set_back_delays_no_look_by_more_than_its_interval():
    looking = Looking(a_deployment("bbr", created_at=NOON - secs(30)))
    looking.track(BBR)
    looking.look(a_deployment("bbr", created_at=NOON - secs(30)))
    looking.track(BBR, after=-3600)
    assert looking.next == ("bbr", (SPACING + CONFIRM_AFTER).total_seconds())


# ---------------------------------------------------------------- in which order


def test_the_younger_object_comes_first():
    looking = Looking(
        a_deployment("old", created_at=NOON - secs(50)),
        a_deployment("young", created_at=NOON - secs(20)),
    )
    looking.track(ref("old"), ref("young"))
    assert looking.next == ("young", 1)


def test_objects_of_one_age_take_turns():
    names = ("a", "b", "c")
    looking = Looking(*(a_deployment(each, created_at=NOON) for each in names))
    refs = [ref(each) for each in names]
    looking.track(*refs)
    seen = []
    for _ in range(6):
        assert looking.next is not None
        seen.append(looking.next[0])
        looking.look(a_deployment(seen[-1], created_at=NOON), ref(seen[-1]))
        looking.track(*refs)
    assert seen == ["a", "b", "c"] * 2


def test_one_young_object_does_not_delay_the_look_at_an_older_one():
    old = a_deployment("old", created_at=NOON - secs(360))
    young = a_deployment("young", created_at=NOON)
    looking = Looking(old, young)
    refs = [ref("old"), ref("young")]
    looking.track(*refs)
    looked = dict.fromkeys(("old", "young"), 0)
    while not looked["old"]:
        look = next_read(looking.state, now=looking.now)
        assert look is not None
        looking.look(old if look.ref.name == "old" else young, look.ref)
        looking.track(*refs)
        looked[look.ref.name] += 1
    assert looking.now <= NOON + secs(60) + 2 * SPACING
    assert looked["young"] > 25, "the young one has all other looks"


def test_overdue_objects_come_in_the_order_of_their_deadlines():
    looking = Looking(
        a_deployment("hours", created_at=NOON - secs(7200)),
        a_deployment("minutes", created_at=NOON - secs(200)),
        a_deployment("seconds", created_at=NOON),
    )
    looking.track(ref("hours"), ref("minutes"), after=0)
    looking.track(ref("hours"), ref("minutes"), ref("seconds"), after=299.5)
    seen = []
    for _ in range(3):
        assert looking.next is not None
        name = looking.next[0]
        seen.append(name)
        looking.look(looking.cache.content(DEPLOYMENTS, ref(name)), ref(name))
    assert seen == ["minutes", "hours", "seconds"]


# ---------------------------------------------------------------- how many


def test_looks_are_spread_over_the_minute():
    refs = [ref(f"d{number}") for number in range(1000)]
    looking = Looking()
    looking.track(*refs)
    times = []
    while looking.now < NOON + secs(180):
        look = next_read(looking.state, now=looking.now)
        assert look is not None
        looking.look(None, look.ref)
        looking.track(*refs)
        times.append(looking.now)
    assert {after - before for before, after in pairwise(times)} == {SPACING}
    assert READS_PER_MINUTE * 2.9 < len(times) <= READS_PER_MINUTE * 3
