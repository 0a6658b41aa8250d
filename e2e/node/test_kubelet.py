"""The node is lost, drained and short of memory, and comes back."""

import contextlib
from collections.abc import Iterator

from e2e.controlplane import until
from e2e.node.first_process import SETTINGS
from e2e.node.release import NAMESPACE, Release
from e2e.suite.reporters import ENDED


ISTIOD = "clusterIstioControlPlaneNotReady"
LOST_WITHIN = 180
ALL_BACK_WITHIN = 300
MORE_THAN_IS_FREE = "99%"


def test_kubelet_changes_no_setting_of_the_machine(quiet: Release) -> None:
    mounts = quiet.cluster.node.namespaces.run("cat", "/proc/mounts")
    assert [each for each in SETTINGS if f" /proc/sys/{each} " not in mounts] == []
    # It has found its own values everywhere, so it writes no setting besides these.
    assert "Updating kernel flag" not in quiet.cluster.node.kubelet_log()


def test_lost_node_is_named_until_kubelet_is_back(quiet: Release) -> None:
    node, events = quiet.cluster.node, quiet.events_from_now()
    node.stop_kubelet()
    try:
        until(lambda: "unreachable" in quiet.taints(), within=LOST_WITHIN, what="the node is lost")
        # The containers run on without kubelet, so one of them says so.
        warning = events.wait_for(ISTIOD, f"Node {node.name} is not Ready")
        assert "0/1 replicas ready" in warning.message
    finally:
        node.start_kubelet()
        quiet.until_back()
    ready, written = events.wait_for("clusterReady"), events.all()
    print(*(f"{each.reason}: {each.message}" for each in written), sep="\n")
    # A component of lower rank that is past its hold a moment before istiod is announced first.
    assert [each.uid for each in written[-2:]] == [warning.uid, ready.uid]
    assert [each.message for each in written[:-1] if node.name not in each.message] == []


def test_drained_node_is_silent_once_all_pods_are_back(quiet: Release) -> None:
    events = quiet.events_from_now()
    try:
        flags = ("--force", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=120s")
        quiet.kubectl("drain", quiet.cluster.node.name, *flags)
    finally:
        quiet.kubectl("uncordon", quiet.cluster.node.name)
    quiet.until_back()
    until(lambda: quiet.cluster_state() == "Current", within=ALL_BACK_WITHIN, what="all is well")
    assert [each.message for each in events.all() if each.type == "Warning"] == []


def test_reporters_that_a_node_without_memory_evicts_come_back_with_the_stack(
    quiet: Release,
) -> None:
    pods = {pod["metadata"]["name"] for pod in quiet.reporters.pods()}
    with _short_of_memory(quiet):
        # Without room for anything kubelet evicts all pods, those that tolerate the taint last.
        until(lambda: _ended(quiet) >= pods, within=LOST_WITHIN, what="the reporters are evicted")
        assert "memory-pressure" in quiet.taints()
    quiet.until_back()
    until(lambda: quiet.cluster_state() == "Current", within=ALL_BACK_WITHIN, what="all is well")


def _ended(release: Release) -> set[str]:
    """Return the pods that kubelet has ended: as Failed, or as Succeeded where they exit with 0."""
    found = release.cluster.client.list(f"/api/v1/namespaces/{NAMESPACE}/pods")
    return {each["metadata"]["name"] for each in found if each["status"]["phase"] in ENDED}


@contextlib.contextmanager
def _short_of_memory(release: Release) -> Iterator[None]:
    release.cluster.node.stop_kubelet()
    release.cluster.node.start_kubelet(reserved_memory=MORE_THAN_IS_FREE)
    try:
        yield
    finally:
        release.cluster.node.stop_kubelet()
        release.cluster.node.start_kubelet()
