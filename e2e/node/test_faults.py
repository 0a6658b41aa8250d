"""Components whose real pods fail: each is announced with its cause, and its recovery too."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from e2e.controlplane import Json, until
from e2e.node import stack
from e2e.node.release import Release
from e2e.node.stack import ABSENT_IMAGE, NO_IMAGE, Fault
from e2e.suite.expected_events import EventQuery


LIVENESS = {
    "httpGet": {"path": "/health", "port": 8000},
    "periodSeconds": 1,
    "failureThreshold": 1,
}
NO_PODS = {"hard": {"pods": "0"}}


@dataclass(frozen=True)
class Scenario:
    """
    A fault of a component, and what its Event contains.

    *quota*: of the component's namespace, written before.
    """

    component: str
    reason: str
    contains: tuple[str, ...]
    fault: Fault = field(default_factory=Fault)
    quota: Json | None = None


SCENARIOS = {
    "image": Scenario(
        "keda-kaito-scaler",
        "clusterKedaKaitoScalerNotReady",
        ("ImagePull", ABSENT_IMAGE, "Correct the image's name"),
        NO_IMAGE,
    ),
    "ConfigMap in the environment": Scenario(
        "kaito-workspace",
        "clusterKaitoControllerNotReady",
        ("CreateContainerConfigError", 'configmap "absent" not found', "Restore the ConfigMap"),
        Fault({"envFrom": [{"configMapRef": {"name": "absent"}}]}),
    ),
    "ConfigMap as a volume": Scenario(
        "kaito-workspace",
        "clusterKaitoControllerNotReady",
        ("0/1 replicas ready", "ContainerCreating", "See the pod's events"),
        Fault(
            {"volumeMounts": [{"name": "settings", "mountPath": "/settings"}]},
            {"volumes": [{"name": "settings", "configMap": {"name": "absent"}}]},
        ),
    ),
    "readiness": Scenario(
        "istiod",
        "clusterIstioControlPlaneNotReady",
        ("0/1 replicas ready", "See which readiness probe fails"),
        Fault({"args": ["serve-unready"]}),
    ),
    "no node": Scenario(
        "body-based-router",
        "clusterBBRNotReady",
        ("Unschedulable", "room on a node that it may run on"),
        Fault(pod={"nodeSelector": {"gpu": "none-here"}}),
    ),
    "eviction": Scenario(
        "body-based-router",
        "clusterBBRNotReady",
        ("exceeds the limit", 'Usage of EmptyDir volume "data"', "Raise the storage limit"),
        Fault(
            {"args": ["fill-disk"], "volumeMounts": [{"name": "data", "mountPath": "/data"}]},
            {"volumes": [{"name": "data", "emptyDir": {"sizeLimit": "1Mi"}}]},
        ),
    ),
    "quota": Scenario(
        "keda-kaito-scaler",
        "clusterKedaKaitoScalerNotReady",
        ("exceeded quota", "Remove what refuses the pods, usually a ResourceQuota"),
        quota=NO_PODS,
    ),
}


CRASHES = {
    "crash": Scenario(
        "body-based-router",
        "clusterBBRNotReady",
        ("CrashLoopBackOff (exit code 1", "Read the end of kubectl logs --previous"),
        Fault({"args": ["crash"]}),
    ),
    "memory": Scenario(
        "apikey-authz",
        "clusterGatewayAuthNotReady",
        ("CrashLoopBackOff after OOMKilled (exit code 137", "Raise the memory limit"),
        Fault({"args": ["fill-memory"], "resources": {"limits": {"memory": "32Mi"}}}),
    ),
    "liveness": Scenario(
        "keda-operator",
        "clusterKedaNotReady",
        ("CrashLoopBackOff", "restarts"),
        Fault({"args": ["serve-for-10s"], "livenessProbe": LIVENESS}),
    ),
    "rollout": Scenario(
        "body-based-router",
        "clusterBBRNotReady",
        ("the old version still serves", "made no progress", "CrashLoopBackOff (exit code 1"),
        Fault({"args": ["crash"]}, stuck_after=30),
    ),
}
"""Faults that kubelet answers with restarts, further and further apart; see CRASH_SETTLE in reporter/evaluation."""

SETTLE = 35
"""Seconds after which a fault that has ended is outranked by a new one."""

CRASHES_SETTLE_WITHIN = 720


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_pods_that_fail_are_announced_until_they_work(quiet: Release, scenario: Scenario) -> None:
    events = quiet.events_from_now()
    with _caused(quiet, scenario):
        _check_announced(events, scenario)
    ready = events.wait_for("clusterReady")
    assert ready.type == "Normal"
    assert [each.reason for each in events.all()] == [scenario.reason, "clusterReady"]


def test_pods_that_crash_are_announced_until_they_have_run_for_a_while(quiet: Release) -> None:
    events, settled = quiet.events_from_now(), quiet.events_from_now()
    for scenario in CRASHES.values():
        with _caused(quiet, scenario):
            _check_announced(events, scenario)
        time.sleep(SETTLE)
        events = quiet.events_from_now()
    assert [each.reason for each in settled.all("clusterReady")] == []
    until(
        lambda: settled.all("clusterReady"),
        within=CRASHES_SETTLE_WITHIN,
        what="their end is announced",
    )
    assert {each.reason for each in events.all()} == {"clusterReady"}


def _check_announced(events: EventQuery, scenario: Scenario) -> None:
    warning = events.wait_for(scenario.reason, scenario.contains[0])
    print(warning.message)
    missing = [each for each in scenario.contains if each not in warning.message]
    assert (missing, warning.type) == ([], "Warning"), warning.message
    assert warning.involved == ("Namespace", stack.component(scenario.component).namespace)


@contextlib.contextmanager
def _caused(release: Release, scenario: Scenario) -> Iterator[None]:
    client, component = release.node.client, stack.component(scenario.component)
    quotas = f"/api/v1/namespaces/{component.namespace}/resourcequotas"
    try:
        if scenario.quota:
            client.create(quotas, {"metadata": {"name": "none"}, "spec": scenario.quota})
        scenario.fault.cause(client, component)
        yield
    finally:
        if scenario.quota:
            client.delete(f"{quotas}/none")
        stack.repair(client, component)
