"""The plan under clocks that jump, and under two leaders at once: one object an episode."""

from datetime import timedelta

import pytest

from reporter.kinds.health_events import StoreLimits
from reporter.kube.event_format import health_event_name
from tests.support.builders import HOUR, MINUTE, an_active_verdict
from tests.support.health_events import StoreReplay
from tests.support.replay import Replay
from tests.unit.history.test_plan import BBR, CATALOGUE, ISTIO, SUBJECTS


DAY = timedelta(days=1)


def a_store(**limits) -> StoreReplay:
    return StoreReplay(Replay(CATALOGUE, subjects=SUBJECTS), StoreLimits(**limits))


def jump(store: StoreReplay, by: timedelta) -> StoreReplay:
    """Change the clock by a jump, in either direction."""
    store.replay.now += by
    store.replay.run_pass()
    return store


@pytest.mark.parametrize("by", [2 * HOUR, -2 * HOUR, 2 * DAY, -2 * DAY], ids=str)
def test_clock_that_jumps_and_returns_leaves_one_active_object(by: timedelta):
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    before = dict(store.settle().existing)
    assert jump(store, by).settle().existing.keys() == before.keys()
    assert jump(store, -by).settle().existing.keys() == before.keys()
    assert store.phases() == ["clusterBBR Active"]


@pytest.mark.parametrize("by", [2 * HOUR, -2 * HOUR], ids=str)
def test_episode_that_ends_after_a_jump_is_resolved_after_its_settle(by: timedelta):
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle()
    jump(store, by).replay.set_clear(BBR).advance(31)
    assert store.settle().phases() == ["clusterBBR Resolved Cleared"]


def test_end_that_was_waited_for_is_not_put_off_by_a_clock_that_goes_back():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().restart(successor(store))
    store.settle()
    jump(store, -HOUR).settle()
    store.replay.advance(31)
    assert store.settle().phases() == ["clusterBBR Resolved Cleared"]


def test_other_causes_are_written_within_a_minute_of_a_clock_that_goes_back():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.set_verdicts(an_active_verdict(ISTIO))
    store.settle()
    jump(store, -HOUR).replay.set_clear(ISTIO).advance(MINUTE)
    store.settle().replay.advance(61)
    (status,) = (
        each.status
        for each in store.settle().existing.values()
        if each.spec.check_name == BBR.reason
    )
    assert status is not None
    assert "also" not in status


@pytest.mark.parametrize("by", [-2 * HOUR, -2 * DAY], ids=str)
def test_object_whose_end_is_in_the_future_is_kept_and_goes_after_its_time(by: timedelta):
    store = a_store(retention=HOUR)
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.set_clear(BBR).advance(31)
    assert store.settle().phases() == ["clusterBBR Resolved Cleared"]
    assert jump(store, by).settle().phases() == ["clusterBBR Resolved Cleared"]
    assert jump(store, HOUR - by + MINUTE).settle().phases() == []


def test_trouble_that_returns_after_a_clock_went_back_is_another_object():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.set_clear(BBR).advance(31)
    store.settle()
    jump(store, -HOUR).replay.set_verdicts(an_active_verdict(BBR))
    assert store.settle().phases() == ["clusterBBR Active", "clusterBBR Resolved Cleared"]


# ------------------------------------------------------------ two leaders


def successor(store: StoreReplay) -> Replay:
    old = store.replay
    return Replay(CATALOGUE, subjects=SUBJECTS, now=old.now, evaluating_since=old.now)


def test_two_leaders_plan_the_same_name_for_an_episode():
    one = a_store()
    one.replay.set_verdicts(an_active_verdict(BBR))
    two = a_store()
    two.replay.verdicts = dict(one.replay.verdicts)
    two.replay.announcement_state = one.replay.announcement_state
    two.replay.run_pass()
    first, second = one.plan().creates, two.plan().creates
    assert [each.name for each in first] == [each.name for each in second]
    event = one.replay.announcement_state.episodes[BBR].event
    assert [each.name for each in first] == [health_event_name(event, "")]


def test_object_of_a_leader_that_announced_anew_is_superseded():
    """
    Two leaders may announce one trouble in different seconds, each before it sees the other's Event.
    """
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle()
    other = successor(store)
    other.now += timedelta(seconds=1)
    store.restart(other.set_verdicts(an_active_verdict(BBR)))
    assert store.settle().phases() == ["clusterBBR Active", "clusterBBR Resolved Superseded"]
