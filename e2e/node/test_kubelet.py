"""The node is lost, drained and short of memory, and comes back."""

import contextlib
from collections.abc import Iterator

from e2e.controlplane import Json, until
from e2e.node import NodeCluster, stack
from e2e.node.configuration import NAME
from e2e.node.first_process import SETTINGS
from e2e.node.release import NAMESPACE, Release
from e2e.suite.reporters import ENDED


ISTIOD = "clusterIstioControlPlaneNotReady"
LOST_WITHIN = 180
ALL_BACK_WITHIN = 300
MORE_THAN_IS_FREE = "99%"


def test_kubelet_changes_no_setting_of_the_machine(node: NodeCluster) -> None:
    mounts = node.namespaces.run("cat", "/proc/mounts")
    assert [each for each in SETTINGS if f" /proc/sys/{each} " not in mounts] == []
    # It has found its own values everywhere, so it writes no setting besides these.
    assert "Updating kernel flag" not in (node.folder / "kubelet.log").read_text()


def test_lost_node_is_named_until_kubelet_is_back(quiet: Release) -> None:
    node, events = quiet.node, quiet.events_from_now()
    node.stop_kubelet()
    try:
        until(lambda: "unreachable" in _taints(quiet), within=LOST_WITHIN, what="the node is lost")
        # The containers run on without kubelet, so one of them says so.
        warning = events.wait_for(ISTIOD, "0/1 replicas ready")
        print(warning.message)
        assert NAME in warning.message
    finally:
        node.start_kubelet()
        _until_back(quiet)
    ready = events.wait_for("clusterReady")
    print(ready.message)
    # Another component may be past its hold a moment earlier, and is announced first.
    reasons = [each.reason for each in events.all()]
    assert (reasons[-1], reasons.count("clusterReady")) == ("clusterReady", 1)


def test_drained_node_is_silent_once_all_pods_are_back(quiet: Release) -> None:
    events = quiet.events_from_now()
    try:
        quiet.kubectl("drain", NAME, "--force", "--delete-emptydir-data", "--timeout=120s")
    finally:
        quiet.kubectl("uncordon", NAME)
    _until_back(quiet)
    until(lambda: quiet.cluster_state() == "Current", within=ALL_BACK_WITHIN, what="all is well")
    assert [each.message for each in events.all() if each.type == "Warning"] == []


def test_reporters_that_a_node_without_memory_evicts_come_back_with_the_stack(
    quiet: Release,
) -> None:
    pods = {pod["metadata"]["name"] for pod in quiet.reporters.pods()}
    with _short_of_memory(quiet):
        # Without room for anything kubelet evicts all pods, those that tolerate the taint last.
        until(lambda: _ended(quiet) >= pods, within=LOST_WITHIN, what="the reporters are evicted")
        assert "memory-pressure" in _taints(quiet)
    _until_back(quiet)
    until(lambda: quiet.cluster_state() == "Current", within=ALL_BACK_WITHIN, what="all is well")


def _ended(release: Release) -> set[str]:
    """Return the pods that kubelet has ended: as Failed, or as Succeeded where they exit with 0."""
    found = release.node.client.list(f"/api/v1/namespaces/{NAMESPACE}/pods")
    return {each["metadata"]["name"] for each in found if each["status"]["phase"] in ENDED}


@contextlib.contextmanager
def _short_of_memory(release: Release) -> Iterator[None]:
    release.node.stop_kubelet()
    release.node.start_kubelet(reserved_memory=MORE_THAN_IS_FREE)
    try:
        yield
    finally:
        release.node.stop_kubelet()
        release.node.start_kubelet()


def _taints(release: Release) -> str:
    spec: Json = release.node.client.get(f"/api/v1/nodes/{NAME}")["spec"]
    return " ".join(each["key"] for each in spec.get("taints", []))


def _until_back(release: Release) -> None:
    """Wait until the node takes pods again, and all of the stack and the reporters are Ready."""
    release.node.until_ready()
    until(lambda: not _taints(release), within=LOST_WITHIN, what="the node has no taint")
    for each in stack.COMPONENTS:
        stack.until_ready(release.node.client, each)
    release.until_complete()
