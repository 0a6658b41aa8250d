"""A result that the sidecar wrote is announced by a reporter that reads check Jobs."""

import json

from e2e.controlplane import ControlPlane
from e2e.support import events
from e2e.support.job_sidecar import SidecarJob
from e2e.support.reporter_process import ReporterProcess
from reporter.kinds.batch import CHECK_LABEL


RESULT = {"status": "failure", "reason": "NoAnswer", "message": "the Gateway answered 503"}
WORKLOAD_NAMESPACE = {
    "metadata": {"labels": {"productionstack.kaito.sh/managed-by": "modelharness"}}
}
WITHIN = 60
"""The time limit of the Event, in seconds: a failed check is held for 15 s."""


def test_what_the_sidecar_writes_is_announced(plane: ControlPlane, team: str) -> None:
    flags = ("--sources=jobs", "--scrape=off", "--leader-elect=false")
    with ReporterProcess(plane, *flags), SidecarJob(plane, team) as job:
        plane.client.patch(f"/api/v1/namespaces/{team}", WORKLOAD_NAMESPACE)
        plane.client.patch(job.path, {"metadata": {"labels": {CHECK_LABEL: "smoke"}}})
        job.write_status()
        job.write_result(json.dumps(RESULT))
        assert job.start().end() == 0
        found = events.wait_for(plane.client, "modelharnessCheckFailed", within=WITHIN)
    assert (found.type, found.involved) == ("Warning", ("Namespace", team))
    assert found.message.startswith(
        f"Namespace {team}: check smoke of Job {job.name} failed (NoAnswer): the Gateway answered"
        " 503. "
    )
