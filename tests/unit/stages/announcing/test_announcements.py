"""
From verdicts to Events: ranks, suffixes, suppression, heartbeats, Ready, restarts.
"""

from datetime import timedelta

import pytest

from reporter.model.entries import Scope
from reporter.model.enums import Emission, Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.stages.announcing.announcement_state import AnnouncementState
from reporter.stages.announcing.outcome import WriteOutcome
from reporter.stages.evaluation.evaluation import Evaluation, EvaluationSettings
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay


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
ROWS = (
    a_suppression("clusterKaito", "inferencesetPods"),
    a_suppression("clusterIstio", "inferencesetRoute"),
)


def a_play(**changes) -> Replay:
    return Replay(a_catalogue(*ENTRIES, **changes.pop("catalogue", {})), **changes)


def a_stack(**changes) -> Replay:
    catalogue = a_catalogue(*ENTRIES, *MODELS, rows=ROWS)
    return Replay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, SET}), **changes)


def out(key, name="thing", **changes):
    return an_active_verdict(key, a_trouble(name, is_out=True, **changes))


def test_a_first_announcement_is_not_delayed():
    assert a_play().set_verdicts(an_active_verdict(BBR)).new_writes == ["clusterBBR x1"]


def test_a_settled_clear_is_followed_by_one_ready_and_nothing_else():
    play = a_play().set_verdicts(an_active_verdict(BBR))
    play.set_clear(BBR).advance(29)
    assert play.new_writes == ["clusterBBR x1"]
    assert play.advance(2).new_writes == ["clusterReady x1"]
    assert play.advance(timedelta(hours=3)).new_writes == []


def test_nothing_is_said_ready_of_which_nothing_was_announced():
    play = (
        a_play().set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))).advance(20)
    )
    assert play.set_clear(BBR).advance(timedelta(hours=1)).new_writes == []


def test_the_heartbeat_counts_and_comes_within_a_tenth():
    play = a_play().set_verdicts(an_active_verdict(BBR))
    assert play.advance(269).new_writes == ["clusterBBR x1"]
    assert play.advance(62).new_writes == ["clusterBBR x2"]
    first, second = play.writes
    assert (first.episode_start, first.first_timestamp) == (
        second.episode_start,
        second.first_timestamp,
    )
    assert second.last_timestamp > first.last_timestamp


def test_only_the_highest_rank_speaks_and_names_the_others():
    play = a_play().set_verdicts(
        an_active_verdict(BBR), an_active_verdict(ISTIO, a_trouble("istiod"))
    )
    assert "clusterIstio x1" in play.new_writes
    assert play.last_message.endswith(" (also: clusterBBR)")


def test_at_once_the_cause_of_higher_rank_is_the_only_one_announced():
    play = a_play()
    play.verdicts = {BBR: an_active_verdict(BBR), ISTIO: an_active_verdict(ISTIO)}
    assert play.run_pass().new_writes == ["clusterIstio x1"]
    assert play.state(BBR) == "outranked"


def test_a_higher_cause_that_is_still_held_outranks_nobody():
    play = a_play()
    play.verdicts = {
        BBR: an_active_verdict(BBR),
        ISTIO: an_active_verdict(ISTIO, a_trouble(kind=TroubleKind.LOST)),
    }
    assert play.run_pass().new_writes == ["clusterBBR x1"]


def test_emission_all_announces_each():
    play = a_play(settings=EvaluationSettings(emission=Emission.ALL))
    play.verdicts = {BBR: an_active_verdict(BBR), ISTIO: an_active_verdict(ISTIO)}
    assert play.run_pass().new_writes == ["clusterIstio x1", "clusterBBR x1"]


def test_the_outranked_one_speaks_up_when_the_other_has_settled():
    play = a_play()
    play.verdicts = {BBR: an_active_verdict(BBR), ISTIO: an_active_verdict(ISTIO)}
    play.run_pass().set_clear(ISTIO)
    assert play.advance(29).new_writes == ["clusterIstio x1"]
    assert play.advance(2).new_writes == ["clusterBBR x1"]
    assert play.set_clear(BBR).advance(31).new_writes == ["clusterReady x1"]


