"""The object that a subject waits for, one for each."""

import pytest

from reporter.controller.blocking_objects import find_blocking_objects
from reporter.stories.story_replay import StoryReplay


BBR = "Deployment kaito-system/body-based-router"
KAITO = "Deployment kaito-system/kaito-workspace"
SET, POD = "InferenceSet team-m/qwen", "Pod team-m/qwen-7rk2p-0"
SECOND, SECOND_POD = "Workspace team-m/qwen-b2", "Pod team-m/qwen-b2-0"
WAITS_FOR_NODES = {
    "of": "qwen",
    "claims": "NodeNotFound",
    "nodes": "NodeNotReady",
    "resources": "NodeNotFound",
    "inference": "Unschedulable: pod is unschedulable",
}


def waits_for(change: dict, *, after: str = "1m2s") -> set[str]:
    """
    Return what subjects wait for, some time after the start, of a stack that changes after 1m.
    """
    case = {
        "flags": {"scrape": "off"},
        "story": [{"at": "1m", "change": change}],
        "until": after,
    }
    return {str(each) for each in find_blocking_objects(StoryReplay(case).run().rollup)}


def test_a_healthy_stack_waits_for_nothing():
    assert waits_for({}) == set()


def test_a_replica_waits_for_its_first_pod_that_is_not_ready():
    assert waits_for({POD: {"ready": False}}) == {"pods team-m/qwen-7rk2p-0"}


def test_a_new_replica_waits_for_its_pod_while_nodes_come():
    change = {
        SET: {"spec": {"replicas": 2}},
        SECOND: WAITS_FOR_NODES,
        SECOND_POD: {"model": "qwen", "unschedulable": "0/5 nodes are available"},
    }
    assert waits_for(change) == {"pods team-m/qwen-b2-0"}


def test_a_new_replica_without_pods_waits_for_its_workspace():
    change = {SET: {"spec": {"replicas": 2}}, SECOND: WAITS_FOR_NODES}
    assert waits_for(change) == {"workspaces.kaito.sh team-m/qwen-b2"}


def test_a_set_whose_replica_has_not_been_made_waits_for_the_set():
    change = {SET: {"spec": {"replicas": 2}}}
    assert waits_for(change) == {"inferencesets.kaito.sh team-m/qwen"}


def test_the_cluster_waits_for_a_deployment_while_its_trouble_is_held():
    assert waits_for({BBR: {"ready": 0}}) == {"deployments.apps kaito-system/body-based-router"}


def test_the_cluster_waits_for_each_deployment_that_is_behind_without_trouble():
    behind = {BBR: {"ready": 1}, KAITO: {"updated": 0}}
    assert waits_for(behind) <= {
        "deployments.apps kaito-system/body-based-router",
        "deployments.apps kaito-system/kaito-workspace",
    }


def test_what_a_model_waits_for_upstream_is_waited_for_once():
    change = {KAITO: {"ready": 0}, POD: {"ready": False}}
    assert waits_for(change) == {"deployments.apps kaito-system/kaito-workspace"}


def test_a_model_that_has_yet_to_recover_waits_for_its_own_pod_once_the_cause_has_ended():
    change = {KAITO: {"ready": 0}, POD: {"ready": False}}
    case = {
        "flags": {"scrape": "off"},
        "story": [
            {"at": "1m", "change": change},
            {"at": "2m", "change": {KAITO: {"ready": 2}}},
        ],
        "until": "2m2s",
    }
    found = find_blocking_objects(StoryReplay(case).run().rollup)
    assert "pods team-m/qwen-7rk2p-0" in map(str, found)


def test_nothing_is_waited_for_where_somebody_must_act():
    assert waits_for({BBR: {"replicas": 0}}) == set()


@pytest.mark.parametrize("change", [{"watch": {"pods": "lost"}}])
def test_what_is_unknown_is_not_waited_for(change):
    case = {"story": [{"at": "1m", **change}], "until": "5m"}
    assert tuple(find_blocking_objects(StoryReplay(case).run().rollup)) == ()
