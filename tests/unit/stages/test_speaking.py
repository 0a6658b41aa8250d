"""
From verdicts to Events: ranks, suffixes, suppression, heartbeats, Ready, restarts.
"""

from datetime import timedelta

import pytest

from reporter.model.entries import Scope
from reporter.model.subjects import CLUSTER, Subject
from reporter.model.words import Emission, Kind, Layer
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.outcome import Outcome
from reporter.stages.voice import Voice
from tests.builders import a_catalogue, a_key, a_row, a_trouble, active, an_entry
from tests.play import Play


ISTIO, BBR, KAITO = a_key("clusterIstio"), a_key("clusterBBR"), a_key("clusterKaito")
ENTRIES = (
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
)
SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
PODS, ROUTE = a_key("inferencesetPods", SET), a_key("inferencesetRoute", SET)
MODELS = (
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    an_entry("inferencesetRoute", 20, layer=Layer.MODELDEPLOYMENT),
)
ROWS = (a_row("clusterKaito", "inferencesetPods"), a_row("clusterIstio", "inferencesetRoute"))


def a_play(**changes) -> Play:
    return Play(a_catalogue(*ENTRIES, **changes.pop("catalogue", {})), **changes)


def a_stack(**changes) -> Play:
    catalogue = a_catalogue(*ENTRIES, *MODELS, rows=ROWS)
    return Play(catalogue, subjects=frozenset({CLUSTER, SET}), **changes)


def out(key, name="thing", **changes):
    return active(key, a_trouble(name, out=True, **changes))


def test_a_first_announcement_is_not_delayed():
    assert a_play().say(active(BBR)).said == ["clusterBBR x1"]


def test_a_settled_clear_is_followed_by_one_ready_and_nothing_else():
    play = a_play().say(active(BBR))
    play.clear(BBR).after(29)
    assert play.said == ["clusterBBR x1"]
    assert play.after(2).said == ["clusterReady x1"]
    assert play.after(timedelta(hours=3)).said == []


def test_nothing_is_said_ready_of_which_nothing_was_announced():
    play = a_play().say(active(BBR, a_trouble(kind=Kind.LOST))).after(20)
    assert play.clear(BBR).after(timedelta(hours=1)).said == []


def test_the_heartbeat_counts_and_comes_within_a_tenth():
    play = a_play().say(active(BBR))
    assert play.after(269).said == ["clusterBBR x1"]
    assert play.after(62).said == ["clusterBBR x2"]
    first, second = play.written
    assert (first.episode, first.first) == (second.episode, second.first)
    assert second.last > first.last


def test_only_the_highest_rank_speaks_and_names_the_others():
    play = a_play().say(active(BBR), active(ISTIO, a_trouble("istiod")))
    assert "clusterIstio x1" in play.said
    assert play.last.endswith(" (also: clusterBBR)")


def test_at_once_the_cause_of_higher_rank_is_the_only_one_announced():
    play = a_play()
    play.says = {BBR: active(BBR), ISTIO: active(ISTIO)}
    assert play.step().said == ["clusterIstio x1"]
    assert play.state(BBR) == "outranked"


def test_a_higher_cause_that_is_still_held_outranks_nobody():
    play = a_play()
    play.says = {BBR: active(BBR), ISTIO: active(ISTIO, a_trouble(kind=Kind.LOST))}
    assert play.step().said == ["clusterBBR x1"]


def test_emission_all_announces_each():
    play = a_play(terms=Terms(emission=Emission.ALL))
    play.says = {BBR: active(BBR), ISTIO: active(ISTIO)}
    assert play.step().said == ["clusterIstio x1", "clusterBBR x1"]


def test_the_outranked_one_speaks_up_when_the_other_has_settled():
    play = a_play()
    play.says = {BBR: active(BBR), ISTIO: active(ISTIO)}
    play.step().clear(ISTIO)
    assert play.after(29).said == ["clusterIstio x1"]
    assert play.after(2).said == ["clusterBBR x1"]
    assert play.clear(BBR).after(31).said == ["clusterReady x1"]


def test_a_crash_that_has_been_over_for_the_settle_outranks_nobody():
    play = a_play().say(active(ISTIO, a_trouble(crash=True)), active(BBR))
    play.clear(ISTIO).after(29)
    assert play.said == ["clusterIstio x1"]
    assert play.after(1).said == ["clusterBBR x1"]


