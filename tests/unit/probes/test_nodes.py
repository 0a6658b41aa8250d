"""The verdicts about several lost Nodes, and which Nodes are lost at all."""

from datetime import timedelta

import msgspec
import pytest

from reporter.kinds.core import NODES, PODS, Node
from reporter.kinds.kaito import WORKSPACES
from reporter.model.observations import NotServed, NotSynced, WatchLost
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.store.store import Store
from tests.support.builders import LONG_AGO, NOON, a_namespace, a_store, an_observed_condition
from tests.support.catalogue_fixture import a_probe_request
from tests.support.model_builders import TEAM, a_model_pod, a_workspace
from tests.support.probe_verdicts import only_trouble, verdicts_of_request


REASON = "clusterNodesNotReady"
SILENT = "Kubelet stopped posting node status."


def a_node(name: str, status: str = "Unknown", since=NOON, **metadata) -> Node:
    ready = an_observed_condition("Ready", status, "NodeStatusUnknown", SILENT, since=since)
    content = {
        "metadata": {
            "name": name,
            "creationTimestamp": LONG_AGO,
            "labels": {"a": "b"},
            **metadata,
        },
        "status": {"conditions": [{"type": "DiskPressure", "status": "False"}, ready]},
    }
    return msgspec.json.decode(msgspec.json.encode(content), type=Node)


def a_silent_pod(node: str, index: int = 0):
    return a_model_pod(index, ready=False, since=NOON, node=node)


def verdict(*objects):
    return verdict_of(a_store(a_namespace("stack"), *objects))


def verdict_of(store: Store):
    request = a_probe_request(REASON, **{"release-namespace": "stack"})
    (found,) = verdicts_of_request(request, store)
    return found


@pytest.mark.parametrize(
    ("node", "is_lost"),
    [
        (a_node("a"), True),
        (a_node("a", "False"), True),
        (a_node("a", "True"), False),
        (a_node("a", "False", since=LONG_AGO), False),
        (a_node("a", deletionTimestamp=NOON), False),
        (a_node("a", creationTimestamp=NOON - timedelta(seconds=1)), False),
    ],
    ids=["silent", "not Ready", "Ready", "never Ready", "being deleted", "new"],
)
def test_a_node_is_lost_that_was_ready_and_is_not(node, is_lost):
    assert (node.lost_by is not None) == is_lost


def test_a_node_keeps_its_condition_ready_alone_so_that_a_heartbeat_is_no_change():
    store = a_store(a_node("a", "True"))
    store.take_dirty()
    store.upsert(NODES, a_node("a", "True", labels={"other": "label"}))
    assert not store.take_dirty()


def test_one_lost_node_is_the_trouble_of_its_models_alone():
    assert isinstance(verdict(a_node("a"), a_silent_pod("a")), Clear)


def test_nodes_on_which_nothing_of_the_stack_runs_are_none_of_its_business():
    assert isinstance(verdict(a_node("a"), a_node("b"), a_node("c"), a_silent_pod("a")), Clear)


def test_several_lost_nodes_are_one_trouble_that_names_them_and_the_models_on_them():
    pods = [a_silent_pod("a"), a_silent_pod("b", 1)]
    found = verdict(a_node("a"), a_node("b", since=NOON + timedelta(seconds=2)), *pods)
    assert isinstance(found, Active)
    trouble = only_trouble(found)
    assert trouble.message_fields == {
        "nodes": "2 Nodes a, b are not Ready",
        "why": "NodeStatusUnknown",
        "models": "; on them 1 model: team-a/qwen",
    }
    assert (trouble.is_out, trouble.since, trouble.nodes) == (True, NOON, frozenset({"a", "b"}))
    more = verdict(a_node("a"), a_node("b"), a_node("c"), *pods, a_silent_pod("c", 2))
    assert only_trouble(more).cause == trouble.cause


LOST_IN_PART = [a_node("a"), a_node("b"), a_silent_pod("a")]


@pytest.mark.parametrize(
    ("watch_state", "type_"),
    [
        (NotSynced("may not list it"), Unknown),
        (WatchLost(LONG_AGO, "it ended"), Unknown),
        (NotServed(), Clear),
    ],
)
def test_workspaces_that_cannot_be_read_may_use_a_node_that_is_lost(watch_state, type_):
    store = a_store(a_namespace("stack"), *LOST_IN_PART)
    store.set_watch_state(WORKSPACES, watch_state)
    assert isinstance(verdict_of(store), type_)
    store.upsert(PODS, a_silent_pod("b", 1))
    assert isinstance(verdict_of(store), Active)
    store.upsert(NODES, a_node("b", "True"))
    assert isinstance(verdict_of(store), Clear)


@pytest.mark.parametrize("kind", [PODS, WORKSPACES])
def test_what_cannot_be_decoded_may_use_a_node_that_is_lost(kind):
    store = a_store(a_namespace("stack"), *LOST_IN_PART)
    store.mark_undecodable(kind, TEAM, "odd")
    assert isinstance(verdict_of(store), Unknown)


def test_a_node_whose_pods_are_evicted_is_found_by_the_workspace_that_used_it():
    workspace = a_workspace()
    status = msgspec.structs.replace(workspace.status, worker_nodes=("b",))
    used = msgspec.structs.replace(workspace, status=status)
    found = verdict(a_node("a"), a_node("b"), a_silent_pod("a"), used)
    assert only_trouble(found).nodes == frozenset({"a", "b"})
