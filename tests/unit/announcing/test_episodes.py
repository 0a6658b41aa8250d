"""Episodes from their first announcement to their Ready Event."""

from datetime import timedelta

from reporter.announcing.eligibility import is_muted
from reporter.announcing.grouping import group_key
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.replay import Replay
from tests.support.replay_builders import (
    BBR,
    ENTRIES,
    KAITO,
    PODS,
    ROUTE,
    all_of,
    cluster_replay,
    keys,
    out,
    sets,
    stack_replay,
    team_replay,
)


def test_a_settled_clear_is_followed_by_one_ready_and_nothing_else():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.set_clear(BBR).advance(29)
    assert replay.new_writes == ["clusterBBR x1"]
    assert replay.advance(2).new_writes == ["clusterReady x1"]
    assert replay.advance(timedelta(hours=3)).new_writes == []


def test_no_ready_is_written_for_a_subject_without_an_announced_finding():
    replay = (
        cluster_replay()
        .set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST)))
        .advance(20)
    )
    assert replay.set_clear(BBR).advance(timedelta(hours=1)).new_writes == []


def test_nothing_is_written_while_a_finding_settles_or_is_unknown():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    replay.set_clear(BBR).advance(20).set_unknown(BBR).advance(timedelta(hours=2))
    assert replay.new_writes == ["clusterBBR x1"]
    replay.set_clear(BBR)
    assert replay.advance(11).new_writes == ["clusterReady x1"]


def test_one_unknown_reason_holds_ready_back():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).set_unknown(KAITO)
    assert replay.set_clear(BBR).advance(60).new_writes == ["clusterBBR x1"]
    assert replay.set_clear(KAITO).advance(1).new_writes == ["clusterReady x1"]


def test_a_recurrence_is_a_new_episode():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(40)
    replay.set_verdicts(an_active_verdict(BBR))
    first, ready, second = replay.writes
    assert (first.count, second.count) == (1, 1)
    assert first.episode_start != second.episode_start
    assert ready.key.reason == "clusterReady"


def test_flapping_within_the_settle_is_one_episode_and_no_rewrite():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    for _ in range(6):
        replay.set_clear(BBR).advance(20).set_verdicts(an_active_verdict(BBR)).advance(20)
    assert replay.new_writes == ["clusterBBR x1"]


def test_a_crash_that_returns_within_its_settle_is_no_rewrite():
    crash = an_active_verdict(BBR, a_trouble(is_crash=True))
    replay = cluster_replay().set_verdicts(crash).set_clear(BBR).advance(100)
    assert replay.evaluation.rankings == {}
    assert replay.set_verdicts(crash).advance(20).new_writes == ["clusterBBR x1"]


def test_a_group_is_muted_while_one_of_its_members_is_outranked():
    subjects = sets(12)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects, ROUTE.reason))
    assert not is_muted(group_key(ROUTE), replay.announcement_state, replay.evaluation)
    replay.set_verdicts(*all_of(subjects[:1]))
    assert is_muted(group_key(ROUTE), replay.announcement_state, replay.evaluation)


def test_a_suppressed_finding_holds_its_subjects_ready_back():
    replay = (
        stack_replay()
        .set_verdicts(an_active_verdict(ROUTE))
        .set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS))
    )
    replay.set_clear(ROUTE).advance(60)
    assert "inferencesetReady x1" not in replay.new_writes


def test_an_orthogonal_finding_holds_no_ready_back():
    slow = an_entry("clusterSlow", None, orthogonal=True)
    replay = Replay(a_catalogue(*ENTRIES, slow))
    replay.set_verdicts(an_active_verdict(BBR)).set_verdicts(
        an_active_verdict(a_key("clusterSlow"))
    )
    assert replay.new_writes == ["clusterBBR x1", "clusterSlow x1"]
    assert replay.set_clear(BBR).advance(31).new_writes == ["clusterReady x1"]


def test_a_ready_goes_before_the_trouble_of_others_of_its_layer():
    well, ill = sets(2)[::-1]
    highest = an_entry(PODS.reason, 0, layer=Layer.MODELDEPLOYMENT)
    replay = Replay(a_catalogue(highest), subjects=frozenset({well, ill}))
    replay.set_verdicts(*all_of([well])).set_clear(*keys([well]))
    replay.advance(29)
    replay.verdicts |= {each.key: each for each in all_of([ill])}
    assert replay.advance(1).new_writes == [
        f"{PODS.reason} x1",
        "inferencesetReady x1",
        f"{PODS.reason} x1",
    ]


def test_a_deleted_subject_ends_its_episode_without_ready():
    replay = stack_replay().set_verdicts(an_active_verdict(PODS))
    replay.subjects = frozenset({CLUSTER_SUBJECT})
    replay.verdicts.clear()
    assert replay.advance(timedelta(hours=1)).new_writes == ["inferencesetPods x1"]
    assert replay.announcement_state.episodes == {}
