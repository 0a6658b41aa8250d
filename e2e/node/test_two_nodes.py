"""Two nodes: both are silent, one is deleted, and one is lost with the leader on it."""

import contextlib
import time
from collections.abc import Iterator
from functools import partial

import pytest

from e2e.controlplane import Json, until
from e2e.controlplane.client import STRATEGIC
from e2e.node import stack
from e2e.node.images import WORKLOAD
from e2e.node.real_node import RealNode
from e2e.node.release import Release, installed
from e2e.suite.reporters import is_ready
from e2e.support.production_stack import components
from reporter.kinds.objects import CREATED_BY_LABEL


NODES, ISTIOD = "clusterNodesNotReady", "clusterIstioControlPlaneNotReady"
TEAM, MODEL = "team-of-nodes", "qwen"
TAKEOVER_WITHIN = 60
GONE_WITHIN = 180
"""Seconds until the pods of a deleted node are gone: they are orphans for 40 s or more."""

ANNOUNCED_WITHIN = 60
"""Seconds within which trouble that has just come would be announced."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    with installed(tmp_path_factory.mktemp("helm"), nodes=2) as release:
        yield release


@pytest.fixture(autouse=True)
def _printed(pair: Release) -> Iterator[None]:
    pair.until_quiet()
    yield
    pair.print_logs()


def test_silent_nodes_are_one_event_until_both_are_back(pair: Release) -> None:
    nodes, events = pair.cluster.nodes, pair.events_from_now()
    with _model_on(pair, nodes):
        try:
            for each in nodes:
                each.stop_kubelet()
            # The containers run on without kubelet, so the leader says so.
            warning = events.wait_for(NODES)
        finally:
            for each in nodes:
                each.start_kubelet()
            pair.until_back()
        ready = events.wait_for("clusterReady")
    names = ", ".join(sorted(each.name for each in nodes))
    assert warning.message.startswith(
        f"2 Nodes {names} are not Ready (NodeStatusUnknown); on them 1 model: {TEAM}/{MODEL}:"
        " Kubelet stopped posting node status. Infrastructure: See with kubectl get nodes"
    )
    written = events.all()
    print(*(f"{each.reason}: {each.message}" for each in written), sep="\n")
    # The node that is lost some seconds before the other one may be announced by a component on it.
    assert [each.uid for each in written[-2:]] == [warning.uid, ready.uid]


def test_deleted_node_is_silent_while_its_pods_move(pair: Release) -> None:
    events, (_, deleted) = pair.events_from_now(), pair.cluster.nodes
    _lead_from(pair, deleted)
    pair.cluster.client.delete(f"/api/v1/nodes/{deleted.name}")
    try:
        until(lambda: not _pods_on(pair, deleted), within=GONE_WITHIN, what="its pods are gone")
    finally:
        # A kubelet registers its node when it starts.
        deleted.stop_kubelet()
        deleted.start_kubelet()
        pair.until_back()
    time.sleep(ANNOUNCED_WITHIN)
    assert [each.message for each in events.all()] == []
    assert pair.cluster_state() == "Current"


def test_node_lost_with_the_leader_is_announced_until_its_pods_have_moved(pair: Release) -> None:
    _, lost = pair.cluster.nodes
    _lead_from(pair, lost)
    _put(pair, "istiod", lost)
    leader, events = pair.reporters.leader(), pair.events_from_now()
    lost.kill()
    warning = events.wait_for(ISTIOD, f"Node {lost.name} is not Ready")
    print(warning.message)
    assert warning.raw["reportingInstance"] not in {"", leader}
    ready = events.wait_for("clusterReady")
    # A machine that does not come back: its pods stay until somebody deletes its Node.
    pair.cluster.client.delete(f"/api/v1/nodes/{lost.name}")
    until(lambda: not _pods_on(pair, lost), within=GONE_WITHIN, what="its pods are gone")
    pair.until_complete()
    time.sleep(ANNOUNCED_WITHIN)
    warnings = [each for each in events.all() if each.type == "Warning"]
    assert [each.message for each in warnings if lost.name not in each.message] == []
    assert [each.uid for each in events.all()[-2:]] == [warning.uid, ready.uid]
    assert pair.cluster_state() == "Current"


def _lead_from(release: Release, node: RealNode) -> None:
    """Let a replica on a node lead: those that lead elsewhere are replaced, one after the other."""
    for _ in release.reporters.pods():
        leader = release.reporters.leader()
        if leader not in _pods_on(release, node):
            release.reporters.delete_pod(leader)
            until(
                partial(_leads_another, release, leader),
                within=TAKEOVER_WITHIN,
                what="another replica leads",
            )
            release.until_complete()
    assert release.reporters.leader() in _pods_on(release, node)


def _leads_another(release: Release, lost: str) -> bool:
    return release.reporters.leader() not in {"", lost}


def _put(release: Release, name: str, node: RealNode) -> None:
    """Move the pod of a component to a node, for as long as that takes pods."""
    client, component = release.cluster.client, stack.component(name)
    named = {"key": "metadata.name", "operator": "In", "values": [node.name]}
    preferred = {"weight": 100, "preference": {"matchFields": [named]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}
    change = {"spec": {"template": {"spec": {"affinity": affinity}}}}
    client.patch(components.path(component), change, STRATEGIC)
    stack.until_ready(client, component)
    (pod,) = components.pods(client, component)
    assert pod["spec"]["nodeName"] == node.name


def _pods_on(release: Release, node: RealNode) -> list[str]:
    found = release.cluster.client.list("/api/v1/pods", fieldSelector=f"spec.nodeName={node.name}")
    return [each["metadata"]["name"] for each in found]


@contextlib.contextmanager
def _model_on(release: Release, nodes: list[RealNode]) -> Iterator[None]:
    """Run a pod of a model on each node."""
    client, namespace = release.cluster.client, f"/api/v1/namespaces/{TEAM}"
    client.apply(components.namespace_manifest(TEAM))
    account = f"{namespace}/serviceaccounts/default"
    until(lambda: client.exists(account), within=60, what=f"{account} exists")
    pods = [client.create(f"{namespace}/pods", _model_pod(each)) for each in nodes]
    paths = [f"{namespace}/pods/{each['metadata']['name']}" for each in pods]
    try:
        until(
            lambda: all(is_ready(client.get(path)) for path in paths),
            within=60,
            what="the pods of the model are Ready",
        )
        yield
    finally:
        client.delete(namespace)


def _model_pod(node: RealNode) -> Json:
    container = {"name": MODEL, "image": WORKLOAD, "args": ["serve"]}
    metadata = {"name": f"{MODEL}-on-{node.name}", "labels": {CREATED_BY_LABEL: MODEL}}
    return {"metadata": metadata, "spec": {"nodeName": node.name, "containers": [container]}}
