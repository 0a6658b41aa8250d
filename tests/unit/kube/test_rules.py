from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reporter.kube.lease_rules import (
    LeaseAbsence,
    LeaseAction,
    LeaseRecord,
    LeaseTiming,
    ObservedRecord,
    is_lease_absent,
    leadership_deadline,
    lease_expires_at,
    make_held_record,
    make_released_record,
    next_action,
    next_attempt,
    next_renewal,
    observe_absence,
    observe_record,
)


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LEASE_DURATION = timedelta(seconds=15)
TIMING = LeaseTiming()


def held_by(
    holder: str, *, renewed: datetime = NOON, duration: timedelta = LEASE_DURATION
) -> LeaseRecord:
    return LeaseRecord(holder, duration, acquire_time=NOON, renew_time=renewed, transitions=3)


MISSED = LeaseAbsence(0.0, 0.0)


@pytest.mark.parametrize(
    ("observed", "now", "action"),
    [
        pytest.param(ObservedRecord(held_by("me"), 0.0), 1.0, LeaseAction.RENEW, id="mine"),
        pytest.param(
            ObservedRecord(held_by("me"), 0.0), 99.0, LeaseAction.RENEW, id="mine, long ago"
        ),
        pytest.param(ObservedRecord(held_by(""), 0.0), 0.0, LeaseAction.ACQUIRE, id="released"),
        pytest.param(ObservedRecord(held_by("you"), 0.0), 0.0, LeaseAction.WAIT, id="another's"),
        pytest.param(
            ObservedRecord(held_by("you"), 0.0), 14.99, LeaseAction.WAIT, id="still another's"
        ),
        pytest.param(ObservedRecord(held_by("you"), 0.0), 15.0, LeaseAction.ACQUIRE, id="expired"),
        pytest.param(
            ObservedRecord(held_by("you", duration=timedelta(seconds=60)), 0.0),
            59.0,
            LeaseAction.WAIT,
            id="its own duration counts",
        ),
        pytest.param(
            ObservedRecord(held_by("you", duration=timedelta(seconds=1)), 0.0),
            14.0,
            LeaseAction.WAIT,
            id="never shorter than the local one",
        ),
    ],
)
def test_the_next_action_of_a_candidate(observed: ObservedRecord, now: float, action: LeaseAction):
    step = next_action(observed, TIMING, absence=None, leading=False, identity="me", now=now)
    assert step is action


@pytest.mark.parametrize(
    ("observed", "wait"),
    [
        pytest.param(held_by("you"), 15.0, id="another's"),
        pytest.param(held_by(""), 15.0, id="released before"),
        pytest.param(held_by("me"), 15.0, id="mine until a pause"),
        pytest.param(held_by("you", duration=timedelta(days=9999)), 15.0, id="nonsense"),
    ],
)
def test_an_absent_lease_is_waited_for_from_when_it_was_missed(observed: LeaseRecord, wait: float):
    before = ObservedRecord(observed, -70.0)
    for now, step in ((wait - 0.01, LeaseAction.WAIT), (wait, LeaseAction.ACQUIRE)):
        assert (
            next_action(
                before,
                TIMING,
                absence=MISSED,
                leading=False,
                identity="me",
                now=now,
            )
            is step
        )


def test_a_candidate_that_has_never_seen_the_lease_makes_it_at_once():
    step = next_action(None, TIMING, absence=MISSED, leading=False, identity="me", now=0.0)
    assert step is LeaseAction.ACQUIRE


def test_a_leader_makes_an_absent_lease_anew_at_once():
    mine = ObservedRecord(held_by("me"), 0.0)
    step = next_action(mine, TIMING, absence=MISSED, leading=True, identity="me", now=0.0)
    assert step is LeaseAction.RENEW


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(None, True, id="deleted"),
        pytest.param(LeaseRecord("", timedelta(0), None, None), True, id="emptied"),
        pytest.param(held_by(""), True, id="its holder cleared"),
        pytest.param(make_released_record(held_by("you"), now=NOON), False, id="released"),
        pytest.param(held_by("them"), False, id="taken by another"),
    ],
)
def test_a_lease_is_absent_when_its_holder_did_not_release_it(
    record: LeaseRecord | None, expected: bool
):
    assert is_lease_absent(ObservedRecord(held_by("you"), 0.0), record) is expected


