"""
What happens to models and their harness in their lives, of which not a word is said.

Each life is lived in a namespace of its own, all at the same time. Every state on the way lasts for
longer than losses and hard errors are held here, so that one taken for either would be said; at the
end nothing is held, so that nothing can follow, and a fault shows that the reporter was listening.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from e2e import ears, events, repair, stack
from e2e.controlplane import ControlPlane, faults, nodes, until
from e2e.ears import LONGER, Ears
from e2e.events import Event
from e2e.kaito import PENDING, WITH_NODES, without_nodes
from e2e.patience import GRACE
from e2e.reporter_process import ReporterProcess
from e2e.stack import BODY_BASED_ROUTER, Component
from e2e.team import Team, register_class, remove


WORKSPACE, NEXT = "qwen-7rk2p", "qwen-x4b9d"
PODS, INFRA = "inferencesetModelPodsNotReady", "inferencesetInfraProvisioningFailed"
PICKER, SCALING = "inferencesetEPPNotReady", "inferencesetScalingMisconfigured"
PROXIES = "modelharnessGatewayDataPlaneNotReady"
BBR = "clusterBBRNotReady"
OF_THE_DRAINED = (("e2e.example/nodes", "of-the-drained"),)
OF_THE_OTHERS = (("kubernetes.io/hostname", "node-0"),)
"""
What runs there when a node is drained starts anew, and proxies that Istio makes never finish alone.
"""
METRICS = '[{"name": "vllm:num_requests_waiting", "type": "gauge", "upThreshold": 9, "downThreshold": 1}]'
TOUCHED = {
    "Gateway": {"infrastructure": {"annotations": {"e2e.example/chart": "2"}}},
    "HTTPRoute": {"hostnames": ["models.example.test"]},
}


# ---------------------------------------------------------------- the lives


def upgraded(team: Team, ears: Ears) -> None:
    """
    Proxies with surge, the picker by Recreate, the model pods one after the other, and the harness's
    objects, of which Istio has not seen the newest generation yet.
    """
    for part in (team.proxies, team.picker):
        _roll_out_slowly(team.plane, part)
    for kind, spec in TOUCHED.items():
        team.change(kind, spec)
    team.kaito.revise(WORKSPACE, faults.STARTING.annotations())
    team.kaito.say(WORKSPACE, WITH_NODES | PENDING)
    team.kaito.count(0)
    ears.until_held(team.name, PODS, PICKER)
    time.sleep(LONGER)
    team.until_started()
    team.programs()
    team.kaito.until_started(WORKSPACE)


def drained(team: Team, ears: Ears) -> None:
    """
    All its pods are evicted from a node, and the next node takes its time.
    """
    team.kaito.say(WORKSPACE, without_nodes("NodeNotReady"))
    team.plane.kubectl("drain", f"{team.name}-0", "--force", "--ignore-daemonsets")
    team.kaito.say(
        WORKSPACE, {**without_nodes("NodeNotFound"), "InferenceReady": "Unschedulable: no node"}
    )
    team.kaito.count(0)
    ears.until_held(team.name, INFRA, PICKER, PROXIES)
    time.sleep(LONGER)
    nodes.create(team.client, f"{team.name}-1", dict(team.nodes))
    team.until_started()
    team.kaito.say(WORKSPACE, WITH_NODES | PENDING)
    team.kaito.until_started(WORKSPACE)


def scaled_to_zero(team: Team, ears: Ears) -> None:
    """
    By KEDA, and back to one from nothing.
    """
    team.kaito.annotate(auto_provision="true", min_replicas="0", max_replicas="4", metrics=METRICS)
    team.kaito.scale(0)
    team.kaito.remove(WORKSPACE)
    time.sleep(LONGER)
    team.kaito.let_go(WORKSPACE)
    team.kaito.count(0, desired=0)
    team.kaito.scale(1)
    team.kaito.count(0)
    ears.until_held(team.name, PODS)
    time.sleep(LONGER)
    team.kaito.workspace(NEXT)
    time.sleep(LONGER)
    team.kaito.say(NEXT, without_nodes("AwaitingReconciliation"))
    ears.until_held(team.name, INFRA)
    time.sleep(LONGER)
    team.kaito.say(NEXT, WITH_NODES | PENDING)
    team.kaito.pods(NEXT, faults.STARTING.annotations())
    team.kaito.pod(NEXT)
    time.sleep(LONGER)
    team.kaito.until_started(NEXT)


def upgraded_in_place(team: Team, ears: Ears) -> None:
    """
    KAITO tells the Workspace to upgrade; its pod stops serving before it is made anew.
    """
    team.kaito.upgrade(WORKSPACE)
    faults.break_pod(team.client, team.kaito.pod(WORKSPACE), faults.STARTING)
    team.kaito.say(WORKSPACE, WITH_NODES | PENDING)
    team.kaito.count(0)
    ears.until_held(team.name, PODS)
    time.sleep(LONGER)
    team.kaito.revise(WORKSPACE, faults.STARTING.annotations())
    time.sleep(LONGER)
    team.kaito.until_started(WORKSPACE)


def deleted(team: Team, ears: Ears) -> None:
    """
    The namespace with all that is in it; KAITO lets its Workspace go later than all else.
    """
    path = f"/api/v1/namespaces/{team.name}"
    team.client.delete(path)
    deployments = f"/apis/apps/v1/namespaces/{team.name}/deployments"
    until(lambda: not team.client.list(deployments), within=60, what="its Deployments are gone")
    time.sleep(LONGER)
    team.kaito.let_go(WORKSPACE)
    until(lambda: not team.client.exists(path), within=60, what=f"{team.name} is gone")


LIVES: dict[str, Callable[[Team, Ears], None]] = {
    "upgraded": upgraded,
    "drained": drained,
    "scaled-to-zero": scaled_to_zero,
    "upgraded-in-place": upgraded_in_place,
    "deleted": deleted,
}


# ---------------------------------------------------------------- the faults after them


def _picker_at_zero(team: Team) -> None:
    stack.scale(team.client, team.picker, 0)


def _image_is_gone(team: Team) -> None:
    faults.break_pod(team.client, team.kaito.pod(WORKSPACE), faults.IMAGE_PULL)


def _limit_of_none(team: Team) -> None:
    team.kaito.annotate(max_replicas="0")


def _model_crashes(team: Team) -> None:
    """
    After an upgrade, whose marks KAITO leaves where they are.
    """
    faults.break_pod(team.client, team.kaito.pod(WORKSPACE), faults.CRASH_LOOP)


def _comes_back_broken(team: Team) -> None:
    for each in team.charts():
        team.client.apply(each)
    team.kaito.annotate(auto_provision="true", max_replicas="0")


FAULTS: dict[str, tuple[Callable[[Team], None], str, str]] = {
    "upgraded": (_picker_at_zero, PICKER, "scaled to zero"),
    "drained": (_image_is_gone, PODS, "ImagePullBackOff"),
    "scaled-to-zero": (_limit_of_none, SCALING, "max-replicas"),
    "upgraded-in-place": (_model_crashes, PODS, "CrashLoopBackOff"),
    "deleted": (_comes_back_broken, SCALING, "max-replicas"),
}


# ---------------------------------------------------------------- all at once


@dataclass(frozen=True)
class Life:
    """
    What was said during it and until nothing was held any more, and of the fault after it.
    """

    said: list[Event]
    fault: Event


@pytest.fixture(scope="module")
def listening(stack: ControlPlane) -> Iterator[Ears]:
    """
    With a namespace for each life, in which all is well and old enough.
    """
    with contextlib.ExitStack() as after:
        plane = after.enter_context(repair.mended(stack))
        after.callback(remove, plane, LIVES)
        register_class(plane.client)
        nodes.create(plane.client, "drained-0", dict(OF_THE_DRAINED))
        with ThreadPoolExecutor() as hands:
            list(hands.map(lambda name: _install(_team(plane, name)), LIVES))
        time.sleep(GRACE)
        grace = f"--startup-grace-seconds={GRACE}"
        reporter = after.enter_context(ReporterProcess(plane, grace, *ears.impatient(plane)))
        listening = Ears(reporter)
        listening.until_all_is_clear()
        yield listening


@pytest.fixture(scope="module")
def lived(listening: Ears) -> dict[str, Future[Life]]:
    """
    Of each life, how it went.
    """
    with ThreadPoolExecutor() as hands:
        return {name: hands.submit(_live, name, listening) for name in LIVES}


@pytest.mark.parametrize("name", LIVES)
def test_life_is_silent_and_a_fault_after_it_is_announced(
    lived: dict[str, Future[Life]], name: str
) -> None:
    life = lived[name].result()
    assert life.said == []
    assert FAULTS[name][2] in life.fault.message


def test_upgrade_of_all_components_at_once_is_silent(
    listening: Ears, lived: dict[str, Future[Life]]
) -> None:
    """
    After the others, as what is out here may keep silent what is wrong there.
    """
    plane = listening.reporter.plane
    for each in stack.COMPONENTS:
        _roll_out_slowly(plane, each)
    listening.until_held("", "clusterKaitoControllerNotReady")
    time.sleep(LONGER)
    for each in stack.COMPONENTS:
        stack.until_started(plane.client, each)
    until(lambda: not listening.reporter.states(), within=60, what="all components are clear")
    assert {each.involved[1] for each in listening.said()} <= set(LIVES)
    stack.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=30)


# ---------------------------------------------------------------- used above


def _team(plane: ControlPlane, name: str) -> Team:
    return Team(plane, name, OF_THE_DRAINED if name == "drained" else OF_THE_OTHERS)


def _install(team: Team) -> None:
    for each in team.charts():
        team.client.apply(each)
    team.takes_on()
    team.kaito.workspace(WORKSPACE)
    team.kaito.say(WORKSPACE, WITH_NODES | PENDING)
    team.kaito.pods(WORKSPACE, nodes=dict(team.nodes))
    team.until_started()
    team.programs()
    team.authorizes()
    team.kaito.until_started(WORKSPACE)


def _live(name: str, listening: Ears) -> Life:
    team = _team(listening.reporter.plane, name)
    LIVES[name](team, listening)
    listening.until_all_is_clear(name)
    said = listening.said(name)
    breaks, reason, _ = FAULTS[name]
    breaks(team)
    saying = f"InferenceSet {name}/qwen"
    return Life(said, events.wait_for(team.client, reason, within=30, saying=saying))


def _roll_out_slowly(plane: ControlPlane, component: Component) -> None:
    """
    Pods of the new version stay in ContainerCreating.
    """
    deployment = stack.deployment(plane.client, component)
    faults.break_rollout(plane.client, deployment, faults.STARTING)
