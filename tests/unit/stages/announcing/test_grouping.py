"""
When many InferenceSets of one namespace speak as one.
"""

from datetime import timedelta

from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay


PODS, ROUTE = "inferencesetPods", "inferencesetRoute"
MODELS = (
    an_entry(PODS, 10, layer=Layer.MODELDEPLOYMENT),
    an_entry(ROUTE, 20, layer=Layer.MODELDEPLOYMENT),
    an_entry("clusterKaito", 10),
)


def sets(number, namespace="team-a"):
    return [Subject(Layer.MODELDEPLOYMENT, namespace, f"model-{i:02}") for i in range(number)]


def a_play(*subjects, **changes) -> Replay:
    rows = (a_suppression("clusterKaito", PODS),)
    return Replay(
        a_catalogue(*MODELS, rows=rows),
        subjects=frozenset({CLUSTER_SUBJECT, *subjects}),
        **changes,
    )


def keys(subjects, reason=PODS):
    return [a_key(reason, subject) for subject in subjects]


def all_of(subjects, reason=PODS, **changes):
    return [an_active_verdict(key, a_trouble(**changes)) for key in keys(subjects, reason)]


def test_eleven_are_too_many_and_ten_are_not():
    assert a_play(*sets(11)).set_verdicts(*all_of(sets(11))).new_writes == [f"{PODS} x1"]
    assert len(a_play(*sets(10)).set_verdicts(*all_of(sets(10))).new_writes) == 10


def test_each_namespace_is_counted_for_itself():
    many = [*sets(6, "team-a"), *sets(6, "team-b")]
    assert len(a_play(*many).set_verdicts(*all_of(many)).new_writes) == 12


def test_each_reason_is_counted_for_itself():
    subjects = sets(12)
    play = a_play(*subjects)
    play.set_verdicts(*all_of(subjects[:6]), *all_of(subjects[6:], ROUTE))
    assert len(play.new_writes) == 12


def test_what_another_reason_outranks_is_not_counted():
    subjects = sets(12)
    play = a_play(*subjects).set_verdicts(*all_of(subjects), *all_of(subjects, ROUTE))
    assert play.new_writes == [f"{PODS} x1"]


def test_nobody_is_announced_before_one_hold_is_over():
    subjects = sets(12)
    play = a_play(*subjects).set_verdicts(*all_of(subjects, kind=TroubleKind.LOST))
    assert play.advance(29).new_writes == []
    assert play.advance(2).new_writes == [f"{PODS} x1"]


def test_what_is_suppressed_is_not_counted():
    subjects = sets(12)
    play = a_play(*subjects)
    play.set_verdicts(
        an_active_verdict(a_key("clusterKaito"), a_trouble("kaito", is_out=True)),
        *all_of(subjects),
    )
    assert play.new_writes == ["clusterKaito x1"]


def test_the_group_lasts_until_nobody_is_left_and_then_says_so_once():
    subjects = sets(12)
    play = a_play(*subjects).set_verdicts(*all_of(subjects))
    play.set_clear(*keys(subjects[1:])).advance(120)
    assert play.new_writes == [f"{PODS} x1"]
    play.set_clear(*keys(subjects[:1])).advance(31)
    assert play.new_writes == ["inferencesetReady x1"]
    assert play.last_message.startswith("Namespace team-a: 12 InferenceSets (model-00, model-01")
    assert play.advance(timedelta(hours=2)).new_writes == []


def test_a_name_that_joins_or_leaves_rewrites_nothing_before_the_heartbeat():
    subjects = sets(13)
    play = a_play(*subjects).set_verdicts(*all_of(subjects[:12]))
    play.set_verdicts(*all_of(subjects[12:])).advance(200)
    assert play.new_writes == [f"{PODS} x1"]
    assert play.advance(200).new_writes == [f"{PODS} x2"]
    assert "13 InferenceSets" in play.last_message


def test_a_group_that_comes_back_is_a_new_episode():
    subjects = sets(11)
    play = a_play(*subjects).set_verdicts(*all_of(subjects)).set_clear(*keys(subjects)).advance(60)
    play.set_verdicts(*all_of(subjects))
    first, _, second = play.writes
    assert (first.count, second.count) == (1, 1)
    assert first.episode_start != second.episode_start


