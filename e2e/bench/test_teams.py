"""Teams copied in etcd are healthy, have their own names and uids, and can be deleted."""

import pytest

from e2e.bench.churn import KINDS
from e2e.bench.load import teams
from e2e.bench.load.teams import BenchTeams
from e2e.bench.support.bench_cluster import FLAGS
from e2e.controlplane import ControlPlane, until
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess


PODS = "/api/v1/pods"


@pytest.mark.controlplane
@pytest.mark.slow
def test_copied_teams_are_complete_healthy_and_deletable():
    with ControlPlane(workload.MINIMAL_OPTIONS) as plane:
        stack = BenchTeams(plane)
        stack.grow(25)
        assert stack.inference_sets == 30
        pods = [pod for pod in plane.client.list(PODS) if "team-" in pod["metadata"]["namespace"]]
        assert len(pods) == 30 * (teams.PODS + 1) + 3
        assert len({pod["metadata"]["uid"] for pod in pods}) == len(pods)
        for kind in KINDS:
            found = plane.client.get(kind.path(teams.team(2), teams.model(2, 9)))
            assert teams.team(0) not in str(found)
        with ReporterProcess(plane, *FLAGS) as reporter:
            until(lambda: _sets(reporter) == 30, within=60, what="the reporter sees all sets")
            subjects = reporter.status()["subjects"]
            assert not [subject for subject in subjects if subject["verdicts"]]
            stack.shrink(0)
            until(
                lambda: reporter.metric("objects", kind="inferencesets.kaito.sh") == 10,
                within=60,
                what="the reporter sees the deletion",
            )
            left = [pod["metadata"]["namespace"] for pod in plane.client.list(PODS)]
            assert {each for each in left if each.startswith("team-")} == {teams.team(0)}
            until(
                lambda: reporter.metric("objects", kind="pods") == len(left),
                within=60,
                what="the reporter sees the deletion of each pod",
            )


def _sets(reporter: ReporterProcess) -> int:
    subjects = reporter.status()["subjects"]
    return sum(subject["layer"] == "modeldeployment" for subject in subjects)
