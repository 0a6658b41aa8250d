from datetime import timedelta

import pytest

from reporter.model.entries import HoldDurations
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear, Unknown
from reporter.stages.evaluation.clocks import EMPTY_GATE, Delays, UnknownState
from reporter.stages.evaluation.gate import (
    advance_clocks,
    apply_verdicts,
    extend_holds,
    forget_keys,
    next_gate_deadline,
)
from tests.support.builders import (
    LONG_AGO,
    MINUTE,
    NOON,
    SECOND,
    a_key,
    a_trouble,
    an_active_verdict,
    an_entry,
)


KEY = a_key("clusterThing")
ENTRY = an_entry("clusterThing", holds=HoldDurations())
PATIENCE = Delays(grace=60 * SECOND, settle=30 * SECOND)


class GateReplay:
    """
    One key through time.
    """

    def __init__(self, entry=ENTRY, patience=PATIENCE):
        self.terms = {"entry_of": lambda _: entry, "delays": patience}
        self.gate = apply_verdicts(EMPTY_GATE, [Clear(KEY)], now=NOON - MINUTE, **self.terms)

    def observe(self, at, verdict):
        self.gate = apply_verdicts(self.gate, [verdict], now=NOON + at, **self.terms)
        return self

    def advance(self, at):
        self.gate = advance_clocks(self.gate, now=NOON + at, **self.terms)
        return self

    @property
    def finding_state(self):
        return self.gate.finding_states.get(KEY)

    @property
    def past_hold(self):
        return self.finding_state is not None and self.finding_state.past_hold


def seconds(number):
    return timedelta(seconds=number)


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
    story = GateReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble(kind=kind)))
    assert story.past_hold is (hold == 0)
    if hold:
        assert not story.advance(seconds(hold - 0.001)).past_hold
    assert story.advance(seconds(hold)).past_hold


def test_when_a_key_settled_is_remembered_for_an_hour_and_not_of_what_is_gone():
    story = (
        GateReplay()
        .observe(seconds(0), an_active_verdict(KEY))
        .observe(seconds(1), Clear(KEY))
        .advance(seconds(31))
    )
    assert story.gate.settled_at == {KEY: NOON + seconds(31)}
    assert story.observe(seconds(32), Clear(KEY)).advance(seconds(3600)).gate.settled_at
    assert not forget_keys(story.gate, lambda key: key == KEY).settled_at
    assert not story.advance(seconds(3631)).gate.settled_at


def test_the_timer_knows_the_moment_at_which_a_hold_runs_out():
    story = GateReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    assert next_gate_deadline(story.gate, **story.terms) == NOON + seconds(30)


def test_trouble_with_a_young_object_waits_until_it_is_as_old_as_the_grace():
    born = NOON - seconds(10)
    story = GateReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=born))
    )
    assert not story.advance(seconds(49)).past_hold
    assert story.advance(seconds(50)).past_hold


def test_a_missing_object_must_be_missing_for_the_grace():
    story = GateReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=None))
    )
    assert not story.advance(seconds(59)).past_hold
    assert story.advance(seconds(60)).past_hold


def test_grace_and_hold_are_not_added_up():
    trouble = a_trouble(kind=TroubleKind.LOST, object_created_at=NOON - seconds(10))
    story = GateReplay().observe(seconds(0), an_active_verdict(KEY, trouble))
    assert story.advance(seconds(50)).past_hold


def test_a_grace_of_zero_is_off():
    patience = Delays(grace=seconds(0), settle=seconds(30))
    story = GateReplay(patience=patience).observe(
        seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=None))
    )
    assert story.past_hold


def test_an_exempt_reason_does_not_wait_for_the_grace():
    entry = an_entry("clusterThing", waits_for_grace=False)
    assert (
        GateReplay(entry)
        .observe(seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=NOON)))
        .past_hold
    )


