"""Flapping: the time in trouble adds up until the trouble was absent for the settle."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.model.enums import TroubleKind
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.replay import Replay


BBR = a_key("clusterBBR")
CATALOGUE = a_catalogue(an_entry("clusterBBR", 10))
SETTLE = 30
HOLDS = {TroubleKind.FAILED: 15, TroubleKind.LOST: 30}
LEAST = 0.05
"""The shortest blink and the shortest pause, in seconds."""

FEW = settings(max_examples=settings().max_examples // 10)
BLINKS = st.lists(
    st.tuples(st.floats(LEAST, 10.0), st.floats(LEAST, SETTLE - LEAST)), min_size=1, max_size=12
)
"""Seconds of trouble, then seconds without."""


def blink(replay: Replay, kind: TroubleKind, seconds: float) -> None:
    replay.set_verdicts(an_active_verdict(BBR, a_trouble(kind=kind))).advance(seconds)
    replay.set_clear(BBR)


@pytest.mark.parametrize("kind", HOLDS)
@FEW
@given(blinks=BLINKS)
def test_blinks_are_announced_when_they_add_up_to_the_hold_and_not_before(kind, blinks):
    replay, hold, spent = Replay(CATALOGUE), HOLDS[kind], 0.0
    for trouble, pause in blinks:
        if abs(spent + trouble - hold) < LEAST:
            return
        began = replay.now
        blink(replay, kind, trouble)
        if spent + trouble > hold:
            assert replay.new_writes == ["clusterBBR x1"]
            late = replay.writes[-1].first_timestamp - began - timedelta(seconds=hold - spent)
            # Times are kept in microseconds, so a sum of them may be a few early.
            assert abs(late) < timedelta(seconds=LEAST)
            return
        assert replay.new_writes == []
        spent += trouble
        replay.advance(pause)


@pytest.mark.parametrize("kind", HOLDS)
@FEW
@given(blinks=st.lists(st.floats(LEAST, 14.9), min_size=1, max_size=10))
def test_blinks_shorter_than_the_hold_and_apart_by_the_settle_are_not_announced(kind, blinks):
    replay = Replay(CATALOGUE)
    for trouble in blinks:
        blink(replay, kind, trouble)
        replay.advance(SETTLE + LEAST)
    assert replay.writes == []


@FEW
@given(blinks=BLINKS)
def test_each_cause_adds_up_by_itself(blinks):
    replay, other = Replay(CATALOGUE), a_trouble("other", TroubleKind.LOST)
    spent = 0.0
    for trouble, _ in blinks:
        spent += trouble
        if spent > HOLDS[TroubleKind.LOST] - LEAST:
            return
        blink(replay, TroubleKind.LOST, trouble)
        replay.set_verdicts(an_active_verdict(BBR, other)).advance(1.0)
        replay.set_clear(BBR)
        assert replay.new_writes == []
