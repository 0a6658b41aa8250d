"""An Event that became untrue or early between scheduling and sending is not composed."""

from tests.support.builders import a_key, an_active_verdict
from tests.support.replay_builders import (
    BBR,
    ISTIO,
    all_of,
    cluster_replay,
    keys,
    sets,
    team_replay,
)


READY = a_key("clusterReady")


def test_a_key_that_is_clear_or_outranked_by_now_has_no_event():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(ISTIO))
    assert replay.context.compose_event(BBR, now=replay.now) is None
    assert replay.context.pending_write(BBR, now=replay.now) is None
    replay.set_clear(BBR, ISTIO)
    assert replay.context.compose_event(ISTIO, now=replay.now) is None
    replay.advance(60)
    assert replay.evaluation.finding_state_of(ISTIO) is None
    assert replay.context.compose_event(ISTIO, now=replay.now) is None


def test_a_key_that_is_unknown_by_now_has_no_event():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).set_unknown(BBR).advance(400)
    assert replay.context.pending_write(BBR, now=replay.now) is None
    assert replay.context.compose_event(BBR, now=replay.now) is None


def test_a_heartbeat_has_no_event_before_it_is_due():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR)).advance(100)
    write = replay.context.pending_write(BBR, now=replay.now)
    assert write is not None
    assert write.is_repeat
    assert replay.context.compose_event(BBR, now=replay.now) is None
    assert replay.context.compose_event(BBR, now=write.due_at) is not None


def test_a_ready_that_is_not_owed_has_no_event():
    replay = cluster_replay()
    assert replay.context.compose_event(READY, now=replay.now) is None
    replay.set_verdicts(an_active_verdict(BBR))
    assert replay.context.compose_event(READY, now=replay.now) is None


def test_a_key_that_is_in_a_group_by_now_has_no_event():
    subjects = sets(11)
    replay = team_replay(*subjects).set_verdicts(*all_of(subjects))
    assert replay.context.compose_event(keys(subjects)[0], now=replay.now) is None
