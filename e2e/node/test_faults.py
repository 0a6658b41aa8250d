"""Components whose real pods fail: each is announced with its cause, and its recovery too."""

import pytest

from e2e.node.release import Release
from e2e.node.scenario import Scenario, caused, check_announced
from e2e.node.stack import ABSENT_IMAGE, NO_IMAGE, Fault


NO_PODS = {"hard": {"pods": "0"}}

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
    "quota": Scenario(
        "keda-kaito-scaler",
        "clusterKedaKaitoScalerNotReady",
        ("exceeded quota", "Remove what refuses the pods, usually a ResourceQuota"),
        quota=NO_PODS,
    ),
}


BEFORE_MERGE = dict.fromkeys(("image", "readiness", "quota"), pytest.mark.before_merge)
"""The scenarios of each merge: a fault that kubelet names, one of a probe, and one of the API server."""


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(each, id=name, marks=BEFORE_MERGE.get(name, ()))
        for name, each in SCENARIOS.items()
    ],
)
def test_pods_that_fail_are_announced_until_they_work(quiet: Release, scenario: Scenario) -> None:
    events = quiet.events_from_now()
    with caused(quiet, scenario):
        check_announced(events, scenario)
    ready = events.wait_for("clusterReady")
    assert ready.type == "Normal"
    assert [each.reason for each in events.all()] == [scenario.reason, "clusterReady"]