def test_a_group_whose_sets_are_all_deleted_ends_without_a_ready():
    subjects = sets(11)
    play = a_play(*subjects).set_verdicts(*all_of(subjects))
    play.subjects = frozenset({CLUSTER_SUBJECT})
    play.verdicts.clear()
    assert play.advance(timedelta(hours=1)).new_writes == [f"{PODS} x1"]
    assert play.announcement_state.episodes == {}


def test_a_group_of_deleted_and_living_sets_names_the_living_when_all_is_well():
    subjects = sets(12)
    play = a_play(*subjects).set_verdicts(*all_of(subjects))
    play.subjects = frozenset({CLUSTER_SUBJECT, *subjects[:3]})
    play.verdicts = {k: v for k, v in play.verdicts.items() if k.subject in play.subjects}
    play.set_clear(*keys(subjects[:3])).advance(60)
    assert play.last_message.startswith(
        "Namespace team-a: 3 InferenceSets (model-00, model-01, model-02)"
    )


def test_an_orthogonal_finding_of_a_member_speaks_for_itself():
    subjects = sets(12)
    slow = an_entry("inferencesetSlow", None, orthogonal=True, layer=Layer.MODELDEPLOYMENT)
    play = Replay(a_catalogue(*MODELS, slow), subjects=frozenset(subjects))
    play.set_verdicts(*all_of(subjects)).set_verdicts(
        an_active_verdict(a_key("inferencesetSlow", subjects[0]))
    )
    assert play.new_writes == [f"{PODS} x1", "inferencesetSlow x1"]


def test_a_group_that_shrank_to_few_is_continued_by_a_new_process():
    subjects = sets(12)
    play = (
        a_play(*subjects)
        .set_verdicts(*all_of(subjects))
        .set_clear(*keys(subjects[5:]))
        .advance(60)
    )
    play.restart(back_after=10)
    assert play.advance(60).new_writes == [f"{PODS} x1"]
    assert play.advance(300).new_writes == [f"{PODS} x2"]
    assert len({r.episode_start for r in play.writes}) == 1


def test_a_group_read_back_is_not_said_to_be_well_while_a_set_is_unknown():
    subjects = sets(12)
    play = a_play(*subjects).set_verdicts(*all_of(subjects)).set_unknown(*keys(subjects))
    play.restart(back_after=10)
    assert play.advance(120).new_writes == [f"{PODS} x1"]
    assert play.set_clear(*keys(subjects)).advance(60).new_writes == ["inferencesetReady x1"]


def test_a_group_that_was_read_back_and_is_over_does_not_speak_for_two_that_fail_later():
    subjects = sets(12)
    play = a_play(*subjects).set_verdicts(*all_of(subjects)).restart(back_after=10)
    play.set_clear(*keys(subjects)).advance(60)
    assert play.new_writes == [f"{PODS} x1", "inferencesetReady x1"]
    play.set_verdicts(*all_of(subjects[:2]))
    assert [record.key.subject for record in play.writes[-2:]] == subjects[:2]


def test_a_group_that_is_suppressed_for_a_while_goes_on_afterwards():
    subjects, kaito = sets(12), a_key("clusterKaito")
    play = a_play(*subjects).set_verdicts(*all_of(subjects)).advance(5)
    play.set_verdicts(an_active_verdict(kaito, a_trouble("kaito", is_out=True))).advance(120)
    assert play.new_writes == [f"{PODS} x1", "clusterKaito x1"]
    play.set_clear(kaito).advance(100)
    assert play.new_writes == ["clusterReady x1", f"{PODS} x2"]
    assert len({r.episode_start for r in play.writes if r.key.reason == PODS}) == 1


def test_a_group_that_is_outranked_for_a_while_goes_on_afterwards():
    subjects = sets(12)
    play = a_play(*subjects).set_verdicts(*all_of(subjects, ROUTE)).advance(5)
    play.set_verdicts(*all_of(subjects)).advance(5)
    assert play.new_writes == [f"{ROUTE} x1", f"{PODS} x1"]
    play.set_clear(*keys(subjects)).advance(100)
    assert play.new_writes == [f"{ROUTE} x2"]
