"""Differences from the cache that count as a missed change, and the lists of their kinds."""

from datetime import datetime
from itertools import pairwise

from reporter.controller.reread_contents import Undecodable, WatchProgress
from reporter.controller.reread_schedule import (
    CONFIRM_AFTER,
    RELIST_INTERVAL,
    SPACING,
    begin_read,
    next_read,
    track,
)
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import PODS
from tests.support.builders import NOON, a_deployment, a_pod
from tests.unit.controller.looking import BBR, HEALED, POD, Looking, ref, secs


def a_doubted(cached=None) -> Looking:
    """Look at an object once, and find it healed."""
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
    assert not looking.state.mismatches


def test_a_difference_after_another_event_does_not_count_because_the_watch_delivers():
    looking = a_doubted(UNREADY)
    looking.store.upsert(DEPLOYMENTS, a_deployment("bbr", replicas=1, ready=0, updated=0))
    assert looking.look(HEALED) is False
    assert not looking.state.mismatches


def test_a_version_that_differs_in_nothing_that_is_read_is_no_difference():
    looking = Looking(UNREADY)
    looking.track(BBR)
    assert looking.look(a_deployment("bbr", replicas=1, ready=0)) is False
    assert not looking.state.mismatches


def test_a_difference_does_not_count_while_the_watch_delivers_older_events():
    looking = a_doubted(UNREADY)
    for _ in range(2):
        looking.watch = WatchProgress("150", looking.now + secs(0.5))
        assert looking.look(HEALED) is False
        assert looking.state.mismatches
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
    assert not looking.state.mismatches
    assert looking.look(HEALED) is False
    assert looking.look(HEALED) is True


def test_a_look_that_failed_leaves_the_doubt():
    looking = a_doubted(UNREADY)
    look = next_read(looking.state, now=looking.now)
    assert look is not None
    looking.now = look.at
    looking.state = begin_read(looking.state, look.ref, now=looking.now)
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
    assert not looking.state.mismatches