def test_a_heartbeat_does_not_wait_for_the_least_time_between_rewrites():
    play = a_play(terms=Terms(heartbeat=timedelta(seconds=30)))
    play.say(active(ISTIO)).say(active(BBR)).say(active(KAITO)).after(34)
    assert play.said == ["clusterIstio x1", "clusterIstio x2", "clusterIstio x3"]
    assert play.last.endswith("(also: clusterBBR, clusterKaito)")


def test_a_suffix_is_rewritten_at_most_once_a_minute():
    play = a_play().say(active(ISTIO)).say(active(BBR))
    assert play.said == ["clusterIstio x1", "clusterIstio x2"]
    assert play.say(active(KAITO)).after(58).said == []
    assert play.after(3).said == ["clusterIstio x3"]
    assert play.last.endswith("(also: clusterBBR, clusterKaito)")


def test_a_change_of_cause_is_written_a_change_of_counts_is_not():
    one = {"fields": {"object": "Thing", "state": "has 1/3", "pods": ""}}
    two = {"fields": {"object": "Thing", "state": "has 2/3", "pods": ""}}
    play = a_play().say(active(BBR, a_trouble(code="Degraded", **one)))
    assert play.say(active(BBR, a_trouble(code="Degraded", **two))).said == ["clusterBBR x1"]
    assert play.say(active(BBR, a_trouble(code="Unavailable", **two))).said == ["clusterBBR x2"]


def test_nothing_is_written_while_a_finding_settles_or_is_unknown():
    play = a_play().say(active(BBR))
    play.clear(BBR).after(20).unknown(BBR).after(timedelta(hours=2))
    assert play.said == ["clusterBBR x1"]
    play.clear(BBR)
    assert play.after(11).said == ["clusterReady x1"]


def test_one_unknown_reason_holds_ready_back():
    play = a_play().say(active(BBR)).unknown(KAITO)
    assert play.clear(BBR).after(60).said == ["clusterBBR x1"]
    assert play.clear(KAITO).after(1).said == ["clusterReady x1"]


def test_a_recurrence_is_a_new_episode():
    play = a_play().say(active(BBR)).clear(BBR).after(40)
    play.say(active(BBR))
    first, ready, second = play.written
    assert (first.count, second.count) == (1, 1)
    assert first.episode != second.episode
    assert ready.key.reason == "clusterReady"


def test_flapping_within_the_settle_is_one_episode_and_no_rewrite():
    play = a_play().say(active(BBR))
    for _ in range(6):
        play.clear(BBR).after(20).say(active(BBR)).after(20)
    assert play.said == ["clusterBBR x1"]


