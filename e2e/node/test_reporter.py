"""The reporter in real containers: its image, probes, permissions, and what users do with its pods."""

import json
import subprocess

import pytest

from e2e.controlplane import Json, until
from e2e.node import stack
from e2e.node.release import DEPLOYMENT, NAMESPACE, Release
from e2e.support.events import SOURCE


BBR = "clusterBBRNotReady"
TAKEOVER_WITHIN = 60
"""Seconds; a Lease is held for 15 after its last renewal."""

USER = "import os; print(os.getuid())"
ARBITRARY = 1000690000
"""A user of a range that OpenShift gives a namespace."""


@pytest.mark.before_merge
def test_logs_and_status_are_read_through_kubelet(quiet: Release) -> None:
    logs = quiet.kubectl("logs", f"deployment/{DEPLOYMENT}")
    assert "permissions that are needed are granted" in logs
    assert "Traceback" not in logs
    assert "Ready" in quiet.execute("status")
    # Asked at an address that only its pod reaches: no other source knows that it watches.
    assert json.loads(quiet.execute("status", "--output=json"))["mode"] == "watching"


def test_nothing_can_be_written_and_nobody_is_root(quiet: Release) -> None:
    for pod in quiet.reporters.pods():
        name = pod["metadata"]["name"]
        assert quiet.python(name, USER) == "65532\n"
        with pytest.raises(subprocess.CalledProcessError) as refused:
            quiet.python(name, 'open("/tmp/file", "w")')
        assert "Read-only file system" in refused.value.stderr


def test_arbitrary_user_of_the_platform_runs_it(quiet: Release) -> None:
    client = quiet.cluster.client
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{DEPLOYMENT}"
    template = client.get(path)["spec"]["template"]["spec"]["securityContext"]
    client.patch(path, _user({**template, "runAsUser": ARBITRARY, "runAsGroup": 0}))
    try:
        quiet.until_rolled_out()
        user = quiet.python(f"deployment/{DEPLOYMENT}", USER)
        assert user == f"{ARBITRARY}\n"
        assert quiet.cluster_state() == "Current"
    finally:
        client.patch(path, _user({"runAsUser": None, "runAsGroup": None}))
        quiet.until_rolled_out()


def test_another_process_leads_when_the_container_of_the_leader_is_killed(quiet: Release) -> None:
    leader, holder = quiet.reporters.leader(), _holder(quiet)
    quiet.cluster.node.kill_container(_pod(quiet, leader))
    until(
        lambda: _holder(quiet) not in {"", holder},
        within=TAKEOVER_WITHIN,
        what="another process leads",
    )
    until(lambda: _restarts(_pod(quiet, leader)) == 1, within=60, what="kubelet restarts it")
    quiet.until_complete()
    assert quiet.cluster_state() == "Current"


def test_evicted_leader_hands_over_and_the_outage_stays_one_event(quiet: Release) -> None:
    client, component = quiet.cluster.client, stack.component("body-based-router")
    events = quiet.events_from_now()
    stack.NO_IMAGE.cause(client, component)
    try:
        first = events.wait_for(BBR, stack.ABSENT_IMAGE)
        leader = quiet.reporters.leader()
        name = {"name": leader, "namespace": NAMESPACE}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": name}
        client.create(f"/api/v1/namespaces/{NAMESPACE}/pods/{leader}/eviction", eviction)
        until(
            lambda: quiet.reporters.leader() not in {"", leader},
            within=TAKEOVER_WITHIN,
            what="the other replica leads",
        )
        quiet.until_complete()
    finally:
        stack.repair(client, component)
    ready = events.wait_for("clusterReady")
    assert ready.raw["reportingInstance"] != leader
    assert [each.uid for each in events.all(BBR)] == [first.uid]


def _user(context: Json) -> Json:
    return {"spec": {"template": {"spec": {"securityContext": context}}}}


def _pod(release: Release, name: str) -> Json:
    return release.cluster.client.get(f"/api/v1/namespaces/{NAMESPACE}/pods/{name}")


def _restarts(pod: Json) -> int:
    return int(pod["status"]["containerStatuses"][0]["restartCount"])


def _holder(release: Release) -> str:
    """Return the identity of the leader, which each process has anew."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{SOURCE}"
    return str(release.cluster.client.get(path)["spec"].get("holderIdentity", ""))
