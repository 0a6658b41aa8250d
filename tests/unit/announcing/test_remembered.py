"""
A new process continues the findings of the Events that it reads back, not only their episodes.
"""

from datetime import timedelta

from msgspec.structs import replace

from reporter.announcing.restore import of_living_subjects
from reporter.evaluation.holds import CRASH_SETTLE
from reporter.model.enums import EventType, TroubleKind
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
    state = replay.evaluation.tracked.finding_states[ISTIO]
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
    assert replay.evaluation.tracked.finding_states[ISTIO].past_hold


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


def test_a_cause_that_took_the_place_of_the_announced_one_still_serves_its_hold():
    crash = a_trouble("bbr", TroubleKind.FAILED, code="Crash")
    missing = a_trouble("bbr", TroubleKind.LOST, code="Missing")
    replay = announced(an_active_verdict(BBR, crash))
    replay.set_verdicts(an_active_verdict(BBR, missing)).restart(back_after=5).advance(25)
    assert replay.new_writes == []
    assert replay.advance(10).new_writes == ["clusterBBR x2"]


def test_a_hold_that_the_probe_gave_is_the_hold_of_the_announced_trouble():
    short = timedelta(seconds=20)
    replay = announced(an_active_verdict(BBR, a_trouble("bbr", TroubleKind.STARTING, hold=short)))
    before = replay.evaluation.finding_state_of(BBR).clocks[0].time_in_kind
    replay.restart(back_after=5)
    after = replay.evaluation.finding_state_of(BBR).clocks[0].time_in_kind
    assert abs(after - before - timedelta(seconds=5)) < timedelta(seconds=1)


def test_what_was_announced_before_its_upstream_went_out_is_not_suppressed_after_a_restart():
    replay = announced(an_active_verdict(BBR, a_trouble("bbr")), catalogue=CATALOGUE)
    replay.set_verdicts(an_active_verdict(ISTIO, LOST)).advance(100)
    assert BBR not in replay.evaluation.suppressions.suppressed_by
    replay.new_writes  # noqa: B018  istiod
    replay.restart(back_after=5)
    assert BBR not in replay.evaluation.suppressions.suppressed_by
    assert replay.advance(100).new_writes == []


def test_an_outage_began_when_it_was_first_seen_although_it_comes_and_goes():
    flapping = announced(an_active_verdict(ISTIO, LOST), catalogue=CATALOGUE)
    began = flapping.evaluation.suppressions.outages[ISTIO].began_at
    flapping.set_clear(ISTIO).advance(10)
    flapping.set_verdicts(an_active_verdict(ISTIO, LOST)).restart(back_after=5)
    assert flapping.evaluation.suppressions.outages[ISTIO].began_at == began


def test_an_event_about_an_earlier_subject_of_its_name_is_not_continued():
    record = announced(an_active_verdict(BBR)).writes[-1]
    second = timedelta(seconds=1)
    for born, living in (
        (None, [record]),
        (record.last_timestamp, [record]),
        (record.last_timestamp + second, []),
    ):
        born_at = {record.key.subject: born}.get
        assert list(of_living_subjects([record], born_at)) == living