def test_a_suppressed_finding_is_silent_and_named_by_its_root():
    play = a_stack().say(out(KAITO, "kaito"), active(PODS))
    assert play.said == ["clusterKaito x1"]
    assert play.last.endswith(
        " (suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )
    assert play.state(PODS) == "suppressed"


def test_a_held_upstream_suppresses_too():
    play = a_stack().say(out(KAITO, "kaito", kind=Kind.LOST), active(PODS))
    assert (play.said, play.state(KAITO), play.state(PODS)) == ([], "held", "suppressed")


def test_a_degraded_upstream_suppresses_nothing():
    play = a_stack().say(active(KAITO), active(PODS))
    assert play.said == ["clusterKaito x1", "inferencesetPods x1"]


def test_on_recovery_ready_comes_first_and_downstream_has_the_settle_left():
    play = a_stack().say(out(KAITO, "kaito"), active(PODS)).after(100)
    assert play.said == ["clusterKaito x1"]
    play.clear(KAITO).after(31)
    assert play.said == ["clusterReady x1"]
    assert play.after(27).said == []
    assert play.after(3).said == ["inferencesetPods x1"]


def test_downstream_that_healed_meanwhile_says_nothing():
    play = a_stack().say(out(KAITO, "kaito"), active(PODS)).after(100)
    play.clear(KAITO).after(31).clear(PODS).after(timedelta(hours=1))
    assert play.said == ["clusterKaito x1", "clusterReady x1"]


def test_downstream_announced_before_upstream_went_out_continues_its_episode():
    play = a_stack().say(active(PODS)).after(10).say(out(KAITO, "kaito")).after(100)
    play.clear(KAITO).after(40)
    counts = [(r.key.reason, r.count) for r in play.written]
    assert counts[-1] == ("inferencesetPods", 2)
    assert len({r.episode for r in play.written if r.key == PODS}) == 1


def test_an_upstream_that_became_unknown_goes_on_suppressing():
    play = a_stack().say(out(KAITO, "kaito"), active(PODS)).unknown(KAITO)
    assert play.after(timedelta(hours=2)).state(PODS) == "suppressed"


def test_time_in_which_an_upstream_could_not_be_seen_lifts_no_row():
    play = a_stack().say(out(KAITO, "kaito"), active(PODS)).clear(KAITO).after(10).unknown(KAITO)
    play.now += timedelta(seconds=25)
    assert play.clear(KAITO).after(19).state(PODS) == "suppressed"
    assert play.after(2).state(PODS) == "held"


def test_a_suppressed_primary_lets_its_sibling_speak():
    play = a_stack().say(out(KAITO, "kaito"), active(PODS), active(ROUTE))
    assert "inferencesetRoute x1" in play.said
    assert "inferencesetPods" not in play.written[-1].message


def test_a_suppressed_finding_holds_its_subjects_ready_back():
    play = a_stack().say(active(ROUTE)).say(out(KAITO, "kaito"), active(PODS))
    play.clear(ROUTE).after(60)
    assert "inferencesetReady x1" not in play.said


def test_a_restart_says_nothing_and_continues_the_count():
    play = a_play().say(active(BBR)).restart(back_after=20)
    assert play.said == ["clusterBBR x1"]
    assert play.after(330).said == ["clusterBBR x2"]
    assert len({r.episode for r in play.written}) == 1


def test_what_settled_before_a_followers_eyes_is_over_when_it_leads():
    play = a_play().say(active(BBR), active(ISTIO))
    assert play.said == ["clusterIstio x1"]
    play.speaking = False
    play.clear(ISTIO).after(45).take_over()
    play.say(active(ISTIO, a_trouble(kind=Kind.DECLARED)))
    assert "clusterIstio x1" in play.said
    assert len({r.episode for r in play.written if r.key == ISTIO}) == 2


@pytest.mark.parametrize(("clear", "episodes"), [(59, 1), (61, 2), (3000, 2)])
def test_trouble_at_a_takeover_is_new_if_that_of_before_settled_before_a_followers_eyes(
    clear, episodes
):
    play = a_play().say(active(BBR), active(ISTIO))
    play.speaking = False
    play.clear(ISTIO).after(clear).say(active(ISTIO)).after(20).take_over()
    assert len({r.episode for r in play.written if r.key == ISTIO}) == episodes


def test_what_settled_before_its_event_was_last_written_is_no_news_at_a_takeover():
    play = a_play().say(active(BBR), active(ISTIO))
    play.clear(ISTIO).after(100).say(active(ISTIO))
    play.speaking = False
    assert play.said.count("clusterIstio x1") == 2
    assert play.after(20).take_over().said == []


def test_what_could_not_be_seen_in_between_is_no_new_trouble_at_a_takeover():
    play = a_play().say(active(BBR), active(ISTIO))
    play.speaking = False
    play.clear(ISTIO).after(31).unknown(ISTIO).after(100).say(active(ISTIO)).take_over()
    assert len({r.episode for r in play.written if r.key == ISTIO}) == 1


def test_trouble_that_is_there_at_a_takeover_is_not_told_twice_by_who_saw_it_late():
    play = a_play().say(active(ISTIO))
    assert play.said == ["clusterIstio x1"]
    play.judged, play.voice, play.speaking = Judgement(), Voice(), False
    play.says.clear()
    play.step().after(45)
    play.say(active(ISTIO)).take_over()
    assert play.said == []


def test_flapping_is_not_told_twice_by_who_saw_its_return_late():
    play = a_play().say(active(BBR), active(ISTIO))
    play.speaking = False
    play.clear(ISTIO).after(20 + 10 + 20)
    play.say(active(ISTIO)).take_over()
    assert len({r.episode for r in play.written if r.key == ISTIO}) == 1


def test_ready_that_a_dead_leader_owed_is_said_at_once_by_who_saw_all_settle():
    play = a_play().say(active(BBR))
    assert play.said == ["clusterBBR x1"]
    play.speaking = False
    play.clear(BBR).after(45)
    assert play.take_over().said == ["clusterReady x1"]


def test_what_cleared_while_nobody_looked_gets_its_ready_after_the_settle():
    play = a_play().say(active(BBR))
    play.says.clear()
    play.restart(back_after=20)
    assert play.after(28).said == ["clusterBBR x1"]
    assert play.after(3).said == ["clusterReady x1"]


def test_after_a_ready_nothing_is_taken_up_again():
    play = a_play().say(active(BBR)).clear(BBR).after(40)
    assert play.said == ["clusterBBR x1", "clusterReady x1"]
    assert play.restart(back_after=20).after(timedelta(hours=2)).said == []


def test_an_event_of_more_than_an_hour_ago_is_no_running_episode():
    play = a_play().say(active(BBR))
    play.says.clear()
    assert play.restart(back_after=3601).after(100).said == ["clusterBBR x1"]


def test_a_cause_that_changed_over_a_restart_is_written():
    play = a_play().say(active(BBR, a_trouble(code="Degraded")))
    play.says[BBR] = active(BBR, a_trouble(code="Unavailable"))
    assert play.restart(back_after=5).said == ["clusterBBR x1", "clusterBBR x2"]


def test_a_write_without_an_answer_is_sent_again_under_the_same_name():
    play = a_play(speaking=False)
    play.says[BBR] = active(BBR)
    play.step()
    play.speak(Outcome.UNCERTAIN)
    play.speaking = True
    play.after(1)
    first, second = play.written
    assert (first.episode, first.count) == (second.episode, second.count)
    assert play.clear(BBR).after(40).written[-1].key.reason == "clusterReady"


def test_a_write_that_is_refused_for_ever_is_not_repeated_and_owes_no_ready():
    play = a_play(speaking=False)
    play.says[BBR] = active(BBR)
    play.step()
    play.speak(Outcome.DROPPED)
    play.speaking = True
    assert play.after(60).clear(BBR).after(60).said == ["clusterBBR x1"]


def many(number: int) -> tuple[Play, list]:
    subjects = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:02}") for i in range(number)]
    play = Play(a_catalogue(*ENTRIES, *MODELS), subjects=frozenset({CLUSTER, *subjects}))
    return play, [a_key("inferencesetPods", s) for s in subjects]


