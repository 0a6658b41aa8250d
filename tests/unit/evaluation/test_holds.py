"""Holds, the startup grace and settling."""

import pytest
from msgspec.structs import replace

from reporter.catalogue.entries import HoldDurations
from reporter.evaluation.clocks import NOTHING_TRACKED, Delays
from reporter.evaluation.tracking import (
    advance_clocks,
    apply_verdicts,
    extend_holds,
    next_tracking_deadline,
)
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import (
    LONG_AGO,
    MINUTE,
    NOON,
    a_key,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.unit.evaluation.tracking_replay import DELAYS, ENTRY, KEY, TrackingReplay, seconds


@pytest.mark.parametrize(
    ("kind", "hold"),
    [
        (TroubleKind.DECLARED, 0),
        (TroubleKind.FAILED, 15),
        (TroubleKind.LOST, 30),
        (TroubleKind.STARTING, 60),
    ],
)
def test_each_kind_of_trouble_has_its_hold(kind, hold):
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble(kind=kind)))
    assert replay.past_hold is (hold == 0)
    if hold:
        assert not replay.advance(seconds(hold - 0.001)).past_hold
    assert replay.advance(seconds(hold)).past_hold


def test_a_probe_may_know_a_hold_better_than_the_kind():
    trouble = replace(a_trouble(kind=TroubleKind.STARTING), hold=seconds(90))
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, trouble))
    assert not replay.advance(seconds(89)).past_hold
    assert replay.advance(seconds(90)).past_hold


def test_trouble_that_counts_from_a_moment_on_waits_for_it_and_no_longer_than_for_its_hold():
    for moment, end in ((300, 300), (10, 30)):
        trouble = replace(a_trouble(kind=TroubleKind.LOST), not_before=NOON + seconds(moment))
        replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, trouble))
        assert next_tracking_deadline(replay.tracked, **replay.rules) == NOON + seconds(end)
        assert not replay.advance(seconds(end - 1)).past_hold
        assert replay.advance(seconds(end)).past_hold


def test_the_next_deadline_is_the_end_of_the_hold():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.STARTING))
    )
    assert next_tracking_deadline(replay.tracked, **replay.rules) == NOON + seconds(60)


def test_the_next_deadline_of_held_trouble_that_is_absent_is_the_end_of_its_settle():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    replay.observe(seconds(10), Clear(KEY))
    assert next_tracking_deadline(replay.tracked, **replay.rules) == NOON + seconds(40)


def test_a_crash_has_a_deadline_when_it_outranks_nobody_any_more():
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble(is_crash=True)))
    replay.observe(seconds(1), Clear(KEY)).observe(seconds(11), Unknown(KEY, "forbidden"))
    replay.observe(seconds(21), Clear(KEY))
    assert next_tracking_deadline(replay.tracked, **replay.rules) == NOON + seconds(41)
    replay.advance(seconds(41))
    assert next_tracking_deadline(replay.tracked, **replay.rules) == NOON + seconds(611)


def test_trouble_with_a_young_object_waits_until_it_is_as_old_as_the_grace():
    born = NOON - seconds(10)
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=born))
    )
    assert not replay.advance(seconds(49)).past_hold
    assert replay.advance(seconds(50)).past_hold


def test_a_missing_object_must_be_missing_for_the_grace():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=None))
    )
    assert not replay.advance(seconds(59)).past_hold
    assert replay.advance(seconds(60)).past_hold


def test_grace_and_hold_are_not_added_up():
    trouble = a_trouble(kind=TroubleKind.LOST, object_created_at=NOON - seconds(10))
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, trouble))
    assert replay.advance(seconds(50)).past_hold


def test_a_grace_of_zero_is_off():
    delays = Delays(grace=seconds(0), settle=seconds(30))
    replay = TrackingReplay(delays=delays).observe(
        seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=None))
    )
    assert replay.past_hold


@pytest.mark.parametrize(
    ("grace", "with_grace", "hold"),
    [(60, True, 180), (600, True, 600), (0, True, 0), (600, False, 180), (0, False, 180)],
)
def test_what_is_only_starting_has_the_grace_unless_the_catalogue_sets_more(
    grace, with_grace, hold
):
    holds = HoldDurations(starting=seconds(180), with_grace=with_grace)
    starting = a_trouble(kind=TroubleKind.STARTING, object_created_at=LONG_AGO)
    replay = TrackingReplay(
        an_entry("clusterThing", holds=holds, waits_for_grace=with_grace),
        delays=Delays(grace=seconds(grace), settle=seconds(30)),
    ).observe(seconds(0), an_active_verdict(KEY, starting))
    assert replay.past_hold == (hold == 0)
    assert not hold or not replay.advance(seconds(hold - 1)).past_hold
    assert replay.advance(seconds(hold)).past_hold


def test_an_exempt_reason_does_not_wait_for_the_grace():
    entry = an_entry("clusterThing", waits_for_grace=False)
    assert (
        TrackingReplay(entry)
        .observe(seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=NOON)))
        .past_hold
    )


def test_flapping_trouble_adds_up_until_its_hold_is_over():
    replay = TrackingReplay()
    for turn in range(3):
        replay.observe(
            seconds(30 * turn), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
        )
        replay.observe(seconds(30 * turn + 10), Clear(KEY))
    assert not replay.past_hold
    assert replay.observe(
        seconds(90), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    ).past_hold


def test_a_settled_clear_starts_over():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    replay.observe(seconds(29), Clear(KEY))
    assert replay.advance(seconds(58)).finding_state is not None
    assert replay.advance(seconds(59)).finding_state is None
    assert not replay.observe(
        seconds(60), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    ).past_hold


