"""Groups: one Event for many InferenceSets of one namespace."""

from datetime import timedelta

from msgspec.structs import replace

from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Paused
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.replay import Replay
from tests.support.replay_builders import (
    ENTRIES,
    ISTIO,
    MODELS,
    PODS,
    ROUTE,
    ROWS,
    all_of,
    keys,
    out,
    sets,
    team_replay,
)


def many_models(number: int) -> tuple[Replay, list]:
    subjects = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:02}") for i in range(number)]
    replay = Replay(
        a_catalogue(*ENTRIES, *MODELS), subjects=frozenset({CLUSTER_SUBJECT, *subjects})
    )
    return replay, [a_key("inferencesetPods", s) for s in subjects]


def test_more_than_ten_of_one_namespace_get_one_event():
    replay, keys = many_models(12)
    replay.set_verdicts(*(an_active_verdict(key) for key in keys))
    assert replay.new_writes == ["inferencesetPods x1"]
    assert "12 InferenceSets (model-00, model-01, model-02 and 9 more)" in replay.last_message
    replay.set_clear(*keys[:11]).advance(40)
    assert replay.new_writes == []
    replay.set_clear(keys[11]).advance(40)
    assert replay.new_writes == ["inferencesetReady x1"]
    assert "model-00, model-01, model-02 and 9 more" in replay.last_message


def test_ten_get_an_event_each():
    replay, keys = many_models(10)
    assert len(replay.set_verdicts(*(an_active_verdict(key) for key in keys)).new_writes) == 10


def test_eleven_are_too_many_and_ten_are_not():
    assert team_replay(*sets(11)).set_verdicts(*all_of(sets(11))).new_writes == [
        f"{PODS.reason} x1"
    ]
    assert len(team_replay(*sets(10)).set_verdicts(*all_of(sets(10))).new_writes) == 10


def test_each_namespace_is_counted_for_itself():
    many = [*sets(6, "team-a"), *sets(6, "team-b")]
    assert len(team_replay(*many).set_verdicts(*all_of(many)).new_writes) == 12


def test_each_reason_is_counted_for_itself():
    subjects = sets(12)
    replay = team_replay(*subjects)
    replay.set_verdicts(*all_of(subjects[:6]), *all_of(subjects[6:], ROUTE.reason))
    assert len(replay.new_writes) == 12


def test_what_another_reason_outranks_is_not_counted():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(
        *all_of(subjects), *all_of(subjects, ROUTE.reason)
    )
    assert replay.new_writes == [f"{PODS.reason} x1"]


def test_nobody_is_announced_before_one_hold_is_over():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects, kind=TroubleKind.LOST))
    assert replay.advance(29).new_writes == []
    assert replay.advance(2).new_writes == [f"{PODS.reason} x1"]


def test_what_is_suppressed_is_not_counted():
    subjects = sets(12)
    replay = team_replay(*subjects)
    replay.set_verdicts(
        an_active_verdict(a_key("clusterKaito"), a_trouble("kaito", is_out=True)),
        *all_of(subjects),
    )
    assert replay.new_writes == ["clusterKaito x1"]


def test_a_group_lasts_until_its_last_member_is_clear_and_gets_one_ready():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects))
    replay.set_clear(*keys(subjects[1:])).advance(120)
    assert replay.new_writes == [f"{PODS.reason} x1"]
    replay.set_clear(*keys(subjects[:1])).advance(31)
    assert replay.new_writes == ["inferencesetReady x1"]
    assert replay.last_message.startswith("Namespace team-a: 12 InferenceSets (model-00, model-01")
    assert replay.advance(timedelta(hours=2)).new_writes == []


def test_a_name_that_joins_or_leaves_rewrites_nothing_before_the_heartbeat():
    subjects = sets(13)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects[:12]))
    replay.set_verdicts(*all_of(subjects[12:])).advance(200)
    assert replay.new_writes == [f"{PODS.reason} x1"]
    assert replay.advance(200).new_writes == [f"{PODS.reason} x2"]
    assert "13 InferenceSets" in replay.last_message


