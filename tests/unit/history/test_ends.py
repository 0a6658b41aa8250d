"""The end of an episode whose object is still Active."""

import pytest
from msgspec.structs import replace

from reporter.evaluation.evaluation import EvaluationSettings
from reporter.history.ends import EndFinder
from reporter.kinds.health_events import Resolution
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.snapshot.subjects import Subjects
from tests.support.builders import a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.health_events import a_health_event, a_spec
from tests.support.replay import Replay


SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
OTHER = Subject(Layer.MODELDEPLOYMENT, "team-a", "phi")
MANY = Subject(Layer.MODELDEPLOYMENT, "team-a")
HARNESS = Subject(Layer.MODELHARNESS, "team-a")
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("clusterOff", 30, enabled=False),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
)
ALL = frozenset({CLUSTER_SUBJECT, HARNESS, SET, OTHER})
BBR, PODS = a_key("clusterBBR"), a_key("inferencesetPods", SET)


def a_replay(**changes) -> Replay:
    return Replay(CATALOGUE, subjects=ALL, announcing=False, **changes)


def end(replay: Replay, reason: str, subject=CLUSTER_SUBJECT, **spec) -> Resolution | None:
    return EndFinder(replay.context)(a_health_event(spec=a_spec(reason, subject, **spec)))


def test_trouble_that_is_clear_has_cleared():
    assert end(a_replay(), "clusterBBR") is Resolution.CLEARED
    assert end(a_replay(), "inferencesetPods", SET) is Resolution.CLEARED


@pytest.mark.parametrize("key", [BBR, PODS], ids=str)
def test_trouble_that_lasts_or_settles_or_is_unknown_has_no_end(key):
    replay = a_replay().set_verdicts(an_active_verdict(key))
    where = (key.reason, key.subject)
    assert end(replay, *where) is None
    replay.set_clear(key)
    assert end(replay, *where) is None, "it settles"
    replay.set_unknown(key)
    assert end(replay, *where) is None
    replay.set_clear(key).advance(31)
    assert end(replay, *where) is Resolution.CLEARED


def test_what_is_unknown_without_ever_having_been_trouble_has_no_end():
    assert end(a_replay().set_unknown(BBR), "clusterBBR") is None


def test_subject_that_is_gone_ends_its_episodes():
    replay = a_replay()
    replay.subjects = frozenset({CLUSTER_SUBJECT})
    replay.run_pass()
    assert end(replay, "inferencesetPods", SET) is Resolution.GONE
    assert end(replay, "inferencesetPods", MANY) is Resolution.GONE


def test_subjects_that_cannot_be_listed_are_not_gone():
    replay = a_replay()
    unlisted = Subjects(
        frozenset({CLUSTER_SUBJECT}), {Subject(Layer.MODELDEPLOYMENT): "forbidden"}
    )
    replay.evaluation = replace(replay.evaluation, known_subjects=unlisted)
    assert end(replay, "inferencesetPods", SET) is None
    assert end(replay, "inferencesetPods", MANY) is None
    assert end(replay, "clusterBBR") is Resolution.CLEARED


@pytest.mark.parametrize("reason", ["clusterOff", "clusterOfAnotherRelease", "clusterReady"])
def test_reason_that_nothing_evaluates_any_longer_is_gone(reason: str):
    assert end(a_replay(), reason) is Resolution.GONE


def test_reason_that_checks_nothing_with_these_flags_is_gone():
    settings = EvaluationSettings(unchecked=frozenset({BBR.reason}))
    assert end(a_replay(settings=settings), "clusterBBR") is Resolution.GONE


def test_another_episode_supersedes_one():
    replay = Replay(CATALOGUE, subjects=ALL).set_verdicts(an_active_verdict(BBR))
    assert end(replay, "clusterBBR", episode=17) is Resolution.SUPERSEDED


def test_running_episode_has_cleared_on_a_node_that_it_does_not_name():
    replay = Replay(CATALOGUE, subjects=ALL).set_verdicts(an_active_verdict(BBR))
    started = int(replay.announcement_state.episodes[BBR].event.episode_start.timestamp())
    assert end(replay, "clusterBBR", episode=started, node="n1") is Resolution.CLEARED


def test_event_of_many_inference_sets_ends_when_none_of_them_has_the_trouble():
    replay = a_replay().set_verdicts(an_active_verdict(PODS))
    assert end(replay, "inferencesetPods", MANY) is None
    replay.set_unknown(PODS)
    assert end(replay, "inferencesetPods", MANY) is None
    replay.set_clear(PODS).advance(31)
    assert end(replay, "inferencesetPods", MANY) is Resolution.CLEARED


def test_event_of_many_subjects_of_a_pack_needs_no_harness_to_end_as_cleared():
    route, routes = (Subject(Layer.MODELDEPLOYMENT, "team-b", f"HTTPRoute/{n}") for n in ("a", ""))
    key = a_key("httprouteNotAccepted", route)
    about = {"layer": Layer.MODELDEPLOYMENT, "subject_kind": "HTTPRoute"}
    catalogue = a_catalogue(an_entry(key.reason, 10, **about))
    replay = Replay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, route}), announcing=False)
    replay.set_verdicts(an_active_verdict(key))
    assert end(replay, key.reason, routes) is None
    replay.set_clear(key).advance(31)
    assert end(replay, key.reason, routes) is Resolution.CLEARED
    replay.subjects = frozenset({CLUSTER_SUBJECT})
    replay.run_pass()
    assert end(replay, key.reason, routes) is Resolution.GONE


def test_nothing_ends_before_it_was_evaluated():
    replay = a_replay()
    replay.evaluation = replace(
        replay.evaluation, tracked=replay.evaluation.tracked.__class__({}, {}, frozenset())
    )
    assert end(replay, "clusterBBR") is None
