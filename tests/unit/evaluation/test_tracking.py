"""The tracked findings while keys are Unknown, settle or are deleted."""

import pytest

from reporter.evaluation.clocks import UnknownState
from reporter.evaluation.tracking import next_tracking_deadline, without_keys
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear, Paused, Unknown
from tests.support.builders import NOON, a_trouble, an_active_verdict
from tests.unit.evaluation.tracking_replay import ANY_LENGTH, KEY, TrackingReplay, seconds


def test_the_time_of_settling_is_kept_for_an_hour_unless_the_subject_is_deleted():
    replay = (
        TrackingReplay()
        .observe(seconds(0), an_active_verdict(KEY))
        .observe(seconds(1), Clear(KEY))
        .advance(seconds(31))
    )
    assert replay.tracked.settled_at == {KEY: NOON + seconds(31)}
    assert replay.observe(seconds(32), Clear(KEY)).advance(seconds(3600)).tracked.settled_at
    assert not without_keys(replay.tracked, lambda key: key == KEY).settled_at
    assert not replay.advance(seconds(3631)).tracked.settled_at


def test_trouble_that_lasts_has_no_time_of_settling():
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY)).advance(seconds(90))
    assert replay.tracked.settled_at == {}


def test_a_verdict_that_finds_the_trouble_settled_ends_it():
    replay = (
        TrackingReplay()
        .observe(seconds(0), an_active_verdict(KEY))
        .observe(seconds(1), Clear(KEY))
    )
    assert replay.observe(seconds(30), Clear(KEY)).finding_state is not None
    assert replay.observe(seconds(31), Clear(KEY)).finding_state is None
    assert replay.tracked.settled_at == {KEY: NOON + seconds(31)}


def test_what_is_paused_ends_at_once():
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY))
    assert replay.observe(seconds(1), Paused(KEY)).finding_state is None
    assert replay.tracked.settled_at == {KEY: NOON + seconds(1)}


def test_unknown_keeps_the_state_and_stops_the_clock():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    replay.observe(seconds(20), Unknown(KEY, "forbidden"))
    assert replay.advance(seconds(40)).finding_state.why_unknown == "forbidden"
    assert not replay.past_hold
    replay.observe(seconds(45), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
    assert not replay.advance(seconds(54)).past_hold
    assert replay.advance(seconds(55)).past_hold


def test_after_long_unknown_an_unfinished_hold_has_the_settle_left():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    replay.observe(seconds(29), Unknown(KEY, "forbidden"))
    replay.observe(seconds(100), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
    assert not replay.advance(seconds(129)).past_hold
    assert replay.advance(seconds(130)).past_hold


def test_unknown_of_half_a_minute_leaves_the_hold_as_it_is():
    lost = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    replay = (
        TrackingReplay().observe(seconds(0), lost).observe(seconds(20), Unknown(KEY, "forbidden"))
    )
    replay.observe(seconds(50), lost)
    assert not replay.advance(seconds(59)).past_hold
    assert replay.advance(seconds(60)).past_hold


def test_long_unknown_holds_no_trouble_again_that_outlived_its_hold():
    lost = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    replay = TrackingReplay().observe(seconds(0), lost).advance(seconds(30))
    assert replay.observe(seconds(40), Unknown(KEY, "forbidden")).past_hold
    assert replay.observe(seconds(100), lost).past_hold


def test_the_grace_of_an_object_that_grows_old_while_unknown_is_not_over():
    trouble = a_trouble(object_created_at=NOON - seconds(10))
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, trouble))
    for at in (20, 45, 60):
        replay.observe(seconds(at), Unknown(KEY, "forbidden"))
    assert replay.advance(seconds(61)).finding_state.troubles == (trouble,)
    assert not replay.past_hold


def test_unknown_for_another_cause_goes_on():
    lost = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    replay = (
        TrackingReplay().observe(seconds(0), lost).observe(seconds(20), Unknown(KEY, "forbidden"))
    )
    replay.observe(seconds(40), Unknown(KEY, "watch lost"))
    assert replay.finding_state.why_unknown == "watch lost"
    replay.observe(seconds(51), lost)
    assert not replay.advance(seconds(80)).past_hold
    assert replay.advance(seconds(81)).past_hold


def test_each_time_of_unknown_counts_by_itself():
    lost = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    replay = TrackingReplay().observe(seconds(0), lost)
    for at in (10, 50):
        replay.observe(seconds(at), Unknown(KEY, "forbidden")).observe(seconds(at + 25), lost)
    assert not replay.advance(seconds(79)).past_hold
    assert replay.advance(seconds(80)).past_hold


def test_a_key_that_is_unknown_has_no_deadline():
    lost = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    replay = (
        TrackingReplay().observe(seconds(0), lost).observe(seconds(20), Unknown(KEY, "forbidden"))
    )
    assert next_tracking_deadline(replay.tracked, **replay.rules) is None


def test_unknown_stops_the_clock_of_settling_too():
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble()))
    replay.observe(seconds(1), Clear(KEY)).observe(seconds(20), Unknown(KEY, "forbidden"))
    assert replay.advance(seconds(500)).finding_state is not None


def test_a_key_that_was_never_known_is_unknown_and_not_clear():
    replay = TrackingReplay().observe(seconds(0), Unknown(KEY, "forbidden"))
    assert replay.finding_state is None
    assert replay.tracked.unknown_states == {KEY: UnknownState("forbidden", NOON)}
    assert replay.observe(seconds(1), Clear(KEY)).tracked.unknown_states == {}