def test_a_group_that_comes_back_is_a_new_episode():
    subjects = sets(11)
    replay = (
        team_replay(*subjects)
        .set_verdicts(*all_of(subjects))
        .set_clear(*keys(subjects))
        .advance(60)
    )
    replay.set_verdicts(*all_of(subjects))
    first, _, second = replay.writes
    assert (first.count, second.count) == (1, 1)
    assert first.episode_start != second.episode_start


def test_a_group_whose_sets_are_all_deleted_ends_without_a_ready():
    subjects = sets(11)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects))
    replay.subjects = frozenset({CLUSTER_SUBJECT})
    replay.verdicts.clear()
    assert replay.advance(timedelta(hours=1)).new_writes == [f"{PODS.reason} x1"]
    assert replay.announcement_state.episodes == {}


def test_a_group_of_deleted_and_living_sets_names_the_living_when_all_is_well():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects))
    replay.subjects = frozenset({CLUSTER_SUBJECT, *subjects[:3]})
    replay.verdicts = {k: v for k, v in replay.verdicts.items() if k.subject in replay.subjects}
    replay.set_clear(*keys(subjects[:3])).advance(60)
    assert replay.last_message.startswith(
        "Namespace team-a: 3 InferenceSets (model-00, model-01, model-02)"
    )


def test_an_orthogonal_finding_of_a_member_is_announced_on_its_own():
    subjects = sets(12)
    slow = an_entry("inferencesetSlow", None, orthogonal=True, layer=Layer.MODELDEPLOYMENT)
    replay = Replay(a_catalogue(*MODELS, slow), subjects=frozenset(subjects))
    replay.set_verdicts(*all_of(subjects)).set_verdicts(
        an_active_verdict(a_key("inferencesetSlow", subjects[0]))
    )
    assert replay.new_writes == [f"{PODS.reason} x1", "inferencesetSlow x1"]


def test_a_group_that_shrank_to_few_is_continued_by_a_new_process():
    subjects = sets(12)
    replay = (
        team_replay(*subjects)
        .set_verdicts(*all_of(subjects))
        .set_clear(*keys(subjects[5:]))
        .advance(60)
    )
    replay.restart(back_after=10)
    assert replay.advance(60).new_writes == [f"{PODS.reason} x1"]
    assert replay.advance(300).new_writes == [f"{PODS.reason} x2"]
    assert len({r.episode_start for r in replay.writes}) == 1


def test_a_restored_group_gets_no_ready_while_a_set_is_unknown():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects)).set_unknown(*keys(subjects))
    replay.restart(back_after=10)
    assert replay.advance(120).new_writes == [f"{PODS.reason} x1"]
    assert replay.set_clear(*keys(subjects)).advance(60).new_writes == ["inferencesetReady x1"]


def test_the_ready_of_a_restored_group_does_not_wait_for_a_set_that_was_at_zero_all_along():
    subjects, (key,) = sets(13), keys(sets(13)[12:])
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects[:12]), Paused(key)).advance(5)
    replay.restart(back_after=10).advance(30)
    replay.set_clear(*keys(subjects[:12])).advance(60)
    assert replay.new_writes == [f"{PODS.reason} x1", "inferencesetReady x1"]
    assert "model-12" not in replay.last_message


def test_the_ready_of_a_restored_group_waits_for_a_member_that_is_scaled_to_zero():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects)).restart(back_after=10)
    replay.advance(5).set_verdicts(Paused(*keys(subjects[:1])))
    replay.set_clear(*keys(subjects[1:])).advance(60)
    assert replay.new_writes == [f"{PODS.reason} x1"]
    assert replay.set_clear(*keys(subjects[:1])).advance(60).new_writes == ["inferencesetReady x1"]


def test_a_restored_group_that_is_over_does_not_announce_two_that_fail_later():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects)).restart(back_after=10)
    replay.set_clear(*keys(subjects)).advance(60)
    assert replay.new_writes == [f"{PODS.reason} x1", "inferencesetReady x1"]
    replay.set_verdicts(*all_of(subjects[:2]))
    assert [record.key.subject for record in replay.writes[-2:]] == subjects[:2]


