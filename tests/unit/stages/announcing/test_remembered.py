"""
A new process continues the findings of the Events that it reads back, not only their episodes.
"""

from dataclasses import replace
from datetime import timedelta

from reporter.model.enums import EventType, TroubleKind
from reporter.stages.evaluation.holds import CRASH_SETTLE
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.reason_states import reason_states
from tests.support.replay import Replay


BBR, ISTIO = a_key("clusterBBR"), a_key("clusterIstio")
CATALOGUE = a_catalogue(
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    rows=(a_suppression("clusterIstio", "clusterBBR"),),
)
PLAIN = a_catalogue(an_entry("clusterIstio", 10), an_entry("clusterBBR", 20))
LOST = a_trouble("istiod", TroubleKind.LOST, is_out=True)


def announced(*verdicts, catalogue=PLAIN) -> Replay:
    replay = Replay(catalogue).set_verdicts(*verdicts).advance(100)
    assert replay.new_writes
    return replay


def test_an_announced_finding_outranks_at_once_after_a_restart():
    bbr = an_active_verdict(BBR, a_trouble("bbr", TroubleKind.DECLARED))
    replay = announced(an_active_verdict(ISTIO, LOST), bbr)
    assert replay.restart(back_after=5).advance(200).new_writes == []


def test_an_announced_finding_that_is_clear_suppresses_until_it_has_been_clear_for_the_settle():
    replay = announced(an_active_verdict(ISTIO, LOST), catalogue=CATALOGUE)
    replay.set_verdicts(an_active_verdict(BBR, a_trouble("bbr", TroubleKind.DECLARED)))
    replay.set_clear(ISTIO).restart(back_after=5).advance(25)
    assert BBR in replay.evaluation.suppressions.suppressed_by
    assert BBR not in replay.advance(10).evaluation.suppressions.suppressed_by


def test_an_announced_finding_is_last_known_as_announced_while_it_is_unknown():
    replay = announced(an_active_verdict(ISTIO, LOST), catalogue=CATALOGUE)
    replay.set_unknown(ISTIO).restart(back_after=5)
    state = replay.evaluation.gate.finding_states[ISTIO]
    assert (state.why_unknown, state.troubles) == ("forbidden", (LOST,))
    assert ISTIO in replay.evaluation.suppressions.outages
    assert reason_states(replay.evaluation)[ISTIO] == "unknown"


def test_the_episode_of_a_crash_settles_as_slowly_as_before():
    crash = a_trouble("bbr", TroubleKind.FAILED, is_crash=True)
    replay = announced(an_active_verdict(BBR, crash)).set_clear(BBR).restart(back_after=5)
    assert replay.advance(CRASH_SETTLE - timedelta(seconds=20)).new_writes == []
    replay.advance(30)
    assert [each.type for each in replay.writes[-1:]] == [EventType.NORMAL]


def test_a_finding_that_another_one_of_lower_rank_has_followed_outranks_nothing():
    replay = announced(an_active_verdict(ISTIO, LOST))
    replay.set_verdicts(an_active_verdict(BBR, a_trouble("bbr", TroubleKind.FAILED)))
    replay.set_clear(ISTIO).advance(60)
    assert replay.new_writes[-1] == "clusterBBR x1"
    assert replay.restart(back_after=5).advance(200).new_writes == []


def test_an_event_of_an_earlier_release_counts_everything_that_exists_as_announced():
    replay = announced(an_active_verdict(ISTIO, LOST))
    replay.set_verdicts(an_active_verdict(BBR, a_trouble("bbr", TroubleKind.DECLARED)))
    replay.new_writes  # noqa: B018  the suffix
    replay.writes = [replace(each, announced=None) for each in replay.writes]
    replay.restart(back_after=5)
    assert replay.evaluation.gate.finding_states[ISTIO].past_hold


def test_two_leaders_give_one_ready_one_name():
    replay = announced(an_active_verdict(BBR, a_trouble("bbr"))).set_clear(BBR)
    replay.announcing = False
    events = list(replay.writes)
    replay.advance(60)
    replay.take_over().advance(60)
    first = replay.writes[-1]
    replay.writes = events
    replay.restart(back_after=3).advance(60)
    second = replay.writes[-1]
    assert first.type is second.type is EventType.NORMAL
    assert (first.key, first.episode_start) == (second.key, second.episode_start)
    assert first.first_timestamp != second.first_timestamp
