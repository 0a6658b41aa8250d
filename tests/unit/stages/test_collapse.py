"""
When many InferenceSets of one namespace speak as one.
"""

from datetime import timedelta

from reporter.model.subjects import CLUSTER, Subject
from reporter.model.words import Kind, Layer
from tests.builders import a_catalogue, a_key, a_row, a_trouble, active, an_entry
from tests.play import Play


PODS, ROUTE = "inferencesetPods", "inferencesetRoute"
MODELS = (
    an_entry(PODS, 10, layer=Layer.MODELDEPLOYMENT),
    an_entry(ROUTE, 20, layer=Layer.MODELDEPLOYMENT),
    an_entry("clusterKaito", 10),
)


def sets(number, namespace="team-a"):
    return [Subject(Layer.MODELDEPLOYMENT, namespace, f"model-{i:02}") for i in range(number)]


def a_play(*subjects, **changes) -> Play:
    rows = (a_row("clusterKaito", PODS),)
    return Play(
        a_catalogue(*MODELS, rows=rows), subjects=frozenset({CLUSTER, *subjects}), **changes
    )


def keys(subjects, reason=PODS):
    return [a_key(reason, subject) for subject in subjects]


def all_of(subjects, reason=PODS, **changes):
    return [active(key, a_trouble(**changes)) for key in keys(subjects, reason)]


def test_eleven_are_too_many_and_ten_are_not():
    assert a_play(*sets(11)).say(*all_of(sets(11))).said == [f"{PODS} x1"]
    assert len(a_play(*sets(10)).say(*all_of(sets(10))).said) == 10


def test_each_namespace_is_counted_for_itself():
    many = [*sets(6, "team-a"), *sets(6, "team-b")]
    assert len(a_play(*many).say(*all_of(many)).said) == 12


def test_each_reason_is_counted_for_itself():
    subjects = sets(12)
    play = a_play(*subjects)
    play.say(*all_of(subjects[:6]), *all_of(subjects[6:], ROUTE))
    assert len(play.said) == 12


def test_what_another_reason_outranks_is_not_counted():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects), *all_of(subjects, ROUTE))
    assert play.said == [f"{PODS} x1"]


def test_nobody_is_announced_before_one_hold_is_over():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects, kind=Kind.LOST))
    assert play.after(29).said == []
    assert play.after(2).said == [f"{PODS} x1"]


def test_what_is_suppressed_is_not_counted():
    subjects = sets(12)
    play = a_play(*subjects)
    play.say(active(a_key("clusterKaito"), a_trouble("kaito", out=True)), *all_of(subjects))
    assert play.said == ["clusterKaito x1"]


def test_the_group_lasts_until_nobody_is_left_and_then_says_so_once():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects))
    play.clear(*keys(subjects[1:])).after(120)
    assert play.said == [f"{PODS} x1"]
    play.clear(*keys(subjects[:1])).after(31)
    assert play.said == ["inferencesetReady x1"]
    assert play.last.startswith("Namespace team-a: 12 InferenceSets (model-00, model-01")
    assert play.after(timedelta(hours=2)).said == []


def test_a_name_that_joins_or_leaves_rewrites_nothing_before_the_heartbeat():
    subjects = sets(13)
    play = a_play(*subjects).say(*all_of(subjects[:12]))
    play.say(*all_of(subjects[12:])).after(200)
    assert play.said == [f"{PODS} x1"]
    assert play.after(200).said == [f"{PODS} x2"]
    assert "13 InferenceSets" in play.last


def test_a_group_that_comes_back_is_a_new_episode():
    subjects = sets(11)
    play = a_play(*subjects).say(*all_of(subjects)).clear(*keys(subjects)).after(60)
    play.say(*all_of(subjects))
    first, _, second = play.written
    assert (first.count, second.count) == (1, 1)
    assert first.episode != second.episode


def test_a_group_whose_sets_are_all_deleted_ends_without_a_ready():
    subjects = sets(11)
    play = a_play(*subjects).say(*all_of(subjects))
    play.subjects = frozenset({CLUSTER})
    play.says.clear()
    assert play.after(timedelta(hours=1)).said == [f"{PODS} x1"]
    assert play.voice.episodes == {}


def test_a_group_of_deleted_and_living_sets_names_the_living_when_all_is_well():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects))
    play.subjects = frozenset({CLUSTER, *subjects[:3]})
    play.says = {k: v for k, v in play.says.items() if k.subject in play.subjects}
    play.clear(*keys(subjects[:3])).after(60)
    assert play.last.startswith("Namespace team-a: 3 InferenceSets (model-00, model-01, model-02)")


def test_an_orthogonal_finding_of_a_member_speaks_for_itself():
    subjects = sets(12)
    slow = an_entry("inferencesetSlow", None, orthogonal=True, layer=Layer.MODELDEPLOYMENT)
    play = Play(a_catalogue(*MODELS, slow), subjects=frozenset(subjects))
    play.say(*all_of(subjects)).say(active(a_key("inferencesetSlow", subjects[0])))
    assert play.said == [f"{PODS} x1", "inferencesetSlow x1"]


def test_a_group_that_shrank_to_few_is_continued_by_a_new_process():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects)).clear(*keys(subjects[5:])).after(60)
    play.restart(back_after=10)
    assert play.after(60).said == [f"{PODS} x1"]
    assert play.after(300).said == [f"{PODS} x2"]
    assert len({r.episode for r in play.written}) == 1


def test_a_group_read_back_is_not_said_to_be_well_while_a_set_is_unknown():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects)).unknown(*keys(subjects))
    play.restart(back_after=10)
    assert play.after(120).said == [f"{PODS} x1"]
    assert play.clear(*keys(subjects)).after(60).said == ["inferencesetReady x1"]


def test_a_group_that_was_read_back_and_is_over_does_not_speak_for_two_that_fail_later():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects)).restart(back_after=10)
    play.clear(*keys(subjects)).after(60)
    assert play.said == [f"{PODS} x1", "inferencesetReady x1"]
    play.say(*all_of(subjects[:2]))
    assert [record.key.subject for record in play.written[-2:]] == subjects[:2]


def test_a_group_that_is_suppressed_for_a_while_goes_on_afterwards():
    subjects, kaito = sets(12), a_key("clusterKaito")
    play = a_play(*subjects).say(*all_of(subjects)).after(5)
    play.say(active(kaito, a_trouble("kaito", out=True))).after(120)
    assert play.said == [f"{PODS} x1", "clusterKaito x1"]
    play.clear(kaito).after(100)
    assert play.said == ["clusterReady x1", f"{PODS} x2"]
    assert len({r.episode for r in play.written if r.key.reason == PODS}) == 1


def test_a_group_that_is_outranked_for_a_while_goes_on_afterwards():
    subjects = sets(12)
    play = a_play(*subjects).say(*all_of(subjects, ROUTE)).after(5)
    play.say(*all_of(subjects)).after(5)
    assert play.said == [f"{ROUTE} x1", f"{PODS} x1"]
    play.clear(*keys(subjects)).after(100)
    assert play.said == [f"{ROUTE} x2"]