def test_a_crash_that_has_been_over_for_the_settle_outranks_nobody():
    play = a_play().set_verdicts(
        an_active_verdict(ISTIO, a_trouble(is_crash=True)), an_active_verdict(BBR)
    )
    play.set_clear(ISTIO).advance(29)
    assert play.new_writes == ["clusterIstio x1"]
    assert play.advance(1).new_writes == ["clusterBBR x1"]


def test_a_heartbeat_does_not_wait_for_the_least_time_between_rewrites():
    play = a_play(settings=EvaluationSettings(heartbeat=timedelta(seconds=30)))
    play.set_verdicts(an_active_verdict(ISTIO)).set_verdicts(an_active_verdict(BBR)).set_verdicts(
        an_active_verdict(KAITO)
    ).advance(34)
    assert play.new_writes == ["clusterIstio x1", "clusterIstio x2", "clusterIstio x3"]
    assert play.last_message.endswith("(also: clusterBBR, clusterKaito)")


def test_a_suffix_is_rewritten_at_most_once_a_minute():
    play = a_play().set_verdicts(an_active_verdict(ISTIO)).set_verdicts(an_active_verdict(BBR))
    assert play.new_writes == ["clusterIstio x1", "clusterIstio x2"]
    assert play.set_verdicts(an_active_verdict(KAITO)).advance(58).new_writes == []
    assert play.advance(3).new_writes == ["clusterIstio x3"]
    assert play.last_message.endswith("(also: clusterBBR, clusterKaito)")


def test_a_change_of_cause_is_written_a_change_of_counts_is_not():
    one = {"message_fields": {"object": "Thing", "state": "has 1/3", "pods": ""}}
    two = {"message_fields": {"object": "Thing", "state": "has 2/3", "pods": ""}}
    play = a_play().set_verdicts(an_active_verdict(BBR, a_trouble(code="Degraded", **one)))
    assert play.set_verdicts(
        an_active_verdict(BBR, a_trouble(code="Degraded", **two))
    ).new_writes == ["clusterBBR x1"]
    assert play.set_verdicts(
        an_active_verdict(BBR, a_trouble(code="Unavailable", **two))
    ).new_writes == ["clusterBBR x2"]


def test_nothing_is_written_while_a_finding_settles_or_is_unknown():
    play = a_play().set_verdicts(an_active_verdict(BBR))
    play.set_clear(BBR).advance(20).set_unknown(BBR).advance(timedelta(hours=2))
    assert play.new_writes == ["clusterBBR x1"]
    play.set_clear(BBR)
    assert play.advance(11).new_writes == ["clusterReady x1"]


def test_one_unknown_reason_holds_ready_back():
    play = a_play().set_verdicts(an_active_verdict(BBR)).set_unknown(KAITO)
    assert play.set_clear(BBR).advance(60).new_writes == ["clusterBBR x1"]
    assert play.set_clear(KAITO).advance(1).new_writes == ["clusterReady x1"]


def test_a_recurrence_is_a_new_episode():
    play = a_play().set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(40)
    play.set_verdicts(an_active_verdict(BBR))
    first, ready, second = play.writes
    assert (first.count, second.count) == (1, 1)
    assert first.episode_start != second.episode_start
    assert ready.key.reason == "clusterReady"


def test_flapping_within_the_settle_is_one_episode_and_no_rewrite():
    play = a_play().set_verdicts(an_active_verdict(BBR))
    for _ in range(6):
        play.set_clear(BBR).advance(20).set_verdicts(an_active_verdict(BBR)).advance(20)
    assert play.new_writes == ["clusterBBR x1"]


