"""A cause precedes its effect, and explains it: what an upstream that is out does not suppress."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.evaluation.evaluation import Evaluation
from reporter.model.enums import TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.builders import (
    NOON,
    a_catalogue,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay
from tests.support.replay_builders import (
    ISTIO,
    KAITO,
    MODELS,
    PODS,
    ROWS,
    SET,
    out,
    stack_replay,
)


def test_downstream_announced_before_upstream_went_out_continues_its_episode():
    replay = (
        stack_replay()
        .set_verdicts(an_active_verdict(PODS))
        .advance(10)
        .set_verdicts(out(KAITO, "kaito"))
        .advance(100)
    )
    assert replay.new_writes == ["inferencesetPods x1", "clusterKaito x1"]
    assert replay.state(PODS) == "announced"
    assert "suppressing" not in replay.last_message
    replay.advance(300)
    assert "inferencesetPods x2" in replay.new_writes
    assert len({r.episode_start for r in replay.writes if r.key == PODS}) == 1


def test_what_is_seen_just_before_its_upstream_may_follow_from_it():
    replay = stack_replay().set_verdicts(an_active_verdict(PODS)).advance(5)
    assert replay.set_verdicts(out(KAITO)).state(PODS) == "suppressed"


def test_what_was_only_held_when_its_upstream_went_out_may_follow_from_it():
    held = an_active_verdict(PODS, a_trouble(kind=TroubleKind.LOST))
    replay = stack_replay().set_verdicts(held).advance(20).set_verdicts(out(KAITO)).advance(60)
    assert replay.state(PODS) == "suppressed"


def test_of_two_upstreams_the_one_that_went_out_before_the_finding_explains_it():
    rows = (
        a_suppression("clusterKaito", "inferencesetPods"),
        a_suppression("clusterIstio", "inferencesetPods"),
    )
    entries = (an_entry("clusterIstio", 20), an_entry("clusterKaito", 30), *MODELS)
    replay = Replay(a_catalogue(*entries, rows=rows), subjects=frozenset({CLUSTER_SUBJECT, SET}))
    replay.set_verdicts(out(KAITO)).advance(10).set_verdicts(an_active_verdict(PODS)).advance(10)
    replay.set_verdicts(out(ISTIO))
    assert replay.evaluation.suppressions.suppressed_by[PODS] == (KAITO,)


def test_what_returns_after_it_had_settled_follows_from_the_upstream():
    replay = stack_replay().set_verdicts(an_active_verdict(PODS)).advance(10)
    replay.set_verdicts(out(KAITO)).set_clear(PODS).advance(31)
    assert replay.set_verdicts(an_active_verdict(PODS)).state(PODS) == "suppressed"


def test_a_later_outage_of_an_upstream_that_was_degraded_begins_when_it_is_out():
    replay = stack_replay().set_verdicts(an_active_verdict(KAITO)).advance(10)
    replay.set_verdicts(an_active_verdict(PODS)).advance(10).set_verdicts(out(KAITO, "thing"))
    assert replay.state(PODS) == "announced"


def own_cause_replay():
    pods = replace(MODELS[0], own_causes=frozenset({"OutOfMemory"}))
    catalogue = a_catalogue(an_entry("clusterKaito", 30), pods, rows=ROWS[:1])
    return Replay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, SET}))


@pytest.mark.parametrize("code", ["OutOfMemory", "Degraded.OutOfMemory"])
def test_what_states_a_cause_of_its_own_does_not_follow_from_its_upstream(code):
    replay = own_cause_replay().set_verdicts(out(KAITO)).advance(100)
    replay.set_verdicts(an_active_verdict(PODS, a_trouble(code=code)))
    assert replay.new_writes == ["clusterKaito x1", "inferencesetPods x1"]


def test_of_several_troubles_one_that_states_a_cause_is_enough():
    replay = own_cause_replay().set_verdicts(out(KAITO)).advance(100)
    troubles = (a_trouble("one"), a_trouble("two", code="OutOfMemory"))
    assert replay.set_verdicts(an_active_verdict(PODS, *troubles)).state(PODS) == "announced"


def test_while_nothing_is_known_of_when_its_upstream_went_out_a_finding_may_follow_from_it():
    replay = stack_replay()
    replay.evaluation = Evaluation()  # a process that has looked at nothing yet
    replay.verdicts = {
        KAITO: out(KAITO),
        PODS: an_active_verdict(PODS, a_trouble(since=NOON - timedelta(hours=1))),
    }
    assert replay.run_pass().state(PODS) == "suppressed"


def test_a_process_that_starts_believes_the_writers_which_of_two_came_first():
    hour = timedelta(hours=1)
    replay = stack_replay()
    replay.evaluation = Evaluation()  # a process that has looked at nothing yet
    replay.verdicts = {
        KAITO: out(KAITO, since=NOON - hour),
        PODS: an_active_verdict(PODS, a_trouble(since=NOON - 2 * hour)),
    }
    assert (
        replay.run_pass().state(PODS) == "held"
    )  # what was suppressed a moment ago has the settle left
    assert replay.advance(30).state(PODS) == "announced"