def test_an_empty_lease_that_nobody_held_is_not_absent():
    assert not is_lease_absent(None, held_by(""))
    assert not is_lease_absent(ObservedRecord(held_by(""), 0.0), held_by(""))


def test_a_lease_that_is_missed_after_a_pause_may_have_been_removed_again():
    missed = observe_absence(None, TIMING, now=70.0)
    again = observe_absence(missed, TIMING, now=75.0)
    assert again == LeaseAbsence(since=70.0, seen_at=75.0)
    assert observe_absence(again, TIMING, now=80.01) == LeaseAbsence(since=80.01, seen_at=80.01)


def test_a_record_is_as_old_as_it_was_observed_unchanged():
    first = observe_record(None, held_by("you"), now=5.0)
    assert observe_record(first, held_by("you"), now=9.0).observed_at == 5.0
    assert (
        observe_record(first, held_by("you", renewed=NOON + LEASE_DURATION), now=9.0).observed_at
        == 9.0
    )
    assert observe_record(first, held_by("them"), now=9.0).observed_at == 9.0


def test_times_in_the_record_are_never_compared_with_a_clock():
    ancient = held_by("you", renewed=datetime(1970, 1, 1, tzinfo=UTC))
    assert (
        next_action(
            observe_record(None, ancient, now=0.0),
            TIMING,
            absence=None,
            leading=False,
            identity="me",
            now=1.0,
        )
        is LeaseAction.WAIT
    )


def test_the_first_claim_is_no_transition():
    assert make_held_record(
        None, identity="me", lease_duration=LEASE_DURATION, now=NOON
    ) == LeaseRecord("me", LEASE_DURATION, NOON, NOON, 0)


@pytest.mark.parametrize("holder", ["you", ""])
def test_taking_over_is_a_transition(holder: str):
    later = NOON + LEASE_DURATION
    assert make_held_record(
        held_by(holder), identity="me", lease_duration=LEASE_DURATION, now=later
    ) == LeaseRecord("me", LEASE_DURATION, acquire_time=later, renew_time=later, transitions=4)


def test_renewing_keeps_when_it_was_acquired():
    later = NOON + LEASE_DURATION
    assert make_held_record(
        held_by("me"), identity="me", lease_duration=LEASE_DURATION, now=later
    ) == LeaseRecord("me", LEASE_DURATION, acquire_time=NOON, renew_time=later, transitions=3)


def test_a_released_lease_has_no_holder_and_expires_at_once():
    record = make_released_record(held_by("me"), now=NOON + LEASE_DURATION)
    assert (record.holder, record.duration) == ("", timedelta(seconds=1))
    assert record.transitions == 3
    assert (
        next_action(
            ObservedRecord(record, 0.0),
            TIMING,
            absence=None,
            leading=False,
            identity="you",
            now=0.0,
        )
        is LeaseAction.ACQUIRE
    )


@given(now=st.floats(0, 1e6), age=st.floats(0, 30), draw=st.floats(0, 1, exclude_max=True))
def test_a_follower_tries_within_a_second_by_default_and_never_oversleeps_the_end(now, age, draw):
    observed = ObservedRecord(held_by("you"), now - age)
    when = next_attempt(observed, TIMING, now=now, jitter=draw)
    assert now < when <= now + 1.0
    assert not now < lease_expires_at(observed, TIMING) < when


def test_polls_of_followers_are_spread():
    polls = {next_attempt(None, TIMING, now=0.0, jitter=draw / 10) for draw in range(10)}
    assert len(polls) == 10


def test_a_leader_renews_every_period_and_wakes_when_its_leadership_ends():
    assert next_renewal(0.0, TIMING, now=1.0) == 3.0
    assert next_renewal(0.0, TIMING, now=9.0) == leadership_deadline(0.0, TIMING) == 10.0


@given(st.integers(1, 100), st.floats(0.1, 100), st.floats(0.1, 100))
def test_with_valid_timing_a_leader_stops_before_others_may_take_over(lease, renew, retry):
    seconds = (timedelta(seconds=number) for number in (lease, renew, retry))
    timing = LeaseTiming(
        **dict(zip(("lease_duration", "renew_deadline", "retry_period"), seconds, strict=True))
    )
    observed = observe_record(None, LeaseRecord("you", timing.lease_duration, NOON, NOON), now=0.0)
    assume(timing.renew_deadline < timing.lease_duration)
    assert leadership_deadline(0.0, timing) < lease_expires_at(observed, timing)