def test_a_suppressed_finding_is_silent_and_named_by_its_root():
    play = a_stack().set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS))
    assert play.new_writes == ["clusterKaito x1"]
    assert play.last_message.endswith(
        " (suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )
    assert play.state(PODS) == "suppressed"


def test_a_held_upstream_suppresses_too():
    play = a_stack().set_verdicts(
        out(KAITO, "kaito", kind=TroubleKind.LOST), an_active_verdict(PODS)
    )
    assert (play.new_writes, play.state(KAITO), play.state(PODS)) == ([], "held", "suppressed")


def test_a_degraded_upstream_suppresses_nothing():
    play = a_stack().set_verdicts(an_active_verdict(KAITO), an_active_verdict(PODS))
    assert play.new_writes == ["clusterKaito x1", "inferencesetPods x1"]


def test_on_recovery_ready_comes_first_and_downstream_has_the_settle_left():
    play = a_stack().set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS)).advance(100)
    assert play.new_writes == ["clusterKaito x1"]
    play.set_clear(KAITO).advance(31)
    assert play.new_writes == ["clusterReady x1"]
    assert play.advance(27).new_writes == []
    assert play.advance(3).new_writes == ["inferencesetPods x1"]


def test_downstream_that_healed_meanwhile_says_nothing():
    play = a_stack().set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS)).advance(100)
    play.set_clear(KAITO).advance(31).set_clear(PODS).advance(timedelta(hours=1))
    assert play.new_writes == ["clusterKaito x1", "clusterReady x1"]


def test_downstream_announced_before_upstream_went_out_continues_its_episode():
    play = (
        a_stack()
        .set_verdicts(an_active_verdict(PODS))
        .advance(10)
        .set_verdicts(out(KAITO, "kaito"))
        .advance(100)
    )
    play.set_clear(KAITO).advance(40)
    counts = [(r.key.reason, r.count) for r in play.writes]
    assert counts[-1] == ("inferencesetPods", 2)
    assert len({r.episode_start for r in play.writes if r.key == PODS}) == 1


def test_an_upstream_that_became_unknown_goes_on_suppressing():
    play = a_stack().set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS)).set_unknown(KAITO)
    assert play.advance(timedelta(hours=2)).state(PODS) == "suppressed"


def test_time_in_which_an_upstream_could_not_be_seen_lifts_no_row():
    play = (
        a_stack()
        .set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS))
        .set_clear(KAITO)
        .advance(10)
        .set_unknown(KAITO)
    )
    play.now += timedelta(seconds=25)
    assert play.set_clear(KAITO).advance(19).state(PODS) == "suppressed"
    assert play.advance(2).state(PODS) == "held"


def test_a_suppressed_primary_lets_its_sibling_speak():
    play = a_stack().set_verdicts(
        out(KAITO, "kaito"), an_active_verdict(PODS), an_active_verdict(ROUTE)
    )
    assert "inferencesetRoute x1" in play.new_writes
    assert "inferencesetPods" not in play.writes[-1].message


def test_a_suppressed_finding_holds_its_subjects_ready_back():
    play = (
        a_stack()
        .set_verdicts(an_active_verdict(ROUTE))
        .set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS))
    )
    play.set_clear(ROUTE).advance(60)
    assert "inferencesetReady x1" not in play.new_writes


def test_a_restart_says_nothing_and_continues_the_count():
    play = a_play().set_verdicts(an_active_verdict(BBR)).restart(back_after=20)
    assert play.new_writes == ["clusterBBR x1"]
    assert play.advance(330).new_writes == ["clusterBBR x2"]
    assert len({r.episode_start for r in play.writes}) == 1


def test_what_settled_before_a_followers_eyes_is_over_when_it_leads():
    play = a_play().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    assert play.new_writes == ["clusterIstio x1"]
    play.announcing = False
    play.set_clear(ISTIO).advance(45).take_over()
    play.set_verdicts(an_active_verdict(ISTIO, a_trouble(kind=TroubleKind.DECLARED)))
    assert "clusterIstio x1" in play.new_writes
    assert len({r.episode_start for r in play.writes if r.key == ISTIO}) == 2