def test_a_group_that_is_suppressed_for_a_while_goes_on_afterwards():
    subjects, missing = sets(12), a_key("clusterCRD", item="crd-0")
    # A missing CRD suppresses what was there before as well.
    catalogue = replace(
        a_catalogue(*MODELS, an_entry("clusterCRD", 10)),
        missing_crd_reason=missing.reason,
        required_crds_by_reason={PODS.reason: frozenset({"crd-0"})},
    )
    replay = Replay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, *subjects}))
    replay.set_verdicts(*all_of(subjects)).advance(5)
    replay.set_verdicts(out(missing, "crd-0")).advance(120)
    assert replay.new_writes == [f"{PODS.reason} x1", "clusterCRD x1"]
    replay.set_clear(missing).advance(100)
    assert replay.new_writes == ["clusterReady x1", f"{PODS.reason} x2"]
    assert len({r.episode_start for r in replay.writes if r.key.reason == PODS.reason}) == 1


def test_a_group_that_is_outranked_for_a_while_goes_on_afterwards():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects, ROUTE.reason)).advance(5)
    replay.set_verdicts(*all_of(subjects)).advance(5)
    assert replay.new_writes == [f"{ROUTE.reason} x1", f"{PODS.reason} x1"]
    replay.set_clear(*keys(subjects)).advance(100)
    assert replay.new_writes == [f"{ROUTE.reason} x2"]


def test_held_findings_count_and_those_with_an_event_get_their_own_ready():
    replay, keys = many_models(12)
    replay.set_verdicts(an_active_verdict(keys[0]))
    held = [an_active_verdict(key, a_trouble(kind=TroubleKind.LOST)) for key in keys[1:]]
    replay.set_verdicts(*held).advance(40)
    writes = replay.new_writes
    assert writes.count("inferencesetPods x1") == 2
    replay.set_clear(*keys).advance(40)
    readies = [r.key.subject.name for r in replay.writes if r.key.reason == "inferencesetReady"]
    assert sorted(readies) == ["", "model-00"]


def test_a_group_without_members_does_not_announce_one_that_fails_alone():
    subjects = sets(11)
    replay = (
        team_replay(*subjects)
        .set_verdicts(*all_of(subjects))
        .set_unknown(*keys(subjects[:1], ROUTE.reason))
    )
    replay.set_clear(*keys(subjects)).advance(60)
    assert len(replay.new_writes) == 1
    replay.set_verdicts(*all_of(subjects[3:4])).advance(1)
    assert replay.writes[-1].key.subject == subjects[3]


def test_a_restored_group_gets_no_ready_once_its_sets_are_deleted():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects)).restart(back_after=10)
    replay.subjects = replay.subjects - {*subjects}
    replay.verdicts.clear()
    assert replay.advance(600).new_writes == [f"{PODS.reason} x1"]


def test_another_cause_of_a_group_is_rewritten():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects))
    assert replay.new_writes == [f"{PODS.reason} x1"]
    assert replay.set_verdicts(*all_of(subjects, code="Other")).new_writes == [f"{PODS.reason} x2"]


def test_a_group_has_its_heartbeat_while_an_upstream_suppresses_other_reasons():
    subjects = sets(12)
    replay = Replay(
        a_catalogue(*ENTRIES, *MODELS, rows=ROWS), subjects=frozenset({CLUSTER_SUBJECT, *subjects})
    )
    replay.set_verdicts(*all_of(subjects)).set_verdicts(
        out(ISTIO, "istiod"), *all_of(subjects[:1], ROUTE.reason)
    )
    assert replay.state(keys(subjects[:1], ROUTE.reason)[0]) == "suppressed"
    assert replay.new_writes == [f"{PODS.reason} x1", f"{ISTIO.reason} x1"]
    assert f"{PODS.reason} x2" in replay.advance(331).new_writes