def test_a_crash_settles_after_ten_minutes():
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble(is_crash=True)))
    replay.observe(seconds(1), Clear(KEY))
    assert replay.advance(seconds(600)).finding_state is not None
    assert replay.advance(seconds(601)).finding_state is None


def test_a_reason_with_a_settle_of_its_own_ends_after_that():
    replay = TrackingReplay(an_entry("clusterThing", settle=MINUTE))
    replay.observe(seconds(0), an_active_verdict(KEY)).observe(seconds(1), Clear(KEY))
    assert replay.advance(seconds(60)).finding_state is not None
    assert replay.advance(seconds(61)).finding_state is None


def test_trouble_past_its_hold_stays_so_whatever_its_kind_becomes():
    replay = TrackingReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble()))
    assert replay.observe(
        seconds(1), an_active_verdict(KEY, a_trouble(kind=TroubleKind.STARTING))
    ).past_hold


def test_the_clock_of_each_kind_is_its_own():
    replay = TrackingReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.STARTING))
    )
    replay.observe(seconds(50), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
    assert not replay.advance(seconds(79)).past_hold
    assert replay.advance(seconds(80)).past_hold


def test_a_kind_that_returns_goes_on_counting():
    replay = TrackingReplay()
    for at, kind in (
        (0, TroubleKind.STARTING),
        (50, TroubleKind.LOST),
        (60, TroubleKind.STARTING),
    ):
        replay.observe(seconds(at), an_active_verdict(KEY, a_trouble(kind=kind)))
    assert not replay.advance(seconds(69)).past_hold
    assert replay.advance(seconds(70)).past_hold


def test_at_the_first_evaluation_the_clock_starts_at_the_transition_time():
    trouble = a_trouble(kind=TroubleKind.LOST, since=NOON - seconds(25))
    rules = {"entry_of": lambda _: ENTRY, "delays": DELAYS}
    tracked = apply_verdicts(NOTHING_TRACKED, [an_active_verdict(KEY, trouble)], now=NOON, **rules)
    assert not tracked.finding_states[KEY].past_hold
    assert advance_clocks(tracked, now=NOON + seconds(5), **rules).finding_states[KEY].past_hold


@pytest.mark.parametrize(
    "since", [NOON + MINUTE, NOON.replace(year=1970)], ids=["in the future", "1970"]
)
def test_an_impossible_transition_time_is_not_believed(since):
    rules = {"entry_of": lambda _: ENTRY, "delays": DELAYS}
    verdict = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST, since=since))
    tracked = apply_verdicts(NOTHING_TRACKED, [verdict], now=NOON, **rules)
    assert next_tracking_deadline(tracked, **rules) == NOON + seconds(30)


@pytest.mark.parametrize(
    ("reads_once", "unchanged", "is_over"),
    [
        (True, NOON - seconds(20), True),
        (True, NOON - seconds(10), False),
        (True, NOON + MINUTE, False),
        (True, None, False),
        # A process that stays sees how long it lasts.
        (False, NOON - seconds(20), False),
    ],
)
def test_a_single_reading_counts_the_time_for_which_an_object_has_not_changed(
    reads_once, unchanged, is_over
):
    rules = {"entry_of": lambda _: ENTRY, "delays": replace(DELAYS, reads_once=reads_once)}
    trouble = replace(a_trouble(kind=TroubleKind.FAILED), unchanged_since=unchanged)
    tracked = apply_verdicts(NOTHING_TRACKED, [an_active_verdict(KEY, trouble)], now=NOON, **rules)
    assert tracked.finding_states[KEY].past_hold is is_over


def test_a_live_change_starts_its_clock_when_it_is_seen():
    trouble = a_trouble(kind=TroubleKind.LOST, since=LONG_AGO)
    assert not TrackingReplay().observe(seconds(0), an_active_verdict(KEY, trouble)).past_hold


def test_an_extended_hold_has_the_settle_left_even_if_it_was_over():
    replay = (
        TrackingReplay()
        .observe(seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
        .advance(seconds(40))
    )
    assert replay.past_hold
    replay.tracked = extend_holds(replay.tracked, [KEY], now=NOON + seconds(40), **replay.rules)
    assert not replay.advance(seconds(69)).past_hold
    assert replay.advance(seconds(70)).past_hold


def test_the_extended_hold_of_a_missing_object_is_the_settle_and_not_the_grace():
    replay = (
        TrackingReplay()
        .observe(seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=None)))
        .advance(seconds(70))
    )
    replay.tracked = extend_holds(replay.tracked, [KEY], now=NOON + seconds(70), **replay.rules)
    assert not replay.advance(seconds(99)).past_hold
    assert replay.advance(seconds(100)).past_hold


def test_each_cause_object_of_a_reason_has_its_own_clock():
    one, two = a_trouble("one", TroubleKind.LOST), a_trouble("two", TroubleKind.LOST)
    replay = (
        TrackingReplay()
        .observe(seconds(0), an_active_verdict(KEY, one))
        .observe(seconds(20), an_active_verdict(KEY, one, two))
    )
    assert [w.trouble for w in replay.advance(seconds(30)).finding_state.announceable] == [one]
    assert len(replay.advance(seconds(50)).finding_state.announceable) == 2


def test_only_the_first_evaluation_believes_transition_times():
    other = a_key("clusterThing", item="other")
    rules = {"entry_of": lambda _: ENTRY, "delays": DELAYS}
    tracked = apply_verdicts(
        NOTHING_TRACKED,
        [an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))],
        now=NOON,
        **rules,
    )
    late = an_active_verdict(other, a_trouble(kind=TroubleKind.LOST, since=LONG_AGO))
    tracked = apply_verdicts(tracked, [late], now=NOON + seconds(1), **rules)
    assert not tracked.finding_states[other].past_hold