@pytest.mark.parametrize(("clear", "episodes"), [(59, 1), (61, 2), (3000, 2)])
def test_trouble_at_a_takeover_is_new_if_that_of_before_settled_before_a_followers_eyes(
    clear, episodes
):
    play = a_play().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    play.announcing = False
    play.set_clear(ISTIO).advance(clear).set_verdicts(an_active_verdict(ISTIO)).advance(
        20
    ).take_over()
    assert len({r.episode_start for r in play.writes if r.key == ISTIO}) == episodes


def test_what_settled_before_its_event_was_last_written_is_no_news_at_a_takeover():
    play = a_play().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    play.set_clear(ISTIO).advance(100).set_verdicts(an_active_verdict(ISTIO))
    play.announcing = False
    assert play.new_writes.count("clusterIstio x1") == 2
    assert play.advance(20).take_over().new_writes == []


def test_what_could_not_be_seen_in_between_is_no_new_trouble_at_a_takeover():
    play = a_play().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    play.announcing = False
    play.set_clear(ISTIO).advance(31).set_unknown(ISTIO).advance(100).set_verdicts(
        an_active_verdict(ISTIO)
    ).take_over()
    assert len({r.episode_start for r in play.writes if r.key == ISTIO}) == 1


def test_trouble_that_is_there_at_a_takeover_is_not_told_twice_by_who_saw_it_late():
    play = a_play().set_verdicts(an_active_verdict(ISTIO))
    assert play.new_writes == ["clusterIstio x1"]
    play.evaluation, play.announcement_state, play.announcing = (
        Evaluation(),
        AnnouncementState(),
        False,
    )
    play.verdicts.clear()
    play.run_pass().advance(45)
    play.set_verdicts(an_active_verdict(ISTIO)).take_over()
    assert play.new_writes == []


def test_flapping_is_not_told_twice_by_who_saw_its_return_late():
    play = a_play().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    play.announcing = False
    play.set_clear(ISTIO).advance(20 + 10 + 20)
    play.set_verdicts(an_active_verdict(ISTIO)).take_over()
    assert len({r.episode_start for r in play.writes if r.key == ISTIO}) == 1


def test_ready_that_a_dead_leader_owed_is_said_at_once_by_who_saw_all_settle():
    play = a_play().set_verdicts(an_active_verdict(BBR))
    assert play.new_writes == ["clusterBBR x1"]
    play.announcing = False
    play.set_clear(BBR).advance(45)
    assert play.take_over().new_writes == ["clusterReady x1"]


def test_what_cleared_while_nobody_looked_gets_its_ready_after_the_settle():
    play = a_play().set_verdicts(an_active_verdict(BBR))
    play.verdicts.clear()
    play.restart(back_after=20)
    assert play.advance(28).new_writes == ["clusterBBR x1"]
    assert play.advance(3).new_writes == ["clusterReady x1"]


def test_after_a_ready_nothing_is_taken_up_again():
    play = a_play().set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(40)
    assert play.new_writes == ["clusterBBR x1", "clusterReady x1"]
    assert play.restart(back_after=20).advance(timedelta(hours=2)).new_writes == []


def test_an_event_of_more_than_an_hour_ago_is_no_running_episode():
    play = a_play().set_verdicts(an_active_verdict(BBR))
    play.verdicts.clear()
    assert play.restart(back_after=3601).advance(100).new_writes == ["clusterBBR x1"]


def test_a_cause_that_changed_over_a_restart_is_written():
    play = a_play().set_verdicts(an_active_verdict(BBR, a_trouble(code="Degraded")))
    play.verdicts[BBR] = an_active_verdict(BBR, a_trouble(code="Unavailable"))
    assert play.restart(back_after=5).new_writes == ["clusterBBR x1", "clusterBBR x2"]


def test_a_write_without_an_answer_is_sent_again_under_the_same_name():
    play = a_play(announcing=False)
    play.verdicts[BBR] = an_active_verdict(BBR)
    play.run_pass()
    play.write_pending(WriteOutcome.UNCERTAIN)
    play.announcing = True
    play.advance(1)
    first, second = play.writes
    assert (first.episode_start, first.count) == (second.episode_start, second.count)
    assert play.set_clear(BBR).advance(40).writes[-1].key.reason == "clusterReady"