def test_trouble_that_flaps_adds_up_and_is_found():
    story = GateReplay()
    for turn in range(3):
        story.observe(seconds(30 * turn), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
        story.observe(seconds(30 * turn + 10), Clear(KEY))
    assert not story.past_hold
    assert story.observe(
        seconds(90), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    ).past_hold


def test_a_settled_clear_starts_over():
    story = GateReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    story.observe(seconds(29), Clear(KEY))
    assert story.advance(seconds(58)).finding_state is not None
    assert story.advance(seconds(59)).finding_state is None
    assert not story.observe(
        seconds(60), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    ).past_hold


def test_a_crash_settles_after_ten_minutes():
    story = GateReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble(is_crash=True)))
    story.observe(seconds(1), Clear(KEY))
    assert story.advance(seconds(600)).finding_state is not None
    assert story.advance(seconds(601)).finding_state is None


def test_once_through_it_stays_through_whatever_its_kind_becomes():
    story = GateReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble()))
    assert story.observe(
        seconds(1), an_active_verdict(KEY, a_trouble(kind=TroubleKind.STARTING))
    ).past_hold


def test_the_clock_of_each_kind_is_its_own():
    story = GateReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.STARTING))
    )
    story.observe(seconds(50), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
    assert not story.advance(seconds(79)).past_hold
    assert story.advance(seconds(80)).past_hold


def test_unknown_keeps_the_state_and_stops_the_clock():
    story = GateReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    story.observe(seconds(20), Unknown(KEY, "blind"))
    assert story.advance(seconds(40)).finding_state.why_unknown == "blind"
    assert not story.past_hold
    story.observe(seconds(45), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
    assert not story.advance(seconds(54)).past_hold
    assert story.advance(seconds(55)).past_hold


def test_after_long_unknown_an_unfinished_hold_has_the_settle_left():
    story = GateReplay().observe(
        seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))
    )
    story.observe(seconds(29), Unknown(KEY, "blind"))
    story.observe(seconds(100), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
    assert not story.advance(seconds(129)).past_hold
    assert story.advance(seconds(130)).past_hold


def test_unknown_stops_the_clock_of_settling_too():
    story = GateReplay().observe(seconds(0), an_active_verdict(KEY, a_trouble()))
    story.observe(seconds(1), Clear(KEY)).observe(seconds(20), Unknown(KEY, "blind"))
    assert story.advance(seconds(500)).finding_state is not None


def test_what_was_never_known_is_unseen_and_not_clear():
    story = GateReplay().observe(seconds(0), Unknown(KEY, "forbidden"))
    assert story.finding_state is None
    assert story.gate.unknown_states == {KEY: UnknownState("forbidden", NOON)}
    assert story.observe(seconds(1), Clear(KEY)).gate.unknown_states == {}


def test_in_the_first_look_the_clock_started_when_the_writer_says():
    trouble = a_trouble(kind=TroubleKind.LOST, since=NOON - seconds(25))
    terms = {"entry_of": lambda _: ENTRY, "delays": PATIENCE}
    gate = apply_verdicts(EMPTY_GATE, [an_active_verdict(KEY, trouble)], now=NOON, **terms)
    assert not gate.finding_states[KEY].past_hold
    assert advance_clocks(gate, now=NOON + seconds(5), **terms).finding_states[KEY].past_hold


@pytest.mark.parametrize(
    "since", [NOON + MINUTE, NOON.replace(year=1970)], ids=["in the future", "1970"]
)
def test_a_transition_time_that_cannot_be_is_not_believed(since):
    terms = {"entry_of": lambda _: ENTRY, "delays": PATIENCE}
    verdict = an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST, since=since))
    gate = apply_verdicts(EMPTY_GATE, [verdict], now=NOON, **terms)
    assert next_gate_deadline(gate, **terms) == NOON + seconds(30)


def test_a_live_change_starts_its_clock_when_it_is_seen():
    trouble = a_trouble(kind=TroubleKind.LOST, since=LONG_AGO)
    assert not GateReplay().observe(seconds(0), an_active_verdict(KEY, trouble)).past_hold


