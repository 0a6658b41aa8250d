from datetime import timedelta

import pytest

from reporter.model.entries import Holds
from reporter.model.verdicts import Clear, Unknown
from reporter.model.words import Kind
from reporter.stages.gate import forget, observe, rewind, tick, wakes
from reporter.stages.records import OPEN, Patience, Unseen
from tests.builders import LONG_AGO, MINUTE, NOON, SECOND, a_key, a_trouble, active, an_entry


KEY = a_key("clusterThing")
ENTRY = an_entry("clusterThing", holds=Holds())
PATIENCE = Patience(grace=60 * SECOND, settle=30 * SECOND)


class Story:
    """
    One key through time.
    """

    def __init__(self, entry=ENTRY, patience=PATIENCE):
        self.terms = {"rules": lambda _: entry, "patience": patience}
        self.gate = observe(OPEN, [Clear(KEY)], now=NOON - MINUTE, **self.terms)

    def see(self, at, verdict):
        self.gate = observe(self.gate, [verdict], now=NOON + at, **self.terms)
        return self

    def wait(self, at):
        self.gate = tick(self.gate, now=NOON + at, **self.terms)
        return self

    @property
    def record(self):
        return self.gate.records.get(KEY)

    @property
    def through(self):
        return self.record is not None and self.record.through


def seconds(number):
    return timedelta(seconds=number)


@pytest.mark.parametrize(
    ("kind", "hold"),
    [(Kind.DECLARED, 0), (Kind.FAILED, 15), (Kind.LOST, 30), (Kind.STARTING, 60)],
)
def test_each_kind_of_trouble_has_its_hold(kind, hold):
    story = Story().see(seconds(0), active(KEY, a_trouble(kind=kind)))
    assert story.through is (hold == 0)
    if hold:
        assert not story.wait(seconds(hold - 0.001)).through
    assert story.wait(seconds(hold)).through


def test_when_a_key_settled_is_remembered_for_an_hour_and_not_of_what_is_gone():
    story = Story().see(seconds(0), active(KEY)).see(seconds(1), Clear(KEY)).wait(seconds(31))
    assert story.gate.ended == {KEY: NOON + seconds(31)}
    assert story.see(seconds(32), Clear(KEY)).wait(seconds(3600)).gate.ended
    assert not forget(story.gate, lambda key: key == KEY).ended
    assert not story.wait(seconds(3631)).gate.ended


def test_the_timer_knows_the_moment_at_which_a_hold_runs_out():
    story = Story().see(seconds(0), active(KEY, a_trouble(kind=Kind.LOST)))
    assert wakes(story.gate, **story.terms) == NOON + seconds(30)


def test_trouble_with_a_young_object_waits_until_it_is_as_old_as_the_grace():
    born = NOON - seconds(10)
    story = Story().see(seconds(0), active(KEY, a_trouble(born=born)))
    assert not story.wait(seconds(49)).through
    assert story.wait(seconds(50)).through


def test_a_missing_object_must_be_missing_for_the_grace():
    story = Story().see(seconds(0), active(KEY, a_trouble(born=None)))
    assert not story.wait(seconds(59)).through
    assert story.wait(seconds(60)).through


def test_grace_and_hold_are_not_added_up():
    trouble = a_trouble(kind=Kind.LOST, born=NOON - seconds(10))
    story = Story().see(seconds(0), active(KEY, trouble))
    assert story.wait(seconds(50)).through


def test_a_grace_of_zero_is_off():
    patience = Patience(grace=seconds(0), settle=seconds(30))
    story = Story(patience=patience).see(seconds(0), active(KEY, a_trouble(born=None)))
    assert story.through


def test_an_exempt_reason_does_not_wait_for_the_grace():
    entry = an_entry("clusterThing", grace=False)
    assert Story(entry).see(seconds(0), active(KEY, a_trouble(born=NOON))).through


def test_trouble_that_flaps_adds_up_and_is_found():
    story = Story()
    for turn in range(3):
        story.see(seconds(30 * turn), active(KEY, a_trouble(kind=Kind.LOST)))
        story.see(seconds(30 * turn + 10), Clear(KEY))
    assert not story.through
    assert story.see(seconds(90), active(KEY, a_trouble(kind=Kind.LOST))).through


def test_a_settled_clear_starts_over():
    story = Story().see(seconds(0), active(KEY, a_trouble(kind=Kind.LOST)))
    story.see(seconds(29), Clear(KEY))
    assert story.wait(seconds(58)).record is not None
    assert story.wait(seconds(59)).record is None
    assert not story.see(seconds(60), active(KEY, a_trouble(kind=Kind.LOST))).through


def test_a_crash_settles_after_ten_minutes():
    story = Story().see(seconds(0), active(KEY, a_trouble(crash=True)))
    story.see(seconds(1), Clear(KEY))
    assert story.wait(seconds(600)).record is not None
    assert story.wait(seconds(601)).record is None


def test_once_through_it_stays_through_whatever_its_kind_becomes():
    story = Story().see(seconds(0), active(KEY, a_trouble()))
    assert story.see(seconds(1), active(KEY, a_trouble(kind=Kind.STARTING))).through


def test_the_clock_of_each_kind_is_its_own():
    story = Story().see(seconds(0), active(KEY, a_trouble(kind=Kind.STARTING)))
    story.see(seconds(50), active(KEY, a_trouble(kind=Kind.LOST)))
    assert not story.wait(seconds(79)).through
    assert story.wait(seconds(80)).through


def test_unknown_keeps_the_state_and_stops_the_clock():
    story = Story().see(seconds(0), active(KEY, a_trouble(kind=Kind.LOST)))
    story.see(seconds(20), Unknown(KEY, "blind"))
    assert story.wait(seconds(40)).record.unknown == "blind"
    assert not story.through
    story.see(seconds(45), active(KEY, a_trouble(kind=Kind.LOST)))
    assert not story.wait(seconds(54)).through
    assert story.wait(seconds(55)).through