def test_a_write_that_is_refused_for_ever_is_not_repeated_and_owes_no_ready():
    play = a_play(announcing=False)
    play.verdicts[BBR] = an_active_verdict(BBR)
    play.run_pass()
    play.write_pending(WriteOutcome.DROPPED)
    play.announcing = True
    assert play.advance(60).set_clear(BBR).advance(60).new_writes == ["clusterBBR x1"]


def many(number: int) -> tuple[Replay, list]:
    subjects = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:02}") for i in range(number)]
    play = Replay(a_catalogue(*ENTRIES, *MODELS), subjects=frozenset({CLUSTER_SUBJECT, *subjects}))
    return play, [a_key("inferencesetPods", s) for s in subjects]


def test_more_than_ten_of_one_namespace_speak_as_one():
    play, keys = many(12)
    play.set_verdicts(*(an_active_verdict(key) for key in keys))
    assert play.new_writes == ["inferencesetPods x1"]
    assert "12 InferenceSets (model-00, model-01, model-02 and 9 more)" in play.last_message
    play.set_clear(*keys[:11]).advance(40)
    assert play.new_writes == []
    play.set_clear(keys[11]).advance(40)
    assert play.new_writes == ["inferencesetReady x1"]
    assert "model-00, model-01, model-02 and 9 more" in play.last_message


def test_ten_speak_each_for_itself():
    play, keys = many(10)
    assert len(play.set_verdicts(*(an_active_verdict(key) for key in keys)).new_writes) == 10


def test_those_still_held_count_and_those_with_an_event_fall_silent():
    play, keys = many(12)
    play.set_verdicts(an_active_verdict(keys[0]))
    held = [an_active_verdict(key, a_trouble(kind=TroubleKind.LOST)) for key in keys[1:]]
    play.set_verdicts(*held).advance(40)
    said = play.new_writes
    assert said.count("inferencesetPods x1") == 2
    play.set_clear(*keys).advance(40)
    readies = [r.key.subject.name for r in play.writes if r.key.reason == "inferencesetReady"]
    assert sorted(readies) == ["", "model-00"]


def test_a_deleted_subject_ends_its_episode_without_ready():
    play = a_stack().set_verdicts(an_active_verdict(PODS))
    play.subjects = frozenset({CLUSTER_SUBJECT})
    play.verdicts.clear()
    assert play.advance(timedelta(hours=1)).new_writes == ["inferencesetPods x1"]
    assert play.announcement_state.episodes == {}


def test_a_namespace_row_reaches_its_own_namespace_only():
    harness = [Subject(Layer.MODELHARNESS, f"team-{x}") for x in "ab"]
    sets = [Subject(Layer.MODELDEPLOYMENT, f"team-{x}", "qwen") for x in "ab"]
    gateway = an_entry("modelharnessGateway", 10, layer=Layer.MODELHARNESS)
    row = a_suppression("modelharnessGateway", "inferencesetRoute", Scope.NAMESPACE)
    play = Replay(
        a_catalogue(gateway, *MODELS, rows=(row,)), subjects=frozenset({*harness, *sets})
    )
    routes = [a_key("inferencesetRoute", s) for s in sets]
    play.set_verdicts(
        out(a_key("modelharnessGateway", harness[0])), *(an_active_verdict(r) for r in routes)
    )
    assert [play.state(r) for r in routes] == ["suppressed", "announced"]


def test_a_recurrence_in_the_second_of_the_ready_is_a_running_episode():
    play = (
        a_play()
        .set_verdicts(an_active_verdict(BBR))
        .set_clear(BBR)
        .advance(30)
        .set_verdicts(an_active_verdict(BBR))
    )
    assert play.new_writes == ["clusterBBR x1", "clusterReady x1", "clusterBBR x1"]
    assert play.restart(back_after=0.5).advance(5).new_writes == []
