"""
What a lost answer, an orthogonal finding or an empty group must not change.
"""

import itertools
from dataclasses import replace
from datetime import timedelta

from reporter.model.words import Kind
from reporter.stages.outcome import Outcome
from reporter.stages.suppression import wakes as lifts
from reporter.stages.voice import wakes
from tests.builders import a_catalogue, a_key, active, an_entry
from tests.play import Play
from tests.unit.stages.test_collapse import ROUTE, a_play, all_of, keys, sets
from tests.unit.stages.test_speaking import BBR, ENTRIES, ISTIO, KAITO, PODS, a_stack, out


def test_a_ready_without_an_answer_is_sent_again_under_the_same_name():
    play = Play(a_catalogue(*ENTRIES)).say(active(BBR)).clear(BBR).after(29)
    play.outcome = Outcome.UNCERTAIN
    play.after(1)
    play.outcome, play.speaking = Outcome.WRITTEN, False
    play.after(5).speaking = True
    play.after(10)
    _, first, second = play.written
    assert (first.key, first.episode) == (second.key, second.episode)
    assert second.last > first.last
    assert play.said[1:] == ["clusterReady x1", "clusterReady x1"]


def test_a_rewrite_that_was_sent_twice_is_still_the_only_one_of_its_minute():
    play = Play(a_catalogue(*ENTRIES)).say(active(ISTIO))
    play.outcome = Outcome.UNCERTAIN
    play.says[BBR] = active(BBR)
    play.step()
    play.outcome = Outcome.WRITTEN
    play.after(1).say(active(KAITO)).after(50)
    assert play.said[0] == "clusterIstio x1"
    assert not play.last.endswith("(also: clusterBBR, clusterKaito)")
    assert play.after(15).last.endswith("(also: clusterBBR, clusterKaito)")


def test_an_orthogonal_finding_holds_no_ready_back():
    slow = an_entry("clusterSlow", None, orthogonal=True)
    play = Play(a_catalogue(*ENTRIES, slow))
    play.say(active(BBR)).say(active(a_key("clusterSlow")))
    assert play.said == ["clusterBBR x1", "clusterSlow x1"]
    assert play.clear(BBR).after(31).said == ["clusterReady x1"]


def test_an_orthogonal_finding_that_was_read_back_has_a_moment_at_which_it_ends():
    slow = an_entry("clusterSlow", None, orthogonal=True)
    key = a_key("clusterSlow")
    play = Play(a_catalogue(slow)).say(active(key))
    play.says.clear()
    play.restart()
    settle = play.terms.patience.settle
    assert wakes(play.voice, settle=settle, now=play.now) == play.now + settle
    assert play.after(settle + timedelta(seconds=1)).voice.episodes == {}


def test_the_speaker_of_a_subject_names_what_its_outranked_reasons_silence():
    play = a_stack()
    play.says = {ISTIO: active(ISTIO), KAITO: out(KAITO, "kaito"), PODS: active(PODS)}
    assert play.step().said == ["clusterIstio x1"]
    assert play.last.endswith(
        "(also: clusterKaito) (suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )


def test_an_upstream_out_of_sight_while_its_row_fades_goes_on_suppressing():
    play = a_stack().say(out(KAITO, kind=Kind.LOST)).say(active(PODS))
    play.clear(KAITO).after(10).unknown(KAITO).after(600)
    assert play.state(PODS) == "suppressed"
    assert play.clear(KAITO).after(19).state(PODS) == "suppressed"
    assert play.after(2).state(PODS) != "suppressed"


def test_a_group_with_nobody_left_does_not_speak_for_one_that_fails_alone():
    subjects = sets(11)
    play = a_play(*subjects).say(*all_of(subjects)).unknown(*keys(subjects[:1], ROUTE))
    play.clear(*keys(subjects)).after(60)
    assert len(play.said) == 1
    play.say(*all_of(subjects[3:4])).after(1)
    assert play.written[-1].key.subject == subjects[3]


def test_what_to_set_right_is_noted_with_trouble_too():
    noted = replace(active(BBR), notes=("set it",))
    play = Play(a_catalogue(*ENTRIES)).say(noted)
    assert play.judged.notes == {BBR: ("set it",)}
    assert play.clear(BBR).judged.notes == {}


def test_the_newest_of_several_readys_closes():
    play = Play(a_catalogue(*ENTRIES))
    for _ in range(2):
        play.say(active(BBR)).after(5).clear(BBR).after(60)
    assert play.said == ["clusterBBR x1", "clusterReady x1"] * 2
    assert play.restart(back_after=10).after(600).said == []


def test_a_ready_goes_before_the_trouble_of_others_of_its_layer():
    well, ill = sets(2)[::-1]
    play = a_play(well, ill).say(*all_of([well])).clear(*keys([well]))
    play.after(29)
    play.says |= {each.key: each for each in all_of([ill])}
    assert play.after(1).said == [f"{PODS.reason} x1", "inferencesetReady x1", f"{PODS.reason} x1"]


def test_heartbeats_are_spread_by_a_tenth_each_way():
    play = Play(a_catalogue(*ENTRIES)).say(active(BBR)).after(timedelta(hours=3))
    moments = [record.last for record in play.written]
    spans = {(b - a).total_seconds() for a, b in itertools.pairwise(moments)}
    assert min(spans) >= 270
    assert max(spans) <= 331
    assert max(spans) - min(spans) > 20


def test_time_that_nobody_looked_at_does_not_count_as_quiet():
    play = a_stack().say(out(KAITO)).say(active(PODS))
    play.now += timedelta(seconds=25)
    play.clear(KAITO)
    assert play.after(29).state(PODS) == "suppressed"
    assert play.after(2).state(PODS) != "suppressed"


def test_a_row_lifts_at_the_very_end_of_the_settle():
    play = a_stack().say(out(KAITO)).say(active(PODS)).clear(KAITO)
    assert play.after(29).state(PODS) == "suppressed"
    assert play.after(1).state(PODS) != "suppressed"


def test_what_could_never_be_seen_stays_unknown_when_its_row_lifts():
    play = a_stack().unknown(PODS).say(out(KAITO)).clear(KAITO).after(60)
    assert play.state(PODS) == "unknown"


def test_the_moment_at_which_a_row_lifts_is_known():
    play = a_stack().say(out(KAITO)).clear(KAITO)
    settle = play.terms.patience.settle
    assert lifts(play.judged.silence, settle=settle) == play.now + settle


def test_a_group_that_was_read_back_is_not_said_to_be_well_once_its_sets_are_gone():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects)).restart(back_after=10)
    play.subjects = play.subjects - {*subjects}
    play.says.clear()
    assert play.after(600).said == [f"{PODS.reason} x1"]
