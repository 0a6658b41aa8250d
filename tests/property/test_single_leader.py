"""
The laws of leader election: at most one candidate holds the lease, and one holds it in the end.
"""

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.property.candidates import Candidates


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL)


MANY = settings(max_examples=settings().max_examples * 3 // 2)

spans = st.integers(1, 50).map(lambda ticks: ticks / 2)
stretches = st.tuples(
    spans,
    st.sets(st.integers(0, 2), max_size=2),
    st.sampled_from([0.01, 0.01, 0.4, 3.0, 8.0, 20.0]),
    st.sampled_from([False, False, False, True]),
)


@MANY
@given(st.lists(stretches, max_size=10), st.tuples(*[st.floats(-1e6, 1e6)] * 3))
def test_never_two_hold_whatever_stops_or_is_slow_or_lost(scenario, skews):
    with Candidates(*skews) as candidates:
        for seconds, stopped, latency, down in scenario:
            candidates.network.latency, candidates.network.down = latency, down
            candidates.advance(seconds, stopped=stopped, tick=0.5)
        candidates.network.latency, candidates.network.down = 0.01, False
        candidates.advance(60, tick=0.5)
        assert len(candidates.holders()) == 1


@MANY
@given(st.tuples(*[st.tuples(st.booleans(), st.lists(stretches, max_size=4))] * 3))
def test_never_two_that_saw_the_lease_hold_it_though_it_is_removed_twice(scenario):
    with Candidates(0.0, 0.0, 0.0) as candidates:
        candidates.advance(8)
        for removals, (emptied, part) in enumerate(scenario):
            if removals:
                candidates.network.remove(emptied=emptied)
            for seconds, stopped, latency, down in part:
                candidates.network.latency, candidates.network.down = latency, down
                candidates.advance(seconds, stopped=stopped, tick=0.5)
        candidates.network.latency, candidates.network.down = 0.01, False
        candidates.advance(60, tick=0.5)
        assert len(candidates.holders()) == 1


@pytest.mark.parametrize("skew", [0.0, 3600.0, -3600.0])
def test_a_healthy_leader_is_never_replaced_by_one_with_another_clock(skew: float):
    with Candidates(0.0, skew) as candidates:
        candidates.advance(5)
        (leader,) = candidates.holders()
        candidates.advance(100)
        assert candidates.ever == {leader}
        assert candidates.network.record
        assert candidates.network.record.transitions == 0


def test_a_stopped_leader_is_replaced_when_the_lease_runs_out_and_does_not_hold_on_waking():
    with Candidates(0.0, 0.0) as candidates:
        candidates.advance(5)
        (leader,) = candidates.holders()
        candidates.advance(11, stopped={leader})
        assert candidates.holders() == []
        candidates.advance(6, stopped={leader})
        assert candidates.holders() == [1 - leader]
        assert candidates.processes[leader].elector.is_leader
        assert not candidates.processes[leader].elector.holds_lease()
        candidates.advance(2)
        assert not candidates.processes[leader].elector.is_leader
        assert candidates.holders() == [1 - leader]


def test_a_leader_without_connection_stops_after_the_deadline_and_stays_a_candidate():
    with Candidates(0.0) as candidates:
        candidates.advance(5)
        candidates.network.down = True
        candidates.advance(7)
        assert candidates.holders() == [0]
        candidates.advance(4)
        assert candidates.holders() == []
        candidates.network.down = False
        candidates.advance(3)
        assert candidates.holders() == [0]


def test_one_hanging_call_does_not_cost_the_lead():
    with Candidates(0.0, 0.0) as candidates:
        candidates.advance(5)
        (leader,) = candidates.holders()
        candidates.network.latency = 60.0
        candidates.advance(2)
        candidates.network.latency = 0.01
        candidates.advance(30)
        assert candidates.ever == {leader}


def test_a_released_lease_is_taken_within_a_retry_period():
    with Candidates(0.0, 0.0) as candidates:
        candidates.advance(5)
        (leader,) = candidates.holders()
        candidates.processes[leader].release()
        candidates.advance(2.5)
        assert candidates.holders() == [1 - leader]
        assert candidates.processes[leader].task.done()


def test_a_release_that_gets_no_answer_ends_in_time():
    with Candidates(0.0) as candidates:
        candidates.advance(5)
        candidates.network.latency = 600.0
        candidates.processes[0].release()
        candidates.advance(6)
        assert candidates.processes[0].task.done()
        assert candidates.holders() == []


def test_a_deleted_lease_is_made_anew_by_its_holder():
    with Candidates(0.0, 0.0) as candidates:
        candidates.advance(5)
        (leader,) = candidates.holders()
        candidates.network.remove(emptied=False)
        candidates.advance(60)
        assert candidates.ever == {leader}


def test_a_follower_that_was_stopped_leaves_a_deleted_lease_to_its_holder():
    with Candidates(0.0, 0.0) as candidates:
        candidates.advance(8)
        (leader,) = candidates.holders()
        candidates.advance(70, stopped={1 - leader})
        candidates.network.remove(emptied=False)
        candidates.advance(60)
        assert candidates.ever == {leader}


def test_a_leader_that_was_stopped_leaves_a_deleted_lease_to_its_successor():
    with Candidates(0.0, 0.0) as candidates:
        candidates.advance(8)
        (leader,) = candidates.holders()
        candidates.advance(70, stopped={leader})
        candidates.network.remove(emptied=False)
        candidates.advance(60)
        assert candidates.holders() == [1 - leader]


def test_a_deleted_lease_whose_holder_is_gone_is_made_anew_when_it_would_have_run_out():
    with Candidates(0.0, 0.0) as candidates:
        candidates.advance(8)
        (leader,) = candidates.holders()
        candidates.network.remove(emptied=False)
        candidates.advance(14, stopped={leader})
        assert candidates.network.record is None
        candidates.advance(3, stopped={leader})
        assert candidates.holders() == [1 - leader]


def test_a_foreign_write_to_the_lease_does_not_cost_the_lead():
    with Candidates(0.0, 0.0) as candidates:
        candidates.advance(5)
        (leader,) = candidates.holders()
        candidates.network.version += 1
        candidates.advance(60)
        assert candidates.ever == {leader}


def test_a_leader_whose_lease_went_to_another_stops_at_once():
    with Candidates(0.0) as candidates:
        candidates.advance(5)
        assert candidates.network.record
        candidates.network.record = replace(candidates.network.record, holder="somebody")
        candidates.network.version += 1
        candidates.advance(3)
        assert not candidates.processes[0].elector.is_leader
        candidates.advance(20)
        assert candidates.holders() == [0]


@pytest.mark.parametrize("offset", [0.0, 0.6, 1.2, 1.8, 2.4, 3.0, 3.6])
def test_a_renewal_whose_answer_was_read_after_a_long_stop_renews_nothing(offset: float):
    with Candidates(0.0, 0.0) as candidates:
        candidates.network.latency = 1.0
        candidates.advance(10 + offset)
        (leader,) = candidates.holders()
        candidates.advance(30, stopped={leader})
        assert candidates.holders() == [1 - leader]
        candidates.advance(30)
        assert candidates.holders() == [1 - leader]
