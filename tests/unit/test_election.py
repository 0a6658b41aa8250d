from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reporter.model.leases import LeaseRecord
from reporter.stages.election import (
    Move,
    Sighting,
    Terms,
    claim,
    decide,
    dropped,
    lead_ends,
    next_renewal,
    next_try,
    orphan,
    released,
    runs_out,
    sight,
)


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TERM = timedelta(seconds=15)
TERMS = Terms()


def held_by(holder: str, *, renewed: datetime = NOON, duration: timedelta = TERM) -> LeaseRecord:
    return LeaseRecord(holder, duration, acquired=NOON, renewed=renewed, transitions=3)


@pytest.mark.parametrize(
    ("seen", "exists", "now", "move"),
    [
        pytest.param(None, False, 0.0, Move.CREATE, id="no lease"),
        pytest.param(Sighting(held_by("me"), 0.0), True, 1.0, Move.RENEW, id="mine"),
        pytest.param(Sighting(held_by("me"), 0.0), True, 99.0, Move.RENEW, id="mine, long ago"),
        pytest.param(Sighting(held_by("me"), 0.0), False, 1.0, Move.CREATE, id="mine, deleted"),
        pytest.param(Sighting(held_by(""), 0.0), True, 0.0, Move.TAKE, id="released"),
        pytest.param(Sighting(held_by("you"), 0.0), True, 0.0, Move.WAIT, id="another's"),
        pytest.param(Sighting(held_by("you"), 0.0), True, 14.99, Move.WAIT, id="still another's"),
        pytest.param(Sighting(held_by("you"), 0.0), True, 15.0, Move.TAKE, id="run out"),
        pytest.param(
            Sighting(held_by("you"), 0.0), False, 14.99, Move.WAIT, id="deleted too soon"
        ),
        pytest.param(
            Sighting(held_by("you"), 0.0), False, 15.0, Move.CREATE, id="deleted, run out"
        ),
        pytest.param(
            Sighting(held_by("you", duration=timedelta(seconds=60)), 0.0),
            True,
            59.0,
            Move.WAIT,
            id="its own duration counts",
        ),
        pytest.param(
            Sighting(held_by("you", duration=timedelta(seconds=1)), 0.0),
            True,
            14.0,
            Move.WAIT,
            id="never shorter than ours",
        ),
    ],
)
def test_a_candidate_decides(seen: Sighting | None, exists: bool, now: float, move: Move):
    assert decide(seen, TERMS, exists=exists, me="me", now=now) is move


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(None, True, id="deleted"),
        pytest.param(LeaseRecord("", timedelta(0), None, None), True, id="emptied"),
        pytest.param(held_by(""), True, id="its holder cleared"),
        pytest.param(released(held_by("you"), now=NOON), False, id="given back"),
        pytest.param(held_by("them"), False, id="taken by another"),
    ],
)
def test_a_lease_is_dropped_when_nobody_gave_it_back(record: LeaseRecord | None, expected: bool):
    assert dropped(Sighting(held_by("you"), 0.0), record) is expected
    assert not dropped(None, record)


def test_a_dropped_lease_is_waited_for_as_long_as_ours_lasts():
    nonsense = Sighting(held_by("you", duration=timedelta(days=9999)), 0.0)
    left = orphan(nonsense, TERMS)
    assert decide(left, TERMS, exists=False, me="me", now=14.99) is Move.WAIT
    assert decide(left, TERMS, exists=False, me="me", now=15.0) is Move.CREATE
    assert decide(left, TERMS, exists=True, me="me", now=15.0) is Move.TAKE


def test_a_record_is_as_old_as_it_has_been_seen_unchanged():
    first = sight(None, held_by("you"), now=5.0)
    assert sight(first, held_by("you"), now=9.0).at == 5.0
    assert sight(first, held_by("you", renewed=NOON + TERM), now=9.0).at == 9.0
    assert sight(first, held_by("them"), now=9.0).at == 9.0


def test_times_in_the_record_are_never_compared_with_a_clock():
    ancient = held_by("you", renewed=datetime(1970, 1, 1, tzinfo=UTC))
    assert decide(sight(None, ancient, now=0.0), TERMS, exists=True, me="me", now=1.0) is Move.WAIT


def test_the_first_claim_is_no_transition():
    assert claim(None, me="me", lease=TERM, now=NOON) == LeaseRecord("me", TERM, NOON, NOON, 0)


@pytest.mark.parametrize("holder", ["you", ""])
def test_taking_over_is_a_transition(holder: str):
    later = NOON + TERM
    assert claim(held_by(holder), me="me", lease=TERM, now=later) == LeaseRecord(
        "me", TERM, acquired=later, renewed=later, transitions=4
    )


def test_renewing_keeps_when_it_was_acquired():
    later = NOON + TERM
    assert claim(held_by("me"), me="me", lease=TERM, now=later) == LeaseRecord(
        "me", TERM, acquired=NOON, renewed=later, transitions=3
    )


def test_a_released_lease_has_no_holder_and_runs_out_at_once():
    record = released(held_by("me"), now=NOON + TERM)
    assert (record.holder, record.duration) == ("", timedelta(seconds=1))
    assert record.transitions == 3
    assert decide(Sighting(record, 0.0), TERMS, exists=True, me="you", now=0.0) is Move.TAKE


@given(now=st.floats(0, 1e6), age=st.floats(0, 30), draw=st.floats(0, 1, exclude_max=True))
def test_a_follower_tries_within_a_second_by_default_and_never_oversleeps_the_end(now, age, draw):
    seen = Sighting(held_by("you"), now - age)
    when = next_try(seen, TERMS, now=now, draw=draw)
    assert now < when <= now + 1.0
    assert not now < runs_out(seen, TERMS) < when


def test_followers_do_not_come_together():
    polls = {next_try(None, TERMS, now=0.0, draw=draw / 10) for draw in range(10)}
    assert len(polls) == 10


def test_a_leader_renews_every_period_and_wakes_when_its_lead_ends():
    assert next_renewal(0.0, TERMS, now=1.0) == 3.0
    assert next_renewal(0.0, TERMS, now=9.0) == lead_ends(0.0, TERMS) == 10.0


@given(st.integers(1, 100), st.floats(0.1, 100), st.floats(0.1, 100))
def test_with_accepted_terms_a_leader_gives_up_before_others_may_take_over(lease, renew, retry):
    seconds = (timedelta(seconds=number) for number in (lease, renew, retry))
    terms = Terms(**dict(zip(("lease", "renew", "retry"), seconds, strict=True)))
    seen = sight(None, LeaseRecord("you", terms.lease, NOON, NOON), now=0.0)
    assume(terms.renew < terms.lease)
    assert lead_ends(0.0, terms) < runs_out(seen, terms)
