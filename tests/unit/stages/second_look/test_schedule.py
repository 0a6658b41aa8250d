"""
Which object is looked at next and when, and which difference from the cache counts.
"""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from reporter.model.kinds import DEFAULT_KINDS
from reporter.model.kinds.core.deployments import DEPLOYMENTS
from reporter.model.kinds.core.pods import PODS
from reporter.model.observations import WatchLost
from reporter.model.verdicts import ObjectRef
from reporter.stages.second_look.contents import Cache, Reading, Undecodable, WatchProgress
from reporter.stages.second_look.schedule import (
    CONFIRM_AFTER,
    LOOKS_PER_MINUTE,
    RELIST_INTERVAL,
    SPACING,
    LookState,
    begin_look,
    finish_look,
    next_look,
    track,
    track_nothing,
)
from tests.support.builders import NOON, a_deployment, a_pod, a_store


HEALED = a_deployment("bbr", replicas=1)


def ref(name, resource="deployments.apps", namespace="kaito-system") -> ObjectRef:
    return ObjectRef(resource, namespace, name)


BBR, POD = ref("bbr"), ref("pod", "pods")


def secs(number: float) -> timedelta:
    return timedelta(seconds=number)


class Looking:
    """
    The state of a second look at a store, at a time that the test sets.
    """

    def __init__(self, *objects) -> None:
        self.store, self.state, self.now = a_store(*objects), LookState(), NOON
        self.version, self.watch = "200", WatchProgress("100", NOON)

    @property
    def cache(self) -> Cache:
        return Cache(DEFAULT_KINDS, self.store.snapshot())

    def track(self, *refs: ObjectRef, after: float = 0) -> None:
        self.now += secs(after)
        self.state = track(self.state, refs, self.cache, now=self.now)

    @property
    def next(self) -> tuple[str, float] | None:
        """
        The name of the next object, and the seconds until the look.
        """
        look = next_look(self.state, now=self.now)
        return None if look is None else (look.ref.name, (look.at - self.now).total_seconds())

    def look(self, read, of: ObjectRef = BBR) -> bool:
        """
        Make the next look, which finds *read*. Returns whether the kind has to be listed anew.
        """
        look = next_look(self.state, now=self.now)
        assert look is not None
        assert look.ref == of
        self.now = look.at
        self.state = begin_look(self.state, look.ref, now=self.now)
        kind = self.cache.kind_of(look.ref)
        assert kind is not None
        cached = self.cache.content(kind, look.ref)
        self.state, missed = finish_look(
            self.state, look.ref, Reading(read, self.version), cached, self.watch, now=self.now
        )
        return missed


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
    assert not looking.state.doubts
    looking.track(BBR)
    assert looking.next == ("bbr", SPACING.total_seconds())


def test_objects_without_an_open_watch_and_of_kinds_that_are_not_watched_do_not_wait():
    looking = Looking(a_deployment("bbr"))
    looking.store.set_watch_state(DEPLOYMENTS, WatchLost(NOON, "cut"))
    looking.track(BBR, ref("n1", "nodes", ""), ref("", "pods"))
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


def test_a_young_object_comes_before_old_ones_that_are_overdue():
    olds = [a_deployment(f"old-{number}") for number in range(10)]
    looking = Looking(*olds)
    refs = [ref(each.metadata.name) for each in olds]
    looking.track(*refs)
    looking.store.upsert(DEPLOYMENTS, a_deployment("young", created_at=NOON + secs(390)))
    looking.track(*refs, ref("young"), after=399)
    looking.track(*refs, ref("young"), after=1)
    assert looking.next == ("young", 0)


# ---------------------------------------------------------------- how many


def test_looks_are_spread_over_the_minute():
    refs = [ref(f"d{number}") for number in range(1000)]
    looking = Looking()
    looking.track(*refs)
    times = []
    while looking.now < NOON + secs(180):
        look = next_look(looking.state, now=looking.now)
        assert look is not None
        looking.look(None, look.ref)
        looking.track(*refs)
        times.append(looking.now)
    assert {after - before for before, after in pairwise(times)} == {SPACING}
    assert LOOKS_PER_MINUTE * 2.9 < len(times) <= LOOKS_PER_MINUTE * 3


# ---------------------------------------------------------------- what counts


def a_doubted(cached=None) -> Looking:
    """
    Look at an object once, and find it healed.
    """
    looking = Looking(*([cached] if cached else []))
    looking.track(BBR)
    assert looking.look(HEALED) is False
    return looking