def test_more_than_ten_of_one_namespace_speak_as_one():
    play, keys = many(12)
    play.say(*(active(key) for key in keys))
    assert play.said == ["inferencesetPods x1"]
    assert "12 InferenceSets (model-00, model-01, model-02 and 9 more)" in play.last
    play.clear(*keys[:11]).after(40)
    assert play.said == []
    play.clear(keys[11]).after(40)
    assert play.said == ["inferencesetReady x1"]
    assert "model-00, model-01, model-02 and 9 more" in play.last


def test_ten_speak_each_for_itself():
    play, keys = many(10)
    assert len(play.say(*(active(key) for key in keys)).said) == 10


def test_those_still_held_count_and_those_with_an_event_fall_silent():
    play, keys = many(12)
    play.say(active(keys[0]))
    held = [active(key, a_trouble(kind=Kind.LOST)) for key in keys[1:]]
    play.say(*held).after(40)
    said = play.said
    assert said.count("inferencesetPods x1") == 2
    play.clear(*keys).after(40)
    readies = [r.key.subject.name for r in play.written if r.key.reason == "inferencesetReady"]
    assert sorted(readies) == ["", "model-00"]


def test_a_deleted_subject_ends_its_episode_without_ready():
    play = a_stack().say(active(PODS))
    play.subjects = frozenset({CLUSTER})
    play.says.clear()
    assert play.after(timedelta(hours=1)).said == ["inferencesetPods x1"]
    assert play.voice.episodes == {}


def test_a_namespace_row_reaches_its_own_namespace_only():
    harness = [Subject(Layer.MODELHARNESS, f"team-{x}") for x in "ab"]
    sets = [Subject(Layer.MODELDEPLOYMENT, f"team-{x}", "qwen") for x in "ab"]
    gateway = an_entry("modelharnessGateway", 10, layer=Layer.MODELHARNESS)
    row = a_row("modelharnessGateway", "inferencesetRoute", Scope.NAMESPACE)
    play = Play(a_catalogue(gateway, *MODELS, rows=(row,)), subjects=frozenset({*harness, *sets}))
    routes = [a_key("inferencesetRoute", s) for s in sets]
    play.say(out(a_key("modelharnessGateway", harness[0])), *(active(r) for r in routes))
    assert [play.state(r) for r in routes] == ["suppressed", "announced"]


def test_a_recurrence_in_the_second_of_the_ready_is_a_running_episode():
    play = a_play().say(active(BBR)).clear(BBR).after(30).say(active(BBR))
    assert play.said == ["clusterBBR x1", "clusterReady x1", "clusterBBR x1"]
    assert play.restart(back_after=0.5).after(5).said == []
