"""
The lifecycles of models and their harness, and a fault for each to follow it.

Every state on the way lasts longer than the holds of losses and hard errors.
"""

import time
from collections.abc import Callable

from e2e.controlplane import faults, nodes, until
from e2e.support.observer import ANNOUNCE_WAIT, Observer
from e2e.support.production_stack import components
from e2e.support.production_stack.kaito_controller import (
    NODES_READY_REASONS,
    PENDING_REASONS,
    nodes_missing_reasons,
)
from e2e.support.production_stack.team import TeamStack


WORKSPACE, NEXT = "qwen-7rk2p", "qwen-x4b9d"
PODS, INFRA = "inferencesetModelPodsNotReady", "inferencesetInfraProvisioningFailed"
PICKER, SCALING = "inferencesetEPPNotReady", "inferencesetScalingMisconfigured"
PROXIES = "modelharnessGatewayDataPlaneNotReady"
METRICS = '[{"name": "vllm:num_requests_waiting", "type": "gauge", "upThreshold": 9, "downThreshold": 1}]'
TOUCHED = {
    "Gateway": {"infrastructure": {"annotations": {"e2e.example/chart": "2"}}},
    "HTTPRoute": {"hostnames": ["models.example.test"]},
}


# ---------------------------------------------------------------- the lifecycles


def upgraded(team: TeamStack, observer: Observer) -> None:
    """
    Upgrade the proxies with surge, the picker by Recreate and the model pods one after the other.
    Of the harness's objects, Istio has not seen the newest generation yet.
    """
    for part in (team.proxies, team.picker):
        components.roll_out_slowly(team.client, part)
    for kind, spec in TOUCHED.items():
        team.patch_spec(kind, spec)
    team.kaito.update_template(WORKSPACE, faults.STARTING.annotations())
    team.kaito.set_workspace_conditions(WORKSPACE, NODES_READY_REASONS | PENDING_REASONS)
    team.kaito.set_inference_set_status(0)
    observer.wait_held(team.name, PODS, PICKER)
    time.sleep(ANNOUNCE_WAIT)
    team.wait_started()
    team.program_gateway()
    team.kaito.wait_started(WORKSPACE)


def drained(team: TeamStack, observer: Observer) -> None:
    """Evict all pods from a node. The next node takes its time."""
    team.kaito.set_workspace_conditions(WORKSPACE, nodes_missing_reasons("NodeNotReady"))
    team.plane.kubectl("drain", f"{team.name}-0", "--force", "--ignore-daemonsets")
    team.kaito.set_workspace_conditions(
        WORKSPACE,
        {**nodes_missing_reasons("NodeNotFound"), "InferenceReady": "Unschedulable: no node"},
    )
    team.kaito.set_inference_set_status(0)
    observer.wait_held(team.name, INFRA, PICKER, PROXIES)
    time.sleep(ANNOUNCE_WAIT)
    nodes.create(team.client, f"{team.name}-1", dict(team.nodes))
    team.wait_started()
    team.kaito.set_workspace_conditions(WORKSPACE, NODES_READY_REASONS | PENDING_REASONS)
    team.kaito.wait_started(WORKSPACE)


def scaled_to_zero(team: TeamStack, observer: Observer) -> None:
    """Scale to zero, as KEDA does, and back to one."""
    team.kaito.annotate(auto_provision="true", min_replicas="0", max_replicas="4", metrics=METRICS)
    team.kaito.scale(0)
    team.kaito.delete_workspace(WORKSPACE)
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.remove_finalizers(WORKSPACE)
    team.kaito.set_inference_set_status(0, desired=0)
    team.kaito.scale(1)
    team.kaito.set_inference_set_status(0)
    observer.wait_held(team.name, PODS)
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.create_workspace(NEXT)
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.set_workspace_conditions(NEXT, nodes_missing_reasons("AwaitingReconciliation"))
    observer.wait_held(team.name, INFRA)
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.set_workspace_conditions(NEXT, NODES_READY_REASONS | PENDING_REASONS)
    team.kaito.create_stateful_set(NEXT, faults.STARTING.annotations())
    team.kaito.pod(NEXT)
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.wait_started(NEXT)


def upgraded_in_place(team: TeamStack, observer: Observer) -> None:
    """Make KAITO upgrade the Workspace in place: its pod stops serving before it is recreated."""
    team.kaito.mark_upgrading(WORKSPACE)
    faults.set_pod_fault(team.client, team.kaito.pod(WORKSPACE), faults.STARTING)
    team.kaito.set_workspace_conditions(WORKSPACE, NODES_READY_REASONS | PENDING_REASONS)
    team.kaito.set_inference_set_status(0)
    observer.wait_held(team.name, PODS)
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.update_template(WORKSPACE, faults.STARTING.annotations())
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.wait_started(WORKSPACE)


def deleted(team: TeamStack, observer: Observer) -> None:
    """Delete the namespace with all its objects; KAITO releases its Workspace last."""
    path = f"/api/v1/namespaces/{team.name}"
    team.client.delete(path)
    deployments = f"/apis/apps/v1/namespaces/{team.name}/deployments"
    until(lambda: not team.client.list(deployments), within=60, what="its Deployments are gone")
    time.sleep(ANNOUNCE_WAIT)
    team.kaito.remove_finalizers(WORKSPACE)
    until(lambda: not team.client.exists(path), within=60, what=f"{team.name} is gone")


LIFECYCLES: dict[str, Callable[[TeamStack, Observer], None]] = {
    "upgraded": upgraded,
    "drained": drained,
    "scaled-to-zero": scaled_to_zero,
    "upgraded-in-place": upgraded_in_place,
    "deleted": deleted,
}


# ---------------------------------------------------------------- the faults after them


def _picker_at_zero(team: TeamStack) -> None:
    components.scale(team.client, team.picker, 0)


def _image_is_gone(team: TeamStack) -> None:
    faults.set_pod_fault(team.client, team.kaito.pod(WORKSPACE), faults.IMAGE_PULL)


def _limit_of_none(team: TeamStack) -> None:
    team.kaito.annotate(max_replicas="0")


def _model_crashes(team: TeamStack) -> None:
    """Crash a model after an upgrade, with the marks that KAITO leaves in place."""
    faults.set_pod_fault(team.client, team.kaito.pod(WORKSPACE), faults.CRASH_LOOP)


def _comes_back_broken(team: TeamStack) -> None:
    for each in team.chart_manifests():
        team.client.apply(each)
    team.kaito.annotate(auto_provision="true", max_replicas="0")


FAULTS: dict[str, tuple[Callable[[TeamStack], None], str, str]] = {
    "upgraded": (_picker_at_zero, PICKER, "scaled to zero"),
    "drained": (_image_is_gone, PODS, "ImagePullBackOff"),
    "scaled-to-zero": (_limit_of_none, SCALING, "max-replicas"),
    "upgraded-in-place": (_model_crashes, PODS, "CrashLoopBackOff"),
    "deleted": (_comes_back_broken, SCALING, "max-replicas"),
}
