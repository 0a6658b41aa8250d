"""
What a lost answer, an orthogonal finding or an empty group must not change.
"""

import itertools
from dataclasses import replace
from datetime import timedelta

from reporter.model.enums import TroubleKind
from reporter.stages.announcing.episodes import next_episode_deadline
from reporter.stages.announcing.outcome import WriteOutcome
from reporter.stages.evaluation.suppression import next_suppression_deadline as lifts
from tests.support.builders import a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.replay import Replay
from tests.unit.stages.announcing.test_announcements import (
    BBR,
    ENTRIES,
    ISTIO,
    KAITO,
    PODS,
    a_stack,
    out,
)
from tests.unit.stages.announcing.test_grouping import ROUTE, a_play, all_of, keys, sets


def test_a_ready_without_an_answer_is_sent_again_under_the_same_name():
    play = (
        Replay(a_catalogue(*ENTRIES))
        .set_verdicts(an_active_verdict(BBR))
        .set_clear(BBR)
        .advance(29)
    )
    play.write_outcome = WriteOutcome.UNCERTAIN
    play.advance(1)
    play.write_outcome, play.announcing = WriteOutcome.WRITTEN, False
    play.advance(5).announcing = True
    play.advance(10)
    _, first, second = play.writes
    assert (first.key, first.episode_start) == (second.key, second.episode_start)
    assert second.last_timestamp > first.last_timestamp
    assert play.new_writes[1:] == ["clusterReady x1", "clusterReady x1"]


def test_a_rewrite_that_was_sent_twice_is_still_the_only_one_of_its_minute():
    play = Replay(a_catalogue(*ENTRIES)).set_verdicts(an_active_verdict(ISTIO))
    play.write_outcome = WriteOutcome.UNCERTAIN
    play.verdicts[BBR] = an_active_verdict(BBR)
    play.run_pass()
    play.write_outcome = WriteOutcome.WRITTEN
    play.advance(1).set_verdicts(an_active_verdict(KAITO)).advance(50)
    assert play.new_writes[0] == "clusterIstio x1"
    assert not play.last_message.endswith("(also: clusterBBR, clusterKaito)")
    assert play.advance(15).last_message.endswith("(also: clusterBBR, clusterKaito)")


def test_an_orthogonal_finding_holds_no_ready_back():
    slow = an_entry("clusterSlow", None, orthogonal=True)
    play = Replay(a_catalogue(*ENTRIES, slow))
    play.set_verdicts(an_active_verdict(BBR)).set_verdicts(an_active_verdict(a_key("clusterSlow")))
    assert play.new_writes == ["clusterBBR x1", "clusterSlow x1"]
    assert play.set_clear(BBR).advance(31).new_writes == ["clusterReady x1"]


def test_an_orthogonal_finding_that_was_read_back_has_a_moment_at_which_it_ends():
    slow = an_entry("clusterSlow", None, orthogonal=True)
    key = a_key("clusterSlow")
    play = Replay(a_catalogue(slow)).set_verdicts(an_active_verdict(key))
    play.verdicts.clear()
    play.restart()
    settle = play.settings.delays.settle
    assert (
        next_episode_deadline(play.announcement_state, settle=settle, now=play.now)
        == play.now + settle
    )
    assert play.advance(settle + timedelta(seconds=1)).announcement_state.episodes == {}


