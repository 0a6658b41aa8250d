"""Tests of when a missing series of a finding means that it is over."""

from datetime import timedelta

from reporter.metrics.completeness import UNDECIDED_AT_MOST, InitialPassKeys
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


def are_decided(look: InitialPassKeys, play: Replay) -> bool:
    look.follow(play.evaluation)
    return look.are_decided


def test_a_first_pass_that_knows_everything_suffices():
    assert are_decided(InitialPassKeys(READING), a_play().set_verdicts(an_active_verdict(BBR)))


def test_what_the_first_pass_holds_anew_is_waited_for():
    look, play = InitialPassKeys(READING), a_play().set_verdicts(lost(BBR))
    assert not are_decided(look, play)
    assert not are_decided(look, play.advance(20))
    assert are_decided(look, play.advance(11)), "it has outlived its hold"


def test_what_the_first_pass_holds_anew_may_end_meanwhile():
    look, play = InitialPassKeys(READING), a_play().set_verdicts(lost(BBR))
    assert not are_decided(look, play)
    assert are_decided(look, play.set_clear(BBR).advance(31))


def test_what_is_unknown_is_waited_for_until_an_alert_says_so():
    look, play = InitialPassKeys(READING), a_play().set_unknown(BBR)
    assert not are_decided(look, play)
    assert not are_decided(look, play.advance(LATER - 1))
    assert are_decided(look, play.advance(1))


def test_a_page_that_a_pod_may_lack_for_ever_is_not_waited_for():
    assert are_decided(InitialPassKeys(READING), a_play().set_unknown(PAGES))


def test_what_is_held_later_is_not_waited_for():
    look, play = InitialPassKeys(READING), a_play().set_verdicts(lost(BBR))
    assert not are_decided(look, play)
    play.advance(20).set_verdicts(lost(KAITO))
    assert not are_decided(look, play)
    assert are_decided(look, play.advance(11))


def test_once_over_it_stays_so():
    look = InitialPassKeys(READING)
    assert are_decided(look, a_play().set_verdicts(an_active_verdict(BBR)))
    assert are_decided(look, a_play().set_unknown(BBR))
