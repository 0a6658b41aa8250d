"""Tests of when a missing series of a finding means that it is over."""

from datetime import timedelta

from reporter.metrics.completeness import UNDECIDED_AT_MOST, FirstLook
from reporter.model.enums import TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay


BBR, KAITO = a_key("clusterBBR"), a_key("clusterKaito")
SOME = a_catalogue(
    an_entry("clusterBBR", 20), an_entry("clusterKaito", 30), an_entry("clusterPages", 40)
)
PAGES = a_key("clusterPages")
READING = frozenset({PAGES.reason})
LATER = UNDECIDED_AT_MOST / timedelta(seconds=1)


def a_play() -> Replay:
    return Replay(SOME, subjects=frozenset({CLUSTER_SUBJECT}))


def lost(key):
    return an_active_verdict(key, a_trouble(kind=TroubleKind.LOST))


def is_over(look: FirstLook, play: Replay) -> bool:
    look.follow(play.evaluation)
    return look.is_over


def test_a_first_pass_that_knows_everything_suffices():
    assert is_over(FirstLook(READING), a_play().set_verdicts(an_active_verdict(BBR)))


def test_what_the_first_pass_holds_anew_is_waited_for():
    look, play = FirstLook(READING), a_play().set_verdicts(lost(BBR))
    assert not is_over(look, play)
    assert not is_over(look, play.advance(20))
    assert is_over(look, play.advance(11)), "it has outlived its hold"


def test_what_the_first_pass_holds_anew_may_end_meanwhile():
    look, play = FirstLook(READING), a_play().set_verdicts(lost(BBR))
    assert not is_over(look, play)
    assert is_over(look, play.set_clear(BBR).advance(31))


def test_what_is_unknown_is_waited_for_until_an_alert_says_so():
    look, play = FirstLook(READING), a_play().set_unknown(BBR)
    assert not is_over(look, play)
    assert not is_over(look, play.advance(LATER - 1))
    assert is_over(look, play.advance(1))


def test_a_page_that_a_pod_may_lack_for_ever_is_not_waited_for():
    assert is_over(FirstLook(READING), a_play().set_unknown(PAGES))


def test_what_is_held_later_is_not_waited_for():
    look, play = FirstLook(READING), a_play().set_verdicts(lost(BBR))
    assert not is_over(look, play)
    play.advance(20).set_verdicts(lost(KAITO))
    assert not is_over(look, play)
    assert is_over(look, play.advance(11))


def test_once_over_it_stays_so():
    look = FirstLook(READING)
    assert is_over(look, a_play().set_verdicts(an_active_verdict(BBR)))
    assert is_over(look, a_play().set_unknown(BBR))
