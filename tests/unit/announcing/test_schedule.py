"""Moments at which the Event of a key is written: first announcement, rewrites and heartbeats."""

import itertools
from datetime import timedelta

from msgspec.structs import replace

from reporter.announcing.announcement_state import WriteOutcome
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import TroubleKind
from tests.support.builders import a_trouble, an_active_verdict
from tests.support.replay_builders import BBR, ISTIO, KAITO, PODS, cluster_replay, stack_replay


def test_a_first_announcement_is_not_delayed():
    assert cluster_replay().set_verdicts(an_active_verdict(BBR)).new_writes == ["clusterBBR x1"]


def test_the_heartbeat_counts_and_comes_within_a_tenth():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    assert replay.advance(269).new_writes == ["clusterBBR x1"]
    assert replay.advance(62).new_writes == ["clusterBBR x2"]
    first, second = replay.writes
    assert (first.episode_start, first.first_timestamp) == (
        second.episode_start,
        second.first_timestamp,
    )
    assert second.last_timestamp > first.last_timestamp


def test_heartbeats_are_spread_by_a_tenth_each_way():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).advance(timedelta(hours=3))
    moments = [record.last_timestamp for record in replay.writes]
    spans = {(b - a).total_seconds() for a, b in itertools.pairwise(moments)}
    assert min(spans) >= 270
    assert max(spans) <= 331
    assert max(spans) - min(spans) > 20


def test_a_heartbeat_does_not_wait_for_the_least_time_between_rewrites():
    replay = cluster_replay(settings=EvaluationSettings(heartbeat=timedelta(seconds=30)))
    replay.set_verdicts(an_active_verdict(ISTIO)).set_verdicts(
        an_active_verdict(BBR)
    ).set_verdicts(an_active_verdict(KAITO)).advance(34)
    assert replay.new_writes == ["clusterIstio x1", "clusterIstio x2", "clusterIstio x3"]
    assert replay.last_message.endswith("(also: clusterBBR, clusterKaito)")


def test_a_suffix_is_rewritten_at_most_once_a_minute():
    replay = (
        cluster_replay()
        .set_verdicts(an_active_verdict(ISTIO))
        .set_verdicts(an_active_verdict(BBR))
    )
    assert replay.new_writes == ["clusterIstio x1", "clusterIstio x2"]
    assert replay.set_verdicts(an_active_verdict(KAITO)).advance(58).new_writes == []
    assert replay.advance(3).new_writes == ["clusterIstio x3"]
    assert replay.last_message.endswith("(also: clusterBBR, clusterKaito)")


def test_a_rewrite_that_was_sent_twice_is_still_the_only_one_of_its_minute():
    replay = cluster_replay().set_verdicts(an_active_verdict(ISTIO))
    replay.write_outcome = WriteOutcome.UNCERTAIN
    replay.verdicts[BBR] = an_active_verdict(BBR)
    replay.run_pass()
    replay.write_outcome = WriteOutcome.WRITTEN
    replay.advance(1).set_verdicts(an_active_verdict(KAITO)).advance(50)
    assert replay.new_writes[0] == "clusterIstio x1"
    assert not replay.last_message.endswith("(also: clusterBBR, clusterKaito)")
    assert replay.advance(15).last_message.endswith("(also: clusterBBR, clusterKaito)")


def test_a_change_of_cause_is_written_a_change_of_counts_is_not():
    one = {"message_fields": {"object": "Thing", "state": "has 1/3", "pods": ""}}
    two = {"message_fields": {"object": "Thing", "state": "has 2/3", "pods": ""}}
    replay = cluster_replay().set_verdicts(
        an_active_verdict(BBR, a_trouble(code="Degraded", **one))
    )
    assert replay.set_verdicts(
        an_active_verdict(BBR, a_trouble(code="Degraded", **two))
    ).new_writes == ["clusterBBR x1"]
    assert replay.set_verdicts(
        an_active_verdict(BBR, a_trouble(code="Unavailable", **two))
    ).new_writes == ["clusterBBR x2"]


def test_the_jitter_of_a_heartbeat_reaches_a_tenth_and_no_more():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    state = replay.announcement_state
    episode, spans = state.episodes[BBR], set()
    for count in range(2000):
        event = replace(episode.event, count=count)
        replay.announcement_state = replace(state, episodes={BBR: replace(episode, event=event)})
        write = replay.context.pending_write(BBR, now=replay.now)
        spans.add((write.due_at - event.last_timestamp).total_seconds())
    assert (min(spans), max(spans)) == (270, 330)


def test_a_start_beside_trouble_that_lasts_is_a_change_of_cause():
    one, two = a_trouble("one"), a_trouble("two")
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR, one, two)).advance(5)
    start = a_trouble("two", TroubleKind.STARTING, code="Other")
    assert replay.new_writes == ["clusterBBR x1"]
    assert replay.set_verdicts(an_active_verdict(BBR, one, start)).advance(29).new_writes == []
    assert replay.advance(1).new_writes == ["clusterBBR x2"]


def test_another_cause_of_the_same_object_serves_a_short_hold_before_the_text_changes():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).advance(100)
    lost = an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST, code="Other"))
    assert replay.set_verdicts(lost).advance(29).new_writes == ["clusterBBR x1"]
    assert replay.advance(1).new_writes == ["clusterBBR x2"]


def test_what_is_out_from_now_on_changes_the_text_at_once():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).advance(100)
    worse = a_trouble(kind=TroubleKind.LOST, code="Other", is_out=True)
    replay.set_verdicts(an_active_verdict(BBR, worse))
    assert replay.new_writes == ["clusterBBR x1", "clusterBBR x2"]


def test_a_cause_of_a_moment_changes_no_text():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).advance(100)
    replay.set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST, code="Other")))
    replay.advance(20).set_verdicts(an_active_verdict(BBR)).advance(100)
    assert replay.new_writes == ["clusterBBR x1"]


def test_no_heartbeat_puts_a_cause_of_a_moment_into_the_text():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    heartbeat = replay.context.pending_write(BBR, now=replay.now).due_at
    replay.advance(heartbeat - replay.now - timedelta(seconds=10))
    lost = an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST, code="Other"))
    assert replay.set_verdicts(lost).advance(29).new_writes == ["clusterBBR x1"]
    assert replay.advance(1).new_writes == ["clusterBBR x2"]


def test_what_somebody_declares_changes_the_text_at_once():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).advance(100)
    replay.set_verdicts(an_active_verdict(BBR, a_trouble(code="ScaledToZero")))
    assert replay.new_writes == ["clusterBBR x1", "clusterBBR x2"]


def test_each_pending_write_is_named_once_and_those_that_are_due_come_first():
    replay = stack_replay().set_verdicts(an_active_verdict(PODS))
    replay.announcing = False
    replay.advance(5).set_verdicts(an_active_verdict(BBR))
    writes = replay.context.pending_writes(now=replay.now)
    assert [(write.key, write.due_at <= replay.now) for write in writes] == [
        (BBR, True),
        (PODS, False),
    ]


def test_a_change_just_after_a_heartbeat_is_not_delayed():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    heartbeat = replay.context.pending_write(BBR, now=replay.now)
    assert replay.advance(heartbeat.due_at - replay.now).new_writes == [
        "clusterBBR x1",
        "clusterBBR x2",
    ]
    other = an_active_verdict(BBR, a_trouble(code="Other"))
    assert replay.set_verdicts(other).new_writes == ["clusterBBR x3"]
