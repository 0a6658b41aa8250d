"""Episodes of nodes as NVSentinel's objects: a fault, and a recovery as a second object."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from reporter.history.node_events import (
    is_replaced,
    make_fault,
    make_recovery,
    pair_objects,
)
from reporter.kinds.health_events import HealthEvent, Resolution
from reporter.kinds.nvsentinel import (
    NodeHealthEvent,
    NodeHealthEventSpec,
    find_altered_field,
)
from reporter.kube.event_format import node_event_name
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Cause, ObjectRef
from tests.support.builders import NOON, a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.health_events import EPISODE, StoreReplay, a_health_event, a_spec, as_text
from tests.support.node_events import ACTIONS, SPEC_FIELDS, STRATEGIES, a_node_event
from tests.support.replay import Replay


SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
SPEC = a_spec("inferencesetPressure", SET, node="n1", error_code=("Memory",), remedy="Drain it.")
LATER = NOON + timedelta(hours=1)


def as_json(spec) -> dict:
    return msgspec.json.decode(msgspec.json.encode(spec))


def as_spec(raw: dict) -> NodeHealthEventSpec:
    return msgspec.convert(raw, NodeHealthEventSpec)


def found_alone(*objects: NodeHealthEvent) -> HealthEvent:
    (episode,) = pair_objects(objects).by_name.values()
    return episode.found


def a_recovery(fault: NodeHealthEvent, end: Resolution = Resolution.CLEARED) -> NodeHealthEvent:
    spec = make_recovery(found_alone(fault), end, now=LATER)
    return a_node_event(f"{fault.metadata.name}-recovered", spec)


# ------------------------------------------------------------ what is written


def test_fault_has_the_fields_of_nvsentinel_and_triggers_nothing():
    written = as_json(make_fault(SPEC))
    assert written.keys() <= SPEC_FIELDS.keys()
    assert written["processingStrategy"] == "STORE_ONLY"
    assert written["recommendedAction"] == "NONE"
    assert (written["isFatal"], written["isHealthy"]) == (True, False)
    assert written["componentClass"] == "modeldeployment"
    assert (written["checkName"], written["nodeName"]) == ("inferencesetPressure", "n1")
    assert written["errorCode"] == ["Memory"]
    assert written["generatedTimestamp"] == as_text(NOON)
    assert written["metadata"]["subject"] == "team-a/qwen"
    assert all(isinstance(text, str) and text for text in written["metadata"].values())


def test_recovery_names_what_the_fault_named_and_is_healthy():
    fault = a_node_event("one", SPEC)
    written, before = as_json(a_recovery(fault).spec), as_json(fault.spec)
    same = ("agent", "checkName", "componentClass", "nodeName", "entitiesImpacted", "errorCode")
    assert {key: written[key] for key in same} == {key: before[key] for key in same}
    assert (written["isFatal"], written["isHealthy"]) == (False, True)
    assert written["processingStrategy"] == "STORE_ONLY"
    assert written["generatedTimestamp"] == as_text(LATER)
    assert written["message"] == (
        "inferencesetPressure of team-a/qwen is over on node n1 (Cleared)."
    )


def test_object_stored_as_it_was_meant_differs_in_no_field():
    raw = as_json(make_fault(SPEC)) | {"processingStrategy": 2, "recommendedAction": 0}
    assert find_altered_field(make_fault(SPEC), as_spec(raw)) == ""
    del raw["recommendedAction"], raw["isHealthy"]
    assert find_altered_field(make_fault(SPEC), as_spec(raw)) == "", "zero values of the protobuf"


@pytest.mark.parametrize(
    ("field", "stored"),
    [
        ("processingStrategy", None),
        ("processingStrategy", "EXECUTE_REMEDIATION"),
        ("isFatal", None),
        ("metadata", None),
        ("errorCode", None),
        ("recommendedAction", "REPLACE_VM"),
    ],
)
def test_field_that_was_not_stored_as_it_was_meant_is_found(field: str, stored: str | None):
    raw = as_json(make_fault(SPEC))
    if stored is None:
        del raw[field]
    else:
        raw[field] = stored
    assert find_altered_field(make_fault(SPEC), as_spec(raw)) == f"spec.{field}"


@pytest.mark.parametrize("strategy", [None, "", "UNSPECIFIED", 0, "EXECUTE_REMEDIATION", 1])
def test_object_that_may_trigger_remediation_makes_its_episode_unfit(strategy: str | int | None):
    raw = as_json(make_fault(SPEC))
    del raw["processingStrategy"]
    raw |= {} if strategy is None else {"processingStrategy": strategy}
    found = pair_objects([a_node_event("one", as_spec(raw)), a_node_event("two", SPEC)])
    assert found.unfit == {"one"}


# ------------------------------------------------------------ what is read


def test_fault_alone_is_an_active_episode():
    found = found_alone(a_node_event("one", SPEC))
    assert (found.metadata.name, found.phase) == ("one", "Active")
    assert found.spec == SPEC


@pytest.mark.parametrize("number", [ACTIONS["NONE"], "NONE"])
@pytest.mark.parametrize("strategy", [STRATEGIES["STORE_ONLY"], "STORE_ONLY"])
def test_enums_are_read_by_name_and_by_number(number: int | str, strategy: int | str):
    raw = as_json(a_node_event("one", SPEC))
    raw["spec"] |= {"recommendedAction": number, "processingStrategy": strategy}
    assert found_alone(msgspec.convert(raw, NodeHealthEvent)).spec == SPEC


@pytest.mark.parametrize("first", [0, 1], ids=["fault first", "recovery first"])
def test_fault_and_recovery_are_one_episode_that_is_over(first: int):
    fault = a_node_event("one", SPEC)
    objects = [fault, a_recovery(fault, Resolution.GONE)]
    found = found_alone(*(objects if first == 0 else reversed(objects)))
    assert (found.metadata.name, found.metadata.uid) == ("one", "uid-one")
    assert found.status == {
        "phase": "Resolved",
        "resolution": "Gone",
        "resolvedTime": LATER.isoformat(),
    }


def test_recovery_whose_fault_is_deleted_is_an_episode_that_is_over():
    recovery = a_recovery(a_node_event("one", SPEC))
    episodes = pair_objects([recovery]).by_name
    assert list(episodes) == ["one"]
    assert (episodes["one"].found.phase, episodes["one"].objects) == ("Resolved", (recovery,))


@pytest.mark.parametrize(
    "facts", [{}, {"layer": "moon"}, {"episode": "soon"}, {"owner": "me"}], ids=str
)
def test_object_of_another_maker_is_no_episode(facts: dict[str, str]):
    made = make_fault(SPEC)
    odd = msgspec.structs.replace(made, metadata={**made.metadata, **facts} if facts else {})
    episodes = pair_objects([a_node_event("odd", odd)])
    assert (episodes.by_name, episodes.unread) == ({}, {"odd"})


# ------------------------------------------------------------ episodes after one another


@pytest.mark.parametrize(
    ("changes", "phase", "replaced"),
    [
        ({"episode": EPISODE + 60}, "Active", True),
        ({"episode": EPISODE + 60}, "Resolved", False),
        ({"episode": EPISODE - 60}, "Active", False),
        ({"episode": EPISODE + 60, "node_name": "n2"}, "Active", False),
        ({"episode": EPISODE + 60, "subject": "team-b/qwen"}, "Active", False),
        ({"episode": EPISODE + 60, "check_name": "other"}, "Active", False),
    ],
)
def test_later_episode_of_the_same_trouble_on_the_node_replaces_one(
    changes: dict, phase: str, replaced: bool
):
    other = a_health_event("two", msgspec.structs.replace(SPEC, **changes), phase=phase)
    found = a_health_event("one", SPEC)
    assert is_replaced(found, [found, other], a_store().replay.context) is replaced


def test_later_episode_whose_object_is_not_there_yet_replaces_one_on_its_nodes():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(PRESSURE, on_node("n1")))
    here, elsewhere = (
        a_health_event("one", a_spec("inferencesetPressure", SET, node=node, episode=1))
        for node in ("n1", "n2")
    )
    assert is_replaced(here, [], store.replay.context)
    assert not is_replaced(elsewhere, [], store.replay.context)
    store.replay.set_clear(PRESSURE).advance(31)
    assert not is_replaced(here, [], store.replay.context)


# ------------------------------------------------------------ the plan


CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("inferencesetPressure", None, layer=Layer.MODELDEPLOYMENT, orthogonal=True),
)
PRESSURE = a_key("inferencesetPressure", SET)


def a_store() -> StoreReplay:
    replay = Replay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, SET}))
    return StoreReplay(replay, name_of=node_event_name, has_course=False)


def on_node(node: str, code: str = "Memory"):
    return replace(a_trouble(), cause=Cause(ObjectRef("nodes", "", node), code))


def test_only_trouble_of_nodes_has_objects():
    store = a_store()
    store.replay.set_verdicts(
        an_active_verdict(a_key("clusterBBR")),
        an_active_verdict(PRESSURE, on_node("n1"), a_trouble()),
    )
    assert store.settle().phases() == ["inferencesetPressure n1 Active"]


def test_other_causes_are_not_written_as_the_status_is_others():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(PRESSURE, on_node("n1")))
    store.settle().replay.set_verdicts(an_active_verdict(PRESSURE, on_node("n1", "Disk")))
    store.replay.advance(200)
    assert store.plan().patches == ()


def test_node_that_is_well_again_is_over_while_the_trouble_goes_on_without_a_node():
    store = a_store()
    store.replay.set_verdicts(an_active_verdict(PRESSURE, on_node("n1")))
    store.settle().replay.set_verdicts(an_active_verdict(PRESSURE, a_trouble()))
    for _ in range(3):
        store.settle().replay.advance(70)
    assert store.settle().phases() == ["inferencesetPressure n1 Resolved Cleared"]