UNREADY = a_deployment("bbr", replicas=1, ready=0)


def test_a_difference_that_is_there_a_second_later_counts():
    looking = a_doubted(UNREADY)
    assert looking.next == ("bbr", (SPACING - CONFIRM_AFTER).total_seconds())
    assert SPACING - CONFIRM_AFTER >= CONFIRM_AFTER
    assert looking.look(HEALED) is True


def test_a_missed_creation_counts():
    looking = a_doubted()
    assert looking.look(HEALED) is True


def test_a_missed_deletion_counts():
    looking = Looking(UNREADY)
    looking.track(BBR)
    assert [looking.look(None) for _ in range(2)] == [False, True]


def test_a_difference_whose_event_arrives_meanwhile_does_not_count():
    looking = a_doubted(UNREADY)
    looking.store.upsert(DEPLOYMENTS, HEALED)
    assert looking.look(HEALED) is False
    assert not looking.state.doubts


def test_a_difference_after_another_event_does_not_count_because_the_watch_delivers():
    looking = a_doubted(UNREADY)
    looking.store.upsert(DEPLOYMENTS, a_deployment("bbr", replicas=1, ready=0, updated=0))
    assert looking.look(HEALED) is False
    assert not looking.state.doubts


def test_a_version_that_differs_in_nothing_that_is_read_is_no_difference():
    looking = Looking(UNREADY)
    looking.track(BBR)
    assert looking.look(a_deployment("bbr", replicas=1, ready=0)) is False
    assert not looking.state.doubts


def test_a_difference_does_not_count_while_the_watch_delivers_older_events():
    looking = a_doubted(UNREADY)
    for _ in range(2):
        looking.watch = WatchProgress("150", looking.now + secs(0.5))
        assert looking.look(HEALED) is False
        assert looking.state.doubts
    looking.watch = WatchProgress("201", looking.now)
    assert looking.look(HEALED) is True


def test_a_difference_counts_if_the_watch_has_been_silent_since():
    looking = a_doubted(UNREADY)
    looking.watch = WatchProgress("150", looking.now - secs(0.5))
    assert looking.look(HEALED) is True


def test_versions_that_are_no_numbers_are_not_compared():
    looking = Looking(UNREADY)
    looking.version, looking.watch = "b", WatchProgress("a", NOON + secs(500))
    looking.track(BBR)
    assert [looking.look(HEALED) for _ in range(2)] == [False, True]


def test_an_object_that_can_be_decoded_neither_here_nor_there_is_no_difference():
    looking = Looking(UNREADY)
    looking.store.mark_undecodable(DEPLOYMENTS, "kaito-system", "bbr")
    looking.track(BBR)
    assert looking.look(Undecodable.UNDECODABLE) is False
    assert looking.next is not None
    assert not looking.state.doubts
    assert looking.look(HEALED) is False
    assert looking.look(HEALED) is True


def test_a_look_that_failed_leaves_the_doubt():
    looking = a_doubted(UNREADY)
    look = next_look(looking.state, now=looking.now)
    assert look is not None
    looking.now = look.at
    looking.state = begin_look(looking.state, look.ref, now=looking.now)
    assert looking.look(HEALED) is True


# ---------------------------------------------------------------- how often a kind is listed


def test_a_kind_is_listed_once_a_minute():
    looking = Looking()
    listed: list[datetime] = []
    looking.track(BBR)
    while len(listed) < 3:
        if looking.look(HEALED):
            listed.append(looking.now)
        looking.track(BBR)
    assert [after - before for before, after in pairwise(listed)] == [RELIST_INTERVAL] * 2


def test_a_doubt_of_a_kind_that_was_just_listed_delays_no_other_look():
    looking = Looking()
    looking.track(BBR)
    for expected in (False, True, False, False):
        assert looking.look(HEALED) is expected
        looking.track(BBR)
    looking.store.upsert(PODS, a_pod("pod", ready=False, created_at=looking.now))
    looking.track(BBR, POD)
    assert looking.next is not None
    assert looking.next[0] == "pod"


def test_a_list_settles_all_doubts_of_its_kind():
    looking = a_doubted(UNREADY)
    looking.state = track(looking.state, (BBR, ref("other")), looking.cache, now=looking.now)
    assert looking.look(HEALED) is True
    assert not looking.state.doubts
