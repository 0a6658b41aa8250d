"""The tracked findings under verdicts that cover only some objects of a subject."""

import pytest
from msgspec.structs import replace

from reporter.evaluation.tracking import next_tracking_deadline
from reporter.model.enums import TroubleKind
from tests.support.builders import NOON, a_trouble, an_active_verdict
from tests.unit.evaluation.tracking_replay import ANY_LENGTH, KEY, TrackingReplay, seconds


OTHER = a_trouble("other", kind=TroubleKind.LOST)


def partial(*troubles):
    return replace(an_active_verdict(KEY, *troubles), why_partial="its status is old")


def test_what_a_partial_verdict_does_not_report_keeps_its_state_and_its_clock_stops():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    replay.observe(seconds(20), partial(OTHER)).observe(seconds(40), partial(OTHER))
    names = [clock.trouble for clock in replay.advance(seconds(50)).finding_state.announceable]
    assert names == [OTHER]
    both = a_trouble(kind=TroubleKind.LOST), OTHER
    assert len(replay.finding_state.troubles) == 2
    replay.observe(seconds(50), an_active_verdict(KEY, *both))
    assert len(replay.advance(seconds(59)).finding_state.announceable) == 1
    assert len(replay.advance(seconds(60)).finding_state.announceable) == 2


def test_what_a_partial_verdict_does_not_report_does_not_settle():
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble()))
    replay.observe(seconds(10), partial(OTHER))
    assert a_trouble() in replay.advance(seconds(900)).finding_state.troubles
    replay.observe(seconds(901), an_active_verdict(KEY, OTHER))
    assert a_trouble() not in replay.finding_state.troubles
    (clock,) = replay.advance(seconds(932)).finding_state.clocks
    assert clock.object == OTHER.cause.object


def test_what_a_partial_verdict_reports_outlives_its_hold():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST), OTHER)
    )
    replay.observe(seconds(10), partial(OTHER))
    assert replay.advance(seconds(29)).finding_state.announceable == ()
    clocks = replay.advance(seconds(30)).finding_state.announceable
    assert [clock.trouble for clock in clocks] == [OTHER]


def test_what_a_partial_verdict_does_not_report_has_no_deadline():
    lost = a_trouble(kind=TroubleKind.LOST)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, lost))
    replay.observe(seconds(10), partial(OTHER))
    assert next_tracking_deadline(replay.tracked, **replay.rules) == NOON + seconds(40)


def test_what_a_partial_verdict_does_not_report_outlives_no_grace():
    young = a_trouble(object_created_at=NOON - seconds(10))
    start = a_trouble("other", kind=TroubleKind.STARTING)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, young))
    replay.observe(seconds(10), partial(start))
    clocks = replay.advance(seconds(70)).finding_state.announceable
    assert [clock.trouble for clock in clocks] == [start]


def test_what_settled_before_a_partial_verdict_settles_on_after_it():
    lost = a_trouble(kind=TroubleKind.LOST)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, lost, OTHER))
    replay.observe(seconds(10), an_active_verdict(KEY, OTHER)).observe(seconds(20), partial(OTHER))
    replay.observe(seconds(50), an_active_verdict(KEY, OTHER))
    assert len(replay.advance(seconds(69)).finding_state.clocks) == 2
    (clock,) = replay.advance(seconds(70)).finding_state.clocks
    assert clock.object == OTHER.cause.object


def test_a_partial_verdict_that_repeats_itself_changes_nothing():
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble()))
    replay.observe(seconds(10), partial(OTHER)).advance(seconds(60))
    before = replay.tracked
    replay.observe(seconds(90), partial(OTHER))
    assert replay.tracked.finding_states[KEY] is before.finding_states[KEY]


def partial_about(open_trouble, *troubles):
    return replace(partial(*troubles), open_objects=frozenset({open_trouble.cause.object}))


def test_what_a_partial_verdict_could_evaluate_and_does_not_report_settles():
    well, unknown = a_trouble("well"), a_trouble("unknown")
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, well, unknown, OTHER))
    replay.observe(seconds(40), partial_about(unknown, OTHER))
    state = replay.finding_state
    assert set(state.troubles) == {unknown, OTHER}
    assert [c.trouble for c in state.clocks if c.stopped] == [unknown]
    state = replay.advance(seconds(71)).finding_state
    assert {c.object for c in state.clocks} == {unknown.cause.object, OTHER.cause.object}
    before = replay.tracked.finding_states[KEY]
    replay.observe(seconds(90), partial_about(unknown, OTHER))
    assert replay.tracked.finding_states[KEY] is before


def test_an_object_that_a_later_partial_verdict_could_evaluate_no_longer_stands_still():
    one, two = a_trouble("one"), a_trouble("two")
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, one, two, OTHER))
    replay.observe(seconds(40), partial_about(one, OTHER))
    replay.observe(seconds(60), partial_about(two, OTHER))
    state = replay.finding_state
    assert [clock.object for clock in state.clocks if clock.stopped] == [two.cause.object]
    assert set(state.troubles) == {OTHER}


@pytest.mark.parametrize("unknown", ANY_LENGTH)
def test_an_unfinished_hold_of_an_object_goes_on_in_the_same_way_after_partial_verdicts(unknown):
    lost = a_trouble(kind=TroubleKind.LOST)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, lost))
    replay.observe(seconds(20), partial(OTHER))
    replay.observe(seconds(20 + unknown), an_active_verdict(KEY, lost, OTHER))
    left = 10 if unknown <= 30 else 30
    ref = lost.cause.object

    def is_announceable(at):
        state = replay.advance(seconds(20 + unknown + at)).finding_state
        return next(clock for clock in state.clocks if clock.object == ref).past_hold

    assert not is_announceable(left - 1)
    assert is_announceable(left)
