"""The plan of the store, in stories of one process and its successor."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.history.desired import DesiredObjects
from reporter.history.existing import PlanInput, PlanMemory
from reporter.history.plan import make_plan
from reporter.kinds.health_events import StoreLimits
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Cause, ObjectRef
from tests.support.builders import (
    HOUR,
    MINUTE,
    a_catalogue,
    a_key,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.health_events import StoreReplay
from tests.support.replay import Replay


SETS = tuple(Subject(Layer.MODELDEPLOYMENT, f"team-{i}", "qwen") for i in range(8))
SUBJECTS = frozenset({CLUSTER_SUBJECT, *SETS})
CATALOGUE = a_catalogue(
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    an_entry("inferencesetPressure", None, layer=Layer.MODELDEPLOYMENT, orthogonal=True),
)
ISTIO, BBR = a_key("clusterIstio"), a_key("clusterBBR")
PRESSURE = a_key("inferencesetPressure", SETS[0])


def a_store(**limits) -> StoreReplay:
    return StoreReplay(Replay(CATALOGUE, subjects=SUBJECTS), StoreLimits(**limits))


def after(store: StoreReplay, **changes) -> Replay:
    """Return the process that comes after: it has read back what is not an hour old."""
    old = store.replay
    return Replay(CATALOGUE, subjects=SUBJECTS, now=old.now, evaluating_since=old.now, **changes)


def on_node(node: str, **changes):
    ref = ObjectRef("nodes", "", node)
    return replace(a_trouble(**changes), cause=Cause(ref, "Memory"))


def pods(number: int):
    return a_key("inferencesetPods", SETS[number])


# ------------------------------------------------------------ the course of an episode


def test_each_episode_is_one_object_under_the_name_of_its_event():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    assert store.settle().phases() == ["clusterBBR Active"]
    store.replay.advance(HOUR)
    assert store.settle().phases() == ["clusterBBR Active"]
    (name,) = store.existing
    assert name.startswith("system."), "the name of the involved object"


def test_object_says_what_the_event_says():
    store = a_store()
    trouble = a_trouble(kind=TroubleKind.FAILED, code="Crash")
    store.replay.set_verdicts(an_active_verdict(BBR, trouble)).advance(16)
    spec = store.settle().only().spec
    event = store.replay.announcement_state.episodes[BBR].event
    assert (spec.message, spec.generated_timestamp) == (event.message, event.episode_start)
    assert (spec.check_name, spec.subject, spec.layer) == ("clusterBBR", "cluster", Layer.CLUSTER)
    assert (spec.error_code, spec.remedy, spec.is_healthy) == (("Crash",), "look at it.", False)
    assert spec.episode == int(event.episode_start.timestamp())
    (entity,) = spec.entities_impacted
    assert (entity.entity_type, entity.entity_value) == ("things", "system/thing")


@pytest.mark.parametrize(
    ("key", "is_out", "is_fatal"),
    [(pods(3), True, True), (pods(3), False, False), (BBR, True, False)],
    ids=["the model serves nothing", "a replica fails", "a component is out"],
)
def test_only_a_model_that_does_not_serve_is_fatal(key, is_out: bool, is_fatal: bool):
    store = a_store()
    trouble = a_trouble(kind=TroubleKind.FAILED, is_out=is_out)
    store.replay.set_verdicts(an_active_verdict(key, trouble)).advance(16)
    assert store.settle().only().spec.is_fatal is is_fatal


def test_object_that_is_not_as_it_was_meant_is_deleted_at_once_and_made_again():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    (name,) = store.settle().existing
    given = PlanInput(
        DesiredObjects(),
        store.existing,
        lambda _: None,
        StoreLimits(),
        timedelta(seconds=30),
        unfit=frozenset({name}),
    )
    plan = make_plan(given, PlanMemory(), now=store.replay.now)
    assert [each.metadata.name for each in plan.deletes] == [name]


def test_object_of_an_inference_set_names_it():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(pods(3)))
    spec = store.settle().only().spec
    assert spec.subject == "team-3/qwen"
    values = [(each.entity_type, each.entity_value) for each in spec.entities_impacted]
    assert values[:2] == [("Namespace", "team-3"), ("InferenceSet", "team-3/qwen")]


def test_end_of_an_episode_is_written_once_it_has_settled():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.set_clear(BBR).advance(29)
    assert store.settle().phases() == ["clusterBBR Active"]
    store.replay.advance(2)
    assert store.settle().phases() == ["clusterBBR Resolved Cleared"]
    status = store.only().status
    assert status["resolvedTime"] == "2026-05-01T12:00:31Z"


def test_trouble_that_comes_again_is_another_object():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.set_clear(BBR).advance(31)
    store.settle().replay.set_verdicts(an_active_verdict(BBR))
    assert store.settle().phases() == ["clusterBBR Active", "clusterBBR Resolved Cleared"]


def test_episode_of_a_subject_that_is_gone_is_resolved_so():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(pods(0)))
    store.settle().replay.subjects = SUBJECTS - {SETS[0]}
    store.replay.set_clear(pods(0)).run_pass()
    assert store.settle().phases() == ["inferencesetPods Resolved Gone"]


def test_what_cannot_be_evaluated_is_not_touched():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    before = dict(store.settle().existing)
    store.replay.set_unknown(BBR).advance(HOUR)
    store.settle()
    assert store.existing == before


def test_other_causes_and_suffixes_are_written_once_a_minute():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.set_verdicts(an_active_verdict(BBR, a_trouble(code="Worse")))
    store.replay.advance(61)
    store.settle()
    first = store.only().status
    assert (first["occurrences"], len(first["contentDigest"])) == (2, 16)
    store.replay.set_verdicts(an_active_verdict(BBR, a_trouble(code="Worst"))).advance(1)
    deadline = store.plan().deadline
    assert store.settle().only().status == first
    assert deadline is None or deadline > store.replay.now
    store.replay.advance(120)
    assert store.settle().only().status["occurrences"] == 3


def test_reasons_in_the_suffix_are_a_list_and_no_other_occurrence():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(ISTIO), an_active_verdict(BBR))
    status = store.settle().only().status
    assert status["also"] == ["clusterBBR"]
    assert status["occurrences"] == 1
    assert "message" not in status
    store.replay.set_clear(BBR).advance(120)
    status = store.settle().only().status
    assert "also" not in status
    assert "(also: " not in status["message"]


# ------------------------------------------------------------ nodes


def test_trouble_on_several_nodes_is_an_object_on_each():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(PRESSURE, on_node("n1"), on_node("n2")))
    assert store.settle().phases() == [
        "inferencesetPressure n1 Active",
        "inferencesetPressure n2 Active",
    ]
    assert {each.spec.entities_impacted[-1].entity_value for each in store.existing.values()} == {
        "n1",
        "n2",
    }


def test_node_that_is_well_again_is_resolved_and_reopened_in_the_same_episode():
    store = a_store()
    both = an_active_verdict(PRESSURE, on_node("n1"), on_node("n2"))
    store.replay.set_verdicts(both)
    store.settle().replay.set_verdicts(an_active_verdict(PRESSURE, on_node("n1")))
    store.settle().replay.advance(70)
    store.settle().replay.advance(70)
    assert store.settle().phases() == [
        "inferencesetPressure n1 Active",
        "inferencesetPressure n2 Resolved Cleared",
    ]
    store.replay.set_verdicts(both)
    store.settle()
    assert [each.phase for each in store.existing.values()] == ["Active", "Active"]
    reopened = store.only(lambda each: each.spec.node_name == "n2").status
    assert reopened["occurrences"] >= 2
    assert {"resolution", "resolvedTime"}.isdisjoint(reopened)


def test_node_that_is_well_again_stays_so_while_the_trouble_elsewhere_settles():
    store = a_store()
    both = an_active_verdict(PRESSURE, on_node("n1"), on_node("n2"))
    store.replay.set_verdicts(both)
    store.settle().replay.set_verdicts(an_active_verdict(PRESSURE, on_node("n1")))
    for _ in range(3):
        store.settle().replay.advance(70)
    store.settle().replay.set_clear(PRESSURE).advance(10)
    assert store.settle().phases() == [
        "inferencesetPressure n1 Active",
        "inferencesetPressure n2 Resolved Cleared",
    ]


# ------------------------------------------------------------ another process


def test_process_that_continues_an_episode_writes_nothing():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR)).advance(MINUTE)
    before = dict(store.settle().existing)
    successor = after(store)
    successor.verdicts = dict(store.replay.verdicts)
    successor.announcement_state = store.replay.announcement_state
    store.restart(successor.run_pass())
    store.settle()
    assert store.existing == before


def test_episode_that_ended_while_nothing_ran_is_resolved_after_a_settle():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().restart(after(store))
    plan = store.plan()
    assert plan.patches == ()
    assert plan.deadline == store.replay.now + timedelta(seconds=30)
    store.replay.advance(29)
    assert store.settle().phases() == ["clusterBBR Active"]
    store.replay.advance(2)
    assert store.settle().phases() == ["clusterBBR Resolved Cleared"]


def test_trouble_that_returns_within_that_settle_keeps_its_object_active():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().restart(after(store))
    store.settle().replay.set_unknown(BBR).advance(HOUR)
    assert store.settle().phases() == ["clusterBBR Active"]
    store.replay.set_clear(BBR)
    assert store.settle().phases() == ["clusterBBR Active"], "it settles anew"


def test_trouble_after_an_hour_without_a_process_is_another_episode():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    store.settle().replay.now += HOUR + MINUTE
    store.restart(after(store).set_verdicts(an_active_verdict(BBR)))
    assert store.settle().phases() == ["clusterBBR Active", "clusterBBR Resolved Superseded"]


def test_name_that_exists_already_is_not_made_again():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(BBR))
    (create,) = store.plan().creates
    store.carry_out(store.plan())
    assert create.name in store.existing
    assert store.plan().creates == ()
