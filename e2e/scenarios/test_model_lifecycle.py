"""
Ordinary events in the lifecycle of models and their harness, which cause no Event.

Each lifecycle has a namespace of its own, and all run at the same time. Every state on the way
lasts longer than the holds of losses and hard errors, so that one mistaken for either would be
announced. At the end nothing is held, so nothing can follow, and a fault proves that the reporter
was watching.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from e2e.controlplane import ControlPlane, faults, nodes, until
from e2e.support import events
from e2e.support.events import Event
from e2e.support.observer import ANNOUNCE_WAIT, Observer, short_hold_flags
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER, StackComponent
from e2e.support.production_stack.kaito_controller import (
    NODES_READY_REASONS,
    PENDING_REASONS,
    nodes_missing_reasons,
)
from e2e.support.production_stack.team import TeamStack, register_class, remove
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import GRACE


WORKSPACE, NEXT = "qwen-7rk2p", "qwen-x4b9d"
PODS, INFRA = "inferencesetModelPodsNotReady", "inferencesetInfraProvisioningFailed"
PICKER, SCALING = "inferencesetEPPNotReady", "inferencesetScalingMisconfigured"
PROXIES = "modelharnessGatewayDataPlaneNotReady"
BBR = "clusterBBRNotReady"
OF_THE_DRAINED = (("e2e.example/nodes", "of-the-drained"),)
OF_THE_OTHERS = (("kubernetes.io/hostname", "node-0"),)
"""
The node labels of the drained and of the other pods. Pods of a drained node start anew, and the
proxies that Istio creates never become ready by themselves.
"""
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
        _roll_out_slowly(team.plane, part)
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
    """
    Evict all pods from a node. The next node takes its time.
    """
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
    """
    Scale to zero, as KEDA does, and back to one.
    """
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
    """
    Make KAITO upgrade the Workspace in place: its pod stops serving before it is recreated.
    """
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
    """
    Delete the namespace with all its objects; KAITO releases its Workspace last.
    """
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
    """
    Crash a model after an upgrade, with the marks that KAITO leaves in place.
    """
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


# ---------------------------------------------------------------- all at once


@dataclass(frozen=True)
class LifecycleOutcome:
    """
    The Events during a lifecycle and until nothing was held any more, and the Event of the fault
    after it.
    """

    events: list[Event]
    fault: Event


@pytest.fixture(scope="module")
def observer(stack: ControlPlane) -> Iterator[Observer]:
    """
    An observer of a namespace for each lifecycle, in which all is well and old enough.
    """
    with contextlib.ExitStack() as after:
        plane = after.enter_context(restore.healthy_stack(stack))
        after.callback(remove, plane, LIFECYCLES)
        register_class(plane.client)
        nodes.create(plane.client, "drained-0", dict(OF_THE_DRAINED))
        with ThreadPoolExecutor() as hands:
            list(hands.map(lambda name: _install(_team(plane, name)), LIFECYCLES))
        time.sleep(GRACE)
        grace = f"--startup-grace-seconds={GRACE}"
        reporter = after.enter_context(ReporterProcess(plane, grace, *short_hold_flags(plane)))
        listening = Observer(reporter)
        listening.wait_all_clear()
        yield listening


@pytest.fixture(scope="module")
def lifecycle_outcomes(observer: Observer) -> dict[str, Future[LifecycleOutcome]]:
    """
    The outcome of each lifecycle.
    """
    with ThreadPoolExecutor() as hands:
        return {name: hands.submit(_run_lifecycle, name, observer) for name in LIFECYCLES}


@pytest.mark.parametrize("name", LIFECYCLES)
def test_lifecycle_causes_no_event_and_the_fault_after_it_is_announced(
    lifecycle_outcomes: dict[str, Future[LifecycleOutcome]], name: str
) -> None:
    life = lifecycle_outcomes[name].result()
    assert life.events == []
    assert FAULTS[name][2] in life.fault.message


def test_upgrade_of_all_components_at_once_causes_no_event(
    observer: Observer, lifecycle_outcomes: dict[str, Future[LifecycleOutcome]]
) -> None:
    """
    Run after the others: a component that is down here may suppress their findings.
    """
    plane = observer.reporter.plane
    for each in components.COMPONENTS:
        _roll_out_slowly(plane, each)
    observer.wait_held("", "clusterKaitoControllerNotReady")
    time.sleep(ANNOUNCE_WAIT)
    for each in components.COMPONENTS:
        components.until_started(plane.client, each)
    until(lambda: not observer.reporter.states(), within=60, what="all components are clear")
    assert {each.involved[1] for each in observer.events()} <= set(LIFECYCLES)
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=30)


# ---------------------------------------------------------------- used above


def _team(plane: ControlPlane, name: str) -> TeamStack:
    return TeamStack(plane, name, OF_THE_DRAINED if name == "drained" else OF_THE_OTHERS)


def _install(team: TeamStack) -> None:
    for each in team.chart_manifests():
        team.client.apply(each)
    team.accept_gateway()
    team.kaito.create_workspace(WORKSPACE)
    team.kaito.set_workspace_conditions(WORKSPACE, NODES_READY_REASONS | PENDING_REASONS)
    team.kaito.create_stateful_set(WORKSPACE, nodes=dict(team.nodes))
    team.wait_started()
    team.program_gateway()
    team.authorize_api_key()
    team.kaito.wait_started(WORKSPACE)


def _run_lifecycle(name: str, listening: Observer) -> LifecycleOutcome:
    team = _team(listening.reporter.plane, name)
    LIFECYCLES[name](team, listening)
    listening.wait_all_clear(name)
    announced = listening.events(name)
    breaks, reason, _ = FAULTS[name]
    breaks(team)
    text = f"InferenceSet {name}/qwen"
    return LifecycleOutcome(
        announced, events.wait_for(team.client, reason, within=30, containing=text)
    )


def _roll_out_slowly(plane: ControlPlane, component: StackComponent) -> None:
    """
    Roll out a new version whose pods stay in ContainerCreating.
    """
    deployment = components.deployment(plane.client, component)
    faults.set_rollout_fault(plane.client, deployment, faults.STARTING)