def test_what_was_rewound_has_the_settle_left_even_if_it_was_through():
    story = (
        GateReplay()
        .observe(seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
        .advance(seconds(40))
    )
    assert story.past_hold
    story.gate = extend_holds(story.gate, [KEY], now=NOON + seconds(40), **story.terms)
    assert not story.advance(seconds(69)).past_hold
    assert story.advance(seconds(70)).past_hold


def test_a_missing_object_that_was_rewound_has_the_settle_left_and_not_the_grace():
    story = (
        GateReplay()
        .observe(seconds(0), an_active_verdict(KEY, a_trouble(object_created_at=None)))
        .advance(seconds(70))
    )
    story.gate = extend_holds(story.gate, [KEY], now=NOON + seconds(70), **story.terms)
    assert not story.advance(seconds(99)).past_hold
    assert story.advance(seconds(100)).past_hold


def test_each_cause_object_of_a_reason_has_its_own_clock():
    one, two = a_trouble("one", TroubleKind.LOST), a_trouble("two", TroubleKind.LOST)
    story = (
        GateReplay()
        .observe(seconds(0), an_active_verdict(KEY, one))
        .observe(seconds(20), an_active_verdict(KEY, one, two))
    )
    assert [w.trouble for w in story.advance(seconds(30)).finding_state.announceable] == [one]
    assert len(story.advance(seconds(50)).finding_state.announceable) == 2


def test_a_clock_that_goes_backwards_takes_nothing_back():
    story = (
        GateReplay()
        .observe(seconds(0), an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST)))
        .advance(seconds(30))
    )
    assert story.advance(seconds(-3600)).past_hold


@pytest.mark.parametrize(("blind", "left"), [(20, 15), (31, 30)])
def test_trouble_found_after_long_unknown_has_the_settle_to_heal(blind, left):
    story = GateReplay().observe(seconds(0), Unknown(KEY, "blind"))
    story.observe(seconds(blind), an_active_verdict(KEY, a_trouble(kind=TroubleKind.FAILED)))
    assert not story.advance(seconds(blind + left - 1)).past_hold
    assert story.advance(seconds(blind + left)).past_hold


def test_what_a_human_declared_is_not_held_after_long_unknown():
    story = GateReplay().observe(seconds(0), Unknown(KEY, "blind"))
    assert story.observe(seconds(100), an_active_verdict(KEY, a_trouble())).past_hold


def test_what_is_unseen_is_so_since_it_was_first_and_not_since_the_last_look():
    story = GateReplay()
    for at in (0, 20, 40):
        story.observe(seconds(at), Unknown(KEY, "blind"))
    assert story.gate.unknown_states[KEY].since == NOON
    story.observe(seconds(41), an_active_verdict(KEY, a_trouble(kind=TroubleKind.FAILED)))
    assert not story.advance(seconds(70)).past_hold
    assert story.advance(seconds(71)).past_hold


def test_what_is_unseen_of_a_subject_that_is_gone_is_forgotten():
    story = GateReplay().observe(seconds(0), Unknown(KEY, "blind"))
    assert forget_keys(story.gate, lambda key: key != KEY).unknown_states
    assert not forget_keys(story.gate, lambda key: key == KEY).unknown_states


def test_only_the_first_look_believes_the_writer_also_if_all_was_wrong_in_it():
    other = a_key("clusterThing", item="other")
    terms = {"entry_of": lambda _: ENTRY, "delays": PATIENCE}
    gate = apply_verdicts(
        EMPTY_GATE, [an_active_verdict(KEY, a_trouble(kind=TroubleKind.LOST))], now=NOON, **terms
    )
    late = an_active_verdict(other, a_trouble(kind=TroubleKind.LOST, since=LONG_AGO))
    gate = apply_verdicts(gate, [late], now=NOON + seconds(1), **terms)
    assert not gate.finding_states[other].past_hold
