"""
The models of three namespaces lose their spot nodes, and there is no capacity for others.

The holds are those of the catalogue as shipped. The storm of three hundred models is slow.
"""

from collections import Counter
from collections.abc import Callable

import pytest

from e2e.controlplane import ControlPlane, Json
from e2e.support import events
from e2e.support.production_stack import statuses, workload
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import SETTLE


TEAMS = ("team-0", "team-1", "team-2")
INFRA, PODS, READY = (
    "inferencesetInfraProvisioningFailed",
    "inferencesetModelPodsNotReady",
    "inferencesetReady",
)
BEATING = "--heartbeat-seconds=10"
"""The flag for the count of subjects in an Event, which is updated with a heartbeat."""

MADE_FOR = "inferenceset.kaito.sh/created-by"
"""The label of what KAITO makes for a model; its picker has none."""

Path = str


@pytest.mark.parametrize("of_a_team", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_lost_nodes_and_capacity_are_two_events_and_one_ready_for_each_namespace(
    small_plane: SharedPlane, of_a_team: int
) -> None:
    with small_plane.lent() as plane:
        workload.write_all(plane, workload.manifests(of_a_team * len(TEAMS), of_a_team=of_a_team))
        _lose_nodes_and_capacity(plane, of_a_team)


def _lose_nodes_and_capacity(plane: ControlPlane, of_a_team: int) -> None:
    sets, all_of_them = of_a_team * len(TEAMS), f"{of_a_team} InferenceSets ("
    pods = _all(plane, "/api/v1/namespaces/{}/pods")
    workspaces = _all(plane, "/apis/kaito.sh/v1beta1/namespaces/{}/workspaces")
    assert (len(pods), len(workspaces)) == (sets, sets)
    with ReporterProcess(plane, f"--settle-seconds={SETTLE}", BEATING):
        _write(plane, pods, _not_ready)
        for team in TEAMS:
            events.wait_for(plane.client, PODS, within=120, containing=f"{team}: ")
        _write(plane, workspaces, _without_capacity)
        for team in TEAMS:
            events.wait_for(plane.client, INFRA, within=90, containing=f"{team}: {all_of_them}")
        assert _announced(plane) == _once_for_each_team(PODS, INFRA)
        _write(plane, workspaces, lambda workspace: workspace["status"])
        _write(plane, pods, lambda pod: pod["status"])
        for team in TEAMS:
            events.wait_for(plane.client, READY, within=120, containing=f"{team}: {all_of_them}")
        assert _announced(plane) == _once_for_each_team(PODS, INFRA, READY)


def _once_for_each_team(*reasons: str) -> Counter[tuple[str, str]]:
    return Counter((reason, team) for reason in reasons for team in TEAMS)


def _announced(plane: ControlPlane) -> Counter[tuple[str, str]]:
    return Counter((e.reason, e.involved[1]) for e in events.reporter_events(plane.client))


def _all(plane: ControlPlane, path: str) -> dict[Path, Json]:
    found = ((path.format(team), each) for team in TEAMS for each in _list(plane, path, team))
    return {
        f"{collection}/{each['metadata']['name']}": each
        for collection, each in found
        if MADE_FOR in each["metadata"].get("labels", {})
    }


def _list(plane: ControlPlane, path: str, team: str) -> list[Json]:
    return plane.client.list(path.format(team))


def _write(plane: ControlPlane, objects: dict[Path, Json], change: Callable[[Json], Json]) -> None:
    """Write all within a few seconds: what recovers much later than the others has a Ready of its own."""
    for path, each in objects.items():
        plane.client.patch(f"{path}/status", {"status": change(each)})


def _not_ready(pod: Json) -> Json:
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": statuses.timestamp()}
    containers = [{**each, "ready": False} for each in pod["status"]["containerStatuses"]]
    return {**pod["status"], "conditions": [ready], "containerStatuses": containers}


def _without_capacity(workspace: Json) -> Json:
    failed = {
        "status": "False",
        "reason": "ZonalAllocationFailure",
        "message": "no capacity is left for spot instances",
        "lastTransitionTime": statuses.timestamp(),
    }
    conditions = [
        {**each, **failed} if each["type"] in {"NodeClaimReady", "ResourceReady"} else each
        for each in workspace["status"]["conditions"]
    ]
    return {**workspace["status"], "conditions": conditions}