def test_after_long_unknown_an_unfinished_hold_has_the_settle_left():
    story = Story().see(seconds(0), active(KEY, a_trouble(kind=Kind.LOST)))
    story.see(seconds(29), Unknown(KEY, "blind"))
    story.see(seconds(100), active(KEY, a_trouble(kind=Kind.LOST)))
    assert not story.wait(seconds(129)).through
    assert story.wait(seconds(130)).through


def test_unknown_stops_the_clock_of_settling_too():
    story = Story().see(seconds(0), active(KEY, a_trouble()))
    story.see(seconds(1), Clear(KEY)).see(seconds(20), Unknown(KEY, "blind"))
    assert story.wait(seconds(500)).record is not None


def test_what_was_never_known_is_unseen_and_not_clear():
    story = Story().see(seconds(0), Unknown(KEY, "forbidden"))
    assert story.record is None
    assert story.gate.unseen == {KEY: Unseen("forbidden", NOON)}
    assert story.see(seconds(1), Clear(KEY)).gate.unseen == {}


def test_in_the_first_look_the_clock_started_when_the_writer_says():
    trouble = a_trouble(kind=Kind.LOST, since=NOON - seconds(25))
    terms = {"rules": lambda _: ENTRY, "patience": PATIENCE}
    gate = observe(OPEN, [active(KEY, trouble)], now=NOON, **terms)
    assert not gate.records[KEY].through
    assert tick(gate, now=NOON + seconds(5), **terms).records[KEY].through


@pytest.mark.parametrize(
    "since", [NOON + MINUTE, NOON.replace(year=1970)], ids=["in the future", "1970"]
)
def test_a_transition_time_that_cannot_be_is_not_believed(since):
    terms = {"rules": lambda _: ENTRY, "patience": PATIENCE}
    verdict = active(KEY, a_trouble(kind=Kind.LOST, since=since))
    gate = observe(OPEN, [verdict], now=NOON, **terms)
    assert wakes(gate, **terms) == NOON + seconds(30)


def test_a_live_change_starts_its_clock_when_it_is_seen():
    trouble = a_trouble(kind=Kind.LOST, since=LONG_AGO)
    assert not Story().see(seconds(0), active(KEY, trouble)).through


def test_what_was_rewound_has_the_settle_left_even_if_it_was_through():
    story = Story().see(seconds(0), active(KEY, a_trouble(kind=Kind.LOST))).wait(seconds(40))
    assert story.through
    story.gate = rewind(story.gate, [KEY], now=NOON + seconds(40), **story.terms)
    assert not story.wait(seconds(69)).through
    assert story.wait(seconds(70)).through


def test_a_missing_object_that_was_rewound_has_the_settle_left_and_not_the_grace():
    story = Story().see(seconds(0), active(KEY, a_trouble(born=None))).wait(seconds(70))
    story.gate = rewind(story.gate, [KEY], now=NOON + seconds(70), **story.terms)
    assert not story.wait(seconds(99)).through
    assert story.wait(seconds(100)).through


def test_each_cause_object_of_a_reason_has_its_own_clock():
    one, two = a_trouble("one", Kind.LOST), a_trouble("two", Kind.LOST)
    story = Story().see(seconds(0), active(KEY, one)).see(seconds(20), active(KEY, one, two))
    assert [w.trouble for w in story.wait(seconds(30)).record.spoken] == [one]
    assert len(story.wait(seconds(50)).record.spoken) == 2


def test_a_clock_that_goes_backwards_takes_nothing_back():
    story = Story().see(seconds(0), active(KEY, a_trouble(kind=Kind.LOST))).wait(seconds(30))
    assert story.wait(seconds(-3600)).through


@pytest.mark.parametrize(("blind", "left"), [(20, 15), (31, 30)])
def test_trouble_found_after_long_unknown_has_the_settle_to_heal(blind, left):
    story = Story().see(seconds(0), Unknown(KEY, "blind"))
    story.see(seconds(blind), active(KEY, a_trouble(kind=Kind.FAILED)))
    assert not story.wait(seconds(blind + left - 1)).through
    assert story.wait(seconds(blind + left)).through


def test_what_a_human_declared_is_not_held_after_long_unknown():
    story = Story().see(seconds(0), Unknown(KEY, "blind"))
    assert story.see(seconds(100), active(KEY, a_trouble())).through


def test_what_is_unseen_is_so_since_it_was_first_and_not_since_the_last_look():
    story = Story()
    for at in (0, 20, 40):
        story.see(seconds(at), Unknown(KEY, "blind"))
    assert story.gate.unseen[KEY].since == NOON
    story.see(seconds(41), active(KEY, a_trouble(kind=Kind.FAILED)))
    assert not story.wait(seconds(70)).through
    assert story.wait(seconds(71)).through


def test_what_is_unseen_of_a_subject_that_is_gone_is_forgotten():
    story = Story().see(seconds(0), Unknown(KEY, "blind"))
    assert forget(story.gate, lambda key: key != KEY).unseen
    assert not forget(story.gate, lambda key: key == KEY).unseen


def test_only_the_first_look_believes_the_writer_also_if_all_was_wrong_in_it():
    other = a_key("clusterThing", item="other")
    terms = {"rules": lambda _: ENTRY, "patience": PATIENCE}
    gate = observe(OPEN, [active(KEY, a_trouble(kind=Kind.LOST))], now=NOON, **terms)
    late = active(other, a_trouble(kind=Kind.LOST, since=LONG_AGO))
    gate = observe(gate, [late], now=NOON + seconds(1), **terms)
    assert not gate.records[other].through
