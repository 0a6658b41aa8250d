"""
The whole stack is installed in an empty cluster while the reporter runs: nothing is announced.

Each team's objects are created in an order of their own, before the control plane that acts on
them, and one CRD after the objects that refer to it. The time between the steps is longer than the
holds of hard errors.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from e2e.controlplane import ApiError, ControlPlane, Json, Options, faults, until
from e2e.support import events, observer
from e2e.support.events import Event
from e2e.support.observer import ANNOUNCE_WAIT, Observer
from e2e.support.production_stack import components, kaito_controller
from e2e.support.production_stack.team import LABEL, TeamStack, register_class
from e2e.support.reporter_process import ReporterProcess


POOLS = "inferencepools.inference.networking.k8s.io"
GRACE = 600
"""
Seconds: much more than the installation takes on a slow machine. Workspaces, model pods and scaling
have no grace, whatever their age.
"""

WORKSPACE = "qwen-7rk2p"
FAULT = "inferencesetScalingMisconfigured"

Order = Callable[[list[Json]], Iterable[Json]]


def shuffled(charts: list[Json]) -> list[Json]:
    return random.Random(7).sample(charts, len(charts))


def the_namespace_is_labelled_last(charts: list[Json]) -> Iterator[Json]:
    for each in charts:
        if each["kind"] == "Namespace":
            yield {**each, "metadata": {"name": each["metadata"]["name"]}}
        else:
            yield each
    yield next(each for each in charts if each["kind"] == "Namespace")


ORDERS: dict[str, Order] = {
    "in-order": list,
    "backwards": lambda charts: list(reversed(charts)),
    "shuffled": shuffled,
    "labelled-last": the_namespace_is_labelled_last,
}


@dataclass(frozen=True)
class InstallOutcome:
    """
    The Events until all was well, the reasons held in each namespace until then, and the faults
    announced after it.
    """

    events: list[Event]
    held: dict[str, set[str]]
    faults: dict[str, Event]


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(Options(without_crds=frozenset({POOLS}))) as plane:
        yield plane


@pytest.fixture(scope="module")
def installed(plane: ControlPlane) -> Iterator[InstallOutcome]:
    grace = f"--startup-grace-seconds={GRACE}"
    with ReporterProcess(
        plane, grace, observer.NO_PAGES, *observer.short_hold_flags(plane)
    ) as reporter:
        watcher = Observer(reporter)
        held: dict[str, set[str]] = {}
        for step in _steps(plane):
            step()
            for name in ORDERS:
                held.setdefault(name, set()).update(watcher.unclear_states(name))
        watcher.wait_all_clear()
        announced = watcher.events()
        broken = {name: _break(TeamStack(plane, name)) for name in ORDERS}
        yield InstallOutcome(announced, held, broken)


@pytest.mark.controlplane
def test_first_installation_in_any_order_causes_no_event(installed: InstallOutcome) -> None:
    assert installed.events == []


@pytest.mark.controlplane
@pytest.mark.parametrize("name", ORDERS)
def test_what_was_not_there_yet_was_seen_and_held(installed: InstallOutcome, name: str) -> None:
    assert installed.held[name] >= {
        "modelharnessGatewayClassMissing",
        "modelharnessGatewayDataPlaneNotReady",
        "inferencesetInfraProvisioningFailed",
        "inferencesetModelPodsNotReady",
        "inferencesetEPPNotReady",
    }


@pytest.mark.controlplane
@pytest.mark.parametrize("name", ORDERS)
def test_fault_after_a_first_installation_is_announced(
    installed: InstallOutcome, name: str
) -> None:
    assert installed.faults[name].message.startswith(
        f"InferenceSet {name}/qwen: scaling misconfigured"
    )


# ---------------------------------------------------------------- used above


def _steps(plane: ControlPlane) -> Iterator[Callable[[], object]]:
    """Yield the steps. The held reasons are read after each."""
    teams = [TeamStack(plane, name) for name in ORDERS]
    with ThreadPoolExecutor() as executor:

        def each(do: Callable[[TeamStack], None]) -> None:
            list(executor.map(do, teams))

        charts = [executor.submit(_install, each, ORDERS[each.name]) for each in teams]
        yield _time_passes
        yield lambda: plane.install_crds(POOLS)
        yield lambda: [chart.result(timeout=180) for chart in charts]
        yield lambda: _control_plane_starts(plane)
        yield _time_passes
        yield lambda: _control_plane_runs(plane)
        yield lambda: register_class(plane.client)
        yield lambda: each(_taken_up)
        yield _time_passes
        yield lambda: each(
            lambda team: team.kaito.set_workspace_conditions(
                WORKSPACE, kaito_controller.nodes_missing_reasons("NodeNotFound")
            )
        )
        yield _time_passes
        yield lambda: each(_nodes_came)
        yield _time_passes
        yield lambda: each(_runs)


def _time_passes() -> None:
    time.sleep(ANNOUNCE_WAIT)


def _install(team: TeamStack, order: Order) -> None:
    """
    Apply the manifests as kubectl apply in a loop does: again, until their requirements exist.
    """
    client = team.client
    client.create("/api/v1/namespaces", components.namespace_manifest(team.name))
    for each in order(team.chart_manifests()):
        if each["kind"] == "Deployment":
            annotations = faults.STARTING.annotations()
            each["spec"]["template"]["metadata"]["annotations"] = annotations
        if each["kind"] == "InferencePool":
            until(lambda: _served(team.plane), within=120, what="pools are served")
        if each["kind"] == "Namespace" and LABEL not in each["metadata"].get("labels", {}):
            continue
        client.apply(each)


def _served(plane: ControlPlane) -> bool:
    """
    Return whether the pools are served. The storage of a new CRD refuses every request for a
    moment.
    """
    with contextlib.suppress(ApiError):
        return bool(plane.client.get("/apis/inference.networking.k8s.io/v1/inferencepools"))
    return False


def _control_plane_starts(plane: ControlPlane) -> None:
    """Start the components in ContainerCreating, the last to be needed first."""
    for each in components.manifests():
        if each["kind"] == "Namespace":
            plane.client.apply(each)
    for component in reversed(components.COMPONENTS):
        manifest = components.deployment_manifest(component)
        annotations = faults.STARTING.annotations()
        manifest["spec"]["template"]["metadata"]["annotations"] = annotations
        plane.client.apply(manifest)


def _control_plane_runs(plane: ControlPlane) -> None:
    for component in components.COMPONENTS:
        components.until_started(plane.client, component)


def _taken_up(team: TeamStack) -> None:
    """Write the status that each controller has in the middle of its work."""
    team.accept_gateway()
    team.kaito.create_workspace(WORKSPACE)
    team.kaito.set_inference_set_status(0)


def _nodes_came(team: TeamStack) -> None:
    team.kaito.set_workspace_conditions(
        WORKSPACE, kaito_controller.NODES_READY_REASONS | kaito_controller.PENDING_REASONS
    )
    team.kaito.create_stateful_set(WORKSPACE, faults.STARTING.annotations())
    team.kaito.pod(WORKSPACE)


def _runs(team: TeamStack) -> None:
    team.wait_started()
    team.program_gateway()
    team.authorize_api_key()
    team.kaito.wait_started(WORKSPACE)


def _break(team: TeamStack) -> Event:
    team.kaito.annotate(auto_provision="true", max_replicas="0")
    text = f"InferenceSet {team.name}/qwen"
    return events.wait_for(team.client, FAULT, within=60, containing=text)
