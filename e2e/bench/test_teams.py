"""
Copies in etcd are objects like all others: healthy, each with its own names and uid, and deletable.
"""

import pytest

from e2e.bench.churn import KINDS
from e2e.bench.load import teams
from e2e.bench.load.teams import BenchTeams
from e2e.controlplane import ControlPlane, until
from e2e.support.production_stack import workload
from e2e.support.reporter_process import ReporterProcess


PODS = "/api/v1/pods"


@pytest.mark.controlplane
def test_copied_teams_are_whole_and_healthy_and_go_again():
    with ControlPlane(workload.MINIMAL_OPTIONS) as plane:
        stack = BenchTeams(plane)
        stack.grow(25)
        assert stack.inference_sets == 30
        pods = [
            each for each in plane.client.list(PODS) if "team-" in each["metadata"]["namespace"]
        ]
        assert len(pods) == 30 * (teams.PODS + 1) + 3
        assert len({each["metadata"]["uid"] for each in pods}) == len(pods)
        for kind in KINDS:
            found = plane.client.get(kind.path(teams.team(2), teams.model(2, 9)))
            assert teams.team(0) not in str(found)
        reporter = ReporterProcess(plane, "--startup-grace-seconds=0").start()
        judged = reporter.status()["subjects"]
        assert sum(each["layer"] == "modeldeployment" for each in judged) == 30
        assert not [each for each in judged if each["verdicts"]]
        stack.shrink(0)
        until(
            lambda: reporter.metric("objects", kind="inferencesets.kaito.sh") == 10,
            within=30,
            what="it sees that they are gone",
        )
        reporter.stop()
