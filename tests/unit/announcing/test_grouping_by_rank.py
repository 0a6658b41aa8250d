"""
Groups while other reasons of the same InferenceSets are held, announced or outrank each other.
"""

from collections import Counter

from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import Emission, Layer, TroubleKind
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.replay import Replay
from tests.support.replay_builders import all_of, keys, sets


MODELS = {"layer": Layer.MODELDEPLOYMENT}
INFRA, PODS, SLOW = "inferencesetInfra", "inferencesetPods", "inferencesetSlow"
CATALOGUE = a_catalogue(
    an_entry(INFRA, 10, **MODELS),
    an_entry(PODS, 20, **MODELS),
    an_entry(SLOW, None, orthogonal=True, **MODELS),
)


def replay_of(subjects, **changes) -> Replay:
    return Replay(CATALOGUE, subjects=frozenset(subjects), **changes)


def failed(subjects):
    return all_of(subjects, INFRA, kind=TroubleKind.FAILED)


def lost(subjects):
    return all_of(subjects, PODS, kind=TroubleKind.LOST)


def test_a_held_reason_of_higher_rank_does_not_keep_a_group_from_forming():
    subjects = sets(12)
    replay = replay_of(subjects).set_verdicts(*lost(subjects)).advance(20)
    replay.set_verdicts(*failed(subjects)).advance(11)
    assert replay.new_writes == [f"{PODS} x1"]
    assert replay.advance(10).new_writes == [f"{INFRA} x1"]


def test_sets_with_events_of_another_reason_join_a_group():
    subjects = sets(30)
    replay = replay_of(subjects)
    replay.set_verdicts(*all_of(subjects[:9], PODS)).set_verdicts(*all_of(subjects, INFRA))
    assert Counter(replay.new_writes) == {f"{PODS} x1": 9, f"{INFRA} x1": 1}
    assert replay.last_message.startswith("Namespace team-a: 30 InferenceSets (model-00, ")


def test_the_ready_of_a_group_does_not_name_those_that_get_their_own():
    subjects = sets(12)
    replay = replay_of(subjects)
    replay.set_verdicts(*all_of(subjects[:2], PODS)).set_verdicts(*all_of(subjects, INFRA))
    replay.set_clear(*keys(subjects, PODS), *keys(subjects, INFRA)).advance(40)
    own = [r for r in replay.writes if r.key.reason == "inferencesetReady"]
    assert sorted(r.key.subject.name for r in own) == ["", "model-00", "model-01"]
    (group,) = [r for r in own if not r.key.subject.name]
    assert group.message.startswith("Namespace team-a: 10 InferenceSets (model-02, model-03, ")


def test_a_group_of_sets_that_all_get_their_own_ready_gets_none():
    subjects = sets(11)
    replay = replay_of(subjects).set_verdicts(*all_of(subjects[:6], PODS))
    replay.set_clear(*keys(subjects[:6], PODS)).set_verdicts(*all_of(subjects[6:], SLOW))
    replay.set_verdicts(*all_of(subjects[6:], PODS)).set_verdicts(*all_of(subjects, INFRA))
    replay.set_clear(*keys(subjects, PODS), *keys(subjects, INFRA)).advance(60)
    readies = [r.key.subject.name for r in replay.writes if r.key.reason == "inferencesetReady"]
    assert len(readies) == len(set(readies))
    assert replay.announcement_state.ready_owed == {}


def test_own_events_that_are_outranked_count_for_the_threshold():
    subjects = sets(12)
    replay = replay_of(subjects)
    for subject in subjects:
        replay.set_verdicts(*all_of([subject], PODS)).set_verdicts(*all_of([subject], INFRA))
    first_writes = Counter(replay.new_writes)
    assert (first_writes[f"{PODS} x1"], first_writes[f"{INFRA} x1"]) == (11, 11)
    assert {r.key.reason for r in replay.writes if not r.key.subject.name} == {PODS, INFRA}