def test_the_speaker_of_a_subject_names_what_its_outranked_reasons_silence():
    play = a_stack()
    play.verdicts = {
        ISTIO: an_active_verdict(ISTIO),
        KAITO: out(KAITO, "kaito"),
        PODS: an_active_verdict(PODS),
    }
    assert play.run_pass().new_writes == ["clusterIstio x1"]
    assert play.last_message.endswith(
        "(also: clusterKaito) (suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )


def test_an_upstream_out_of_sight_while_its_row_fades_goes_on_suppressing():
    play = (
        a_stack()
        .set_verdicts(out(KAITO, kind=TroubleKind.LOST))
        .set_verdicts(an_active_verdict(PODS))
    )
    play.set_clear(KAITO).advance(10).set_unknown(KAITO).advance(600)
    assert play.state(PODS) == "suppressed"
    assert play.set_clear(KAITO).advance(19).state(PODS) == "suppressed"
    assert play.advance(2).state(PODS) != "suppressed"


def test_a_group_with_nobody_left_does_not_speak_for_one_that_fails_alone():
    subjects = sets(11)
    play = (
        a_play(*subjects).set_verdicts(*all_of(subjects)).set_unknown(*keys(subjects[:1], ROUTE))
    )
    play.set_clear(*keys(subjects)).advance(60)
    assert len(play.new_writes) == 1
    play.set_verdicts(*all_of(subjects[3:4])).advance(1)
    assert play.writes[-1].key.subject == subjects[3]


def test_what_to_set_right_is_noted_with_trouble_too():
    noted = replace(an_active_verdict(BBR), notes=("set it",))
    play = Replay(a_catalogue(*ENTRIES)).set_verdicts(noted)
    assert play.evaluation.notes == {BBR: ("set it",)}
    assert play.set_clear(BBR).evaluation.notes == {}


def test_the_newest_of_several_readys_closes():
    play = Replay(a_catalogue(*ENTRIES))
    for _ in range(2):
        play.set_verdicts(an_active_verdict(BBR)).advance(5).set_clear(BBR).advance(60)
    assert play.new_writes == ["clusterBBR x1", "clusterReady x1"] * 2
    assert play.restart(back_after=10).advance(600).new_writes == []


def test_a_ready_goes_before_the_trouble_of_others_of_its_layer():
    well, ill = sets(2)[::-1]
    play = a_play(well, ill).set_verdicts(*all_of([well])).set_clear(*keys([well]))
    play.advance(29)
    play.verdicts |= {each.key: each for each in all_of([ill])}
    assert play.advance(1).new_writes == [
        f"{PODS.reason} x1",
        "inferencesetReady x1",
        f"{PODS.reason} x1",
    ]


def test_heartbeats_are_spread_by_a_tenth_each_way():
    play = (
        Replay(a_catalogue(*ENTRIES))
        .set_verdicts(an_active_verdict(BBR))
        .advance(timedelta(hours=3))
    )
    moments = [record.last_timestamp for record in play.writes]
    spans = {(b - a).total_seconds() for a, b in itertools.pairwise(moments)}
    assert min(spans) >= 270
    assert max(spans) <= 331
    assert max(spans) - min(spans) > 20


def test_time_that_nobody_looked_at_does_not_count_as_quiet():
    play = a_stack().set_verdicts(out(KAITO)).set_verdicts(an_active_verdict(PODS))
    play.now += timedelta(seconds=25)
    play.set_clear(KAITO)
    assert play.advance(29).state(PODS) == "suppressed"
    assert play.advance(2).state(PODS) != "suppressed"


def test_a_row_lifts_at_the_very_end_of_the_settle():
    play = (
        a_stack().set_verdicts(out(KAITO)).set_verdicts(an_active_verdict(PODS)).set_clear(KAITO)
    )
    assert play.advance(29).state(PODS) == "suppressed"
    assert play.advance(1).state(PODS) != "suppressed"


def test_what_could_never_be_seen_stays_unknown_when_its_row_lifts():
    play = a_stack().set_unknown(PODS).set_verdicts(out(KAITO)).set_clear(KAITO).advance(60)
    assert play.state(PODS) == "unknown"


def test_the_moment_at_which_a_row_lifts_is_known():
    play = a_stack().set_verdicts(out(KAITO)).set_clear(KAITO)
    settle = play.settings.delays.settle
    assert lifts(play.evaluation.suppressions, settle=settle) == play.now + settle


def test_a_group_that_was_read_back_is_not_said_to_be_well_once_its_sets_are_gone():
    subjects = sets(12)
    play = a_play(*subjects).set_verdicts(*all_of(subjects)).restart(back_after=10)
    play.subjects = play.subjects - {*subjects}
    play.verdicts.clear()
    assert play.advance(600).new_writes == [f"{PODS.reason} x1"]
