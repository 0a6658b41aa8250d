"""
The whole stack comes into an empty cluster, while the reporter runs already: nothing is announced.

Each team's objects come in an order of their own, before the control plane that acts on them, and one
CRD after what refers to it. Between the steps more time passes than hard errors are held here.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from e2e import ears, events, kaito, stack
from e2e.controlplane import ApiError, ControlPlane, Json, Options, faults, until
from e2e.ears import LONGER, Ears
from e2e.events import Event
from e2e.reporter_process import ReporterProcess
from e2e.team import LABEL, Team, register_class


POOLS = "inferencepools.inference.networking.k8s.io"
GRACE = 150
"""
Seconds: more than the installation takes on a slow machine. Workspaces, model pods and scaling have
none, whatever their age.
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
class Installed:
    """
    What was said until all was well, what was held in each namespace on the way there, and which
    faults were announced after it.
    """

    said: list[Event]
    held: dict[str, set[str]]
    faults: dict[str, Event]


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(Options(without_crds=frozenset({POOLS}))) as plane:
        yield plane


@pytest.fixture(scope="module")
def installed(plane: ControlPlane) -> Iterator[Installed]:
    grace = f"--startup-grace-seconds={GRACE}"
    with ReporterProcess(plane, grace, *ears.impatient(plane)) as reporter:
        listening = Ears(reporter)
        held: dict[str, set[str]] = {}
        for step in _steps(plane):
            step()
            for name in ORDERS:
                held.setdefault(name, set()).update(listening.states(name))
        listening.until_all_is_clear()
        said = listening.said()
        broken = {name: _break(Team(plane, name)) for name in ORDERS}
        yield Installed(said, held, broken)


@pytest.mark.controlplane
def test_first_installation_in_any_order_is_silent(installed: Installed) -> None:
    assert installed.said == []


@pytest.mark.controlplane
@pytest.mark.parametrize("name", ORDERS)
def test_what_was_not_there_yet_was_seen_and_held(installed: Installed, name: str) -> None:
    assert installed.held[name] >= {
        "modelharnessGatewayClassMissing",
        "modelharnessGatewayDataPlaneNotReady",
        "inferencesetInfraProvisioningFailed",
        "inferencesetModelPodsNotReady",
        "inferencesetEPPNotReady",
    }


@pytest.mark.controlplane
@pytest.mark.parametrize("name", ORDERS)
def test_fault_after_a_first_installation_is_announced(installed: Installed, name: str) -> None:
    assert installed.faults[name].message.startswith(
        f"InferenceSet {name}/qwen: scaling misconfigured"
    )


# ---------------------------------------------------------------- used above


def _steps(plane: ControlPlane) -> Iterator[Callable[[], object]]:
    """
    Each is followed by a look at what is held.
    """
    teams = [Team(plane, name) for name in ORDERS]
    with ThreadPoolExecutor() as hands:

        def each(do: Callable[[Team], None]) -> None:
            list(hands.map(do, teams))

        charts = [hands.submit(_install, each, ORDERS[each.name]) for each in teams]
        yield _time_passes
        yield lambda: plane.install_crds(POOLS)
        yield lambda: [chart.result(timeout=60) for chart in charts]
        yield lambda: _control_plane_starts(plane)
        yield _time_passes
        yield lambda: _control_plane_runs(plane)
        yield lambda: register_class(plane.client)
        yield lambda: each(_taken_up)
        yield _time_passes
        yield lambda: each(
            lambda team: team.kaito.say(WORKSPACE, kaito.without_nodes("NodeNotFound"))
        )
        yield _time_passes
        yield lambda: each(_nodes_came)
        yield _time_passes
        yield lambda: each(_runs)


def _time_passes() -> None:
    time.sleep(LONGER)


def _install(team: Team, order: Order) -> None:
    """
    As kubectl apply in a loop: again, until what it needs is there.
    """
    client = team.client
    client.create("/api/v1/namespaces", stack.namespace_manifest(team.name))
    for each in order(team.charts()):
        if each["kind"] == "Deployment":
            annotations = faults.STARTING.annotations()
            each["spec"]["template"]["metadata"]["annotations"] = annotations
        if each["kind"] == "InferencePool":
            until(lambda: _served(team.plane), within=60, what="pools are served")
        if each["kind"] == "Namespace" and LABEL not in each["metadata"].get("labels", {}):
            continue
        client.apply(each)


def _served(plane: ControlPlane) -> bool:
    """
    For a moment a new CRD's storage refuses every request.
    """
    with contextlib.suppress(ApiError):
        return bool(plane.client.get("/apis/inference.networking.k8s.io/v1/inferencepools"))
    return False


def _control_plane_starts(plane: ControlPlane) -> None:
    """
    The last to be needed first, all in ContainerCreating.
    """
    for each in stack.manifests():
        if each["kind"] == "Namespace":
            plane.client.apply(each)
    for component in reversed(stack.COMPONENTS):
        manifest = stack.deployment_manifest(component)
        annotations = faults.STARTING.annotations()
        manifest["spec"]["template"]["metadata"]["annotations"] = annotations
        plane.client.apply(manifest)


def _control_plane_runs(plane: ControlPlane) -> None:
    for component in stack.COMPONENTS:
        stack.until_started(plane.client, component)


def _taken_up(team: Team) -> None:
    """
    By every controller at once, in the middle of the work of each.
    """
    team.takes_on()
    team.kaito.workspace(WORKSPACE)
    team.kaito.count(0)


def _nodes_came(team: Team) -> None:
    team.kaito.say(WORKSPACE, kaito.WITH_NODES | kaito.PENDING)
    team.kaito.pods(WORKSPACE, faults.STARTING.annotations())
    team.kaito.pod(WORKSPACE)


def _runs(team: Team) -> None:
    team.until_started()
    team.programs()
    team.authorizes()
    team.kaito.until_started(WORKSPACE)


def _break(team: Team) -> Event:
    team.kaito.annotate(auto_provision="true", max_replicas="0")
    saying = f"InferenceSet {team.name}/qwen"
    return events.wait_for(team.client, FAULT, within=30, saying=saying)