@pytest.mark.parametrize(("unknown", "left"), [(30, 15), (31, 30)])
def test_trouble_found_after_long_unknown_has_the_settle_to_recover(unknown, left):
    replay = TrackingReplay().observe(seconds(0), Unknown(KEY, "forbidden"))
    replay.observe(seconds(unknown), an_active_verdict(KEY, a_trouble(kind=TroubleKind.FAILED)))
    assert not replay.advance(seconds(unknown + left - 1)).past_hold
    assert replay.advance(seconds(unknown + left)).past_hold


def test_what_a_human_declared_is_not_held_after_long_unknown():
    replay = TrackingReplay().observe(seconds(0), Unknown(KEY, "forbidden"))
    assert replay.observe(seconds(100), an_active_verdict(KEY, a_trouble())).past_hold


def test_a_key_is_unknown_since_the_first_unknown_verdict_and_not_since_the_last():
    replay = TrackingReplay()
    for at in (0, 20, 40):
        replay.observe(seconds(at), Unknown(KEY, "forbidden"))
    assert replay.tracked.unknown_states[KEY].since == NOON
    replay.observe(seconds(41), an_active_verdict(KEY, a_trouble(kind=TroubleKind.FAILED)))
    assert not replay.advance(seconds(70)).past_hold
    assert replay.advance(seconds(71)).past_hold


def test_the_unknown_state_of_a_deleted_subject_is_forgotten():
    replay = TrackingReplay().observe(seconds(0), Unknown(KEY, "forbidden"))
    assert without_keys(replay.tracked, lambda key: key != KEY).unknown_states
    assert not without_keys(replay.tracked, lambda key: key == KEY).unknown_states


def test_a_clock_that_is_set_back_takes_no_time_away():
    replay = (
        TrackingReplay()
        .observe(seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
        .advance(seconds(30))
    )
    assert replay.advance(seconds(-3600)).past_hold


def test_a_clock_that_is_set_back_takes_no_time_of_an_unfinished_hold_away():
    replay = TrackingReplay()
    for at, code in ((0, "One"), (20, "Two"), (-3600, "Three")):
        trouble = a_trouble(kind=TroubleKind.LOST, code=code)
        replay.observe(seconds(at), an_active_verdict(KEY, trouble))
    (clock,) = replay.finding_state.clocks
    assert (clock.trouble.cause.code, clock.time_in_kind) == ("Three", seconds(20))


def test_a_hold_goes_on_at_once_after_the_clock_was_set_back():
    lost = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    replay = TrackingReplay().observe(seconds(0), lost).advance(seconds(-3600))
    assert not replay.advance(seconds(-3571)).past_hold
    assert replay.advance(seconds(-3570)).past_hold


def test_a_settle_goes_on_at_once_after_the_clock_was_set_back():
    lost = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    replay = TrackingReplay().observe(seconds(0), lost).advance(seconds(30))
    replay.observe(seconds(40), Clear(KEY)).advance(seconds(50)).advance(seconds(-3600))
    assert replay.advance(seconds(-3581)).past_hold
    replay.advance(seconds(-3570))
    assert KEY not in replay.tracked.finding_states


@pytest.mark.parametrize("unknown", ANY_LENGTH)
def test_settling_goes_on_where_it_was_after_unknown_of_any_length(unknown):
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble()))
    replay.observe(seconds(1), Clear(KEY)).observe(seconds(21), Unknown(KEY, "forbidden"))
    replay.observe(seconds(21 + unknown), Clear(KEY))
    assert replay.advance(seconds(21 + unknown + 9)).finding_state is not None
    assert replay.advance(seconds(21 + unknown + 10)).finding_state is None


@pytest.mark.parametrize("unknown", ANY_LENGTH)
def test_a_finding_stays_one_through_unknown_of_any_length(unknown):
    lost = a_trouble(kind=TroubleKind.LOST)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, lost))
    replay.advance(seconds(40)).observe(seconds(40), Unknown(KEY, "forbidden"))
    assert replay.advance(seconds(40 + unknown)).past_hold
    replay.observe(seconds(40 + unknown), an_active_verdict(KEY, lost))
    assert replay.finding_state.announceable


@pytest.mark.parametrize("unknown", ANY_LENGTH)
def test_an_unfinished_hold_goes_on_after_unknown_of_any_length(unknown):
    lost = a_trouble(kind=TroubleKind.LOST)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, lost))
    replay.observe(seconds(20), Unknown(KEY, "forbidden"))
    replay.observe(seconds(20 + unknown), an_active_verdict(KEY, lost))
    left = 10 if unknown <= 30 else 30
    assert not replay.advance(seconds(20 + unknown + left - 1)).past_hold
    assert replay.advance(seconds(20 + unknown + left)).past_hold


def test_trouble_that_only_goes_on_begins_no_finding():
    going_on = a_trouble(begins=False)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, going_on))
    assert replay.advance(seconds(3600)).finding_state is None


def test_trouble_that_has_begun_goes_on_until_it_has_settled():
    beginning, going_on = a_trouble(), a_trouble(begins=False)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, beginning))
    replay.observe(seconds(60), an_active_verdict(KEY, going_on))
    assert replay.advance(seconds(3600)).past_hold
    replay.observe(seconds(3600), Clear(KEY)).observe(
        seconds(3620), an_active_verdict(KEY, going_on)
    )
    assert replay.advance(seconds(7200)).finding_state.troubles
    replay.observe(seconds(7200), Clear(KEY)).advance(seconds(7230))
    assert replay.observe(seconds(7231), an_active_verdict(KEY, going_on)).finding_state is None


def test_trouble_of_another_object_that_only_goes_on_is_left_out():
    beginning, other = a_trouble(), a_trouble("other", begins=False)
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, beginning, other))
    assert replay.finding_state.troubles == (beginning,)