def test_normal_starts_beside_a_failure_are_neither_named_nor_waited_for():
    subjects = sets(13)
    replay = replay_of(subjects)
    replay.set_verdicts(*all_of(subjects[1:], PODS, kind=TroubleKind.STARTING)).advance(5)
    replay.set_verdicts(*all_of(subjects[:1], PODS, kind=TroubleKind.FAILED)).advance(20)
    assert [r.key for r in replay.writes] == [a_key(PODS, subjects[0])]
    replay.set_clear(*keys(subjects[:1], PODS)).advance(31)
    assert [r.key.subject for r in replay.writes[1:]] == subjects[:1], "its Ready"


def test_a_group_that_is_read_back_goes_on_while_all_its_sets_start_again():
    subjects = sets(12)
    replay = replay_of(subjects).set_verdicts(*failed(subjects)).advance(20)
    starting = all_of(subjects, INFRA, kind=TroubleKind.STARTING)
    replay.set_verdicts(*starting).restart(back_after=10).advance(50)
    replay.set_verdicts(*failed(subjects)).advance(20)
    assert [r.count for r in replay.writes] == [1, *range(2, len(replay.writes) + 1)]
    assert {r.episode_start for r in replay.writes} == {replay.writes[0].episode_start}


def test_a_set_with_an_event_of_its_own_begins_no_group_that_names_held_ones():
    subjects = sets(12)
    replay = replay_of(subjects).set_verdicts(*all_of(subjects[:1], PODS))
    replay.set_verdicts(*lost(subjects[1:])).advance(29)
    assert replay.new_writes == [f"{PODS} x1"]
    assert replay.advance(2).new_writes == [f"{PODS} x1"]
    assert "12 InferenceSets (model-00, " in replay.last_message


def test_members_that_are_clear_but_have_not_settled_are_not_named():
    subjects = sets(12)
    crash = a_trouble(is_crash=True)
    replay = replay_of(subjects)
    replay.set_verdicts(*(an_active_verdict(key, crash) for key in keys(subjects, PODS)))
    replay.set_clear(*keys(subjects[:8], PODS)).advance(340)
    assert replay.new_writes == [f"{PODS} x1", f"{PODS} x2"]
    assert "4 InferenceSets (model-08, model-09, model-10 and 1 more)" in replay.last_message


def test_many_with_an_orthogonal_reason_are_one_event_without_a_ready():
    subjects = sets(12)
    replay = replay_of(subjects).set_verdicts(*all_of(subjects, SLOW)).advance(5)
    assert replay.new_writes == [f"{SLOW} x1"]
    replay.set_clear(*keys(subjects, SLOW)).advance(100)
    assert replay.new_writes == []
    assert replay.announcement_state.episodes == {}


def test_a_ready_neither_names_nor_waits_for_an_orthogonal_group():
    subjects = sets(24)
    replay = replay_of(subjects)
    replay.set_verdicts(*all_of(subjects[12:], SLOW), *all_of(subjects[:12], PODS))
    replay.set_clear(*keys(subjects[:12], PODS)).advance(40)
    assert Counter(replay.new_writes) == {
        f"{SLOW} x1": 1,
        f"{PODS} x1": 1,
        "inferencesetReady x1": 1,
    }
    assert "12 InferenceSets (model-00, model-01, model-02 and 9 more)" in replay.last_message


def test_all_findings_of_many_are_grouped_if_each_is_announced():
    subjects = sets(12)
    replay = replay_of(subjects, settings=EvaluationSettings(emission=Emission.ALL))
    replay.set_verdicts(*all_of(subjects, PODS), *all_of(subjects, INFRA))
    assert sorted(replay.new_writes) == [f"{INFRA} x1", f"{PODS} x1"]


def test_held_findings_of_lower_rank_do_not_count():
    subjects = sets(12)
    replay = replay_of(subjects).set_verdicts(*all_of(subjects[:11], INFRA))
    replay.set_verdicts(*lost(subjects)).advance(29)
    assert replay.new_writes == [f"{INFRA} x1"]
    assert replay.advance(5).new_writes == [f"{PODS} x1"]
    assert replay.writes[-1].key == a_key(PODS, subjects[11])
